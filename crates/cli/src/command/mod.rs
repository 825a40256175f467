//! One file per subcommand.

pub(crate) mod chain;
pub(crate) mod check;
pub(crate) mod export;
pub(crate) mod forecast;
pub(crate) mod generate;
pub(crate) mod petri;
pub(crate) mod run;
pub(crate) mod walk;
pub(crate) mod worst;
