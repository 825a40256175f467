//! The one pass: when tokens stop resting.
//!
//! In the unrolled ring a token that starts at position a is released from
//! position x in round x + y, where y grows by one for every round that it has
//! waited. At a delay x,
//!
//! ```text
//! y(k, x) = k·d + max { β(x') : a ≤ x' ≤ x },    β(x') = c(x') + 1 - x' - l(x')·d
//! ```
//!
//! for token k, over the delays x' and the positions where tokens start (c = 0),
//! where l(x') is the first token to be released at x'. One turn later β is
//! smaller by Δ = n - m·d, so the last wait of a token is where the maximum over
//! one turn is first met. The maximum is over a window that starts where tokens
//! start; between two such places only the largest β counts. So the pass keeps,
//! for every group of tokens, one number for the group's own stretch of relays
//! and one for all delays up to the next group: O(m) memory.
//!
//! Keys in this file are β + m·d, because m is known only when the pass ends.

use headway_core::Process;

use super::sites::{Sites, Visitor};

/// Less than any key: nothing there.
const NONE: i64 = i64::MIN;

/// The largest m·d. Keys are within n + 2·m·d of 0, so they fit with room.
const MAX_PRODUCT: u64 = 1 << 61;

/// Tokens that start at one position, `count` of them, the first `resting` of
/// which rested there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) at: u64,
    pub(super) resting: u32,
    pub(super) arriving: u32,
    /// Tokens that start here or before: l = m - tokens_to_here.
    pub(super) tokens_to_here: u64,
    /// The largest key from here to the next delay, that delay included.
    own: i64,
    /// The largest key over one turn from here: y = k·d + settled - m·d for good.
    settled: i64,
    item: u32,
}

impl Group {
    pub(super) fn own(&self) -> i128 {
        i128::from(self.own)
    }

    pub(super) fn settled(&self) -> i128 {
        i128::from(self.settled)
    }

    pub(super) fn count(&self) -> u64 {
        u64::from(self.resting) + u64::from(self.arriving)
    }
}

/// The delay that ends a stretch with tokens, or the first largest of the delays
/// between two such stretches.
#[derive(Clone, Copy, Debug)]
struct Item {
    key: i64,
    at: u64,
    /// The delay before it; -1 for the last one of the previous turn.
    previous: i64,
    /// The largest key of the item's own delays before `at`, [`NONE`] if there are
    /// none.
    before: i64,
}

/// What the pass found.
#[derive(Clone, Debug)]
pub(super) struct Settling {
    /// Groups by ascending position.
    pub(super) groups: Vec<Group>,
    /// m.
    pub(super) tokens: u64,
    /// The last round after which a token rests (0: only in the initial state).
    pub(super) last_rest: Option<u64>,
    /// The first round from which no delay's running counter was set by a token
    /// that rested later; 0 if there never is one.
    pub(super) stale_until: u64,
}

/// The pass over a ring in which m·d ≤ n is not yet known to hold; `settled`,
/// `last_rest` and `stale_until` have a meaning only when it does. `None` when m·d
/// is too large.
pub(super) fn settle(
    sites: Sites<'_>,
    from: u64,
    separation: u64,
    starts_delay: bool,
) -> Option<Settling> {
    let starts = sites.starts_hint();
    let mut pass = Pass {
        d: separation as i64,
        starts_delay,
        max_tokens: MAX_PRODUCT / separation,
        too_large: false,
        tokens: 0,
        groups: Vec::with_capacity(starts),
        open: 0,
        items: Vec::with_capacity(2 * starts),
        gap: Gap::EMPTY,
        previous: -1,
    };
    sites.scan(from, &mut pass);
    if pass.too_large {
        return None;
    }
    pass.end_gap();
    Some(pass.finish(sites.len()))
}

struct Pass {
    d: i64,
    /// Without delays (or with d = 1, when delays are like relays), tokens can
    /// wait only where tokens start: those positions take the delays' part.
    starts_delay: bool,
    max_tokens: u64,
    too_large: bool,
    tokens: u64,
    groups: Vec<Group>,
    /// Groups from here on are in a stretch whose delay is yet to come.
    open: usize,
    items: Vec<Item>,
    gap: Gap,
    previous: i64,
}

/// Delays since the last stretch with tokens. All have the same l, so c - x
/// decides.
#[derive(Clone, Copy)]
struct Gap {
    best: i64,
    before: i64,
    at: u64,
    previous: i64,
}

impl Gap {
    const EMPTY: Gap = Gap {
        best: NONE,
        before: NONE,
        at: 0,
        previous: 0,
    };
}

impl Visitor for Pass {
    fn tokens(&mut self, at: u64, resting: u32, arriving: u32) {
        let tokens = self.tokens + u64::from(resting) + u64::from(arriving);
        if tokens > self.max_tokens {
            self.too_large = true;
            return;
        }
        self.tokens = tokens;
        self.groups.push(Group {
            at,
            resting,
            arriving,
            tokens_to_here: self.tokens,
            own: self.key(at, 0),
            settled: 0,
            item: 0,
        });
        if self.starts_delay {
            self.stretch_ends(at, 0);
        }
    }

    #[inline]
    fn delay(&mut self, at: u64, counter: u32) {
        if self.starts_delay {
            return;
        }
        if self.open < self.groups.len() {
            self.stretch_ends(at, counter);
            return;
        }
        let key = i64::from(counter) - at as i64;
        if key > self.gap.best {
            self.gap = Gap {
                best: key,
                before: self.gap.best,
                at,
                previous: self.previous,
            };
        }
        self.previous = at as i64;
    }

    fn delays(&mut self, at: u64, run: &[Process]) {
        let Some((first, others)) = run.split_first() else {
            return;
        };
        if self.starts_delay {
            return;
        }
        // The first may end a stretch; after it there is only the gap.
        self.delay(at, first.counter as u32);
        let mut gap = self.gap;
        for (at, process) in (at + 1..).zip(others) {
            let at_signed = at as i64;
            // A counter is below d, so a delay d or more behind cannot beat the best.
            if self.d - at_signed <= gap.best {
                break;
            }
            let key = i64::from(process.counter) - at_signed;
            if key > gap.best {
                gap = Gap {
                    best: key,
                    before: gap.best,
                    at,
                    previous: at_signed - 1,
                };
            }
        }
        self.gap = gap;
        let end = at + run.len() as u64;
        self.previous = end as i64 - 1;
    }
}

impl Pass {
    fn key(&self, at: u64, counter: u32) -> i64 {
        i64::from(counter) + 1 - (at as i64) + (self.tokens as i64) * self.d
    }

    fn end_gap(&mut self) {
        let shift = 1 + (self.tokens as i64) * self.d;
        if self.gap.best != NONE {
            self.items.push(Item {
                key: self.gap.best + shift,
                at: self.gap.at,
                previous: self.gap.previous,
                before: match self.gap.before {
                    NONE => NONE,
                    before => before + shift,
                },
            });
        }
        self.gap = Gap::EMPTY;
    }

    #[cold]
    fn stretch_ends(&mut self, at: u64, counter: u32) {
        let key = self.key(at, counter);
        // The gap before this stretch had the number of tokens before it.
        let tokens = self.tokens;
        let first = &self.groups[self.open];
        self.tokens = first.tokens_to_here - first.count();
        self.end_gap();
        self.tokens = tokens;
        let mut best = key;
        let item = self.items.len() as u32;
        for group in self.groups[self.open..].iter_mut().rev() {
            best = best.max(group.own);
            group.own = best;
            group.item = item;
        }
        self.items.push(Item {
            key: best,
            at,
            previous: self.previous,
            before: NONE,
        });
        self.open = self.groups.len();
        self.previous = at as i64;
    }

    /// Windows: to the end of the list, then from its beginning a turn later.
    fn finish(mut self, processes: u64) -> Settling {
        let n = processes as i64;
        let m = self.tokens as i64;
        let turn_loss = n - m * self.d;
        let wrapped = self.first_maxima();
        let mut found = Settling {
            groups: Vec::new(),
            tokens: self.tokens,
            last_rest: None,
            stale_until: 0,
        };
        // The first maximum of the items behind the current one, and the largest
        // key between.
        let mut best: Option<(usize, i64)> = None;
        let mut next_item = self.items.len();
        for index in (0..self.groups.len()).rev() {
            let group = self.groups[index];
            let own_item = group.item as usize;
            while next_item > own_item + 1 {
                next_item -= 1;
                let key = self.items[next_item].key;
                best = Some(match best {
                    Some((at, between)) if self.items[at].key > key => (at, between.max(key)),
                    _ => (next_item, NONE),
                });
            }
            let last = Last::find(
                &self.items,
                group.own,
                own_item,
                best,
                wrapped[own_item],
                n,
                turn_loss,
            );
            self.groups[index].settled = last.key;
            found.note(&group, &last, m, self.d);
        }
        found.groups = self.groups;
        found
    }

    /// For every item: the first maximum of the items up to it, and the largest
    /// key before that.
    fn first_maxima(&self) -> Vec<(u32, i64)> {
        let mut maxima = Vec::with_capacity(self.items.len());
        let mut best = (0, NONE);
        for (index, item) in self.items.iter().enumerate() {
            let top = self.items[best.0 as usize].key;
            if index == 0 || item.key > top {
                best = (index as u32, if index == 0 { NONE } else { top });
            }
            maxima.push(best);
        }
        maxima
    }
}

/// Where the maximum over one turn is first met.
struct Last {
    key: i64,
    /// The delay, unrolled.
    at: i64,
    /// The delay before it and the maximum up to there, if the token passes it.
    previous: Option<(i64, i64)>,
}

impl Last {
    fn find(
        items: &[Item],
        own: i64,
        own_item: usize,
        behind: Option<(usize, i64)>,
        wrapped: (u32, i64),
        n: i64,
        turn_loss: i64,
    ) -> Last {
        let mut last = Last {
            key: own,
            at: items[own_item].at as i64,
            previous: None,
        };
        if let Some((index, between)) = behind.filter(|&(index, _)| items[index].key > own) {
            let item = items[index];
            let before = own.max(between).max(item.before);
            last = Last {
                key: item.key,
                at: item.at as i64,
                previous: Some((item.previous, before)),
            };
        }
        let item = items[wrapped.0 as usize];
        if item.key - turn_loss > last.key {
            let lost = |key: i64| key.saturating_sub(turn_loss);
            let before = last.key.max(lost(wrapped.1)).max(lost(item.before));
            last = Last {
                key: item.key - turn_loss,
                at: item.at as i64 + n,
                previous: Some((item.previous + n, before)),
            };
        }
        last
    }
}

impl Settling {
    /// What the last token of a group adds: it waits longest.
    fn note(&mut self, group: &Group, last: &Last, m: i64, d: i64) {
        let token = m - group.tokens_to_here as i64 + group.count() as i64 - 1;
        let y = |key: i64| token * d + key - m * d;
        let starts = 1 - group.at as i64;
        if y(last.key) > starts {
            let released = y(last.key) + last.at;
            self.last_rest = self.last_rest.max(Some((released - 1) as u64));
            if let Some((previous, key)) = last.previous {
                // The previous delay counts from d-1 down to 0 after this release.
                let stale_until = y(key) + previous + d - 1;
                self.stale_until = self.stale_until.max(stale_until.max(0) as u64);
            }
        } else if group.resting > 0 {
            self.last_rest = self.last_rest.max(Some(0));
        }
    }
}
