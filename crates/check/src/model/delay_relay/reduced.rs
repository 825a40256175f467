//! Every initial state at once, by sets of states that share a fate.
//!
//! 4.4·10^10 states (n = 12, m = 3, d = 4, all delay) are settled by following a
//! few hundred thousand cases. Three reductions make the cases, and each is exact:
//!
//! **Rotation.** A clockwise turn that maps every program to an equal one maps
//! runs to runs and legitimate states to legitimate states, because neither the
//! programs nor the predicate name a process. So one placement of the tokens per
//! orbit is followed and counted as often as the orbit has members.
//!
//! **Arrivals merged.** In a round, process i uses its resting tokens and those
//! queued at its predecessor only as their sum, and the old
//! queues are gone afterwards. So the state after round 1 depends on the sums
//! h(i) = r(i) + q(i-1) and the counters alone; a placement of sums stands for
//! ∏ (h(i)+1) placements on queues and resting places. What happens *before*
//! round 1, that is how many initial states are legitimate, is counted
//! separately and directly.
//!
//! **Counters split when first read.** A process without tokens only counts
//! down, whatever its counter is, and sends nothing. Its counter therefore
//! influences no other variable before a token is first held there, say in round
//! t, and by then is max(c - (t-1), 0). So the initial values of a counter are
//! kept together as one set until that round, and split there into the cases
//! e = 0 (which min(t, d) initial values share) and e = 1, …, d-t (one value
//! each). From round d on nothing is left to split: a counter that no token has
//! met by then is 0. This also is why a pile's inner order, and most counters,
//! do not matter.
//!
//! In a case, all variables are known except the counters at processes that no
//! token has met. Legitimacy constrains the counter of each process separately,
//! given where the tokens are, and 0 always satisfies it at a process without a
//! token. So a case is legitimate exactly for a product of sets of values, found
//! by trying every value at one process with 0 at the others, and the number of
//! its illegitimate states is the size of the case less that product. As
//! legitimacy is closed (checked first, for every legitimate state), a state is
//! legitimate from round t on exactly if it is at the end of round t, so the sums
//! over all cases give the exact number of states that take each number of
//! rounds.

use headway_core::{Process, legitimate, ring};
use rayon::prelude::*;

use super::{Instance, LARGEST_RING};
use crate::control::{CheckError, Control, Limits};
use crate::ranking::Multisets;

mod tally;

use tally::Tally;

/// What the reductions are called in reports, in the order of their proofs.
pub const REDUCTIONS: [&str; 3] = [
    "rotation: one placement of the tokens for all turns of the ring that keep the programs",
    "arrivals merged: tokens resting at a process and queued at its predecessor count as one sum",
    "counters split when first read: a counter is one set of values until a token meets it",
];

/// The answer about an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducedAnswer {
    /// All states, unreduced.
    pub states: u128,
    /// Legitimate states, unreduced.
    pub legitimate: u128,
    /// A legitimate state that a round leads out of, if any.
    pub closure_violation: Option<Vec<Process>>,
    /// In every legitimate state every token moves in the next round.
    pub tokens_move: bool,
    /// No round of any case changed the number of tokens.
    pub conserved: bool,
    /// After every round of every case, no process had queued more than one token.
    pub one_queued: bool,
    /// How many states take how many rounds, unreduced.
    pub distances: Vec<u128>,
    /// States that never become legitimate, unreduced.
    pub never: u128,
    /// Rounds until the last state is legitimate, and a state that takes so long.
    pub worst: Option<(u64, Vec<Process>)>,
    /// The last round after which a token can rest, and a state in which it does;
    /// over the states that become legitimate.
    pub worst_last_rest: Option<(u64, Vec<Process>)>,
    /// A state that never becomes legitimate, if any.
    pub diverging: Option<Vec<Process>>,
    /// Placements of tokens followed, after rotation and merging.
    pub placements: u64,
    /// Cases followed to their end.
    pub cases: u64,
}

/// Settles every initial state of an instance.
///
/// # Errors
///
/// [`CheckError::TooLarge`] before it starts, [`CheckError::Interrupted`] when
/// stopped.
pub fn explore(
    instance: &Instance,
    limits: Limits,
    control: &Control,
) -> Result<ReducedAnswer, CheckError> {
    if instance.tokens() == 0 {
        return Err(CheckError::instance(
            "delay-relay needs at least one token: without any, every state is legitimate",
        ));
    }
    admit(instance, limits)?;
    let sums = Multisets::new(instance.processes(), instance.tokens());
    let rotations = instance.rotations();
    let placements = sums.count() as u64;
    control.begin(placements);
    let explorer = Explorer {
        instance,
        control,
        top: instance.ring().separation().top(),
    };
    let tally = (0..placements as usize)
        .into_par_iter()
        .with_max_len(64)
        .map(|rank| {
            let rank = rank as u64;
            if control.stopped() {
                return Tally::default();
            }
            control.advance(1);
            let mut held = [0_u8; LARGEST_RING];
            let mut slots = vec![0; instance.tokens()];
            sums.unrank(rank, &mut slots);
            for &slot in &slots {
                held[usize::from(slot)] += 1;
            }
            let held = &held[..instance.processes()];
            match orbit(held, &rotations) {
                Some(orbit) => explorer.placement(rank, held, orbit as u128),
                None => Tally::default(),
            }
        })
        .reduce(Tally::default, Tally::merge);
    if control.stopped() {
        return Err(CheckError::interrupted(
            control,
            format!(
                "{} cases followed, {} never become legitimate, and the slowest takes {} rounds",
                tally.cases,
                tally.diverging.as_ref().map_or("none", |_| "some"),
                tally.worst.as_ref().map_or(0, |worst| worst.rounds),
            ),
        ));
    }
    Ok(tally.answer(instance.states()))
}

/// Refuses an instance with too many cases, and says which like it would fit.
fn admit(instance: &Instance, limits: Limits) -> Result<(), CheckError> {
    let fits = |candidate: &Instance| expected_cases(candidate) <= u128::from(limits.work);
    if fits(instance) {
        return Ok(());
    }
    let (n, m, d) = (
        instance.processes(),
        instance.tokens(),
        instance.separation(),
    );
    let like = |tokens, separation| {
        let delays = instance.ring().delays();
        Instance::with_delays(n, tokens, separation, delays)
            .ok()
            .filter(fits)
    };
    let fewer = (1..m).rev().find(|&tokens| like(tokens, d).is_some());
    let closer = (1..d)
        .rev()
        .find(|&separation| like(m, separation).is_some());
    let mut smaller = Vec::new();
    smaller.extend(fewer.map(|tokens| format!("{tokens} tokens")));
    smaller.extend(closer.map(|separation| format!("separation {separation}")));
    if smaller.is_empty() {
        smaller.push("a smaller ring".to_owned());
    }
    Err(CheckError::TooLarge {
        what: format!("{} states", instance.states()),
        need: format!(
            "following about {} cases, and the limit is {}",
            expected_cases(instance),
            limits.work
        ),
        fits: format!("{} on this ring", smaller.join(" or ")),
    })
}

/// An upper estimate of the cases: a token meets new counters during the first C
/// rounds only, and the ways to spend them resting and moving are 2^C.
fn expected_cases(instance: &Instance) -> u128 {
    let placements = Multisets::new(instance.processes(), instance.tokens()).count();
    let rotations = instance.rotations().len() as u128;
    let top = instance.separation() - 1;
    let delays = instance.ring().delays().count() as u32;
    let by_paths = 1_u128
        .checked_shl(top.saturating_mul(instance.tokens() as u32))
        .filter(|&cases| cases > 0);
    let by_counters = u128::from(instance.separation()).checked_pow(delays);
    let cases = match (by_paths, by_counters) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b).unwrap_or(u128::MAX),
    };
    (placements / rotations + 1).saturating_mul(cases)
}

/// The number of different turns of a placement, or `None` unless it is the first
/// of them in lexicographic order.
fn orbit(held: &[u8], rotations: &[usize]) -> Option<usize> {
    let n = held.len();
    let mut fixed = 0;
    for &turn in rotations {
        let turned = (0..n).map(|i| held[(i + turn) % n]);
        match turned.cmp(held.iter().copied()) {
            std::cmp::Ordering::Less => return None,
            std::cmp::Ordering::Equal => fixed += 1,
            std::cmp::Ordering::Greater => {}
        }
    }
    Some(rotations.len() / fixed)
}

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

struct Explorer<'a> {
    instance: &'a Instance,
    control: &'a Control,
    top: i32,
}

impl Explorer<'_> {
    fn placement(&self, rank: u64, held: &[u8], orbit: u128) -> Tally {
        let mut tally = Tally::of_placement(rank);
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
        for mut number in 0..product {
            let mut state = base;
            for (index, values) in &allowed {
                state[*index].counter = values[(number % values.len() as u128) as usize];
                number /= values.len() as u128;
            }
            let before = state;
            self.round(&mut state[..n]);
            if !(self.legitimate(&before[..n]) && self.legitimate(&state[..n])) {
                tally
                    .closure_violation
                    .get_or_insert((tally.rank, before[..n].to_vec()));
            }
            tally.tokens_move &= (0..n)
                .all(|i| state[i].resting == 0 && state[(i + 1) % n].queued == before[i].queued);
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
            let several = case.round < self.top as u64 && case.open != 0;
            if !several {
                let state = (case.processes, case.open);
                if landmark == Some(state) {
                    tally.cases += 1;
                    tally.never(case.round + 1, illegitimate, || {
                        self.initial(&case, held, None)
                    });
                    return None;
                }
                if case.round >= next_power {
                    landmark = Some(state);
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
