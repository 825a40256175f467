//! Which distances are conceivable at all.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use super::Formations;
use crate::network::distance::Near;
use crate::network::{Network, Node};
use crate::stop;

/// Whether some walk of any length at all could let `tokens` tokens keep
/// `distance`: all formations, and which lead to which. `None` when there are more
/// than `most` formations to look at, and soon after `stop` becomes true.
///
/// Tokens that keep a distance forever walk round one component of formations, in
/// which each of them visits every node. Without such a component there is no such
/// walk. Further tokens only make it harder.
pub fn conceivable(
    network: &Network,
    tokens: usize,
    distance: u32,
    most: usize,
    stop: &AtomicBool,
) -> Option<bool> {
    let nodes = network.len();
    let count = u32::try_from(tokens)
        .ok()
        .and_then(|tokens| nodes.checked_pow(tokens))
        .filter(|&count| count <= most)?;
    let formations = Formations {
        network,
        tokens,
        near: Near::new(network, distance, stop),
        colours: None,
        stop,
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
        if index % 256 == 0 && stop::is_set(stop) {
            return None;
        }
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
