//! `headway run --watch`.
use headway_sim::Run;

use crate::failure::{Answer, Failure};
use crate::flags::Instance;

pub(super) fn run(_instance: &Instance, _run: &Run) -> Result<Answer, Failure> {
    Ok(Answer::Yes)
}
