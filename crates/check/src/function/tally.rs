//! What is counted.

/// What a range of states adds.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) settled: u64,
    pub(super) legitimate: u64,
    pub(super) closure_violation: Option<u64>,
    pub(super) distances: Vec<u64>,
    pub(super) never: u64,
    pub(super) worst: Option<(u64, u64)>,
}

impl Tally {
    /// With a tally of higher ranks: of what is equally good, the lowest is kept.
    pub(super) fn merge(mut self, other: &Tally) -> Tally {
        self.settled += other.settled;
        self.legitimate += other.legitimate;
        self.never += other.never;
        self.closure_violation = self.closure_violation.or(other.closure_violation);
        let rounds = self.distances.len().max(other.distances.len());
        self.distances.resize(rounds, 0);
        for (mine, theirs) in self.distances.iter_mut().zip(&other.distances) {
            *mine += theirs;
        }
        self.worst = match (self.worst, other.worst) {
            (Some((_, mine)), Some((_, theirs))) if theirs > mine => other.worst,
            (mine, theirs) => mine.or(theirs),
        };
        self
    }

    /// What is known before all states are settled.
    pub(super) fn known(&self) -> String {
        let furthest = self.distances.len().saturating_sub(1);
        format!(
            "of {} states settled, {} are legitimate, {} never become so, and the furthest is \
             {furthest} rounds away",
            self.settled, self.legitimate, self.never
        )
    }
}
