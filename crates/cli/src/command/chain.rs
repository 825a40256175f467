//! `headway chain`: the open system (paper, section 3).
use clap::Args as ClapArgs;

use crate::failure::{Answer, Failure};

/// Flags of `headway chain`.
#[derive(ClapArgs, Debug)]
pub(crate) struct Args {}

/// Runs.
pub(crate) fn run(_args: &Args) -> Result<Answer, Failure> {
    Ok(Answer::Yes)
}
