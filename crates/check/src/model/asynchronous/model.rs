//! The processes, their clocks and their ghosts.

use headway_core::phase_clock::{PhaseClock, Step as ClockStep};
use headway_core::program::delay;
use headway_core::{Process, Program};

use super::Settings;
use crate::error::Result;
use crate::model::delay_relay::{Explicit, Instance};
use crate::reach::Reachable;
use crate::schedule;
use crate::traits::{Deterministic, Model};

#[cfg(test)]
mod tests;

/// The most processes.
pub(super) const MAX_PROCESSES: usize = 12;

/// One process: its clock, its program's variables now and the queue before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Local {
    phase: u8,
    queued: u8,
    resting: u8,
    counter: u8,
    /// The queue after the previous round, published with the current one.
    previous: u8,
    /// The rank of the lock-step state that it believes to be in.
    ghost: u32,
}

/// All processes; unused places stay empty.
pub(super) type State = [Local; MAX_PROCESSES];

/// An asynchronous ring.
#[derive(Clone, Debug)]
pub(super) struct Asynchronous {
    instance: Instance,
    lock_step: Explicit,
    clock: PhaseClock,
    settings: Settings,
    modulus: u32,
}

impl Asynchronous {
    pub(super) fn new(settings: &Settings, instance: &Instance) -> Result<Asynchronous> {
        let modulus = settings.modulus();
        Ok(Asynchronous {
            modulus,
            lock_step: Explicit::new(instance)?,
            instance: instance.clone(),
            clock: PhaseClock {
                modulus: modulus as i32,
                tail: 0,
            },
            settings: settings.clone(),
        })
    }

    fn n(&self) -> usize {
        self.settings.processes
    }

    fn local(&self, rank: u64, process: usize) -> Process {
        let state = self.lock_step.state(rank);
        self.lock_step.processes(&state)[process]
    }

    fn start(&self, rank: u64, phases: impl Fn(usize) -> u8) -> State {
        let mut state = [Local::default(); MAX_PROCESSES];
        for (process, local) in state[..self.n()].iter_mut().enumerate() {
            let variables = self.local(rank, process);
            *local = Local {
                phase: phases(process),
                queued: variables.queued as u8,
                resting: variables.resting as u8,
                counter: variables.counter as u8,
                previous: 0,
                ghost: rank as u32,
            };
        }
        state
    }

    fn enabled(&self, state: &State) -> u64 {
        let n = self.n();
        (0..n)
            .filter(|&i| {
                let neighbours = [
                    i32::from(state[(i + n - 1) % n].phase),
                    i32::from(state[(i + 1) % n].phase),
                ];
                self.clock.step(state[i].phase.into(), &neighbours) == Some(ClockStep::Tick)
            })
            .map(|i| 1 << i)
            .sum()
    }

    /// Whether a process that is one tick ahead is also one round ahead: its last
    /// tick was not idle.
    fn executed(&self, phase: u8) -> bool {
        u32::from(phase) % self.settings.pace == 0
    }

    fn tick(&self, state: &State, process: usize) -> Local {
        let n = self.n();
        let (own, before) = (state[process], state[(process + n - 1) % n]);
        let phase = self.clock.after(own.phase.into()) as u8;
        if !self.executed(phase) {
            return Local { phase, ..own };
        }
        // The predecessor is as far as `own`, or has ticked into `phase` already.
        let ahead = before.phase == phase;
        let arriving = if ahead && !self.settings.without_previous {
            before.previous
        } else {
            before.queued
        };
        let variables = Process {
            queued: own.queued.into(),
            resting: own.resting.into(),
            counter: own.counter.into(),
        };
        let ring = self.lock_step.ring();
        let top = match ring.programs()[process] {
            Program::Delay => ring.separation().top(),
            _ => 0,
        };
        let after = delay::round(variables, arriving.into(), top);
        let ghost = self.lock_step.next(&self.lock_step.state(own.ghost.into()));
        Local {
            phase,
            queued: after.queued as u8,
            resting: after.resting as u8,
            counter: after.counter as u8,
            previous: own.queued,
            ghost: self.lock_step.rank(&ghost) as u32,
        }
    }

    /// Whether the clocks gain or lose a turn on the way round the ring.
    fn wound(&self, state: &State) -> bool {
        let n = self.n();
        let ahead = |i: usize| {
            let (own, next) = (
                i32::from(state[i].phase),
                i32::from(state[(i + 1) % n].phase),
            );
            i32::from(own != next && next == self.clock.after(own))
                - i32::from(own != next && own == self.clock.after(next))
        };
        (0..n).map(ahead).sum::<i32>() != 0
    }

    /// Tokens whose last holder is the process.
    fn tokens_at(&self, state: &State, process: usize) -> u64 {
        let (own, next) = (state[process], state[(process + 1) % self.n()]);
        let after = |phase: u8| self.clock.after(phase.into()) as u8;
        let next_ahead = next.phase == after(own.phase) && self.executed(next.phase);
        let own_ahead = own.phase == after(next.phase) && self.executed(own.phase);
        let mut tokens = u64::from(own.resting);
        if !next_ahead {
            tokens += u64::from(own.queued);
        }
        if own_ahead {
            tokens += u64::from(own.previous);
        }
        tokens
    }

    /// The least distance of two tokens, counted at their last holders.
    pub(super) fn true_distance(&self, state: &State) -> u64 {
        let n = self.n();
        let tokens: Vec<u64> = (0..n).map(|i| self.tokens_at(state, i)).collect();
        if tokens.iter().any(|&count| count > 1) {
            return 0;
        }
        let distance = |i: usize| (1..=n).find(|hops| tokens[(i + hops) % n] > 0);
        let distances = (0..n).filter(|&i| tokens[i] > 0).filter_map(distance);
        distances.min().map_or(n as u64, |hops| hops as u64)
    }

    /// The state as people read it.
    pub(super) fn show(&self, state: &State) -> String {
        let cells = (0..self.n()).map(|i| {
            let local = state[i];
            let tokens = self.tokens_at(state, i);
            let tokens = if tokens > 0 {
                format!(" tokens {tokens}")
            } else {
                String::new()
            };
            format!("[phase {}{tokens}]", local.phase)
        });
        cells.collect::<Vec<_>>().join(" ")
    }
}

impl Reachable for Asynchronous {
    type State = State;

    fn starts(&self) -> impl Iterator<Item = Option<State>> {
        let starts = |rank: &u64| {
            self.settings.every_start || self.lock_step.legitimate(&self.lock_step.state(*rank))
        };
        // Queues of several tokens exist only before round 1.
        let small = |rank: &u64| (0..self.n()).all(|i| self.local(*rank, i).queued <= 1);
        let modulus = self.modulus as usize;
        // How the clocks begin: at 0 and, where they can, wound once round the ring.
        let turns = 1 + usize::from(modulus <= self.n());
        (0..turns).flat_map(move |turn| {
            let phase = move |i: usize| {
                if turn == 0 {
                    0
                } else {
                    (i.min(modulus) % modulus) as u8
                }
            };
            (0..self.lock_step.states()).map(move |rank| {
                let rank = Some(rank).filter(starts).filter(small)?;
                Some(self.start(rank, phase))
            })
        })
    }

    fn successors(&self, state: &State, successors: &mut Vec<State>) {
        let n = self.n();
        let neighbours = |i: usize| schedule::ring_neighbours(i, n);
        let enabled = self.enabled(state);
        let selections = self.settings.scheduler.selections(enabled, neighbours);
        successors.extend(selections.map(|selected| {
            let mut after = *state;
            for process in schedule::bits(selected) {
                after[process] = self.tick(state, process);
            }
            after
        }));
    }

    fn violates(&self, state: &State) -> Option<&'static str> {
        let n = self.n();
        let departed = (0..n).any(|i| {
            let (local, ghost) = (state[i], self.local(state[i].ghost.into(), i));
            u32::from(local.queued) != ghost.queued
                || u32::from(local.resting) != ghost.resting
                || i32::from(local.counter) != ghost.counter
        });
        if departed {
            return Some("logical-rounds");
        }
        // Between wound clocks there is no telling who is ahead, so no counting.
        if self.wound(state) {
            return None;
        }
        let tokens: u64 = (0..n).map(|i| self.tokens_at(state, i)).sum();
        (tokens != self.instance.tokens() as u64).then_some("conserved")
    }
}
