//! The closed form of [`headway_sim::forecast`] for a sheet of rings at once.
//!
//! The one pass of `forecast/settle.rs`, without branches, so that every step is
//! made for all lanes together. It goes backwards over two turns of the unrolled
//! ring. What is known at a position is the first largest key of the delays ahead;
//! keys are β + m·d as there. A delay counts as ahead only when the one before it
//! is met, because the tokens between the two start on their way to it: until then
//! `own` is the largest key of the stretch that it ends.

use super::row::{Lane, Row};
use super::sheet::{Shape, Sheet};

/// What becomes of every ring of a sheet.
#[derive(Clone, Debug)]
pub(super) struct Settled<T> {
    /// The last round after which a token rests; -1 if none ever does.
    pub(super) last_rest: Row<T>,
    /// The first legitimate round.
    pub(super) legitimate_at: Row<T>,
    /// The largest distance from a delay to the next.
    pub(super) widest_gap: Row<T>,
    /// For every position, y + d of the next token ahead of it, once settled; [`Lane::NONE`]
    /// where that is token 0 in the next turn.
    y_ahead: Vec<Row<T>>,
}

impl<T: Lane> Settled<T> {
    /// Room for the answers about sheets of a shape.
    pub(super) fn new(shape: Shape) -> Settled<T> {
        Settled {
            last_rest: Row::of(0),
            legitimate_at: Row::of(0),
            widest_gap: Row::of(0),
            y_ahead: vec![Row::of(0); shape.processes],
        }
    }

    /// Settles a sheet whose tokens fit, m·d ≤ n, with d ≥ 2.
    #[inline(always)]
    pub(super) fn settle(&mut self, shape: Shape, sheet: &Sheet<T>) {
        let pass = Pass::new(shape);
        let pass = pass.turn::<false>(shape, sheet, &mut self.y_ahead);
        let pass = pass.turn::<true>(shape, sheet, &mut self.y_ahead);
        let rest_at_start = pass.resting.above(Row::of(0));
        let settled = rest_at_start.choose(Row::of(1), Row::of(0));
        let settled = settled.max(pass.released - Row::of(shape.separation.hops() as i16));
        let wrong_until = self.wrong_until(shape, sheet, settled, pass.y_next);
        self.last_rest = settled - Row::of(1);
        self.legitimate_at = settled.max(pass.stale_until).max(wrong_until);
        self.widest_gap = pass.widest_gap;
    }

    /// Initial counters that outlast the last rest, and counters beside tokens
    /// that are queued: see `Counters` in `forecast/mod.rs`. Nothing rests from
    /// round `settled` on.
    #[inline(always)]
    fn wrong_until(
        &self,
        shape: Shape,
        sheet: &Sheet<T>,
        settled: Row<T>,
        y_first: Row<T>,
    ) -> Row<T> {
        let n = shape.processes;
        let top = shape.separation.top() as i16;
        let mut wrong_until = Row::of(0);
        let earliest = settled.min();
        if earliest >= top {
            return wrong_until;
        }
        let y_wrapped = y_first - Row::of(n as i16);
        for x in 0..n {
            let counter = sheet.counters[x];
            let y = self.y_ahead[x];
            let y = y.is(Row::none()).choose(y_wrapped, y);
            // y + d, because that is what is kept.
            let due = counter + Row::of(1 - x as i16);
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
struct Pass<T> {
    /// d for every token that starts at or before the current position.
    tokens_d: Row<T>,
    /// The delay that ends the current stretch, and the largest key of it from the
    /// current position on.
    ends: Row<T>,
    own: Row<T>,
    /// The first largest key of the delays behind that one: the key, the position,
    /// the position before the delay before it, and the largest key between `ends`
    /// and it.
    best: Row<T>,
    best_at: Row<T>,
    before_previous: Row<T>,
    between: Row<T>,
    /// y + d of the token next ahead, once settled.
    y_next: Row<T>,
    /// The last round in which a token is released that has waited, plus d; 0 if
    /// none does.
    released: Row<T>,
    stale_until: Row<T>,
    widest_gap: Row<T>,
    /// The most tokens that rest at a process.
    resting: Row<T>,
}

impl<T: Lane> Pass<T> {
    #[inline(always)]
    fn new(shape: Shape) -> Pass<T> {
        let all = (2 * shape.tokens) as i16 * shape.separation.hops() as i16;
        Pass {
            tokens_d: Row::of(all),
            ends: Row::of(0),
            own: Row::none(),
            best: Row::none(),
            best_at: Row::of(0),
            before_previous: Row::of(0),
            between: Row::none(),
            y_next: Row::none(),
            released: Row::of(0),
            stale_until: Row::of(0),
            widest_gap: Row::of(0),
            resting: Row::of(0),
        }
    }

    /// One turn backwards: the one ahead, for what waits there for tokens of this
    /// one, or this one.
    #[inline(always)]
    fn turn<const THIS: bool>(
        mut self,
        shape: Shape,
        sheet: &Sheet<T>,
        y_ahead: &mut [Row<T>],
    ) -> Pass<T> {
        let n = shape.processes;
        let d = shape.separation.hops() as i16;
        for x in (0..n).rev() {
            let position = if THIS { x } else { x + n } as i16;
            let delay = sheet.delays[x];
            let resting = sheet.tokens[2 * x];
            let arriving = sheet.tokens[if x > 0 { 2 * x - 1 } else { 2 * n - 1 }];
            let count = resting + arriving;

            let first = delay & !self.best.above(self.own);
            let met = delay.choose(self.own, Row::none());
            self.between = first.choose(Row::none(), self.between.max(met));
            self.best = self.best.max(met);
            self.best_at = first.choose(self.ends, self.best_at);
            self.before_previous = first.choose(Row::of(position - 1), self.before_previous);
            if THIS {
                let gap = delay.choose(self.ends - Row::of(position), Row::of(0));
                self.widest_gap = self.widest_gap.max(gap);
                y_ahead[x] = self.y_next;
            } else {
                self.resting = self.resting.max(resting);
            }
            self.ends = delay.choose(Row::of(position), self.ends);
            // The key of tokens that start here. Where none do it is less than that
            // of the next ones before, or of the delay before, and so does no harm.
            let start = self.tokens_d + Row::of(1 - position);
            self.own = delay.choose(start + sheet.counters[x], self.own).max(start);
            self.tokens_d = self.tokens_d - count.times(d);

            if THIS {
                // The last token of the group waits longest.
                let group = count.above(Row::of(0));
                let later = group & self.best.above(self.own);
                let y = self.own.max(self.best) - self.tokens_d;
                let waits = group & y.above(Row::of(1 - position + d));
                let at = later.choose(self.best_at, self.ends);
                self.released = self.released.max(waits.choose(y + at, Row::of(0)));
                // The delay before the last wait counts from d - 1 down to 0.
                let before = self.own.max(self.between) - self.tokens_d;
                let stale = later.choose(before + self.before_previous, Row::of(0));
                self.stale_until = self.stale_until.max(stale);
                self.y_next = group.choose(y, self.y_next);
            }
        }
        self
    }
}
