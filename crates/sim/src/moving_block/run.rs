//! A run of the moving block: every round all processes do everything once, in an order
//! that is drawn anew.

use std::ops::ControlFlow;

use headway_core::desiderata::{Monitor, Outcome};
use headway_core::moving_block::Ahead;
use headway_core::{Round, Separation};
use thiserror::Error;

use super::MovingBlockRing;
use super::system::Block;
use crate::fault::{Fault, FaultKind, Struck};
use crate::run::Rounds;
use crate::seed::DEFAULT_SEED;
use crate::settings::Start;

/// What to run.
#[derive(Clone, Debug)]
pub struct MovingBlockRun {
    /// n.
    pub processes: usize,
    /// m.
    pub tokens: usize,
    /// d, in stations.
    pub separation: u32,
    /// Processes of each station; `None`: each is one by itself, and nobody works.
    pub stations: Option<Vec<usize>>,
    /// The initial state.
    pub start: Start,
    /// Faults, in any order.
    pub faults: Vec<Fault>,
    /// The seed of the start, the schedule and the faults.
    pub seed: u64,
    /// How many rounds; `None`: until legitimate, after the last fault, and until every
    /// token has made a turn more, or until [`MovingBlockRun::patience`] has passed.
    pub rounds: Option<Round>,
}

/// Why there is no such run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MovingBlockError {
    /// No state is known to be the slowest.
    #[error("which start of a moving block is the slowest is not known")]
    WorstUnknown,
    /// It has no counters, and its tokens keep their order.
    #[error("a moving block knows the faults scramble, pile and pile:I")]
    Fault,
    /// Nobody is there.
    #[error("station {0} has no members: expected sizes of 1 or more, such as 20,20,20")]
    EmptyStation(usize),
    /// Nowhere to go.
    #[error("only one station: expected 2 or more, such as 20,20,20")]
    OneStation,
    /// Not on the ring.
    #[error("there is no process {process}: the ring has processes 0 to {}", .processes - 1)]
    NoSuchProcess {
        /// The process named.
        process: usize,
        /// n.
        processes: usize,
    },
}

/// What a run shows after state 0, after every round and after every fault.
pub struct Frame<'a> {
    /// The round that led here.
    pub round: Round,
    /// The ring.
    pub ring: &'a MovingBlockRing,
    /// Whether each token stayed where it was in this round.
    pub rested: &'a [bool],
    /// Whether the state is legitimate.
    pub legitimate: bool,
    /// What each process did in this round.
    pub did: &'a [Did],
    /// D1 to D5 so far; `None`: too early to judge.
    pub holds: [Option<bool>; 5],
    /// Fewest and most visits of a process since the state became legitimate.
    pub visits: Option<(u64, u64)>,
    /// The fault that has just struck, if this frame is one's effect.
    pub fault: Option<&'a Fault>,
}

/// What a process did in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Did {
    /// It received a token.
    pub received: bool,
    /// What it told its predecessor.
    pub told: u32,
    /// What it believes since it heard from its successor; `None`: nothing was told.
    pub heard: Option<Ahead>,
    /// It handed a token over.
    pub gave: bool,
}

impl MovingBlockRun {
    /// A run from a random state, without faults.
    pub fn new(processes: usize, tokens: usize, separation: u32) -> MovingBlockRun {
        MovingBlockRun {
            processes,
            tokens,
            separation,
            stations: None,
            start: Start::Random,
            faults: Vec::new(),
            seed: DEFAULT_SEED,
            rounds: None,
        }
    }

    /// The same on a ring cut into stations of so many processes.
    ///
    /// # Errors
    ///
    /// When a station is empty, or there is only one.
    pub fn of_stations(
        sizes: &[usize],
        tokens: usize,
        separation: u32,
    ) -> Result<MovingBlockRun, MovingBlockError> {
        if let Some(index) = sizes.iter().position(|&size| size == 0) {
            return Err(MovingBlockError::EmptyStation(index + 1));
        }
        if sizes.len() < 2 {
            return Err(MovingBlockError::OneStation);
        }
        let add = |sum: usize, size: &usize| sum.saturating_add(*size);
        let processes = sizes.iter().fold(0, add);
        Ok(MovingBlockRun {
            stations: Some(sizes.to_vec()),
            ..MovingBlockRun::new(processes, tokens, separation)
        })
    }

    /// k, the number of stations.
    pub fn station_count(&self) -> usize {
        self.stations.as_ref().map_or(self.processes, Vec::len)
    }

    /// Whether the tokens fit with the slack of one station that they need: k > m·d.
    pub fn feasible(&self) -> bool {
        let room = u128::from(self.separation) * self.tokens as u128;
        self.station_count() as u128 > room
    }

    /// The rounds without a fault after which a run ends: those by which it is proved to
    /// be legitimate and to have made a turn, or four turns of a jam. Of stations no bound is
    /// proved: ten times the longest seen.
    pub fn patience(&self) -> Round {
        let ring = || MovingBlockRing::new(self.processes, self.tokens, self.separation);
        let n = self.processes as Round;
        match self.stations {
            _ if !self.feasible() => 4 * n,
            None => (ring().worst_settled() + ring().worst_advance(self.processes)) as Round,
            Some(_) => 100 * n + 1000 * self.station_count() as Round,
        }
    }

    /// Whether a fault can strike.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    pub fn admits(&self, fault: &Fault) -> Result<(), MovingBlockError> {
        match fault.kind {
            FaultKind::Pile(Some(process)) if process >= self.processes => {
                let processes = self.processes;
                Err(MovingBlockError::NoSuchProcess { process, processes })
            }
            FaultKind::Scramble(Struck::All) | FaultKind::Pile(_) => Ok(()),
            _ => Err(MovingBlockError::Fault),
        }
    }

    fn start(&self) -> Result<MovingBlockRing, MovingBlockError> {
        let (m, k) = (self.tokens, self.station_count());
        let mut ring = match &self.stations {
            None => MovingBlockRing::new(self.processes, m, self.separation),
            Some(sizes) => MovingBlockRing::of_stations(sizes, m, self.separation),
        };
        match self.start {
            Start::Piled => {}
            Start::Random => ring.scramble(self.seed),
            Start::Spaced => {
                let station = |token: usize| (token as u128 * k as u128 / m as u128) as usize;
                let place = |token| ring.first(station(token));
                let places: Vec<usize> = (0..m).map(place).collect();
                ring.place(&places);
            }
            Start::Worst => return Err(MovingBlockError::WorstUnknown),
        }
        Ok(ring)
    }

    /// Runs, showing `watch` every state, until the stop condition, or until it is told
    /// to stop.
    ///
    /// # Errors
    ///
    /// When there is no such start, or a fault cannot strike.
    ///
    /// # Panics
    ///
    /// Without processes.
    pub fn run(
        &self,
        mut watch: impl FnMut(&Frame<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, MovingBlockError> {
        self.faults
            .iter()
            .try_for_each(|fault| self.admits(fault))?;
        let separation = Separation::new(self.separation.max(1)).unwrap_or(Separation::MAX);
        let monitor = Monitor::of_any(separation, self.processes, self.tokens as u64);
        let rounds = Rounds::new(Block::new(self, self.start()?), monitor, self.rounds);
        let outcome = rounds.run(&self.faults, self.seed, |rounds, fault| {
            let outcome = rounds.outcome();
            watch(&Frame {
                round: rounds.round,
                ring: &rounds.system.ring,
                rested: &rounds.system.rested,
                legitimate: rounds.monitor.legitimate(),
                did: &rounds.system.did,
                holds: outcome.desiderata.map(|verdict| verdict.holds),
                visits: outcome.visits,
                fault,
            })
        });
        // Every fault was admitted.
        outcome.map_err(|_| MovingBlockError::Fault)
    }
}
