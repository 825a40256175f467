//! Lock-step rounds.

use headway_core::{Configuration, Program, Ring, Separation};
use headway_sim::engine::{Dense, Engine, Sparse};
use headway_sim::start;

use crate::table::{Goal, Row, Table, best_of, peak_bytes, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    sparse_against_dense(table);
    dense_against_memcpy(table);
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
