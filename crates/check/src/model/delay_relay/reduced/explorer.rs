//! Cases: split, followed, settled. The proofs are in `reduced.rs`.

use headway_core::{Process, legitimate, ring};

use super::tally::Tally;
use super::{Instance, LARGEST_RING};
use crate::control::Control;
use crate::ranking::digit;

#[cfg(test)]
mod tests;

/// Initial states that differ only in counters no token has met, after some
/// rounds.
#[derive(Clone, Copy)]
struct Case {
    round: u64,
    processes: [Process; LARGEST_RING],
    /// Bit i: the counter of process i is any of its values.
    open: u64,
    /// Initial values of the counters that are not open, one example.
    chosen: [u8; LARGEST_RING],
    /// How many initial values of the counters that are not open.
    weight: u128,
}

/// Follows the cases of one placement after another.
pub(super) struct Explorer<'a> {
    pub(super) instance: &'a Instance,
    pub(super) control: &'a Control,
    pub(super) top: i32,
}

impl Explorer<'_> {
    /// Everything about the states of one placement, which stands for `orbit` of them.
    pub(super) fn placement(&self, held: &[u8], orbit: u128) -> Tally {
        let mut tally = Tally::of_placement();
        self.legitimate_states(held, orbit, &mut tally);
        let splits: u128 = held.iter().map(|&sum| u128::from(sum) + 1).product();
        let mut start = Case {
            round: 0,
            processes: [Process::default(); LARGEST_RING],
            open: 0,
            chosen: [0; LARGEST_RING],
            weight: orbit * splits,
        };
        for (index, &sum) in held.iter().enumerate() {
            start.processes[index].resting = u32::from(sum);
            if self.instance.delays_at(index) {
                start.open |= 1 << index;
            }
        }
        // At least one token rests at the start, which is not legitimate.
        tally.slow(1, || self.initial(&start, held, None));
        tally.rests(0, || self.initial(&start, held, None));
        let mut cases = vec![start];
        while let Some(case) = cases.pop() {
            if tally.cases.is_multiple_of(1024) && self.control.stopped() {
                break;
            }
            if let Some(process) = self.first_to_split(&case) {
                self.split(&case, process, &mut cases);
            } else {
                let next = self.follow(case, held, &mut tally);
                cases.extend(next);
            }
        }
        tally
    }

    /// Counts the legitimate states with a token queued wherever `held` says, and
    /// checks the round that follows each.
    fn legitimate_states(&self, held: &[u8], orbit: u128, tally: &mut Tally) {
        if held.iter().any(|&sum| sum > 1) {
            return;
        }
        let n = held.len();
        let mut base = [Process::default(); LARGEST_RING];
        for (index, &sum) in held.iter().enumerate() {
            base[index].queued = u32::from(sum);
            if sum > 0 && self.instance.delays_at(index) {
                base[index].counter = self.top;
            }
        }
        if !self.legitimate(&base[..n]) {
            return;
        }
        let mut allowed: Vec<(usize, Vec<i32>)> = Vec::new();
        for index in (0..n).filter(|&i| held[i] == 0 && self.instance.delays_at(i)) {
            let values = (0..=self.top).filter(|&value| {
                let mut tried = base;
                tried[index].counter = value;
                self.legitimate(&tried[..n])
            });
            allowed.push((index, values.collect()));
        }
        let product: u128 = allowed.iter().map(|(_, v)| v.len() as u128).product();
        tally.legitimate += orbit * product;
        for mut number in 0..product as u64 {
            let mut state = base;
            for (index, values) in &allowed {
                let value = digit(&mut number, values.len() as u64);
                state[*index].counter = values[value as usize];
            }
            debug_assert!(self.legitimate(&state[..n]), "one counter at a time");
            let before = state;
            self.round(&mut state[..n]);
            if !self.legitimate(&state[..n]) {
                tally.closure_violation.get_or_insert(before[..n].to_vec());
            }
            tally.tokens_move &= (0..n).all(|i| state[(i + 1) % n].queued == before[i].queued);
        }
    }

    /// A process whose open counter is about to be read and has several values.
    fn first_to_split(&self, case: &Case) -> Option<usize> {
        if case.open == 0 {
            return None;
        }
        let n = self.instance.processes();
        let mut before = n - 1;
        for index in 0..n {
            let arriving = case.processes[before].queued;
            if case.open >> index & 1 == 1 && case.processes[index].resting + arriving > 0 {
                return Some(index);
            }
            before = index;
        }
        None
    }

    /// One case for every value that the open counter can have by now.
    fn split(&self, case: &Case, process: usize, cases: &mut Vec<Case>) {
        let passed = case.round.min(self.top as u64) as i32;
        // Pushed in descending order, so that 0 is followed first.
        for value in (0..=self.top - passed).rev() {
            let mut one = *case;
            one.open &= !(1 << process);
            one.processes[process].counter = value;
            // Initial values 0 to `passed` have all run down to 0.
            let (initial, sharing) = match value {
                0 => (0, passed + 1),
                _ => (value + passed, 1),
            };
            one.chosen[process] = initial as u8;
            one.weight *= sharing as u128;
            cases.push(one);
        }
    }

    /// Rounds until the case has to be split, is settled, or never will be.
    /// Returns it in the first event.
    fn follow(&self, mut case: Case, held: &[u8], tally: &mut Tally) -> Option<Case> {
        let n = self.instance.processes();
        let (mut landmark, mut next_power) = (None, 1_u64);
        loop {
            self.round(&mut case.processes[..n]);
            // An open counter holds 0 here, as it did before: no token was met.
            case.round += 1;
            let tokens: u64 = case.processes[..n].iter().map(|p| p.tokens()).sum();
            tally.conserved &= tokens == self.instance.tokens() as u64;
            tally.one_queued &= case.processes[..n].iter().all(|p| p.queued <= 1);
            let rests = case.processes[..n].iter().any(|p| p.resting > 0);
            if rests {
                tally.rests(case.round, || self.initial(&case, held, None));
            }
            let open = case.open.count_ones();
            let d = u128::from(self.instance.separation());
            let all = case.weight * d.pow(open);
            let (legitimate, culprit) = self.legitimate_part(&case);
            let illegitimate = all - case.weight * legitimate;
            if illegitimate == 0 {
                tally.cases += 1;
                return None;
            }
            tally.illegitimate_after(case.round, illegitimate);
            tally.slow(case.round + 1, || self.initial(&case, held, culprit));
            // By then an open counter is 0; before, what is the same may yet differ in it.
            if case.round >= self.top as u64 {
                if landmark == Some(case.processes) {
                    tally.cases += 1;
                    tally.never(case.round + 1, illegitimate, || {
                        self.initial(&case, held, None)
                    });
                    return None;
                }
                if case.round >= next_power {
                    landmark = Some(case.processes);
                    next_power = case.round * 2;
                }
            }
            if self.first_to_split(&case).is_some() {
                return Some(case);
            }
        }
    }

    /// How many values of the open counters make the case legitimate now; and,
    /// unless all do, an open process and an initial value that do not.
    fn legitimate_part(&self, case: &Case) -> (u128, Option<(usize, i32)>) {
        let n = self.instance.processes();
        if !self.legitimate(&case.processes[..n]) {
            return (0, None);
        }
        let passed = case.round.min(self.top as u64) as i32;
        let (mut product, mut culprit) = (1, None);
        for index in (0..n).filter(|&i| case.open >> i & 1 == 1) {
            let mut fitting = passed as u128 + 1;
            for value in 1..=self.top - passed {
                let mut tried = case.processes;
                tried[index].counter = value;
                if self.legitimate(&tried[..n]) {
                    fitting += 1;
                } else {
                    culprit.get_or_insert((index, value + passed));
                }
            }
            product *= fitting;
        }
        (product, culprit)
    }

    /// An initial state of the case: all tokens resting, open counters at 0 except
    /// the culprit's.
    fn initial(&self, case: &Case, held: &[u8], culprit: Option<(usize, i32)>) -> Vec<Process> {
        let mut initial: Vec<Process> = held
            .iter()
            .zip(&case.chosen)
            .map(|(&sum, &counter)| Process {
                queued: 0,
                resting: u32::from(sum),
                counter: i32::from(counter),
            })
            .collect();
        if let Some((process, value)) = culprit {
            initial[process].counter = value;
        }
        initial
    }

    fn legitimate(&self, processes: &[Process]) -> bool {
        let ring = self.instance.ring();
        let tokens = self.instance.tokens() as u64;
        legitimate::check(ring.separation(), ring.programs(), processes, &[], tokens).is_ok()
    }

    fn round(&self, processes: &mut [Process]) {
        let ring = self.instance.ring();
        ring::round(ring.separation(), ring.programs(), processes, &mut []);
    }
}
