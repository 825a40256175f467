//! A stretch of a run: the ways of all tokens, and when it is legitimate.

use std::collections::BTreeMap;

use headway_core::tokens::Tokens;
use headway_core::{Configuration, Round};
use headway_sim::forecast::Forecast;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::frame::{LegitimacyView, counters};
use super::segment::Segment;
use super::story::Story;
use crate::error::ApiError;
use crate::limits::Limits;

/// A stretch of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Grows when the run's segments change.
    pub version: u64,
    /// The first state.
    pub from: u64,
    /// How many rounds are told: less than were asked for where the answer would be too long
    /// (`limits.window_points`). Then ask on from there.
    pub rounds: u64,
    /// How many were asked for.
    pub asked: u64,
    /// The ways of all tokens. A fault ends all and begins new ones in the same round.
    pub ways: Vec<Way>,
    /// Counters in the first state that are not 0, as in a frame. From there on, a delay that
    /// releases a token has d-1 in the state in which it is queued there, and one less every
    /// round down to 0.
    pub counters: Option<Vec<(u32, i32)>>,
    /// The first verdict and every change of it; none when it takes too long.
    pub verdicts: Option<Vec<LegitimacyFrom>>,
    /// The first base of every measuring process and every change of it.
    pub measuring: Vec<BaseFrom>,
    /// Faults in the window, those in its first round left out.
    pub faults: Vec<FaultAt>,
    /// Spans of rounds in which the state is legitimate, ends included.
    pub legitimate: Vec<(u64, u64)>,
}

/// The way of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Way {
    /// Which.
    pub token: u32,
    /// Round and hop, with straight lines between them, of one hop a round (it moves) or none;
    /// a token of a moving block may make several hops in a round. The hop modulo n is the
    /// process; a way begins with a hop below n.
    pub points: Vec<(u64, u64)>,
    /// First and last state in which it rests, and where, clipped to the window. In the state
    /// after the last it is still there, but queued.
    pub rests: Vec<(u64, u64, u32)>,
}

/// A verdict and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LegitimacyFrom {
    /// Since when.
    pub round: u64,
    /// What.
    #[serde(flatten)]
    pub legitimacy: LegitimacyView,
}

/// A measured base and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaseFrom {
    /// Since when.
    pub round: u64,
    /// Where.
    pub process: u32,
    /// The separation found, less 1.
    pub base: i32,
}

/// A fault in a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultAt {
    /// After which round.
    pub round: u64,
    /// What.
    pub fault: String,
    /// Counters after it that are not 0; none for large rings.
    pub counters: Option<Vec<(u32, i32)>>,
}

/// Process-rounds that verdicts may cost.
const VERDICT_WORK: u64 = 20_000_000;

impl Window {
    pub(crate) fn new(
        story: &Story,
        version: u64,
        from: Round,
        asked: u64,
        limits: &Limits,
    ) -> Result<Window, ApiError> {
        if from > limits.largest_round {
            let message = format!("from {from}: at most {}", limits.largest_round);
            return Err(ApiError::invalid("from", message));
        }
        let (first, segment) = story.segment_at(from);
        let start = segment.look(from - segment.from)?;
        let end = from.saturating_add(asked.min(limits.window_rounds));
        let end = end.min(story.seekable());
        let n = segment.ring.len() as u64;
        // A ring that measures is run through the window.
        let end = if !segment.ring.measures() {
            end
        } else {
            end.min(from + VERDICT_WORK / n)
        };
        let mut window = Window {
            version,
            from,
            rounds: end.saturating_sub(from),
            asked,
            ways: Vec::new(),
            counters: counters(&start.state, limits),
            verdicts: ((end - from).saturating_mul(n) <= VERDICT_WORK).then(Vec::new),
            measuring: Vec::new(),
            faults: Vec::new(),
            legitimate: Vec::new(),
        };
        let mut left = limits.window_points;
        let segments = &story.segments()[first..];
        for (index, segment) in segments.iter().enumerate() {
            let until = segments
                .get(index + 1)
                .map_or(end, |next| next.from.min(end));
            let begin = segment.from.max(from);
            // Of faults in one round only the last leaves anything to see.
            if segment.from > end || (begin == until && until < end) {
                continue;
            }
            if begin > from
                && let Some(change) = &segment.change
            {
                window.faults.push(FaultAt {
                    round: segment.from,
                    fault: change.to_string(),
                    counters: counters(&segment.start, limits),
                });
            }
            let told = window.tell(segment, begin, until, &mut left)?;
            if told < until {
                window.cut(told);
                break;
            }
        }
        Ok(window)
    }

    /// Adds the rounds from `begin` to `until` of a segment; returns how far there
    /// was room.
    fn tell(
        &mut self,
        segment: &Segment,
        begin: Round,
        until: Round,
        left: &mut usize,
    ) -> Result<Round, ApiError> {
        let rounds = begin - segment.from;
        let look = segment.look(rounds)?;
        let ids = segment.ids_from_the_end(&look, rounds)?;
        let part = SegmentSpan {
            segment,
            state: look.state,
            ids,
            begin,
        };
        let until = if !segment.ring.measures() {
            part.forecast(until, &mut self.ways, left)?
        } else {
            part.follow(until, &mut self.ways, &mut self.measuring, left)
        };
        part.judge(until, self.verdicts.as_mut(), &mut self.legitimate);
        Ok(until)
    }

    /// Nothing is told beyond this round.
    fn cut(&mut self, end: Round) {
        self.rounds = end - self.from;
        self.faults.retain(|fault| fault.round <= end);
    }
}

struct SegmentSpan<'a> {
    segment: &'a Segment,
    state: Configuration,
    /// In the order of [`Tokens::new`] of that state.
    ids: Vec<u32>,
    begin: Round,
}

impl SegmentSpan<'_> {
    fn forecast(
        &self,
        until: Round,
        ways: &mut Vec<Way>,
        left: &mut usize,
    ) -> Result<Round, ApiError> {
        let forecast =
            Forecast::of(&self.segment.ring, &self.state).map_err(|_| ApiError::internal())?;
        let timeline = forecast.timeline();
        let mut rounds = until - self.begin;
        // Halved until there is room: waits are dense only in a jam.
        loop {
            let waits = timeline.waits(rounds).take(*left).count();
            let needed = 2 * self.ids.len() + 3 * waits;
            if needed <= *left || rounds <= 1 {
                *left = left.saturating_sub(needed);
                break;
            }
            rounds /= 2;
        }
        let n = self.segment.ring.len() as u64;
        for (token, &id) in self.ids.iter().enumerate() {
            let way = timeline.trajectory(token as u64, rounds);
            let mut line = Line::new(id, self.begin, way.place(0).0, n);
            for wait in way.waits().iter().filter(|wait| wait.from <= rounds) {
                line.rest(wait.from, wait.to.min(rounds), wait.to < rounds);
            }
            ways.push(line.end(rounds));
        }
        Ok(self.begin + rounds)
    }

    /// The same by running.
    fn follow(
        &self,
        until: Round,
        ways: &mut Vec<Way>,
        bases: &mut Vec<BaseFrom>,
        left: &mut usize,
    ) -> Round {
        let ring = &self.segment.ring;
        let n = ring.len() as u64;
        let mut state = self.state.clone();
        let mut tokens = Tokens::new(&state);
        let mut lines: Vec<Line> = self
            .ids
            .iter()
            .zip(tokens.places())
            .map(|(&id, place)| Line::new(id, self.begin, place.lifted, n))
            .collect();
        let mut known = BTreeMap::new();
        let mut rests: Vec<Option<Round>> = vec![None; lines.len()];
        let mut round = 0;
        loop {
            for (&process, variables) in &state.measuring {
                if known.insert(process, variables.base) != Some(variables.base) {
                    bases.push(BaseFrom {
                        round: self.begin + round,
                        process: process as u32,
                        base: variables.base,
                    });
                }
            }
            let end = self.begin + round >= until || *left < 3 * lines.len();
            for ((place, line), since) in tokens.places().iter().zip(&mut lines).zip(&mut rests) {
                match (*since, place.resting) {
                    (None, true) => *since = Some(round),
                    (Some(first), false) => {
                        line.rest(first, round - 1, true);
                        *since = None;
                        *left = left.saturating_sub(3);
                    }
                    _ => {}
                }
                if end && let Some(first) = since.take() {
                    line.rest(first, round, false);
                }
            }
            if end {
                break;
            }
            ring.round(&mut state);
            tokens.follow(&state);
            round += 1;
        }
        ways.extend(lines.into_iter().map(|line| line.end(round)));
        self.begin + round
    }

    /// Legitimacy is closed, so verdicts can change only up to the round that is
    /// known to be the first legitimate one.
    fn judge(
        &self,
        until: Round,
        verdicts: Option<&mut Vec<LegitimacyFrom>>,
        legitimate: &mut Vec<(u64, u64)>,
    ) {
        let segment = self.segment;
        let known = segment.facts.legitimate_at;
        let from = known.map(|round| (segment.from + round).max(self.begin));
        if let Some(from) = from.filter(|&from| from <= until) {
            legitimate.push((from, until));
        }
        let Some(verdicts) = verdicts else { return };
        let tokens = segment.start.tokens();
        let mut state = self.state.clone();
        let mut found: Vec<LegitimacyFrom> = Vec::new();
        for round in self.begin..=until {
            let legitimacy = LegitimacyView::of(&segment.ring, &state, tokens);
            if found
                .last()
                .is_none_or(|last| last.legitimacy != legitimacy)
            {
                found.push(LegitimacyFrom { round, legitimacy });
            }
            if from.is_some_and(|from| round >= from) {
                break;
            }
            segment.ring.round(&mut state);
        }
        verdicts.extend(found);
    }
}

/// Draws a way; rounds are counted from its beginning.
struct Line {
    begin: Round,
    processes: u64,
    /// Where the last point is.
    round: Round,
    hop: u64,
    way: Way,
}

impl Line {
    fn new(token: u32, begin: Round, hop: u64, processes: u64) -> Line {
        Line {
            begin,
            processes,
            round: 0,
            hop,
            way: Way {
                token,
                points: vec![(begin, hop)],
                rests: Vec::new(),
            },
        }
    }

    /// It rests in these states; if it is `released` within the window it is still
    /// there in the next one.
    fn rest(&mut self, first: Round, last: Round, released: bool) {
        self.go(first, true);
        let process = (self.hop % self.processes) as u32;
        self.way
            .rests
            .push((self.begin + first, self.begin + last, process));
        self.go(last + Round::from(released), false);
    }

    fn go(&mut self, round: Round, moving: bool) {
        if round > self.round {
            if moving {
                self.hop += round - self.round;
            }
            self.round = round;
            self.way.points.push((self.begin + round, self.hop));
        }
    }

    fn end(mut self, round: Round) -> Way {
        self.go(round, true);
        self.way
    }
}
