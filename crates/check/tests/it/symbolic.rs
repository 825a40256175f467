//! Decision diagrams against state by state: the same answers, wherever both can answer.
#![cfg(feature = "symbolic")]

use crate::common::asked;
use headway_check::protocol::{Engine, Protocol, check_with};
use headway_check::{BigUint, Control, Limits, Report, Scheduler};

fn load(name: &str, settings: &[(&str, i64)]) -> Protocol {
    let path = format!(
        "{}/../../examples/protocols/{name}.protocol",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).unwrap();
    let settings: Vec<(String, i64)> = settings
        .iter()
        .map(|(n, v)| ((*n).to_owned(), *v))
        .collect();
    Protocol::parse(&text, &settings).unwrap()
}

fn check(engine: Engine, protocol: &Protocol, scheduler: Scheduler) -> Report {
    let control = Control::new(Limits {
        memory_bytes: 256 << 20,
        ..Limits::default()
    });
    check_with(engine, protocol, Some(scheduler), &control).unwrap()
}

#[test]
fn engines_agree() {
    for (name, n) in [
        ("k-state", 4),
        ("three-state", 5),
        ("four-state", 4),
        ("ghosh", 5),
        ("bfs-tree", 5),
        ("colouring", 5),
        ("matching", 4),
        ("independent-set", 6),
        ("unison", 3),
        ("delay-relay", 3),
    ] {
        let protocol = load(name, &[("n", n)]);
        for scheduler in [
            Scheduler::Central,
            Scheduler::Synchronous,
            Scheduler::Distributed,
        ] {
            let explicit = check(Engine::Explicit, &protocol, scheduler);
            let symbolic = check(Engine::Symbolic, &protocol, scheduler);
            let told = |report: &Report| {
                let verdicts: Vec<(String, bool)> = report
                    .properties
                    .iter()
                    .map(|p| (p.name.to_string(), p.holds))
                    .collect();
                let worst = report.worst.map(|worst| worst.steps);
                (
                    report.states.clone(),
                    report.legitimate.clone(),
                    verdicts,
                    worst,
                )
            };
            assert_eq!(told(&symbolic), told(&explicit), "{name} {scheduler}");
            let length = |report: &Report| report.witness.as_ref().map(|run| run.states.len());
            assert_eq!(length(&symbolic), length(&explicit), "{name} {scheduler}");
            let layers = symbolic.figures.layers.unwrap();
            let diverging = symbolic.figures.diverging_states.unwrap_or_default();
            assert_eq!(
                layers.iter().sum::<BigUint>() + diverging,
                symbolic.states,
                "{name}"
            );
        }
    }
}

/// Far more states than could be visited; the worst case by a formula.
#[test]
fn larger_than_memory() {
    let ring = load("delay-relay", &[("n", 8), ("m", 2), ("d", 3)]);
    let report = check(Engine::Auto, &ring, Scheduler::Synchronous);
    assert!(report.figures.engine.as_ref().unwrap().contains("diagrams"));
    assert_eq!(report.states, BigUint::from(892_296_u32));
    assert!(report.all_hold());
    assert_eq!(report.worst.unwrap().steps, 6);
}

/// What a model's own engines refuse goes to decision diagrams, which find the same.
#[test]
fn models_in_rust_agree() {
    let ample = Limits::default();
    let tight = Control::new(Limits { work: 1, ..ample });
    let told = |report: &Report| {
        (
            report.states.clone(),
            report.legitimate.clone(),
            report.worst.map(|worst| worst.steps),
            report.all_hold(),
            report.model.clone(),
            report.instance.clone(),
            report.scheduler,
        )
    };
    for line in [
        "delay-relay processes=5 tokens=2 separation=2 delays=at:0,3",
        "delay-relay processes=7 tokens=2 separation=3 delays=at:1",
        "delay-relay processes=6 tokens=3 separation=2 delays=at:0,2,4",
        "k-state processes=4 scheduler=central",
        "k-state processes=4 scheduler=distributed",
        "phase-clock processes=4",
        "measure processes=4 tokens=2",
    ] {
        let own = asked(line, &Control::default()).unwrap();
        let diagrams = asked(line, &tight).unwrap();
        assert!(own.figures.engine.is_none(), "{line}");
        assert!(diagrams.figures.engine.is_some(), "{line}");
        assert_eq!(told(&own), told(&diagrams), "{line}");
    }
    // What diagrams do not know stays refused.
    assert!(asked("k-state processes=4 scheduler=locally-central", &tight).is_err());
}
