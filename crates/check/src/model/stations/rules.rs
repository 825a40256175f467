//! States of a ring of stations, and what happens in them.

use headway_core::moving_block::Ahead;
use headway_core::stations::{Member, Place, Progress, Work};

use super::{Ingredient, MAX_PROCESSES, Ring};
use crate::listed::Alike as _;

/// What lies between a process and its successor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Link {
    /// A token is under way.
    Token,
    /// The same, and the giver has forgotten it: all news counts.
    Forgotten,
    /// The last token is received, and the giver has heard nothing since.
    #[default]
    Received,
    /// It has.
    Known,
}

/// A process, its link to the successor, and what it has heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat {
    pub(super) held: u8,
    pub(super) link: Link,
    /// How far ahead the next token is, by the successor.
    pub(super) ahead: u8,
    /// That of its last visit, counted from the smallest of all numbers.
    pub(super) number: u8,
    /// That of the token under way.
    pub(super) carried: u8,
    pub(super) work: Work,
    /// A token has entered the station since the work began.
    pub(super) stale: bool,
    /// The entry whose work is over up to the predecessor, by the predecessor.
    pub(super) over: Option<u8>,
    /// An entry, and how many of its works have ended up to the predecessor.
    pub(super) ended: (u8, u8),
    /// The works that began under the token that is here or under way from here.
    pub(super) begun: u8,
}

/// A global state; what is behind the last process is empty.
pub type State = [Seat; MAX_PROCESSES];

/// What happens at a process, or between it and its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The successor receives the token.
    Receive,
    /// The successor tells how far ahead the next token is.
    TellBack,
    /// The process tells the successor what has ended.
    TellOn,
    /// It begins to work.
    Begin,
    Decline,
    End,
    Give,
    /// It forgets the hand-over that is not acknowledged.
    Restart,
}

pub(super) const ACTIONS: [&str; 7] = [
    "receive", "tell", "tell on", "decide", "end", "give", "restart",
];

/// Kinds and the places of their actions. Whether to begin or to decline is decided in one.
pub(super) const KINDS: [(Kind, usize); 8] = [
    (Kind::Receive, 0),
    (Kind::TellBack, 1),
    (Kind::TellOn, 2),
    (Kind::Begin, 3),
    (Kind::Decline, 3),
    (Kind::End, 4),
    (Kind::Give, 5),
    (Kind::Restart, 6),
];

impl Ring {
    fn next(&self, index: usize) -> usize {
        (index + 1) % self.processes()
    }

    fn before(&self, index: usize) -> usize {
        (index + self.processes() - 1) % self.processes()
    }

    fn without(&self, ingredient: Ingredient) -> bool {
        self.leave_out == Some(ingredient)
    }

    pub(super) fn place(&self, index: usize) -> Place {
        let station = |index: usize| self.station_of[index];
        Place {
            first: station(self.before(index)) != station(index),
            last: station(self.next(index)) != station(index),
        }
    }

    fn member(&self, state: &State, index: usize) -> Member {
        let Seat { number, work, .. } = state[index];
        let ignored = self.without(Ingredient::OwnEnd) && work == Work::Working;
        Member {
            number: number.into(),
            work: if ignored { Work::Ended } else { work },
        }
    }

    /// What a process has heard of the work before it: of what is over, and of what has
    /// ended.
    fn heard(&self, state: &State, index: usize) -> [Progress; 2] {
        let seat = state[index];
        let over = match self.leave_out {
            Some(Ingredient::Prefix) => Some(seat.number),
            Some(Ingredient::Number) => seat.over.map(|_| seat.number),
            Some(Ingredient::Later) => seat.over.filter(|number| *number == seat.number),
            _ => seat.over,
        };
        let over = over.map(|number| Progress {
            number: number.into(),
            over: true,
            ended: 0,
        });
        let ended = Progress {
            number: seat.ended.0.into(),
            over: false,
            ended: seat.ended.1.into(),
        };
        [over.unwrap_or_default(), ended]
    }

    fn ahead(&self, seat: Seat) -> Ahead {
        let known = match seat.link {
            Link::Token => false,
            Link::Received => self.without(Ingredient::LastHandOver),
            Link::Forgotten | Link::Known => true,
        };
        Ahead::heard(seat.ahead.into(), known)
    }

    fn lets_go(&self, state: &State, index: usize) -> bool {
        let (member, place) = (self.member(state, index), self.place(index));
        let ahead = match self.ahead(state[index]) {
            Ahead::Unknown if !place.last && self.without(Ingredient::Acknowledgement) => {
                Ahead::Free(0)
            }
            ahead => ahead,
        };
        let decided = member.work != Work::Undecided;
        if place.last && decided && self.without(Ingredient::Closing) {
            return ahead.lets_go(self.separation);
        }
        let mut heard = self.heard(state, index).into_iter();
        heard.any(|heard| member.lets_go(place, heard, ahead, self.separation))
    }

    /// The state after one action of a process, unless it cannot act or nothing changes.
    pub(super) fn act(&self, state: &State, kind: Kind, index: usize) -> Option<State> {
        let next = self.next(index);
        let (seat, place) = (state[index], self.place(index));
        let mut after = *state;
        match kind {
            Kind::Receive if matches!(seat.link, Link::Token | Link::Forgotten) => {
                after[index].link = Link::Received;
                self.visit(&mut after, next, seat);
            }
            Kind::TellBack => self.tell_back(&mut after, index),
            Kind::TellOn if !place.last => self.tell_on(&mut after, index),
            Kind::Begin if seat.held > 0 => {
                let limit = match self.limit {
                    Some(limit) if !self.without(Ingredient::Limit) => limit,
                    _ => u32::MAX,
                };
                let member = self.member(state, index);
                let heard = self.heard(state, index);
                let may = |&heard| member.may_begin(place, heard, seat.begun.into(), limit);
                if !heard.iter().any(may) {
                    return None;
                }
                after[index].work = Work::Working;
                after[index].stale = false;
                after[index].begun += u8::from(self.limit.is_some());
            }
            Kind::Decline if seat.work == Work::Undecided => after[index].work = Work::Declined,
            Kind::End if seat.work == Work::Working => {
                after[index].stale = false;
                // Who has ended is counted only for a limit.
                after[index].work = match self.limit {
                    Some(_) => Work::Ended,
                    None => Work::Declined,
                };
            }
            Kind::Give if seat.held > 0 && self.lets_go(state, index) => {
                after[index].held -= 1;
                after[index].link = Link::Token;
                after[index].carried = seat.number;
                if !self.without(Ingredient::LastHandOver) {
                    after[index].ahead = 0;
                }
            }
            Kind::Restart if self.without(Ingredient::HandOver) && seat.link == Link::Token => {
                after[index].link = Link::Forgotten;
            }
            _ => return None,
        }
        self.count_from_least(&mut after);
        (after != *state).then_some(after)
    }

    /// A process receives what was under way from `giver`.
    fn visit(&self, state: &mut State, index: usize, giver: Seat) {
        let place = self.place(index);
        let mut member = self.member(state, index);
        member.work = state[index].work;
        let mut visited = member.visited(place, giver.carried.into());
        if self.without(Ingredient::Entry) {
            visited.number = u64::from(giver.carried) + u64::from(place.first);
        }
        let seat = &mut state[index];
        seat.held += 1;
        seat.number = visited.number as u8;
        seat.work = visited.work;
        seat.begun = if place.first { 0 } else { giver.begun };
        if place.first {
            let station = self.station_of[index];
            for (seat, _) in (state.iter_mut().zip(&self.station_of)).filter(|at| *at.1 == station)
            {
                seat.stale = seat.work == Work::Working;
            }
        }
    }

    /// The successor tells how far ahead the next token is, and its number.
    fn tell_back(&self, state: &mut State, index: usize) {
        let next = self.next(index);
        let teller = state[next];
        let holds = teller.held > 0 && !self.without(Ingredient::Holder);
        let last = self.place(next).last || self.without(Ingredient::Boundary);
        let news = self.ahead(teller).tells_in(last, holds, self.separation) as u8;
        let number = self
            .member(state, index)
            .adopts(teller.number.into())
            .number as u8;
        let same_station = !self.place(index).last;
        let seat = &mut state[index];
        if same_station && !self.without(Ingredient::Adoption) {
            seat.number = number;
        }
        // From clean starts anything ever told may be heard again.
        let again =
            self.clean && (seat.link != Link::Received || self.without(Ingredient::LastHandOver));
        match seat.link {
            Link::Token => return,
            Link::Received => seat.link = Link::Known,
            Link::Forgotten | Link::Known => {}
        }
        seat.ahead = if again { news.max(seat.ahead) } else { news };
    }

    /// A process tells the next one of its station what has ended.
    fn tell_on(&self, state: &mut State, index: usize) {
        let (member, place) = (self.member(state, index), self.place(index));
        let told = self
            .heard(state, index)
            .map(|heard| member.progress(place, heard));
        let over = (told.iter().any(|told| told.over)).then_some(state[index].number);
        let ended = told[1].ended as u8;
        let number = state[index].number;
        let hearer = &mut state[self.next(index)];
        hearer.over = if self.clean {
            over.max(hearer.over)
        } else {
            over
        };
        if self.limit.is_some() {
            hearer.ended = hearer.ended.max((number, ended));
        }
    }

    /// Only differences of numbers matter, and news of entries before the last visit does
    /// not.
    pub(super) fn count_from_least(&self, state: &mut State) {
        let seats = &mut state[..self.processes()];
        let under_way = |seat: &&Seat| matches!(seat.link, Link::Token | Link::Forgotten);
        let carried = seats.iter().filter(under_way).map(|seat| seat.carried);
        let all = seats.iter().map(|seat| seat.number).chain(carried);
        let least = all.min().unwrap_or(0);
        for seat in seats {
            let any_number = self.without(Ingredient::Number);
            seat.over = match seat.over {
                Some(_) if any_number => Some(seat.number),
                Some(number) if number >= seat.number => Some(number),
                _ => None,
            };
            seat.over = seat.over.map(|number| number - least);
            seat.ended = match seat.ended {
                (number, ended) if number >= seat.number && ended > 0 => (number - least, ended),
                _ => (0, 0),
            };
            seat.carried = match seat.link {
                Link::Token | Link::Forgotten => seat.carried - least,
                _ => 0,
            };
            seat.number -= least;
        }
    }

    /// Every token with the process that has it, or had it last, and the one that has it
    /// or gets it, as stations of the unrolled ring, in its order.
    fn tokens(&self, state: &State) -> Vec<(usize, usize)> {
        let mut tokens = Vec::new();
        for (index, seat) in state[..self.processes()].iter().enumerate() {
            let station = self.station_of[index];
            tokens.extend((0..seat.held).map(|_| (station, station)));
            if matches!(seat.link, Link::Token | Link::Forgotten) {
                tokens.push((station, station + usize::from(self.place(index).last)));
            }
        }
        tokens
    }

    /// Whether all tokens are there and at least d stations behind the next one, wherever
    /// both may be.
    pub(super) fn tokens_apart(&self, state: &State) -> bool {
        let tokens = self.tokens(state);
        tokens.len() == self.tokens
            && (0..tokens.len()).all(|index| {
                let next = match tokens.get(index + 1) {
                    Some(next) => next.0,
                    None => tokens[0].0 + self.stations,
                };
                next >= tokens[index].1 + self.separation as usize
            })
    }

    /// Whether any two works are of one visit in one station, or in stations at least d
    /// apart. If tokens are apart, works that no token has entered after are of one visit.
    pub(super) fn works_apart(&self, state: &State) -> bool {
        let working = |index: &usize| state[*index].work == Work::Working;
        let works: Vec<usize> = (0..self.processes()).filter(working).collect();
        works.iter().all(|&one| {
            works.iter().all(|&other| {
                let apart = self.station_of[one].abs_diff(self.station_of[other]);
                match apart.min(self.stations - apart) {
                    0 => state[one].stale == state[other].stale,
                    apart => apart >= self.separation as usize,
                }
            })
        })
    }

    /// Whether no station has more works than the limit.
    pub(super) fn limited(&self, state: &State) -> bool {
        let mut works = [0; MAX_PROCESSES];
        for (seat, &station) in state.iter().zip(&self.station_of) {
            works[station] += u32::from(seat.work == Work::Working);
        }
        self.limit
            .is_none_or(|limit| works.iter().all(|works| *works <= limit))
    }

    pub(super) fn in_words(&self, state: &State) -> String {
        let mut shown = String::new();
        for (index, seat) in state[..self.processes()].iter().enumerate() {
            let place = self.place(index);
            shown.push_str(match (index, place.first) {
                (0, _) => "",
                (_, true) => " ‖ ",
                (_, false) => " | ",
            });
            let tokens = "●".repeat(seat.held.into());
            let link = match (self.ahead(*seat), seat.link) {
                (_, Link::Token) => "hands over".to_string(),
                (_, Link::Forgotten) => "has forgotten a hand-over".to_string(),
                (Ahead::Unknown, _) => "knows nothing".to_string(),
                (Ahead::Free(stations), _) => format!("free for {stations}"),
            };
            let work = match seat.work {
                Work::Undecided => "undecided",
                Work::Working => "works",
                Work::Ended | Work::Declined => "idle",
            };
            let over = seat.over.map(|number| format!(", {number} is over before"));
            let over = over.unwrap_or_default();
            shown.push_str(&format!(
                "{tokens:·<1} {} {work}, {link}{over}",
                seat.number
            ));
        }
        shown
    }
}
