//! Sums over cases. Tallies are merged in order of the placements' ranks, so that of
//! equally good examples the first is kept, whatever the threads do.

use headway_core::Process;
use num_bigint::BigUint;

use super::{Count, ReducedAnswer};

/// A state, and how many rounds of what it is an example of.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) rounds: u64,
    state: Vec<Process>,
}

/// What is known after some cases.
#[derive(Clone, Default)]
pub(super) struct Tally<C> {
    pub(super) legitimate: C,
    pub(super) closure_violation: Option<Vec<Process>>,
    pub(super) conserved: bool,
    pub(super) one_queued: bool,
    pub(super) tokens_move: bool,
    /// By round: states not legitimate at its end (round 0 is left out).
    illegitimate: Vec<C>,
    /// By round: states known never to become legitimate, counted in
    /// `illegitimate` up to the round before.
    never_from: Vec<C>,
    pub(super) worst: Option<Example>,
    last_rest: Option<Example>,
    pub(super) diverging: Option<Vec<Process>>,
    pub(super) placements: u64,
    pub(super) cases: u64,
    /// Whether this is about anything at all.
    some: bool,
}

fn add_at<C: Count>(counts: &mut Vec<C>, round: u64, count: &C) {
    let index = round as usize;
    if counts.len() <= index {
        counts.resize(index + 1, C::default());
    }
    counts[index] += count;
}

fn keep_larger(kept: &mut Option<Example>, rounds: u64, state: impl FnOnce() -> Vec<Process>) {
    if kept.as_ref().is_none_or(|old| rounds > old.rounds) {
        let state = state();
        *kept = Some(Example { rounds, state });
    }
}

impl<C: Count> Tally<C> {
    /// Nothing known yet about some cases of a placement.
    pub(super) fn of_cases() -> Tally<C> {
        Tally {
            some: true,
            conserved: true,
            one_queued: true,
            tokens_move: true,
            ..Tally::default()
        }
    }

    pub(super) fn illegitimate_after(&mut self, round: u64, states: &C) {
        add_at(&mut self.illegitimate, round, states);
    }

    pub(super) fn slow(&mut self, rounds: u64, state: impl FnOnce() -> Vec<Process>) {
        keep_larger(&mut self.worst, rounds, state);
    }

    pub(super) fn rests(&mut self, round: u64, state: impl FnOnce() -> Vec<Process>) {
        keep_larger(&mut self.last_rest, round, state);
    }

    pub(super) fn never(&mut self, from: u64, states: &C, state: impl FnOnce() -> Vec<Process>) {
        add_at(&mut self.never_from, from, states);
        self.diverging.get_or_insert_with(state);
    }

    /// With a tally of what comes later.
    pub(super) fn merge(mut self, other: Tally<C>) -> Tally<C> {
        if !self.some {
            return other;
        }
        if !other.some {
            return self;
        }
        self.legitimate += &other.legitimate;
        self.conserved &= other.conserved;
        self.one_queued &= other.one_queued;
        self.tokens_move &= other.tokens_move;
        self.placements += other.placements;
        self.cases += other.cases;
        for (round, count) in (0..).zip(&other.illegitimate) {
            add_at(&mut self.illegitimate, round, count);
        }
        for (round, count) in (0..).zip(&other.never_from) {
            add_at(&mut self.never_from, round, count);
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

    /// What is known so far, as a sentence.
    pub(super) fn known(&self) -> String {
        let outcome = match self.diverging {
            None => "all cases so far become legitimate",
            Some(_) => "some of them never become legitimate",
        };
        let slowest = self.worst.as_ref().map_or(0, |worst| worst.rounds);
        let cases = self.cases;
        format!("{cases} cases followed, {outcome}, and the slowest takes {slowest} rounds")
    }

    pub(super) fn answer(self, states: BigUint) -> ReducedAnswer {
        let big = |counts: Vec<C>| counts.into_iter().map(Into::into).collect::<Vec<BigUint>>();
        let (illegitimate, never_from) = (big(self.illegitimate), big(self.never_from));
        let legitimate: BigUint = self.legitimate.into();
        let never: BigUint = never_from.iter().sum();
        // Illegitimate at the end of each round, round 0 included, without those
        // that never become legitimate.
        let mut left = vec![&states - &legitimate - &never];
        let mut never_passed = BigUint::ZERO;
        for round in 1..=illegitimate.len().max(never_from.len()).max(1) {
            let at = |counts: &[BigUint]| counts.get(round).cloned().unwrap_or_default();
            never_passed += at(&never_from);
            left.push(at(&illegitimate) + &never_passed - &never);
        }
        let mut distances = vec![legitimate.clone()];
        distances.extend(left.windows(2).map(|pair| &pair[0] - &pair[1]));
        while distances.last() == Some(&BigUint::ZERO) {
            distances.pop();
        }
        let converges = never == BigUint::ZERO;
        let state = |example: Example| (example.rounds, example.state);
        ReducedAnswer {
            states,
            legitimate,
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
