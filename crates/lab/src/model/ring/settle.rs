//! The closed form of [`headway_sim::forecast`] for a sheet of rings at once.
//!
//! The one pass of `forecast/settle.rs`, without branches, so that every step is
//! made for all lanes together. It goes backwards over two turns of the unrolled
//! ring. What is known at a position is the first largest key of the delays ahead;
//! keys are β + m·d as there. A delay counts as ahead only when the one before it
//! is met, because the tokens between the two start on their way to it: until then
//! `own` is the largest key of the stretch that it ends.

use super::row::Row;
use super::sheet::{Shape, Sheet};

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
            last_rest: Row::of(0),
            legitimate_at: Row::of(0),
            widest_gap: Row::of(0),
            y_ahead: vec![Row::of(0); shape.processes],
        }
    }

    /// Settles a sheet whose tokens fit, m·d ≤ n, with d ≥ 2.
    #[inline(always)]
    pub(super) fn settle(&mut self, shape: Shape, sheet: &Sheet) {
        let pass = Pass::new(shape);
        let pass = pass.turn::<false>(shape, sheet, &mut self.y_ahead);
        let pass = pass.turn::<true>(shape, sheet, &mut self.y_ahead);
        self.last_rest = pass.last_rest;
        self.widest_gap = pass.widest_gap;
        let wrong_until = self.wrong_until(shape, sheet, pass.y_next);
        let moving = self.last_rest + Row::of(1);
        self.legitimate_at = moving.max(pass.stale_until).max(wrong_until);
    }

    /// Initial counters that outlast the last rest, and counters beside tokens
    /// that are queued: see `Counters` in `forecast/mod.rs`.
    #[inline(always)]
    fn wrong_until(&self, shape: Shape, sheet: &Sheet, y_first: Row) -> Row {
        let n = shape.processes;
        let top = shape.separation.top() as i16;
        let mut wrong_until = Row::of(0);
        let settled = self.last_rest + Row::of(1);
        let earliest = settled.min();
        if earliest >= top {
            return wrong_until;
        }
        let y_wrapped = y_first - Row::of(n as i16);
        for x in 0..n {
            let counter = sheet.counters[x];
            let y = self.y_ahead[x];
            let y = y.is(Row::of(NONE)).choose(y_wrapped, y);
            let due = counter - Row::of(top + x as i16);
            let wrong = sheet.delays[x] & counter.above(settled) & !y.is(due);
            wrong_until = wrong_until.max(wrong.choose(counter, Row::of(0)));
        }
        if earliest == 0 {
            let nothing_rests = settled.is(Row::of(0));
            for x in 0..n {
                let queued = sheet.tokens[2 * x + 1].above(Row::of(0));
                let unset = !sheet.counters[x].is(Row::of(top));
                let wrong = nothing_rests & sheet.delays[x] & queued & unset;
                wrong_until = wrong_until.max(wrong.choose(Row::of(1), Row::of(0)));
            }
        }
        wrong_until
    }
}

#[derive(Clone, Copy)]
struct Pass {
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
            tokens_d: Row::of(all),
            ends: Row::of(0),
            own: Row::of(NONE),
            best: Row::of(NONE),
            best_at: Row::of(0),
            best_previous: Row::of(0),
            between: Row::of(NONE),
            y_next: Row::of(NONE),
            last_rest: Row::of(-1),
            stale_until: Row::of(0),
            widest_gap: Row::of(0),
        }
    }

    /// One turn backwards: the one ahead, for what waits there for tokens of this
    /// one, or this one.
    #[inline(always)]
    fn turn<const THIS: bool>(mut self, shape: Shape, sheet: &Sheet, y_ahead: &mut [Row]) -> Pass {
        let n = shape.processes;
        let d = shape.separation.hops() as i16;
        for x in (0..n).rev() {
            let position = Row::of(if THIS { x } else { x + n } as i16);
            let delay = sheet.delays[x];
            let resting = sheet.tokens[2 * x];
            let arriving = sheet.tokens[if x > 0 { 2 * x - 1 } else { 2 * n - 1 }];
            let count = resting + arriving;
            let group = count.above(Row::of(0));

            let first = delay & !self.best.above(self.own);
            let met = delay.choose(self.own, Row::of(NONE));
            self.between = first.choose(Row::of(NONE), self.between.max(met));
            self.best = self.best.max(met);
            self.best_at = first.choose(self.ends, self.best_at);
            self.best_previous = first.choose(position, self.best_previous);
            if THIS {
                let gap = delay.choose(self.ends - position, Row::of(0));
                self.widest_gap = self.widest_gap.max(gap);
                y_ahead[x] = self.y_next;
            }
            self.ends = delay.choose(position, self.ends);
            let start = self.tokens_d - position + Row::of(1);
            self.own = delay.choose(start + sheet.counters[x], self.own);
            self.own = self.own.max(group.choose(start, Row::of(NONE)));
            self.tokens_d = self.tokens_d - count.times(d);

            if THIS {
                // The last token of the group waits longest.
                let later = self.best.above(self.own);
                let y = self.own.max(self.best) - self.tokens_d - Row::of(d);
                let waits = y.above(Row::of(1) - position);
                let at = later.choose(self.best_at, self.ends);
                let unmoved = resting.above(Row::of(0)).choose(Row::of(0), Row::of(-1));
                let rest = waits.choose(y + at - Row::of(1), unmoved);
                self.last_rest = self.last_rest.max(group.choose(rest, Row::of(-1)));
                // The delay before the last wait counts from d - 1 down to 0.
                let before = self.own.max(self.between) - self.tokens_d;
                let stale = before + self.best_previous - Row::of(1);
                let stale = (group & waits & later).choose(stale, Row::of(0));
                self.stale_until = self.stale_until.max(stale);
                self.y_next = group.choose(y, self.y_next);
            }
        }
        self
    }
}
