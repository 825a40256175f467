//! What is seen of a run of the moving block while it goes on.

use std::ops::ControlFlow;

use headway_core::Round;
use headway_core::desiderata::{Outcome, Recovery, verdicts};

use super::run::{Did, Frame, MovingBlockRun};
use super::{ACTIONS, Action, MovingBlockRing};
use crate::fault::{Fault, FaultKind};
use crate::seed::Random;

/// A run as it goes on, with what was seen of it.
pub(super) struct Seen<'a> {
    run: &'a MovingBlockRun,
    ring: MovingBlockRing,
    patience: Round,
    order: Vec<(usize, Action)>,
    pub(super) round: Round,
    disturbed_at: Round,
    rested: Vec<bool>,
    did: Vec<Did>,
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
    pub(super) fn new(run: &'a MovingBlockRun, ring: MovingBlockRing) -> Seen<'a> {
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
            did: vec![Did::default(); run.processes],
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

    pub(super) fn strike(&mut self, fault: &FaultKind, random: &mut Random) {
        match fault {
            FaultKind::Pile(at) => {
                let at = at.unwrap_or_else(|| random.index(self.run.processes));
                self.ring.place(&vec![at; self.run.tokens]);
            }
            _ => self.ring.scramble(random.below(u64::MAX)),
        }
        self.disturbed();
    }

    pub(super) fn round(&mut self, random: &mut Random) {
        for last in (1..self.order.len()).rev() {
            self.order.swap(last, random.index(last + 1));
        }
        self.round += 1;
        let before = self.ring.positions().to_vec();
        for at in 0..self.order.len() {
            let (process, action) = self.order[at];
            let done = self.ring.act(process, action);
            self.note(process, action, done);
            match action {
                // Only then a distance shrinks.
                Action::Give if done => self.compare(),
                Action::Receive if done => {
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

    fn note(&mut self, process: usize, action: Action, done: bool) {
        let n = self.run.processes;
        let slot = self.ring.places[(process + n - 1) % n].slot;
        let did = &mut self.did[process];
        match action {
            Action::Receive => did.received = done,
            Action::Tell => did.told = slot.map_or(0, |(news, _)| news),
            Action::Hear => did.heard = done.then_some(self.ring.places[process].ahead),
            Action::Give => did.gave = done,
        }
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

    pub(super) fn show(
        &self,
        fault: Option<&Fault>,
        watch: &mut impl FnMut(&Frame<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (holds, visits) = self.judge();
        watch(&Frame {
            did: &self.did,
            holds,
            visits,
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

    pub(super) fn done(&self, faults_to_come: bool) -> bool {
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

    /// D1 to D5, and fewest and most visits since the state became legitimate.
    fn judge(&self) -> ([Option<bool>; 5], Option<(u64, u64)>) {
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
        let holds = [
            Some(self.conserved),
            settled.map(|settled| settled.least.is_none_or(|least| least >= d)),
            settled.map(|settled| settled.all_moved),
            visited,
            recovers,
        ];
        (holds, visits)
    }

    pub(super) fn outcome(self) -> Outcome {
        let (holds, visits) = self.judge();
        let settled = self.settled.as_ref();
        Outcome {
            rounds: self.round,
            legitimate_at: self.recoveries[0].legitimate_at,
            last_rest: self.last_rest,
            min_distance_before: self.least_before,
            min_distance_after: settled.and_then(|settled| settled.least),
            visits,
            desiderata: verdicts(holds),
            legitimate: settled.is_some(),
            recoveries: self.recoveries,
        }
    }
}
