//! Models as protocol files: some have no other form, some go to decision diagrams in this one
//! when they are too large for their own engines.

use std::borrow::Cow;

use super::{Compiled, Engine, Protocol, check_with};
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::report::Report;
use crate::{Scheduler, guarded};

pub(crate) const DELAY_RELAY: &str = include_str!("../../protocols/delay-relay.protocol");
pub(crate) const K_STATE: &str = include_str!("../../protocols/k-state.protocol");
pub(crate) const MEASURE: &str = include_str!("../../protocols/measure.protocol");
pub(crate) const UNISON: &str = include_str!("../../protocols/unison.protocol");

/// An instance of a model as a file.
pub(crate) struct AsFile {
    pub(crate) model: &'static str,
    pub(crate) instance: String,
    pub(crate) text: Cow<'static, str>,
    pub(crate) set: Vec<(&'static str, i64)>,
    /// `None` where the rounds of the model are the synchronous scheduler's steps.
    pub(crate) scheduler: Option<Scheduler>,
}

impl AsFile {
    pub(crate) fn protocol(&self) -> Result<Protocol> {
        let set = self
            .set
            .iter()
            .map(|&(name, value)| (name.to_owned(), value));
        let set: Vec<(String, i64)> = set.collect();
        let protocol = Protocol::parse(&self.text, &set)?;
        let scheduler = self.scheduler.unwrap_or(Scheduler::Synchronous);
        Ok(Protocol {
            scheduler,
            ..protocol
        })
    }
}

/// Every state of a model that is a protocol file.
pub(crate) fn check(file: &AsFile, control: &Control) -> Result<Report> {
    let protocol = file.protocol()?;
    let scheduler = protocol.scheduler();
    let own = Compiled::new(&protocol).and_then(|model| {
        let answer = guarded::explore(&model, scheduler, control)?;
        let (name, instance) = (file.model.into(), file.instance.clone());
        Ok(guarded::report_on(
            &model, name, instance, scheduler, answer,
        ))
    });
    or_by_diagrams(own, file, control)
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
    if !cfg!(feature = "symbolic") || file.scheduler == Some(Scheduler::LocallyCentral) {
        return Err(refused.into());
    }
    let Ok(protocol) = file.protocol() else {
        return Err(refused.into());
    };
    match check_with(Engine::Symbolic, &protocol, None, control) {
        Ok(report) => Ok(Report {
            model: file.model.into(),
            instance: file.instance.clone(),
            scheduler: file.scheduler,
            ..report
        }),
        Err(CheckError::TooLarge(_)) => Err(refused.into()),
        Err(other) => Err(other),
    }
}
