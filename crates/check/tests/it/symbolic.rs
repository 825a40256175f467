//! Decision diagrams against state by state: the same answers, wherever both can answer.
#![cfg(feature = "symbolic")]

use headway_check::model::{delay_relay, k_state, measure, phase_clock};
use headway_check::protocol::{Engine, Protocol, check_with};
use headway_check::{BigUint, Control, Figure, Limits, Report, Scheduler, Search};

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
            let Some(Figure::Counts(layers)) = symbolic.figure("layers") else {
                panic!()
            };
            let diverging = match symbolic.figure("diverging_states") {
                Some(Figure::Count(count)) => count.clone(),
                _ => BigUint::ZERO,
            };
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
    assert!(matches!(report.figure("engine"), Some(Figure::Text(why)) if why.contains("diagrams")));
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
    let compare = |check: &dyn Fn(&Control) -> headway_check::Result<Report>| {
        let (own, diagrams) = (check(&Control::default()).unwrap(), check(&tight).unwrap());
        assert!(own.figure("engine").is_none(), "{}", own.instance);
        assert!(diagrams.figure("engine").is_some(), "{}", own.instance);
        assert_eq!(told(&own), told(&diagrams));
    };
    for (n, m, d, delays) in [
        (5, 2, 2, vec![0, 3]),
        (7, 2, 3, vec![1]),
        (6, 3, 2, vec![0, 2, 4]),
    ] {
        let ring = delay_relay::Instance::with_delays(n, m, d, delays).unwrap();
        compare(&|control| delay_relay::check(&ring, Search::Reduced, control));
    }
    for scheduler in [Scheduler::Central, Scheduler::Distributed] {
        let settings = k_state::Settings {
            scheduler,
            ..k_state::Settings::new(4)
        };
        compare(&|control| k_state::check(&settings, control));
    }
    compare(&|control| phase_clock::check(&phase_clock::Settings::new(4), control));
    compare(&|control| measure::check(&measure::Settings::new(4, 2), control));
    // What diagrams do not know stays refused.
    let settings = k_state::Settings {
        scheduler: Scheduler::LocallyCentral,
        ..k_state::Settings::new(4)
    };
    assert!(k_state::check(&settings, &tight).is_err());
}
