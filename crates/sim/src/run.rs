//! A run: rounds, faults, monitors and a stop condition.

use std::ops::ControlFlow;

use headway_core::bound;
use headway_core::desiderata::{Monitor, Outcome};
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Illegitimate, Program, Ring, Round};
use strum::{Display, EnumMessage, EnumString, VariantArray};
use thiserror::Error;

use crate::engine::{Dense, Engine, Sparse};
use crate::fault::{Fault, FaultError};
use crate::seed::{Purpose, Random};

/// What to run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The ring.
    pub ring: Ring,
    /// Its initial state.
    pub start: Configuration,
    /// Faults, in any order.
    pub faults: Vec<Fault>,
    /// The seed of what faults choose.
    pub seed: u64,
    /// How many rounds; `None`: until legitimate, after the last fault, and one
    /// turn of the ring more, or until [`Run::patience`] has passed in vain.
    pub rounds: Option<Round>,
    /// Which engine.
    pub engine: EngineChoice,
}

/// Which engine runs the rounds; the outcome is the same.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumMessage, EnumString, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum EngineChoice {
    /// Sparse when there are clearly fewer tokens than processes.
    #[default]
    Auto,
    /// Every process every round.
    Dense,
    /// Only the tokens.
    Sparse,
}

/// What a run shows after state 0, after every round and after every fault.
pub struct Frame<'a> {
    /// The round that led here.
    pub round: Round,
    /// The tokens.
    pub tokens: &'a Tokens,
    /// Whether the state is legitimate.
    pub legitimate: bool,
    /// The fault that has just struck, if this frame is one's effect.
    pub fault: Option<&'a Fault>,
    engine: &'a dyn Engine,
    expected: u64,
}

impl Frame<'_> {
    /// The whole state. O(n).
    pub fn configuration(&self) -> Configuration {
        self.engine.configuration()
    }

    /// Why the state is not legitimate. O(n).
    pub fn illegitimate(&self) -> Option<Illegitimate> {
        let state = self.engine.configuration();
        self.engine.ring().legitimate(&state, self.expected).err()
    }
}

/// Why a run could not go on.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// A fault could not strike.
    #[error("fault {fault}: {error}")]
    Fault {
        /// Which.
        fault: String,
        /// Why not.
        error: FaultError,
    },
}

impl Run {
    /// A run without faults, to legitimacy and one turn more.
    pub fn new(ring: Ring, start: Configuration) -> Run {
        Run {
            ring,
            start,
            faults: Vec::new(),
            seed: 0,
            rounds: None,
            engine: EngineChoice::Auto,
        }
    }

    /// The rounds without a fault after which a run that is not yet legitimate is
    /// given up: when it has to be legitimate by then, or is infeasible and has
    /// shown its jam for four turns.
    ///
    /// Delays and relays: the proved worst case. One process that measures: there is
    /// no closed form; twenty times the longest measurement is far beyond anything seen.
    /// More of them: 4n times that, likewise (docs/research/unknown-size.md has proved bounds).
    pub fn patience(&self) -> Round {
        let n = self.ring.len() as u64;
        let tokens = self.start.tokens();
        if !self.ring.fits(tokens) {
            return n.saturating_mul(4);
        }
        let longest = self.start.measuring.values().map(|v| v.limit).max();
        if let Some(limit) = longest {
            let epochs = self.ring.programs().contains(&Program::ShortestLapEpochs);
            let several = self.start.measuring.len() > 1 || epochs;
            let times = if several {
                n.saturating_mul(4).max(20)
            } else {
                20
            };
            return (n + u64::from(limit)).saturating_mul(times);
        }
        let d = self.ring.separation().hops();
        let gap = self.ring.widest_gap().unwrap_or(n);
        let worst = bound::worst_last_rest(tokens, d, gap).unwrap_or(0);
        worst.saturating_add(u64::from(d))
    }

    fn new_engine(&self) -> Box<dyn Engine> {
        let few = self.start.tokens() <= self.ring.len() as u64 / 4;
        let (ring, start) = (self.ring.clone(), self.start.clone());
        match self.engine {
            EngineChoice::Auto if few => Box::new(Sparse::new(ring, start)),
            EngineChoice::Sparse => Box::new(Sparse::new(ring, start)),
            EngineChoice::Auto | EngineChoice::Dense => Box::new(Dense::new(ring, start)),
        }
    }
}

/// Runs, showing `watch` every state, until the stop condition, or until it is
/// told to stop.
///
/// # Errors
///
/// When a fault cannot strike.
pub fn run(
    run: &Run,
    mut watch: impl FnMut(&Frame<'_>) -> ControlFlow<()>,
) -> Result<Outcome, RunError> {
    let system = LockStep::new(run);
    let monitor = Monitor::new(run.ring.separation(), system.engine.tokens());
    let rounds = Rounds::new(system, monitor, run.rounds);
    rounds.run(&run.faults, run.seed, |rounds, fault| {
        let system = &rounds.system;
        watch(&Frame {
            round: rounds.round,
            tokens: system.engine.tokens(),
            legitimate: rounds.monitor.legitimate(),
            fault,
            engine: system.engine.as_ref(),
            expected: system.tokens,
        })
    })
}

/// A ring that goes on by rounds, whatever a round is.
pub(crate) trait System {
    /// One round.
    fn round(&mut self);

    /// Shows a monitor the state that a round or a fault has led to.
    fn observe(&mut self, round: Round, monitor: &mut Monitor);

    /// A fault strikes.
    fn strike(&mut self, fault: &Fault, random: &mut Random) -> Result<(), FaultError>;

    /// Whether its tokens have room to move.
    fn feasible(&self) -> bool;

    /// The rounds without a fault after which a run that is not legitimate is given up.
    fn patience(&self) -> Round;

    /// Whether it has made a turn in these rounds since it became legitimate.
    fn has_turned(&self, rounds: Round) -> bool;

    /// What only this kind of ring says of the desired properties.
    fn judge(&self, _outcome: &mut Outcome, _in_time: bool) {}
}

/// A system as it goes on, with what has been seen of it.
pub(crate) struct Rounds<S> {
    pub(crate) system: S,
    pub(crate) monitor: Monitor,
    pub(crate) round: Round,
    asked: Option<Round>,
    patience: Round,
    disturbed_at: Round,
}

impl<S: System> Rounds<S> {
    pub(crate) fn new(system: S, monitor: Monitor, asked: Option<Round>) -> Rounds<S> {
        let mut rounds = Rounds {
            patience: system.patience(),
            system,
            monitor,
            round: 0,
            asked,
            disturbed_at: 0,
        };
        rounds.observe();
        rounds
    }

    /// Until the stop condition, or until `watch` has seen enough.
    pub(crate) fn run(
        mut self,
        faults: &[Fault],
        seed: u64,
        mut watch: impl FnMut(&Self, Option<&Fault>) -> ControlFlow<()>,
    ) -> Result<Outcome, RunError> {
        let mut faults: Vec<(usize, &Fault)> = faults.iter().enumerate().collect();
        faults.sort_by_key(|(_, fault)| fault.after_round);
        let mut faults = faults.into_iter().peekable();
        let mut stopped = watch(&self, None).is_break();
        loop {
            while let Some((index, fault)) =
                faults.next_if(|(_, fault)| fault.after_round == self.round)
            {
                let mut random = Random::new(seed, Purpose::Fault(index as u32));
                let struck = self.system.strike(fault, &mut random);
                struck.map_err(|error| RunError::Fault {
                    fault: fault.to_string(),
                    error,
                })?;
                self.disturbed_at = self.round;
                self.monitor.disturbed();
                self.observe();
                stopped |= watch(&self, Some(fault)).is_break();
            }
            if stopped || self.done(faults.peek().is_some()) {
                return Ok(self.outcome());
            }
            self.system.round();
            self.round += 1;
            self.observe();
            stopped = watch(&self, None).is_break();
        }
    }

    /// What has been seen so far.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut outcome = self.monitor.outcome();
        // A jam never ends, however short the run.
        if self.overdue() || !self.system.feasible() {
            outcome.overdue();
        }
        self.system
            .judge(&mut outcome, self.has_turned() || self.overdue());
        outcome
    }

    fn observe(&mut self) {
        self.system.observe(self.round, &mut self.monitor);
    }

    fn has_turned(&self) -> bool {
        let since = self.monitor.settled_since();
        since.is_some_and(|since| self.system.has_turned(self.round - since))
    }

    fn done(&self, faults_to_come: bool) -> bool {
        match (self.asked, self.monitor.settled_since()) {
            (Some(asked), _) => self.round >= asked,
            _ if faults_to_come => false,
            (None, Some(_)) => self.has_turned(),
            (None, None) => self.overdue(),
        }
    }

    /// As long after the last disturbance as a recovery may take.
    fn overdue(&self) -> bool {
        self.round - self.disturbed_at >= self.patience
    }
}

/// Delays and relays, and what else has rounds in lock-step.
struct LockStep<'a> {
    run: &'a Run,
    engine: Box<dyn Engine>,
    tokens: u64,
}

impl<'a> LockStep<'a> {
    fn new(run: &'a Run) -> LockStep<'a> {
        LockStep {
            run,
            engine: run.new_engine(),
            tokens: run.start.tokens(),
        }
    }
}

impl System for LockStep<'_> {
    fn round(&mut self) {
        self.engine.round();
    }

    fn observe(&mut self, round: Round, monitor: &mut Monitor) {
        let (engine, ring) = (&self.engine, &self.run.ring);
        let predicate = || {
            let state = engine.configuration();
            ring.legitimate(&state, self.tokens).is_ok()
        };
        monitor.observe(round, engine.tokens(), predicate);
    }

    fn strike(&mut self, fault: &Fault, random: &mut Random) -> Result<(), FaultError> {
        let mut state = self.engine.configuration();
        fault.strike(&self.run.ring, &mut state, random)?;
        self.engine.load(state);
        Ok(())
    }

    fn feasible(&self) -> bool {
        self.run.ring.fits(self.tokens)
    }

    fn patience(&self) -> Round {
        self.run.patience()
    }

    fn has_turned(&self, rounds: Round) -> bool {
        rounds >= self.run.ring.len() as u64
    }
}
