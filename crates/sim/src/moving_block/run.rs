//! A run of the moving block: every round all processes do everything once, in an order
//! that is drawn anew.

use std::ops::ControlFlow;

use headway_core::Round;
use headway_core::desiderata::{Outcome, Recovery, verdicts};
use thiserror::Error;

use super::{ACTIONS, Action, MovingBlockRing};
use crate::fault::{Fault, FaultKind, Struck};
use crate::seed::{DEFAULT_SEED, Purpose, Random};
use crate::settings::Start;

/// What to run.
#[derive(Clone, Debug)]
pub struct MovingBlockRun {
    /// n.
    pub processes: usize,
    /// m.
    pub tokens: usize,
    /// d.
    pub separation: u32,
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
    /// The fault that has just struck, if this frame is one's effect.
    pub fault: Option<&'a Fault>,
}

impl MovingBlockRun {
    /// A run from a random state, without faults.
    pub fn new(processes: usize, tokens: usize, separation: u32) -> MovingBlockRun {
        MovingBlockRun {
            processes,
            tokens,
            separation,
            start: Start::Random,
            faults: Vec::new(),
            seed: DEFAULT_SEED,
            rounds: None,
        }
    }

    /// Whether the tokens fit with the slack of one process that they need: n > m·d.
    pub fn feasible(&self) -> bool {
        let room = u128::from(self.separation) * self.tokens as u128;
        self.processes as u128 > room
    }

    /// The rounds without a fault after which a run ends: those by which it is proved to
    /// be legitimate and to have made a turn, or four turns of a jam.
    pub fn patience(&self) -> Round {
        let ring = MovingBlockRing::new(self.processes, self.tokens, self.separation);
        match self.feasible() {
            true => (ring.worst_settled() + ring.worst_advance(self.processes)) as Round,
            false => 4 * self.processes as Round,
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
        let (n, m) = (self.processes, self.tokens);
        let mut ring = MovingBlockRing::new(n, m, self.separation);
        match self.start {
            Start::Piled => {}
            Start::Random => ring.scramble(self.seed),
            Start::Spaced => {
                let place = |token| (token as u128 * n as u128 / m as u128) as usize;
                ring.place(&(0..m).map(place).collect::<Vec<_>>());
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
        let mut faults: Vec<(usize, &Fault)> = self.faults.iter().enumerate().collect();
        faults.sort_by_key(|(_, fault)| fault.after_round);
        let mut faults = faults.into_iter().peekable();
        let mut seen = Seen::new(self, self.start()?);
        let mut random = Random::new(self.seed, Purpose::Other(0));
        let mut stopped = seen.show(None, &mut watch).is_break();
        loop {
            while let Some((index, fault)) =
                faults.next_if(|(_, fault)| !stopped && fault.after_round == seen.round)
            {
                seen.strike(
                    &fault.kind,
                    &mut Random::new(self.seed, Purpose::Fault(index as u32)),
                );
                stopped |= seen.show(Some(fault), &mut watch).is_break();
            }
            if stopped || seen.done(faults.peek().is_some()) {
                return Ok(seen.outcome());
            }
            seen.round(&mut random);
            stopped = seen.show(None, &mut watch).is_break();
        }
    }
}

/// A run as it goes on, with what was seen of it.
struct Seen<'a> {
    run: &'a MovingBlockRun,
    ring: MovingBlockRing,
    patience: Round,
    order: Vec<(usize, Action)>,
    round: Round,
    disturbed_at: Round,
    rested: Vec<bool>,
    last_rest: Option<Round>,
    least_before: Option<u64>,
    recoveries: Vec<Recovery>,
    conserved: bool,
    settled: Option<Settled>,
}

/// Since the state last became legitimate.
struct Settled {
    least: Option<u64>,
    all_moved: bool,
    from: Vec<usize>,
    visits: Vec<u64>,
}

impl<'a> Seen<'a> {
    fn new(run: &'a MovingBlockRun, ring: MovingBlockRing) -> Seen<'a> {
        let processes = 0..run.processes;
        let mut seen = Seen {
            run,
            ring,
            patience: run.patience(),
            order: processes
                .flat_map(|process| ACTIONS.map(|action| (process, action)))
                .collect(),
            round: 0,
            disturbed_at: 0,
            rested: vec![false; run.tokens],
            last_rest: None,
            least_before: None,
            recoveries: Vec::new(),
            conserved: true,
            settled: None,
        };
        seen.disturbed();
        seen
    }

    /// The state has just been changed from outside.
    fn disturbed(&mut self) {
        let (fault_at, legitimate_at) = (self.round, None);
        self.recoveries.push(Recovery {
            fault_at,
            legitimate_at,
        });
        self.disturbed_at = self.round;
        self.settled = None;
        self.rested.fill(false);
        self.look();
    }

    fn strike(&mut self, fault: &FaultKind, random: &mut Random) {
        match fault {
            FaultKind::Pile(at) => {
                let at = at.unwrap_or_else(|| random.index(self.run.processes));
                self.ring.place(&vec![at; self.run.tokens]);
            }
            _ => self.ring.scramble(random.below(u64::MAX)),
        }
        self.disturbed();
    }

    fn round(&mut self, random: &mut Random) {
        for last in (1..self.order.len()).rev() {
            self.order.swap(last, random.index(last + 1));
        }
        self.round += 1;
        let before = self.ring.positions().to_vec();
        for at in 0..self.order.len() {
            let (process, action) = self.order[at];
            let did = self.ring.act(process, action);
            match action {
                // Only then a distance shrinks.
                Action::Give if did => self.compare(),
                Action::Receive if did => {
                    if let Some(settled) = &mut self.settled {
                        settled.visits[process] += 1;
                    }
                }
                _ => {}
            }
        }
        let now = self.ring.positions().iter();
        for (rested, (before, now)) in self.rested.iter_mut().zip(before.iter().zip(now)) {
            *rested = before == now;
        }
        if self.rested.contains(&true) {
            self.last_rest = Some(self.round);
        }
        if let Some(settled) = &mut self.settled {
            settled.all_moved &= !self.rested.contains(&true);
        }
        self.look();
    }

    fn closest(&self) -> Option<u64> {
        (self.run.tokens > 1).then(|| self.ring.closest().max(0) as u64)
    }

    fn compare(&mut self) {
        let closest = self.closest();
        let least = match &mut self.settled {
            Some(settled) => &mut settled.least,
            None => &mut self.least_before,
        };
        *least = least.map_or(closest, |least| closest.map(|closest| closest.min(least)));
    }

    /// Looks whether the state has become legitimate. It stays so (theorem 1), unless
    /// something is wrong: then it starts again.
    fn look(&mut self) {
        self.conserved &= self.ring.count() == self.run.tokens;
        match (self.ring.legitimate(), &self.settled) {
            (true, None) => {
                if let Some(last) = self.recoveries.last_mut() {
                    last.legitimate_at.get_or_insert(self.round);
                }
                self.settled = Some(Settled {
                    least: self.closest(),
                    all_moved: true,
                    from: self.ring.positions().to_vec(),
                    visits: vec![0; self.run.processes],
                });
            }
            (false, Some(_)) => self.settled = None,
            _ => {}
        }
        self.compare();
    }

    fn show(
        &self,
        fault: Option<&Fault>,
        watch: &mut impl FnMut(&Frame<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        watch(&Frame {
            round: self.round,
            ring: &self.ring,
            rested: &self.rested,
            legitimate: self.settled.is_some(),
            fault,
        })
    }

    /// Every token has made a turn since.
    fn turned(&self, settled: &Settled) -> bool {
        let mut moved = settled.from.iter().zip(self.ring.positions());
        moved.all(|(before, now)| now - before >= self.run.processes)
    }

    fn done(&self, faults_to_come: bool) -> bool {
        if let Some(rounds) = self.run.rounds {
            return self.round >= rounds;
        }
        let turned = self
            .settled
            .as_ref()
            .is_some_and(|settled| self.turned(settled));
        !faults_to_come && (turned || self.overdue())
    }

    fn overdue(&self) -> bool {
        self.round - self.disturbed_at >= self.patience
    }

    fn outcome(self) -> Outcome {
        let d = u64::from(self.run.separation);
        let settled = self.settled.as_ref();
        let visits = settled.map(|settled| {
            let visits = settled.visits.iter();
            (
                visits.clone().min().copied().unwrap_or(0),
                visits.max().copied().unwrap_or(0),
            )
        });
        // Each token visits the processes in turn, so it is at most one visit ahead.
        let equally = |(least, most): (u64, u64)| most - least <= self.run.tokens as u64;
        let judged = settled.filter(|settled| self.turned(settled) || self.overdue());
        let visited = judged
            .and(visits)
            .map(|visits| visits.0 > 0 && equally(visits));
        let recovered = self.recoveries.last().and_then(|last| last.legitimate_at);
        let recovers = match recovered {
            Some(_) => Some(true),
            None => self.overdue().then_some(false),
        };
        Outcome {
            rounds: self.round,
            legitimate_at: self.recoveries[0].legitimate_at,
            last_rest: self.last_rest,
            min_distance_before: self.least_before,
            min_distance_after: settled.and_then(|settled| settled.least),
            visits,
            desiderata: verdicts([
                Some(self.conserved),
                settled.map(|settled| settled.least.is_none_or(|least| least >= d)),
                settled.map(|settled| settled.all_moved),
                visited,
                recovers,
            ]),
            legitimate: settled.is_some(),
            recoveries: self.recoveries,
        }
    }
}
