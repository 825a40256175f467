//! Somebody who sees all applications at once, and true time.

use std::vec::Vec;

use crate::Micros;

/// Something that must not be once a ring is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When, in microseconds.
    pub at: u64,
    /// The node that was granted a permit.
    pub node: u32,
    /// For which token.
    pub token: u32,
    /// Another node that was working then.
    pub other: u32,
    /// With which token.
    pub other_token: u32,
    /// How many hops apart they are.
    pub distance: u32,
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Observer {
    nodes: u32,
    separation: u32,
    working: Vec<Working>,
    least_distance: Option<u32>,
    first: Option<Violation>,
    last_at: Micros,
    violations: u64,
    permits: Vec<u64>,
    /// The highest fencing number of each token and who had it, and how often one
    /// was not higher. The same node may be granted the same again, after a restart.
    fences: Vec<(u64, u32)>,
    fences_back: u64,
}

#[derive(Clone, Copy, Debug)]
struct Working {
    node: u32,
    token: u32,
    fence: u64,
}

impl Observer {
    /// For a ring of `nodes` whose permits are to be `separation` hops apart.
    pub fn new(nodes: u32, separation: u32) -> Observer {
        Observer {
            nodes,
            separation,
            working: Vec::new(),
            least_distance: None,
            first: None,
            last_at: 0,
            violations: 0,
            permits: vec![0; nodes as usize],
            fences: Vec::new(),
            fences_back: 0,
        }
    }

    /// An application starts to work.
    pub fn granted(&mut self, at: u64, node: u32, token: u32, fence: u64) {
        for &other in &self.working {
            if (other.node, other.token) == (node, token) {
                continue;
            }
            let distance = self.distance(node, other.node);
            let least = self.least_distance.unwrap_or(u32::MAX);
            self.least_distance = Some(least.min(distance));
            if distance < self.separation || other.token == token {
                let violation = Violation {
                    at,
                    node,
                    token,
                    other: other.node,
                    other_token: other.token,
                    distance,
                };
                self.first.get_or_insert(violation);
                self.last_at = at;
                self.violations += 1;
            }
        }
        let index = token as usize;
        if self.fences.len() <= index {
            self.fences.resize(index + 1, (0, node));
        }
        let (highest, holder) = self.fences[index];
        let back = fence < highest || (fence == highest && node != holder);
        self.fences_back += u64::from(back);
        if fence > highest {
            self.fences[index] = (fence, node);
        }
        self.permits[node as usize] += 1;
        self.working
            .retain(|other| (other.node, other.token) != (node, token));
        self.working.push(Working { node, token, fence });
    }

    /// An application has finished or stopped. Whether it was working.
    pub fn ended(&mut self, node: u32, token: u32, fence: u64) -> bool {
        let before = self.working.len();
        self.working
            .retain(|other| (other.node, other.token, other.fence) != (node, token, fence));
        self.working.len() < before
    }

    /// A node is off, and its application with it.
    pub fn crashed(&mut self, node: u32) {
        self.working.retain(|other| other.node != node);
    }

    /// The fencing number under which an application works, if it does.
    pub fn working(&self, node: u32, token: u32) -> Option<u64> {
        let mut working = self.working.iter();
        working
            .find(|other| (other.node, other.token) == (node, token))
            .map(|other| other.fence)
    }

    /// Starts counting again.
    pub fn forget(&mut self) {
        let working = std::mem::take(&mut self.working);
        *self = Observer {
            working,
            ..Observer::new(self.nodes, self.separation)
        };
    }

    /// How often a permit was granted too near to another, or to two at once.
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// The first of them.
    pub fn first_violation(&self) -> Option<Violation> {
        self.first
    }

    /// When the last was, in microseconds.
    pub fn last_violation_at(&self) -> Option<u64> {
        self.first.map(|_| self.last_at)
    }

    /// How often a fencing number was not higher than all before it.
    pub fn fences_back(&self) -> u64 {
        self.fences_back
    }

    /// The least distance at which two were at work at once, if two ever were.
    pub fn least_distance(&self) -> Option<u32> {
        self.least_distance
    }

    /// How many permits every node has had.
    pub fn permits(&self) -> &[u64] {
        &self.permits
    }

    fn distance(&self, one: u32, other: u32) -> u32 {
        let ahead = (other + self.nodes - one) % self.nodes;
        ahead.min(self.nodes - ahead)
    }
}
