//! Who may not be down together: members, and groups of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use thiserror::Error;

use crate::network::distance::Graph;
use crate::network::{Node, listed};

mod formats;

pub use formats::Input;

/// Why a text has no conflicts to plan with.
pub type ReadError = crate::read::ReadError<ConflictsError>;

/// Members, in the order in which they were first named, and groups of which no two members
/// may hold permits together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    names: Vec<String>,
    /// Invariant: no two have the same members.
    groups: Vec<Group>,
    /// Invariant: ascending, without the member itself, and both ways.
    neighbours: Vec<Vec<Node>>,
}

/// Members that may not be down together, each with each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What its source calls it: a line, a partition, a placement group.
    pub label: String,
    /// Ascending.
    pub members: Vec<Node>,
}

/// Two members of a group, and the hops between them on a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The group that both are in.
    pub group: Group,
    /// The two, in the order of the ring.
    pub pair: (Node, Node),
    /// The shorter way round.
    pub hops: u32,
}

/// More members than any fleet has.
pub const MAX_MEMBERS: usize = 100_000;
/// Conflicts that fit some hundred megabytes.
pub const MAX_CONFLICTS: usize = 10_000_000;

/// Why groups make no conflicts to plan with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConflictsError {
    /// Nothing goes round.
    #[error("{0} members: a ring has at least 2")]
    TooFew(usize),
    /// More than [`MAX_MEMBERS`].
    #[error("{0} members: at most {MAX_MEMBERS} are planned for")]
    TooMany(usize),
    /// More than [`MAX_CONFLICTS`].
    #[error(
        "more than {MAX_CONFLICTS} pairs may not be down together: that is too many to plan for"
    )]
    TooDense,
    /// A member in conflict with itself.
    #[error("{label}: {member} is there twice")]
    Twice {
        /// The group.
        label: String,
        /// The member.
        member: String,
    },
    /// A member without a name.
    #[error("{label}: a member without a name")]
    Nameless {
        /// The group.
        label: String,
    },
    /// Members that are to go together, and may not.
    #[error(
        "{one} and {other} are both of {place}, which goes as a whole, but {label} says that they may \
         not be down together"
    )]
    Torn {
        /// The place.
        place: String,
        /// The group.
        label: String,
        /// A member of both.
        one: String,
        /// Another.
        other: String,
    },
    /// A member that would be at two places.
    #[error("{member} is of {one} and of {other}: a member goes with one place")]
    TwoPlaces {
        /// The member.
        member: String,
        /// A place.
        one: String,
        /// Another.
        other: String,
    },
}

impl Conflicts {
    /// Groups with labels, by the names of their members. A group of one is a member that is
    /// in no conflict by it.
    ///
    /// ```
    /// use headway_walk::plan::conflicts::Conflicts;
    /// let conflicts = Conflicts::new([("line 1", ["a", "b"]), ("line 2", ["b", "c"])]).unwrap();
    /// assert_eq!(conflicts.neighbours(1), [0, 2]);
    /// // Round the ring, c is next to b.
    /// let spread = conflicts.widest(&["b", "a", "x", "c"]).unwrap();
    /// assert_eq!((spread.hops, spread.pair), (1, (1, 0)));
    /// ```
    ///
    /// # Errors
    ///
    /// When there are too few or too many, or a group names one twice.
    pub fn new<L, M>(groups: impl IntoIterator<Item = (L, M)>) -> Result<Conflicts, ConflictsError>
    where
        L: Into<String>,
        M: IntoIterator<Item: Into<String>>,
    {
        let mut names = Vec::new();
        let mut by_name = HashMap::<String, Node>::new();
        let (mut known, mut kept) = (HashSet::new(), Vec::new());
        for (label, members) in groups {
            let label = label.into();
            let mut nodes = Vec::new();
            for name in members.into_iter().map(Into::into) {
                if name.is_empty() {
                    return Err(ConflictsError::Nameless { label });
                }
                let node = *by_name.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    names.len() as Node - 1
                });
                nodes.push(node);
            }
            nodes.sort_unstable();
            if let Some(pair) = nodes.windows(2).find(|pair| pair[0] == pair[1]) {
                let member = names[pair[0] as usize].clone();
                return Err(ConflictsError::Twice { label, member });
            }
            if nodes.len() > 1 && known.insert(nodes.clone()) {
                kept.push(Group {
                    label,
                    members: nodes,
                });
            }
        }
        let neighbours = neighbours(names.len(), &kept)?;
        match names.len() {
            few @ 0..2 => Err(ConflictsError::TooFew(few)),
            ..=MAX_MEMBERS => Ok(Conflicts {
                names,
                groups: kept,
                neighbours,
            }),
            many => Err(ConflictsError::TooMany(many)),
        }
    }

    /// The same for whole places: the members of each go together, and a member of none is a
    /// place of its own. Also who is at each place that has a name of its own.
    ///
    /// # Errors
    ///
    /// When members of one place may not be down together.
    pub fn together(
        &self,
        places: &BTreeMap<String, Vec<String>>,
    ) -> Result<Conflicts, ConflictsError> {
        let mut place_of = HashMap::<&str, &str>::new();
        for (place, members) in places {
            for member in members {
                if let Some(other) = place_of.insert(member, place) {
                    return Err(ConflictsError::TwoPlaces {
                        member: member.clone(),
                        one: other.to_owned(),
                        other: place.clone(),
                    });
                }
            }
        }
        let place = |node: &Node| {
            let name = self.name(*node);
            place_of.get(name).copied().unwrap_or(name)
        };
        let mut groups = Vec::new();
        for group in &self.groups {
            let mut seen = HashMap::<&str, Node>::new();
            for node in &group.members {
                if let Some(other) = seen.insert(place(node), *node) {
                    return Err(ConflictsError::Torn {
                        place: place(node).to_owned(),
                        label: group.label.clone(),
                        one: self.name(other).to_owned(),
                        other: self.name(*node).to_owned(),
                    });
                }
            }
            let members: Vec<&str> = group.members.iter().map(place).collect();
            groups.push((group.label.as_str(), members));
        }
        // Those without conflicts have their places, too.
        groups.extend((0..self.len() as Node).map(|node| ("", vec![place(&node)])));
        groups.extend(places.keys().map(|place| ("", vec![place.as_str()])));
        Conflicts::new(groups)
    }

    /// n.
    #[expect(clippy::len_without_is_empty, reason = "there are at least two")]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The names of all members.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a member.
    pub fn name(&self, member: Node) -> &str {
        &self.names[member as usize]
    }

    /// A few names, and how many more there are.
    pub fn listed(&self, members: &[Node]) -> String {
        listed(members.iter().map(|&member| self.name(member)))
    }

    /// The groups of two and more, without those that say nothing new.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Who may not be down together with a member.
    pub fn neighbours(&self, member: Node) -> &[Node] {
        &self.neighbours[member as usize]
    }

    pub(crate) fn adjacency(&self) -> &[Vec<Node>] {
        &self.neighbours
    }

    /// How many pairs may not be down together.
    pub fn pairs(&self) -> usize {
        self.neighbours.iter().map(Vec::len).sum::<usize>() / 2
    }

    /// The two members of one group that are furthest apart on a ring of these names; `None`
    /// when no group has two members on it. With a separation of more hops than that, no two
    /// members of a group ever hold permits together.
    ///
    /// It looks at groups and names only, not at what [`crate::plan`] works with.
    pub fn widest(&self, ring: &[impl AsRef<str>]) -> Option<Spread> {
        let places: HashMap<&str, usize> = (ring.iter().map(AsRef::as_ref)).zip(0..).collect();
        let mut widest: Option<Spread> = None;
        for group in &self.groups {
            let mut on_ring: Vec<(usize, Node)> = (group.members.iter())
                .filter_map(|&member| Some((*places.get(self.name(member))?, member)))
                .collect();
            on_ring.sort_unstable();
            for (index, &(from, one)) in on_ring.iter().enumerate() {
                for &(to, other) in &on_ring[index + 1..] {
                    let hops = (to - from).min(ring.len() - (to - from)) as u32;
                    if widest.as_ref().is_none_or(|widest| hops > widest.hops) {
                        widest = Some(Spread {
                            group: group.clone(),
                            pair: (one, other),
                            hops,
                        });
                    }
                }
            }
        }
        widest
    }
}

impl Graph for Conflicts {
    fn nodes(&self) -> usize {
        self.len()
    }

    fn neighbours(&self, member: Node) -> &[Node] {
        self.neighbours(member)
    }
}

fn neighbours(members: usize, groups: &[Group]) -> Result<Vec<Vec<Node>>, ConflictsError> {
    let mut neighbours = vec![Vec::new(); members];
    let mut entries = 0;
    for group in groups {
        entries += group.members.len().saturating_mul(group.members.len() - 1);
        if entries > 4 * MAX_CONFLICTS {
            return Err(ConflictsError::TooDense);
        }
        for &member in &group.members {
            let others = group.members.iter().filter(|&&other| other != member);
            neighbours[member as usize].extend(others);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let ends: usize = neighbours.iter().map(Vec::len).sum();
    match ends > 2 * MAX_CONFLICTS {
        true => Err(ConflictsError::TooDense),
        false => Ok(neighbours),
    }
}
