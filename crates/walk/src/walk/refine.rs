//! Local search on a walk: small changes that let tokens keep more, or as much at
//! fewer places where they come nearest.

use std::sync::atomic::AtomicBool;

use crate::network::distance::Apart;
use crate::network::{Network, Node};
use crate::random::Choices;
use crate::stop::{self, NEVER};
use crate::walk::Walk;
use crate::walk::kept::Offsets;
use crate::walk::tour::trim;

/// All distances are kept in memory, so only networks up to this size.
pub(crate) const MAX_NODES: usize = 1000;

/// The walk, or a better one reached from it by turning stretches round, adding
/// and dropping detours.
pub(crate) fn walk(
    network: &Network,
    walk: &Walk,
    tokens: usize,
    seed: u64,
    effort: u32,
    stop: &AtomicBool,
) -> Walk {
    let apart = Apart::new(network, stop);
    if stop::is_set(stop) {
        return walk.clone();
    }
    let mut choices = Choices::new(seed, 2);
    let mut current = walk.positions().to_vec();
    let mut score = Score::of(&apart, &current, tokens);
    let mut best = (score.clone(), current.clone());
    let longest = 2 * network.len() + tokens;
    let budget = 20_000_000 * effort.max(1) as usize;
    let per_score = current.len() * tokens.min(16);
    for _ in 0..(budget / per_score.max(1)).min(40_000) {
        if stop::is_set(stop) {
            break;
        }
        let Some(changed) = change(network, &current, longest, &mut choices) else {
            continue;
        };
        let changed_score = Score::of(&apart, &changed, tokens);
        // Equal ones are taken, too: they lead away from where nothing improves.
        if changed_score >= score {
            (current, score) = (changed, changed_score);
            if score > best.0 {
                best = (score.clone(), current.clone());
            }
        }
    }
    Walk::new(network, best.1).unwrap_or_else(|_| walk.clone())
}

/// Larger is better: the distance, then fewer meetings at it, then a shorter walk.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
struct Score(u32, i64, i64);

impl Score {
    fn of(apart: &Apart, positions: &[Node], tokens: usize) -> Score {
        let length = positions.len();
        let offsets = Offsets::furthest(length, tokens);
        let (mut least, mut times) = (u32::MAX, 0);
        for &(from, to) in offsets.ranges() {
            for offset in from as usize..=(to as usize).min(length / 2) {
                for (index, &node) in positions.iter().enumerate() {
                    let other = positions[(index + offset) % length];
                    let hops = apart.hops(node, other);
                    if hops < least {
                        (least, times) = (hops, 0);
                    }
                    times += i64::from(hops == least);
                }
            }
        }
        Score(least, -times, -(length as i64))
    }
}

/// A closed walk over all nodes that differs a little; `None` when the attempt
/// gives none.
fn change(
    network: &Network,
    positions: &[Node],
    longest: usize,
    choices: &mut Choices,
) -> Option<Vec<Node>> {
    let length = positions.len();
    let mut changed = positions.to_vec();
    changed.rotate_left(choices.below(length));
    match choices.below(4) {
        // Drop a detour, or all that are useless.
        0 => {
            if choices.below(8) == 0 {
                changed = trim(network, changed, &NEVER);
            } else if length > 4 && changed[0] == changed[2] {
                let node = changed[1];
                if !changed[2..].contains(&node) {
                    return None;
                }
                changed.drain(1..3);
            } else {
                return None;
            }
        }
        // Add a detour.
        1 => {
            let neighbours = network.neighbours(changed[0]);
            let aside = neighbours[choices.below(neighbours.len())];
            if length + 2 > longest || !network.linked(aside, changed[0]) {
                return None;
            }
            let here = changed[0];
            changed.splice(0..0, [here, aside]);
        }
        // Turn a stretch round: 0→1 … k→k+1 become 0→k … 1→k+1.
        _ => {
            if !network.is_symmetric() {
                return None;
            }
            let aside = {
                let neighbours = network.neighbours(changed[0]);
                neighbours[choices.below(neighbours.len())]
            };
            let places: Vec<usize> = (2..length).filter(|&k| changed[k] == aside).collect();
            let &last = places.get(choices.below(places.len().max(1)))?;
            if !network.linked(changed[1], changed[(last + 1) % length]) {
                return None;
            }
            changed[1..=last].reverse();
        }
    }
    (changed.len() >= 2).then_some(changed)
}
