//! The closed form of [`headway_sim::forecast`] for a sheet of rings at once.
//!
//! The one pass of `forecast/settle.rs`, without branches, so that every step is
//! made for all lanes together. It goes backwards over two turns of the unrolled
//! ring. What is known at a position is the first largest key of the delays ahead;
//! keys are β + m·d as there. A delay counts as ahead only when the one before it
//! is met, because the tokens between the two start on their way to it: until then
//! `own` is the largest key of the stretch that it ends.

use super::sheet::{LANES, Row, Shape, Sheet};

/// Less than any key, with room below it.
const NONE: i16 = -16_000;

/// What becomes of every ring of a sheet.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// The last round after which a token rests; -1 if none ever does.
    pub(super) last_rest: Row,
    /// The first legitimate round.
    pub(super) legitimate_at: Row,
    /// The largest distance from a delay to the next.
    pub(super) widest_gap: Row,
    /// For every position, y of the next token ahead of it, once settled; [`NONE`]
    /// where that is token 0 in the next turn.
    y_ahead: Vec<Row>,
}

impl Settled {
    /// Room for the answers about sheets of a shape.
    pub(super) fn new(shape: Shape) -> Settled {
        Settled {
            last_rest: [0; LANES],
            legitimate_at: [0; LANES],
            widest_gap: [0; LANES],
            y_ahead: vec![[0; LANES]; shape.processes],
        }
    }

    /// Settles a sheet whose tokens fit, m·d ≤ n, with d ≥ 2.
    #[inline(always)]
    pub(super) fn settle(&mut self, shape: Shape, sheet: &Sheet) {
        let mut pass = Pass::new(shape);
        pass.turn::<false>(sheet, &mut self.y_ahead);
        pass.turn::<true>(sheet, &mut self.y_ahead);
        self.last_rest = pass.last_rest;
        self.widest_gap = pass.widest_gap;
        let wrong_until = self.wrong_until(shape, sheet, &pass.y_next);
        for lane in 0..LANES {
            let moving = self.last_rest[lane] + 1;
            self.legitimate_at[lane] = moving.max(pass.stale_until[lane]).max(wrong_until[lane]);
        }
    }

    /// Initial counters that outlast the last rest, and counters beside tokens
    /// that are queued: see `Counters` in `forecast/mod.rs`.
    #[inline(always)]
    fn wrong_until(&self, shape: Shape, sheet: &Sheet, y_first: &Row) -> Row {
        let mut wrong_until = [0; LANES];
        let n = shape.processes;
        let top = shape.separation.top() as i16;
        let earliest = self.last_rest.iter().min().map_or(0, |rest| rest + 1);
        if earliest >= top {
            return wrong_until;
        }
        for x in 0..n {
            let (delays, counters) = (&sheet.delays[x], &sheet.counters[x]);
            let y_ahead = &self.y_ahead[x];
            let due = -top - x as i16;
            for lane in 0..LANES {
                let ahead = match y_ahead[lane] {
                    NONE => y_first[lane] - n as i16,
                    y => y,
                };
                let counter = counters[lane];
                let wrong = (delays[lane] == 1)
                    & (counter > self.last_rest[lane] + 1)
                    & (ahead != due + counter);
                let until = if wrong { counter } else { 0 };
                wrong_until[lane] = wrong_until[lane].max(until);
            }
        }
        if earliest == 0 {
            for x in 0..n {
                let (delays, counters) = (&sheet.delays[x], &sheet.counters[x]);
                let queued = &sheet.tokens[2 * x + 1];
                for lane in 0..LANES {
                    let wrong = (self.last_rest[lane] < 0)
                        & (delays[lane] == 1)
                        & (queued[lane] > 0)
                        & (counters[lane] != top);
                    wrong_until[lane] = wrong_until[lane].max(i16::from(wrong));
                }
            }
        }
        wrong_until
    }
}

struct Pass {
    shape: Shape,
    /// d for every token that starts at or before the current position.
    tokens_d: Row,
    /// The delay that ends the current stretch, and the largest key of it from the
    /// current position on.
    ends: Row,
    own: Row,
    /// The first largest key of the delays behind that one: the key, the position,
    /// the delay before it, and the largest key between `ends` and it.
    best: Row,
    best_at: Row,
    best_previous: Row,
    between: Row,
    /// y of the token next ahead, once settled.
    y_next: Row,
    last_rest: Row,
    stale_until: Row,
    widest_gap: Row,
}

impl Pass {
    #[inline(always)]
    fn new(shape: Shape) -> Pass {
        let all = (2 * shape.tokens) as i16 * shape.separation.hops() as i16;
        Pass {
            shape,
            tokens_d: [all; LANES],
            ends: [0; LANES],
            own: [NONE; LANES],
            best: [NONE; LANES],
            best_at: [0; LANES],
            best_previous: [0; LANES],
            between: [NONE; LANES],
            y_next: [NONE; LANES],
            last_rest: [-1; LANES],
            stale_until: [0; LANES],
            widest_gap: [0; LANES],
        }
    }

    /// One turn backwards: the one ahead, for what waits there for tokens of this
    /// one, or this one.
    #[inline(always)]
    fn turn<const THIS: bool>(&mut self, sheet: &Sheet, y_ahead: &mut [Row]) {
        let n = self.shape.processes;
        let d = self.shape.separation.hops() as i16;
        for x in (0..n).rev() {
            let position = if THIS { x } else { x + n } as i16;
            let delays = &sheet.delays[x];
            let counters = &sheet.counters[x];
            let resting = &sheet.tokens[2 * x];
            let arriving = &sheet.tokens[if x > 0 { 2 * x - 1 } else { 2 * n - 1 }];
            if THIS {
                y_ahead[x] = self.y_next;
            }
            for lane in 0..LANES {
                let delay = delays[lane] == 1;
                let own = self.own[lane];
                let first = delay & (own >= self.best[lane]);
                let met = if delay { own } else { NONE };
                let between = self.between[lane].max(met);
                let between = if first { NONE } else { between };
                self.between[lane] = between;
                let best = self.best[lane].max(met);
                self.best[lane] = best;
                let ends = self.ends[lane];
                let best_at = if first { ends } else { self.best_at[lane] };
                self.best_at[lane] = best_at;
                let best_previous = if first {
                    position
                } else {
                    self.best_previous[lane]
                };
                self.best_previous[lane] = best_previous;
                if THIS {
                    let gap = if delay { ends - position } else { 0 };
                    self.widest_gap[lane] = self.widest_gap[lane].max(gap);
                }
                let ends = if delay { position } else { ends };
                self.ends[lane] = ends;
                let start = self.tokens_d[lane] + 1 - position;
                let own = if delay { start + counters[lane] } else { own };
                let count = resting[lane] + arriving[lane];
                let group = count > 0;
                let own = own.max(if group { start } else { NONE });
                self.own[lane] = own;
                let tokens_d = self.tokens_d[lane] - count * d;
                self.tokens_d[lane] = tokens_d;
                if THIS {
                    // The last token of the group waits longest.
                    let later = best > own;
                    let y = own.max(best) - tokens_d - d;
                    let waits = y > 1 - position;
                    let at = if later { best_at } else { ends };
                    let unmoved = if resting[lane] > 0 { 0 } else { -1 };
                    let rest = if waits { y + at - 1 } else { unmoved };
                    let rest = if group { rest } else { -1 };
                    self.last_rest[lane] = self.last_rest[lane].max(rest);
                    // The delay before the last wait counts from d - 1 down to 0.
                    let stale = own.max(between) - tokens_d + best_previous - 1;
                    let stale = if group & waits & later { stale } else { 0 };
                    self.stale_until[lane] = self.stale_until[lane].max(stale);
                    self.y_next[lane] = if group { y } else { self.y_next[lane] };
                }
            }
        }
    }
}
