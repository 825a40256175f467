//! Walks made for separation: m tokens move through the network together.
//!
//! A *formation* is a place for each of m tokens, any two at least d apart. In one
//! step every token moves along a link, to another formation. If such steps lead
//! from a formation to the same one turned by one (every token where the next one
//! was), and the tokens between them have visited every node, then their paths
//! laid end to end are a closed walk of m·L positions on which m tokens, L apart,
//! keep distance d for ever. And every walk with m·g = W is made so. The search for
//! a walk is thereby a search for a path among formations.

use std::collections::{BinaryHeap, HashMap, HashSet};

use crate::distance::{Near, hops_from};
use crate::hamiltonian::two_colours;
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::walk::Walk;

/// The formations of a number of tokens at a distance.
///
/// ```
/// use headway_walk::{formation::Formations, generators::Generator, kept::{self, Offsets}};
/// let grid = Generator::Grid(10, 10).network(0).unwrap();
/// let walk = Formations::new(&grid, 2, 9).walk(1, 0, 1_000_000).unwrap();
/// let kept = kept::nearest(&grid, &walk, &Offsets::furthest(walk.len(), 2)).unwrap();
/// assert!(kept.distance >= 9);
/// ```
pub struct Formations<'a> {
    network: &'a Network,
    tokens: usize,
    near: Near,
    /// The two sides, when the network is bipartite.
    colours: Option<Vec<bool>>,
}

/// Where each token is.
type Formation = Box<[Node]>;

/// With many tokens the steps from a formation are too many to try them all.
const MOST_STEPS: usize = 512;

impl<'a> Formations<'a> {
    /// For `tokens` tokens that are to keep `distance`; V² bits.
    pub fn new(network: &'a Network, tokens: usize, distance: u32) -> Formations<'a> {
        Formations {
            network,
            tokens,
            near: Near::new(network, distance),
            colours: two_colours(network),
        }
    }

    /// A closed walk on which the tokens keep the distance, if the search finds one
    /// while it makes at most `effort` formations.
    pub fn walk(&self, seed: u64, stream: u64, effort: usize) -> Option<Walk> {
        let mut choices = Choices::new(seed, 1 << 32 | stream);
        let start = self.start(&mut choices)?;
        let mut plan = Plan::new(self, start, effort);
        plan.cover(&mut choices)?;
        plan.close()?;
        plan.shorten(&mut choices);
        Walk::new(self.network, plan.walk()).ok()
    }

    /// Far-apart places for all tokens. In a bipartite network all tokens change
    /// sides at once, so a formation can only become itself turned by one if its
    /// tokens are on one side, or on both by turns.
    fn start(&self, choices: &mut Choices) -> Option<Formation> {
        let by_turns = self.colours.is_some() && self.tokens.is_multiple_of(2);
        let first = by_turns && choices.below(2) == 0;
        self.start_on(first, choices)
            .or_else(|| self.start_on(by_turns && !first, choices))
    }

    fn start_on(&self, by_turns: bool, choices: &mut Choices) -> Option<Formation> {
        let mut order: Vec<Node> = self.network.nodes().collect();
        for _ in 0..50 {
            choices.shuffle(&mut order);
            let mut formation: Vec<Node> = Vec::new();
            'token: for token in 0..self.tokens {
                for &node in &order {
                    let side_fits = match (&self.colours, formation.first()) {
                        (Some(colours), Some(&first)) => {
                            let other = by_turns && token % 2 == 1;
                            colours[node as usize] == (colours[first as usize] ^ other)
                        }
                        _ => true,
                    };
                    if side_fits && self.fits(&formation, node) {
                        formation.push(node);
                        continue 'token;
                    }
                }
                break;
            }
            if formation.len() == self.tokens {
                return Some(formation.into());
            }
        }
        None
    }

    fn fits(&self, others: &[Node], node: Node) -> bool {
        others.iter().all(|&other| !self.near.contains(node, other))
    }

    /// Calls `found` with the formations one step on, and takes as much from
    /// `effort`; `None` when none is left. When there are too many, each token has
    /// only the choice of a few neighbours, those that `prefer` ranks lowest.
    fn steps(
        &self,
        formation: &[Node],
        prefer: &impl Fn(usize, Node) -> u32,
        effort: &mut usize,
        found: &mut impl FnMut(&[Node]),
    ) -> Option<()> {
        let all = formation.iter().try_fold(1usize, |steps, &node| {
            steps.checked_mul(self.network.neighbours(node).len())
        });
        let mut next = Vec::with_capacity(self.tokens);
        let mut left = MOST_STEPS;
        if all.is_some_and(|all| all <= MOST_STEPS) {
            let choices: Vec<&[Node]> = formation
                .iter()
                .map(|&node| self.network.neighbours(node))
                .collect();
            self.step_rest(&choices, &mut next, &mut left, found);
        } else {
            let few = (2..)
                .take_while(|few: &usize| few.pow(self.tokens.min(9) as u32) <= MOST_STEPS)
                .last()
                .unwrap_or(2);
            let choices: Vec<Vec<Node>> = formation
                .iter()
                .enumerate()
                .map(|(token, &node)| {
                    let mut ranked: Vec<(u32, u32, Node)> = self
                        .network
                        .neighbours(node)
                        .iter()
                        .map(|&next| {
                            // Ties in an order that differs from place to place.
                            let tie =
                                next.wrapping_mul(0x9e37_79b9) ^ node.wrapping_mul(0x85eb_ca6b);
                            (prefer(token, next), tie, next)
                        })
                        .collect();
                    ranked.sort_unstable();
                    ranked.truncate(few);
                    ranked.into_iter().map(|(_, _, next)| next).collect()
                })
                .collect();
            let choices: Vec<&[Node]> = choices.iter().map(Vec::as_slice).collect();
            self.step_rest(&choices, &mut next, &mut left, found);
        }
        *effort = effort.checked_sub(1 + MOST_STEPS - left)?;
        Some(())
    }

    fn step_rest(
        &self,
        choices: &[&[Node]],
        next: &mut Vec<Node>,
        left: &mut usize,
        found: &mut impl FnMut(&[Node]),
    ) {
        let Some(nodes) = choices.get(next.len()) else {
            *left -= 1;
            found(next);
            return;
        };
        for &node in *nodes {
            if *left > 0 && self.fits(next, node) {
                next.push(node);
                self.step_rest(choices, next, left, found);
                next.pop();
            }
        }
    }

    /// A path of formations from `start` to one where `hops_left` is 0, best
    /// guesses first; without `start`. `hops_left` never exceeds the steps needed,
    /// `prefer` says where single tokens had better go.
    fn path(
        &self,
        start: &[Node],
        hops_left: impl Fn(&[Node]) -> u32,
        prefer: impl Fn(usize, Node) -> u32,
        greed: u32,
        most: u32,
        effort: &mut usize,
    ) -> Option<Vec<Formation>> {
        struct Entry(u32, u32, Formation);
        impl PartialEq for Entry {
            fn eq(&self, other: &Entry) -> bool {
                self.cmp(other).is_eq()
            }
        }
        impl Eq for Entry {}
        impl PartialOrd for Entry {
            fn partial_cmp(&self, other: &Entry) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for Entry {
            /// The heap gives the greatest: the least guess, then the longest way.
            fn cmp(&self, other: &Entry) -> std::cmp::Ordering {
                (other.0, self.1, &self.2).cmp(&(self.0, other.1, &other.2))
            }
        }
        let mut from: HashMap<Formation, (u32, Formation)> = HashMap::new();
        let mut heap = BinaryHeap::from([Entry(0, 0, start.into())]);
        from.insert(start.into(), (0, start.into()));
        while let Some(Entry(_, taken, formation)) = heap.pop() {
            if taken > 0 && hops_left(&formation) == 0 {
                let mut path = Vec::new();
                let mut at = formation;
                while &*at != start || path.is_empty() {
                    let before = from[&at].1.clone();
                    path.push(at);
                    at = before;
                }
                path.reverse();
                return Some(path);
            }
            if from
                .get(&formation)
                .is_some_and(|&(known, _)| known < taken)
            {
                continue;
            }
            self.steps(&formation, &prefer, effort, &mut |next| {
                let guess = hops_left(next);
                if taken + 1 + guess > most {
                    return;
                }
                let better = match from.get(next) {
                    Some(&(known, _)) => taken + 1 < known,
                    None => true,
                };
                if better {
                    from.insert(next.into(), (taken + 1, formation.clone()));
                    heap.push(Entry(taken + 1 + greed * guess, taken + 1, next.into()));
                }
            })?;
        }
        None
    }
}

/// Formations one after another, and what they have visited.
struct Plan<'a> {
    formations: &'a Formations<'a>,
    path: Vec<Formation>,
    visits: Vec<u32>,
    left_out: usize,
    effort: usize,
}

impl<'a> Plan<'a> {
    fn new(formations: &'a Formations<'a>, start: Formation, effort: usize) -> Plan<'a> {
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
    fn cover(&mut self, choices: &mut Choices) -> Option<()> {
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
                u32::MAX,
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
    fn close(&mut self) -> Option<()> {
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
        let mut effort = self.effort;
        let path = self.formations.path(
            &self.last().clone(),
            most,
            |token, node| hops[token][node as usize],
            3,
            u32::MAX,
            &mut effort,
        )?;
        self.effort = effort;
        for formation in path {
            self.push(formation);
        }
        Some(())
    }

    /// Replaces stretches by shorter ones that visit what only they visit.
    fn shorten(&mut self, choices: &mut Choices) {
        let tries = (self.path.len() * 6).clamp(200, 30_000);
        for attempt in 0..tries {
            if self.effort < 100_000 || self.path.len() < 4 {
                return;
            }
            let longest = if attempt % 2 == 0 { 6 } else { 16 };
            let steps = (2 + choices.below(longest)).min(self.path.len() - 1);
            let first = choices.below(self.path.len() - steps);
            self.shorten_stretch(first, steps);
        }
    }

    fn shorten_stretch(&mut self, first: usize, steps: usize) {
        const MOST_WANTED: usize = 4;
        let formations = self.formations;
        for formation in &self.path[first + 1..first + steps] {
            for &node in formation {
                self.visits[node as usize] -= 1;
            }
        }
        let mut wanted: Vec<Node> = self.path[first + 1..first + steps]
            .iter()
            .flat_map(|formation| formation.iter().copied())
            .filter(|&node| self.visits[node as usize] == 0)
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let shorter = (wanted.len() <= MOST_WANTED)
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
        if let Some(shorter) = shorter {
            self.path.splice(first + 1..=first + steps, shorter.clone());
            for formation in &shorter[..shorter.len() - 1] {
                for &node in formation {
                    self.visits[node as usize] += 1;
                }
            }
        } else {
            for formation in &self.path[first + 1..first + steps] {
                for &node in formation {
                    self.visits[node as usize] += 1;
                }
            }
        }
    }

    /// The tokens' paths end to end: the first token's leads to where the second
    /// began, and so on.
    fn walk(&self) -> Vec<Node> {
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

/// Whether some walk of any length at all could let `tokens` tokens keep
/// `distance`: all formations, and which lead to which. `None` when there are more
/// than `most` formations to look at.
///
/// Tokens that keep a distance for ever walk round one component of formations, in
/// which each of them visits every node. Without such a component there is no such
/// walk. Further tokens only make it harder.
pub fn conceivable(network: &Network, tokens: usize, distance: u32, most: usize) -> Option<bool> {
    let nodes = network.len();
    let count = u32::try_from(tokens)
        .ok()
        .and_then(|tokens| nodes.checked_pow(tokens))
        .filter(|&count| count <= most)?;
    let formations = Formations {
        network,
        tokens,
        near: Near::new(network, distance),
        colours: None,
    };
    let number = |formation: &[Node]| {
        formation
            .iter()
            .fold(0, |number, &node| number * nodes + node as usize)
    };
    let mut groups = petgraph::unionfind::UnionFind::<usize>::new(count);
    let mut moving = vec![false; count];
    let mut formation = vec![0; tokens];
    for index in 0..count {
        let mut rest = index;
        for place in formation.iter_mut().rev() {
            *place = (rest % nodes) as Node;
            rest /= nodes;
        }
        let apart = (1..tokens).all(|token| formations.fits(&formation[..token], formation[token]));
        if apart {
            let choices: Vec<&[Node]> = formation
                .iter()
                .map(|&node| network.neighbours(node))
                .collect();
            let mut next = Vec::with_capacity(tokens);
            formations.step_rest(&choices, &mut next, &mut usize::MAX.clone(), &mut |next| {
                let next = number(next);
                groups.union(index, next);
                moving[index] = true;
                moving[next] = true;
            });
        }
    }
    // Formations are in order of the first token's node: count nodes per group.
    let mut met = HashMap::<usize, (usize, usize)>::new();
    let per_node = count / nodes;
    for (index, _) in moving.iter().enumerate().filter(|&(_, &moving)| moving) {
        let node = index / per_node;
        let entry = met.entry(groups.find_mut(index)).or_insert((usize::MAX, 0));
        if entry.0 != node {
            *entry = (node, entry.1 + 1);
        }
    }
    Some(met.values().any(|&(_, met)| met == nodes))
}
