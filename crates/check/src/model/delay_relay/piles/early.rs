//! States that are legitimate before round d - 1, when initial counters still run.
//!
//! A token that another delays is released in round d or later. So a state that is
//! legitimate by a round t < d - 1 has no piles, and every token k + 1 arrives late enough
//! behind k: in the words of `piles.rs`, its height α(k+1) and the length L of its stretch
//! satisfy α(k+1) + L - d ≥ α(k). From its last record on, token k has delay α(k), counted
//! from its start. What is new is the counters that no token has met: after round t, token
//! k + 1 has met the places up to t - α(k+1) of its stretch, and a counter c > t beyond
//! them still runs and has to look as if token k had left it: token k is y + t - α(k) hops
//! ahead, with y the place's distance to the start of k, and has to be d - 1 - (c - t)
//! ahead. So c = α(k) + d - 1 - y.

use num_bigint::BigUint;

use super::Sizes;

/// How many states are legitimate after round t, 1 ≤ t < d - 1.
pub(super) fn legitimate_by(sizes: Sizes, t: usize) -> BigUint {
    let Sizes { n, m, d, .. } = sizes;
    // By the height ahead, the own height and the length: ways to set the counters.
    let link = |ahead: usize, own: usize, length: usize| -> BigUint {
        if own + length < d + ahead {
            return BigUint::ZERO;
        }
        counters(sizes, t, ahead, own, length)
    };
    let mut links = Vec::new();
    for ahead in 1..=d {
        for own in 1..=d {
            links.push(
                (1..=n)
                    .map(|length| link(ahead, own, length))
                    .collect::<Vec<_>>(),
            );
        }
    }
    let mut total = BigUint::ZERO;
    for first in 1..=d {
        // By processes used and height of the last token.
        let mut ways = vec![vec![BigUint::ZERO; d]; n + 1];
        ways[0][first - 1] = 1_u32.into();
        for _ in 0..m {
            let mut next = vec![vec![BigUint::ZERO; d]; n + 1];
            for used in 0..n {
                for ahead in 0..d {
                    if ways[used][ahead] == BigUint::ZERO {
                        continue;
                    }
                    for own in 0..d {
                        let by_length = &links[ahead * d + own];
                        for (length, count) in (1..=n - used).zip(by_length) {
                            next[used + length][own] += &ways[used][ahead] * count;
                        }
                    }
                }
            }
            ways = next;
        }
        total += &ways[n][first - 1];
    }
    // Every token rests or is queued before its process; any token may be the first.
    (total << m) * n / m
}

/// The ways to set the counters of a stretch so that its last record has height `own`.
fn counters(sizes: Sizes, t: usize, ahead: usize, own: usize, length: usize) -> BigUint {
    let d = sizes.d;
    // By height of the last record.
    let mut ways = vec![BigUint::ZERO; d + 1];
    ways[0] = 1_u32.into();
    for place in 0..length {
        let mut next = vec![BigUint::ZERO; d + 1];
        for (before, ways) in ways
            .iter()
            .enumerate()
            .filter(|(_, ways)| **ways > BigUint::ZERO)
        {
            for c in 0..d {
                let left_over = c > t && place + own > t;
                if left_over && c + (length - place) + 1 != ahead + d {
                    continue;
                }
                // At most 0 is no record: the first has at least 1.
                let height = (c + 1).saturating_sub(place);
                if height <= before {
                    next[before] += ways;
                    continue;
                }
                let lag = if before == 0 { 0 } else { before + d - 2 };
                if place + height.max(lag) <= t {
                    next[height] += ways;
                }
            }
        }
        ways = next;
    }
    ways.swap_remove(own)
}
