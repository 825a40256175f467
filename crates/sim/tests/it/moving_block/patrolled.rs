//! The moving block with tokens that cannot be lost, and the patrol that ends a
//! standstill. Every process publishes a record; its neighbours read it when they hear
//! from it, and act on the copy.

use headway_core::moving_block::{Ahead, Found, Lap, Watch};
use headway_core::token_ring::{holds, released};
use headway_sim::seed::{Purpose, Random};

/// What a process can be asked to do; it does it if it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Hears from its predecessor.
    HearBefore,
    /// Hears from its successor.
    HearAhead,
    /// Releases a token.
    Release,
    /// Passes the patrol on.
    Pass,
}

/// The actions.
pub(crate) const ACTIONS: [Action; 4] = [
    Action::HearBefore,
    Action::HearAhead,
    Action::Release,
    Action::Pass,
];

/// What a process hears from its successor.
#[derive(Clone, Debug)]
struct Heard {
    /// The values that the successor has heard of this process.
    echo: Vec<u32>,
    news: u32,
    patrol: u32,
    lap: Lap,
}

#[derive(Clone, Debug)]
struct Place {
    /// A value of each token ring, and what the predecessor's are.
    values: Vec<u32>,
    before: Vec<u32>,
    ahead: Heard,
    patrol: u32,
    lap: Lap,
    watch: Watch,
    /// The token that is released first if held.
    turn: usize,
}

/// A ring with its tokens and its patrol.
#[derive(Clone, Debug)]
pub(crate) struct PatrolledRing {
    separation: u32,
    /// K: a token ring of n values and n copies.
    values: u32,
    places: Vec<Place>,
    /// Whether one calm lap is taken for a standstill, which is a mistake.
    pub(crate) hasty: bool,
    /// Times that a process was let go.
    pub(crate) openings: u64,
    /// Tokens that each process has released.
    pub(crate) releases: Vec<u64>,
}

impl PatrolledRing {
    /// n processes and m tokens; every variable is drawn.
    pub(crate) fn random(
        processes: usize,
        tokens: usize,
        separation: u32,
        seed: u64,
    ) -> PatrolledRing {
        let mut random = Random::new(seed, Purpose::Start);
        let values = 2 * processes as u32;
        let mut below = |bound: u32| random.below(bound.into()) as u32;
        let laps = [Lap::Calm, Lap::CalmAgain, Lap::Disturbed, Lap::Open];
        let places = (0..processes).map(|_| {
            let mut drawn = || (0..tokens).map(|_| below(values)).collect();
            let (own, before, echo) = (drawn(), drawn(), drawn());
            let token = below(tokens.max(1) as u32);
            Place {
                values: own,
                before,
                ahead: Heard {
                    echo,
                    news: below(separation + 1),
                    patrol: below(values),
                    lap: laps[below(4) as usize],
                },
                patrol: below(values),
                lap: laps[below(4) as usize],
                watch: [Watch::Still, Watch::Moved, Watch::Open(token)][below(3) as usize],
                turn: below(tokens.max(1) as u32) as usize,
            }
        });
        PatrolledRing {
            separation,
            values,
            places: places.collect(),
            hasty: false,
            openings: 0,
            releases: vec![0; processes],
        }
    }

    fn holds(&self, index: usize, token: usize) -> bool {
        let place = &self.places[index];
        holds(place.values[token], place.before[token], index == 0)
    }

    /// The token whose turn it is among those held.
    fn next_held(&self, index: usize) -> Option<usize> {
        let m = self.places[index].values.len();
        let turn = self.places[index].turn;
        let in_turn = (0..m).map(|offset| (turn + offset) % m);
        in_turn.into_iter().find(|&token| self.holds(index, token))
    }

    fn ahead(&self, index: usize) -> Ahead {
        let Place { values, ahead, .. } = &self.places[index];
        Ahead::heard(ahead.news, ahead.echo == *values)
    }

    /// The token that a process may release: its next in turn if the way is free, or the
    /// one that its gate is open for.
    fn may_release(&self, index: usize) -> Option<usize> {
        let ahead = self.ahead(index);
        match self.places[index].watch {
            Watch::Open(token) if ahead != Ahead::Unknown && self.holds(index, token as usize) => {
                Some(token as usize)
            }
            _ if ahead.lets_go(self.separation) => self.next_held(index),
            _ => None,
        }
    }

    /// Asks a process to do something.
    pub(crate) fn act(&mut self, index: usize, action: Action) {
        let n = self.places.len();
        match action {
            Action::HearBefore => {
                self.places[index].before = self.places[(index + n - 1) % n].values.clone();
            }
            Action::HearAhead => {
                let next = (index + 1) % n;
                let holds = self.next_held(next).is_some();
                let news = self.ahead(next).tells(holds, self.separation);
                let Place {
                    before,
                    patrol,
                    lap,
                    ..
                } = &self.places[next];
                self.places[index].ahead = Heard {
                    echo: before.clone(),
                    news,
                    patrol: *patrol,
                    lap: *lap,
                };
            }
            Action::Release => {
                let Some(token) = self.may_release(index) else {
                    return;
                };
                let place = &mut self.places[index];
                let (own, before) = (place.values[token], place.before[token]);
                place.values[token] = released(own, before, index == 0, self.values);
                place.turn = (token + 1) % place.values.len();
                place.watch = Watch::Moved;
                self.releases[index] += 1;
            }
            Action::Pass => {
                let Place {
                    patrol,
                    ref ahead,
                    watch,
                    ..
                } = self.places[index];
                let let_go = |token: u32| self.holds(index, token as usize);
                let goes_first = matches!(watch, Watch::Open(token) if let_go(token));
                if goes_first || !holds(patrol, ahead.patrol, index == 0) {
                    return;
                }
                let found = match (self.ahead(index), self.next_held(index)) {
                    (Ahead::Unknown, _) => Found::Busy,
                    (ahead, Some(_)) if ahead.lets_go(self.separation) => Found::Busy,
                    (_, Some(token)) => Found::Stuck(token as u32),
                    (_, None) => Found::Empty,
                };
                let arrived = match ahead.lap {
                    Lap::Calm if self.hasty && index == 0 => Lap::CalmAgain,
                    lap => lap,
                };
                let (lap, watch) = watch.visited(arrived, index == 0, found);
                let passed = released(patrol, ahead.patrol, index == 0, self.values);
                self.openings += u64::from(matches!(watch, Watch::Open(_)));
                let place = &mut self.places[index];
                (place.patrol, place.lap, place.watch) = (passed, lap, watch);
            }
        }
    }

    /// Whether each token ring has one token, under way or held, and they are as far
    /// apart as wanted, a token under way being at both ends.
    pub(crate) fn apart(&self) -> bool {
        let (n, m) = (self.places.len(), self.places[0].values.len());
        let d = self.separation as usize;
        let mut tokens = Vec::new();
        for token in 0..m {
            let held = (0..n).filter(|&index| self.holds(index, token));
            let under_way = (0..n).filter(|&index| {
                let receiver = &self.places[(index + 1) % n];
                receiver.before[token] != self.places[index].values[token]
            });
            let mut places: Vec<_> = held.map(|index| (index, index)).collect();
            places.extend(under_way.map(|index| (index, index + 1)));
            match places[..] {
                [only] => tokens.push(only),
                _ => return false,
            }
        }
        tokens.sort_unstable();
        (0..m).all(|token| {
            let next = match tokens.get(token + 1) {
                Some(next) => next.0,
                None => tokens[0].0 + n,
            };
            next >= tokens[token].1 + d
        })
    }
}
