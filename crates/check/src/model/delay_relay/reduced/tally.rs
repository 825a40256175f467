//! Sums over cases. Tallies are merged in order of the placements' ranks, so that of
//! equally good examples the first is kept, whatever the threads do.

use headway_core::Process;

use super::ReducedAnswer;

/// A state, and how many rounds of what it is an example of.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) rounds: u64,
    state: Vec<Process>,
}

/// What is known after some cases.
#[derive(Clone, Default)]
pub(super) struct Tally {
    pub(super) legitimate: u128,
    pub(super) closure_violation: Option<Vec<Process>>,
    pub(super) conserved: bool,
    pub(super) one_queued: bool,
    pub(super) tokens_move: bool,
    /// By round: states not legitimate at its end (round 0 is left out).
    illegitimate: Vec<u128>,
    /// By round: states known never to become legitimate, counted in
    /// `illegitimate` up to the round before.
    never_from: Vec<u128>,
    pub(super) worst: Option<Example>,
    last_rest: Option<Example>,
    pub(super) diverging: Option<Vec<Process>>,
    pub(super) placements: u64,
    pub(super) cases: u64,
}

fn add_at(counts: &mut Vec<u128>, round: u64, count: u128) {
    let index = round as usize;
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    counts[index] += count;
}

fn keep_larger(kept: &mut Option<Example>, rounds: u64, state: impl FnOnce() -> Vec<Process>) {
    if kept.as_ref().is_none_or(|old| rounds > old.rounds) {
        let state = state();
        *kept = Some(Example { rounds, state });
    }
}

impl Tally {
    /// Nothing known yet about a placement.
    pub(super) fn of_placement() -> Tally {
        Tally {
            placements: 1,
            conserved: true,
            one_queued: true,
            tokens_move: true,
            ..Tally::default()
        }
    }

    pub(super) fn illegitimate_after(&mut self, round: u64, states: u128) {
        add_at(&mut self.illegitimate, round, states);
    }

    pub(super) fn slow(&mut self, rounds: u64, state: impl FnOnce() -> Vec<Process>) {
        keep_larger(&mut self.worst, rounds, state);
    }

    pub(super) fn rests(&mut self, round: u64, state: impl FnOnce() -> Vec<Process>) {
        keep_larger(&mut self.last_rest, round, state);
    }

    pub(super) fn never(&mut self, from: u64, states: u128, state: impl FnOnce() -> Vec<Process>) {
        add_at(&mut self.never_from, from, states);
        self.diverging.get_or_insert_with(state);
    }

    /// With a tally of placements of higher rank.
    pub(super) fn merge(mut self, other: Tally) -> Tally {
        if self.placements == 0 {
            return other;
        }
        if other.placements == 0 {
            return self;
        }
        self.legitimate += other.legitimate;
        self.conserved &= other.conserved;
        self.one_queued &= other.one_queued;
        self.tokens_move &= other.tokens_move;
        self.placements += other.placements;
        self.cases += other.cases;
        for (round, &count) in other.illegitimate.iter().enumerate() {
            add_at(&mut self.illegitimate, round as u64, count);
        }
        for (round, &count) in other.never_from.iter().enumerate() {
            add_at(&mut self.never_from, round as u64, count);
        }
        self.closure_violation = self.closure_violation.or(other.closure_violation);
        self.diverging = self.diverging.or(other.diverging);
        for (mine, theirs) in [
            (&mut self.worst, other.worst),
            (&mut self.last_rest, other.last_rest),
        ] {
            if let Some(example) = theirs {
                keep_larger(mine, example.rounds, || example.state);
            }
        }
        self
    }

    pub(super) fn answer(self, states: u128) -> ReducedAnswer {
        let rounds = self.illegitimate.len().max(self.never_from.len()).max(1);
        let never: u128 = self.never_from.iter().sum();
        // Illegitimate at the end of each round, round 0 included, without those
        // that never become legitimate.
        let mut left = vec![states - self.legitimate - never];
        let mut never_passed = 0;
        for round in 1..=rounds {
            let at = |counts: &[u128]| counts.get(round).copied().unwrap_or(0);
            never_passed += at(&self.never_from);
            left.push(at(&self.illegitimate) + never_passed - never);
        }
        let mut distances = vec![self.legitimate];
        distances.extend(left.windows(2).map(|pair| pair[0] - pair[1]));
        while distances.last() == Some(&0) {
            distances.pop();
        }
        let converges = never == 0;
        let state = |example: Example| (example.rounds, example.state);
        ReducedAnswer {
            states,
            legitimate: self.legitimate,
            closure_violation: self.closure_violation,
            tokens_move: self.tokens_move,
            conserved: self.conserved,
            one_queued: self.one_queued,
            distances,
            never,
            worst: self.worst.filter(|_| converges).map(state),
            worst_last_rest: self.last_rest.filter(|_| converges).map(state),
            diverging: self.diverging,
            placements: self.placements,
            cases: self.cases,
        }
    }
}
