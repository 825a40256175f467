//! Small instances of every model, told whole: counts, words, runs state by state.
//!
//! `small.txt` has what was looked through once. The numbers in it are got in other ways
//! by the other tests here; this one sees that nothing in a report changes unnoticed, its
//! words and its runs included.

use std::fmt::Write;

use crate::common::report;
use headway_check::model::delay_relay::{self, Instance};
use headway_check::{BigUint, Control, Report, Scheduler, Trace};
use serde_json::Value;

const UPDATE: &str = "HEADWAY_UPDATE";

#[test]
fn reports_of_small_instances_are_as_they_were() {
    let mut told = String::new();
    for report in reports() {
        told.push_str(&tell(&report));
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
        let by_cases = delay_relay::check_by_cases(&instance, &control).unwrap();
        same(
            &by_cases,
            &delay_relay::check_every_state(&instance, &control).unwrap(),
        );
    }
    for (n, m, values) in [(3, 1, 3), (3, 1, 2), (4, 2, 2), (3, 2, 2)] {
        let line = format!(
            "definitional processes={n} tokens={m} separation=2 delays=at:0 values={values}"
        );
        same(&report(&line), &report(&format!("{line} unreduced")));
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
    let counts = |report: &Report| {
        (
            report.figures.distribution.clone(),
            report.figures.never.clone(),
        )
    };
    assert_eq!(counts(one), counts(other), "{}", one.instance);
}

/// All placements together are the placements one by one.
#[test]
fn all_placements_are_the_sum_of_each() {
    let control = Control::default();
    for (n, m, d) in [(4, 2, 2), (4, 1, 3), (3, 2, 2), (4, 2, 3)] {
        let all = report(&format!(
            "delay-relay processes={n} tokens={m} separation={d} all_placements"
        ));
        let turns = |set: u32| {
            (0..n as u32).map(move |turn| (set >> turn | set << (n as u32 - turn)) & ((1 << n) - 1))
        };
        let each: Vec<Report> = (1..1_u32 << n)
            .filter(|&set| turns(set).all(|turned| turned >= set))
            .map(|set| {
                let delays = (0..n).filter(|&at| set >> at & 1 == 1);
                let instance = Instance::with_delays(n, m, d, delays).unwrap();
                delay_relay::check_by_cases(&instance, &control).unwrap()
            })
            .collect();
        assert_eq!(all.figures.placements, Some(each.len() as u64));
        let sum = |of: &dyn Fn(&Report) -> BigUint| each.iter().map(of).sum::<BigUint>();
        assert_eq!(all.states, sum(&|one| one.states.clone()));
        assert_eq!(all.legitimate, sum(&|one| one.legitimate.clone()));
        assert_eq!(all.closure(), each.iter().all(Report::closure));
        assert_eq!(all.convergence(), each.iter().all(Report::convergence));
        let never = |one: &Report| one.figures.never.clone().unwrap_or_default();
        assert_eq!(never(&all), sum(&never));
        assert_eq!(
            all.figures.worst_last_rest,
            each.iter()
                .filter_map(|one| one.figures.worst_last_rest)
                .max()
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

const ASYNCHRONOUS: &str = "asynchronous processes=4 tokens=2 separation=2 scheduler=distributed";

fn reports() -> Vec<Report> {
    let control = &Control::default();
    let mut reports = Vec::new();
    for (n, m, delays) in [
        (3, 1, vec![0, 1, 2]),
        (5, 2, vec![0, 2]),
        (3, 2, vec![1]),
        (4, 1, vec![]),
    ] {
        let instance = Instance::with_delays(n, m, 2, delays).unwrap();
        reports.push(delay_relay::check_by_cases(&instance, control).unwrap());
        reports.push(delay_relay::check_every_state(&instance, control).unwrap());
    }
    let mut add = |line: &str| reports.push(report(line));
    for n in [4, 3] {
        let ring = format!("processes={n} tokens=2 separation=2");
        add(&format!("delay-relay {ring} all_placements"));
    }
    add("definitional processes=3 tokens=1 separation=2 delays=at:0 values=3");
    add("definitional processes=3 tokens=1 separation=2 delays=at:0 values=2 unreduced");
    add("definitional processes=4 tokens=2 separation=2 delays=at:1 values=3");
    for pace in [1, 2, 3] {
        for scheduler in Scheduler::ALL {
            add(&format!(
                "asynchronous processes=3 tokens=1 separation=2 delays=at:0 pace={pace} \
                 scheduler={scheduler}"
            ));
        }
    }
    for how in ["every_start", "without_previous", "values=3", "values=4"] {
        add(&format!("{ASYNCHRONOUS} {how}"));
    }
    for (values, capacity) in [(3, 1), (2, 1), (3, 2)] {
        add(&format!("handover values={values} capacity={capacity}"));
    }
    for scheduler in Scheduler::ALL {
        for values in [2, 3] {
            let ring = format!("processes=3 values={values}");
            add(&format!("k-state {ring} scheduler={scheduler}"));
        }
        for clock in ["values=4 tail=1", "values=3 tail=0"] {
            add(&format!(
                "phase-clock processes=3 {clock} scheduler={scheduler}"
            ));
        }
    }
    for (n, m) in [(2, 1), (3, 2)] {
        for name in ["measure", "measure-as-printed"] {
            add(&format!("{name} processes={n} tokens={m}"));
        }
    }
    for (n, monitors) in [(3, "0"), (4, "1"), (3, "0,1")] {
        let ring = format!("processes={n} tokens=1 separation=2 supply=2");
        add(&format!("monitor {ring} monitors={monitors}"));
    }
    reports
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
    let figures = serde_json::to_value(&report.figures).unwrap();
    for (name, figure) in figures.as_object().unwrap() {
        let _ = match figure {
            Value::Number(number) if number.is_f64() => {
                writeln!(told, "  {name} {:.9}", number.as_f64().unwrap())
            }
            Value::String(text) => writeln!(told, "  {name} {text}"),
            Value::Array(counts) => {
                let counts: Vec<&str> = counts.iter().filter_map(Value::as_str).collect();
                writeln!(told, "  {name} {}", counts.join(" "))
            }
            other => writeln!(told, "  {name} {other}"),
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
