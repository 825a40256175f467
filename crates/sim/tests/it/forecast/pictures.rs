//! The diagram, to the letter: `pictures/` has what was looked at, light and dark.

use headway_core::{Configuration, Process, Ring, Separation};
use headway_sim::forecast::Forecast;

const UPDATE: &str = "HEADWAY_UPDATE";

/// A ring with so many tokens resting at process 0, and one queued at process 2.
fn crowded(n: usize, resting: u32, d: u32, delays: &[usize]) -> (Ring, Configuration) {
    let separation = Separation::new(d).unwrap();
    let ring = Ring::with_delays(separation, n, delays.iter().copied()).unwrap();
    let mut processes = vec![Process::default(); n];
    processes[0].resting = resting;
    processes[2].queued = 1;
    let start = Configuration::from(processes);
    (ring, start)
}

#[test]
fn pictures_are_as_they_were() {
    let many: Vec<usize> = (0..60).step_by(7).collect();
    let all: Vec<usize> = (0..100).collect();
    let pictures = [
        ("settles", crowded(6, 1, 3, &[0, 4]), 19),
        ("settles-later", crowded(60, 9, 6, &many), 12),
        ("all-delay", crowded(100, 49, 2, &all), 100),
        ("jam", crowded(5, 2, 2, &[1]), 12),
        ("relays", crowded(4, 0, 1, &[]), 0),
        ("many", crowded(60, 9, 6, &many), 130),
        ("long", crowded(3, 0, 2, &[0]), 450),
    ];
    for (name, (ring, start), last) in pictures {
        let forecast = Forecast::of(&ring, &start).unwrap();
        let title = format!("{name}: <a> & b");
        let drawn = forecast.timeline().svg(last, &title);
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/forecast/pictures");
        let file = format!("{folder}/{name}.svg");
        if std::env::var_os(UPDATE).is_some() {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(&file, &drawn).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap();
        for (number, (kept, drawn)) in (1..).zip(kept.lines().zip(drawn.lines())) {
            assert_eq!(
                kept, drawn,
                "{file}:{number}; if the change is meant, run this test with {UPDATE}=1 and look \
                 at the picture"
            );
        }
        assert_eq!(kept.lines().count(), drawn.lines().count(), "{file}");
    }
}
