//! Formations strung together to a closed walk.

use std::collections::HashSet;

use super::{Formation, Formations};
use crate::network::distance::hops_from;
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::stop;

/// Formations one after another, and what they have visited.
pub(super) struct Plan<'a> {
    formations: &'a Formations<'a>,
    path: Vec<Formation>,
    visits: Vec<u32>,
    left_out: usize,
    effort: usize,
}

impl<'a> Plan<'a> {
    pub(super) fn new(formations: &'a Formations<'a>, start: Formation, effort: usize) -> Plan<'a> {
        let mut plan = Plan {
            formations,
            path: Vec::new(),
            visits: vec![0; formations.network.len()],
            left_out: formations.network.len(),
            effort,
        };
        plan.push(start);
        plan
    }

    fn push(&mut self, formation: Formation) {
        for &node in &formation {
            if self.visits[node as usize] == 0 {
                self.left_out -= 1;
            }
            self.visits[node as usize] += 1;
        }
        self.path.push(formation);
    }

    fn last(&self) -> &Formation {
        &self.path[self.path.len() - 1]
    }

    /// Goes on until every node has been visited.
    pub(super) fn cover(&mut self, choices: &mut Choices) -> Option<()> {
        while self.left_out > 0 {
            let path = self.nearby().or_else(|| self.afar(choices))?;
            for formation in path {
                self.push(formation);
            }
        }
        Some(())
    }

    /// A shortest path to a formation with an unvisited node, if it is close; of
    /// several one with the most unvisited nodes, and among those one whose nodes
    /// have the fewest unvisited neighbours, which would be left behind otherwise.
    fn nearby(&mut self) -> Option<Vec<Formation>> {
        const LIMIT: usize = 1500;
        let network = self.formations.network;
        let mut tree: Vec<(Formation, usize)> = vec![(self.last().clone(), usize::MAX)];
        let mut seen: HashSet<Formation> = HashSet::from([self.last().clone()]);
        let mut layer = 0..1;
        while !layer.is_empty() && tree.len() < LIMIT {
            let mut best: Option<((usize, usize), usize)> = None;
            for index in layer.clone() {
                let formation = tree[index].0.clone();
                let visits = &self.visits;
                // Unvisited nodes first, those with few unvisited neighbours before.
                let prefer = |_: usize, node: Node| {
                    let open = network
                        .neighbours(node)
                        .iter()
                        .filter(|&&next| visits[next as usize] == 0)
                        .count();
                    let visited = visits[node as usize] > 0;
                    open as u32 + if visited { 1 << 16 } else { 0 }
                };
                let effort = &mut self.effort;
                self.formations
                    .steps(&formation, &prefer, effort, &mut |next| {
                        if seen.contains(next) {
                            return;
                        }
                        seen.insert(next.into());
                        let fresh = |node: Node| usize::from(visits[node as usize] == 0);
                        let gain: usize = next.iter().map(|&node| fresh(node)).sum();
                        if gain > 0 {
                            let open: usize = next
                                .iter()
                                .filter(|&&node| fresh(node) == 1)
                                .flat_map(|&node| network.neighbours(node))
                                .map(|&node| fresh(node))
                                .sum();
                            let key = (next.len() - gain, open);
                            if best.is_none_or(|(known, _)| key < known) {
                                best = Some((key, tree.len()));
                            }
                        }
                        tree.push((next.into(), index));
                    })?;
            }
            if let Some((_, mut index)) = best {
                let mut path = Vec::new();
                while index != 0 {
                    path.push(tree[index].0.clone());
                    index = tree[index].1;
                }
                path.reverse();
                return Some(path);
            }
            layer = layer.end..tree.len();
        }
        None
    }

    /// A path that brings some token to some unvisited node.
    fn afar(&mut self, choices: &mut Choices) -> Option<Vec<Formation>> {
        let network = self.formations.network;
        let reversed = (!network.is_symmetric()).then(|| network.reversed());
        let back = reversed.as_ref().unwrap_or(network);
        let start = self.last().clone();
        let mut wishes: Vec<(u32, usize, Node)> = Vec::new();
        for (token, &node) in start.iter().enumerate() {
            let hops = hops_from(network, node);
            wishes.extend(
                network
                    .nodes()
                    .filter(|&node| self.visits[node as usize] == 0)
                    .map(|node| (hops[node as usize], token, node)),
            );
        }
        wishes.sort_unstable();
        // The nearest wishes, then some at random: the nearest may be out of reach
        // for this token while another one can get there.
        let mut picks: Vec<usize> = (0..wishes.len().min(6)).collect();
        picks.extend((0..10).map(|_| choices.below(wishes.len())));
        for pick in picks {
            if stop::is_set(self.formations.stop) {
                break;
            }
            let (_, token, target) = wishes[pick];
            let hops = hops_from(back, target);
            let mut effort = 300_000.min(self.effort);
            let before = effort;
            let path = self.formations.path(
                &start,
                |formation| hops[formation[token] as usize],
                |other, node| {
                    if other == token {
                        hops[node as usize]
                    } else {
                        0
                    }
                },
                2,
                &mut effort,
            );
            self.effort -= before - effort;
            if path.is_some() {
                return path;
            }
        }
        None
    }

    /// Leads back to the first formation, turned by one.
    pub(super) fn close(&mut self) -> Option<()> {
        let network = self.formations.network;
        let reversed = (!network.is_symmetric()).then(|| network.reversed());
        let back = reversed.as_ref().unwrap_or(network);
        let mut goal = self.path[0].clone();
        goal.rotate_left(1);
        let hops: Vec<Vec<u32>> = goal.iter().map(|&node| hops_from(back, node)).collect();
        let most = |formation: &[Node]| {
            formation
                .iter()
                .zip(&hops)
                .map(|(&node, hops)| hops[node as usize])
                .max()
                .unwrap_or(0)
        };
        if self.last() == &goal {
            return Some(());
        }
        // Every formation that this search makes is kept in memory.
        const MAX_KEPT: usize = 8_000_000;
        let mut effort = self.effort.min(MAX_KEPT);
        let before = effort;
        let path = self.formations.path(
            &self.last().clone(),
            most,
            |token, node| hops[token][node as usize],
            3,
            &mut effort,
        )?;
        self.effort -= before - effort;
        for formation in path {
            self.push(formation);
        }
        Some(())
    }

    /// Replaces stretches by shorter ones that visit what only they visit.
    pub(super) fn shorten(&mut self, choices: &mut Choices) {
        let tries = (self.path.len() * 6).clamp(200, 30_000);
        for attempt in 0..tries {
            let stopped = stop::is_set(self.formations.stop);
            if stopped || self.effort < 100_000 || self.path.len() < 4 {
                return;
            }
            let longest = if attempt % 2 == 0 { 6 } else { 16 };
            let steps = (2 + choices.below(longest)).min(self.path.len() - 1);
            let first = choices.below(self.path.len() - steps);
            self.shorten_stretch(first, steps);
        }
    }

    fn shorten_stretch(&mut self, first: usize, steps: usize) {
        const MAX_WANTED: usize = 4;
        let formations = self.formations;
        for &node in self.path[first + 1..first + steps].iter().flatten() {
            self.visits[node as usize] -= 1;
        }
        let mut wanted: Vec<Node> = self.path[first + 1..first + steps]
            .iter()
            .flatten()
            .copied()
            .filter(|&node| self.visits[node as usize] == 0)
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let shorter = (wanted.len() <= MAX_WANTED)
            .then(|| {
                let goal = &self.path[first + steps];
                let mut effort = 50_000.min(self.effort);
                let before = effort;
                let found = through(
                    formations,
                    &self.path[first],
                    goal,
                    &wanted,
                    steps - 1,
                    &mut effort,
                );
                self.effort -= before - effort;
                found
            })
            .flatten();
        let mut last = first + steps;
        if let Some(shorter) = shorter {
            last = first + shorter.len();
            self.path.splice(first + 1..=first + steps, shorter);
        }
        for &node in self.path[first + 1..last].iter().flatten() {
            self.visits[node as usize] += 1;
        }
    }

    /// The tokens' paths end to end: the first token's leads to where the second
    /// began, and so on.
    pub(super) fn walk(&self) -> Vec<Node> {
        let steps = self.path.len() - 1;
        (0..self.formations.tokens)
            .flat_map(|token| {
                self.path[..steps]
                    .iter()
                    .map(move |formation| formation[token])
            })
            .collect()
    }
}

/// A shortest path between two formations, of at most `most` steps, on which some
/// token visits each of the wanted nodes; without the first formation.
fn through(
    formations: &Formations<'_>,
    start: &Formation,
    goal: &Formation,
    wanted: &[Node],
    most: usize,
    effort: &mut usize,
) -> Option<Vec<Formation>> {
    let all = (1u8 << wanted.len()) - 1;
    let seen_at = |formation: &[Node], seen: u8| {
        wanted.iter().enumerate().fold(seen, |seen, (bit, node)| {
            seen | u8::from(formation.contains(node)) << bit
        })
    };
    // Backwards and forwards distances would need the reversed network; a bound by
    // single tokens, which is cheap for the short stretches met here, is enough.
    let hops = |from: Node, to: Node, limit: u32| within(formations.network, from, to, limit);
    let mut tree: Vec<(Formation, u8, usize)> = vec![(start.clone(), 0, 0)];
    let mut known: HashSet<(Formation, u8)> = HashSet::new();
    let mut layer = 0..1;
    for step in 1..=most {
        let left = (most - step) as u32;
        for index in layer.clone() {
            let (formation, seen) = (tree[index].0.clone(), tree[index].1);
            let mut found = None;
            formations.steps(&formation, &|_, _| 0, effort, &mut |next| {
                if found.is_some() {
                    return;
                }
                let seen = seen_at(next, seen);
                if next == &**goal && seen == all {
                    found = Some(());
                    return;
                }
                let reachable = next
                    .iter()
                    .zip(goal.iter())
                    .all(|(&from, &to)| hops(from, to, left));
                if reachable && known.insert((next.into(), seen)) {
                    tree.push((next.into(), seen, index));
                }
            })?;
            if found.is_some() {
                let mut path = vec![goal.clone()];
                let mut at = index;
                while at != 0 {
                    path.push(tree[at].0.clone());
                    at = tree[at].2;
                }
                path.reverse();
                return Some(path);
            }
        }
        layer = layer.end..tree.len();
        if layer.is_empty() {
            return None;
        }
    }
    None
}

/// Whether `to` is at most `limit` hops from `from`, for small limits.
fn within(network: &Network, from: Node, to: Node, limit: u32) -> bool {
    if from == to {
        return true;
    }
    match limit {
        0 => false,
        1 => network.linked(from, to),
        2 => {
            network.linked(from, to)
                || network
                    .neighbours(from)
                    .iter()
                    .any(|&middle| network.linked(middle, to))
        }
        // Further out the check costs more than the formations that it saves.
        _ => true,
    }
}
