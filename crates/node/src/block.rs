//! When a node of a ring of moving blocks releases a token, and the patrol: the rules of
//! [`headway_core::moving_block`] (docs/research/moving-block.md), on what the neighbours have told.
//!
//! A node's values, what it has heard of its predecessor's, its news and the patrol travel
//! in one datagram, and a neighbour hears all of it at once. A hand-over is repeated with
//! the node's values until the successor's datagrams show that it has heard of them.

use headway_core::moving_block::{Ahead, Found, Lap, Watch};
use headway_core::token_ring::{holds, released};

use crate::permit::Token;
use crate::state::{Domain, Variable};
use crate::wire::block::{LAPS, Told};
use crate::{Config, Machine, Micros, Rule};

/// How often in a row a token has to come round as it should before a node calls the ring
/// settled. Once would do if what is believed of others were always true; it is after a
/// turn.
const CLEAN_TURNS: u32 = 2;

/// A node passes the patrol on once in so many ticks at most: it is there for what hardly
/// ever happens.
const PATROL_TICKS: Micros = 4;

/// And so many times in a refresh, where there is one token, which nobody can be in the way of.
const PATROLS_IN_REFRESH: Micros = 4;

/// A node's part in a ring of moving blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its value on the patrol's ring.
    pub patrol: u32,
    /// What the patrol carried when it was last here, as a number on the wire.
    pub lap: u32,
    /// What it remembers since: 0 = still, 1 = has released, 2 + k = its gate is open for
    /// token k.
    pub watch: u32,
    /// What it told its predecessor last.
    pub news: u32,
    /// What the patrol has gathered up to here.
    pub gathered: Summary,
    /// What it gathered on the whole lap before.
    pub whole: Summary,
    /// This node's share of the summaries.
    pub mark: u32,
}

/// What the patrol gathers on a lap round the ring: a summary of the fleet that every node
/// has, a lap old, and that heals like everything else. Applications give it a meaning by
/// [`Machine::set_mark`]: the step of a rollout that a node has done, say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Nodes that it has visited.
    pub nodes: u32,
    /// Permits that were being used.
    pub permits: u32,
    /// Nodes that were not settled.
    pub unsettled: u32,
    /// The smallest mark of a node.
    pub least_mark: u32,
    /// The largest.
    pub most_mark: u32,
}

impl Summary {
    /// Of two parts of a lap.
    #[must_use]
    pub fn with(self, other: Summary) -> Summary {
        if self.nodes == 0 || other.nodes == 0 {
            return if self.nodes == 0 { other } else { self };
        }
        Summary {
            nodes: self.nodes.saturating_add(other.nodes),
            permits: self.permits.saturating_add(other.permits),
            unsettled: self.unsettled.saturating_add(other.unsettled),
            least_mark: self.least_mark.min(other.least_mark),
            most_mark: self.most_mark.max(other.most_mark),
        }
    }

    pub(crate) const fn numbers(self) -> [u32; 5] {
        [
            self.nodes,
            self.permits,
            self.unsettled,
            self.least_mark,
            self.most_mark,
        ]
    }

    pub(crate) const fn from_numbers(numbers: [u32; 5]) -> Summary {
        let [nodes, permits, unsettled, least_mark, most_mark] = numbers;
        Summary {
            nodes,
            permits,
            unsettled,
            least_mark,
            most_mark,
        }
    }

    pub(crate) fn visit(&mut self, see: &mut impl FnMut(Variable<'_>)) {
        let mut numbers = self.numbers();
        for number in &mut numbers {
            see(Variable::Rounds(number));
        }
        *self = Summary::from_numbers(numbers);
    }
}

impl Block {
    /// The node has forgotten what it believed and tells 0 until it knows better. The
    /// patrol that it passed on takes exact distances along: this lap does not count.
    pub(crate) const fn restarted(&mut self) {
        self.lap = Lap::Disturbed as u32;
        self.watch = 1;
    }

    pub(crate) fn visit(
        &mut self,
        config: &Config,
        domain: &Domain,
        see: &mut impl FnMut(Variable<'_>),
    ) {
        see(Variable::Below(&mut self.patrol, domain.values));
        see(Variable::Below(&mut self.lap, LAPS));
        see(Variable::Below(&mut self.watch, config.plan.tokens() + 2));
        see(Variable::Limited(&mut self.news, config.plan.separation()));
        self.gathered.visit(see);
        self.whole.visit(see);
        see(Variable::Rounds(&mut self.mark));
    }
}

const fn lap(number: u32) -> Lap {
    match number {
        0 => Lap::Calm,
        1 => Lap::CalmAgain,
        2 => Lap::Disturbed,
        _ => Lap::Open,
    }
}

const fn watch(number: u32) -> Watch {
    match number {
        0 => Watch::Still,
        1 => Watch::Moved,
        open => Watch::Open(open - 2),
    }
}

impl Token {
    /// The token is here, in a ring of moving blocks. There it is as it should be if it has
    /// made one hop a node since it was last here: a second token on the same ring would
    /// have raised its number, or have found it raised.
    pub(crate) fn arrive_by_block(&mut self, nodes: u32) {
        let (before, turns) = (self.fence, self.arrived);
        self.arrive();
        let clean = self.fence == before.wrapping_add(nodes.into());
        self.arrived = if clean { turns.saturating_add(1) } else { 0 };
    }

    /// Whether it has come round as it should, often enough.
    pub(crate) const fn clean_by_block(&self) -> bool {
        self.arrived >= CLEAN_TURNS
    }
}

impl Machine {
    /// What the patrol has gathered on the last whole lap that this node has heard of;
    /// nothing in lock-step.
    #[cfg(feature = "alloc")]
    pub fn summary(&self) -> Summary {
        self.state.block.whole
    }

    /// This node's share of the summaries.
    #[cfg(feature = "alloc")]
    pub fn set_mark(&mut self, mark: u32) {
        self.state.block.mark = mark;
    }

    /// What there is to tell, in a ring of moving blocks.
    pub(crate) fn told(&self) -> Option<Told> {
        let block = &self.state.block;
        (self.config.plan.rule() == Rule::MovingBlock).then(|| Told {
            news: self.news(),
            patrol: block.patrol,
            lap: block.lap,
            gathered: block.gathered,
            whole: block.whole,
        })
    }

    /// What is known of the tokens ahead.
    fn ahead(&self) -> Ahead {
        let own = self.state.tokens.iter().map(|token| token.value);
        match self.state.links.last() {
            Some(link) if link.known => {
                let heard = self.state.heard_of.iter().copied();
                Ahead::heard(self.state.told.news, own.eq(heard))
            }
            _ => Ahead::Unknown,
        }
    }

    /// How far ahead the next token is, to be told to the predecessor. A node that has not
    /// heard from it does not know what it holds.
    fn news(&self) -> u32 {
        let ahead = match self.state.links.first() {
            Some(link) if link.known => self.ahead(),
            _ => Ahead::Unknown,
        };
        let mut tokens = self.state.tokens.iter();
        ahead.tells(
            tokens.any(|token| token.rounds > 0),
            self.config.plan.separation(),
        )
    }

    /// What a step of the ring's rule is, in a ring of moving blocks. Whether it was made.
    pub(crate) fn step_by_block(&mut self) -> bool {
        let known = self.state.links.iter().all(|link| link.known);
        let made = known && (self.release_by_block() || self.pass_patrol());
        let news = self.news();
        if core::mem::replace(&mut self.state.block.news, news) != news {
            self.state.links[0].due |= self.domain.news;
        }
        made
    }

    /// The token that may go: the one that the gate is open for, or the next in turn if the
    /// way is free.
    fn may_go(&self, ahead: Ahead) -> Option<usize> {
        let free =
            |token: &Token| token.rounds > 0 && token.blocked(self.now, &self.times).is_none();
        let tokens = &self.state.tokens;
        match watch(self.state.block.watch) {
            Watch::Open(token) if ahead != Ahead::Unknown && free(&tokens[token as usize]) => {
                Some(token as usize)
            }
            _ if self.lets_go(ahead) => self.next_token(free),
            _ => None,
        }
    }

    /// Whether a token may go by what is known of those ahead.
    fn lets_go(&self, ahead: Ahead) -> bool {
        !self.domain.news || ahead.lets_go(self.config.plan.separation())
    }

    /// Releases a token, if one may go.
    fn release_by_block(&mut self) -> bool {
        let Some(index) = self.may_go(self.ahead()) else {
            return false;
        };
        if !self.pause_over(self.state.moved_at, self.times.tick) {
            return false;
        }
        self.pass_on(index);
        let state = &mut self.state;
        state.block.watch = 1;
        state.moved_at = self.now;
        let successor = state.links.len() - 1;
        state.links[successor].due = true;
        true
    }

    /// Passes the patrol on, if it is here and no token has to go first.
    fn pass_patrol(&mut self) -> bool {
        let (block, first) = (*self.state.block, self.config.index == 0);
        let watched = watch(block.watch);
        let here = |token: &Token| token.rounds > 0;
        let goes_first =
            matches!(watched, Watch::Open(token) if here(&self.state.tokens[token as usize]));
        let told = *self.state.told;
        if goes_first || !holds(block.patrol, told.patrol, first) {
            return false;
        }
        let least = match self.domain.news {
            true => 0,
            false => self.times.refresh / PATROLS_IN_REFRESH,
        };
        let pause = self.times.tick.saturating_mul(PATROL_TICKS).max(least);
        if !self.pause_over(self.state.ticked, pause) {
            return false;
        }
        let mut tokens = self.state.tokens.iter();
        let works = tokens.any(|token| token.blocked(self.now, &self.times).is_some());
        let ahead = self.ahead();
        let found = match self.next_token(here) {
            _ if works || ahead == Ahead::Unknown => Found::Busy,
            Some(_) if self.lets_go(ahead) => Found::Busy,
            Some(token) => Found::Stuck(token as u32),
            None => Found::Empty,
        };
        let (passed, watched) = watched.visited(lap(told.lap), first, found);
        if passed == Lap::Open {
            self.trouble();
        }
        let own = self.own_summary();
        let block = &mut self.state.block;
        (block.gathered, block.whole) = match first {
            true => (own, told.gathered),
            false => (told.gathered.with(own), told.whole),
        };
        block.patrol = released(block.patrol, told.patrol, first, self.domain.values);
        block.lap = passed as u32;
        block.watch = match watched {
            Watch::Still => 0,
            Watch::Moved => 1,
            Watch::Open(token) => 2 + token,
        };
        self.state.ticked = self.now;
        self.state.rounds = self.state.rounds.wrapping_add(1);
        self.state.links[0].due = true;
        true
    }

    fn own_summary(&self) -> Summary {
        let tokens = self.state.tokens.iter();
        Summary {
            nodes: 1,
            permits: tokens.filter(|token| token.in_use()).count() as u32,
            unsettled: u32::from(!self.settled()),
            least_mark: self.state.block.mark,
            most_mark: self.state.block.mark,
        }
    }

    /// Whether a pause since then is over; if not, when to look again is noted.
    pub(crate) fn pause_over(&mut self, since: Micros, pause: Micros) -> bool {
        let until = since.saturating_add(pause);
        if self.now < until {
            self.pausing = Some(self.pausing.map_or(until, |earlier| earlier.min(until)));
        }
        self.now >= until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laps_and_watches_have_numbers() {
        for number in 0..LAPS {
            assert_eq!(lap(number) as u32, number);
        }
        assert_eq!(watch(5), Watch::Open(3));
    }

    #[test]
    fn summaries_of_parts() {
        let part = |nodes, mark| Summary {
            nodes,
            permits: 1,
            unsettled: 0,
            least_mark: mark,
            most_mark: mark,
        };
        let whole = part(2, 7).with(part(3, 4));
        assert_eq!((whole.nodes, whole.permits), (5, 2));
        assert_eq!((whole.least_mark, whole.most_mark), (4, 7));
        assert_eq!(Summary::default().with(whole), whole);
        assert_eq!(Summary::from_numbers(whole.numbers()), whole);
    }
}
