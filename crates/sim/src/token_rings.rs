//! Dijkstra's K-state ring ([`headway_core::token_ring`]), m of them on the same processes:
//! each recovers its one token, and nothing keeps tokens of different rings apart.

use headway_core::token_ring::{holds, released};

use crate::seed::Random;

/// m rings of n processes, in lock-step: whoever holds a token passes it on in every round.
///
/// ```
/// use headway_sim::seed::{Purpose, Random};
/// use headway_sim::token_rings::TokenRings;
/// let mut rings = TokenRings::spaced(12, 2);
/// rings.round();
/// assert_eq!(rings.tokens(), [(0, 1), (1, 7)]);
/// rings.scramble(&mut Random::new(2009, Purpose::Fault(0)));
/// assert!(rings.tokens().len() > 2, "there may be too many, but never none");
/// for _ in 0..24 {
///     rings.round();
/// }
/// assert_eq!(rings.tokens().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct TokenRings {
    /// K: more than n are enough.
    values: u32,
    /// Ring by ring, process by process.
    rings: Vec<Vec<u32>>,
}

impl TokenRings {
    /// One token each, as evenly spaced as can be.
    pub fn spaced(processes: usize, tokens: usize) -> TokenRings {
        // Those that the token has gone by since process 0 have its next value.
        let ring = |token: usize| {
            let at = token * processes / tokens;
            (0..processes)
                .map(|process| u32::from(process < at))
                .collect()
        };
        TokenRings {
            values: processes as u32 + 1,
            rings: (0..tokens).map(ring).collect(),
        }
    }

    /// Every value anything.
    pub fn scramble(&mut self, random: &mut Random) {
        for value in self.rings.iter_mut().flatten() {
            *value = random.below(u64::from(self.values)) as u32;
        }
    }

    /// All processes act once, on what their predecessors had before.
    pub fn round(&mut self) {
        for ring in &mut self.rings {
            let old = ring.clone();
            for (process, own) in ring.iter_mut().enumerate() {
                let before = predecessor(&old, process);
                if holds(*own, before, process == 0) {
                    *own = released(*own, before, process == 0, self.values);
                }
            }
        }
    }

    /// Which ring has a token where.
    pub fn tokens(&self) -> Vec<(u32, u32)> {
        let all = self.rings.iter().enumerate().flat_map(|(token, ring)| {
            let here = move |&process: &usize| {
                holds(ring[process], predecessor(ring, process), process == 0)
            };
            let places = (0..ring.len()).filter(here);
            places.map(move |process| (token as u32, process as u32))
        });
        all.collect()
    }
}

fn predecessor(ring: &[u32], process: usize) -> u32 {
    ring[process.checked_sub(1).unwrap_or(ring.len() - 1)]
}
