//! The fewest stations: groups without conflicts, so that all of one may be down together.
//!
//! Graph theory calls this a colouring of the conflicts. To find one with the fewest colours
//! is NP-hard. Members that are in conflict each with each need as many as they are, which is
//! the first bound. Brélaz's order (DSATUR: next is who sees most colours) gives the first
//! colouring; branch and bound in the same order tries every number between the two, from
//! below, and where that takes too long, a tabu search (Hertz and de Werra) looks for fewer
//! from above.
//!
//! Every two of the stations have members in conflict, so one token visits them in turn: with
//! the fewest, no order of the stations has room for two tokens, and none is better than
//! another.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::atomic::AtomicBool;

use super::exact::Answer;
use super::{Request, bound};
use crate::network::Node;
use crate::plan::conflicts::Conflicts;
use crate::random::Choices;

mod search;

use search::Search;

/// Stations, and what is known of their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stations {
    /// Every member once; ascending, by their first members.
    pub stations: Vec<Vec<Node>>,
    /// Fewer are not enough.
    pub at_least: usize,
    /// Why not.
    pub reason: Reason,
}

/// Why fewer stations are not enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A ring has two.
    Ring,
    /// These members are in conflict each with each.
    Clique(Vec<Node>),
    /// Every division into fewer was excluded, one by one.
    Exhausted,
}

impl Stations {
    /// Whether fewer are not enough.
    pub fn are_fewest(&self) -> bool {
        self.stations.len() == self.at_least
    }

    /// Why fewer than the bound are not enough, as a clause.
    pub fn because(&self, conflicts: &Conflicts) -> String {
        match &self.reason {
            Reason::Ring => "a ring has at least two stations".to_owned(),
            Reason::Clique(members) => {
                let members = conflicts.listed(members);
                format!("no two of {members} may be down together")
            }
            Reason::Exhausted => "every division into fewer was tried or excluded".to_owned(),
        }
    }

    /// Takes colours, if they are fewer.
    fn offer(&mut self, conflicts: &Conflicts, colours: &[u32]) {
        let mut members: Vec<Node> = (0..conflicts.len() as Node).collect();
        members.sort_by_key(|&member| colours[member as usize]);
        let mut station_of = vec![NONE; members.len()];
        let mut stations: Vec<Vec<Node>> = Vec::new();
        // The first that has room, so that every two of them have members in conflict.
        for member in members {
            let station = free(conflicts, member, &station_of);
            station_of[member as usize] = station as u32;
            match stations.get_mut(station) {
                Some(station) => station.push(member),
                None => stations.push(vec![member]),
            }
        }
        if let [all] = &mut stations[..] {
            let rest = all.split_off(all.len() / 2);
            stations.push(rest);
        }
        if self.stations.is_empty() || stations.len() < self.stations.len() {
            stations
                .iter_mut()
                .for_each(|station| station.sort_unstable());
            stations.sort_unstable();
            self.stations = stations;
        }
    }
}

/// Looks for the fewest stations. `progress` is told what is being tried; soon after `stop`
/// becomes true the fewest so far are returned.
///
/// ```
/// use headway_walk::plan::Request;
/// use headway_walk::plan::conflicts::Input;
/// use headway_walk::plan::stations::fewest;
/// // Two racks of two.
/// let conflicts = Input::Groups.read("a1,b1\na1,b2\na2,b1\na2,b2").unwrap();
/// let request = Request { seed: 1, effort: 1 };
/// let found = fewest(&conflicts, request, &mut |_| {}, &false.into());
/// assert_eq!((found.stations.len(), found.are_fewest()), (2, true));
/// assert_eq!(found.because(&conflicts), "no two of a1, b2 may be down together");
/// ```
pub fn fewest(
    conflicts: &Conflicts,
    request: Request,
    progress: &mut dyn FnMut(&str),
    stop: &AtomicBool,
) -> Stations {
    let groups = conflicts.groups().iter().map(|group| group.members.clone());
    let clique = groups
        .chain([bound::clique(conflicts)])
        .max_by_key(Vec::len);
    let clique = clique.filter(|members| members.len() > 1);
    let mut found = Stations {
        stations: Vec::new(),
        at_least: clique.as_ref().map_or(2, Vec::len),
        reason: clique.map_or(Reason::Ring, Reason::Clique),
    };
    let first = saturated(conflicts);
    found.offer(conflicts, &first);
    while !found.are_fewest() {
        progress(&format!("looking for {} stations", found.at_least));
        match Search::new(conflicts, found.at_least, request.effort).exact(stop) {
            Answer::Found(colours) => found.offer(conflicts, &colours),
            Answer::Impossible => {
                found.at_least += 1;
                found.reason = Reason::Exhausted;
            }
            Answer::GaveUp => break,
        }
    }
    let mut choices = Choices::new(request.seed, 1);
    while !found.are_fewest() {
        let fewer = found.stations.len() - 1;
        progress(&format!("looking for {fewer} stations"));
        let search = Search::new(conflicts, fewer, request.effort);
        match search.tabu(&mut choices, stop) {
            Some(colours) => found.offer(conflicts, &colours),
            None => break,
        }
    }
    found
}

/// No colour.
const NONE: u32 = u32::MAX;

/// The first colour that no member in conflict has.
fn free(conflicts: &Conflicts, member: Node, colours: &[u32]) -> usize {
    let others = conflicts.neighbours(member);
    let mut taken = vec![false; others.len() + 1];
    for &other in others {
        if let Some(taken) = taken.get_mut(colours[other as usize] as usize) {
            *taken = true;
        }
    }
    taken.iter().position(|taken| !taken).unwrap_or(0)
}

/// Colours the member that sees most colours, of those the one with most conflicts.
fn saturated(conflicts: &Conflicts) -> Vec<u32> {
    let mut colours = vec![NONE; conflicts.len()];
    let mut seen = vec![BTreeSet::new(); conflicts.len()];
    let rank = |member: Node, seen: usize| {
        let others = conflicts.neighbours(member).len();
        (seen, others, Reverse(member))
    };
    let members = 0..conflicts.len() as Node;
    let mut next: BinaryHeap<_> = members.map(|member| rank(member, 0)).collect();
    while let Some((_, _, Reverse(member))) = next.pop() {
        if colours[member as usize] != NONE {
            continue;
        }
        let colour = free(conflicts, member, &colours) as u32;
        colours[member as usize] = colour;
        for &other in conflicts.neighbours(member) {
            let seen = &mut seen[other as usize];
            if colours[other as usize] == NONE && seen.insert(colour) {
                next.push(rank(other, seen.len()));
            }
        }
    }
    colours
}
