//! A ring of the moving block: tokens handed over by acknowledged messages, news that
//! comes late or gets lost, under any schedule (docs/research/moving-block.md).

use std::collections::VecDeque;

use headway_core::moving_block::Ahead;

use crate::seed::{Purpose, Random};

mod run;
mod system;

pub use run::{Did, Frame, MovingBlockError, MovingBlockRun};

/// What a process can be asked to do; it does it if it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Takes the token that its predecessor hands over.
    Receive,
    /// Tells its predecessor how far ahead the next token is.
    Tell,
    /// Hears what its successor told last.
    Hear,
    /// Hands a token over, if the way ahead is free.
    Give,
}

/// The actions.
pub const ACTIONS: [Action; 4] = [Action::Receive, Action::Tell, Action::Hear, Action::Give];

/// A process and its link to the successor.
#[derive(Clone, Debug, Default)]
struct Place {
    /// The tokens here, the one that goes first in front.
    held: VecDeque<usize>,
    /// The token that is handed over to the successor and not yet received.
    under_way: Option<usize>,
    given: u64,
    /// Hand-overs that the successor has received.
    received: u64,
    /// What the successor told last, and how many hand-overs it had received then.
    slot: Option<(u32, u64)>,
    ahead: Ahead,
}

/// A ring and where its tokens are.
///
/// ```
/// use headway_sim::moving_block::{ACTIONS, MovingBlockRing};
/// let mut ring = MovingBlockRing::new(9, 2, 4);
/// ring.place(&[3, 3]);
/// for _ in 0..ring.worst_settled() {
///     for process in 0..9 {
///         ACTIONS.map(|action| ring.act(process, action));
///     }
/// }
/// assert!(ring.closest() >= 4);
/// ```
#[derive(Clone, Debug)]
pub struct MovingBlockRing {
    separation: u32,
    places: Vec<Place>,
    /// Hops that each token has made, lifted: the process that received it last, plus n
    /// for every turn.
    from: Vec<usize>,
}

impl MovingBlockRing {
    /// n processes, m tokens, all at process 0; nobody knows anything.
    ///
    /// # Panics
    ///
    /// Without processes.
    pub fn new(processes: usize, tokens: usize, separation: u32) -> MovingBlockRing {
        assert!(processes > 0, "a ring has processes");
        let mut ring = MovingBlockRing {
            separation,
            places: vec![Place::default(); processes],
            from: Vec::new(),
        };
        ring.place(&vec![0; tokens]);
        ring
    }

    /// Puts token k at the k-th place of a list, whose places ascend; the last token is
    /// the one ahead.
    ///
    /// # Panics
    ///
    /// When places do not ascend or are not on the ring.
    pub fn place(&mut self, places: &[usize]) {
        assert!(places.is_sorted(), "places ascend");
        self.from = places.to_vec();
        for place in &mut self.places {
            place.held.clear();
            place.under_way = None;
            place.received = place.given;
        }
        for (token, &index) in places.iter().enumerate().rev() {
            self.places[index].held.push_back(token);
        }
    }

    /// Tokens anywhere, and any beliefs and news, true or not, about hand-overs that
    /// were all received.
    pub fn scramble(&mut self, seed: u64) {
        let mut random = Random::new(seed, Purpose::Start);
        let n = self.places.len();
        let mut places: Vec<usize> = self.from.iter().map(|_| random.index(n)).collect();
        places.sort_unstable();
        self.place(&places);
        let news = u64::from(self.separation) + 1;
        for place in &mut self.places {
            place.ahead = Ahead::heard(random.below(news) as u32, random.chance(1, 2));
            let told = (random.below(news) as u32, place.received);
            place.slot = random.chance(1, 2).then_some(told);
        }
    }

    /// Asks a process to do something. Whether it gave, received or heard; telling is
    /// always possible.
    pub fn act(&mut self, index: usize, action: Action) -> bool {
        let n = self.places.len();
        let before = (index + n - 1) % n;
        match action {
            Action::Receive => {
                let Some(token) = self.places[before].under_way.take() else {
                    return false;
                };
                self.places[before].received += 1;
                self.places[index].held.push_back(token);
                self.from[token] += 1;
            }
            Action::Tell => {
                let Place { held, ahead, .. } = &self.places[index];
                let news = ahead.tells(!held.is_empty(), self.separation);
                let giver = &mut self.places[before];
                giver.slot = Some((news, giver.received));
            }
            Action::Hear => {
                let place = &mut self.places[index];
                let Some((news, received)) = place.slot else {
                    return false;
                };
                place.ahead = Ahead::heard(news, received == place.given);
            }
            Action::Give => {
                let place = &mut self.places[index];
                if !place.ahead.lets_go(self.separation) {
                    return false;
                }
                let Some(token) = place.held.pop_front() else {
                    return false;
                };
                place.under_way = Some(token);
                place.given += 1;
                place.ahead = Ahead::Unknown;
            }
        }
        true
    }

    /// The smallest distance from a token to the next, a token under way being at both
    /// ends; n without tokens.
    pub fn closest(&self) -> i64 {
        let (n, m) = (self.places.len() as i64, self.from.len());
        let to = |token: usize| {
            let from = self.from[token];
            let under_way = self.places[from % self.places.len()].under_way == Some(token);
            (from + usize::from(under_way)) as i64
        };
        let distance = |token: usize| match token + 1 {
            next if next < m => self.from[next] as i64 - to(token),
            _ => self.from[0] as i64 + n - to(token),
        };
        (0..m).map(distance).min().unwrap_or(n)
    }

    /// Whether all tokens are as far apart as wanted and all that is told or believed of
    /// them is true: then it stays so (theorem 1). O(n).
    pub fn legitimate(&self) -> bool {
        let n = self.places.len();
        let mut here = vec![false; n];
        for from in &self.from {
            here[from % n] = true;
        }
        // From each process to the next token, going back twice for the end of the ring.
        let (mut free, mut claims_true) = (u32::MAX, true);
        for index in (0..2 * n).rev() {
            let next = (index + 1) % n;
            free = if here[next] {
                0
            } else {
                free.saturating_add(1)
            };
            let place = &self.places[index % n];
            let told = place.slot.filter(|(_, received)| *received == place.given);
            let believed = match place.ahead {
                Ahead::Free(hops) => Some(hops),
                Ahead::Unknown => None,
            };
            let mut claims = told.map(|(news, _)| news).into_iter().chain(believed);
            claims_true &= index >= n || claims.all(|news| news <= free);
        }
        claims_true && self.closest() >= i64::from(self.separation)
    }

    /// n.
    pub fn processes(&self) -> usize {
        self.places.len()
    }

    /// How many tokens there are, held or under way.
    pub fn count(&self) -> usize {
        let here = |place: &Place| place.held.len() + usize::from(place.under_way.is_some());
        self.places.iter().map(here).sum()
    }

    /// The process that received each token last, plus n for every turn.
    pub fn positions(&self) -> &[usize] {
        &self.from
    }

    /// Rounds within which every token advances so many hops, whatever the state and the
    /// schedule (theorem 2); 0 without tokens.
    ///
    /// # Panics
    ///
    /// Unless n > m·d: then there is no such number.
    pub fn worst_advance(&self, hops: usize) -> usize {
        let (m, d) = (self.from.len(), self.separation as usize);
        assert!(self.places.len() > m * d, "tokens stand without slack");
        let slack = self.places.len() - m * d;
        if m == 0 || hops == 0 {
            return 0;
        }
        let behind = hops + (m - 1) * d;
        4 * behind + (2 * d + 4) * m * ((behind - 1) / slack + 1)
    }

    /// Rounds after which tokens are apart for good, from any state (theorem 3).
    ///
    /// # Panics
    ///
    /// Unless n > m·d.
    pub fn worst_settled(&self) -> usize {
        2 * self.separation as usize + self.worst_advance(1)
    }
}
