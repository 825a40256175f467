//! What can be done to a run from outside: the faults of `headway run`, a certain
//! token dragged, and another program for a process.

use std::fmt;
use std::str::FromStr;

use headway_core::{Configuration, ProcessIndex, Program, Ring, Round};
use headway_sim::fault::{Fault, FaultKind};
use headway_sim::seed::{Purpose, Random};
use thiserror::Error;

/// A change, and the round after which it strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) what: What,
    /// The token that was dragged, when it was a certain one.
    pub(crate) token: Option<u32>,
    pub(crate) after_round: Round,
}

/// What is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Fault(FaultKind),
    /// A process gets another program: `delay` or `relay`.
    Program(ProcessIndex, Program),
}

/// Why a change is none, or cannot strike.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub(crate) struct ChangeError(String);

impl ChangeError {
    pub(crate) fn new(message: impl fmt::Display) -> ChangeError {
        ChangeError(message.to_string())
    }
}

impl Change {
    /// Reads `SPEC`, `SPEC@ROUND`, or `move:FROM:TO#TOKEN@ROUND`.
    pub(crate) fn parse(text: &str, now: Round) -> Result<Change, ChangeError> {
        let (spec, after_round) = match text.rsplit_once('@') {
            Some((spec, round)) => {
                let wrong = |_| ChangeError(format!("'{round}' is not a round number"));
                (spec, round.parse().map_err(wrong)?)
            }
            None => (text, now),
        };
        if let Some(rest) = spec.strip_prefix("program:") {
            return Ok(Change {
                what: program(rest)?,
                token: None,
                after_round,
            });
        }
        let (spec, token) = match spec.split_once('#') {
            Some((spec, token)) if spec.starts_with("move:") => {
                let wrong = |_| ChangeError(format!("'{token}' is not a token number"));
                (spec, Some(token.parse().map_err(wrong)?))
            }
            _ => (spec, None),
        };
        let fault = Fault::from_str(&format!("{spec}@{after_round}")).map_err(|error| {
            ChangeError(format!("{error}, program:I:delay@R or program:I:relay@R"))
        })?;
        Ok(Change {
            what: What::Fault(fault.kind),
            token,
            after_round,
        })
    }

    /// The ring and state after it, as the `index`-th change of a run with this
    /// seed.
    pub(crate) fn strike(
        &self,
        ring: &Ring,
        state: &Configuration,
        seed: u64,
        index: usize,
    ) -> Result<(Ring, Configuration), ChangeError> {
        let (mut ring, mut state) = (ring.clone(), state.clone());
        match &self.what {
            What::Fault(kind) => {
                let fault = Fault {
                    kind: kind.clone(),
                    after_round: self.after_round,
                };
                let mut random = Random::new(seed, Purpose::Fault(index as u32));
                fault
                    .strike(&ring, &mut state, &mut random)
                    .map_err(ChangeError::new)?;
            }
            &What::Program(process, program) => {
                ring = reprogrammed(&ring, process, program)?;
                state.processes[process].counter = 0;
            }
        }
        ring.admits(&state).map_err(ChangeError::new)?;
        Ok((ring, state))
    }
}

fn program(rest: &str) -> Result<What, ChangeError> {
    let expected = || ChangeError("expected program:I:delay or program:I:relay".to_owned());
    let (process, name) = rest.split_once(':').ok_or_else(expected)?;
    let mut programs = [Program::Delay, Program::Relay].into_iter();
    let program = programs.find(|program| program.name() == name);
    let process = process.parse().map_err(|_| expected())?;
    Ok(What::Program(process, program.ok_or_else(expected)?))
}

fn reprogrammed(ring: &Ring, process: ProcessIndex, new: Program) -> Result<Ring, ChangeError> {
    let mut programs = ring.programs().to_vec();
    let last = programs.len() - 1;
    let program = programs.get_mut(process).ok_or_else(|| {
        ChangeError(format!(
            "there is no process {process}: the ring has processes 0 to {last}"
        ))
    })?;
    if program.measures() {
        return Err(ChangeError(format!(
            "process {process} measures; only delays and relays can be exchanged"
        )));
    }
    *program = new;
    Ring::new(ring.separation(), programs).map_err(ChangeError::new)
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Fault(kind) => {
                let fault = Fault {
                    kind: kind.clone(),
                    after_round: self.after_round,
                };
                let text = fault.to_string();
                match (self.token, text.split_once('@')) {
                    (Some(token), Some((spec, round))) => write!(f, "{spec}#{token}@{round}"),
                    _ => f.write_str(&text),
                }
            }
            What::Program(process, program) => {
                let (name, round) = (program.name(), self.after_round);
                write!(f, "program:{process}:{name}@{round}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_are_written() {
        for text in [
            "scramble@30",
            "scramble:25%@30",
            "scramble:3,5-8@30",
            "pile:4@9",
            "move:3:7@12",
            "move:3:7#2@12",
            "counter:2:4@1",
            "program:5:relay@20",
            "program:0:delay@0",
        ] {
            assert_eq!(Change::parse(text, 7).unwrap().to_string(), text);
        }
        let now = Change::parse("move:3:7#1", 7).unwrap();
        assert_eq!(now.to_string(), "move:3:7#1@7");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "melt",
            "move:3",
            "program:1:measure",
            "program:x:delay",
            "counter:2:4#1@3",
            "move:1:2#x@3",
            "pile@x",
        ] {
            assert!(Change::parse(text, 0).is_err(), "{text}");
        }
    }
}
