//! What can strike a run.
//!
//! A fault changes variables, never the number of tokens: they may stand for
//! physical things (paper, section 5.2).

use std::fmt;
use std::str::FromStr;

use headway_core::{Configuration, ProcessIndex, Ring, Round};
use thiserror::Error;

use crate::seed::Random;
use crate::start;

/// A fault, and the round after which it strikes (0: the initial state).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it does.
    pub kind: FaultKind,
    /// It changes the state that this round has led to.
    pub after_round: Round,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// All variables of the struck processes take any value; the tokens they had
    /// are scattered among them.
    Scramble(Struck),
    /// All tokens come to rest at one process; `None`: the seed chooses it.
    Pile(Option<ProcessIndex>),
    /// One token of `from` (a resting one if there is any) comes to rest at `to`.
    Move {
        /// Where there has to be a token.
        from: ProcessIndex,
        /// Where it goes.
        to: ProcessIndex,
    },
    /// A delay's counter is set.
    Counter {
        /// Which process; it has to delay.
        process: ProcessIndex,
        /// The new value, 0 to d-1.
        value: u32,
    },
}

/// Which processes a fault strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Struck {
    /// All of them.
    All,
    /// This many in a hundred, chosen by the seed; at least one.
    Percent(u32),
    /// These, as ranges with both ends included.
    Ranges(Vec<(ProcessIndex, ProcessIndex)>),
}

/// Why a fault cannot strike this state. Nothing was changed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultError {
    /// A process it names is not on the ring.
    #[error("there is no process {process}: the ring has processes 0 to {}", .processes - 1)]
    NoSuchProcess {
        /// The process named.
        process: ProcessIndex,
        /// n.
        processes: usize,
    },
    /// Nothing to move.
    #[error("process {process} has no token to move when the fault strikes")]
    NoToken {
        /// The process named.
        process: ProcessIndex,
    },
    /// Nothing to set.
    #[error("process {process} is a relay and has no counter")]
    NoCounter {
        /// The process named.
        process: ProcessIndex,
    },
    /// The counter's domain.
    #[error("a counter of {value} is out of range at process {process}: expected 0 to {largest}")]
    CounterRange {
        /// The process named.
        process: ProcessIndex,
        /// The value asked for.
        value: u32,
        /// The largest allowed.
        largest: i32,
    },
}

impl Fault {
    /// Strikes `state`.
    ///
    /// # Errors
    ///
    /// When the fault names something that is not there; `state` is as it was.
    pub fn strike(
        &self,
        ring: &Ring,
        state: &mut Configuration,
        random: &mut Random,
    ) -> Result<(), FaultError> {
        match &self.kind {
            FaultKind::Scramble(struck) => {
                scramble(&struck.chosen(ring, random)?, ring, state, random);
            }
            FaultKind::Pile(at) => {
                let at = at.unwrap_or_else(|| random.index(ring.len()));
                pile(on_ring(at, ring)?, state);
            }
            &FaultKind::Move { from, to } => {
                move_token(on_ring(from, ring)?, on_ring(to, ring)?, state)?;
            }
            &FaultKind::Counter { process, value } => {
                set_counter(on_ring(process, ring)?, value, ring, state)?;
            }
        }
        Ok(())
    }

    /// Whether the fault could ever strike this ring: every process it names is
    /// there, and a counter is in its domain.
    ///
    /// # Errors
    ///
    /// As [`Fault::strike`], except for what depends on the state.
    pub fn fits(&self, ring: &Ring) -> Result<(), FaultError> {
        let named = match &self.kind {
            FaultKind::Scramble(Struck::Ranges(ranges)) => {
                ranges.iter().map(|range| range.1).max().unwrap_or(0)
            }
            FaultKind::Pile(Some(process)) => *process,
            FaultKind::Move { from, to } => *from.max(to),
            FaultKind::Counter { process, .. } => *process,
            FaultKind::Scramble(_) | FaultKind::Pile(None) => 0,
        };
        on_ring(named, ring)?;
        if let FaultKind::Counter { process, value } = self.kind {
            let program = ring.programs()[process];
            if !program.delays() {
                return Err(FaultError::NoCounter { process });
            }
            let largest = ring.separation().top();
            if !program.measures() && value > largest as u32 {
                return Err(FaultError::CounterRange {
                    process,
                    value,
                    largest,
                });
            }
        }
        Ok(())
    }
}

impl Struck {
    fn chosen(&self, ring: &Ring, random: &mut Random) -> Result<Vec<ProcessIndex>, FaultError> {
        let n = ring.len();
        Ok(match self {
            Struck::All => (0..n).collect(),
            Struck::Percent(percent) => {
                let count = (n as u128 * u128::from(*percent) / 100).max(1);
                random.distinct(count as usize, n)
            }
            Struck::Ranges(ranges) => {
                let mut chosen = Vec::new();
                for &(first, last) in ranges {
                    on_ring(last, ring)?;
                    chosen.extend(first..=last);
                }
                chosen.sort_unstable();
                chosen.dedup();
                chosen
            }
        })
    }
}

fn on_ring(process: ProcessIndex, ring: &Ring) -> Result<ProcessIndex, FaultError> {
    if process < ring.len() {
        Ok(process)
    } else {
        Err(FaultError::NoSuchProcess {
            process,
            processes: ring.len(),
        })
    }
}

fn scramble(struck: &[ProcessIndex], ring: &Ring, state: &mut Configuration, random: &mut Random) {
    let mut tokens = 0;
    for &index in struck {
        let process = &mut state.processes[index];
        tokens += process.tokens();
        (process.queued, process.resting) = (0, 0);
    }
    for _ in 0..tokens {
        let process = &mut state.processes[struck[random.index(struck.len())]];
        if random.coin() {
            process.queued += 1;
        } else {
            process.resting += 1;
        }
    }
    // Tokens that are thrown about no longer have the count that they had.
    for count in &mut state.counts {
        *count = start::any_count(random);
    }
    let hit = |index: ProcessIndex| struck.binary_search(&index).is_ok();
    start::scramble_variables(ring, state, hit, random);
}

fn pile(at: ProcessIndex, state: &mut Configuration) {
    let tokens = state.tokens();
    for process in &mut state.processes {
        (process.queued, process.resting) = (0, 0);
    }
    // A state's tokens fit in 32 bits: Ring::admits saw to it.
    state.processes[at].resting = u32::try_from(tokens).unwrap_or(u32::MAX);
}

fn move_token(
    from: ProcessIndex,
    to: ProcessIndex,
    state: &mut Configuration,
) -> Result<(), FaultError> {
    let source = &mut state.processes[from];
    if source.resting > 0 {
        source.resting -= 1;
    } else if source.queued > 0 {
        source.queued -= 1;
    } else {
        return Err(FaultError::NoToken { process: from });
    }
    state.processes[to].resting += 1;
    Ok(())
}

fn set_counter(
    process: ProcessIndex,
    value: u32,
    ring: &Ring,
    state: &mut Configuration,
) -> Result<(), FaultError> {
    if !ring.programs()[process].delays() {
        return Err(FaultError::NoCounter { process });
    }
    let largest = match state.measuring.get(&process) {
        Some(variables) => variables.largest_base(),
        None => ring.separation().top(),
    };
    match i32::try_from(value) {
        Ok(counter) if counter <= largest => {
            state.processes[process].counter = counter;
            Ok(())
        }
        _ => Err(FaultError::CounterRange {
            process,
            value,
            largest,
        }),
    }
}

/// The text is not a fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{problem}; expected scramble@R, scramble:25%@R, scramble:3,5-8@R, pile@R, pile:I@R, move:FROM:TO@R or counter:I:VALUE@R"
)]
pub struct FaultSyntax {
    problem: String,
}

impl FromStr for Fault {
    type Err = FaultSyntax;

    /// Reads `SPEC@ROUND`.
    ///
    /// ```
    /// use headway_sim::Fault;
    /// for text in ["scramble@30", "scramble:25%@30", "scramble:3,5-8@30", "pile@9",
    ///              "pile:4@9", "move:3:7@12", "counter:2:4@1"] {
    ///     assert_eq!(text.parse::<Fault>().unwrap().to_string(), text);
    /// }
    /// assert!("scramble".parse::<Fault>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Fault, FaultSyntax> {
        let wrong = |problem: String| FaultSyntax { problem };
        let (spec, round) = text
            .rsplit_once('@')
            .ok_or_else(|| wrong(format!("'{text}' does not say after which round")))?;
        let after_round = number(round, "round").map_err(wrong)?;
        let (name, rest) = match spec.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (spec, None),
        };
        let kind = match (name, rest) {
            ("scramble", None) => FaultKind::Scramble(Struck::All),
            ("scramble", Some(which)) => FaultKind::Scramble(struck(which).map_err(wrong)?),
            ("pile", None) => FaultKind::Pile(None),
            ("pile", Some(at)) => FaultKind::Pile(Some(number(at, "process").map_err(wrong)?)),
            ("move", Some(rest)) => {
                let (from, to) = pair(rest, "move needs FROM:TO").map_err(wrong)?;
                FaultKind::Move {
                    from: number(from, "process").map_err(wrong)?,
                    to: number(to, "process").map_err(wrong)?,
                }
            }
            ("counter", Some(rest)) => {
                let (at, value) = pair(rest, "counter needs I:VALUE").map_err(wrong)?;
                FaultKind::Counter {
                    process: number(at, "process").map_err(wrong)?,
                    value: number(value, "value").map_err(wrong)?,
                }
            }
            _ => return Err(wrong(format!("'{spec}' is not a fault"))),
        };
        Ok(Fault { kind, after_round })
    }
}

fn pair<'a>(text: &'a str, problem: &str) -> Result<(&'a str, &'a str), String> {
    text.split_once(':').ok_or_else(|| problem.to_owned())
}

fn number<T: FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("'{text}' is not a {what} number"))
}

fn struck(text: &str) -> Result<Struck, String> {
    if let Some(percent) = text.strip_suffix('%') {
        return match number(percent, "percent")? {
            percent @ 1..=100 => Ok(Struck::Percent(percent)),
            _ => Err(format!("'{text}' is not between 1% and 100%")),
        };
    }
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first, "process")?, number(last, "process")?);
        if first <= last {
            Ok((first, last))
        } else {
            Err(format!("'{part}' runs backwards"))
        }
    };
    text.split(',')
        .map(range)
        .collect::<Result<_, _>>()
        .map(Struck::Ranges)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FaultKind::Scramble(Struck::All) => write!(f, "scramble")?,
            FaultKind::Scramble(Struck::Percent(percent)) => write!(f, "scramble:{percent}%")?,
            FaultKind::Scramble(Struck::Ranges(ranges)) => {
                for (index, &(first, last)) in ranges.iter().enumerate() {
                    write!(f, "{}{first}", if index == 0 { "scramble:" } else { "," })?;
                    if last != first {
                        write!(f, "-{last}")?;
                    }
                }
            }
            FaultKind::Pile(None) => write!(f, "pile")?,
            FaultKind::Pile(Some(at)) => write!(f, "pile:{at}")?,
            FaultKind::Move { from, to } => write!(f, "move:{from}:{to}")?,
            FaultKind::Counter { process, value } => write!(f, "counter:{process}:{value}")?,
        }
        write!(f, "@{}", self.after_round)
    }
}
