//! Sweeps: the forecast against lock-step, threads, memory.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use headway_lab::model::Engine;
use headway_lab::sweep::{Options, run};
use headway_lab::{Sweep, shipped};

use crate::table::{Goal, Row, Table, peak_bytes, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    paper(table);
    threads(table);
    memory(table);
}

fn timed(sweep: &Sweep, engine: Engine, threads: usize) -> Duration {
    let options = Options {
        threads: NonZeroUsize::new(threads),
        engine,
        cells: None,
    };
    let start = Instant::now();
    let done = run(sweep, &options, &AtomicBool::new(false), |_| Ok(()));
    assert_eq!(done, Ok(true), "the sweep runs to its end");
    start.elapsed()
}

fn the_paper(samples: u64) -> Sweep {
    let text = shipped::named("paper").expect("the paper's experiment");
    let mut sweep = Sweep::parse(text).expect("a sweep");
    sweep.samples = samples;
    sweep
}

/// Both on one thread, so that the ratio is one of work; in turns, because other
/// work on the machine hits both.
fn paper(table: &mut Table) {
    let (many, few) = (1_500, 300);
    let (forecast, lock_step) = (the_paper(many), the_paper(few));
    let mut best = [Duration::MAX; 2];
    for _ in 0..3 {
        best[0] = best[0].min(timed(&forecast, Engine::Auto, 1));
        best[1] = best[1].min(timed(&lock_step, Engine::LockStep, 1));
    }
    let cells = forecast.cells.len() as u32;
    table.add(Row {
        work: "experiment paper, 1,500 samples a point".to_owned(),
        ours: format!("forecast {}", time(best[0])),
        baseline: format!("dense lock-step at 300 samples {}", time(best[1])),
        ratio: ratio(best[1], best[0]),
        goal: Goal::AtLeast(1.0),
    });
    let each = [best[0] / many as u32 / cells, best[1] / few as u32 / cells];
    table.add(Row {
        work: "a sample of experiment paper".to_owned(),
        ours: format!("forecast {}", time(each[0])),
        baseline: format!("dense lock-step {}", time(each[1])),
        ratio: ratio(best[1], best[0]) * many as f64 / few as f64,
        goal: Goal::AtLeast(5.0),
    });
}

fn threads(table: &mut Table) {
    // Take turns, because other work on the machine hits both.
    let sweep = the_paper(1_500);
    let mut best = [Duration::MAX; 2];
    let mut used = [Duration::MAX; 2];
    for _ in 0..3 {
        for threads in 1..=2 {
            let begin = ProcessTime::now();
            let took = timed(&sweep, Engine::Auto, threads);
            best[threads - 1] = best[threads - 1].min(took);
            used[threads - 1] = used[threads - 1].min(begin.elapsed());
        }
    }
    table.add(Row {
        work: "the same on two threads".to_owned(),
        ours: format!("{} ({} of processors)", time(best[1]), time(used[1])),
        baseline: format!("one thread {} ({})", time(best[0]), time(used[0])),
        ratio: ratio(best[0], best[1]),
        goal: Goal::AtLeast(1.8),
    });
}

fn memory(table: &mut Table) {
    let bytes = |samples: u64| {
        let mut sweep = the_paper(samples);
        sweep.cells.truncate(20);
        peak_bytes(|| timed(&sweep, Engine::Auto, 2)).1 as f64
    };
    // Both long enough for the buffer between threads to have been full.
    let (few, many) = (bytes(10_000), bytes(100_000));
    table.add(Row {
        work: "memory of a sweep, 100,000 samples a cell".to_owned(),
        ours: format!("{:.0} kB", many / 1e3),
        baseline: format!("10,000 samples a cell {:.0} kB", few / 1e3),
        ratio: many / few,
        goal: Goal::AtMost(1.5),
    });
}
