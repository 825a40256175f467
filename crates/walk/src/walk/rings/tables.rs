//! When tokens of two rings meet, and phases at which none come too near.

use num_integer::gcd;

use super::{Clash, Timing};
use crate::network::Node;
use crate::network::distance::Apart;

/// What tokens on two rings keep, by the difference of their phases.
pub(super) struct Tables<'a> {
    rings: &'a [Vec<Node>],
    paces: &'a [u32],
    /// `kept[r][s][c]`: phases that differ by c modulo gcd(T, T').
    kept: Vec<Vec<Vec<u32>>>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(rings: &'a [Vec<Node>], paces: &'a [u32], apart: &Apart) -> Tables<'a> {
        let period = |ring: usize| rings[ring].len() as u32 * paces[ring];
        let kept = (0..rings.len())
            .map(|one| {
                (0..rings.len())
                    .map(|other| {
                        let classes = gcd(period(one), period(other));
                        let mut kept = vec![u32::MAX; classes as usize];
                        for moment in 0..period(one) {
                            let here = rings[one][(moment / paces[one]) as usize];
                            for other_moment in 0..period(other) {
                                let there = rings[other][(other_moment / paces[other]) as usize];
                                let class =
                                    (moment % classes + classes - other_moment % classes) % classes;
                                let kept = &mut kept[class as usize];
                                *kept = (*kept).min(apart.hops(here, there));
                            }
                        }
                        kept
                    })
                    .collect()
            })
            .collect();
        Tables { rings, paces, kept }
    }

    pub(super) fn time(&self, owners: &[usize]) -> Timing {
        let mut distances: Vec<u32> = self.kept.iter().flatten().flatten().copied().collect();
        distances.sort_unstable();
        distances.dedup();
        let clash = self.clash(owners);
        // What two rings alone do not allow needs no search.
        let most = clash.as_ref().map_or(u32::MAX, |clash| clash.distance);
        distances.retain(|&distance| distance <= most);
        let mut proved = true;
        for &distance in distances.iter().rev() {
            let mut phases = Vec::new();
            let mut left = 2_000_000;
            match self.assign(owners, distance, &mut phases, &mut left) {
                Some(true) => {
                    return Timing {
                        distance,
                        paces: self.paces.to_vec(),
                        tokens: owners.iter().copied().zip(phases).collect(),
                        proved,
                        clash: clash.filter(|clash| clash.distance == distance),
                    };
                }
                Some(false) => {}
                None => proved = false,
            }
        }
        // One token alone, or 0 apart anyhow.
        Timing {
            distance: 0,
            paces: self.paces.to_vec(),
            tokens: owners.iter().map(|&ring| (ring, 0)).collect(),
            proved,
            clash,
        }
    }

    /// The two rings that allow the least.
    fn clash(&self, owners: &[usize]) -> Option<Clash> {
        let mut worst: Option<Clash> = None;
        for (index, &one) in owners.iter().enumerate() {
            for &other in &owners[..index] {
                let kept = &self.kept[one][other];
                let distance = kept.iter().copied().max().unwrap_or(0);
                if worst.as_ref().is_none_or(|worst| distance < worst.distance) {
                    worst = Some(Clash {
                        rings: (other, one),
                        distance,
                        phases: kept.len() as u32,
                    });
                }
            }
        }
        worst
    }

    /// Phases for all tokens at which they keep the distance; `None` when the
    /// steps ran out.
    fn assign(
        &self,
        owners: &[usize],
        distance: u32,
        phases: &mut Vec<u32>,
        left: &mut u32,
    ) -> Option<bool> {
        let token = phases.len();
        if token == owners.len() {
            return Some(true);
        }
        let ring = owners[token];
        let period = self.rings[ring].len() as u32 * self.paces[ring];
        // Starting all later changes nothing, so the first token starts at once.
        let candidates = if token == 0 { 0..1 } else { 0..period };
        for phase in candidates {
            *left = left.checked_sub(1)?;
            let fits = phases.iter().zip(owners).all(|(&other_phase, &other)| {
                let kept = &self.kept[ring][other];
                let classes = kept.len() as u32;
                let class = (phase % classes + classes - other_phase % classes) % classes;
                kept[class as usize] >= distance
            });
            if fits {
                phases.push(phase);
                if self.assign(owners, distance, phases, left)? {
                    return Some(true);
                }
                phases.pop();
            }
        }
        Some(false)
    }
}
