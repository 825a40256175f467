//! Rings on which several processes measure (docs/research/unknown-size.md).

use crate::common::asked;
use headway_check::model::unknown_size::{self, Settings};
use headway_check::{BigUint, Control, Report};
use headway_core::program::Counts;
use headway_core::{Measuring, Process, Program};
use headway_sim::placement::Delays;
use headway_testkit::tier::pick;

fn report(program: Program, settings: &Settings) -> Report {
    unknown_size::check(program, settings, &Control::default()).unwrap()
}

/// All processes measure, with clocks up to 2n.
fn ring(processes: usize, tokens: usize) -> Settings {
    Settings {
        processes,
        tokens: tokens.into(),
        ..Settings::default()
    }
}

/// Runs the witness as the core does; rounds to the first legitimate state.
fn replayed(report: &Report, tokens: u64) -> u64 {
    let (ring, mut state) = report.witness.clone().unwrap().start.unwrap();
    assert_eq!(ring.admits(&state), Ok(()));
    let mut rounds = 0;
    while ring.legitimate(&state, tokens).is_err() {
        ring.round(&mut state);
        rounds += 1;
        assert!(rounds < 10_000, "{}", report.instance);
    }
    rounds
}

/// From every state of the domain, at every process or a mix with relays: exact worst
/// cases, which the core replays.
#[test]
fn the_programs_converge_from_every_state() {
    use Program::{HopCount, ShortestLap, ShortestLapEpochs};
    let all: &[usize] = &[];
    let rings = [
        (HopCount, 2, 1, all, 11),
        (HopCount, 3, 2, all, 14),
        (ShortestLap, 2, 1, all, 19),
        (ShortestLap, 2, 2, all, 12),
        (ShortestLapEpochs, 2, 1, &[0], 0),
        (ShortestLapEpochs, 2, 2, &[0], 0),
        (ShortestLap, 4, 2, &[0, 1], 32),
        (ShortestLap, 4, 2, &[0, 2], 31),
        // All that follow are of the large tier.
        (HopCount, 4, 2, &[0, 1, 3], 22),
        (ShortestLap, 3, 1, all, 41),
        (ShortestLap, 3, 2, all, 27),
        (ShortestLap, 3, 3, all, 20),
    ];
    for &(program, n, m, at, worst) in &rings[..pick(8, rings.len(), rings.len())] {
        let mut settings = ring(n, m);
        if !at.is_empty() {
            settings.delays = Delays::At(at.to_vec());
        }
        let report = report(program, &settings);
        assert!(report.all_hold(), "{}", report.instance);
        // A process that runs shortest-lap may end with too low an estimate.
        let estimates = match program {
            ShortestLap => "no-overestimate",
            _ => "exact-estimates",
        };
        assert_eq!(report.properties.last().unwrap().name, estimates);
        let found = report.worst.unwrap().steps;
        assert_eq!(replayed(&report, m as u64), found, "{}", report.instance);
        if worst > 0 {
            assert_eq!(found, worst, "{}", report.instance);
        }
    }
}

/// What a case stands for is counted by formula; it is far more than cases.
#[test]
fn all_states_are_counted() {
    let report = report(Program::ShortestLap, &ring(3, 2));
    // Timing, ignore, clock, base, counter, previous, arrived and shortest at each
    // process, and two tokens in six places.
    let local = BigUint::from(2 * 2 * 7 * 3 * 3 * 7 * 7 * 7_u32);
    assert_eq!(report.states, local.pow(3) * 21_u32);
    assert!(report.figures.cases.unwrap() < 1_000_000);
}

/// The answer is that of visiting every state one by one, with the core's own round.
#[test]
fn every_state_one_by_one_gives_the_same() {
    for (n, m, limit) in [(2, 1, 4), (2, 2, 4), (3, 2, 4)] {
        let settings = Settings {
            delays: Delays::At(vec![0]),
            limit: Some(limit),
            ..ring(n, m)
        };
        // What the token will show is as good as what it was marked with.
        one_by_one(
            Program::HopCount,
            &settings,
            |variables, processes, value| {
                let behind = (1..=n).flat_map(|hops| {
                    let tokens = processes[n - hops].tokens() as usize;
                    std::iter::repeat_n(hops as u32, tokens)
                });
                let due = behind.cycle().nth(variables.ignore as usize).unwrap();
                variables.mark = due.wrapping_sub(value);
            },
        );
        one_by_one(Program::Measure, &settings, |variables, _, value| {
            variables.elapsed = value;
        });
    }
}

fn one_by_one(
    program: Program,
    settings: &Settings,
    clock: impl Fn(&mut Measuring, &[Process], u32),
) {
    let n = settings.processes;
    let (m, limit) = (settings.tokens.on(n), settings.limit.unwrap());
    let report = report(program, settings);
    let (ring, _) = report.witness.clone().unwrap().start.unwrap();
    let (mut worst, mut legitimate, mut states) = (0, 0_u64, 0_u64);
    for slots in 0..(2 * n as u64).pow(m as u32) {
        let mut places: Vec<u64> = (0..m as u32)
            .map(|k| slots / (2 * n as u64).pow(k) % (2 * n as u64))
            .collect();
        if !places.is_sorted() {
            continue;
        }
        let mut processes = vec![Process::default(); n];
        for place in places.drain(..) {
            let process = &mut processes[place as usize / 2];
            *(if place % 2 == 0 {
                &mut process.queued
            } else {
                &mut process.resting
            }) += 1;
        }
        let new = Measuring::new(m as u32, limit);
        let bases = new.largest_base();
        for value in 0..2 * m as u32 * (limit + 1) {
            for (base, counter) in (0..=bases).flat_map(|b| (0..=bases).map(move |c| (b, c))) {
                let mut variables = Measuring {
                    timing: value % 2 == 0,
                    ignore: (value / 2 % m as u32) as i32,
                    base,
                    ..new
                };
                clock(&mut variables, &processes, value / 2 / m as u32);
                let mut state = headway_core::Configuration::from(processes.clone());
                state.processes[0].counter = counter;
                state.measuring.insert(0, variables);
                if ring.reads_counts() {
                    state.counts = vec![0; m];
                }
                states += 1;
                let mut rounds = 0;
                while ring.legitimate(&state, m as u64).is_err() {
                    ring.round(&mut state);
                    rounds += 1;
                    assert!(rounds < 1_000);
                }
                legitimate += u64::from(rounds == 0);
                worst = worst.max(rounds);
            }
        }
    }
    assert_eq!(report.states, BigUint::from(states), "{}", report.instance);
    assert_eq!(report.worst.unwrap().steps, worst, "{}", report.instance);
    assert_eq!(
        report.legitimate,
        BigUint::from(legitimate),
        "{}",
        report.instance
    );
}

/// Section 6's program, put right, at two processes: exactly which rings settle from
/// every start, and the shortest cycles of the others, which the core replays.
#[test]
fn the_corrected_figure_6_at_two_processes() {
    for (n, m, at, cycle) in [
        (2, 1, [0, 1], Some(8)),
        (2, 2, [0, 1], None),
        (3, 1, [0, 1], Some(11)),
        (3, 2, [0, 1], Some(11)),
        (4, 2, [0, 1], Some(16)),
        (4, 2, [0, 2], Some(16)),
        (4, 3, [0, 1], None),
        (5, 2, [0, 2], Some(17)),
        (6, 3, [0, 1], None),
        (6, 3, [0, 2], None),
        (6, 3, [0, 3], None),
    ] {
        let settings = Settings {
            delays: Delays::At(at.to_vec()),
            ..ring(n, m)
        };
        let report = report(Program::Measure, &settings);
        assert!(report.closure(), "{}", report.instance);
        let lasso = report.counterexample("convergence");
        assert_eq!(
            lasso.map(|lasso| lasso.states.len()),
            cycle,
            "{}",
            report.instance
        );
        let Some(lasso) = lasso else {
            assert_eq!(replayed(&report, m as u64), report.worst.unwrap().steps);
            continue;
        };
        let (ring, start) = lasso.start.clone().unwrap();
        let mut state = start.clone();
        for _ in 0..lasso.states.len() {
            assert!(ring.legitimate(&state, m as u64).is_err());
            ring.round(&mut state);
        }
        assert_eq!(state, start, "{}", report.instance);
    }
}

/// A horizon that is too short is found out, and how long it has to be.
#[test]
fn a_short_horizon_is_rejected() {
    let settles = |n: usize, turns| {
        let settings = Settings {
            limit: Some(n as u32 + 1),
            horizon: Some(turns),
            ..ring(n, 1)
        };
        report(Program::ShortestLapEpochs, &settings).convergence()
    };
    assert!(!settles(2, 1));
    assert!(settles(2, 2));
}

/// Counter-tests: rules that only look alike are rejected.
#[test]
fn broken_rules_are_rejected() {
    type Rule = fn(Program, Process, Measuring, u32, Counts) -> (Process, Measuring);
    let never_raise: Rule = |program, before, variables, arriving, counts| {
        let (after, mut measured) = program.measuring_round(before, variables, arriving, counts);
        measured.base = measured.base.min(variables.base);
        (after, measured)
    };
    let raise_at_once: Rule = |_, before, variables, arriving, counts| {
        Program::Measure.measuring_round(before, variables, arriving, counts)
    };
    let never_lower: Rule = |program, before, variables, arriving, counts| {
        let (after, mut measured) = program.measuring_round(before, variables, arriving, counts);
        measured.base = measured.base.max(variables.base);
        (after, measured)
    };
    for rule in [never_raise, raise_at_once, never_lower] {
        let settings = Settings {
            delays: Delays::At(vec![0, 1]),
            ..ring(4, 2)
        };
        let control = Control::default();
        let check = unknown_size::check_with(Program::ShortestLap, &settings, rule, &control);
        assert!(!check.unwrap().all_hold());
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    for (line, says) in [
        ("shortest-lap tokens=0", "at least 1 token"),
        ("shortest-lap tokens=4", "at most as many as processes"),
        ("shortest-lap limit=2", "a limit from"),
        ("shortest-lap delays=at:3", "no process 3"),
        ("shortest-lap delays=every:4 horizon=2", "no meaning"),
        ("shortest-lap-epochs horizon=0", "a horizon from 1"),
    ] {
        let error = asked(line, &Control::default()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let refused = |program, settings: &Settings| {
        let refused = unknown_size::check(program, settings, &Control::default());
        refused.unwrap_err().to_string()
    };
    let with_horizon = Settings {
        horizon: Some(2),
        ..ring(3, 2)
    };
    assert!(refused(Program::ShortestLap, &with_horizon).contains("has a horizon"));
    let nobody = Settings {
        delays: Delays::At(Vec::new()),
        ..ring(3, 2)
    };
    assert!(refused(Program::ShortestLap, &nobody).contains("no process delays"));
    assert!(refused(Program::Delay, &ring(3, 2)).contains("not a program"));
}
