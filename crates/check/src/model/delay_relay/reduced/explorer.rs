//! Cases: split, followed, settled. The proofs are in `reduced.rs`.

use headway_core::{Process, legitimate, ring};
use rayon::prelude::*;

use super::tally::Tally;
use super::{Count, Instance, MAX_PROCESSES, UNITS};
use crate::control::Control;

#[cfg(test)]
mod tests;

/// Splits after which cases are followed by one thread. Before, a few of them can have
/// nearly all the work below them.
const PARALLEL_SPLITS: u32 = 2;

/// Initial states that differ only in counters no token has met, after some
/// rounds.
#[derive(Clone)]
struct Case<C> {
    round: u64,
    processes: [Process; MAX_PROCESSES],
    /// Bit i: the counter of process i is any of its values.
    open: u64,
    /// Initial values of the counters that are not open, one example.
    chosen: [u32; MAX_PROCESSES],
    /// How many initial values of the counters that are not open.
    weight: C,
    /// Counters split so far.
    splits: u32,
    /// Units of progress.
    units: u64,
}

/// Follows the cases of one placement after another.
pub(super) struct Explorer<'a, C> {
    instance: &'a Instance,
    control: &'a Control,
    top: i32,
    /// Powers of d, up to the number of delays.
    powers: Vec<C>,
}

impl<'a, C: Count> Explorer<'a, C> {
    pub(super) fn new(instance: &'a Instance, control: &'a Control) -> Explorer<'a, C> {
        let mut powers = vec![C::from(1)];
        for delay in 0..instance.ring().delay_count() {
            powers.push(powers[delay].clone() * C::from(instance.separation().into()));
        }
        Explorer {
            instance,
            control,
            top: instance.ring().separation().top(),
            powers,
        }
    }

    /// Everything about the states of one placement, which stands for `orbit` of them.
    pub(super) fn placement(&self, held: &[u8], orbit: u64) -> Tally<C> {
        let mut tally = Tally::of_cases();
        tally.placements = 1;
        self.legitimate_states(held, orbit, &mut tally);
        let splits = held.iter().map(|&sum| C::from(u64::from(sum) + 1));
        let mut start = Case {
            round: 0,
            processes: [Process::default(); MAX_PROCESSES],
            open: 0,
            chosen: [0; MAX_PROCESSES],
            weight: splits.fold(C::from(orbit), |product, ways| product * ways),
            splits: 0,
            units: UNITS,
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
        tally.merge(self.settle(start, held))
    }

    /// Follows a case and all that it is split into.
    fn settle(&self, case: Case<C>, held: &[u8]) -> Tally<C> {
        let mut tally = Tally::of_cases();
        let (mut cases, mut units) = (vec![case], 0);
        while let Some(mut case) = cases.pop() {
            if tally.cases.is_multiple_of(1024) {
                self.control.advance(std::mem::take(&mut units));
                if self.control.stopped() {
                    break;
                }
            }
            match self.first_to_split(&case) {
                Some(process) if case.splits < PARALLEL_SPLITS => {
                    // The stack is empty: nothing comes after these.
                    let parts: Vec<_> = self.split(&case, process).collect();
                    let parts = parts.into_par_iter().map(|part| self.settle(part, held));
                    tally = tally.merge(parts.reduce(Tally::default, Tally::merge));
                }
                // The first one is followed first.
                Some(process) => cases.extend(self.split(&case, process).rev()),
                None if self.follow(&mut case, held, &mut tally) => units += case.units,
                None => cases.push(case),
            }
        }
        self.control.advance(units);
        tally
    }

    /// Counts the legitimate states with a token queued wherever `held` says, and
    /// checks the round that follows each.
    fn legitimate_states(&self, held: &[u8], orbit: u64, tally: &mut Tally<C>) {
        if held.iter().any(|&sum| sum > 1) {
            return;
        }
        let n = held.len();
        let mut base = [Process::default(); MAX_PROCESSES];
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
        // No more than cases are expected.
        let product: u64 = allowed
            .iter()
            .map(|(_, values)| values.len() as u64)
            .product();
        tally.legitimate += &(C::from(orbit) * C::from(product));
        for mut number in 0..product {
            let mut state = base;
            for (index, values) in &allowed {
                let choices = values.len() as u64;
                state[*index].counter = values[(number % choices) as usize];
                number /= choices;
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
    fn first_to_split(&self, case: &Case<C>) -> Option<usize> {
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

    /// One case for every value that the open counter can have by now, ascending.
    fn split(&self, case: &Case<C>, process: usize) -> impl DoubleEndedIterator<Item = Case<C>> {
        let passed = case.round.min(self.top as u64) as i32;
        let values = 0..=self.top - passed;
        let parts = values.end() + 1;
        values.map(move |value| {
            let mut one = case.clone();
            one.open &= !(1 << process);
            one.processes[process].counter = value;
            // Initial values 0 to `passed` have all run down to 0.
            let (initial, sharing) = match value {
                0 => (0, passed + 1),
                _ => (value + passed, 1),
            };
            one.chosen[process] = initial as u32;
            one.weight = one.weight * C::from(sharing as u64);
            one.splits += 1;
            one.units = case.units / parts as u64;
            if value == 0 {
                one.units += case.units % parts as u64;
            }
            one
        })
    }

    /// Rounds until the case is settled or never will be: true. False when it has to be
    /// split first.
    fn follow(&self, case: &mut Case<C>, held: &[u8], tally: &mut Tally<C>) -> bool {
        let n = self.instance.processes();
        let (mut landmark, mut next_power) = (None, 1_u64);
        let open = self.powers[case.open.count_ones() as usize].clone();
        let all = case.weight.clone() * open;
        loop {
            self.round(&mut case.processes[..n]);
            // An open counter holds 0 here, as it did before: no token was met.
            case.round += 1;
            let tokens: u64 = case.processes[..n].iter().map(|p| p.tokens()).sum();
            tally.conserved &= tokens == self.instance.tokens() as u64;
            tally.one_queued &= case.processes[..n].iter().all(|p| p.queued <= 1);
            let rests = case.processes[..n].iter().any(|p| p.resting > 0);
            if rests {
                tally.rests(case.round, || self.initial(case, held, None));
            }
            let (legitimate, culprit) = self.legitimate_part(case);
            // Mostly none is legitimate yet, which saves the arithmetic.
            let less = legitimate.map(|fitting| all.clone() - case.weight.clone() * fitting);
            let illegitimate = less.as_ref().unwrap_or(&all);
            if *illegitimate == C::default() {
                tally.cases += 1;
                return true;
            }
            tally.illegitimate_after(case.round, illegitimate);
            tally.slow(case.round + 1, || self.initial(case, held, culprit));
            // By then an open counter is 0; before, what is the same may yet differ in it.
            if case.round >= self.top as u64 {
                if landmark == Some(case.processes) {
                    tally.cases += 1;
                    tally.never(case.round + 1, illegitimate, || {
                        self.initial(case, held, None)
                    });
                    return true;
                }
                if case.round >= next_power {
                    landmark = Some(case.processes);
                    next_power = case.round * 2;
                }
            }
            if self.first_to_split(case).is_some() {
                return false;
            }
        }
    }

    /// How many values of the open counters make the case legitimate now, if any do; and,
    /// unless all do, an open process and an initial value that do not.
    fn legitimate_part(&self, case: &Case<C>) -> (Option<C>, Option<(usize, i32)>) {
        let n = self.instance.processes();
        if !self.legitimate(&case.processes[..n]) {
            return (None, None);
        }
        let passed = case.round.min(self.top as u64) as i32;
        let (mut product, mut culprit) = (C::from(1), None);
        for index in (0..n).filter(|&i| case.open >> i & 1 == 1) {
            let mut fitting = passed as u64 + 1;
            for value in 1..=self.top - passed {
                let mut tried = case.processes;
                tried[index].counter = value;
                if self.legitimate(&tried[..n]) {
                    fitting += 1;
                } else {
                    culprit.get_or_insert((index, value + passed));
                }
            }
            product = product * C::from(fitting);
        }
        (Some(product), culprit)
    }

    /// An initial state of the case: all tokens resting, open counters at 0 except
    /// the culprit's.
    fn initial(&self, case: &Case<C>, held: &[u8], culprit: Option<(usize, i32)>) -> Vec<Process> {
        let mut initial: Vec<Process> = held
            .iter()
            .zip(&case.chosen)
            .map(|(&sum, &counter)| Process {
                queued: 0,
                resting: u32::from(sum),
                counter: counter as i32,
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
