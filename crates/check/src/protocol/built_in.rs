//! Models in Rust as protocol files, for instances that are too large for their own engines.

use super::{Engine, Protocol, check_with};
use crate::Scheduler;
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::report::Report;

pub(crate) const DELAY_RELAY: &str = include_str!("../../protocols/delay-relay.protocol");
pub(crate) const K_STATE: &str = include_str!("../../protocols/k-state.protocol");
pub(crate) const MEASURE: &str = include_str!("../../protocols/measure.protocol");
pub(crate) const UNISON: &str = include_str!("../../protocols/unison.protocol");

/// A model of its own as a file.
pub(crate) struct AsFile<'a> {
    pub(crate) model: &'static str,
    pub(crate) instance: &'a str,
    pub(crate) text: &'a str,
    pub(crate) set: &'a [(&'static str, i64)],
    /// `None` where the rounds of the model are the synchronous scheduler's steps.
    pub(crate) scheduler: Option<Scheduler>,
}

/// What a model's own engine found, or, where that is refused as too large, what decision
/// diagrams find. If they are not in this build, or cannot either, the refusal stands.
pub(crate) fn or_by_diagrams(
    own: Result<Report>,
    file: &AsFile,
    control: &Control,
) -> Result<Report> {
    let Err(CheckError::TooLarge(refused)) = own else {
        return own;
    };
    let scheduler = file.scheduler.unwrap_or(Scheduler::Synchronous);
    if !cfg!(feature = "symbolic") || scheduler == Scheduler::LocallyCentral {
        return Err(refused.into());
    }
    let set: Vec<(String, i64)> = file
        .set
        .iter()
        .map(|&(name, value)| (name.to_owned(), value))
        .collect();
    let Ok(protocol) = Protocol::parse(file.text, &set) else {
        return Err(refused.into());
    };
    match check_with(Engine::Symbolic, &protocol, Some(scheduler), control) {
        Ok(report) => Ok(Report {
            model: file.model.into(),
            instance: file.instance.to_owned(),
            scheduler: file.scheduler,
            ..report
        }),
        Err(CheckError::TooLarge(_)) => Err(refused.into()),
        Err(other) => Err(other),
    }
}
