//! What no order can undercut.
//!
//! If all conflicts are brought to h hops, then whoever is within r conflicts of a member is
//! within r·h hops of it, and only 2·r·h places are. Around a group the same holds from both
//! of its ends: a group whose members are h hops apart, each from each, lies on an arc of h
//! hops, unless it goes all round the ring, for which h is n/3 or more; so who is within r
//! conflicts of a group is on an arc of (2r + 1)·h hops.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::network::Node;
use crate::network::distance::Reach;
use crate::plan::conflicts::{Conflicts, Group};

/// The least separation that any order can have, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// d.
    pub separation: u32,
    /// Why not less.
    pub reason: Reason,
}

/// Why a separation cannot be undercut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Two tokens are never at one member.
    Trivial,
    /// Around a member there is no room for all who are near it by conflicts.
    Member {
        /// Its name.
        member: String,
        /// At most so many conflicts away.
        radius: u32,
        /// So many others.
        others: usize,
    },
    /// The same around a group, or within it if the radius is 0.
    Group {
        /// What it is called.
        label: String,
        /// A few names.
        members: String,
        /// At most so many conflicts away from the group.
        radius: u32,
        /// So many members, with those of the group.
        size: usize,
    },
    /// Every order with less was excluded, one by one.
    Exhausted,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Trivial => write!(f, "two tokens are never at one member"),
            Reason::Member {
                member,
                radius: 1,
                others,
            } => write!(
                f,
                "{member} may not be down together with {others} others, and half of them are on \
                 one side of it"
            ),
            Reason::Member {
                member,
                radius,
                others,
            } => write!(
                f,
                "{others} others are within {radius} conflicts of {member}, and half of them are on \
                 one side of it"
            ),
            Reason::Group {
                label,
                members,
                radius: 0,
                size,
            } => write!(
                f,
                "no two of the {size} members of {label} may be down together ({members})"
            ),
            Reason::Group {
                label,
                members,
                radius,
                size,
            } => write!(
                f,
                "{size} members are in {label} ({members}) or within {radius} conflicts of it"
            ),
            Reason::Exhausted => write!(f, "every order was tried or excluded"),
        }
    }
}

impl Bound {
    pub(super) const fn exhausted(separation: u32) -> Bound {
        Bound {
            separation,
            reason: Reason::Exhausted,
        }
    }

    fn raise(&mut self, hops: usize, reason: impl FnOnce() -> Reason) {
        let separation = hops as u32 + 1;
        if separation > self.separation {
            *self = Bound {
                separation,
                reason: reason(),
            };
        }
    }
}

/// Steps of searches, of the ways from all members and groups.
const MAX_STEPS: usize = 300_000_000;

/// The best bound that counting gives.
pub fn lower(conflicts: &Conflicts, stop: &AtomicBool) -> Bound {
    let mut bound = Bound {
        separation: 1,
        reason: Reason::Trivial,
    };
    let count = conflicts.len();
    let members = 0..count as Node;
    // What is simple to say comes first: a later reason has to give more.
    let clique = Group {
        label: "this group".to_owned(),
        members: clique(conflicts),
    };
    let mut groups: Vec<&Group> = conflicts.groups().iter().chain([&clique]).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    // Three and more may be all round the ring.
    let all_round = |group: &Group| match group.members.len() {
        ..3 => usize::MAX,
        _ => count.div_ceil(3),
    };
    let reason = |group: &Group, radius, size| Reason::Group {
        label: group.label.clone(),
        members: conflicts.listed(&group.members),
        radius,
        size,
    };
    if let Some(largest) = groups.first() {
        let size = largest.members.len();
        let hops = size.saturating_sub(1).min(all_round(largest));
        bound.raise(hops, || reason(largest, 0, size));
    }
    let near = |member: Node, radius, others| Reason::Member {
        member: conflicts.name(member).to_owned(),
        radius,
        others,
    };
    for member in members.clone() {
        let others = conflicts.neighbours(member).len();
        bound.raise(others.div_ceil(2), || near(member, 1, others));
    }
    let mut reach = Reach::new(count);
    let each = conflicts.len() + 2 * conflicts.pairs();
    let go_on = |round: &u32| {
        (*round as usize + 1).saturating_mul(each) <= MAX_STEPS && !stop.load(Ordering::Relaxed)
    };
    for (_, member) in (0..).zip(members).take_while(|(round, _)| go_on(round)) {
        layers(conflicts, &[member], &mut reach, |radius, size| {
            let others = size - 1;
            let hops = others.div_ceil(2 * radius as usize);
            bound.raise(hops, || near(member, radius, others));
        });
    }
    let groups = (count as u32..).zip(groups);
    for (_, group) in groups.take_while(|(round, _)| go_on(round)) {
        let members = &group.members;
        layers(conflicts, members, &mut reach, |radius, size| {
            let hops = (size - 1).div_ceil(2 * radius as usize + 1);
            bound.raise(hops.min(all_round(group)), || reason(group, radius, size));
        });
    }
    bound
}

/// Tells how many are within 1, 2, … conflicts of some members, with those.
fn layers(
    conflicts: &Conflicts,
    from: &[Node],
    reach: &mut Reach,
    mut tell: impl FnMut(u32, usize),
) {
    let (mut radius, mut size) = (0, 0);
    reach.spread(
        conflicts,
        from,
        u32::MAX,
        |_, _| true,
        |_, distance, _| {
            if distance > radius.max(1) {
                tell(radius, size);
            }
            (radius, size) = (distance, size + 1);
            false
        },
    );
    if radius > 0 {
        tell(radius, size);
    }
}

/// A large set of members that are in conflict each with each, though perhaps in no one group.
pub(super) fn clique(conflicts: &Conflicts) -> Vec<Node> {
    let mut best = Vec::new();
    let mut steps = MAX_STEPS / 10;
    for member in 0..conflicts.len() as Node {
        let mut candidates = conflicts.neighbours(member).to_vec();
        let mut clique = vec![member];
        // Whoever is in conflict with most of the candidates is next.
        while clique.len() + candidates.len() > best.len() {
            let common = |&other: &Node| shared(conflicts.neighbours(other), &candidates);
            let work: usize = (candidates.iter())
                .map(|&other| conflicts.neighbours(other).len() + candidates.len())
                .sum();
            let Some(left) = steps.checked_sub(work) else {
                return best;
            };
            steps = left;
            let Some(&next) = candidates.iter().max_by_key(|other| common(other)) else {
                best = clique;
                break;
            };
            clique.push(next);
            let of_next = conflicts.neighbours(next);
            candidates.retain(|other| of_next.binary_search(other).is_ok());
        }
    }
    best.sort_unstable();
    best
}

/// How many two ascending lists have in common.
fn shared(one: &[Node], other: &[Node]) -> usize {
    let (mut index, mut count) = (0, 0);
    for member in one {
        while index < other.len() && other[index] < *member {
            index += 1;
        }
        count += usize::from(other.get(index) == Some(member));
    }
    count
}
