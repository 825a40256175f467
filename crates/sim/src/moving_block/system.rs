//! The moving block as a system that goes on by rounds: every process does everything once,
//! in an order that is drawn anew.

use headway_core::Round;
use headway_core::desiderata::{Desideratum, Monitor, Observed, Outcome};

use super::run::{Did, MovingBlockRun};
use super::{ACTIONS, Action, MovingBlockRing, STATION_ACTIONS};
use crate::fault::{Fault, FaultError, FaultKind};
use crate::run::System;
use crate::seed::{Purpose, Random};

/// A work goes on in a round with all chances but one of so many.
const WORK_ROUNDS: u64 = 16;

pub(super) struct Block<'a> {
    run: &'a MovingBlockRun,
    pub(super) ring: MovingBlockRing,
    random: Random,
    order: Vec<(usize, Action)>,
    /// Whether each token stayed where it was in this round.
    pub(super) rested: Vec<bool>,
    /// What each process did in this round.
    pub(super) did: Vec<Did>,
    /// The smallest distance within this round.
    between: Option<u64>,
    /// Who received a token in this round.
    visited: Vec<usize>,
    /// Where the tokens were when the state became legitimate.
    settled: Vec<usize>,
}

impl<'a> Block<'a> {
    pub(super) fn new(run: &'a MovingBlockRun, ring: MovingBlockRing) -> Block<'a> {
        let processes = 0..run.processes;
        let actions: &[Action] = match run.stations {
            None => &ACTIONS,
            Some(_) => &STATION_ACTIONS,
        };
        Block {
            run,
            ring,
            random: Random::new(run.seed, Purpose::Other(0)),
            order: processes
                .flat_map(|process| actions.iter().map(move |&action| (process, action)))
                .collect(),
            rested: vec![false; run.tokens],
            did: vec![Did::default(); run.processes],
            between: None,
            visited: Vec::new(),
            settled: Vec::new(),
        }
    }

    fn note(&mut self, process: usize, action: Action, done: bool) {
        let n = self.run.processes;
        let slot = self.ring.places[(process + n - 1) % n].slot;
        let did = &mut self.did[process];
        match action {
            Action::Receive => did.received = done,
            Action::Tell => did.told = slot.map_or(0, |news| news.ahead),
            Action::Hear => did.heard = done.then_some(self.ring.places[process].ahead),
            Action::Give => did.gave = done,
            Action::TellOn | Action::HearOn | Action::Work => {}
        }
    }

    fn closest(&self) -> Option<u64> {
        (self.run.tokens > 1).then(|| self.ring.closest().max(0) as u64)
    }
}

impl System for Block<'_> {
    fn round(&mut self) {
        for last in (1..self.order.len()).rev() {
            self.order.swap(last, self.random.index(last + 1));
        }
        let before = self.ring.positions().to_vec();
        for at in 0..self.order.len() {
            let (process, action) = self.order[at];
            if action == Action::Work
                && self.ring.is_working(process)
                && !self.random.chance(1, WORK_ROUNDS)
            {
                continue;
            }
            let done = self.ring.act(process, action);
            self.note(process, action, done);
            match action {
                // Only then a distance shrinks.
                Action::Give if done => {
                    self.between = self.between.into_iter().chain(self.closest()).min();
                }
                Action::Receive if done => self.visited.push(process),
                _ => {}
            }
        }
        let now = self.ring.positions().iter();
        for (rested, (before, now)) in self.rested.iter_mut().zip(before.iter().zip(now)) {
            *rested = before == now;
        }
    }

    fn observe(&mut self, round: Round, monitor: &mut Monitor) {
        let state = Observed {
            tokens: self.ring.count() as u64,
            resting: self.rested.contains(&true),
            distance: self.closest(),
            between: self.between.take(),
            // Without room to move nothing is as it should be, however far apart they are.
            legitimate: self.feasible() && self.ring.legitimate(),
        };
        monitor.note(round, state, self.visited.drain(..));
        if monitor.settled_since() == Some(round) {
            self.settled = self.ring.positions().to_vec();
        }
    }

    fn strike(&mut self, fault: &Fault, random: &mut Random) -> Result<(), FaultError> {
        match fault.kind {
            FaultKind::Pile(at) => {
                let at = at.unwrap_or_else(|| random.index(self.run.processes));
                self.ring.place(&vec![at; self.run.tokens]);
            }
            _ => self.ring.scramble(random.below(u64::MAX)),
        }
        self.rested.fill(false);
        Ok(())
    }

    fn feasible(&self) -> bool {
        self.run.feasible()
    }

    fn patience(&self) -> Round {
        self.run.patience()
    }

    /// Every token has.
    fn has_turned(&self, _: Round) -> bool {
        let mut moved = self.settled.iter().zip(self.ring.positions());
        moved.all(|(before, now)| now - before >= self.run.processes)
    }

    /// Each token visits the processes in turn, so it is at most one visit ahead.
    fn judge(&self, outcome: &mut Outcome, in_time: bool) {
        let tokens = self.run.tokens as u64;
        let equally = |(least, most): (u64, u64)| least > 0 && most - least <= tokens;
        let judged = outcome.visits.filter(|_| in_time);
        outcome.desiderata[Desideratum::D4 as usize].holds = judged.map(equally);
    }
}
