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
    /// More of them: 4n times that, likewise (docs/unknown-size.md has proved bounds).
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
    let mut faults: Vec<(usize, &Fault)> = run.faults.iter().enumerate().collect();
    faults.sort_by_key(|(_, fault)| fault.after_round);
    let mut faults = faults.into_iter().peekable();
    let mut running = Running::new(run);
    let mut stopped = running.show(None, &mut watch).is_break();
    loop {
        while let Some((index, fault)) =
            faults.next_if(|(_, fault)| fault.after_round == running.engine.rounds())
        {
            running.strike(index, fault)?;
            stopped |= running.show(Some(fault), &mut watch).is_break();
        }
        if stopped || running.done(faults.peek().is_some()) {
            let mut outcome = running.monitor.outcome();
            // A jam never ends, however short the run.
            if running.overdue() || !run.ring.fits(running.tokens) {
                outcome.overdue();
            }
            return Ok(outcome);
        }
        running.round();
        stopped = running.show(None, &mut watch).is_break();
    }
}

struct Running<'a> {
    run: &'a Run,
    engine: Box<dyn Engine>,
    monitor: Monitor,
    tokens: u64,
    patience: Round,
    disturbed_at: Round,
}

impl<'a> Running<'a> {
    fn new(run: &'a Run) -> Running<'a> {
        let engine = run.new_engine();
        let mut running = Running {
            run,
            monitor: Monitor::new(run.ring.separation(), engine.tokens()),
            engine,
            tokens: run.start.tokens(),
            patience: run.patience(),
            disturbed_at: 0,
        };
        running.observe();
        running
    }

    fn round(&mut self) {
        self.engine.round();
        self.observe();
    }

    fn observe(&mut self) {
        let (engine, ring) = (&self.engine, &self.run.ring);
        let predicate = || {
            ring.legitimate(&engine.configuration(), self.tokens)
                .is_ok()
        };
        self.monitor
            .observe(engine.rounds(), engine.tokens(), predicate);
    }

    fn strike(&mut self, index: usize, fault: &Fault) -> Result<(), RunError> {
        let mut state = self.engine.configuration();
        let mut random = Random::new(self.run.seed, Purpose::Fault(index as u32));
        fault
            .strike(&self.run.ring, &mut state, &mut random)
            .map_err(|error| RunError::Fault {
                fault: fault.to_string(),
                error,
            })?;
        let legitimate = self.run.ring.legitimate(&state, self.tokens).is_ok();
        self.engine.load(state);
        self.disturbed_at = self.engine.rounds();
        self.monitor.fault(self.engine.tokens(), || legitimate);
        Ok(())
    }

    fn show(
        &self,
        fault: Option<&Fault>,
        watch: &mut impl FnMut(&Frame<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        watch(&Frame {
            round: self.engine.rounds(),
            tokens: self.engine.tokens(),
            legitimate: self.monitor.legitimate(),
            fault,
            engine: self.engine.as_ref(),
            expected: self.tokens,
        })
    }

    fn done(&self, faults_to_come: bool) -> bool {
        let now = self.engine.rounds();
        if let Some(rounds) = self.run.rounds {
            return now >= rounds;
        }
        if faults_to_come {
            return false;
        }
        match self.monitor.settled_since() {
            Some(since) => now - since >= self.run.ring.len() as u64,
            None => self.overdue(),
        }
    }

    /// As long after the last disturbance as a recovery may take.
    fn overdue(&self) -> bool {
        self.engine.rounds() - self.disturbed_at >= self.patience
    }
}
