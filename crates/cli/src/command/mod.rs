//! One file per subcommand.

pub(crate) mod chain;
pub(crate) mod experiment;
pub(crate) mod forecast;
pub(crate) mod generate;
pub(crate) mod run;
pub(crate) mod sweep;
pub(crate) mod worst;
