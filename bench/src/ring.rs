//! Lock-step rounds.

use headway_core::{Configuration, Program, Ring, Separation};
use headway_sim::engine::{Dense, Engine, Sparse};
use headway_sim::start;

use crate::table::{Goal, Row, Table, best_of, peak_bytes, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    sparse_against_dense(table);
    dense_against_memcpy(table);
    unknown_size_against_delay(table);
    unknown_size_starts(table);
    memory(table);
}

pub(crate) fn uniform(processes: usize, separation: u32) -> Ring {
    let separation = Separation::new(separation).expect("a separation");
    Ring::new(separation, vec![Program::Delay; processes]).expect("a ring")
}

fn sparse_against_dense(table: &mut Table) {
    let ring = uniform(1_000_000, 900);
    let start = start::random(&ring, 1_000, 1);
    let mut dense = Dense::new(ring.clone(), start.clone());
    let mut sparse = Sparse::new(ring, start);
    let slow = best_of(30, || dense.round());
    let fast = best_of(30, || (0..100).for_each(|_| sparse.round())) / 100;
    table.add(Row {
        work: "a round, N = 1,000,000, M = 1,000".to_owned(),
        ours: format!("sparse {}", time(fast)),
        baseline: format!("dense {}", time(slow)),
        ratio: ratio(slow, fast),
        goal: Goal::AtLeast(100.0),
    });
}

fn dense_against_memcpy(table: &mut Table) {
    let ring = uniform(10_000_000, 900);
    let state = start::random(&ring, 10_000, 1);
    let mut copy: Configuration = state.clone();
    let copying = best_of(15, || copy.processes.copy_from_slice(&state.processes));
    let mut dense = Dense::new(ring, state);
    let round = best_of(15, || dense.round());
    table.add(Row {
        work: "a dense round, N = 10,000,000, M = 10,000".to_owned(),
        ours: time(round),
        baseline: format!("memcpy of the state {}", time(copying)),
        ratio: ratio(round, copying),
        goal: Goal::AtMost(8.0),
    });
}

/// A round of the programs for unknown ring size, on a ring that has settled.
fn unknown_size_against_delay(table: &mut Table) {
    let (n, m) = (1_000, 10);
    let separation = Separation::new((n / m) as u32).expect("a separation");
    let a_round = |program| {
        let ring = Ring::new(separation, vec![program; n]).expect("a ring");
        let mut state = start::spaced(&ring, m as u32);
        best_of(30, || (0..100).for_each(|_| ring.round(&mut state))) / 100
    };
    let delay = a_round(Program::Delay);
    for program in [
        Program::ShortestLap,
        Program::ShortestLapEpochs,
        Program::HopCount,
    ] {
        let measuring = a_round(program);
        table.add(Row {
            work: format!("a round of {program}, N = 1,000, M = 10"),
            ours: time(measuring),
            baseline: format!("delay {}", time(delay)),
            ratio: ratio(measuring, delay),
            goal: Goal::AtMost(3.0),
        });
    }
}

/// Random starts of a small ring, on two threads.
fn unknown_size_starts(table: &mut Table) {
    let separation = Separation::new(4).expect("a separation");
    let ring = Ring::new(separation, vec![Program::ShortestLap; 12]).expect("a ring");
    let settle = |seeds: std::ops::Range<u64>| {
        for seed in seeds {
            let mut state = start::random(&ring, 3, seed);
            while ring.legitimate(&state, 3).is_err() {
                ring.round(&mut state);
            }
        }
    };
    let all = best_of(1, || {
        std::thread::scope(|scope| {
            scope.spawn(|| settle(0..50_000));
            settle(50_000..100_000);
        });
    });
    table.add(Row {
        work: "10^6 random starts of shortest-lap, N = 12, M = 3, two cores".to_owned(),
        ours: format!("{} for 10^5", time(all)),
        baseline: "a minute for 10^6".to_owned(),
        ratio: all.as_secs_f64() * 10.0 / 60.0,
        goal: Goal::AtMost(1.0),
    });
}

fn memory(table: &mut Table) {
    let n = 1_000_000;
    let (_held, bytes) = peak_bytes(|| {
        let ring = uniform(n, 900);
        let state = Configuration::piled(&ring, 1_000, 0);
        (ring, state)
    });
    table.add(Row {
        work: "memory of a ring and its state, N = 1,000,000".to_owned(),
        ours: format!("{:.1} MB", bytes as f64 / 1e6),
        baseline: "1 byte per process".to_owned(),
        ratio: bytes as f64 / n as f64,
        goal: Goal::AtMost(16.0),
    });
}
