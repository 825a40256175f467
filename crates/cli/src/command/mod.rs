//! One file per subcommand.

pub(crate) mod chain;
pub(crate) mod check;
pub(crate) mod experiment;
pub(crate) mod export;
pub(crate) mod fleet;
pub(crate) mod forecast;
pub(crate) mod generate;
pub(crate) mod node;
pub(crate) mod petri;
pub(crate) mod plan;
pub(crate) mod ring;
pub(crate) mod rollout;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod sweep;
pub(crate) mod walk;
pub(crate) mod worst;
