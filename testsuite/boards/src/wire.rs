//! One direction of a serial line: bytes go in, and come out later, or changed, or not.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};

/// What is wrong with a line, for every byte.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// How likely it is lost.
    pub loss: f64,
    /// How likely it comes twice.
    pub repeat: f64,
    /// How likely a bit of it is turned over.
    pub corrupt: f64,
    /// How long it takes at most.
    pub delay: Duration,
}

/// A direction of a line.
#[derive(Debug)]
pub struct Wire {
    random: ChaCha8Rng,
    waiting: VecDeque<(Instant, Vec<u8>)>,
    /// Nothing gets through.
    pub cut: bool,
    /// Bytes that were lost, repeated or changed.
    pub harmed: u64,
}

impl Wire {
    /// An intact one; all that goes wrong with it follows from the seed and the bytes.
    pub fn new(seed: u64) -> Wire {
        Wire {
            random: ChaCha8Rng::seed_from_u64(seed),
            waiting: VecDeque::new(),
            cut: false,
            harmed: 0,
        }
    }

    /// Bytes go in.
    pub fn put(&mut self, now: Instant, bytes: &[u8], faults: &Faults) {
        let mut out = Vec::with_capacity(bytes.len() + 4);
        for &byte in bytes {
            let dice = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            let bit = 1 << (self.random.next_u32() % 8);
            let Faults {
                loss,
                repeat,
                corrupt,
                ..
            } = *faults;
            let harmed: &[u8] = if dice < loss {
                &[]
            } else if dice < loss + repeat {
                &[byte, byte]
            } else if dice < loss + repeat + corrupt {
                &[byte ^ bit]
            } else {
                &[byte]
            };
            self.harmed += u64::from(*harmed != [byte]);
            out.extend_from_slice(harmed);
        }
        if self.cut {
            self.harmed += bytes.len() as u64;
            return;
        }
        let part = f64::from(self.random.next_u32()) / f64::from(u32::MAX);
        let due = now + faults.delay.mul_f64(part);
        // A line does not change the order of bytes.
        let last = self.waiting.back().map(|(due, _)| *due);
        let due = last.map_or(due, |last| due.max(last));
        self.waiting.push_back((due, out));
    }

    /// What comes out by now.
    pub fn take(&mut self, now: Instant) -> Option<Vec<u8>> {
        let (due, _) = self.waiting.front()?;
        (*due <= now).then(|| self.waiting.pop_front().map(|(_, bytes)| bytes))?
    }

    /// When something comes out.
    pub fn due(&self) -> Option<Instant> {
        self.waiting.front().map(|(due, _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything a line did to zeros, for a seed.
    fn line(seed: u64, faults: Faults) -> (Vec<u8>, u64) {
        let (now, mut wire) = (Instant::now(), Wire::new(seed));
        let mut out = Vec::new();
        for _ in 0..100 {
            wire.put(now, &[0; 100], &faults);
        }
        while let Some(bytes) = wire.take(now + Duration::from_secs(1)) {
            out.extend(bytes);
        }
        (out, wire.harmed)
    }

    #[test]
    fn a_line_does_what_its_faults_say() {
        let faults = Faults::default();
        assert_eq!(line(1, faults), (vec![0; 10_000], 0));
        let loss = line(
            1,
            Faults {
                loss: 0.1,
                ..faults
            },
        );
        assert_eq!(loss.0.len() as u64 + loss.1, 10_000);
        assert!((800..1200).contains(&loss.1), "{}", loss.1);
        let repeat = line(
            1,
            Faults {
                repeat: 0.1,
                ..faults
            },
        );
        assert_eq!(repeat.0.len() as u64, 10_000 + repeat.1);
        let corrupt = line(
            1,
            Faults {
                corrupt: 0.1,
                ..faults
            },
        );
        assert!(corrupt.0.iter().all(|byte| byte.count_ones() < 2));
        let changed = corrupt.0.iter().filter(|&&byte| byte != 0).count();
        assert_eq!(changed as u64, corrupt.1);
        assert_eq!(
            line(
                1,
                Faults {
                    loss: 0.1,
                    ..faults
                }
            ),
            loss
        );
        assert_ne!(
            line(
                2,
                Faults {
                    loss: 0.1,
                    ..faults
                }
            ),
            loss
        );
    }

    #[test]
    fn bytes_stay_in_order_and_a_cut_line_carries_none() {
        let faults = Faults {
            delay: Duration::from_millis(9),
            ..Faults::default()
        };
        let (now, mut wire) = (Instant::now(), Wire::new(7));
        for byte in 0..100 {
            wire.put(now, &[byte], &faults);
        }
        assert!(wire.due().is_some_and(|due| due < now + faults.delay));
        let mut out = Vec::new();
        while let Some(bytes) = wire.take(now + faults.delay) {
            out.extend(bytes);
        }
        assert_eq!(out, (0..100).collect::<Vec<u8>>());
        wire.cut = true;
        wire.put(now, &[1], &faults);
        assert!(wire.due().is_none());
    }
}
