//! What open variables may turn out to be, and the round that follows.

use headway_core::program::Counts;
use headway_core::{Measuring, Program};

use super::UnknownSize;
use super::case::{Choice, Lap, Local, OPEN, process, with_process};

/// Splits the variables of a process that a round reads, one kind after the other, and
/// does the round.
pub(super) struct Split<'a> {
    pub(super) model: &'a UnknownSize,
    pub(super) arriving: u8,
    pub(super) age: u8,
}

pub(super) type Options = Vec<(Local, Choice)>;

impl Split<'_> {
    fn limit(&self) -> u8 {
        self.model.parameters.limit as u8
    }

    fn largest_base(&self) -> u8 {
        self.model.parameters.largest_base() as u8
    }

    /// A lap ends in this round.
    fn ends(&self, local: &Local) -> bool {
        self.arriving > 0 && matches!(local.lap, Lap::Fresh | Lap::Stale) && local.ignore == 0
    }

    pub(super) fn counter(&self, local: Local, choice: Choice, options: &mut Options) {
        if local.counter != OPEN || local.resting + self.arriving == 0 {
            return self.lap(local, choice, options);
        }
        for counter in 0..=self.largest_base().saturating_sub(self.age) {
            let chosen = Choice {
                counter: Some(counter),
                ..choice
            };
            self.lap(Local { counter, ..local }, chosen, options);
        }
    }

    fn lap(&self, local: Local, choice: Choice, options: &mut Options) {
        let held = local.resting + self.arriving;
        let read = self.arriving > 0 || held > 0 && local.counter == 0;
        if local.lap != Lap::Open || !read {
            return self.clock(local, choice, options);
        }
        let idle = Local {
            lap: Lap::Idle,
            ..local
        };
        self.clock(
            idle,
            Choice {
                lap: Some(None),
                ..choice
            },
            options,
        );
        for ignore in 0..self.model.tokens as u8 {
            let stale = Local {
                lap: Lap::Stale,
                ignore,
                ..local
            };
            let chosen = Choice {
                lap: Some(Some(ignore)),
                ..choice
            };
            self.clock(stale, chosen, options);
        }
    }

    fn clock(&self, local: Local, choice: Choice, options: &mut Options) {
        if !self.ends(&local) || local.lap != Lap::Stale {
            return self.memory(local, choice, local.elapsed.saturating_add(1), options);
        }
        let least = match self.model.program {
            Program::HopCount => 0,
            _ => (self.age + 1).min(self.limit()),
        };
        for clock in least..=self.limit() {
            let chosen = Choice {
                clock: Some(clock),
                ..choice
            };
            self.memory(local, chosen, clock, options);
        }
    }

    fn memory(&self, local: Local, choice: Choice, lap: u8, options: &mut Options) {
        let with = |memory: [u8; 3]| {
            let chosen = Choice {
                memory: Some(memory),
                ..choice
            };
            (Local { memory, ..local }, chosen)
        };
        let lap = lap.min(self.limit());
        match self.model.program {
            Program::ShortestLap if self.ends(&local) && local.memory[0] == OPEN => {
                // Of a stale lap the gaps are open as well.
                let gap = if local.lap == Lap::Stale {
                    0
                } else {
                    local.memory[2]
                };
                for previous in [lap, 0] {
                    let (local, choice) = with([previous, local.memory[1], gap]);
                    self.base(local, choice, lap, options);
                }
            }
            Program::ShortestLapEpochs if self.ends(&local) && local.memory[0] == OPEN => {
                for best in 1..=self.limit() {
                    for last in 1..=self.limit() {
                        let so_far = local.memory[2];
                        for seen in so_far..=self.model.largest_seen() {
                            let (local, mut choice) = with([best, last, seen]);
                            choice.memory = Some([best, last, seen - so_far]);
                            self.base(local, choice, lap, options);
                        }
                    }
                }
            }
            _ => self.base(local, choice, lap, options),
        }
    }

    fn base(&self, local: Local, choice: Choice, lap: u8, options: &mut Options) {
        let ends = self.ends(&local);
        let releases = local.resting + self.arriving > 0 && local.counter == 0;
        // All but one replace the base whenever a lap ends.
        let replaced = ends && self.model.program != Program::ShortestLap;
        if local.base != OPEN || replaced || !(ends || releases) {
            return self.round(local, choice, lap, options);
        }
        for base in 0..=self.largest_base() {
            let chosen = Choice {
                base: Some(base),
                ..choice
            };
            self.round(Local { base, ..local }, chosen, lap, options);
        }
    }

    /// The round itself, when all that it reads is known.
    fn round(&self, local: Local, choice: Choice, lap: u8, options: &mut Options) {
        let model = self.model;
        let ends = self.ends(&local);
        let mut variables = model.variables(&local);
        if ends && local.lap == Lap::Stale {
            // The round adds a tick. Hop-count, whose lap may be 0, does not read the clock.
            let ticks = lap < self.limit();
            variables.elapsed = u32::from(lap).saturating_sub(u32::from(ticks));
        }
        // As if the token had borne 0 when it was released.
        let arrived = match local.lap {
            Lap::Fresh => model.ring.len() as u32,
            _ => lap.into(),
        };
        let counts = Counts {
            arrived,
            leaving: 0,
        };
        variables.mark = 0;
        let arriving = self.arriving.into();
        let (process, after) =
            (model.round)(model.program, process(&local), variables, arriving, counts);
        let timed = matches!(local.lap, Lap::Fresh | Lap::Stale) && !ends;
        let next = match local.lap {
            Lap::Open if local.resting + self.arriving == 0 || process.queued == 0 => Lap::Open,
            lap if timed => lap,
            _ if after.timing => Lap::Fresh,
            _ => Lap::Idle,
        };
        let fresh = next == Lap::Fresh;
        let read = local.base != OPEN || ends;
        let mut result = Local {
            base: if read { after.base as u8 } else { OPEN },
            lap: next,
            ignore: if timed || fresh {
                after.ignore as u8
            } else {
                0
            },
            elapsed: if fresh && model.program != Program::HopCount {
                after.elapsed as u8
            } else {
                0
            },
            ..with_process(local, process)
        };
        if local.counter == OPEN && local.resting + self.arriving == 0 {
            result.counter = OPEN;
        }
        result.memory = self.remembered(&local, &after, ends, fresh);
        if !options.iter().any(|(known, _)| *known == result) {
            options.push((result, choice));
        }
    }

    fn remembered(&self, local: &Local, after: &Measuring, ends: bool, fresh: bool) -> [u8; 3] {
        let open = local.memory[0] == OPEN && !ends;
        match self.model.program {
            Program::ShortestLap => {
                let gaps = after.gaps;
                let during = |value: u32| if fresh { value as u8 } else { 0 };
                let previous = if open { OPEN } else { gaps.previous as u8 };
                [previous, during(gaps.arrived), during(gaps.shortest)]
            }
            Program::ShortestLapEpochs => {
                let most = self.model.largest_seen();
                let seen = (after.laps.seen as u8).min(most);
                match open {
                    true => [OPEN, 0, (local.memory[2] + self.arriving).min(most)],
                    false => [after.laps.best as u8, after.laps.last as u8, seen],
                }
            }
            _ => [0; 3],
        }
    }
}
