//! The worst case in rounds.

use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use super::Exploration;
use crate::error::Result;
use crate::parallel;
use crate::traits::Guarded;

/// Pairs (state, set of processes) for which rounds are computed.
const MAX_PAIRS: u64 = 1 << 28;

impl<M: Guarded> Exploration<'_, M> {
    /// The longest path over pairs (state, processes waited for).
    pub(super) fn rounds(&self, longest: u32) -> Result<Option<u64>> {
        let (states, n) = (self.model.states(), self.model.processes());
        let pairs = states
            .checked_shl(n as u32)
            .filter(|pairs| pairs >> n == states && (..=MAX_PAIRS).contains(pairs))
            // There are no more rounds than steps, and a round's number has 16 bits.
            .filter(|_| longest < u16::MAX.into());
        let Some(pairs) = pairs else {
            return Ok(None);
        };
        let mut by_steps: Vec<Vec<u64>> = vec![Vec::new(); longest as usize + 1];
        for rank in 0..states {
            by_steps[self.settled(rank).unwrap_or(0) as usize].push(rank);
        }
        // By pair, filled by increasing steps.
        let pair = |rank: u64, waited: u64| ((rank << n) + waited) as usize;
        let rounds: Vec<AtomicU16> = (0..pairs).map(|_| AtomicU16::new(0)).collect();
        let worst = AtomicU64::new(0);
        let known = || format!("every run takes at most {longest} steps; rounds not computed");
        for level in by_steps.iter().skip(1) {
            self.control.go_on(known)?;
            let follow = |rank: u64| {
                if self.control.stopped() {
                    return;
                }
                let all = self.moves(rank);
                let enabled = all.enabled;
                // Nothing is watched any more: its table has the enabled processes of the
                // states passed. There are at most 28.
                let enabled_at = |rank: u64| &self.watched[rank as usize];
                enabled_at(rank).store(enabled as u32, Ordering::Relaxed);
                let mut steps = Vec::new();
                self.each_step(rank, &all, |selected, after| {
                    let enabled = enabled_at(after).load(Ordering::Relaxed);
                    let legitimate = self.settled(after) == Some(0);
                    steps.push((selected, after, u64::from(enabled), legitimate));
                    false
                });
                let mut waited = enabled;
                while waited != 0 {
                    let most = steps.iter().map(|&(selected, after, enabled, legitimate)| {
                        if legitimate {
                            return 1;
                        }
                        let left = waited & !selected & enabled;
                        let (begun, waited) = if left == 0 { (1, enabled) } else { (0, left) };
                        begun + rounds[pair(after, waited)].load(Ordering::Relaxed)
                    });
                    let most = most.max().unwrap_or(0);
                    rounds[pair(rank, waited)].store(most, Ordering::Relaxed);
                    if waited == enabled {
                        worst.fetch_max(u64::from(most), Ordering::Relaxed);
                    }
                    waited = (waited - 1) & enabled;
                }
            };
            parallel::each(0..level.len() as u64, 256, &|places| {
                places.for_each(|place| follow(level[place as usize]));
            });
        }
        self.control.go_on(known)?;
        Ok(Some(worst.into_inner()))
    }
}
