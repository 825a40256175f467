//! Section 7: "An interesting question is whether there can be a hybrid or uniform
//! protocol when the ring size and separation constant are unknown. For the style of
//! algorithm in Section 6 we conjecture the answer is negative."
//!
//! There is one where m and a bound on n are known: `shortest-lap` only times tokens, and
//! converges from every state at any number of processes (docs/research/unknown-size.md). So does
//! the same with epochs, and so does `hop-count`, with tokens that carry data. Adopting
//! every lap, the style of section 6, does not.

use std::num::NonZeroU32;

use headway_core::program::delay;
use headway_core::{Configuration, Gaps, Laps, Measuring, Process, Program, Ring, Separation};
use headway_testkit::tier::pick;
use headway_testsuite::space::{Case, Random};

/// The programs that converge at any number of processes.
const CONVERGING: [Program; 3] = [
    Program::ShortestLap,
    Program::ShortestLapEpochs,
    Program::HopCount,
];

/// Measuring processes at the given places and relays elsewhere; d = ⌊n/m⌋.
fn ring(processes: usize, tokens: u32, program: Program, at: &[usize]) -> Case {
    let separation = Separation::new(processes as u32 / tokens).expect("m ≤ n");
    let mut programs = vec![Program::Relay; processes];
    at.iter().for_each(|&place| programs[place] = program);
    let ring = Ring::new(separation, programs).expect("never empty");
    Case { ring, tokens }
}

/// The bounds of docs/research/unknown-size.md on the rounds to converge.
fn bound(case: &Case, program: Program, limit: u32) -> u64 {
    let (n, m, t) = (
        case.ring.len() as u64,
        u64::from(case.tokens),
        u64::from(limit),
    );
    let d = n / m;
    match program {
        Program::ShortestLap => {
            let rests = (m - 1) * n;
            let calm = rests + 3 * n * (rests + 1);
            let levels = (d + 1..=t / m).map(|level| calm + (n + 1) * (2 * m + 1) * level);
            4 * (n + t) + levels.sum::<u64>() + (n + 1) * (calm + 3 * n)
        }
        Program::ShortestLapEpochs => {
            (8 * n + 3) * (n + t) + (36 * n + 3) * (t * t / (2 * m) + 1 + 2 * t) + 2 * n
        }
        _ => 2 * (n + t) + 4 * n,
    }
}

/// Variables of a measuring process anywhere in their domain.
fn any_variables(new: &Measuring, random: &mut Random) -> Measuring {
    let limit = new.limit;
    let mut up_to = |most: u32| random.below(most + 1);
    Measuring {
        timing: up_to(1) == 0,
        elapsed: up_to(limit),
        ignore: up_to(new.tokens - 1) as i32,
        base: up_to(new.largest_base() as u32) as i32,
        gaps: Gaps {
            previous: up_to(limit),
            arrived: up_to(limit),
            shortest: up_to(limit),
        },
        laps: Laps {
            best: 1 + up_to(limit - 1),
            last: 1 + up_to(limit - 1),
            seen: up_to(new.tokens * (4 * limit + 5)).into(),
            ..new.laps
        },
        mark: up_to(2 * limit),
        ..*new
    }
}

/// Every variable anywhere in its domain; clocks that saturate at `limit`.
fn any_state(case: &Case, limit: u32, random: &mut Random) -> Configuration {
    let mut state = random.state(case, u32::MAX);
    for (&process, variables) in &mut state.measuring {
        *variables = any_variables(&Measuring::new(case.tokens, limit), random);
        let largest = variables.largest_base() as u32;
        state.processes[process].counter = random.below(largest + 1) as i32;
    }
    if case.ring.reads_counts() {
        state.counts = (0..case.tokens).map(|_| random.below(2 * limit)).collect();
    }
    state
}

/// The first round after which the state is legitimate, if it is by `rounds`; it must
/// stay so for some more turns.
fn settles(case: &Case, mut state: Configuration, rounds: u64) -> Option<u64> {
    let tokens = u64::from(case.tokens);
    let legitimate = |state: &Configuration| case.ring.legitimate(state, tokens).is_ok();
    let at = (0..=rounds).find(|_| {
        legitimate(&state) || {
            case.ring.round(&mut state);
            false
        }
    })?;
    for _ in 0..6 * case.ring.len() {
        case.ring.round(&mut state);
        assert!(legitimate(&state), "closed: {state:?}");
    }
    Some(at)
}

/// A ring of up to 10 processes, any mix of measuring ones and relays, clocks up to 8n.
fn any_ring(program: Program, random: &mut Random) -> (Case, u32) {
    let n = 2 + random.below(9) as usize;
    let m = 1 + random.below(n as u32);
    let all = random.below(2) == 0;
    let mut places: Vec<usize> = (0..n).filter(|_| all || random.below(2) == 0).collect();
    if places.is_empty() {
        places.push(0);
    }
    let limit = n as u32 * (1 + random.below(8));
    (ring(n, m, program, &places), limit)
}

/// Random starts from these seeds; the largest share of the bound that one took.
fn random_starts(program: Program, seeds: std::ops::Range<u64>) -> f64 {
    let mut slowest = 0.0_f64;
    for seed in seeds {
        let mut random = Random::new(seed);
        let (case, limit) = any_ring(program, &mut random);
        let state = any_state(&case, limit, &mut random);
        let bound = bound(&case, program, limit);
        let at = settles(&case, state, bound);
        let at = at.unwrap_or_else(|| panic!("{program}, seed {seed}: not within {bound} rounds"));
        slowest = slowest.max(at as f64 / bound as f64);
    }
    slowest
}

/// Climbs from random starts towards slow ones, changing one process or one token at a
/// time. All have to settle within the bound; the largest number of rounds as a multiple
/// of n².
fn climb(program: Program, climbs: std::ops::Range<u64>, steps: u32) -> f64 {
    let mut slowest = 0.0_f64;
    for seed in climbs {
        let mut random = Random::new(seed ^ 0x5eed);
        let (case, limit) = any_ring(program, &mut random);
        let (n, bound) = (case.ring.len(), bound(&case, program, limit));
        let mut state = any_state(&case, limit, &mut random);
        let mut rounds = 0;
        for _ in 0..steps {
            let mut tried = state.clone();
            let other = any_state(&case, limit, &mut random);
            let at = random.below(n as u32) as usize;
            if let (Some(variables), 1..) = (other.measuring.get(&at), random.below(3)) {
                tried.measuring.insert(at, *variables);
                tried.processes[at].counter = other.processes[at].counter;
            } else if tried.processes[at].tokens() > 0 {
                let to = random.below(n as u32) as usize;
                let from = &mut tried.processes[at];
                if from.resting > 0 {
                    from.resting -= 1;
                } else {
                    from.queued -= 1;
                }
                tried.processes[to].resting += 1;
            }
            let taken = settles(&case, tried.clone(), bound);
            let taken = taken.unwrap_or_else(|| panic!("{program}, climb {seed}: {tried:?}"));
            if taken >= rounds {
                (state, rounds) = (tried, taken);
            }
        }
        slowest = slowest.max(rounds as f64 / (n * n) as f64);
    }
    slowest
}

#[test]
fn every_random_ring_settles_within_the_bound() {
    std::thread::scope(|scope| {
        for program in CONVERGING {
            scope.spawn(move || {
                let slowest = random_starts(program, 0..34_000);
                // The bound is not idle: the easy program comes near it.
                let expected = match program {
                    Program::HopCount => 0.3..1.0,
                    _ => 0.001..0.3,
                };
                assert!(expected.contains(&slowest), "{program}: {slowest}");
            });
        }
    });
}

#[test]
fn an_adversary_finds_no_start_that_does_not_settle() {
    std::thread::scope(|scope| {
        for program in CONVERGING {
            scope.spawn(move || {
                let slowest = climb(program, 0..60, 100);
                assert!(slowest < 20.0, "{program}: {slowest} n² rounds");
            });
        }
    });
}

/// 10^7 starts; `make soak` runs it.
#[test]
#[ignore = "an hour"]
fn soak_ten_million_starts() {
    std::thread::scope(|scope| {
        for program in CONVERGING {
            scope.spawn(move || {
                let random = random_starts(program, 1_000_000..4_000_000);
                let climbed = climb(program, 1_000_000..1_001_000, 340);
                println!("{program}: {random} of the bound, {climbed} n² rounds");
            });
        }
    });
}

/// Counter-test: the program of section 6, put right, does not settle from most starts
/// when all processes run it, because it adopts every lap.
#[test]
fn adopting_every_lap_does_not_settle() {
    let all = [0, 1, 2, 3, 4];
    let never = |program| {
        let case = ring(5, 1, program, &all);
        let starts = 0..200;
        let never = starts.filter(|&seed| {
            let mut state = any_state(&case, 10, &mut Random::new(seed));
            (0..20_000).for_each(|_| case.ring.round(&mut state));
            case.ring.legitimate(&state, 1).is_err()
        });
        never.count()
    };
    assert!(never(Program::Measure) > 100);
    for program in CONVERGING {
        assert_eq!(never(program), 0, "{program}");
    }
}

/// Counter-test: a memory of one turn is no better than none.
#[test]
fn a_horizon_that_is_too_short_does_not_settle() {
    let never = |turns| {
        let case = ring(7, 1, Program::ShortestLapEpochs, &[0, 1, 2, 3, 4, 5, 6]);
        let starts = 0..50;
        let never = starts.filter(|&seed| {
            let mut state = any_state(&case, 28, &mut Random::new(seed));
            for variables in state.measuring.values_mut() {
                variables.laps.horizon = NonZeroU32::new(turns);
            }
            (0..20_000).for_each(|_| case.ring.round(&mut state));
            case.ring.legitimate(&state, 1).is_err()
        });
        never.count()
    };
    assert!(never(1) > 0);
    assert_eq!(never(24), 0);
}

/// When token k is released at process p, by token and process, with tokens piled at
/// process 0 and fixed separations. Token k + m is token k a turn later.
fn releases(separations: &[u32], tokens: usize, counters: &[u32], rounds: u64) -> Vec<Vec<u64>> {
    let n = separations.len();
    let counter = |index: usize| counters[index].min(separations[index] - 1) as i32;
    let process = |index| Process {
        counter: counter(index),
        ..Process::default()
    };
    let mut processes: Vec<Process> = (0..n).map(process).collect();
    processes[0].resting = tokens as u32;
    let mut released = vec![Vec::new(); n];
    for round in 1..=rounds {
        let queued: Vec<u32> = processes.iter().map(|process| process.queued).collect();
        for (index, process) in processes.iter_mut().enumerate() {
            let arriving = queued[(index + n - 1) % n];
            *process = delay::round(*process, arriving, separations[index] as i32 - 1);
            if process.queued > 0 {
                released[index].push(round);
            }
        }
    }
    released
}

/// Lemmas 3, 4, 5 and 9 on rings whose separations differ, in a jam: a rest is passed on
/// to the next process with the largest separation; from then on the token is level;
/// within two laps every token is; and gaps that are too wide only shrink.
#[test]
fn in_a_jam_rests_are_passed_on_and_gaps_become_equal() {
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let n = 2 + random.below(8) as usize;
        let m = 1 + random.below(n as u32) as usize;
        let largest = n as u32 / m as u32 + 1 + random.below(6);
        let mut separations: Vec<u32> = (0..n).map(|_| 1 + random.below(largest)).collect();
        separations[random.below(n as u32) as usize] = largest;
        let counters: Vec<u32> = (0..n).map(|_| random.below(largest)).collect();
        let rounds = 12 * u64::from(largest) * m as u64 + 10 * n as u64;
        let at = releases(&separations, m, &counters, rounds);
        let laps = at.iter().map(Vec::len).min().expect("never empty") / m;
        assert!(laps >= 5, "{seed}");
        // D(p, k) of the unrolled ring, and what is read off it.
        let d = |p: usize, k: usize| at[p % n][k + p / n * m];
        let rest = |p: usize, k: usize| d(p, k) - d(p - 1, k) - 1;
        let gap = |p: usize, k: usize| d(p, k) - d(p, k - 1);
        let full = |p: usize| separations[p % n] == largest;
        let largest = u64::from(largest);
        for k in 1..=m {
            let (mut level, mut rested) = (false, false);
            // Whether it has rested since its last full pass, after the first.
            let mut rested_since = None;
            for p in n..(laps - 2) * n {
                let excess = |p: usize| gap(p, k).max(largest);
                assert!(excess(p) <= excess(p - 1), "lemma 9: {seed}, {p}, {k}");
                rested |= rest(p, k) > 0;
                assert!(!rested || gap(p, k) <= largest, "lemma 9: {seed}, {p}, {k}");
                if full(p) {
                    let passed_on = rested_since != Some(true) || rest(p, k) > 0;
                    assert!(passed_on, "lemma 3: {seed}, {p}, {k}");
                    assert!(!level || gap(p, k) == largest, "lemma 4: {seed}, {p}, {k}");
                    level |= rest(p, k) > 0;
                    rested_since = Some(false);
                } else if rest(p, k) > 0 && rested_since.is_some() {
                    rested_since = Some(true);
                }
            }
            assert!(level, "lemma 5: {seed}, token {k}");
        }
    }
}

/// The state of the proof of theorem 4 in docs/research/unknown-size.md: process 0 is A, and B, `hops`
/// ahead, has just released token 0 with the estimate d + 1. Token j arrives at B in round
/// `due(j)`.
fn to_and_fro(case: &Case, hops: u32) -> Configuration {
    let (n, m, d) = (
        case.ring.len() as u32,
        case.tokens,
        case.ring.separation().hops(),
    );
    let late = m * (d + 1) - n;
    let due = |j: u32| (j * (d + 1) - late).max(j * d);
    let returned = |j: u32| j * (d + 1) - late <= hops;
    let mut state = Configuration::empty(&case.ring, m, 2 * n);
    state.processes[hops as usize].queued = 1;
    let mut since_release = hops;
    for j in 1..m {
        if due(j) <= hops {
            state.processes[(hops - due(j)) as usize].queued += 1;
            since_release = hops - due(j);
        } else if returned(j) {
            state.processes[0].resting += 1;
        } else {
            let ahead = j * (d + 1) - late - hops;
            state.processes[(n - ahead) as usize].queued += 1;
        }
    }
    let returned = (1..m).filter(|&j| returned(j)).count() as u32;
    let timing = |elapsed, ignore: u32, base: u32| Measuring {
        timing: true,
        elapsed,
        ignore: ignore as i32,
        base: base as i32,
        ..Measuring::new(m, 2 * n)
    };
    state
        .measuring
        .insert(0, timing(hops, m - 1 - returned, d - 1));
    state.measuring.insert(hops as usize, timing(0, m - 1, d));
    state.processes[0].counter = (d - 1).saturating_sub(since_release) as i32;
    state.processes[hops as usize].counter = d as i32;
    state
}

/// Theorem 4: two processes that adopt every lap do not settle if (m - 1)(d + 1) < n.
#[test]
fn two_that_adopt_every_lap_go_to_and_fro() {
    let mut rings = 0;
    for n in 2..=pick(14, 39, 39) {
        for m in 1..n {
            let d = n / m;
            if (m - 1) * (d + 1) >= n {
                continue;
            }
            for hops in 1..n {
                let case = ring(n as usize, m, Program::Measure, &[0, hops as usize]);
                let start = to_and_fro(&case, hops);
                assert_eq!(start.tokens(), u64::from(m));
                let mut state = start.clone();
                let mut rested = false;
                for _ in 0..3 * n + 2 * (m * (d + 1) - n) {
                    case.ring.round(&mut state);
                    rested |= state.processes.iter().any(|process| process.resting > 0);
                }
                assert!(rested && state == start, "n {n}, m {m}, {hops} hops");
                rings += 1;
            }
        }
    }
    assert!(rings > 200, "{rings}");
}
