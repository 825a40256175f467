//! The measuring delay, corrected and as printed.

use headway_check::model::measure::Variant::AsPrinted;
use headway_check::model::measure::{self, Settings};
use headway_check::{BigUint, Deterministic, Model};

use crate::common::{binomial, report};

pub(crate) fn settings(n: usize, m: usize) -> Settings {
    Settings {
        processes: n,
        tokens: m.into(),
        ..Settings::default()
    }
}

/// The corrected program converges from every state of its domain. States by
/// formula; legitimate states by going through all of them with the ring's own
/// predicate.
#[test]
fn corrected_measuring_converges_to_the_largest_separation() {
    for (n, m) in [(4, 2), (5, 2), (6, 2), (6, 3), (7, 3), (8, 2)] {
        let report = report(&format!("measure processes={n} tokens={m}"));
        assert!(report.all_hold(), "{}", report.instance);
        let placements = binomial(2 * n + m - 1, m);
        let bases = 2 * n / m;
        assert_eq!(
            report.states,
            BigUint::from(placements * 2 * (2 * n + 1) * m * bases * bases)
        );
    }
    // Worst cases, as the engine found them; the witness is replayed by the core.
    for (n, m, worst) in [(4, 2, 19), (5, 2, 24), (6, 2, 30), (6, 3, 32)] {
        let report = report(&format!("measure processes={n} tokens={m}"));
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

/// As printed, both errors are found, each by a shortest run. That they are
/// shortest is checked by trying all shorter ones: every initial state's run is
/// followed until it repeats.
#[test]
fn printed_measuring_fails_in_both_ways_and_shortest_runs_show_it() {
    let report = report("measure-as-printed processes=6 tokens=2");
    assert!(!report.convergence());
    let dead = report.counterexample("no-deadlock").cloned().unwrap();
    let close = report.counterexample("full-separation").cloned().unwrap();
    let (ring, start) = close.start.clone().unwrap();
    assert!(ring.admits(&start).is_ok());
    assert_eq!(close.states.len(), 6, "{close:?}");
    assert!(
        close.states.iter().any(|state| state.contains("base 1")),
        "separation 2, not 3"
    );
    assert!(dead.states.iter().any(|state| state.contains("base -1")));

    let model = measure::ring(&settings(6, 2), AsPrinted).unwrap();
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
