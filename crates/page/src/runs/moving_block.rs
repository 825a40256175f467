//! A run of the moving block: without lock-step nothing is forecast, so it is run once and
//! every state is kept.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use headway_core::Round;
use headway_sim::fault::Fault;
use headway_sim::moving_block::{self, MovingBlockRing, MovingBlockRun};

use super::change::{Change, What};
use super::frame::{Frame, LegitimacyView, Playing};
use super::segment::too_far;
use super::view::SegmentView;
use super::window::{FaultAt, LegitimacyFrom, Way, Window};
use crate::error::ApiError;
use crate::limits::Limits;

mod listing;

use listing::executed;
pub(crate) use listing::listing;

/// The most processes: a round is a shuffle of all that they do.
pub(crate) const MAX_PROCESSES: u64 = 500;
const MAX_ROUNDS: u64 = 5_000;
/// Process-rounds that are run and kept.
const WORK: u64 = 1_000_000;

/// The past and future of such a run.
pub(crate) struct BlockStory {
    run: MovingBlockRun,
    changes: Vec<Change>,
    /// The last round that can be looked at.
    last: Round,
    /// What follows from the start and from each change; run when first asked about.
    parts: OnceLock<Vec<Part>>,
}

/// What follows from the start or a change.
pub(crate) struct Part {
    from: Round,
    /// A state for every round from then on.
    moments: Vec<Moment>,
}

/// A state, and the round that led to it.
struct Moment {
    /// Who received each token last, plus n for every turn.
    at: Vec<u32>,
    /// The lines that each process executed.
    lines: Vec<u16>,
    legitimate: bool,
    /// The smallest distance, a token under way being at both ends.
    apart: i64,
    holds: [Option<bool>; 5],
    visits: Option<(u64, u64)>,
}

impl BlockStory {
    pub(crate) fn new(run: MovingBlockRun) -> Result<BlockStory, ApiError> {
        let last = (WORK / run.processes as u64).min(MAX_ROUNDS);
        let run = MovingBlockRun {
            // One more, because a state is shown with the round that follows it.
            rounds: Some(last + 1),
            ..run
        };
        let story = BlockStory {
            run,
            changes: Vec::new(),
            last,
            parts: OnceLock::new(),
        };
        let start = MovingBlockRun {
            rounds: Some(0),
            ..story.run.clone()
        };
        let wrong = |error| ApiError::invalid("start", format!("start: {error}"));
        start.run(|_| ControlFlow::Continue(())).map_err(wrong)?;
        Ok(story)
    }

    /// n, m and d.
    pub(crate) fn sizes(&self) -> (u64, u64, u32) {
        let MovingBlockRun {
            processes,
            tokens,
            separation,
            ..
        } = self.run;
        (processes as u64, tokens as u64, separation)
    }

    /// When there is no room to move in: why nothing moves.
    pub(crate) fn why_infeasible(&self) -> Option<String> {
        let (n, m, d) = self.sizes();
        let room = m * u64::from(d);
        (!self.run.feasible()).then(|| {
            format!(
                "{m} tokens {d} apart need more than {room} processes, and there are {n}: each \
                 waits for the one ahead of it."
            )
        })
    }

    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    pub(crate) fn seekable(&self) -> Round {
        self.last
    }

    fn tell(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        // What cannot be run was refused before.
        let _ = self.run.run(|frame| {
            let moment = Moment::new(frame);
            match parts.last_mut() {
                Some(part) if frame.fault.is_none() => part.moments.push(moment),
                _ => parts.push(Part {
                    from: frame.round,
                    moments: vec![moment],
                }),
            }
            ControlFlow::Continue(())
        });
        parts
    }

    fn parts(&self) -> &[Part] {
        self.parts.get_or_init(|| self.tell())
    }

    /// The part in force after a round, its number, and the state's number in it.
    fn at(&self, round: Round) -> Result<(usize, &Part, usize), ApiError> {
        if round > self.last {
            return Err(too_far(round, self.last));
        }
        let begun = self.parts().partition_point(|part| part.from <= round);
        let index = begun.checked_sub(1).ok_or_else(ApiError::internal)?;
        let part = &self.parts()[index];
        Ok((index, part, (round - part.from) as usize))
    }

    /// Strikes; what came after that round is dropped. Nothing changes on error.
    pub(crate) fn strike(&mut self, change: Change, limits: &Limits) -> Result<(), ApiError> {
        let after_round = change.after_round;
        let wrong = |why: String| ApiError::invalid("fault", format!("{change}: {why}"));
        let What::Fault(kind) = &change.what else {
            return Err(wrong(
                "every process of a moving block runs the same program".into(),
            ));
        };
        let kind = kind.clone();
        let fault = Fault { kind, after_round };
        self.run
            .admits(&fault)
            .map_err(|error| wrong(error.to_string()))?;
        if after_round > self.last {
            return Err(too_far(after_round, self.last));
        }
        let kept = self
            .changes
            .iter()
            .filter(|change| change.after_round <= after_round)
            .count();
        if kept >= limits.faults {
            let message = format!("a run has at most {} faults", limits.faults);
            return Err(ApiError::too_large("fault", message));
        }
        self.changes.truncate(kept);
        self.run.faults.truncate(kept);
        self.changes.push(change);
        self.run.faults.push(fault);
        self.parts = OnceLock::new();
        Ok(())
    }

    pub(crate) fn frame(&self, round: Round, playing: Playing) -> Result<Frame, ApiError> {
        let (segment, part, index) = self.at(round)?;
        let (now, next) = (&part.moments[index], part.moments.get(index + 1));
        let n = self.run.processes as u32;
        let waits = |token: &u32| {
            next.is_none_or(|next| next.at[*token as usize] == now.at[*token as usize])
        };
        Ok(Frame {
            run: playing.run,
            version: playing.version,
            round,
            segment,
            since_fault: round - part.from,
            playing: playing.playing,
            speed: playing.speed,
            at: now.at.iter().map(|at| at % n).collect(),
            resting: (0..now.at.len() as u32).filter(waits).collect(),
            counters: Some(Vec::new()),
            closest: now.closest(n),
            legitimacy: self.legitimacy(now),
            holds: now.holds,
            visits: now.visits,
            measuring: Vec::new(),
            class: None,
        })
    }

    fn legitimacy(&self, moment: &Moment) -> LegitimacyView {
        let d = self.run.separation;
        let (clause, because) = if moment.apart < d.into() {
            let apart = moment.apart.max(0);
            let because = format!("the closest two tokens are {apart} apart, wanted {d}");
            ("apart", because)
        } else if let Some(why) = self.why_infeasible() {
            ("stuck", why)
        } else {
            (
                "news",
                "a process is told of more room than there is".to_owned(),
            )
        };
        let failed = !moment.legitimate;
        LegitimacyView {
            legitimate: moment.legitimate,
            clause: failed.then(|| clause.to_owned()),
            process: None,
            because: failed.then_some(because),
        }
    }

    /// The lines that every process executes in the rounds after a state, until the next
    /// change or the end.
    pub(crate) fn lines(&self, round: Round, rounds: u64) -> Result<Vec<Vec<u32>>, ApiError> {
        let (_, part, index) = self.at(round)?;
        let after = part.moments.iter().skip(index + 1).take(rounds as usize);
        let of_round = |next: &Moment| next.lines.iter().map(|&lines| lines.into()).collect();
        Ok(after.map(of_round).collect())
    }

    pub(crate) fn segments(&self) -> Vec<SegmentView> {
        let MovingBlockRun {
            processes,
            tokens,
            separation,
            ..
        } = self.run;
        let feasible = self.run.feasible();
        let settled = || MovingBlockRing::new(processes, tokens, separation).worst_settled() as u64;
        let worst = feasible.then(settled);
        let changes = std::iter::once(None).chain(self.changes.iter().map(Some));
        let view = |(part, change): (&Part, Option<&Change>)| SegmentView {
            from: part.from,
            fault: change.map(ToString::to_string),
            delays: Vec::new(),
            measurers: Vec::new(),
            feasible,
            settles: feasible,
            legitimate_at: part.legitimate_at(),
            last_rest: None,
            worst_legitimate_at: worst.map(|rounds| part.from + rounds),
            worst_last_rest: None,
            cycle_time: None,
            jam: None,
        };
        self.parts().iter().zip(changes).map(view).collect()
    }

    pub(crate) fn window(
        &self,
        version: u64,
        from: Round,
        asked: u64,
        limits: &Limits,
    ) -> Result<Window, ApiError> {
        let (first, ..) = self.at(from)?;
        let room = limits.window_points / (4 * self.run.tokens);
        let rounds = asked.min(limits.window_rounds).min(room.max(1) as u64);
        let end = from.saturating_add(rounds).min(self.last);
        let mut window = Window {
            version,
            from,
            rounds: end - from,
            asked,
            ways: Vec::new(),
            counters: Some(Vec::new()),
            verdicts: Some(Vec::new()),
            measuring: Vec::new(),
            faults: Vec::new(),
            legitimate: Vec::new(),
        };
        let parts = &self.parts()[first..];
        for (index, part) in parts
            .iter()
            .enumerate()
            .take_while(|(_, part)| part.from <= end)
        {
            let until = parts.get(index + 1).map_or(end, |next| next.from.min(end));
            let begin = part.from.max(from);
            // Of faults in one round only the last leaves anything to see.
            if begin == until && until < end {
                continue;
            }
            if begin > from {
                window.faults.push(FaultAt {
                    round: part.from,
                    fault: self.changes[first + index - 1].to_string(),
                    counters: Some(Vec::new()),
                });
            }
            self.add(part, begin, until, &mut window);
        }
        Ok(window)
    }

    /// Adds the rounds from `begin` to `until` of a part.
    fn add(&self, part: &Part, begin: Round, until: Round, window: &mut Window) {
        let n = self.run.processes as u32;
        window
            .ways
            .extend((0..self.run.tokens).map(|token| part.way(token, begin, until, n)));
        let mut found: Vec<LegitimacyFrom> = Vec::new();
        for round in begin..=until {
            let legitimacy = self.legitimacy(&part.moments[(round - part.from) as usize]);
            if found
                .last()
                .is_none_or(|last| last.legitimacy != legitimacy)
            {
                found.push(LegitimacyFrom { round, legitimacy });
            }
        }
        window.verdicts.get_or_insert_default().extend(found);
        let since = part.legitimate_at().map(|at| at.max(begin));
        window
            .legitimate
            .extend(since.filter(|&at| at <= until).map(|at| (at, until)));
    }
}

impl Part {
    /// It stays so (theorem 1 of docs/research/moving-block.md).
    fn legitimate_at(&self) -> Option<Round> {
        let first = self.moments.iter().position(|moment| moment.legitimate);
        first.map(|index| self.from + index as Round)
    }

    fn way(&self, token: usize, begin: Round, until: Round, n: u32) -> Way {
        let at = |round: Round| {
            let moment = self.moments.get((round - self.from) as usize);
            moment
                .or(self.moments.last())
                .map_or(0, |moment| moment.at[token])
        };
        let turns = at(begin) - at(begin) % n;
        let at = |round| at(round) - turns;
        let mut way = Way {
            token: token as u32,
            points: vec![(begin, at(begin).into())],
            rests: Vec::new(),
        };
        let mut last_step = None;
        for round in begin..=until {
            let step = at(round + 1) - at(round);
            if step == 0 {
                match way.rests.last_mut() {
                    Some(rest) if rest.1 + 1 == round => rest.1 = round,
                    _ => way.rests.push((round, round, at(round) % n)),
                }
            }
            if round > begin && (last_step != Some(step) || round == until) {
                way.points.push((round, at(round).into()));
            }
            last_step = Some(step);
        }
        way
    }
}

impl Moment {
    fn new(frame: &moving_block::Frame<'_>) -> Moment {
        // As in lock-step, the first token is the one ahead.
        let places = frame.ring.positions().iter();
        Moment {
            at: places.rev().map(|&at| at as u32).collect(),
            lines: frame.did.iter().copied().map(executed).collect(),
            legitimate: frame.legitimate,
            apart: frame.ring.closest(),
            holds: frame.holds,
            visits: frame.visits,
        }
    }

    /// The smallest distance between those who received two tokens last.
    fn closest(&self, n: u32) -> Option<u64> {
        let ahead = self.at.last().map(|last| last + n).into_iter();
        let ahead = ahead.chain(self.at.iter().copied());
        self.at
            .iter()
            .zip(ahead)
            .map(|(at, ahead)| u64::from(ahead - at))
            .min()
    }
}

#[cfg(test)]
mod tests;
