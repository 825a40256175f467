//! From what is wanted to what the protocol is told.
//!
//! Logical rounds are exactly synchronous, so a separation g set in the protocol
//! holds exactly in logical time. In real time neighbours may be one tick apart,
//! and a token may be ahead of the one in front of it by some rounds. With a round
//! every p-th tick, two tokens are never closer in real time than
//!
//! ```text
//! g - floor((g + p) / (p + 1))
//! ```
//!
//! hops. For a separation d in real time, take g = 2d at full speed (p = 1), or
//! g = d + 1 at the slowest pace (p = g), or anything in between, which trades speed for
//! room. A [`Plan`] takes the fastest pace at which the tokens fit.
//!
//! A ring of moving blocks ([`Rule::MovingBlock`]) keeps the distance that it is told, in
//! real time, and has no pace; it needs one node of slack.

use core::fmt;

use headway_core::bound::true_separation;
use thiserror::Error;

/// What decides when a token goes on: the same at every node of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The paper's programs, round by round: a phase clock makes the rounds.
    #[default]
    LockStep,
    /// The way ahead is free ([`headway_core::moving_block`]).
    MovingBlock,
}

impl Rule {
    /// Without a heap all rings are in lock-step, and the compiler leaves the other rule out.
    #[inline(always)]
    pub(crate) const fn possible(self) -> Rule {
        if cfg!(feature = "alloc") {
            self
        } else {
            Rule::LockStep
        }
    }
}

/// What a ring is to keep up, and the parameters that keep it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    nodes: u32,
    tokens: u32,
    wanted: u32,
    separation: u32,
    pace: u32,
    rule: Rule,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Fewer than two nodes, or too many.
    #[error("a ring has 2 to {MAX_NODES} nodes, not {0}")]
    Nodes(u32),
    /// No token, or too many for one datagram.
    #[error("a ring has 1 to {MAX_TOKENS} tokens, not {0}")]
    Tokens(u32),
    /// A separation of 0 separates nothing.
    #[error("a separation is at least 1 hop, not 0")]
    Separation,
    /// The tokens do not fit at that separation, at whatever pace.
    #[error(
        "{tokens} tokens {} apart in real time need {} nodes, and there are {nodes}: \
         take at most {}{}",
        Count(*wanted, "hop"),
        u64::from(*tokens) * (u64::from(*wanted) + 1),
        Count(*capacity, "token"),
        Furthest(*furthest)
    )]
    Infeasible {
        /// Nodes in the ring.
        nodes: u32,
        /// Tokens asked for.
        tokens: u32,
        /// The true separation asked for.
        wanted: u32,
        /// How many tokens fit at that separation; 1 always does.
        capacity: u32,
        /// The largest true separation that as many tokens can have.
        furthest: u32,
    },
    /// The tokens of a moving block do not fit with the node of slack that they need.
    #[error(
        "{tokens} tokens {} apart need {} nodes, one of slack, and there are {nodes}: take at most \
         {}{}",
        Count(*wanted, "hop"),
        u64::from(*tokens) * u64::from(*wanted) + 1,
        Count(*capacity, "token"),
        Furthest(*furthest)
    )]
    NoSlack {
        /// Nodes in the ring.
        nodes: u32,
        /// Tokens asked for.
        tokens: u32,
        /// The separation asked for.
        wanted: u32,
        /// How many tokens fit at that separation; 1 always does.
        capacity: u32,
        /// The largest separation that as many tokens can have.
        furthest: u32,
    },
}

/// A number and what it counts.
struct Count(u32, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(formatter, "{} {}{plural}", self.0, self.1)
    }
}

/// What else would fit, if anything.
struct Furthest(u32);

impl fmt::Display for Furthest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            hops => write!(formatter, ", or a separation of at most {hops}"),
        }
    }
}

/// The largest ring: phases and values are 31 bits on the wire, and the clock
/// wants a few times as many phases as there are nodes.
pub const MAX_NODES: u32 = 1 << 28;

/// The most tokens: their number is 16 bits on the wire, and 65535 means none.
pub const MAX_TOKENS: u32 = 1 << 15;

impl Plan {
    /// The fastest plan that keeps `tokens` tokens `separation` hops apart in real time
    /// on a ring of `nodes`.
    ///
    /// ```
    /// use headway_node::Plan;
    /// let plan = Plan::new(24, 4, 2).unwrap();
    /// assert_eq!((plan.separation(), plan.pace(), plan.capacity()), (4, 1, 8));
    /// // Seven tokens do not fit four apart; three apart they do, at a slower pace.
    /// let plan = Plan::new(24, 7, 2).unwrap();
    /// assert_eq!((plan.separation(), plan.pace(), plan.capacity()), (3, 2, 8));
    /// assert_eq!(plan.true_separation(), 2);
    /// ```
    ///
    /// # Errors
    ///
    /// When the numbers are out of range or the tokens do not fit.
    pub fn new(nodes: u32, tokens: u32, separation: u32) -> Result<Plan, PlanError> {
        check(nodes, tokens, separation)?;
        let room = nodes / tokens;
        let set = match tokens {
            // A single token is apart from nothing.
            1 => Some((1, 1)),
            _ => quickest(separation, room),
        };
        let (set, pace) = set.ok_or_else(|| PlanError::Infeasible {
            nodes,
            tokens,
            wanted: separation,
            capacity: capacity(nodes, separation),
            furthest: room.saturating_sub(1),
        })?;
        Ok(Plan {
            nodes,
            tokens,
            wanted: separation,
            separation: set,
            pace,
            rule: Rule::LockStep,
        })
    }

    /// The plan of a fleet: which rule the rings of services go by is decided here, and nowhere
    /// else. How many tokens a fleet can have follows from it ([`Plan::capacity`]).
    ///
    /// # Errors
    ///
    /// When the numbers are out of range or the tokens do not fit.
    #[cfg(feature = "alloc")]
    pub fn of_fleet(nodes: u32, tokens: u32, separation: u32) -> Result<Plan, PlanError> {
        Plan::moving_block(nodes, tokens, separation)
    }

    /// A plan of moving blocks: the tokens are `separation` hops apart in real time, by no
    /// clock.
    ///
    /// ```
    /// use headway_node::{Plan, Rule};
    /// let plan = Plan::moving_block(24, 4, 5).unwrap();
    /// assert_eq!((plan.true_separation(), plan.capacity()), (5, 4));
    /// assert!(Plan::new(24, 4, 5).is_ok() && Plan::moving_block(24, 4, 6).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// When the numbers are out of range or n > m·d does not hold.
    #[cfg(feature = "alloc")]
    pub fn moving_block(nodes: u32, tokens: u32, separation: u32) -> Result<Plan, PlanError> {
        check(nodes, tokens, separation)?;
        let plan = Plan {
            nodes,
            tokens,
            wanted: separation,
            // A single token is apart from nothing.
            separation: if tokens == 1 { 1 } else { separation },
            pace: 1,
            rule: Rule::MovingBlock,
        };
        let furthest = (nodes - 1) / tokens;
        if plan.separation > furthest {
            return Err(PlanError::NoSlack {
                nodes,
                tokens,
                wanted: separation,
                capacity: plan.capacity(),
                furthest,
            });
        }
        Ok(plan)
    }

    /// A plan with the protocol's own parameters: logical separation g and pace p.
    /// For studies; what it keeps up in real time is [`Plan::true_separation`].
    ///
    /// # Errors
    ///
    /// When the numbers are out of range or more than g times the tokens do not fit.
    pub fn logical(nodes: u32, tokens: u32, separation: u32, pace: u32) -> Result<Plan, PlanError> {
        check(nodes, tokens, separation.min(pace))?;
        let kept = true_separation(separation.into(), pace.into()) as u32;
        if u64::from(tokens) * u64::from(separation) > u64::from(nodes) {
            return Err(PlanError::Infeasible {
                nodes,
                tokens,
                wanted: kept,
                capacity: (nodes / separation).max(1),
                furthest: (nodes / tokens).saturating_sub(1),
            });
        }
        Ok(Plan {
            nodes,
            tokens,
            wanted: kept,
            separation,
            pace,
            rule: Rule::LockStep,
        })
    }

    /// What decides when a token goes on.
    pub const fn rule(&self) -> Rule {
        self.rule.possible()
    }

    /// Nodes in the ring.
    pub const fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Tokens in the ring.
    pub const fn tokens(&self) -> u32 {
        self.tokens
    }

    /// The true separation that was asked for.
    pub const fn wanted(&self) -> u32 {
        self.wanted
    }

    /// g, the separation in logical time: what the protocol is told. In a ring of moving
    /// blocks it is the one in real time.
    pub const fn separation(&self) -> u32 {
        self.separation
    }

    /// p: a round is executed in every p-th tick of the clock.
    pub const fn pace(&self) -> u32 {
        self.pace
    }

    /// The true distance that is kept, which may be more than was asked for. With
    /// a single token there is no other to be away from: the whole ring.
    pub const fn true_separation(&self) -> u32 {
        match self.rule() {
            _ if self.tokens == 1 => self.nodes,
            Rule::LockStep => true_separation(self.separation as u64, self.pace as u64) as u32,
            Rule::MovingBlock => self.separation,
        }
    }

    /// How many tokens the ring could have at the true separation that was asked for, at
    /// a slower pace perhaps.
    pub const fn capacity(&self) -> u32 {
        match self.rule() {
            Rule::LockStep => capacity(self.nodes, self.wanted),
            Rule::MovingBlock if self.wanted < self.nodes => (self.nodes - 1) / self.wanted,
            Rule::MovingBlock => 1,
        }
    }
}

/// Tokens that fit at a true separation: one hop more in logical time. 1 always does.
const fn capacity(nodes: u32, wanted: u32) -> u32 {
    match wanted.checked_add(1) {
        Some(room) if nodes >= room => nodes / room,
        _ => 1,
    }
}

/// Whether the numbers are in range.
fn check(nodes: u32, tokens: u32, separation: u32) -> Result<(), PlanError> {
    if !(2..=MAX_NODES).contains(&nodes) {
        return Err(PlanError::Nodes(nodes));
    }
    if !(1..=MAX_TOKENS).contains(&tokens) {
        return Err(PlanError::Tokens(tokens));
    }
    if separation == 0 {
        return Err(PlanError::Separation);
    }
    Ok(())
}

/// The least pace, and with it the least logical separation up to `room`, that
/// keep tokens `wanted` hops apart in real time.
fn quickest(wanted: u32, room: u32) -> Option<(u32, u32)> {
    // g - floor((g+p)/(p+1)) = floor(g·p/(p+1)), so the least g for a pace is
    // ceil(wanted·(p+1)/p) = wanted + ceil(wanted/p).
    let spare = room.checked_sub(wanted).filter(|&spare| spare > 0)?;
    let pace = wanted.div_ceil(spare);
    Some((wanted + wanted.div_ceil(pace), pace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_the_quickest_by_trying_all() {
        for wanted in 1..=12 {
            for room in 1..=30 {
                let tried = (1..=40)
                    .flat_map(|pace| (1..=room).map(move |separation| (separation, pace)))
                    .find(|&(separation, pace)| {
                        true_separation(separation.into(), pace.into()) >= wanted.into()
                    });
                assert_eq!(quickest(wanted, room), tried, "{wanted} in {room}");
            }
        }
    }

    #[test]
    fn a_refusal_names_what_would_fit() {
        let refused = Plan::new(10, 4, 2).unwrap_err();
        let text = std::format!("{refused}");
        assert!(text.contains("at most 3 tokens"), "{text}");
        assert!(text.contains("separation of at most 1"), "{text}");
        assert!(Plan::new(10, 3, 2).is_ok() && Plan::new(10, 4, 1).is_ok());
    }

    #[test]
    fn one_token_always_fits() {
        let plan = Plan::new(5, 1, 100).unwrap();
        assert_eq!((plan.separation(), plan.pace()), (1, 1));
        assert_eq!(plan.true_separation(), 5);
    }
}
