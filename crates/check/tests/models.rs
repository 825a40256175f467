//! The shipped models: published results, pinned counts with a second way to each,
//! and for every model something broken that is caught.

use headway_check::model::asynchronous::{self, Clocking};
use headway_check::model::delay_relay::Instance;
use headway_check::model::{definitional, handover, k_state, measure, monitor, phase_clock};
use headway_check::{Control, Deterministic, Figure, Limits, Model, Report, Scheduler};
use headway_core::phase_clock::PhaseClock;
use headway_core::{Ring, Separation};

fn limits() -> Limits {
    Limits::default()
}

fn figure(report: &Report, name: &str) -> u128 {
    match report.figure(name) {
        Some(Figure::Number(number)) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

fn k_state(n: usize, k: u32, scheduler: Scheduler) -> Report {
    k_state::check(n, k, scheduler, limits(), &Control::default()).unwrap()
}

/// Published for N = K under the distributed scheduler: 3, and 3N(N-1)/2 - N - 1
/// from N = 4 on (13, 24, 38, 55).
#[test]
fn k_state_worst_cases_are_the_published_ones() {
    for (n, published) in [(3, 3), (4, 13), (5, 24), (6, 38), (7, 55)] {
        let report = k_state(n, n as u32, Scheduler::Distributed);
        assert!(report.all_hold());
        assert_eq!(report.worst.unwrap().steps, published, "N = K = {n}");
        if n >= 4 {
            assert_eq!(published, (3 * n * (n - 1) / 2 - n - 1) as u64);
        }
        // States: K^N. Legitimate: all equal, or one step of two values at one of
        // N - 1 places.
        let (k, places) = (n as u128, n as u128 - 1);
        assert_eq!(report.states, k.pow(n as u32));
        assert_eq!(report.legitimate, k + places * k * (k - 1));
        assert_eq!(report.witness.unwrap().states.len() as u64, published + 1);
    }
}

/// K = N-1 is enough for a central scheduler (and for a locally central one, whose
/// steps a central one can make one by one), and too little for the others.
#[test]
fn one_value_less_converges_under_central_schedulers_only() {
    for n in 3..=6 {
        let converges = |scheduler| k_state(n, n as u32 - 1, scheduler).convergence;
        assert!(converges(Scheduler::Central));
        assert!(converges(Scheduler::LocallyCentral));
        assert!(!converges(Scheduler::Distributed));
        assert!(!converges(Scheduler::Synchronous));
        let broken = k_state(n, n as u32 - 1, Scheduler::Distributed);
        let run = broken
            .property("convergence")
            .unwrap()
            .counterexample
            .as_ref()
            .unwrap();
        assert!(run.repeats_from.is_some(), "shown as a lasso");
    }
    assert!(
        !k_state(5, 3, Scheduler::Central).convergence,
        "K = N-2 is too little"
    );
}

#[test]
fn answers_do_not_depend_on_threads() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let control = Control::default();
            let ring = Instance::with_delays(7, 2, 3, [0, 1, 4]).unwrap();
            (
                headway_check::model::delay_relay::check(&ring, true, limits(), &control).unwrap(),
                headway_check::model::delay_relay::check(&ring, false, limits(), &control).unwrap(),
                k_state(5, 5, Scheduler::Distributed),
                k_state(5, 4, Scheduler::Distributed),
                measure::check(5, 2, 10, true, limits(), &control).unwrap(),
            )
        })
    };
    let one = with(1);
    for threads in [2, 3, 8] {
        assert_eq!(one, with(threads), "{threads} threads");
    }
}

fn measured(n: usize, m: usize, printed: bool) -> Report {
    measure::check(n, m, 2 * n as u32, printed, limits(), &Control::default()).unwrap()
}

/// The corrected program converges from every state of its domain. States by
/// formula; legitimate states by going through all of them with the ring's own
/// predicate.
#[test]
fn corrected_measuring_converges_to_the_largest_separation() {
    for (n, m) in [(4, 2), (5, 2), (6, 2), (6, 3), (7, 3), (8, 2)] {
        let report = measured(n, m, false);
        assert!(report.all_hold(), "{}", report.instance);
        let placements = binomial(2 * n + m - 1, m);
        let bases = 2 * n / m;
        assert_eq!(
            report.states,
            (placements * 2 * (2 * n + 1) * m * bases * bases) as u128
        );
    }
    // Worst cases, as the engine found them; the witness is replayed by the core.
    for (n, m, worst) in [(4, 2, 19), (5, 2, 24), (6, 2, 30), (6, 3, 32)] {
        let report = measured(n, m, false);
        assert_eq!(report.worst.unwrap().steps, worst);
        let (ring, mut state) = report.witness.unwrap().start.unwrap();
        let mut rounds = 0;
        while ring.legitimate(&state, m as u64).is_err() {
            ring.round(&mut state);
            rounds += 1;
        }
        assert_eq!(rounds, worst);
    }
}

fn binomial(n: usize, k: usize) -> usize {
    (1..=k).fold(1, |product, i| product * (n + 1 - i) / i)
}

/// As printed, both errors are found, each by a shortest run. That they are
/// shortest is checked by trying all shorter ones: every initial state's run is
/// followed until it repeats.
#[test]
fn printed_measuring_fails_in_both_ways_and_shortest_runs_show_it() {
    let report = measured(6, 2, true);
    assert!(!report.convergence);
    let dead = report
        .property("no-deadlock")
        .unwrap()
        .counterexample
        .clone()
        .unwrap();
    let close = report
        .property("full-separation")
        .unwrap()
        .counterexample
        .clone()
        .unwrap();
    let (ring, start) = close.start.clone().unwrap();
    assert!(ring.admits(&start).is_ok());
    assert_eq!(close.states.len(), 6, "{close:?}");
    assert!(
        close.states.iter().any(|state| state.contains("base 1")),
        "separation 2, not 3"
    );
    assert!(dead.states.iter().any(|state| state.contains("base -1")));

    let model = measure::MeasureRing::new(6, 2, 12, true).unwrap();
    let (mut shortest_dead, mut shortest_close) = (usize::MAX, usize::MAX);
    for rank in 0..model.states() {
        let start = model.state(rank);
        if !model.initial(&start) {
            continue;
        }
        let mut run = vec![start];
        let repeated = loop {
            let state = run[run.len() - 1];
            if model.legitimate(&state) || run.len() > 80 {
                break None;
            }
            let next = model.next(&state);
            if let Some(index) = run.iter().position(|seen| *seen == next) {
                break Some(index);
            }
            run.push(next);
        };
        let Some(index) = repeated else { continue };
        match model.blame(&run[index..]) {
            "no-deadlock" => shortest_dead = shortest_dead.min(run.len()),
            "full-separation" => shortest_close = shortest_close.min(run.len()),
            _ => {}
        }
    }
    assert_eq!(dead.states.len(), shortest_dead);
    assert_eq!(close.states.len(), shortest_close);
}

fn clocks(n: usize, clock: PhaseClock, scheduler: Scheduler) -> Report {
    phase_clock::check(n, clock, scheduler, limits(), &Control::default()).unwrap()
}

/// Legitimate states by formula: K times the closed walks of n steps -1, 0 or 1
/// (central trinomial coefficients 7, 19, 51).
#[test]
fn phase_clock_needs_its_modulus_and_its_tail() {
    for (n, walks) in [(3, 7), (4, 19), (5, 51)] {
        let good = PhaseClock::for_ring(n as i32);
        for scheduler in Scheduler::ALL {
            let report = clocks(n, good, scheduler);
            assert!(report.all_hold(), "{n} {scheduler}");
            assert_eq!(report.legitimate, walks * good.modulus as u128);
        }
        let small = PhaseClock {
            modulus: n as i32,
            ..good
        };
        let report = clocks(n, small, Scheduler::Distributed);
        assert!(
            !report.property("no-deadlock").unwrap().holds,
            "the clocks can be wound"
        );
        if n > 3 {
            let short = PhaseClock {
                tail: good.tail - 1,
                ..good
            };
            assert!(!clocks(n, short, Scheduler::Distributed).convergence);
        }
    }
}

fn asynchronous(n: usize, g: u32, delays: &[usize], clocking: Clocking) -> Report {
    let ring = Instance::with_delays(n, 2, g, delays.iter().copied()).unwrap();
    asynchronous::check(
        &ring,
        clocking,
        Scheduler::Central,
        limits(),
        &Control::default(),
    )
    .unwrap()
}

/// The true distance is at least g - ⌊(g+p)/(p+1)⌋ under every schedule, and that
/// is met.
#[test]
fn true_distance_holds_and_is_tight() {
    true_distances(3..=4);
}

#[test]
fn true_distance_on_the_smallest_ring() {
    true_distances(2..=2);
}

fn true_distances(separations: std::ops::RangeInclusive<u32>) {
    for g in separations {
        let n = 2 * g as usize;
        for pace in 1..=g {
            let report = asynchronous(n, g, &[0], Clocking::for_ring(n, pace));
            assert!(report.all_hold(), "{}", report.instance);
            let bound = g - (g + pace) / (pace + 1);
            assert_eq!(
                figure(&report, "least_true_distance"),
                u128::from(bound),
                "g {g} p {pace}"
            );
        }
    }
}

#[test]
fn logical_rounds_are_lock_step_rounds_from_every_state_and_schedule() {
    let every = Clocking {
        every_start: true,
        ..Clocking::for_ring(4, 1)
    };
    let ring = Instance::uniform(4, 2, 2).unwrap();
    let states = |scheduler| {
        let control = Control::default();
        let report = asynchronous::check(&ring, every, scheduler, limits(), &control).unwrap();
        assert!(report.all_hold(), "{report:?}");
        report.states
    };
    // Steps of several processes reach nothing that single steps do not.
    assert_eq!(states(Scheduler::Central), states(Scheduler::Distributed));
}

#[test]
fn asynchrony_without_previous_state_or_with_a_small_modulus_is_caught() {
    let all = [0, 1, 2, 3];
    let good = Clocking::for_ring(4, 1);
    assert!(asynchronous(4, 2, &all, Clocking { modulus: 5, ..good }).all_hold());
    let forgetful = asynchronous(
        4,
        2,
        &all,
        Clocking {
            previous: false,
            ..good
        },
    );
    let broken = forgetful.property("logical-rounds").unwrap();
    assert_eq!(
        broken.counterexample.as_ref().unwrap().states.len(),
        3,
        "two ticks suffice"
    );
    for modulus in [2, 3, 4] {
        let small = asynchronous(4, 2, &all, Clocking { modulus, ..good });
        assert!(!small.all_hold(), "modulus {modulus}");
    }
    let wound = asynchronous(4, 2, &all, Clocking { modulus: 4, ..good });
    assert!(!wound.property("no-deadlock").unwrap().holds);
}

fn token_rings(n: usize, m: usize, d: u32, k: u32, delays: &[usize], reduced: bool) -> Report {
    let separation = Separation::new(d).unwrap();
    let ring = Ring::with_delays(separation, n, delays.iter().copied()).unwrap();
    definitional::check(ring, m, k, reduced, limits(), &Control::default()).unwrap()
}

/// States by formula: K^(n·m) values, m turns at every process, d counters at every
/// delay. The reduction by value shift against all states.
#[test]
fn tokens_by_definition_converge() {
    let report = token_rings(4, 2, 2, 5, &[0, 1, 2, 3], true);
    assert!(report.all_hold());
    assert_eq!(report.states, 5_u128.pow(8) * 2_u128.pow(4) * 2_u128.pow(4));
    let small = token_rings(3, 1, 2, 4, &[0, 1, 2], true);
    assert!(small.all_hold());
    assert_eq!(small.states, 4_u128.pow(3) * 2_u128.pow(3));
}

#[test]
fn the_value_shift_is_exact() {
    for (n, m, d, k, delays) in [
        (3, 1, 2, 4, &[0, 1, 2][..]),
        (3, 1, 3, 4, &[1]),
        (4, 2, 2, 3, &[0]),
        (4, 2, 2, 2, &[0, 1]),
        (3, 2, 1, 4, &[0]),
    ] {
        let reduced = token_rings(n, m, d, k, delays, true);
        let mut full = token_rings(n, m, d, k, delays, false);
        full.reductions = reduced.reductions.clone();
        // The same state is shown, shifted to 0 at process 0.
        full.witness = reduced.witness.clone();
        let close = |report: &Report| match report.figure("mean") {
            Some(Figure::Real(mean)) => *mean,
            _ => 0.0,
        };
        assert!((close(&reduced) - close(&full)).abs() < 1e-9);
        full.figures.retain(|(name, _)| *name != "mean");
        let mut reduced = reduced;
        reduced.figures.retain(|(name, _)| *name != "mean");
        for report in [&mut full, &mut reduced] {
            for property in &mut report.properties {
                property.counterexample = None;
            }
        }
        assert_eq!(reduced, full, "{}", reduced.instance);
    }
}

/// Numbers modulo twice the channel's capacity are enough, and one less is not
/// (with capacity 1 that would be no number at all).
#[test]
fn handover_needs_twice_as_many_numbers_as_a_channel_holds() {
    let check = |values, capacity| {
        handover::check(values, capacity, limits(), &Control::default()).unwrap()
    };
    assert!(check(2, 1).all_hold(), "the alternating bit");
    assert!(check(4, 2).all_hold());
    for values in [2, 3] {
        let report = check(values, 2);
        assert!(report.closure && report.property("conserved").unwrap().holds);
        assert!(!report.convergence, "modulo {values}");
        let run = report
            .property("convergence")
            .unwrap()
            .counterexample
            .clone()
            .unwrap();
        assert_eq!(run.repeats_from, Some(0));
    }
    // States by formula: numbers of both, sending or not, contents of two channels.
    assert_eq!(check(4, 2).states, 4 * 2 * 4 * 21 * 21);
}

/// One monitor converges; states by formula.
fn monitored(n: usize, m: usize, d: u32, supply: usize) {
    let control = Control::default();
    let report = monitor::check(n, m, d, supply, &[0], limits(), &control).unwrap();
    assert!(report.all_hold(), "{}", report.instance);
    let placements: usize = (0..=supply).map(|t| binomial(2 * n + t - 1, t)).sum();
    let variables = d as usize * 2 * n * (n + 1) * 2;
    assert_eq!(report.states, (placements * variables) as u128);
}

#[test]
fn one_monitor_on_a_small_ring() {
    monitored(4, 2, 2, 4);
}

#[test]
fn one_monitor_converges_from_any_number_of_tokens_and_two_interfere() {
    let check = |n, m, d, supply, monitors: &[usize]| {
        monitor::check(n, m, d, supply, monitors, limits(), &Control::default()).unwrap()
    };
    for (n, m, d, supply) in [(5, 1, 3, 3), (6, 2, 3, 4), (6, 3, 2, 4)] {
        monitored(n, m, d, supply);
    }
    let two = check(4, 1, 2, 3, &[0, 2]);
    assert!(two.closure && !two.convergence);
    let run = two
        .property("convergence")
        .unwrap()
        .counterexample
        .clone()
        .unwrap();
    assert!(run.repeats_from.is_some());
}

/// One token too many hides from the samples exactly when d divides 2n but not n and
/// m = ⌊n/d⌋, or when the ring is full and d = 1.
#[test]
fn a_surplus_may_hide_from_samples_that_keep_pace_with_it() {
    for d in 1..=4_u32 {
        for n in d.max(2)..=6 {
            for m in 1..=(n / d).min(3) {
                let (n, m) = (n as usize, m as usize);
                let control = Control::default();
                let report = monitor::check(n, m, d, m + 1, &[0], limits(), &control).unwrap();
                let every = d as usize;
                let in_pace = (2 * n).is_multiple_of(every) && !n.is_multiple_of(every);
                let hides = in_pace && m == n / every || every == 1 && m == n;
                assert!(report.closure, "{}", report.instance);
                assert_eq!(report.convergence, !hides, "{}", report.instance);
                if hides {
                    let run = report.property("convergence").unwrap();
                    let run = run.counterexample.as_ref().unwrap();
                    assert!(run.repeats_from.is_some(), "{}", report.instance);
                }
            }
        }
    }
}

/// Every state's successor is a state of the same space with its own rank: no
/// model leaves its space.
#[test]
fn spaces_are_closed() {
    fn closed<M: Deterministic>(model: &M)
    where
        M::State: std::fmt::Debug,
    {
        for rank in 0..model.states() {
            let state = model.state(rank);
            assert_eq!(model.rank(&state), rank);
            let next = model.next(&state);
            let next_rank = model.rank(&next);
            assert!(next_rank < model.states(), "{state:?} to {next:?}");
            assert_eq!(model.state(next_rank), next, "from {state:?}");
        }
    }
    closed(&measure::MeasureRing::new(4, 2, 8, true).unwrap());
    closed(&measure::MeasureRing::new(4, 2, 8, false).unwrap());
    closed(&monitor::MonitoredRing::new(3, 1, 2, 3, &[0]).unwrap());
    closed(&monitor::MonitoredRing::new(3, 1, 2, 2, &[0, 1]).unwrap());
    let ring = Ring::with_delays(Separation::new(2).unwrap(), 3, [0]).unwrap();
    closed(&definitional::Definitional::new(ring, 2, 3, false).unwrap());
}
