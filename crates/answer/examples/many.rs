//! Forecasts a million random rings: what `python/bench.py` compares `forecast_many` with.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use headway_answer::forecast;
use headway_sim::Settings;

fn main() {
    let settings = Settings {
        processes: Some(24),
        tokens: Some(4),
        separation: Some(5),
        ..Settings::default()
    };
    let never = AtomicBool::new(false);
    let found = forecast::many(&settings, 0..1_000_000, NonZeroUsize::MIN, &never);
    let found = found.ok().flatten().expect("a million of them");
    let latest = found.iter().filter_map(|settled| settled.0).max();
    assert_eq!(latest, Some(22), "the worst case is among them");
}
