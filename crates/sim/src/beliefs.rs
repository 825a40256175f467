//! What processes believe in, on a ring where they find the separation themselves.

use headway_core::{Configuration, Ring, Round};

/// Follows what every process believes in, state by state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beliefs {
    wanted: u32,
    believed: Vec<Option<u32>>,
    all_since: Option<Round>,
}

impl Beliefs {
    /// Nothing seen yet. The separation of a ring that measures is the one to be found.
    pub fn new(ring: &Ring) -> Beliefs {
        Beliefs {
            wanted: ring.separation().hops(),
            believed: vec![None; ring.len()],
            all_since: None,
        }
    }

    /// The state that a round has led to.
    pub fn observe(&mut self, round: Round, state: &Configuration) {
        for (&process, variables) in &state.measuring {
            self.believed[process] = u32::try_from(i64::from(variables.base) + 1).ok();
        }
        let all = self.values().all(|value| value == self.wanted);
        self.all_since = all.then(|| self.all_since.unwrap_or(round));
    }

    /// The separation that each process uses; `None` where it does not measure.
    pub fn believed(&self) -> &[Option<u32>] {
        &self.believed
    }

    /// The smallest and the largest separation believed in; `None` where nobody measures.
    pub fn range(&self) -> Option<(u32, u32)> {
        Some((self.values().min()?, self.values().max()?))
    }

    /// How many believe in less than is to be found, and how many in more.
    pub fn wrong(&self) -> (usize, usize) {
        let less = self.values().filter(|&value| value < self.wanted);
        let more = self.values().filter(|&value| value > self.wanted);
        (less.count(), more.count())
    }

    /// The round since which all believe in what is to be found.
    pub fn all_since(&self) -> Option<Round> {
        self.all_since
    }

    fn values(&self) -> impl Iterator<Item = u32> + '_ {
        self.believed.iter().copied().flatten()
    }
}
