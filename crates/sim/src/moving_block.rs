//! A ring of the moving block: tokens handed over by acknowledged messages, news that
//! comes late or gets lost, under any schedule (docs/research/moving-block.md). Also with
//! several processes in a station (docs/research/stations.md).

use std::collections::VecDeque;

use headway_core::moving_block::Ahead;
use headway_core::stations::{self, Member, Progress, Work};

use crate::seed::{Purpose, Random};

mod legitimate;
mod run;
mod system;

pub use run::{Did, Frame, MovingBlockError, MovingBlockRun};

/// Numbers of scrambled states are below.
const ANY_NUMBER: u64 = 4;

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
    /// Tells the next process of its station which work is over.
    TellOn,
    /// Hears what the one before in its station told so last.
    HearOn,
    /// Begins to work under the token that visits it, or ends its work.
    Work,
}

/// The actions of a ring with one process in every station.
pub const ACTIONS: [Action; 4] = [Action::Receive, Action::Tell, Action::Hear, Action::Give];

/// The actions of a ring of stations.
pub const STATION_ACTIONS: [Action; 7] = [
    Action::Receive,
    Action::Tell,
    Action::Hear,
    Action::Give,
    Action::TellOn,
    Action::HearOn,
    Action::Work,
];

/// A process and its link to the successor.
#[derive(Clone, Debug)]
struct Place {
    /// Where it is in its station.
    at: stations::Place,
    /// The tokens here, the one that goes first in front.
    held: VecDeque<usize>,
    /// The token that is handed over to the successor and not yet received, and its number.
    under_way: Option<(usize, u64)>,
    given: u64,
    /// Hand-overs that the successor has received.
    received: u64,
    /// What the successor told last.
    slot: Option<News>,
    ahead: Ahead,
    member: Member,
    /// The visit that its work, or its decision, is of; `None` after a fault.
    visit: Option<Visit>,
    /// What the predecessor told last of the station's work, and what was heard of that.
    told: Progress,
    heard: Progress,
}

/// What a process tells its predecessor.
#[derive(Clone, Copy, Debug)]
struct News {
    ahead: u32,
    /// How many hand-overs it had received.
    received: u64,
    number: u64,
}

/// A token came to a process, which had this number then.
#[derive(Clone, Copy, Debug)]
struct Visit {
    token: usize,
    /// The process, plus n for every turn.
    at: usize,
    number: u64,
}

impl Place {
    fn new(at: stations::Place) -> Place {
        Place {
            at,
            held: VecDeque::new(),
            under_way: None,
            given: 0,
            received: 0,
            slot: None,
            ahead: Ahead::Unknown,
            member: Member::default(),
            visit: None,
            told: Progress::default(),
            heard: Progress::default(),
        }
    }
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
    /// The station of each process.
    station_of: Vec<usize>,
    /// Whether there is work; else processes decline.
    works: bool,
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
        MovingBlockRing::cut((0..processes).collect(), tokens, separation, false)
    }

    /// The same with stations of so many processes, in which a process works when a token visits it;
    /// distances count stations.
    ///
    /// ```
    /// use headway_sim::moving_block::{Action, MovingBlockRing, STATION_ACTIONS};
    /// let mut ring = MovingBlockRing::of_stations(&[3, 3], 1, 1);
    /// let mut most = 0;
    /// for step in 0..20_000 {
    ///     let (process, action) = (step % 6, STATION_ACTIONS[step / 6 % 7]);
    ///     // Works end seldom.
    ///     if action != Action::Work || !ring.is_working(process) || step % 31 == 0 {
    ///         ring.act(process, action);
    ///     }
    ///     most = most.max((0..6).filter(|&process| ring.is_working(process)).count());
    ///     assert!(ring.works_apart());
    /// }
    /// assert_eq!(most, 3);
    /// ```
    ///
    /// # Panics
    ///
    /// Without processes.
    pub fn of_stations(sizes: &[usize], tokens: usize, separation: u32) -> MovingBlockRing {
        let stations = sizes.iter().enumerate();
        let station_of: Vec<usize> = stations
            .flat_map(|(station, &size)| vec![station; size])
            .collect();
        assert!(!station_of.is_empty(), "a ring has processes");
        MovingBlockRing::cut(station_of, tokens, separation, true)
    }

    fn cut(station_of: Vec<usize>, tokens: usize, separation: u32, works: bool) -> MovingBlockRing {
        let n = station_of.len();
        let is_first =
            |index: usize| n == 1 || station_of[(index + n - 1) % n] != station_of[index];
        let at = |index: usize| stations::Place {
            first: is_first(index),
            last: is_first((index + 1) % n),
        };
        let mut ring = MovingBlockRing {
            separation,
            places: (0..n).map(|index| Place::new(at(index))).collect(),
            station_of,
            works,
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
            place.visit = None;
        }
        for (token, &index) in places.iter().enumerate().rev() {
            self.places[index].held.push_back(token);
        }
    }

    /// Tokens anywhere, and any works, beliefs and news, true or not, about hand-overs that
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
            let told = News {
                ahead: random.below(news) as u32,
                received: place.received,
                number: 0,
            };
            place.slot = random.chance(1, 2).then_some(told);
        }
        if self.works {
            self.scramble_works(&mut random);
        }
    }

    fn scramble_works(&mut self, random: &mut Random) {
        const WORKS: [Work; 3] = [Work::Undecided, Work::Working, Work::Declined];
        let progress = |random: &mut Random| Progress {
            number: random.below(ANY_NUMBER),
            over: random.chance(1, 2),
            ended: 0,
        };
        for place in &mut self.places {
            place.member = Member {
                number: random.below(ANY_NUMBER),
                work: WORKS[random.index(WORKS.len())],
            };
            (place.told, place.heard) = (progress(random), progress(random));
            if let Some(news) = &mut place.slot {
                news.number = random.below(ANY_NUMBER);
            }
        }
    }

    /// Asks a process to do something. Whether it could.
    pub fn act(&mut self, index: usize, action: Action) -> bool {
        let n = self.places.len();
        let (before, next) = ((index + n - 1) % n, (index + 1) % n);
        match action {
            Action::Receive => {
                let Some((token, number)) = self.places[before].under_way.take() else {
                    return false;
                };
                self.places[before].received += 1;
                self.from[token] += 1;
                self.visit(index, token, number);
            }
            Action::Tell => {
                let Place {
                    held,
                    ahead,
                    at,
                    member,
                    ..
                } = &self.places[index];
                let ahead = ahead.tells_in(at.last, !held.is_empty(), self.separation);
                let number = member.number;
                let giver = &mut self.places[before];
                let received = giver.received;
                giver.slot = Some(News {
                    ahead,
                    received,
                    number,
                });
            }
            Action::Hear => {
                let place = &mut self.places[index];
                let Some(news) = place.slot else {
                    return false;
                };
                place.ahead = Ahead::heard(news.ahead, news.received == place.given);
                if !place.at.last {
                    place.member = place.member.adopts(news.number);
                }
            }
            Action::Give => {
                let (separation, place) = (self.separation, &mut self.places[index]);
                let Place {
                    at, heard, ahead, ..
                } = *place;
                if !place.member.lets_go(at, heard, ahead, separation) {
                    return false;
                }
                let Some(token) = place.held.pop_front() else {
                    return false;
                };
                place.under_way = Some((token, place.member.number));
                place.given += 1;
                place.ahead = Ahead::Unknown;
            }
            Action::TellOn => {
                let Place {
                    at, member, heard, ..
                } = self.places[index];
                if at.last {
                    return false;
                }
                self.places[next].told = member.progress(at, heard);
            }
            Action::HearOn => self.places[index].heard = self.places[index].told,
            Action::Work => {
                let place = &mut self.places[index];
                place.member.work = match place.member.work {
                    Work::Undecided if place.held.is_empty() => Work::Declined,
                    Work::Undecided => Work::Working,
                    Work::Working => Work::Ended,
                    Work::Ended | Work::Declined => return false,
                };
            }
        }
        true
    }

    fn visit(&mut self, index: usize, token: usize, number: u64) {
        let at = self.from[token];
        let place = &mut self.places[index];
        place.held.push_back(token);
        let new = place.member.work != Work::Working;
        place.member = place.member.visited(place.at, number);
        if !self.works {
            place.member.work = Work::Declined;
        } else if new {
            let number = place.member.number;
            place.visit = Some(Visit { token, at, number });
        }
    }

    /// The station of a process of the unrolled ring.
    fn station(&self, lifted: usize) -> usize {
        let n = self.places.len();
        lifted / n * self.stations() + self.station_of[lifted % n]
    }

    /// The smallest distance from a token to the next, in stations, a token under way being
    /// at both ends; the number of stations without tokens.
    pub fn closest(&self) -> i64 {
        let (n, m) = (self.places.len(), self.from.len());
        let to = |token: usize| {
            let from = self.from[token];
            let under_way = self.places[from % n].under_way;
            let moves = under_way.is_some_and(|(moving, _)| moving == token);
            self.station(from + usize::from(moves)) as i64
        };
        let distance = |token: usize| match token + 1 {
            next if next < m => self.station(self.from[next]) as i64 - to(token),
            _ => self.station(self.from[0] + n) as i64 - to(token),
        };
        (0..m).map(distance).min().unwrap_or(self.stations() as i64)
    }

    /// k, the number of stations.
    pub fn stations(&self) -> usize {
        self.station_of.last().map_or(0, |last| last + 1)
    }

    /// The first process of a station.
    pub(crate) fn first(&self, station: usize) -> usize {
        self.station_of.partition_point(|&other| other < station)
    }

    /// What a process keeps of the visits of tokens.
    pub fn member(&self, index: usize) -> Member {
        self.places[index].member
    }

    /// Whether a process works.
    pub fn is_working(&self, index: usize) -> bool {
        self.places[index].member.work == Work::Working
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
    /// schedule (theorem 2); 0 without tokens. With one process in every station: of others
    /// there is no bound.
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
