//! A node's memory: everything that a fault may corrupt, as one value.
//!
//! Every value of it is allowed, because the ring recovers from any; a
//! [`Machine`](crate::Machine) repairs what is out of its domain before each step. So
//! tests and demonstrations may change it at will
//! ([`Machine::state_mut`](crate::Machine::state_mut)).
//!
//! Each part names its variables once, in `visit`, as a [`Variable`] with its domain.
//! Saving, restoring, repairing and corrupting all go through that list.

use headway_core::phase_clock::PhaseClock;

pub use crate::block::Block;
pub use crate::link::Link;
pub use crate::permit::{Stage, Token};
pub use crate::release::Program;
use crate::slots::{Bytes, OfBlocks, Pair, PerBlockToken, PerToken, pair, repeated};
pub use crate::verdict::Verdict;
use crate::wire::Released;
use crate::wire::block::Told;
use crate::{Config, Rule};

mod variable;

pub use variable::Variable;

/// What a fault may corrupt.
#[derive(Clone, Debug)]
pub struct State {
    /// The node has a state to tell.
    pub joined: bool,
    /// The phase of its clock.
    pub phase: i32,
    /// What the latest tick changed.
    pub released: Option<Released>,
    /// The variables of `delay`, `relay` or `measure`.
    pub program: Program,
    /// What it thinks of the ring.
    pub verdict: Verdict,
    /// Rounds executed, or visits of the patrol.
    pub rounds: u64,
    /// Tokens passed on.
    pub hops: u64,
    /// Its part of every token ring.
    pub tokens: PerToken<Token>,
    /// What each token carries, or carried when it was last here.
    pub payloads: Payloads,
    /// Its part in a ring of moving blocks.
    pub block: OfBlocks<Block>,
    // A restart forgets what follows.
    /// What each token carried at the predecessor.
    pub arriving_payloads: Payloads,
    /// The predecessor and the successor; a ring of two has one for both.
    pub links: Pair<Link>,
    /// In a ring of moving blocks, what the successor has told.
    pub told: OfBlocks<Told>,
    /// There: it goes on from a saved state, and has not heard yet what its neighbours know of
    /// it. Until then it asks, and tells nothing of its own.
    pub resuming: bool,
    /// There, this node's values that the successor has heard of.
    pub heard_of: PerBlockToken<u32>,
    /// Drawn at random when the node started.
    pub incarnation: u64,
    /// Of the latest datagram.
    pub sequence: u64,
    /// When it started, in microseconds like all moments.
    pub started: u64,
    /// When its clock ticked, or it passed the patrol on.
    pub ticked: u64,
    /// When a token last came or went, in a ring of moving blocks.
    pub moved_at: u64,
}

/// Which phases and values there are, and what tokens wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The clock, and with it the phases.
    pub clock: PhaseClock,
    /// K, the number of values of a token ring.
    pub values: u32,
    /// In a ring of moving blocks, whether a token waits for news of the next one ahead. With
    /// one token there is no other.
    pub news: bool,
}

impl State {
    pub(crate) fn new(config: &Config, incarnation: u64) -> State {
        let link = |node| Link::new(node, config, incarnation);
        let (before, after) = (config.predecessor(), config.successor());
        let links = pair(
            [link(before), link(after)],
            if before == after { 1 } else { 2 },
        );
        let count = config.plan.tokens() as usize;
        let token = Token {
            fence: config.fence_floor,
            ..Token::default()
        };
        State {
            joined: false,
            phase: 0,
            released: None,
            program: Program::new(config),
            verdict: Verdict::default(),
            rounds: 0,
            hops: 0,
            tokens: repeated(token, count),
            payloads: Payloads::new(count, config.payload),
            block: OfBlocks::default(),
            arriving_payloads: Payloads::new(count, config.payload),
            links,
            told: OfBlocks::default(),
            resuming: false,
            heard_of: repeated(
                0,
                match config.plan.rule() {
                    Rule::LockStep => 0,
                    Rule::MovingBlock => count,
                },
            ),
            incarnation,
            sequence: 0,
            started: 0,
            ticked: 0,
            moved_at: 0,
        }
    }

    /// Shows every variable to `see`.
    pub fn visit(&mut self, config: &Config, domain: &Domain, see: &mut impl FnMut(Variable<'_>)) {
        self.visit_kept(config, domain, see);
        for token in self.tokens.iter_mut() {
            token.visit_rest(see);
        }
        see(Variable::Bytes(&mut self.arriving_payloads.bytes));
        for link in self.links.iter_mut() {
            link.visit(domain, see);
        }
        self.visit_told(domain, see);
        self.visit_session(see);
    }

    /// Shows what survives a restart, in the order of the saved state.
    pub(crate) fn visit_kept(
        &mut self,
        config: &Config,
        domain: &Domain,
        see: &mut impl FnMut(Variable<'_>),
    ) {
        self.visit_scalars(config, domain, see);
        for token in self.tokens.iter_mut() {
            token.visit_kept(domain, see);
        }
        see(Variable::Bytes(&mut self.payloads.bytes));
    }

    #[cfg(feature = "alloc")]
    /// As [`State::visit_kept`], for whoever only reads: shows copies.
    pub(crate) fn read_kept(
        &self,
        config: &Config,
        domain: &Domain,
        see: &mut impl FnMut(Variable<'_>),
    ) {
        // Nothing is allocated for what is empty.
        let mut scalars = State {
            tokens: Default::default(),
            payloads: Payloads::default(),
            arriving_payloads: Payloads::default(),
            links: Default::default(),
            heard_of: Default::default(),
            ..*self
        };
        scalars.visit_scalars(config, domain, see);
        for mut token in self.tokens.iter().copied() {
            token.visit_kept(domain, see);
        }
    }

    fn visit_scalars(
        &mut self,
        config: &Config,
        domain: &Domain,
        see: &mut impl FnMut(Variable<'_>),
    ) {
        see(Variable::Flag(&mut self.joined));
        see(Variable::Phase(&mut self.phase));
        see(Variable::Released(&mut self.released));
        self.program.visit(config, see);
        self.verdict.visit(see);
        see(Variable::Total(&mut self.rounds));
        see(Variable::Total(&mut self.hops));
        if config.plan.rule() == Rule::MovingBlock {
            self.block.visit(config, domain, see);
        }
    }

    fn visit_told(&mut self, domain: &Domain, see: &mut impl FnMut(Variable<'_>)) {
        if self.heard_of.is_empty() {
            return;
        }
        self.told.visit(domain, see);
        see(Variable::Flag(&mut self.resuming));
        for value in self.heard_of.iter_mut() {
            see(Variable::Below(value, domain.values));
        }
    }

    fn visit_session(&mut self, see: &mut impl FnMut(Variable<'_>)) {
        see(Variable::Number(&mut self.incarnation));
        see(Variable::Number(&mut self.sequence));
        see(Variable::Moment(&mut self.started));
        see(Variable::Moment(&mut self.ticked));
        see(Variable::Moment(&mut self.moved_at));
    }

    /// Puts every variable back into its domain. A neighbour of which something
    /// impossible is known becomes one of which nothing is known.
    pub(crate) fn repair(&mut self, config: &Config, domain: &Domain, now: u64) {
        let repair = |variable: Variable<'_>| domain.repair(variable, config, now);
        let mut see = |variable: Variable<'_>| {
            repair(variable);
        };
        self.visit_scalars(config, domain, &mut see);
        for token in self.tokens.iter_mut() {
            token.visit_kept(domain, &mut see);
            token.visit_rest(&mut see);
        }
        for link in self.links.iter_mut() {
            let mut impossible = false;
            link.visit(domain, &mut |variable| impossible |= repair(variable));
            if impossible {
                link.forget();
            }
        }
        let mut impossible = false;
        self.visit_told(domain, &mut |variable| impossible |= repair(variable));
        if impossible && let Some(successor) = self.links.last_mut() {
            successor.forget();
        }
        self.visit_session(&mut see);
    }
}

impl Domain {
    /// The phases of the clock, with those of its tail.
    pub const fn phases(&self) -> core::ops::Range<i32> {
        -self.clock.tail..self.clock.modulus
    }

    /// Puts a variable back into its domain. Whether it was an impossible phase, value
    /// or release, which nobody can have told.
    fn repair(&self, variable: Variable<'_>, config: &Config, now: u64) -> bool {
        let impossible = match &variable {
            Variable::Phase(phase) => !self.phases().contains(*phase),
            Variable::Below(number, limit) => **number >= *limit,
            Variable::Released(Some(released)) => {
                !released.in_domain(config.plan.tokens(), self.values)
            }
            _ => false,
        };
        match variable {
            Variable::Phase(phase) if impossible => *phase = -self.clock.tail,
            Variable::Below(number, _) if impossible => *number = 0,
            Variable::Released(released) if impossible => *released = None,
            Variable::Counter(number, limit) => *number = (*number).clamp(0, limit),
            Variable::Limited(number, limit) => *number = (*number).min(limit),
            Variable::Fence(fence) => *fence = (*fence).max(config.fence_floor),
            Variable::Moment(moment) => *moment = (*moment).min(now),
            _ => {}
        }
        impossible
    }
}

/// A bounded number of bytes for every token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "alloc", derive(Default))]
pub struct Payloads {
    limit: u8,
    /// For every token its length and then `limit` bytes.
    pub(crate) bytes: Bytes,
}

impl Payloads {
    fn new(tokens: usize, limit: u8) -> Payloads {
        let each = if limit == 0 {
            0
        } else {
            1 + usize::from(limit)
        };
        Payloads {
            limit,
            bytes: repeated(0, tokens * each),
        }
    }

    /// A payload; a corrupted length counts for no more than there can be.
    pub fn get(&self, token: usize) -> &[u8] {
        if self.limit == 0 {
            return &[];
        }
        let place = &self.bytes[self.place(token)];
        &place[1..=usize::from(place[0].min(self.limit))]
    }

    /// Replaces a payload; one that is too long is cut.
    pub fn set(&mut self, token: usize, payload: &[u8]) {
        if self.limit == 0 {
            return;
        }
        let place = self.place(token);
        let place = &mut self.bytes[place];
        let length = payload.len().min(place.len() - 1);
        place[0] = length as u8;
        place[1..=length].copy_from_slice(&payload[..length]);
    }

    fn place(&self, token: usize) -> core::ops::Range<usize> {
        let size = 1 + usize::from(self.limit);
        token * size..(token + 1) * size
    }
}
