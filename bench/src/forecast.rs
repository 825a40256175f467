//! The forecast against reading, against lock-step, and against itself.

use std::hint::black_box;
use std::time::Instant;

use headway_core::{Configuration, Ring, Separation};
use headway_sim::engine::{Dense, Engine, Sparse};
use headway_sim::forecast::{Forecast, SparseRing, TokensAt};
use headway_sim::seed::{Purpose, Random};
use headway_sim::start;

use crate::ring::uniform;
use crate::table::{Goal, Row, Table, best_of, peak_bytes, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    let small = per_process(1_000_000, 10_000, 90);
    large(table, small);
    against_lock_step(table);
    larger_than_memory(table);
}

/// Nanoseconds per process for a uniform ring.
fn per_process(n: usize, tokens: u32, separation: u32) -> f64 {
    let ring = uniform(n, separation);
    let state = start::random(&ring, tokens, 1);
    let took = best_of(9, || {
        Forecast::of(&ring, &state).expect("delays").last_rest()
    });
    took.as_secs_f64() * 1e9 / n as f64
}

fn large(table: &mut Table, small: f64) {
    let n = 100_000_000;
    let ((ring, state, found), bytes) = peak_bytes(|| {
        let ring = uniform(n, 90);
        let state = start::random(&ring, 1_000_000, 1);
        let found = Forecast::of(&ring, &state).expect("delays").legitimate_at();
        (ring, state, found)
    });
    black_box(found);
    let reading = best_of(5, || read(&ring, &state));
    let ours = best_of(3, || {
        Forecast::of(&ring, &state).expect("delays").legitimate_at()
    });
    table.add(Row {
        work: "forecast, N = 100,000,000 delays, M = 1,000,000".to_owned(),
        ours: time(ours),
        baseline: format!("reading the same arrays {}", time(reading)),
        ratio: ratio(ours, reading),
        goal: Goal::AtMost(4.0),
    });
    table.add(Row {
        work: "memory of that, the state included".to_owned(),
        ours: format!("{:.2} GB", bytes as f64 / 1e9),
        baseline: "1 byte per process".to_owned(),
        ratio: bytes as f64 / n as f64,
        goal: Goal::AtMost(24.0),
    });
    let each = ours.as_secs_f64() * 1e9 / n as f64;
    table.add(Row {
        work: "time per process at N = 10^8 against N = 10^6".to_owned(),
        ours: format!("{each:.2} ns"),
        baseline: format!("{small:.2} ns"),
        ratio: each / small,
        goal: Goal::AtMost(2.0),
    });
}

/// One plain pass: every field of every process and its program is looked at.
fn read(ring: &Ring, state: &Configuration) -> u64 {
    let mut sum = 0;
    for (process, &program) in state.processes.iter().zip(ring.programs()) {
        sum += u64::from(process.queued) + u64::from(process.resting);
        sum += process.counter as u64 + program as u64;
    }
    sum
}

fn against_lock_step(table: &mut Table) {
    let n = 100_000;
    let separation = Separation::new(100).expect("a separation");
    let ring = Ring::with_delays(separation, n, [0]).expect("a ring");
    let state = start::worst(&ring, 1_000).expect("feasible");
    let rounds = Forecast::of(&ring, &state)
        .expect("delays")
        .legitimate_at()
        .expect("feasible");
    let ours = best_of(200, || {
        Forecast::of(&ring, &state).expect("delays").legitimate_at()
    });
    for (name, least, mut engine) in [
        (
            "dense",
            100_000.0,
            Box::new(Dense::new(ring.clone(), state.clone())) as Box<dyn Engine>,
        ),
        (
            "sparse",
            100.0,
            Box::new(Sparse::new(ring.clone(), state.clone())),
        ),
    ] {
        let begin = Instant::now();
        for _ in 0..rounds {
            engine.round();
        }
        let theirs = begin.elapsed();
        let legitimate = ring.legitimate(&engine.configuration(), 1_000);
        assert_eq!(legitimate, Ok(()), "lock-step finds the same answer");
        table.add(Row {
            work: format!("settling time, N = 100,000, M = 1,000, {rounds} rounds"),
            ours: time(ours),
            baseline: format!("{name} lock-step {}", time(theirs)),
            ratio: ratio(theirs, ours),
            goal: Goal::AtLeast(least),
        });
    }
}

fn larger_than_memory(table: &mut Table) {
    let n: u64 = 1_000_000_000_000;
    let listed = 1_000_000;
    let mut random = Random::new(1, Purpose::Start);
    let mut processes = || {
        let mut drawn: Vec<u64> = (0..listed).map(|_| random.below(n)).collect();
        drawn.sort_unstable();
        drawn.dedup();
        drawn
    };
    let tokens: Vec<TokensAt> = processes()
        .into_iter()
        .map(|process| TokensAt {
            process,
            queued: 0,
            resting: 1,
        })
        .collect();
    let delays = processes()
        .into_iter()
        .map(|process| (process, 899))
        .collect();
    let ring = SparseRing {
        processes: n,
        separation: 900,
        tokens,
        delays,
    };
    let (found, bytes) = peak_bytes(|| {
        Forecast::of_sparse(&ring)
            .expect("ascending lists")
            .legitimate_at()
    });
    assert!(found.is_some(), "feasible");
    let ours = best_of(3, || {
        Forecast::of_sparse(&ring)
            .expect("ascending lists")
            .legitimate_at()
    });
    table.add(Row {
        work: "forecast, N = 10^12, 10^6 tokens and 10^6 delays: memory".to_owned(),
        ours: format!("{:.0} MB in {}", bytes as f64 / 1e6, time(ours)),
        baseline: "1 byte per token and delay".to_owned(),
        ratio: bytes as f64 / (2.0 * f64::from(listed)),
        goal: Goal::AtMost(200.0),
    });
}
