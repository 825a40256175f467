//! What a node is told once and never forgets.

use core::time::Duration;

use headway_core::Measuring;
use headway_core::phase_clock::PhaseClock;
use thiserror::Error;

use crate::slots::{MAX_PAYLOAD, MAX_TOKENS};
use crate::state::Domain;
use crate::wire::{Layout, VERSION};
use crate::{Plan, Rule};

/// Which ring a datagram belongs to. Nodes of one ring have the same; everything
/// that all nodes must agree on (name, roster, plan, payload) should go into it,
/// so that nodes that disagree do not listen to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RingId(pub [u8; 16]);

/// The program of the paper that a node runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Waits g rounds between two tokens. A ring needs at least one.
    #[default]
    Delay,
    /// Passes on one token a round.
    Relay,
    /// The delay that measures the largest separation by itself. It has to be the only
    /// node of the ring that is not a relay.
    Measure,
}

impl Role {
    /// The default: four nodes delay, spread as evenly as possible. A ring in which every
    /// node delays recovers more slowly, because surplus tokens queue at every node.
    ///
    /// ```
    /// use headway_node::Role;
    /// let roles: Vec<Role> = (0..6).map(|index| Role::usual(index, 6)).collect();
    /// assert_eq!(roles.iter().filter(|role| **role == Role::Delay).count(), 4);
    /// ```
    pub const fn usual(index: u32, nodes: u32) -> Role {
        let (index, nodes) = (index as u64, nodes as u64);
        // Node i delays when a multiple of n/4 falls into [i, i+1).
        let before = (4 * index).div_ceil(nodes);
        let after = (4 * (index + 1)).div_ceil(nodes);
        if after > before {
            Role::Delay
        } else {
            Role::Relay
        }
    }
}

/// When a node lets its application work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Grant {
    /// Only after a whole turn in which everything it saw was legitimate. Tokens
    /// pass through without a permit until then.
    #[default]
    WhenSettled,
    /// As soon as a token is here, legitimate or not.
    Always,
}

/// How long things take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The state is sent again after this long without a change.
    pub refresh: Duration,
    /// A neighbour that was not heard for this long is silent.
    pub heartbeat_timeout: Duration,
    /// The least time between two ticks; zero is as fast as messages travel.
    pub tick: Duration,
    /// A token for which a permit was granted stays at least this long.
    pub min_hold: Duration,
    /// A permit is withdrawn after this long, and its token goes on.
    pub max_hold: Duration,
    /// How long an application has to stop when a permit is asked back. Its token
    /// waits no longer.
    pub stop_timeout: Duration,
}

impl Default for Timing {
    /// 20 ms, 500 ms, no pause, no least and an hour at most, a second of stop timeout.
    fn default() -> Timing {
        Timing {
            refresh: Duration::from_millis(20),
            heartbeat_timeout: Duration::from_millis(500),
            tick: Duration::ZERO,
            min_hold: Duration::ZERO,
            max_hold: Duration::from_secs(3600),
            stop_timeout: Duration::from_secs(1),
        }
    }
}

/// Everything that a node knows beforehand. It is assumed to survive: memory that
/// a fault may corrupt is the [`Machine`](crate::Machine)'s, not this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose datagrams to listen to.
    pub ring: RingId,
    /// This node's place, from 0. Node 0 is the one process of every token ring
    /// that is different.
    pub index: u32,
    /// The ring's size, tokens, separation and pace.
    pub plan: Plan,
    /// What this node runs.
    pub role: Role,
    /// The most bytes that a token carries, 0 to 255.
    pub payload: u8,
    /// How long things take.
    pub timing: Timing,
    /// When to grant permits.
    pub grant: Grant,
    /// Fencing numbers are above this: a new ring that takes over from an old one
    /// starts where the old one cannot have been.
    pub fence_floor: u64,
    /// A datagram with a larger fencing number is refused: whoever has a key could use up all that
    /// there are, and they would begin again.
    pub fence_ceiling: u64,
    /// The largest datagram in bytes that the transport carries whole.
    pub largest_datagram: usize,
    /// A turn of the phase clock has at least so many phases, at every node of the ring
    /// the same. Every turn costs a message, because a clock at phase 0 waits until its
    /// neighbours confirm that they know; a checker that visits all phases wants few.
    pub turn_phases: u16,
    /// In which version of the wire format all nodes of the ring write.
    pub wire: u8,
}

/// What is wrong with a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The index is not on the ring.
    #[error("node {index} of a ring of {nodes}: the index is from 0 to {}", nodes - 1)]
    Index {
        /// This node's index.
        index: u32,
        /// The ring's size.
        nodes: u32,
    },
    /// One datagram cannot hold the state.
    #[error(
        "{tokens} tokens with {payload} bytes of payload need a datagram of {needed} bytes, and \
         the transport carries {limit}: take at most {tokens_fit} tokens{}",
        Hint(*payload_fits)
    )]
    TooLarge {
        /// Tokens of the ring.
        tokens: u32,
        /// Bytes of payload per token.
        payload: u8,
        /// Bytes that a datagram would need.
        needed: usize,
        /// Bytes that a datagram can have.
        limit: usize,
        /// How many tokens would fit with that payload.
        tokens_fit: usize,
        /// How much payload would fit with that many tokens, if any number does.
        payload_fits: Option<u8>,
    },
    /// The node was compiled without a heap, and has room for less.
    #[error(
        "{tokens} tokens with {payload} bytes of payload, and this node was compiled for \
         HEADWAY_MAX_TOKENS={MAX_TOKENS} with HEADWAY_MAX_PAYLOAD={MAX_PAYLOAD}"
    )]
    NoRoom {
        /// Tokens of the ring.
        tokens: u32,
        /// Bytes of payload per token.
        payload: u8,
    },
    /// Zero, or not in order.
    #[error("`{field}` is {given:?}: {expected}")]
    Timing {
        /// Which field of [`Timing`].
        field: &'static str,
        /// What it is.
        given: Duration,
        /// What it has to be.
        expected: &'static str,
    },
}

/// The second half of a sentence.
struct Hint(Option<u8>);

impl core::fmt::Display for Hint {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            Some(bytes) => write!(formatter, ", or at most {bytes} bytes of payload"),
            None => Ok(()),
        }
    }
}

impl Config {
    /// The largest datagram that crosses Ethernet under IPv6 in one piece.
    pub const UNFRAGMENTED: usize = 1452;

    /// A node that delays, without payload, with the default timing.
    pub fn new(ring: RingId, index: u32, plan: Plan) -> Config {
        Config {
            ring,
            index,
            plan,
            role: Role::Delay,
            payload: 0,
            timing: Timing::default(),
            grant: Grant::WhenSettled,
            fence_floor: 0,
            fence_ceiling: u64::MAX,
            largest_datagram: Config::UNFRAGMENTED,
            turn_phases: 64,
            wire: VERSION,
        }
    }

    /// What is wrong with it, if anything.
    ///
    /// # Errors
    ///
    /// When the index is not on the ring, the state does not fit a datagram, or a
    /// time makes no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (index, nodes) = (self.index, self.plan.nodes());
        if index >= nodes {
            return Err(ConfigError::Index { index, nodes });
        }
        let (layout, limit) = (self.layout(), self.largest_datagram);
        if layout.bytes() > limit {
            return Err(ConfigError::TooLarge {
                tokens: self.plan.tokens(),
                payload: self.payload,
                needed: layout.bytes(),
                limit,
                tokens_fit: layout.tokens_in(limit),
                payload_fits: layout.payload_in(limit),
            });
        }
        let (tokens, payload) = (self.plan.tokens(), self.payload);
        #[allow(
            clippy::absurd_extreme_comparisons,
            reason = "with a heap there is no limit"
        )]
        if tokens as usize > MAX_TOKENS || usize::from(payload) > MAX_PAYLOAD {
            return Err(ConfigError::NoRoom { tokens, payload });
        }
        self.timing.check()
    }

    /// How many bytes a datagram of this ring has.
    pub fn datagram_bytes(&self) -> usize {
        self.layout().bytes()
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout {
            tokens: self.plan.tokens(),
            payload: self.payload,
            rule: self.plan.rule(),
            version: self.wire,
        }
    }

    /// The node before this one on the ring.
    pub const fn predecessor(&self) -> u32 {
        let nodes = self.plan.nodes();
        (self.index + nodes - 1) % nodes
    }

    /// The node after this one on the ring.
    pub const fn successor(&self) -> u32 {
        (self.index + 1) % self.plan.nodes()
    }

    /// The phases and values of the ring. The clock has a modulus of more than 2n phases
    /// and at least [`Config::turn_phases`], a multiple of the pace, and a tail of n. A
    /// ring whose processes read each other's memory needs n + 1 and n - 2; the rest is
    /// room for what is still on its way. A token ring has more than n values; in a ring of
    /// moving blocks 8n, which is enough for n nodes, n copies and six datagrams under way
    /// on every link.
    pub fn domain(&self) -> Domain {
        let (nodes, pace) = (self.plan.nodes() as i32, self.plan.pace() as i32);
        let least = (2 * nodes + 1).max(i32::from(self.turn_phases));
        Domain {
            clock: PhaseClock {
                modulus: least + (pace - least % pace) % pace,
                tail: nodes,
            },
            values: match self.plan.rule() {
                Rule::LockStep => self.plan.nodes() + 1,
                Rule::MovingBlock => 8 * self.plan.nodes(),
            },
            news: self.plan.tokens() > 1,
        }
    }

    /// A measuring process that has measured nothing yet.
    pub(crate) const fn measuring(&self) -> Measuring {
        Measuring::new(self.plan.tokens(), self.plan.nodes().saturating_mul(2))
    }

    /// Sixteen bytes that stand for a name and everything in the plan, so that
    /// nodes that were told differently do not listen to each other.
    pub fn identity(name: &[u8], plan: &Plan, payload: u8) -> RingId {
        use sha2::{Digest, Sha256};
        let mut hash = Sha256::new();
        hash.update(b"headway ring 2");
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name);
        for number in [
            plan.nodes(),
            plan.tokens(),
            plan.separation(),
            plan.pace(),
            u32::from(payload),
        ] {
            hash.update(number.to_be_bytes());
        }
        if plan.rule() == Rule::MovingBlock {
            hash.update(b"moving block");
        }
        let digest = hash.finalize();
        let mut id = RingId([0; 16]);
        id.0.copy_from_slice(&digest[..16]);
        id
    }
}

impl Timing {
    fn check(&self) -> Result<(), ConfigError> {
        let wrong = |field, given, expected| {
            Err(ConfigError::Timing {
                field,
                given,
                expected,
            })
        };
        if self.refresh < Duration::from_micros(10) {
            return wrong("refresh", self.refresh, "at least 10 µs");
        }
        if self.heartbeat_timeout <= self.refresh {
            return wrong(
                "heartbeat_timeout",
                self.heartbeat_timeout,
                "longer than `refresh`",
            );
        }
        if self.max_hold.is_zero() {
            return wrong("max_hold", self.max_hold, "longer than nothing");
        }
        if self.min_hold > self.max_hold {
            return wrong("min_hold", self.min_hold, "no longer than `max_hold`");
        }
        Ok(())
    }
}
