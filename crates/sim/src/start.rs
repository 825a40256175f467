//! Initial states.

use std::cmp::Reverse;
use std::num::NonZeroU32;

use headway_core::{
    Configuration, Laps, Measuring, Process, ProcessIndex, Program, Ring, Variable, bound,
};

use crate::seed::{Purpose, Random};

/// A scrambled state: every token at a process of its own choice, queued or
/// resting, and every other variable anything in its domain.
///
/// Tokens are independent and uniform over processes, so that piles are as
/// common as chance has them.
pub fn random(ring: &Ring, tokens: u32, seed: u64) -> Configuration {
    random_with(ring, tokens, &Clocks::new(ring.len()), seed)
}

/// The parameters of measuring processes that are not the same for all rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Where their clocks saturate.
    pub limit: u32,
    /// How long those with epochs remember ([`Laps::horizon`]).
    pub horizon: Option<NonZeroU32>,
}

impl Clocks {
    /// The default for a ring of so many processes.
    pub fn new(processes: usize) -> Clocks {
        Clocks {
            limit: Measuring::default_limit(processes),
            horizon: None,
        }
    }
}

/// The same with clocks of any size.
pub(crate) fn random_with(ring: &Ring, tokens: u32, clocks: &Clocks, seed: u64) -> Configuration {
    let mut random = Random::new(seed, Purpose::Start);
    let mut start = Configuration::empty(ring, tokens, clocks.limit);
    for variables in start.measuring.values_mut() {
        variables.laps.horizon = clocks.horizon;
    }
    scatter(&mut start.processes, tokens, &mut random);
    scramble_variables(ring, &mut start, |_| true, &mut random);
    if ring.reads_counts() {
        start.counts = (0..tokens).map(|_| any_count(&mut random)).collect();
    }
    start
}

/// Puts `tokens` more tokens on the processes, each anywhere, queued or resting.
pub(crate) fn scatter(processes: &mut [Process], tokens: u32, random: &mut Random) {
    for _ in 0..tokens {
        let at = random.index(processes.len());
        if random.coin() {
            processes[at].queued += 1;
        } else {
            processes[at].resting += 1;
        }
    }
}

/// Gives counters and measuring variables of the chosen processes any value of
/// their domain. Parameters (tokens, limit) stay.
pub(crate) fn scramble_variables(
    ring: &Ring,
    state: &mut Configuration,
    chosen: impl Fn(ProcessIndex) -> bool,
    random: &mut Random,
) {
    for (index, process) in state.processes.iter_mut().enumerate() {
        if !chosen(index) {
            continue;
        }
        let program = ring.programs()[index];
        let largest = match state.measuring.get_mut(&index) {
            Some(variables) => {
                *variables = any_measuring(program, variables, random);
                variables.largest_base()
            }
            None if program.delays() => ring.separation().top(),
            None => 0,
        };
        process.counter = up_to(largest, random);
    }
}

fn any_measuring(program: Program, parameters: &Measuring, random: &mut Random) -> Measuring {
    let mut any = *parameters;
    for variable in program.variables() {
        let value = match variable {
            variable if variable.is_parameter() => continue,
            Variable::Timing => i64::from(random.coin()),
            // Within an epoch of this memory.
            Variable::Seen => random.below(epoch(&any)) as i64,
            _ => {
                let domain = variable.domain(program, &any);
                let least = (*domain.start()).max(0);
                least + random.below((domain.end() - least) as u64 + 1) as i64
            }
        };
        variable.set(&mut any, value);
    }
    if program.reads_counts() {
        // It has no clock.
        any.elapsed = 0;
    }
    any
}

fn epoch(variables: &Measuring) -> u64 {
    let arrivals = variables.laps.epoch(variables.tokens);
    u64::try_from(arrivals).unwrap_or(u64::MAX)
}

/// What a token may carry.
pub(crate) fn any_count(random: &mut Random) -> u32 {
    random.below(1 << 32) as u32
}

fn up_to(largest: i32, random: &mut Random) -> i32 {
    random.below(largest as u64 + 1) as i32
}

/// All tokens resting at one process, all counters run down.
pub fn piled(ring: &Ring, tokens: u32, process: ProcessIndex) -> Configuration {
    Configuration::piled(ring, tokens, process)
}

/// Tokens as evenly spaced as the ring allows, all queued, with the counters
/// that they have left behind them: a legitimate state whenever m·d ≤ n.
pub fn spaced(ring: &Ring, tokens: u32) -> Configuration {
    let n = ring.len();
    let top = ring.separation().top();
    let mut start = Configuration::empty(ring, tokens, Measuring::default_limit(n));
    for token in 0..u64::from(tokens) {
        let at = u128::from(token) * n as u128 / u128::from(tokens);
        start.processes[at as usize].queued += 1;
    }
    for variables in start.measuring.values_mut() {
        variables.base = top.min(variables.largest_base());
        variables.laps = Laps::new((n as u64).min(u64::from(variables.limit)) as u32);
    }
    if ring.reads_counts() {
        start.counts = vec![0; tokens as usize];
    }
    // From the last token backwards: each delay has counted since the nearest
    // token ahead went by.
    let Some(last) = start.processes.iter().rposition(|p| p.queued > 0) else {
        return start;
    };
    let mut ahead = 0;
    for back in 0..n {
        let index = (last + n - back) % n;
        if start.processes[index].queued > 0 {
            ahead = 0;
        }
        if ring.programs()[index].delays() {
            start.processes[index].counter = (i64::from(top) - ahead).max(0) as i32;
        }
        ahead += 1;
    }
    start
}

/// A state that is legitimate last of all, for a feasible ring of delays and relays:
/// exactly at [`Ring::worst_case`]'s `legitimate_at`. `None` when no process delays,
/// some process measures, m·d > n, or there are no tokens.
///
/// All tokens are piled on the relay that has the longest way to the next delay, so that
/// they come close together to where they have to be pulled apart; or, when delays are at
/// most d apart, on a delay that has just started to count. In both a token rests latest of
/// all, too. Where two delays are so near to each other that the first still counts long
/// after the second has held a token up, they are piled there (theorem 3 of
/// `docs/research/worst-case.md`); a token rests latest of all if delays are at most d apart.
pub fn worst(ring: &Ring, tokens: u32) -> Option<Configuration> {
    let (n, m, d) = (ring.len(), u64::from(tokens), ring.separation());
    let hops = d.hops() as usize;
    ring.worst_case(m)?;
    let delays: Vec<ProcessIndex> = ring.delays().collect();
    let next = |k: usize| delays[(k + 1) % delays.len()];
    let gap = |k: usize| (next(k) + n - delays[k] - 1) % n + 1;
    let lateness = |&k: &usize| {
        let late = bound::worst_legitimate_at(m, d.hops(), [gap(k) as u64]);
        Reverse((late, gap(k)))
    };
    // The first of equals, and of those the widest gap.
    let slowest = (0..delays.len()).min_by_key(lateness)?;
    let (delay, gap) = (delays[slowest], gap(slowest));
    let mut start = Configuration::empty(ring, tokens, 0);
    if gap + 2 < hops {
        start.processes[delay].counter = (hops - 2 - gap) as i32;
        start.processes[next(slowest)].counter = d.top();
        start.processes[delay].resting = tokens;
    } else if hops == 1 || tokens == 1 || gap <= hops {
        start.processes[delay].counter = d.top();
        start.processes[delay].resting = tokens;
    } else {
        start.processes[(delay + 1) % n].resting = tokens;
    }
    Some(start)
}
