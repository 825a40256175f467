//! The promises, checked from outside: who had which permit when.
//!
//! An [`Observer`] is told of every permit that begins and ends, in an order that
//! respects causes: the end of a permit before the node passes the token on. It
//! knows nothing else of the nodes, so none of their errors can mislead it.

use std::time::Duration;

use headway_node::Plan;

/// How many violations are kept with their details; the others are counted.
pub const MAX_KEPT: usize = 32;

/// Watches the permits of one ring.
///
/// ```
/// use std::time::Duration;
/// use headway_node::Plan;
/// use headway_stage::observer::{Observer, Wrong};
///
/// let mut observer = Observer::new(&Plan::new(12, 2, 3).unwrap());
/// let at = Duration::from_secs;
/// observer.settled(at(0));
/// observer.granted(at(1), 4, 0, 10);
/// observer.granted(at(2), 8, 1, 10);
/// observer.ended(4, 0);
/// assert_eq!(observer.least_distance(), Some(4));
/// observer.granted(at(4), 6, 0, 11);
/// assert!(matches!(observer.violations()[0].wrong, Wrong::TooClose { distance: 2, .. }));
/// ```
#[derive(Clone, Debug)]
pub struct Observer {
    nodes: u32,
    wanted: u32,
    permits: Vec<Permit>,
    /// The highest fencing number of each token, and who had it.
    fences: Vec<(u64, u32)>,
    settled: bool,
    least_distance: Option<u32>,
    /// Permits of each node since the ring was last settled.
    visits: Vec<u64>,
    granted: u64,
    violations: Vec<Violation>,
    violation_count: u64,
    unsettled_count: u64,
    recoveries: Vec<Recovery>,
}

/// A permit that is being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit {
    /// Who.
    pub node: u32,
    /// Which token.
    pub token: u32,
    /// Under which number.
    pub fence: u64,
    /// Since when.
    pub since: Duration,
}

/// Something that was promised not to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When.
    pub at: Duration,
    /// The permit that was granted then.
    pub permit: Permit,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What can be wrong with a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Another node has the same token.
    TwoHolders {
        /// Who.
        other: u32,
    },
    /// A permit for another token is used too near.
    TooClose {
        /// By whom.
        other: u32,
        /// For which token.
        token: u32,
        /// How many hops away.
        distance: u32,
    },
    /// The fencing number is not higher than one before.
    FenceNotHigher {
        /// The highest before.
        before: u64,
    },
}

/// A fault, and how the ring got over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// What happened.
    pub fault: String,
    /// When.
    pub at: Duration,
    /// When the ring was settled again, if it is.
    pub settled: Option<Duration>,
}

impl Observer {
    /// Of a ring that has not settled yet.
    pub fn new(plan: &Plan) -> Observer {
        Observer {
            nodes: plan.nodes(),
            wanted: plan.wanted(),
            permits: Vec::with_capacity(plan.tokens() as usize),
            fences: vec![(0, 0); plan.tokens() as usize],
            settled: false,
            least_distance: None,
            visits: vec![0; plan.nodes() as usize],
            granted: 0,
            violations: Vec::new(),
            violation_count: 0,
            unsettled_count: 0,
            recoveries: Vec::new(),
        }
    }

    /// A permit begins.
    pub fn granted(&mut self, at: Duration, node: u32, token: u32, fence: u64) {
        let permit = Permit {
            node,
            token,
            fence,
            since: at,
        };
        self.granted += 1;
        if let Some(visits) = self.visits.get_mut(node as usize) {
            *visits += 1;
        }
        for index in 0..self.permits.len() {
            self.compare(at, permit, self.permits[index]);
        }
        if let Some(highest) = self.fences.get_mut(token as usize) {
            let (before, by) = *highest;
            if fence > before {
                *highest = (fence, node);
            } else if (fence, node) != (before, by) {
                // A node that was restarted goes on with the permit that it had.
                self.wrong(at, permit, Wrong::FenceNotHigher { before });
            }
        }
        self.permits.push(permit);
    }

    /// A permit ends. Whether there was one.
    pub fn ended(&mut self, node: u32, token: u32) -> bool {
        let ours = |permit: &Permit| permit.node == node && permit.token == token;
        let found = self.permits.iter().position(ours);
        if let Some(index) = found {
            self.permits.swap_remove(index);
        }
        found.is_some()
    }

    /// A node is dead, and uses nothing any more.
    pub fn gone(&mut self, node: u32) {
        self.permits.retain(|permit| permit.node != node);
    }

    /// Something corrupted the ring: nothing is promised until it has settled.
    pub fn fault(&mut self, at: Duration, fault: &str) {
        self.settled = false;
        self.fences.fill((0, 0));
        self.recoveries.push(Recovery {
            fault: fault.to_owned(),
            at,
            settled: None,
        });
    }

    /// The ring has settled: from now on everything is promised.
    pub fn settled(&mut self, at: Duration) {
        if self.settled {
            return;
        }
        self.settled = true;
        self.least_distance = None;
        self.visits.fill(0);
        for recovery in &mut self.recoveries {
            recovery.settled.get_or_insert(at);
        }
        // Tokens that were too many may have had higher fences, and have left nothing behind.
        self.fences.fill((0, 0));
        let permits = self.permits.clone();
        for (index, permit) in permits.iter().enumerate() {
            if let Some(highest) = self.fences.get_mut(permit.token as usize) {
                *highest = (*highest).max((permit.fence, permit.node));
            }
            for other in &permits[..index] {
                self.compare(at, *permit, *other);
            }
        }
    }

    /// Whether everything is promised.
    pub const fn is_settled(&self) -> bool {
        self.settled
    }

    /// The permits in use.
    pub fn permits(&self) -> &[Permit] {
        &self.permits
    }

    /// The least distance in hops between two permits at one time, since the ring
    /// settled. `None` if there never were two.
    pub const fn least_distance(&self) -> Option<u32> {
        self.least_distance
    }

    /// How many permits were granted.
    pub const fn grants(&self) -> u64 {
        self.granted
    }

    /// How many permits each node had since the ring settled.
    pub fn visits(&self) -> &[u64] {
        &self.visits
    }

    /// What went wrong while everything was promised: the first [`MAX_KEPT`].
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How much went wrong while everything was promised.
    pub const fn violation_count(&self) -> u64 {
        self.violation_count
    }

    /// How much went wrong while nothing was promised.
    pub const fn unsettled_count(&self) -> u64 {
        self.unsettled_count
    }

    /// The faults and how long each took.
    pub fn recoveries(&self) -> &[Recovery] {
        &self.recoveries
    }

    /// Hops between two nodes, the shorter way round.
    pub const fn distance(&self, one: u32, other: u32) -> u32 {
        let apart = one.abs_diff(other);
        let around = self.nodes.saturating_sub(apart);
        if apart < around { apart } else { around }
    }

    fn compare(&mut self, at: Duration, permit: Permit, with: Permit) {
        let other = with.node;
        if permit.token == with.token {
            self.wrong(at, permit, Wrong::TwoHolders { other });
            return;
        }
        let distance = self.distance(permit.node, other);
        if self.settled {
            let least = self.least_distance.unwrap_or(u32::MAX);
            self.least_distance = Some(least.min(distance));
        }
        if distance < self.wanted {
            let token = with.token;
            let wrong = Wrong::TooClose {
                other,
                token,
                distance,
            };
            self.wrong(at, permit, wrong);
        }
    }

    fn wrong(&mut self, at: Duration, permit: Permit, wrong: Wrong) {
        if !self.settled {
            self.unsettled_count += 1;
            return;
        }
        self.violation_count += 1;
        if self.violations.len() < MAX_KEPT {
            self.violations.push(Violation { at, permit, wrong });
        }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Permit {
            node, token, fence, ..
        } = self.permit;
        write!(
            formatter,
            "at {:.6} s node {node} got token {token} (fence {fence}) while ",
            self.at.as_secs_f64()
        )?;
        match self.wrong {
            Wrong::TwoHolders { other } => write!(formatter, "node {other} had it"),
            Wrong::TooClose {
                other,
                token,
                distance,
            } => write!(
                formatter,
                "node {other}, {distance} hops away, had token {token}"
            ),
            Wrong::FenceNotHigher { before } => {
                write!(formatter, "fence {before} had been given out before")
            }
        }
    }
}
