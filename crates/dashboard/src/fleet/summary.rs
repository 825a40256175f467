//! The picture that all answers make together.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::NodeView;

/// The picture that all answers make together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Summary {
    /// Nodes that answer.
    pub reachable: usize,
    /// Nodes that answer and say that all is well.
    pub settled: usize,
    /// Who holds what, by place on the ring. Answers are up to a poll old, so a token
    /// that has just been passed on may show twice, with growing fencing numbers.
    pub holders: Vec<HolderView>,
    /// The smallest distance in hops between two holders.
    pub closest: Option<u64>,
    /// Who is not heard by whom.
    pub silent: Vec<SilentView>,
    /// Places on the ring.
    pub members: u64,
    /// d.
    pub separation: u64,
    /// Every node that answers says that all is well, and yet two tokens are held too
    /// close together.
    pub violated: bool,
}

/// A token and who holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HolderView {
    /// Which token.
    pub token: u64,
    /// The node's name.
    pub name: String,
    /// Its place.
    pub index: u64,
    /// The fencing number.
    pub fencing: u64,
    /// For how long.
    pub since_ms: u64,
}

/// A node that is not heard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SilentView {
    /// Whom.
    pub name: String,
    /// By whom.
    pub by: Vec<String>,
}

impl Summary {
    pub(super) fn of(nodes: &[NodeView]) -> Summary {
        let answering = || {
            let reachable = nodes.iter().filter(|node| node.reachable);
            reachable.filter_map(|node| node.status.as_ref())
        };
        let mut silent: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut holders: BTreeMap<u64, HolderView> = BTreeMap::new();
        for status in answering() {
            for name in &status.silent {
                silent.entry(name).or_default().insert(&status.name);
            }
            for holding in &status.holding {
                let holder = HolderView {
                    token: holding.token,
                    name: status.name.clone(),
                    index: status.index,
                    fencing: holding.fencing,
                    since_ms: holding.since_ms,
                };
                // A token has one holder: of two answers of different age, the one
                // with the larger fencing number is the later.
                match holders.get(&holding.token) {
                    Some(known) if known.fencing >= holder.fencing => {}
                    _ => {
                        holders.insert(holding.token, holder);
                    }
                }
            }
        }
        let mut holders: Vec<HolderView> = holders.into_values().collect();
        holders.sort_by_key(|holder| (holder.index, holder.token));
        let members = answering().map(|status| status.members).max().unwrap_or(0);
        let separation = answering().map(|status| status.separation).max();
        let separation = separation.unwrap_or(0);
        let settled = answering().filter(|status| status.settled).count();
        let reachable = answering().count();
        let closest = closest(&holders, members);
        Summary {
            reachable,
            settled,
            closest,
            silent: silent
                .into_iter()
                .map(|(name, by)| SilentView {
                    name: name.to_owned(),
                    by: by.into_iter().map(str::to_owned).collect(),
                })
                .collect(),
            members,
            separation,
            violated: settled == reachable && closest.is_some_and(|hops| hops < separation),
            holders,
        }
    }
}

/// Between successive holders round the ring; `None` with fewer than two.
fn closest(holders: &[HolderView], members: u64) -> Option<u64> {
    let first = holders.first().filter(|_| holders.len() > 1)?;
    let again = first.index + members;
    let next = holders.iter().skip(1).map(|holder| holder.index);
    let gaps = holders.iter().zip(next.chain([again]));
    gaps.map(|(holder, next)| next.saturating_sub(holder.index))
        .min()
}
