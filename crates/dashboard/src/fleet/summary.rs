//! The picture that all answers make together.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::NodeView;

/// A ring on which no token has moved for this long is stalled.
const STANDS_AFTER: Duration = Duration::from_secs(10);

/// The picture that all answers make together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
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
    /// No token has been seen to move for a while.
    pub standing: Option<StandingView>,
}

/// Why tokens do not move.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StandingView {
    /// For how long.
    pub since_ms: u64,
    /// Because of which nodes.
    pub because_of: Vec<String>,
    /// In a sentence.
    pub why: String,
    /// What to do about it.
    pub to_do: String,
}

/// A token and who holds it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SilentView {
    /// Whom.
    pub name: String,
    /// By whom.
    pub by: Vec<String>,
}

impl Summary {
    /// `still`: since when no token has been seen to move.
    pub(super) fn of(nodes: &[NodeView], still: Duration) -> Summary {
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
            let Some(index) = status.index else { continue };
            for holding in &status.holding {
                let holder = HolderView {
                    token: holding.token.into(),
                    name: status.name.clone(),
                    index: index.into(),
                    fencing: holding.fencing,
                    since_ms: holding.since_ms,
                };
                // A token has one holder: of two answers of different age, the one
                // with the larger fencing number is the later.
                match holders.get(&holder.token) {
                    Some(known) if known.fencing >= holder.fencing => {}
                    _ => {
                        holders.insert(holder.token, holder);
                    }
                }
            }
        }
        let mut holders: Vec<HolderView> = holders.into_values().collect();
        holders.sort_by_key(|holder| (holder.index, holder.token));
        let members = answering().map(|status| status.members as u64).max();
        let members = members.unwrap_or(0);
        let separation = answering().map(|status| status.separation.into()).max();
        let separation = separation.unwrap_or(0);
        let settled = answering().filter(|status| status.settled).count();
        let reachable = answering().count();
        let closest = closest(&holders, members);
        let standing = (reachable > 0 && still >= STANDS_AFTER)
            .then(|| StandingView::new(nodes, &silent, &holders, still));
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
            standing,
            violated: settled == reachable && closest.is_some_and(|hops| hops < separation),
            holders,
        }
    }
}

impl StandingView {
    fn new(
        nodes: &[NodeView],
        silent: &BTreeMap<&str, BTreeSet<&str>>,
        holders: &[HolderView],
        still: Duration,
    ) -> StandingView {
        let away = nodes.iter().filter(|node| !node.reachable).map(|node| {
            let known = node.status.as_ref().map(|status| &status.name);
            known.unwrap_or(&node.url).clone()
        });
        let mut lost: BTreeSet<String> = away.collect();
        lost.extend(silent.keys().map(|&name| name.to_owned()));
        let longest = holders.iter().max_by_key(|holder| holder.since_ms);
        let (because_of, why, to_do) = match longest {
            _ if !lost.is_empty() => {
                let lost: Vec<String> = lost.into_iter().collect();
                let names = lost.join(", ");
                let why = format!("not heard from: {names}");
                let to_do = format!(
                    "start {names} again; if that cannot be, take it out: headway node remove {}",
                    lost[0]
                );
                (lost, why, to_do)
            }
            Some(holder) => {
                let name = &holder.name;
                let seconds = holder.since_ms / 1_000;
                let why = format!(
                    "{name} has worked under token {} for {seconds} s",
                    holder.token
                );
                let to_do = format!(
                    "wait for its command to end, or look at what it does: headway node status on {name}"
                );
                (vec![name.clone()], why, to_do)
            }
            None => (
                Vec::new(),
                "all nodes answer and none works".to_owned(),
                "look at the alarms of the nodes: headway node status".to_owned(),
            ),
        };
        StandingView {
            since_ms: still.as_millis() as u64,
            because_of,
            why,
            to_do,
        }
    }
}

/// Between successive holders round the ring; `None` with fewer than two.
fn closest(holders: &[HolderView], members: u64) -> Option<u64> {
    let first = holders.first().filter(|_| holders.len() > 1)?;
    let again = first.index.saturating_add(members);
    let next = holders.iter().skip(1).map(|holder| holder.index);
    let gaps = holders.iter().zip(next.chain([again]));
    gaps.map(|(holder, next)| next.saturating_sub(holder.index))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_service::{Holding, Status};
    use headway_sim::seed::{Purpose, Random};
    use headway_testkit::damage::damaged;

    fn view(status: Status) -> NodeView {
        NodeView {
            url: String::new(),
            reachable: true,
            error: None,
            age_ms: Some(0),
            status: Some(status),
        }
    }

    /// Nodes that are not what they should be, or lie, get a picture all the same, and it
    /// can be sent.
    #[test]
    fn a_damaged_status_is_refused_or_shown() {
        let sample = br#"{"name":"b","index":3,"members":24,"ring":"web","settled":true,
            "phase":7,"laps":812,"holding":[{"token":2,"fencing":97,"since_ms":12}],
            "silent":["a","c"],"separation":2,"tokens":4,"version":{"deep":[1,null]}}"#;
        let honest: Status = serde_json::from_slice(sample).unwrap();
        let (mut shown, mut refused) = (0, 0);
        for seed in 0..20_000 {
            let mut random = Random::new(seed, Purpose::Other(0));
            let bytes = damaged(sample, &mut |bound| random.index(bound));
            let Ok(status) = serde_json::from_slice::<Status>(&bytes) else {
                refused += 1;
                continue;
            };
            shown += 1;
            let mut other = honest.clone();
            other.index = Some(4);
            other.holding = vec![Holding {
                token: 3,
                ..Holding::default()
            }];
            let nodes = [view(status), view(honest.clone()), view(other)];
            let summary = Summary::of(&nodes, Duration::from_secs(seed % 20));
            assert_eq!(summary.standing.is_some(), seed % 20 >= 10);
            assert_eq!(summary.reachable, 3);
            let tokens: BTreeSet<u64> = summary.holders.iter().map(|one| one.token).collect();
            assert_eq!(tokens.len(), summary.holders.len(), "seed {seed}");
            let places: BTreeSet<u64> = summary.holders.iter().map(|one| one.index).collect();
            let apart = places.len() == summary.holders.len();
            if apart && places.last().is_some_and(|&last| last < summary.members) {
                assert_ne!(summary.closest, Some(0), "seed {seed}");
            }
            assert!(serde_json::to_vec(&(&nodes, &summary)).is_ok());
        }
        assert!(shown > 200 && refused > 200, "{shown} {refused}");
    }

    #[test]
    fn a_ring_that_stands_says_why() {
        let status = |name: &str, silent: &[&str], held: Option<u64>| {
            let held = held.map(|since_ms| Holding {
                since_ms,
                ..Holding::default()
            });
            let mut status = Status::default();
            status.name = name.to_owned();
            status.index = Some(0);
            status.silent = silent.iter().map(|&name| name.to_owned()).collect();
            status.holding = held.into_iter().collect();
            status
        };
        let minute = Duration::from_secs(60);
        let of = |nodes: &[NodeView]| Summary::of(nodes, minute).standing.unwrap();
        let mut nodes = [view(status("a", &[], None)), view(status("b", &[], None))];
        assert_eq!(of(&nodes).because_of, Vec::<String>::new());
        nodes[1] = view(status("b", &[], Some(59_000)));
        let standing = of(&nodes);
        assert_eq!(standing.because_of, ["b"]);
        assert_eq!(standing.why, "b has worked under token 0 for 59 s");
        assert_eq!(standing.since_ms, 60_000);
        nodes[0] = view(status("a", &["c"], None));
        assert_eq!(of(&nodes).because_of, ["c"]);
        nodes[1].reachable = false;
        assert_eq!(of(&nodes).because_of, ["b", "c"]);
        assert_eq!(Summary::of(&nodes, Duration::from_secs(9)).standing, None);
    }

    /// A place at the end of all numbers is no reason to stop.
    #[test]
    fn distances_of_impossible_places() {
        let holder = |index| HolderView {
            token: index % 7,
            name: String::new(),
            index,
            fencing: 1,
            since_ms: 0,
        };
        let holders = [holder(u64::MAX - 1), holder(u64::MAX)];
        assert_eq!(closest(&holders, 24), Some(0));
        assert_eq!(closest(&[holder(1), holder(u64::MAX)], u64::MAX), Some(0));
        assert_eq!(closest(&[holder(3), holder(4)], u64::MAX), Some(1));
        assert_eq!(closest(&[holder(1), holder(5)], 24), Some(4));
        assert_eq!(closest(&[holder(1), holder(23)], 24), Some(2));
    }
}
