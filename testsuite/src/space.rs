//! Which rings and initial states are tried: all of the small ones, and seeded
//! random larger ones.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use headway_core::{Configuration, Measuring, ProcessIndex, Program, Ring, Separation};

/// A ring and how many tokens circulate on it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The ring.
    pub ring: Ring,
    /// m.
    pub tokens: u32,
}

impl Case {
    /// n processes of which those in `delays` delay, m tokens, separation d.
    ///
    /// # Panics
    ///
    /// When there is no such ring.
    pub fn new(processes: usize, tokens: u32, separation: u32, delays: &[ProcessIndex]) -> Case {
        let ring = Ring::with_delays(d(separation), processes, delays.iter().copied())
            .expect("a ring of these delays");
        Case { ring, tokens }
    }

    /// C.
    pub fn top(&self) -> u64 {
        u64::from(self.ring.separation().hops()) - 1
    }

    /// The same ring with another separation: a protocol that keeps the wrong
    /// distance, for counter-tests.
    #[must_use]
    pub fn with_separation(&self, separation: u32) -> Case {
        let ring = Ring::new(d(separation), self.ring.programs().to_vec()).expect("never empty");
        Case {
            ring,
            tokens: self.tokens,
        }
    }

    /// Rounds after which every wait of a feasible ring is over, with room to
    /// spare: two turns and two times all counters.
    pub fn horizon(&self) -> u64 {
        let n = self.ring.len() as u64;
        2 * n + 2 * u64::from(self.tokens) * u64::from(self.ring.separation().hops()) + 4
    }
}

fn d(separation: u32) -> Separation {
    Separation::new(separation).expect("a separation of at least 1")
}

/// Every feasible ring (m·d ≤ n, at least one delay, placements up to rotation)
/// with these many processes, by m, then d, then placement.
pub fn cases(processes: usize) -> Vec<Case> {
    let n = processes as u32;
    let mut cases = Vec::new();
    for tokens in 1..=n {
        for separation in 1..=n / tokens {
            for delays in placements(processes) {
                cases.push(Case::new(processes, tokens, separation, &delays));
            }
        }
    }
    cases
}

/// All non-empty sets of processes, one per class under rotation.
pub fn placements(processes: usize) -> Vec<Vec<ProcessIndex>> {
    assert!(processes < 32, "2^n placements");
    let full = (1_u32 << processes) - 1;
    let smallest_rotation = |set: u32| {
        (0..processes)
            .map(|by| ((set << by) | (set >> (processes - by))) & full)
            .min()
    };
    (1..=full)
        .filter(|&set| smallest_rotation(set) == Some(set))
        .map(|set| (0..processes).filter(|&i| set >> i & 1 == 1).collect())
        .collect()
}

/// Calls `visit` with every state of `case` whose queues hold at most
/// `longest_queue` tokens: tokens anywhere, queued or resting, and counters
/// anywhere in their domain.
pub fn each_state(case: &Case, longest_queue: u32, visit: &mut impl FnMut(&Configuration)) {
    let limit = Measuring::default_limit(case.ring.len());
    let mut state = Configuration::empty(&case.ring, case.tokens, limit);
    place(case, longest_queue, 0, case.tokens, &mut state, visit);
}

fn place(
    case: &Case,
    longest_queue: u32,
    index: ProcessIndex,
    tokens: u32,
    state: &mut Configuration,
    visit: &mut impl FnMut(&Configuration),
) {
    let last = index + 1 == case.ring.len();
    let top = match case.ring.programs()[index] {
        Program::Delay => case.ring.separation().top(),
        _ => 0,
    };
    for queued in 0..=tokens.min(longest_queue) {
        let left = tokens - queued;
        // The last process takes what is left.
        for resting in if last { left } else { 0 }..=left {
            for counter in 0..=top {
                let process = &mut state.processes[index];
                (process.queued, process.resting, process.counter) = (queued, resting, counter);
                if last {
                    visit(state);
                } else {
                    place(case, longest_queue, index + 1, left - resting, state, visit);
                }
            }
        }
    }
}

/// Random rings and states from a seed.
pub struct Random(ChaCha8Rng);

impl Random {
    /// From a seed, which is all that a failure needs to be replayed.
    pub fn new(seed: u64) -> Random {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    /// A feasible ring of 2 to `largest` processes with at least one delay. From
    /// one to all processes delay, few as likely as many.
    pub fn case(&mut self, largest: u32) -> Case {
        let processes = 2 + self.below(largest - 1);
        let tokens = 1 + self.below(processes.min(8));
        let separation = 1 + self.below(processes / tokens);
        let share = self.below(5);
        let mut delays: Vec<ProcessIndex> = (0..processes)
            .filter(|_| self.below(4) < share)
            .map(|index| index as ProcessIndex)
            .collect();
        if share == 0 || delays.is_empty() {
            delays = vec![self.below(processes) as ProcessIndex];
        }
        Case::new(processes as usize, tokens, separation, &delays)
    }

    /// A state of `case`: counters anywhere, tokens on a few places or many; no
    /// queue is longer than `longest_queue`.
    pub fn state(&mut self, case: &Case, longest_queue: u32) -> Configuration {
        let limit = Measuring::default_limit(case.ring.len());
        let mut state = Configuration::empty(&case.ring, case.tokens, limit);
        let n = case.ring.len() as u32;
        let places: Vec<u32> = (0..1 + self.below(case.tokens))
            .map(|_| self.below(n))
            .collect();
        for _ in 0..case.tokens {
            let at = places[self.below(places.len() as u32) as usize] as ProcessIndex;
            let process = &mut state.processes[at];
            if process.queued < longest_queue && self.below(2) == 0 {
                process.queued += 1;
            } else {
                process.resting += 1;
            }
        }
        for index in case.ring.delays() {
            let domain = case.ring.separation().hops();
            state.processes[index].counter = self.below(domain) as i32;
        }
        state
    }
}
