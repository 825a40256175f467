//! The clause of rings that measure.

use super::{Illegitimate, View};
use crate::{Measuring, ProcessIndex, Program};

impl View<'_> {
    /// The clause [`super::Clause::Measured`], in a state where all others hold.
    pub(super) fn measurements<'a>(
        &self,
        measuring: impl IntoIterator<Item = &'a Measuring>,
        top: i32,
    ) -> Result<(), Illegitimate> {
        let measurers = (0..self.programs.len()).filter(|&index| self.programs[index].measures());
        for (process, variables) in measurers.zip(measuring) {
            let right = |base: i32| {
                let expected = top;
                let wrong = Illegitimate::Mismeasured {
                    process,
                    base,
                    expected,
                };
                if base == top { Ok(()) } else { Err(wrong) }
            };
            let program = self.programs[process];
            let lower = program == Program::ShortestLap;
            // A belief in less is as good where tokens are far enough apart anyway.
            let right = |base: i32| right(if lower { base.max(top) } else { base });
            right(variables.base)?;
            let printed = program == Program::MeasureAsPrinted;
            let remembers = program == Program::ShortestLapEpochs;
            if remembers {
                right(variables.base_of(variables.laps.shortest()))?;
            }
            // As printed, the decrement comes before the test, and -1 is possible.
            let skipped = |ignore: i64| (ignore - i64::from(printed)).max(0) as u64;
            let base_in = |variables: &Measuring, rounds| match printed {
                true => variables.base_after(variables.elapsed_in(rounds)),
                false => variables.base_in(rounds),
            };
            let others = skipped(i64::from(variables.tokens) - 1);
            if program.reads_counts() {
                self.readings(process, variables, others)
                    .try_for_each(|hops| right(variables.base_of(hops)))?;
                continue;
            }
            if variables.timing {
                let arrival = self.rounds_to_arrival(process, skipped(variables.ignore.into()));
                let base = arrival.map_or(top, |rounds| base_in(variables, rounds));
                // The shorter one is what the end of an epoch would leave.
                let best = variables.base_of(variables.laps.best);
                right(if remembers { base.min(best) } else { base })?;
            }
            // Later ones start at 0 with all other tokens to ignore, at any token.
            let elapsed = 0;
            let later = Measuring {
                elapsed,
                ..*variables
            };
            for token in self.timed_tokens(others) {
                let arrival = self.rounds_to_arrival(token, others);
                arrival.map_or(Ok(()), |rounds| right(base_in(&later, rounds)))?;
            }
        }
        Ok(())
    }

    /// What a process reads off the token that it follows now, and off those that it
    /// may follow later, when `others` tokens pass in between.
    fn readings(
        &self,
        process: ProcessIndex,
        variables: &Measuring,
        others: u64,
    ) -> impl Iterator<Item = u32> {
        let shown = move |skipped| self.count_on_arrival(process, skipped);
        let followed = variables.timing.then_some(variables.ignore.max(0) as u64);
        let now = followed.and_then(shown).map(|count| variables.hops(count));
        let later = (0..self.counts.len() as u64).filter_map(move |token| {
            let mark = shown(token)?;
            let again = shown(token + others + 1)?;
            Some(Measuring { mark, ..*variables }.hops(again))
        });
        now.into_iter().chain(later)
    }

    /// What a token shows when it arrives at `process` after `skipped` others.
    fn count_on_arrival(&self, process: ProcessIndex, skipped: u64) -> Option<u32> {
        // The tokens from this process on come first in the list, and last to it.
        let beyond = &self.processes[process..];
        let beyond: u64 = beyond.iter().map(|process| process.tokens()).sum();
        let token = (beyond + skipped) % (self.counts.len() as u64).max(1);
        let hops = self.rounds_to_arrival(process, skipped)?;
        let count = self.counts.get(token as usize)?;
        Some(count.wrapping_add(hops as u32))
    }

    /// The tokens whose timing has to be looked at when `skipped` others are let
    /// pass: one suffices when that makes whole turns, whichever token it is.
    fn timed_tokens(&self, skipped: u64) -> impl Iterator<Item = ProcessIndex> + '_ {
        let all = (0..self.processes.len()).filter(|&index| self.has_token(index));
        let tokens = all.clone().count();
        let whole_turns = (skipped + 1).is_multiple_of(tokens as u64);
        all.take(if whole_turns { 1 } else { tokens })
    }

    /// Rounds until a token has arrived at `process` after `skipped` others, when
    /// every token moves in every round. `None` when there is no token.
    fn rounds_to_arrival(&self, process: ProcessIndex, skipped: u64) -> Option<u64> {
        let n = self.processes.len();
        let tokens = (0..n).filter(|&index| self.has_token(index)).count() as u64;
        if tokens == 0 {
            return None;
        }
        let (turns, mut left) = (skipped / tokens, skipped % tokens);
        for hops in 1..=n {
            if self.has_token((process + n - hops) % n) {
                if left == 0 {
                    return Some(turns * n as u64 + hops as u64);
                }
                left -= 1;
            }
        }
        None
    }
}
