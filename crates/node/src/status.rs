//! What can be asked of a node, without changing it.

use core::time::Duration;

use headway_core::token_ring::released;

use crate::link::Link;
use crate::permit::Token;
use crate::state::{Domain, State};
use crate::wire::Rejected;
use crate::{Config, Machine, Rule};

/// A token that is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which one.
    pub token: u32,
    /// Its fencing number.
    pub fence: u64,
    /// Whether the application may work, or has been asked to stop and has not said
    /// that it did.
    pub permit: bool,
}

/// A node beside this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its index.
    pub node: u32,
    /// When it was last listened to, if ever, by the clock that the machine is told.
    pub heard: Option<Duration>,
    /// It has not been heard for too long.
    pub silent: bool,
}

impl Machine {
    /// Whether everything that this node saw for a whole turn was legitimate.
    pub fn settled(&self) -> bool {
        match self.config.plan.rule() {
            Rule::LockStep => self.state.verdict.settled(&self.config),
            Rule::MovingBlock => self.state.tokens.iter().all(Token::clean_by_block),
        }
    }

    /// The tokens that are here.
    pub fn held(&self) -> impl Iterator<Item = Held> {
        let tokens = (0..).zip(self.state.tokens.iter());
        tokens
            .filter(|(_, token)| token.rounds > 0)
            .map(|(index, token)| Held {
                token: index,
                fence: token.fence,
                permit: token.in_use(),
            })
    }

    /// What a token carried when it was last here, or carries if it is here.
    pub fn payload(&self, token: u32) -> &[u8] {
        if token < self.config.plan.tokens() {
            self.state.payloads.get(token as usize)
        } else {
            &[]
        }
    }

    /// Rounds that this node has executed; in a ring of moving blocks, visits of the
    /// patrol.
    pub const fn rounds(&self) -> u64 {
        self.state.rounds
    }

    /// Tokens that this node has passed on.
    pub const fn hops(&self) -> u64 {
        self.state.hops
    }

    /// Datagrams that it has written since it started.
    pub const fn datagrams(&self) -> u64 {
        self.state.sequence
    }

    /// How often its clock was reset.
    pub const fn resets(&self) -> u64 {
        self.resets
    }

    /// Whether a neighbour has heard something of this node that it does not remember: its machine
    /// was put back, with its memory, to what it was before.
    pub const fn was_put_back(&self) -> bool {
        self.put_back
    }

    /// Whether a token has gone on since a neighbour was granted it under this number, as far as
    /// this node knows: the successor has had it later, and the predecessor has heard that it was
    /// passed on. Only the numbers of a settled ring say so.
    pub fn knows_later(&self, token: u32, fence: u64) -> bool {
        let index = token as usize;
        let Some(token) = self.state.tokens.get(index).filter(|_| self.settled()) else {
            return false;
        };
        // What it last told may be from a few turns ago.
        let passed_on = |link: &Link| {
            let (own, first) = (token.value, link.node == 0);
            link.known && link.values[index] == released(own, own, first, self.domain.values)
        };
        let gave_it = token.fence.checked_add(1) == Some(fence);
        token.fence.max(token.arriving_fence) > fence
            || gave_it && self.state.links.last().is_some_and(passed_on)
    }

    /// Its clock's phase; below 0 while it recovers.
    pub const fn phase(&self) -> i32 {
        self.state.phase
    }

    /// Whether it has a state, of its own or taken from its neighbours.
    pub const fn joined(&self) -> bool {
        self.state.joined && !self.state.resuming
    }

    /// The neighbours that have not been heard for too long.
    pub fn silent(&self) -> impl Iterator<Item = u32> {
        let links = self.state.links.iter();
        links.filter(|link| link.silent).map(|link| link.node)
    }

    /// The neighbours: the predecessor first, and only once if both are the same.
    pub fn neighbours(&self) -> impl Iterator<Item = Neighbour> {
        self.state.links.iter().map(|link| Neighbour {
            node: link.node,
            heard: (link.known || link.joining).then(|| Duration::from_micros(link.heard)),
            silent: link.silent,
        })
    }

    /// How many datagrams it has rejected, for each reason.
    pub fn rejected(&self) -> impl Iterator<Item = (Rejected, u64)> {
        Rejected::ALL.into_iter().zip(self.rejected)
    }

    /// The separation in logical time that this node keeps: the plan's, or what a
    /// measuring node has found.
    pub fn separation(&self) -> u32 {
        self.state.program.separation(&self.config)
    }

    /// When it was last called.
    pub const fn now(&self) -> Duration {
        Duration::from_micros(self.now)
    }

    /// Its configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The phases and values that it uses.
    pub const fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Its memory.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Its memory, to corrupt: for tests and demonstrations.
    pub const fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }
}
