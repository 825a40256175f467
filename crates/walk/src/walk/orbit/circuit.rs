//! The circuit on which tokens turn, and their side trips.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use crate::network::distance::{Near, Reach, hops_from};
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::stop;

/// One path for each token, from its corner to that of the next one, all of the same
/// number of steps.
pub(super) struct Circuit {
    paths: Vec<Vec<Node>>,
    /// From every node of the paths to all nodes.
    pub(super) hops: HashMap<Node, Vec<u16>>,
}

impl Circuit {
    pub(super) fn through(
        network: &Network,
        corners: &[Node],
        choices: &mut Choices,
        stop: &AtomicBool,
    ) -> Option<Circuit> {
        let next = |token: usize| corners[(token + 1) % corners.len()];
        if (0..corners.len()).any(|token| corners[token] == next(token)) {
            return None;
        }
        let tables: Vec<[Vec<u32>; 2]> = (0..corners.len())
            .map(|token| hops_by_parity(network, next(token)))
            .collect();
        let longest = |parity: usize| {
            let legs = corners.iter().zip(&tables);
            legs.map(|(&corner, table)| table[parity][corner as usize])
                .max()
        };
        let parity = usize::from(longest(1) < longest(0));
        let steps = longest(parity).filter(|&steps| steps != u32::MAX && steps > 0)?;
        let paths: Vec<Vec<Node>> = corners
            .iter()
            .zip(&tables)
            .map(|(&corner, table)| {
                let path = descend(network, corner, table, parity, choices);
                stretched(&path, steps as usize)
            })
            .collect();
        let mut hops = HashMap::new();
        for &node in paths.iter().flatten() {
            if stop::is_set(stop) {
                return None;
            }
            hops.entry(node).or_insert_with(|| {
                let all = hops_from(network, node);
                // There are fewer nodes than 2^16.
                all.into_iter().map(|hops| hops as u16).collect()
            });
        }
        Some(Circuit { paths, hops })
    }

    /// Calls `found` with every node to which a token can make a side trip at that distance
    /// from the others, nearest first, how deep it is and from where it is reached.
    fn trips(
        &self,
        reach: &mut Reach,
        network: &Network,
        (slot, distance): (usize, u32),
        mut found: impl FnMut(Node, u32, Node),
    ) {
        let tokens = self.paths.len();
        let (moment, token) = (slot / tokens, slot % tokens);
        // On a tour depth and time are both even or both odd, and at odd times the
        // others are one step on.
        let others: [Vec<&[u16]>; 2] = [0, 1].map(|odd| {
            let there = self.paths.iter().enumerate();
            there
                .filter(|&(other, _)| other != token)
                .map(|(_, path)| &self.hops[&path[moment + odd]][..])
                .collect()
        });
        let apart = |node: Node, depth: u32| {
            let hops = others[depth as usize % 2].iter();
            let mut hops = hops.map(|hops| u32::from(hops[node as usize]));
            hops.all(|hops| hops >= distance)
        };
        let start = self.paths[token][moment];
        reach.spread(network, &[start], u32::MAX, apart, |node, depth, parent| {
            found(node, depth, parent);
            false
        });
    }

    fn steps(&self) -> usize {
        self.paths[0].len() - 1
    }

    /// Moments and tokens: each can make side trips.
    pub(super) fn slots(&self) -> usize {
        self.steps() * self.paths.len()
    }

    /// The nearest that tokens come on the circuit itself.
    pub(super) fn kept(&self) -> u32 {
        let mut nearest = u16::MAX;
        for moment in 0..self.steps() {
            for (token, path) in self.paths.iter().enumerate() {
                let hops = &self.hops[&path[moment]];
                for other in &self.paths[..token] {
                    nearest = nearest.min(hops[other[moment] as usize]);
                }
            }
        }
        u32::from(nearest)
    }

    /// Whether side trips at that distance from the others reach every node; `None` when
    /// it has to stop.
    pub(super) fn covers(
        &self,
        network: &Network,
        distance: u32,
        stop: &AtomicBool,
    ) -> Option<bool> {
        let mut reach = Reach::new(network.len());
        let mut left = network.len();
        let mut reached = vec![false; network.len()];
        for slot in 0..self.slots() {
            if stop::is_set(stop) {
                return None;
            }
            self.trips(&mut reach, network, (slot, distance), |node, _, _| {
                if !std::mem::replace(&mut reached[node as usize], true) {
                    left -= 1;
                }
            });
            if left == 0 {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The walk: the tokens' paths end to end, with side trips to every node. In a hurry
    /// all of them are made one after another, which needs no distances.
    pub(super) fn with_side_trips(
        &self,
        network: &Network,
        distance: u32,
        stop: &AtomicBool,
    ) -> Vec<Node> {
        let tours = self.tours(network, distance);
        let near = Near::new(network, distance, stop);
        let hurry = stop::is_set(stop);
        let tokens = self.paths.len();
        let mut walks: Vec<Vec<Node>> = vec![Vec::new(); tokens];
        for moment in 0..self.steps() {
            let to_and_fro = |token: usize, step: usize| self.paths[token][moment + step % 2];
            let at = |token: usize, tour: &[Node], step: usize| {
                tour.get(step)
                    .copied()
                    .unwrap_or_else(|| to_and_fro(token, step))
            };
            let mut waiting: Vec<usize> = (0..tokens)
                .filter(|&token| !tours[moment * tokens + token].is_empty())
                .collect();
            waiting.sort_by_key(|&token| tours[moment * tokens + token].len());
            // The longest, and at the same time all others that stay away from those
            // before them, one way round or the other.
            while let Some(first) = waiting.pop() {
                let steps = tours[moment * tokens + first].len();
                let mut touring = vec![Vec::new(); tokens];
                touring[first].clone_from(&tours[moment * tokens + first]);
                let together = if hurry { 0 } else { waiting.len() };
                for index in (0..together).rev() {
                    let token = waiting[index];
                    let mut tour = tours[moment * tokens + token].clone();
                    for _way_round in 0..2 {
                        let apart = (0..tokens).filter(|&other| other != token).all(|other| {
                            (0..steps).all(|step| {
                                let there = at(other, &touring[other], step);
                                !near.contains(at(token, &tour, step), there)
                            })
                        });
                        if apart {
                            touring[token] = tour;
                            waiting.remove(index);
                            break;
                        }
                        tour[1..].reverse();
                    }
                }
                for (token, walk) in walks.iter_mut().enumerate() {
                    walk.extend((0..steps).map(|step| at(token, &touring[token], step)));
                }
            }
            for (token, walk) in walks.iter_mut().enumerate() {
                walk.push(to_and_fro(token, 0));
            }
        }
        walks.concat()
    }

    /// For every slot a closed tour, without the last step's end, over the nodes for
    /// which it is the nearest slot; empty where there are none.
    fn tours(&self, network: &Network, distance: u32) -> Vec<Vec<Node>> {
        let mut reach = Reach::new(network.len());
        let mut nearest = vec![(u32::MAX, usize::MAX); network.len()];
        for slot in 0..self.slots() {
            self.trips(&mut reach, network, (slot, distance), |node, depth, _| {
                let known = &mut nearest[node as usize];
                *known = (*known).min((depth, slot));
            });
        }
        let mut tours = vec![Vec::new(); self.slots()];
        for (slot, tour) in tours.iter_mut().enumerate() {
            let mut found: Vec<(Node, Node)> = Vec::new();
            self.trips(&mut reach, network, (slot, distance), |node, _, parent| {
                found.push((node, parent));
            });
            // Deepest first: a node is needed if it is to be visited from here or
            // leads to one that is.
            let mut children: HashMap<Node, Vec<Node>> = HashMap::new();
            for &(node, parent) in found[1..].iter().rev() {
                if nearest[node as usize].1 == slot || children.contains_key(&node) {
                    children.entry(parent).or_default().push(node);
                }
            }
            let mut open = vec![(found[0].0, 0)];
            while let Some((node, next)) = open.pop() {
                tour.push(node);
                if let Some(&child) = children.get(&node).and_then(|all| all.get(next)) {
                    open.push((node, next + 1));
                    open.push((child, 0));
                }
            }
            tour.pop();
        }
        tours
    }
}

/// Steps of the shortest walk from every node to `to`: of an even number, and of an
/// odd one.
fn hops_by_parity(network: &Network, to: Node) -> [Vec<u32>; 2] {
    let mut hops = [vec![u32::MAX; network.len()], vec![u32::MAX; network.len()]];
    hops[0][to as usize] = 0;
    let mut queue = std::collections::VecDeque::from([(to, 0)]);
    while let Some((node, steps)) = queue.pop_front() {
        let steps: u32 = steps + 1;
        for &next in network.neighbours(node) {
            let known = &mut hops[steps as usize % 2][next as usize];
            if *known == u32::MAX {
                *known = steps;
                queue.push_back((next, steps));
            }
        }
    }
    hops
}

/// A shortest walk of that parity; of several ways on a random one.
fn descend(
    network: &Network,
    from: Node,
    hops: &[Vec<u32>; 2],
    parity: usize,
    choices: &mut Choices,
) -> Vec<Node> {
    let mut path = vec![from];
    let mut left = hops[parity][from as usize];
    let mut node = from;
    while left > 0 {
        left -= 1;
        let fitting: Vec<Node> = network
            .neighbours(node)
            .iter()
            .copied()
            .filter(|&next| hops[left as usize % 2][next as usize] == left)
            .collect();
        node = fitting[choices.below(fitting.len())];
        path.push(node);
    }
    path
}

/// The path with steps to and fro, evenly spread, so that it takes that many steps.
fn stretched(path: &[Node], steps: usize) -> Vec<Node> {
    let links = path.len() - 1;
    let extra = (steps - links) / 2;
    let mut stretched = vec![path[0]];
    let mut added = 0;
    for link in 1..=links {
        stretched.push(path[link]);
        while added < extra * link / links {
            stretched.extend([path[link - 1], path[link]]);
            added += 1;
        }
    }
    stretched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_stretched_evenly() {
        assert_eq!(stretched(&[0, 1, 2], 6), [0, 1, 0, 1, 2, 1, 2]);
        assert_eq!(stretched(&[0, 1, 2], 2), [0, 1, 2]);
        assert_eq!(stretched(&[5, 6], 5), [5, 6, 5, 6, 5, 6]);
    }
}
