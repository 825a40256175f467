//! Walks for several tokens on large networks: the tokens turn on a circuit, each
//! towards where the next one began, and make side trips on the way.
//!
//! Such a circuit is a path of formations (see [`crate::formation`]) that is found
//! directly: far-apart corners, one for each token, and paths between them that all
//! tokens take in the same number of steps. Between two steps a token can tour a tree
//! of nodes that keep their distance from where the others are, who meanwhile step to
//! and fro between this formation and the next. Nothing is searched in the space of
//! formations, whose size is a power of the number of nodes; what is kept on the
//! walk is measured afterwards, like that of any other.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use crate::distance::{Near, hops_from};
use crate::hamiltonian::two_colours;
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::stop;
use crate::walk::Walk;

/// How far to look, and for what.
pub(crate) struct Wish<'a> {
    /// m, at least 2.
    pub(crate) tokens: usize,
    /// What is kept already: only more is of use.
    pub(crate) more_than: u32,
    /// More than this is of no use.
    pub(crate) at_most: u32,
    pub(crate) seed: u64,
    pub(crate) effort: u32,
    pub(crate) stop: &'a AtomicBool,
}

/// Nodes and links looked at for each unit of effort.
const WORK: usize = 2_000_000_000;

/// A closed walk on which the tokens keep more than is kept already, if one is found.
/// For networks whose links go both ways: a token has to be able to step back.
pub(crate) fn walk(network: &Network, wish: &Wish<'_>) -> Option<Walk> {
    if !network.is_symmetric() || network.len() > usize::from(u16::MAX) {
        return None;
    }
    let mut choices = Choices::new(wish.seed, 3);
    let colours = two_colours(network);
    let size = network.len() + network.directed_links();
    let mut work = WORK.saturating_mul(wish.effort.max(1) as usize);
    let mut best: Option<(u32, Vec<Node>, Circuit)> = None;
    'attempts: for attempt in 0..MAX_ATTEMPTS * wish.effort.max(1) {
        if stop::is_set(wish.stop) {
            break;
        }
        let kept = best.as_ref().map_or(wish.more_than, |best| best.0);
        if kept >= wish.at_most {
            break;
        }
        let mut corners = match &best {
            Some((_, corners, _)) if attempt % 4 != 0 => moved(network, corners, &mut choices),
            _ => far_apart(network, wish.tokens, &mut choices),
        };
        if let Some(colours) = &colours {
            same_side(network, colours, &mut corners);
        }
        let Some(circuit) = Circuit::through(network, &corners, &mut choices, wish.stop) else {
            continue;
        };
        let (mut can, mut beyond) = (kept, circuit.kept().min(wish.at_most) + 1);
        let mut searches = circuit.hops.len();
        let mut middle = kept + 1;
        while can + 1 < beyond {
            match circuit.covers(network, middle, wish.stop) {
                Some(true) => can = middle,
                Some(false) => beyond = middle,
                None => break 'attempts,
            }
            searches += circuit.slots();
            middle = can + (beyond - can) / 2;
        }
        if can > kept {
            best = Some((can, corners, circuit));
        }
        work = match work.checked_sub(searches * size) {
            Some(left) => left,
            None => break,
        };
    }
    let (distance, _, circuit) = best?;
    Walk::new(
        network,
        circuit.with_side_trips(network, distance, wish.stop),
    )
    .ok()
}

const MAX_ATTEMPTS: u32 = 100;

/// Nodes far from each other: each as far as can be from those before it.
fn far_apart(network: &Network, tokens: usize, choices: &mut Choices) -> Vec<Node> {
    let mut corners = Vec::new();
    let mut nearest = hops_from(network, choices.below(network.len()) as Node);
    for _ in 0..tokens {
        let furthest = nearest.iter().copied().max().unwrap_or(0);
        // Not always the very furthest, so that attempts differ.
        let enough = furthest - furthest * choices.below(5) as u32 / 16;
        let far: Vec<Node> = network
            .nodes()
            .filter(|&node| nearest[node as usize] >= enough)
            .collect();
        let corner = far[choices.below(far.len())];
        let hops = hops_from(network, corner);
        for (nearest, hops) in nearest.iter_mut().zip(hops) {
            // What was nearest to the first node, which is not a corner, is forgotten.
            *nearest = if corners.is_empty() {
                hops
            } else {
                hops.min(*nearest)
            };
        }
        corners.push(corner);
    }
    in_order(network, &mut corners);
    corners
}

/// Puts corners in an order in which the way round them is short: by 2-opt.
fn in_order(network: &Network, corners: &mut [Node]) {
    let hops: HashMap<Node, Vec<u32>> = corners
        .iter()
        .map(|&corner| (corner, hops_from(network, corner)))
        .collect();
    let apart = |one: Node, other: Node| hops[&one][other as usize];
    let count = corners.len();
    let mut better = true;
    while better {
        better = false;
        for first in 0..count.saturating_sub(2) {
            for last in first + 1..count - 1 {
                let before = corners[(first + count - 1) % count];
                let (one, other, after) = (corners[first], corners[last], corners[last + 1]);
                if apart(before, other) + apart(one, after)
                    < apart(before, one) + apart(other, after)
                {
                    corners[first..=last].reverse();
                    better = true;
                }
            }
        }
    }
}

/// The corners, each moved a little.
fn moved(network: &Network, corners: &[Node], choices: &mut Choices) -> Vec<Node> {
    let furthest = 1 << choices.below(5);
    let mut corners = corners.to_vec();
    for corner in &mut corners {
        for _ in 0..choices.below(furthest + 1) {
            let neighbours = network.neighbours(*corner);
            *corner = neighbours[choices.below(neighbours.len())];
        }
    }
    corners
}

/// In a bipartite network all tokens change sides at once, so that they have to begin
/// on one side for every path to be of the same length.
fn same_side(network: &Network, colours: &[bool], corners: &mut [Node]) {
    let side = colours[corners[0] as usize];
    for corner in corners {
        if colours[*corner as usize] != side {
            *corner = network.neighbours(*corner)[0];
        }
    }
}

/// One path for each token, from its corner to that of the next one, all of the same
/// number of steps.
struct Circuit {
    paths: Vec<Vec<Node>>,
    /// From every node of the paths to all nodes.
    hops: HashMap<Node, Vec<u16>>,
}

impl Circuit {
    fn through(
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

    fn steps(&self) -> usize {
        self.paths[0].len() - 1
    }

    /// Moments and tokens: each can make side trips.
    fn slots(&self) -> usize {
        self.steps() * self.paths.len()
    }

    /// The nearest that tokens come on the circuit itself.
    fn kept(&self) -> u32 {
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
    fn covers(&self, network: &Network, distance: u32, stop: &AtomicBool) -> Option<bool> {
        let mut trips = Trips::new(network, distance);
        let mut left = network.len();
        let mut reached = vec![false; network.len()];
        for slot in 0..self.slots() {
            if stop::is_set(stop) {
                return None;
            }
            trips.search(self, slot, |node, _, _| {
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
    fn with_side_trips(&self, network: &Network, distance: u32, stop: &AtomicBool) -> Vec<Node> {
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
        let mut trips = Trips::new(network, distance);
        let mut nearest = vec![(u32::MAX, usize::MAX); network.len()];
        for slot in 0..self.slots() {
            trips.search(self, slot, |node, depth, _| {
                let known = &mut nearest[node as usize];
                *known = (*known).min((depth, slot));
            });
        }
        let mut tours = vec![Vec::new(); self.slots()];
        for (slot, tour) in tours.iter_mut().enumerate() {
            let mut found: Vec<(Node, Node)> = Vec::new();
            trips.search(self, slot, |node, _, parent| found.push((node, parent)));
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

/// Searches for side trips, again and again without clearing.
struct Trips<'a> {
    network: &'a Network,
    distance: u32,
    seen: Vec<u32>,
    stamp: u32,
    queue: Vec<(Node, u32, Node)>,
}

impl<'a> Trips<'a> {
    fn new(network: &'a Network, distance: u32) -> Trips<'a> {
        Trips {
            network,
            distance,
            seen: vec![0; network.len()],
            stamp: 0,
            queue: Vec::new(),
        }
    }

    /// Calls `found` with every node to which a token can make a side trip, nearest
    /// first, how deep it is and from where it is reached.
    fn search(&mut self, circuit: &Circuit, slot: usize, mut found: impl FnMut(Node, u32, Node)) {
        let tokens = circuit.paths.len();
        let (moment, token) = (slot / tokens, slot % tokens);
        // On a tour depth and time are both even or both odd, and at odd times the
        // others are one step on.
        let others: [Vec<&[u16]>; 2] = [0, 1].map(|odd| {
            let there = circuit.paths.iter().enumerate();
            there
                .filter(|&(other, _)| other != token)
                .map(|(_, path)| &circuit.hops[&path[moment + odd]][..])
                .collect()
        });
        self.stamp += 1;
        self.queue.clear();
        let start = circuit.paths[token][moment];
        self.seen[start as usize] = self.stamp;
        self.queue.push((start, 0, start));
        let mut next = 0;
        while let Some(&(node, depth, parent)) = self.queue.get(next) {
            next += 1;
            found(node, depth, parent);
            stop::looked_at(1);
            let others = &others[(depth as usize + 1) % 2];
            for &neighbour in self.network.neighbours(node) {
                let apart = |hops: &&[u16]| u32::from(hops[neighbour as usize]) >= self.distance;
                if self.seen[neighbour as usize] != self.stamp && others.iter().all(apart) {
                    self.seen[neighbour as usize] = self.stamp;
                    self.queue.push((neighbour, depth + 1, node));
                }
            }
        }
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
    use crate::generators::Generator;
    use crate::kept::{self, Offsets};
    use crate::stop::NEVER;

    fn wish(tokens: usize, more_than: u32, at_most: u32) -> Wish<'static> {
        Wish {
            tokens,
            more_than,
            at_most,
            seed: 1,
            effort: 1,
            stop: &NEVER,
        }
    }

    /// What the walk keeps is measured by other code, which knows nothing of how it
    /// was made.
    #[test]
    fn walks_keep_what_was_asked() {
        let mut found = 0;
        for generator in [
            "grid:9x9",
            "torus:8x9",
            "geometric:200",
            "hypercube:6",
            "ring:30",
        ] {
            let network = generator.parse::<Generator>().unwrap().network(4).unwrap();
            for tokens in 2..=5 {
                for more_than in 0..3 {
                    let Some(walk) = walk(&network, &wish(tokens, more_than, more_than + 1)) else {
                        continue;
                    };
                    let offsets = Offsets::furthest(walk.len(), tokens);
                    let kept = kept::nearest(&network, &walk, &offsets).unwrap().distance;
                    assert!(kept > more_than, "{generator} {tokens} {more_than}: {kept}");
                    assert!(walk.len().is_multiple_of(tokens));
                    found += 1;
                }
            }
        }
        assert!(found > 40, "{found}");
    }

    #[test]
    fn nothing_where_links_go_one_way_or_nothing_is_left_to_gain() {
        let one_way = crate::formats::Format::Dot
            .read("digraph { a -> b -> c -> a }")
            .unwrap();
        assert_eq!(walk(&one_way, &wish(2, 0, 9)), None);
        let ring = Generator::Ring(12).network(0).unwrap();
        assert_eq!(walk(&ring, &wish(2, 6, 6)), None);
        let stop = AtomicBool::new(true);
        let stopped = Wish {
            stop: &stop,
            ..wish(2, 0, 6)
        };
        assert_eq!(walk(&ring, &stopped), None);
    }

    #[test]
    fn paths_are_stretched_evenly() {
        assert_eq!(stretched(&[0, 1, 2], 6), [0, 1, 0, 1, 2, 1, 2]);
        assert_eq!(stretched(&[0, 1, 2], 2), [0, 1, 2]);
        assert_eq!(stretched(&[5, 6], 5), [5, 6, 5, 6, 5, 6]);
    }
}
