//! Small instances of every model, told whole: counts, words, runs state by state.
//!
//! `small.txt` has what was looked through once. The numbers in it are got in other ways
//! by the other tests here; this one sees that nothing in a report changes unnoticed, its
//! words and its runs included.

use std::fmt::Write;

use headway_check::model::asynchronous::{self, Clocking};
use headway_check::model::delay_relay::{self, Instance};
use headway_check::model::{definitional, handover, k_state, measure, monitor, phase_clock};
use headway_check::{CheckError, Control, Figure, Limits, Report, Scheduler, Trace};
use headway_core::phase_clock::PhaseClock;
use headway_core::{Ring, Separation};

const UPDATE: &str = "HEADWAY_UPDATE";

#[test]
fn reports_of_small_instances_are_as_they_were() {
    let mut told = String::new();
    for report in reports() {
        told.push_str(&tell(&report.unwrap()));
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/small.txt");
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
        let check = |unreduced| {
            delay_relay::check(&instance, unreduced, Limits::default(), &control).unwrap()
        };
        same(&check(false), &check(true));
    }
    for (n, m, values) in [(3, 1, 3), (3, 1, 2), (4, 2, 2), (3, 2, 2)] {
        let ring = ring(n, 2, &[0]);
        let check = |reduced| {
            let limits = Limits::default();
            definitional::check(ring.clone(), m, values, reduced, limits, &control).unwrap()
        };
        same(&check(true), &check(false));
    }
}

fn same(one: &Report, other: &Report) {
    assert_eq!(
        (one.states, one.legitimate, one.closure, one.convergence),
        (
            other.states,
            other.legitimate,
            other.closure,
            other.convergence
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
        let all = delay_relay::all_placements(n, m, d, false, Limits::default(), &control).unwrap();
        let turns = |set: u32| {
            (0..n as u32).map(move |turn| (set >> turn | set << (n as u32 - turn)) & ((1 << n) - 1))
        };
        let each: Vec<Report> = (1..1_u32 << n)
            .filter(|&set| turns(set).all(|turned| turned >= set))
            .map(|set| {
                let delays = (0..n).filter(|&at| set >> at & 1 == 1);
                let instance = Instance::with_delays(n, m, d, delays).unwrap();
                delay_relay::check(&instance, false, Limits::default(), &control).unwrap()
            })
            .collect();
        let number = |report: &Report, name: &str| match report.figure(name) {
            Some(Figure::Number(number)) => *number,
            _ => 0,
        };
        assert_eq!(number(&all, "placements"), each.len() as u128);
        assert_eq!(all.states, each.iter().map(|one| one.states).sum::<u128>());
        assert_eq!(
            all.legitimate,
            each.iter().map(|one| one.legitimate).sum::<u128>()
        );
        assert_eq!(all.closure, each.iter().all(|one| one.closure));
        assert_eq!(all.convergence, each.iter().all(|one| one.convergence));
        assert_eq!(
            number(&all, "never"),
            each.iter().map(|one| number(one, "never")).sum::<u128>()
        );
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
            let of = |one: &Report| one.property(property.name).is_none_or(|own| own.holds);
            assert_eq!(property.holds, each.iter().all(of), "{}", property.name);
            if !property.holds {
                let failing = each.iter().find(|one| !of(one)).unwrap();
                assert_eq!(failing.property(property.name), Some(property));
            }
        }
    }
}

fn reports() -> Vec<Result<Report, CheckError>> {
    let control = &Control::default();
    let limits = Limits::default();
    let mut reports = Vec::new();
    for (n, m, d, delays) in [
        (3, 1, 2, vec![0, 1, 2]),
        (5, 2, 2, vec![0, 2]),
        (3, 2, 2, vec![1]),
        (4, 1, 2, vec![]),
    ] {
        let instance = Instance::with_delays(n, m, d, delays).unwrap();
        for unreduced in [false, true] {
            reports.push(delay_relay::check(&instance, unreduced, limits, control));
        }
    }
    for (n, m, d) in [(4, 2, 2), (3, 2, 2)] {
        reports.push(delay_relay::all_placements(n, m, d, false, limits, control));
    }
    for (values, reduced) in [(3, true), (2, false)] {
        let ring = ring(3, 2, &[0]);
        reports.push(definitional::check(
            ring, 1, values, reduced, limits, control,
        ));
    }
    reports.push(definitional::check(
        ring(4, 2, &[1]),
        2,
        3,
        true,
        limits,
        control,
    ));
    let instance = Instance::with_delays(3, 1, 2, [0]).unwrap();
    for pace in [1, 2, 3] {
        for scheduler in Scheduler::ALL {
            let clocking = Clocking::for_ring(3, pace);
            reports.push(asynchronous::check(
                &instance, clocking, scheduler, limits, control,
            ));
        }
    }
    let instance = Instance::uniform(4, 2, 2).unwrap();
    let clocking = Clocking::for_ring(4, 1);
    for clocking in [
        Clocking {
            every_start: true,
            ..clocking
        },
        Clocking {
            previous: false,
            ..clocking
        },
        Clocking {
            modulus: 3,
            ..clocking
        },
        Clocking {
            modulus: 4,
            ..clocking
        },
    ] {
        let scheduler = Scheduler::Distributed;
        reports.push(asynchronous::check(
            &instance, clocking, scheduler, limits, control,
        ));
    }
    for (values, capacity) in [(3, 1), (2, 1), (3, 2)] {
        reports.push(handover::check(values, capacity, limits, control));
    }
    for scheduler in Scheduler::ALL {
        for values in [2, 3] {
            reports.push(k_state::check(3, values, scheduler, limits, control));
        }
        let clock = PhaseClock::for_ring(3);
        reports.push(phase_clock::check(3, clock, scheduler, limits, control));
        let short = PhaseClock {
            modulus: 3,
            tail: 0,
        };
        reports.push(phase_clock::check(3, short, scheduler, limits, control));
    }
    for (n, m, limit) in [(2, 1, 4), (3, 2, 6)] {
        for printed in [false, true] {
            reports.push(measure::check(n, m, limit, printed, limits, control));
        }
    }
    for (n, monitors) in [(3, vec![0]), (4, vec![1]), (3, vec![0, 1])] {
        reports.push(monitor::check(n, 1, 2, 2, &monitors, limits, control));
    }
    reports
}

fn ring(n: usize, d: u32, delays: &[usize]) -> Ring {
    Ring::with_delays(Separation::new(d).unwrap(), n, delays.iter().copied()).unwrap()
}

fn tell(report: &Report) -> String {
    let mut told = format!("{}: {}\n", report.model, report.instance);
    let scheduler = report.scheduler.map_or("none", Scheduler::name);
    let _ = writeln!(
        told,
        "  scheduler {scheduler}, states {}, legitimate {}, closure {}, convergence {}",
        report.states, report.legitimate, report.closure, report.convergence
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
            other => writeln!(told, "  {name} {other:?}"),
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
