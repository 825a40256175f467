//! States of the moving block by messages, and what happens in them.

use headway_core::moving_block::Ahead;

use super::{Block, MAX_PROCESSES};

/// What lies between a process and its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// A token is under way.
    Token,
    /// The last token is received; all news is from before.
    Received,
    /// News of that is under way.
    Told,
    /// The giver knows.
    Known,
}

pub(super) const LINKS: [Link; 4] = [Link::Token, Link::Received, Link::Told, Link::Known];

/// A process and its link to the successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) held: u8,
    pub(super) link: Link,
    /// The news heard last.
    pub(super) heard: u8,
    /// The news in the slot.
    pub(super) slot: u8,
}

impl Place {
    /// Two bits each.
    pub(super) fn pack(self) -> u8 {
        self.held | (self.link as u8) << 2 | self.heard << 4 | self.slot << 6
    }

    fn unpack(byte: u8) -> Place {
        Place {
            held: byte & 3,
            link: LINKS[usize::from(byte >> 2 & 3)],
            heard: byte >> 4 & 3,
            slot: byte >> 6,
        }
    }
}

/// A global state: every process packed.
pub(super) type State = [u8; MAX_PROCESSES];

/// What happens between a process and its successor.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Receive,
    Tell,
    Hear,
    Give,
}

pub(super) const KINDS: [Kind; 4] = [Kind::Receive, Kind::Tell, Kind::Hear, Kind::Give];

impl Block {
    fn place(state: &State, index: usize) -> Place {
        Place::unpack(state[index])
    }

    fn next(&self, index: usize) -> usize {
        (index + 1) % self.processes
    }

    /// What a process knows of the way ahead.
    fn ahead(&self, place: Place) -> Ahead {
        let all_received = match self.believe_old_news {
            true => place.link != Link::Token,
            false => place.link == Link::Known,
        };
        Ahead::heard(place.heard.into(), all_received)
    }

    fn tells(&self, place: Place) -> u8 {
        let ahead = match self.tell_old_news {
            true => Ahead::Free(place.heard.into()),
            false => self.ahead(place),
        };
        ahead.tells(place.held > 0, self.separation) as u8
    }

    /// The state after one action of a process, unless it cannot act or nothing changes.
    pub(super) fn act(&self, state: &State, kind: Kind, index: usize) -> Option<State> {
        let mut place = Block::place(state, index);
        let next = self.next(index);
        let mut after = *state;
        match kind {
            Kind::Receive if place.link == Link::Token => {
                place.link = Link::Received;
                let mut receiver = Block::place(state, next);
                receiver.held += 1;
                after[next] = receiver.pack();
            }
            Kind::Tell => {
                place.slot = self.tells(Block::place(state, next));
                if place.link == Link::Received {
                    place.link = Link::Told;
                }
                if !self.late_news {
                    Block::hear(&mut place);
                    place.slot = 0;
                }
            }
            Kind::Hear if self.late_news => Block::hear(&mut place),
            Kind::Give if place.held > 0 && self.ahead(place).lets_go(self.separation) => {
                place.held -= 1;
                place.link = Link::Token;
            }
            _ => return None,
        }
        after[index] = place.pack();
        (after != *state).then_some(after)
    }

    fn hear(place: &mut Place) {
        place.heard = place.slot;
        if place.link == Link::Told {
            place.link = Link::Known;
        }
    }

    /// Every token with the process that has it, or had it last, and the one that has it
    /// or gets it, in the order of the ring. The second can be n.
    fn tokens(&self, state: &State) -> Vec<(usize, usize)> {
        let mut tokens = Vec::new();
        for index in 0..self.processes {
            let place = Block::place(state, index);
            tokens.extend((0..place.held).map(|_| (index, index)));
            if place.link == Link::Token {
                tokens.push((index, index + 1));
            }
        }
        tokens
    }

    /// Whether every token is at least d behind the next one, wherever both may be.
    pub(super) fn apart(&self, state: &State) -> bool {
        let tokens = self.tokens(state);
        (0..tokens.len()).all(|index| {
            let next = match tokens.get(index + 1) {
                Some(next) => next.0,
                None => tokens[0].0 + self.processes,
            };
            next >= tokens[index].1 + self.separation as usize
        })
    }

    /// Whether what is believed, or will be when it is heard, is true.
    pub(super) fn truthful(&self, state: &State) -> bool {
        let (n, tokens) = (self.processes, self.tokens(state));
        (0..n).all(|index| {
            let next = self.next(index);
            let free = tokens.iter().map(|token| (token.0 + n - next) % n).min();
            let holds = |news: u8| free.is_none_or(|free| usize::from(news) <= free);
            let place = Block::place(state, index);
            match place.link {
                Link::Token | Link::Received => true,
                Link::Told => holds(place.slot),
                Link::Known => holds(place.heard) && (!self.late_news || holds(place.slot)),
            }
        })
    }

    pub(super) fn in_words(&self, state: &State) -> String {
        let places = (0..self.processes).map(|index| {
            let place = Block::place(state, index);
            let link = match (self.ahead(place), place.link) {
                (_, Link::Token) => "hands over".to_string(),
                (Ahead::Unknown, _) => "knows nothing".to_string(),
                (Ahead::Free(hops), _) => format!("free for {hops}"),
            };
            let late = (self.late_news).then(|| format!(" [{}]", place.slot));
            let tokens = "●".repeat(place.held.into());
            format!("{tokens:·<1} {link}{}", late.unwrap_or_default())
        });
        places.collect::<Vec<_>>().join(" | ")
    }
}
