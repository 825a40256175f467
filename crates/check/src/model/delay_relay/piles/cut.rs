//! Rings built token by token, against the order of travel. The proofs are in `piles.rs`.

use std::collections::HashMap;

use super::stretch::{Seen, Stretches, Until};
use super::{Count, Sizes};
use crate::control::Control;
use crate::error::{Result, TooLarge};

/// A token that can still block: its number, counted from K on, and its W.
pub(super) type Blocker = (u8, i16);

/// What records of tokens to come need to know, newest token last.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Profile {
    blockers: Vec<Blocker>,
    /// Tokens so far that could be K.
    ties: u8,
}

/// By processes used and time: numbers of ways. Those in `longer` are ways for any number
/// of processes from there on.
struct Ways<C> {
    exact: Vec<C>,
    longer: Vec<C>,
}

impl<C: Count> Ways<C> {
    fn new(sizes: Sizes) -> Ways<C> {
        let cells = (sizes.n + 1) * sizes.times;
        Ways {
            exact: vec![C::default(); cells],
            longer: vec![C::default(); cells],
        }
    }

    /// With `longer` counted in.
    fn summed(mut self, times: usize) -> Vec<C> {
        for cell in times..self.exact.len() {
            let (before, rest) = self.longer.split_at_mut(cell);
            rest[0] += &before[cell - times];
        }
        for (exact, longer) in self.exact.iter_mut().zip(&self.longer) {
            *exact += longer;
        }
        self.exact
    }
}

/// A token whose level stays above every record to come, however many tokens are added to
/// the `used` processes, blocks them all: how far above does not matter, nor does who is
/// behind it.
fn forget(sizes: Sizes, blockers: &mut Vec<Blocker>, used: usize) {
    let all = ((sizes.m + 1) * sizes.d) as i64 - used as i64;
    let blocks_all = |&(_, w): &Blocker| i64::from(w) >= all;
    if let Some(nearest) = blockers.iter().rposition(blocks_all) {
        blockers.drain(..nearest);
        blockers[0].1 = i16::MAX;
    }
}

/// The rings whose K has a stretch of a given length (at least that, if it is `width`)
/// whose last record is of a given height.
pub(super) struct Cut<C> {
    sizes: Sizes,
    length: usize,
    height: usize,
    stretches: Stretches<C>,
    /// Powers of d.
    powers: Vec<C>,
}

impl<C: Count> Cut<C> {
    pub(super) fn new(sizes: Sizes, until: Until, length: usize, height: usize) -> Cut<C> {
        let mut powers = vec![C::from(1)];
        for power in 0..sizes.m * sizes.width {
            powers.push(powers[power].clone() * C::from(sizes.d as u64));
        }
        Cut {
            sizes,
            length,
            height,
            stretches: Stretches::new(sizes, until),
            powers,
        }
    }

    /// By ties and time, how many sequences there are; and the profiles met.
    pub(super) fn run(mut self, control: &Control) -> Result<(Vec<Vec<C>>, u64)> {
        let Sizes {
            n, m, width, times, ..
        } = self.sizes;
        let mut done = vec![vec![C::default(); times]; m + 1];
        // By tokens placed behind K.
        let mut levels: Vec<HashMap<Profile, Ways<C>>> = (0..m).map(|_| HashMap::new()).collect();
        let mut ways = Ways::new(self.sizes);
        for time in 0..times {
            let start = if self.length < width {
                &mut ways.exact
            } else {
                &mut ways.longer
            };
            start[self.length.min(n) * times + time] = C::from(1);
        }
        let blockers = vec![(0, self.height as i16)];
        levels[0].insert(Profile { blockers, ties: 1 }, ways);
        let mut profiles = 0;
        let cell_bytes = 2 * (n as u64 + 1) * times as u64 * size_of::<C>() as u64;
        for placed in 0..m {
            for (profile, ways) in std::mem::take(&mut levels[placed]) {
                control
                    .go_on(|| format!("{profiles} profiles of piles followed, no answer yet"))?;
                profiles += 1;
                let held: usize = levels.iter().map(HashMap::len).sum();
                let fits =
                    control.limits.memory_bytes / cell_bytes / rayon::current_num_threads() as u64;
                TooLarge::bound("profiles of piles", held, fits)?;
                let ways = ways.summed(times);
                self.close(placed, &profile, &ways, &mut done);
                for pile in 1..m - placed {
                    self.extend(placed, pile, &profile, &ways, &mut levels[placed + pile]);
                }
            }
            control.advance(1);
        }
        Ok((done, profiles))
    }

    /// Puts a pile, and the stretch ahead of it, in front of what was placed.
    fn extend(
        &mut self,
        placed: usize,
        pile: usize,
        profile: &Profile,
        ways: &[C],
        next: &mut HashMap<Profile, Ways<C>>,
    ) {
        let (n, m, d) = (self.sizes.n, self.sizes.m, self.sizes.d);
        let (width, times) = (self.sizes.width, self.sizes.times);
        let tokens = placed + pile;
        for used in 1..n {
            let here = &ways[used * times..][..times];
            if *here.last().expect("a time") == C::default() {
                continue;
            }
            let seen = Seen::new(self.sizes, &profile.blockers, used, tokens);
            let stretches = self.stretches.of(&seen);
            let level = self.height as i64 + used as i64 - (tokens * d) as i64;
            for height in 1..=d {
                // K must stay the largest: m·(W(K) - W(k)) ≥ (K - k)·(n - m·d).
                let ahead = m as i64 * (level - height as i64);
                let least = (tokens * (n - m * d)) as i64;
                if ahead < least {
                    break;
                }
                let w = (height + tokens * d) as i16 - used as i16;
                let mut blockers = profile.blockers.clone();
                // Whoever is behind and not above can no longer be the first to block.
                while blockers.last().is_some_and(|&(_, other)| other <= w) {
                    blockers.pop();
                }
                blockers.push((tokens as u8, w));
                forget(self.sizes, &mut blockers, used);
                let ties = profile.ties + u8::from(ahead == least);
                let key = Profile { blockers, ties };
                let target = next.entry(key).or_insert_with(|| Ways::new(self.sizes));
                for length in 1..=width.min(n - used) {
                    let weight =
                        C::from(pile as u64 + 1) * self.powers[pile * width - length].clone();
                    let found = &stretches[(length - 1) * d + height - 1];
                    let to = if length < width {
                        &mut target.exact
                    } else {
                        &mut target.longer
                    };
                    let to = &mut to[(used + length) * times..][..times];
                    for ((to, here), found) in to.iter_mut().zip(here).zip(found) {
                        if *found != C::default() {
                            *to += &(here.clone() * found.clone() * weight.clone());
                        }
                    }
                }
            }
        }
    }

    /// Closes the ring with K's own pile and stretch.
    fn close(&mut self, placed: usize, profile: &Profile, ways: &[C], done: &mut [Vec<C>]) {
        let (n, m, d) = (self.sizes.n, self.sizes.m, self.sizes.d);
        let (width, times) = (self.sizes.width, self.sizes.times);
        let seen = Seen::new(self.sizes, &profile.blockers, n, m);
        let found = &self.stretches.of(&seen)[(self.length - 1) * d + self.height - 1];
        let pile = m - placed;
        let weight = C::from(pile as u64 + 1) * self.powers[pile * width - self.length].clone();
        let here = &ways[n * times..];
        let done = &mut done[usize::from(profile.ties)];
        for ((done, here), found) in done.iter_mut().zip(here).zip(found) {
            *done += &(here.clone() * found.clone() * weight.clone());
        }
    }
}
