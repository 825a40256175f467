use headway_lab::{Sweep, shipped, sweep::{Options, run}};
use std::{num::NonZeroUsize, sync::atomic::AtomicBool, time::Instant};
fn main() {
    let mut sweep = Sweep::parse(shipped::named("paper").unwrap()).unwrap();
    sweep.samples = std::env::args().nth(1).map_or(5000, |s| s.parse().unwrap());
    for _ in 0..8 {
    let t = Instant::now();
    let o = Options { engine: if std::env::args().nth(2).is_some() { headway_lab::model::Engine::LockStep } else { Default::default() }, threads: NonZeroUsize::new(1), ..Options::default() };
    run(&sweep, &o, &AtomicBool::new(false), |_| Ok(())).unwrap();
    let e = t.elapsed().as_secs_f64();
    println!("{:.1} ns per sample", e * 1e9 / 469.0 / sweep.samples as f64);
    }
}
