//! The state in any round, and the smallest distance over any span.

use std::ops::RangeInclusive;

use headway_core::{Configuration, Process, Round};

use super::timeline::Timeline;
use super::window::Window;
use super::{Shape, Trajectory};

/// A state, by its tokens and the counters that are not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The round that leads to it.
    pub round: Round,
    /// Where the tokens are, numbered as in [`headway_core::tokens::Tokens`].
    pub places: Vec<MomentPlace>,
    /// Delays whose counters are not 0, with those, in no particular order.
    pub counters: Vec<(u64, u32)>,
}

/// Where a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MomentPlace {
    /// The process.
    pub process: u64,
    /// It rests, rather than being queued to move on.
    pub resting: bool,
}

impl Moment {
    /// The state as a configuration of the whole ring, of n processes.
    ///
    /// # Panics
    ///
    /// When the state is one of a larger ring.
    pub fn configuration(&self, processes: usize) -> Configuration {
        let mut processes = vec![Process::default(); processes];
        for place in &self.places {
            let process = &mut processes[place.process as usize];
            if place.resting {
                process.resting += 1;
            } else {
                process.queued += 1;
            }
        }
        for &(process, counter) in &self.counters {
            processes[process as usize].counter = counter as i32;
        }
        Configuration {
            processes,
            measuring: Vec::new(),
        }
    }
}

impl Timeline<'_> {
    /// The state that `round` leads to, exactly as lock-step finds it, in O(n + m)
    /// time however large `round` is (O(m + delays) for a [`super::SparseRing`]).
    pub fn moment(&self, round: Round) -> Moment {
        let mut moment = if round == 0 || self.groups.is_empty() {
            self.initial(round)
        } else {
            let (earlier, periods) = self.reduced(round);
            let mut moment = self.later(earlier);
            if !self.shape().settles() {
                // A period on, a token is where the one ahead of it was.
                let moved_up = (periods % self.shape().tokens) as usize;
                moment.places.rotate_right(moved_up);
            }
            moment
        };
        moment.round = round;
        moment
    }

    /// The state as a configuration of the whole ring.
    ///
    /// # Panics
    ///
    /// When the ring has more than 2^32 processes.
    pub fn configuration_at(&self, round: Round) -> Configuration {
        let n = usize::try_from(self.shape().processes).expect("a ring that fits in memory");
        self.moment(round).configuration(n)
    }

    /// The smallest distance between successive tokens over the states that these
    /// rounds lead to; `None` without tokens or rounds.
    ///
    /// Distances shrink only while the token ahead rests, so it is enough to look
    /// at the ends of the span and at the rounds in which rests have ended: the
    /// cost is by waits, not by rounds.
    pub fn min_distance(&self, rounds: RangeInclusive<Round>) -> Option<u64> {
        let (first, last) = (*rounds.start(), *rounds.end());
        if first > last || self.shape().tokens == 0 {
            return None;
        }
        let last = self.enough(first, last);
        let m = self.shape().tokens;
        let mut ahead = self.way_of(0, last);
        let front = ahead.clone();
        let mut smallest = i128::MAX;
        for token in 1..m {
            let behind = self.way_of(token, last);
            smallest = smallest.min(closest(&ahead, &behind, first, last));
            ahead = behind;
        }
        // Behind the last token comes token 0 again, a turn back.
        let n = i128::from(self.shape().processes);
        smallest = smallest.min(closest(&ahead, &front, first, last) + n);
        Some(smallest as u64)
    }

    /// A round from which on nothing new happens within the span.
    fn enough(&self, first: Round, last: Round) -> Round {
        let periodic = if self.shape().settles() {
            first.max(self.settled_at())
        } else {
            let period = self.shape().pace;
            first.max(self.jammed_at()).saturating_add(period)
        };
        last.min(periodic)
    }

    /// From here on tokens only move, and every counter is that of the last token.
    fn settled_at(&self) -> Round {
        let rest = self.forecast.last_rest().map_or(0, |round| round + 1);
        rest.saturating_add(self.shape().pace)
    }

    /// From some round before this one on, every token has waited for whole turns:
    /// each delay releases a token every d rounds, relays never hold one up, and
    /// the state repeats every d rounds.
    pub(super) fn jammed_at(&self) -> Round {
        let Shape {
            processes,
            tokens,
            pace,
            ..
        } = *self.shape();
        let largest = self.delays.iter().map(|delay| delay.key).max().unwrap_or(0);
        let turns = 4 * (i128::from(processes) - self.shape().turn_loss());
        let rounds = 4 * i128::from(processes) + largest + turns;
        let rounds = rounds + i128::from(tokens) * i128::from(pace);
        Round::try_from(rounds).unwrap_or(Round::MAX)
    }

    /// An earlier round with the same configuration, and how many periods earlier.
    fn reduced(&self, round: Round) -> (Round, u64) {
        let (from, period) = if self.shape().settles() {
            (self.settled_at(), self.shape().processes)
        } else {
            (self.jammed_at(), self.shape().pace)
        };
        if round <= from {
            (round, 0)
        } else {
            (from + (round - from) % period, (round - from) / period)
        }
    }

    /// The initial state, with counters run down for some rounds: for a ring without
    /// tokens that is all that happens.
    fn initial(&self, rounds: Round) -> Moment {
        let mut places = Vec::new();
        for entry in self.groups.iter().rev() {
            let at = i128::from(entry.group.at);
            let resting = (0..entry.group.resting).map(|_| (at, true));
            let arriving = (0..entry.group.arriving).map(|_| (at - 1, false));
            places.extend(resting.chain(arriving));
        }
        Moment {
            round: 0,
            places: self.numbered(&places),
            counters: self.untouched(i128::from(rounds), |_| true),
        }
    }

    /// Places in the order of the unrolled ring to places by number.
    fn numbered(&self, places: &[(i128, bool)]) -> Vec<MomentPlace> {
        let shape = self.shape();
        let place = |&(position, resting): &(i128, bool)| MomentPlace {
            process: shape.process(position),
            resting,
        };
        let (before, after) = places.split_at((shape.skipped as usize).min(places.len()));
        after.iter().chain(before).map(place).collect()
    }

    fn later(&self, round: Round) -> Moment {
        let t = i128::from(round);
        let passed = self.passed(t);
        Moment {
            round,
            places: self.numbered(&self.positions(t, &passed)),
            counters: self.counters(t, &passed),
        }
    }

    /// For every token, the last block whose delay it has been released from by
    /// round t, and its y there; the block before its own when there is none.
    fn passed(&self, t: i128) -> Vec<(i128, i128)> {
        let mut passed = Vec::with_capacity(self.shape().tokens as usize);
        let mut block = self.first_token_at_most(t);
        let mut window = Window::new(block, |block| self.key(block));
        for entry in self.groups.iter().rev() {
            let own = entry.block as i128;
            let first = self.shape().tokens - entry.group.tokens_to_here;
            window.extend_left(own);
            for token in first..first + entry.group.count() {
                let mut y = i128::MIN;
                while block >= own {
                    let key = window
                        .max()
                        .map_or(entry.group.own(), |max| max.max(entry.group.own()));
                    y = self.y(token, key);
                    if self.delay_at(block) + y <= t {
                        break;
                    }
                    block -= 1;
                    window.shrink_right(block);
                }
                passed.push((block.max(own - 1), y));
            }
        }
        passed
    }

    /// A block beyond which token 0 cannot be: it moves at most one hop a round, and
    /// after its first turn it is released from the turn's last block no earlier
    /// than that block's key says, which is m·d rounds later with every turn.
    fn first_token_at_most(&self, t: i128) -> i128 {
        let Shape {
            processes,
            tokens,
            pace,
            ..
        } = *self.shape();
        let (n, turn_rounds) = (i128::from(processes), i128::from(tokens) * i128::from(pace));
        let start = self
            .groups
            .last()
            .map_or(0, |entry| i128::from(entry.group.at));
        let by_hops = (start + t).div_euclid(n);
        let by_key = match self.delays.last() {
            Some(last) => {
                let earliest = i128::from(last.at) + self.y(0, last.key);
                (t - earliest).div_euclid(turn_rounds).max(0) + 1
            }
            None => 0,
        };
        (by_hops.min(by_key).max(0) + 1) * self.delays.len() as i128 - 1
    }

    /// Where every token is after round t, and whether it rests.
    fn positions(&self, t: i128, passed: &[(i128, i128)]) -> Vec<(i128, bool)> {
        let mut positions = Vec::with_capacity(passed.len());
        let mut first_relays: Option<FirstRelays<'_>> = None;
        for (index, entry) in self.groups.iter().enumerate().rev() {
            let own = entry.block as i128;
            let first = self.shape().tokens - entry.group.tokens_to_here;
            for token in first..first + entry.group.count() {
                let (block, y) = passed[token as usize];
                let (next, y) = if block >= own {
                    self.on_relays(t, token, block, y)
                } else if entry.group.at == self.delays[entry.block].at {
                    // It has been there since round 1, and waits for the counter.
                    (i128::from(entry.group.at), i128::MAX)
                } else {
                    let relays = match &mut first_relays {
                        Some(relays) if relays.block == entry.block => relays,
                        other => other.insert(FirstRelays::new(self, entry.block)),
                    };
                    relays.locate(t, token, index)
                };
                positions.push(stop_or_go(t, next, y));
            }
        }
        positions
    }

    /// A token beyond the delay of `block`, left with this y: where it next has to
    /// stop, at a pile on the relays or at the next delay, and its y until then.
    fn on_relays(&self, t: i128, token: u64, block: i128, y: i128) -> (i128, i128) {
        let (turn, index) = self.turn(block + 1);
        let offset = turn * i128::from(self.shape().processes);
        let gain = self.relay_turns(turn);
        let range = self.relay_groups(index);
        let at = |group: usize| i128::from(self.groups[group].group.at) + offset;
        let y_at = |group: usize| {
            let key = self.groups[group].relay_max + gain;
            y.max(self.relay_y(token, key))
        };
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = usize::midpoint(low, high);
            if at(middle) + y_at(middle) <= t {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let y = if low > range.start { y_at(low - 1) } else { y };
        let next = if low < range.end {
            at(low)
        } else {
            self.delay_at(block + 1)
        };
        (next, y)
    }

    /// Counters after round t: those that still run down from the start, and those
    /// set by tokens that have passed in the last d-1 rounds.
    fn counters(&self, t: i128, passed: &[(i128, i128)]) -> Vec<(u64, u32)> {
        let top = i128::from(self.shape().pace) - 1;
        if top == 0 {
            return Vec::new();
        }
        let blocks = self.delays.len() as i128;
        let front = passed[0].0;
        let mut released = vec![false; if t < top { self.delays.len() } else { 0 }];
        let mut counters = Vec::new();
        let mut window = Window::new(front, |block| self.key(block));
        for entry in self.groups.iter().rev() {
            let own = entry.block as i128;
            let first = self.shape().tokens - entry.group.tokens_to_here;
            window.extend_left(own);
            for token in first..first + entry.group.count() {
                let here = passed[token as usize].0;
                let behind = passed
                    .get(token as usize + 1)
                    .map_or(front - blocks, |next| next.0);
                window.shrink_right(here);
                let mut block = here;
                while block > behind && block >= own {
                    window.shrink_right(block);
                    let key = window
                        .max()
                        .map_or(entry.group.own(), |max| max.max(entry.group.own()));
                    let since = t - self.delay_at(block) - self.y(token, key);
                    if since >= top {
                        break;
                    }
                    let (_, index) = self.turn(block);
                    let process = self.shape().process(i128::from(self.delays[index].at));
                    counters.push((process, (top - since) as u32));
                    if let Some(mark) = released.get_mut(index) {
                        *mark = true;
                    }
                    block -= 1;
                }
            }
        }
        if t < top {
            counters.extend(self.untouched(t, |index| !released[index]));
        }
        counters
    }

    fn untouched(&self, t: i128, chosen: impl Fn(usize) -> bool) -> Vec<(u64, u32)> {
        let delays = self.delays.iter().enumerate();
        delays
            .filter(|&(index, delay)| i128::from(delay.counter) > t && chosen(index))
            .map(|(_, delay)| {
                let counter = i128::from(delay.counter) - t;
                (self.shape().process(i128::from(delay.at)), counter as u32)
            })
            .collect()
    }
}

/// The smallest distance of a token to one behind it on the unrolled ring.
fn closest(ahead: &Trajectory, behind: &Trajectory, first: Round, last: Round) -> i128 {
    let distance = |round| ahead.position(round) - behind.position(round);
    let ends = ahead.waits().iter().map(|wait| wait.to.saturating_add(1));
    let within = ends.filter(|round| (first..=last).contains(round));
    let smallest = within.map(distance).min();
    let at_ends = distance(first).min(distance(last));
    smallest.map_or(at_ends, |smallest| smallest.min(at_ends))
}

/// A token that has to stop at `next` and is released from every position x
/// before it in round x + y: moving, or arrived and resting.
fn stop_or_go(t: i128, next: i128, y: i128) -> (i128, bool) {
    if y < i128::MAX && t - y < next {
        (t - y, false)
    } else {
        (next, true)
    }
}

/// Tokens that have not yet passed a delay, on the relays of their first block.
struct FirstRelays<'a> {
    line: &'a Timeline<'a>,
    block: usize,
    /// The last group at whose position the token before this one has left.
    reached: i128,
    window: Window<Box<dyn Fn(i128) -> i128 + 'a>>,
}

impl<'a> FirstRelays<'a> {
    fn new(line: &'a Timeline<'a>, block: usize) -> FirstRelays<'a> {
        let reached = line.relay_groups(block).end as i128 - 1;
        let key = Box::new(|group: i128| line.groups[group as usize].relay_key);
        FirstRelays {
            line,
            block,
            reached,
            window: Window::new(reached, key),
        }
    }

    /// Where a token of this group next has to stop, and its y until then.
    fn locate(&mut self, t: i128, token: u64, group: usize) -> (i128, i128) {
        let own = group as i128;
        self.window.extend_left(own - 1);
        let at = |group: i128| i128::from(self.line.groups[group as usize].group.at);
        let mut y = i128::MAX;
        while self.reached >= own {
            if let Some(key) = self.window.max() {
                y = self.line.relay_y(token, key);
                if at(self.reached) + y <= t {
                    break;
                }
            }
            self.reached -= 1;
            self.window.shrink_right(self.reached);
        }
        if self.reached < own {
            return (at(own), i128::MAX);
        }
        let next = self.reached as usize + 1;
        let next = if next < self.line.relay_groups(self.block).end {
            at(next as i128)
        } else {
            i128::from(self.line.delays[self.block].at)
        };
        (next, y)
    }
}
