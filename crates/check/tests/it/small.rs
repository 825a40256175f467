//! Small instances of every model, told whole: counts, words, runs state by state.
//!
//! `small.txt` has what was looked through once. The numbers in it are got in other ways
//! by the other tests here; this one sees that nothing in a report changes unnoticed, its
//! words and its runs included.

use std::fmt::Write;

use headway_check::model::delay_relay::{self, AllPlacements, Instance};
use headway_check::model::measure::Variant;
use headway_check::model::{
    asynchronous, definitional, handover, k_state, measure, monitor, phase_clock,
};
use headway_check::{BigUint, CheckError, Control, Figure, Report, Scheduler, Search, Trace};
use headway_core::phase_clock::PhaseClock;

const UPDATE: &str = "HEADWAY_UPDATE";

#[test]
fn reports_of_small_instances_are_as_they_were() {
    let mut told = String::new();
    for report in reports() {
        told.push_str(&tell(&report.unwrap()));
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/small.txt");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(file, &told).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap();
    for (number, (kept, told)) in (1..).zip(kept.lines().zip(told.lines())) {
        assert_eq!(
            kept, told,
            "{file}:{number}; if the change is meant, run this test with {UPDATE}=1 and look at \
             the difference"
        );
    }
    assert_eq!(kept.lines().count(), told.lines().count(), "{file}");
}

/// With and without reductions, the same of all that both tell.
#[test]
fn reductions_change_no_number() {
    let control = Control::default();
    for (n, m, d, delays) in [
        (3, 1, 2, vec![0]),
        (4, 2, 2, vec![0, 1]),
        (4, 2, 2, vec![]),
        (4, 1, 4, vec![0, 1, 2, 3]),
        (5, 1, 4, vec![0, 1]),
        (6, 1, 5, vec![0, 2]),
        (3, 2, 2, vec![1]),
    ] {
        let instance = Instance::with_delays(n, m, d, delays).unwrap();
        let check = |search| delay_relay::check(&instance, search, &control).unwrap();
        same(&check(Search::Reduced), &check(Search::EveryState));
    }
    for (n, m, values) in [(3, 1, 3), (3, 1, 2), (4, 2, 2), (3, 2, 2)] {
        let check = |search| {
            let settings = tokens(n, m, &[0], values, search);
            definitional::check(&settings, &control).unwrap()
        };
        same(&check(Search::Reduced), &check(Search::EveryState));
    }
}

fn same(one: &Report, other: &Report) {
    assert_eq!(
        (
            &one.states,
            &one.legitimate,
            one.closure(),
            one.convergence()
        ),
        (
            &other.states,
            &other.legitimate,
            other.closure(),
            other.convergence()
        ),
        "{}",
        one.instance
    );
    assert_eq!(one.worst, other.worst, "{}", one.instance);
    for report in [one, other] {
        let shown = report
            .witness
            .as_ref()
            .map(|run| run.states.len() as u64 - 1);
        let told = report.worst.map(|worst| worst.steps);
        assert_eq!(shown, told, "{}", report.instance);
    }
    for name in ["distribution", "never"] {
        assert_eq!(one.figure(name), other.figure(name), "{}", one.instance);
    }
}

/// All placements together are the placements one by one.
#[test]
fn all_placements_are_the_sum_of_each() {
    let control = Control::default();
    for (n, m, d) in [(4, 2, 2), (4, 1, 3), (3, 2, 2), (4, 2, 3)] {
        let all = delay_relay::check_all(&all(n, m, d), &control).unwrap();
        let turns = |set: u32| {
            (0..n as u32).map(move |turn| (set >> turn | set << (n as u32 - turn)) & ((1 << n) - 1))
        };
        let each: Vec<Report> = (1..1_u32 << n)
            .filter(|&set| turns(set).all(|turned| turned >= set))
            .map(|set| {
                let delays = (0..n).filter(|&at| set >> at & 1 == 1);
                let instance = Instance::with_delays(n, m, d, delays).unwrap();
                delay_relay::check(&instance, Search::Reduced, &control).unwrap()
            })
            .collect();
        let number = |report: &Report, name: &str| match report.figure(name) {
            Some(Figure::Number(number)) => BigUint::from(*number),
            Some(Figure::Count(count)) => count.clone(),
            _ => BigUint::ZERO,
        };
        assert_eq!(number(&all, "placements"), each.len().into());
        let sum = |of: &dyn Fn(&Report) -> BigUint| each.iter().map(of).sum::<BigUint>();
        assert_eq!(all.states, sum(&|one| one.states.clone()));
        assert_eq!(all.legitimate, sum(&|one| one.legitimate.clone()));
        assert_eq!(all.closure(), each.iter().all(Report::closure));
        assert_eq!(all.convergence(), each.iter().all(Report::convergence));
        assert_eq!(number(&all, "never"), sum(&|one| number(one, "never")));
        assert_eq!(
            number(&all, "worst_last_rest"),
            each.iter()
                .map(|one| number(one, "worst_last_rest"))
                .max()
                .unwrap()
        );
        let worst = each.iter().map(|one| one.worst.map(|worst| worst.steps));
        let worst: Option<Vec<u64>> = worst.collect();
        let worst = worst.and_then(|steps| steps.into_iter().max());
        assert_eq!(all.worst.map(|worst| worst.steps), worst);
        assert_eq!(
            all.witness.as_ref().map(|run| run.states.len() as u64 - 1),
            worst
        );
        for property in &all.properties {
            let of = |one: &Report| one.property(&property.name).is_none_or(|own| own.holds);
            assert_eq!(property.holds, each.iter().all(of), "{}", property.name);
            if !property.holds {
                let failing = each.iter().find(|one| !of(one)).unwrap();
                assert_eq!(failing.property(&property.name), Some(property));
            }
        }
    }
}

fn reports() -> Vec<Result<Report, CheckError>> {
    let control = &Control::default();
    let mut reports = Vec::new();
    for (n, m, d, delays) in [
        (3, 1, 2, vec![0, 1, 2]),
        (5, 2, 2, vec![0, 2]),
        (3, 2, 2, vec![1]),
        (4, 1, 2, vec![]),
    ] {
        let instance = Instance::with_delays(n, m, d, delays).unwrap();
        for search in [Search::Reduced, Search::EveryState] {
            reports.push(delay_relay::check(&instance, search, control));
        }
    }
    for (n, m, d) in [(4, 2, 2), (3, 2, 2)] {
        reports.push(delay_relay::check_all(&all(n, m, d), control));
    }
    for settings in [
        tokens(3, 1, &[0], 3, Search::Reduced),
        tokens(3, 1, &[0], 2, Search::EveryState),
        tokens(4, 2, &[1], 3, Search::Reduced),
    ] {
        reports.push(definitional::check(&settings, control));
    }
    let mut clocked = |settings| reports.push(asynchronous::check(&settings, control));
    let instance = Instance::with_delays(3, 1, 2, [0]).unwrap();
    for pace in [1, 2, 3] {
        for scheduler in Scheduler::ALL {
            clocked(asynchronous::Settings {
                scheduler,
                ..asynchronous::Settings::new(instance.clone(), pace)
            });
        }
    }
    let settings = || asynchronous::Settings {
        scheduler: Scheduler::Distributed,
        ..asynchronous::Settings::new(Instance::uniform(4, 2, 2).unwrap(), 1)
    };
    clocked(asynchronous::Settings {
        every_start: true,
        ..settings()
    });
    clocked(asynchronous::Settings {
        previous: false,
        ..settings()
    });
    for modulus in [3, 4] {
        clocked(asynchronous::Settings {
            modulus,
            ..settings()
        });
    }
    for (values, capacity) in [(3, 1), (2, 1), (3, 2)] {
        let settings = handover::Settings { values, capacity };
        reports.push(handover::check(&settings, control));
    }
    for scheduler in Scheduler::ALL {
        for values in [2, 3] {
            let settings = k_state::Settings {
                values,
                scheduler,
                ..k_state::Settings::new(3)
            };
            reports.push(k_state::check(&settings, control));
        }
        let short = PhaseClock {
            modulus: 3,
            tail: 0,
        };
        for clock in [PhaseClock::for_ring(3), short] {
            let settings = phase_clock::Settings {
                processes: 3,
                clock,
                scheduler,
            };
            reports.push(phase_clock::check(&settings, control));
        }
    }
    for (n, m) in [(2, 1), (3, 2)] {
        for variant in [Variant::Corrected, Variant::AsPrinted] {
            let settings = measure::Settings {
                limit: 2 * n as u32,
                variant,
                ..measure::Settings::new(n, m)
            };
            reports.push(measure::check(&settings, control));
        }
    }
    for (n, monitors) in [(3, vec![0]), (4, vec![1]), (3, vec![0, 1])] {
        let settings = monitor::Settings {
            supply: 2,
            monitors,
            ..monitor::Settings::new(n, 1, 2)
        };
        reports.push(monitor::check(&settings, control));
    }
    reports
}

fn all(processes: usize, tokens: usize, separation: u32) -> AllPlacements {
    AllPlacements {
        processes,
        tokens,
        separation,
        search: Search::Reduced,
    }
}

fn tokens(
    n: usize,
    m: usize,
    delays: &[usize],
    values: u32,
    search: Search,
) -> definitional::Settings {
    definitional::Settings {
        instance: Instance::with_delays(n, m, 2, delays.iter().copied()).unwrap(),
        values,
        search,
    }
}

fn tell(report: &Report) -> String {
    let mut told = format!("{}: {}\n", report.model, report.instance);
    let scheduler = report.scheduler.map_or("none", Scheduler::name);
    let _ = writeln!(
        told,
        "  scheduler {scheduler}, states {}, legitimate {}, closure {}, convergence {}",
        report.states,
        report.legitimate,
        report.closure(),
        report.convergence()
    );
    for property in &report.properties {
        let holds = if property.holds { "holds" } else { "fails" };
        let _ = writeln!(told, "  {} {holds}: {}", property.name, property.says);
        run(&mut told, property.counterexample.as_ref());
    }
    let _ = writeln!(told, "  worst {:?}", report.worst);
    run(&mut told, report.witness.as_ref());
    for (name, figure) in &report.figures {
        let _ = match figure {
            Figure::Real(number) => writeln!(told, "  {name} {number:.9}"),
            Figure::Number(number) => writeln!(told, "  {name} {number}"),
            Figure::Text(text) => writeln!(told, "  {name} {text}"),
            Figure::Count(count) => writeln!(told, "  {name} {count}"),
            Figure::Counts(counts) => {
                let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
                writeln!(told, "  {name} {}", counts.join(" "))
            }
        };
    }
    for reduction in &report.reductions {
        let _ = writeln!(told, "  by {reduction}");
    }
    told
}

fn run(told: &mut String, trace: Option<&Trace>) {
    for (index, state) in trace
        .iter()
        .flat_map(|trace| trace.states.iter().enumerate())
    {
        let again = trace.is_some_and(|trace| trace.repeats_from == Some(index));
        let _ = writeln!(
            told,
            "    {}{state}",
            if again { "again from " } else { "" }
        );
    }
    if let Some((ring, start)) = trace.and_then(|trace| trace.start.as_ref()) {
        let _ = writeln!(told, "    of {:?}: {:?}", ring.programs(), start.processes);
    }
}
