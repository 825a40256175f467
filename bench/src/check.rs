//! Every initial state, against SPIN's closure pass and Storm's decision diagrams on the
//! exported model.
//!
//! Times are CPU time of all threads, ours and SPIN's, because one of the two
//! uses several.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use headway_check::function;
use headway_check::model::delay_relay::{Explicit, Instance, piles, reduced};
use headway_check::protocol::{self, Language};
use headway_check::settings::Given;
use headway_check::{Control, NamedModel, Report};

use crate::table::{Goal, Row, Table, peak_bytes, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    let ring = Instance::uniform(9, 3, 3).expect("a ring");
    let states = states(&ring) as f64;
    let (by_cases, bytes) = peak_bytes(|| {
        cpu(20, || {
            reduced::explore(&ring, &Control::default()).expect("fits")
        })
    });
    let model = Explicit::new(&ring).expect("fits");
    let (one_by_one, explicit_bytes) = peak_bytes(|| {
        cpu(1, || {
            function::explore(&model, &Control::default()).expect("fits")
        })
    });
    const WORK: &str = "every state of N = 9, M = 3, D = 3 (22.4 million), CPU time";
    match spin_closure(&ring) {
        Ok(spin) => {
            for (how, ours) in [("by cases", by_cases), ("one by one", one_by_one)] {
                table.add(Row {
                    work: format!("{WORK}, {how}"),
                    ours: format!("closure, convergence, worst case {}", time(ours)),
                    baseline: format!("SPIN, closure only {}", time(spin)),
                    ratio: ratio(spin, ours),
                    // The claim is about the way that is used unless asked otherwise.
                    goal: Goal::AtLeast(if how == "by cases" { 30.0 } else { 2.0 }),
                });
            }
        }
        Err(why) => eprintln!("skipped: {WORK}: {why}"),
    }
    table.add(Row {
        work: "memory of that, by cases".to_owned(),
        ours: format!("{bytes} bytes"),
        baseline: "1 byte per state".to_owned(),
        ratio: bytes as f64 / states,
        goal: Goal::AtMost(1.0),
    });
    table.add(Row {
        work: "memory of that, one by one".to_owned(),
        ours: format!("{explicit_bytes} bytes"),
        baseline: "1 byte per state".to_owned(),
        ratio: explicit_bytes as f64 / states,
        goal: Goal::AtMost(1.01),
    });
    large(table, one_by_one.as_secs_f64() / states);
    by_piles(table);
    k_state(table);
    protocol_file(table);
}

/// Uniform rings, against Storm's decision diagrams on the exported model, by the clock.
fn by_piles(table: &mut Table) {
    for (n, m, d, goal) in [(24, 6, 4, 5.0), (64, 4, 4, 20.0), (32, 8, 4, 1.0)] {
        let ring = Instance::uniform(n, m, d).expect("a ring");
        let since = Instant::now();
        piles::explore(&ring, &Control::default()).expect("fits");
        let ours = since.elapsed();
        let work = format!("every state of N = {n}, M = {m}, D = {d}, by the clock");
        let text = exported(&of_ring(&ring), Language::Prism);
        let (baseline, theirs) = if n == 32 {
            // A limit of our own: Storm takes longer than anybody waits for.
            (
                "the limit of 10 minutes".to_owned(),
                Duration::from_secs(600),
            )
        } else {
            match storm(&text, CONVERGENCE) {
                Ok(storm) => (
                    format!("Storm (dd), convergence only {}", time(storm)),
                    storm,
                ),
                Err(why) => {
                    eprintln!("skipped: {work}: {why}");
                    continue;
                }
            }
        };
        table.add(Row {
            work,
            ours: format!("closure, convergence, distribution {}", time(ours)),
            baseline,
            ratio: ratio(theirs, ours),
            goal: Goal::AtLeast(goal),
        });
    }
}

/// Dijkstra's ring, one process at a time, against Storm by the clock and SPIN by CPU time.
fn k_state(table: &mut Table) {
    let work = "k-state, N = K = 9, central, by the clock";
    let since = Instant::now();
    check("k-state processes=9");
    let ours = since.elapsed();
    // What Storm is not asked for, the worst case, is most of what it would take.
    for (asked, formula, goal) in [
        ("worst case", WORST_CASE, Goal::AtLeast(1.0)),
        ("convergence only", CONVERGENCE, Goal::None),
    ] {
        match storm(&exported("k-state processes=9", Language::Prism), formula) {
            Ok(storm) => table.add(Row {
                work: format!("{work}, {asked}"),
                ours: format!("closure, convergence, worst case {}", time(ours)),
                baseline: format!("Storm (dd), {asked} {}", time(storm)),
                ratio: ratio(storm, ours),
                goal,
            }),
            Err(why) => eprintln!("skipped: {work}: {why}"),
        }
    }
    let work = "k-state, N = K = 8, central, CPU time";
    let ours = cpu(1, || check("k-state processes=8"));
    match spin(
        &exported("k-state processes=8", Language::Promela),
        8_u64.pow(8) + 1,
    ) {
        Ok(spin) => table.add(Row {
            work: work.to_owned(),
            ours: format!("closure, convergence, worst case {}", time(ours)),
            baseline: format!("SPIN, closure only {}", time(spin)),
            ratio: ratio(spin, ours),
            goal: Goal::AtLeast(1.0),
        }),
        Err(why) => eprintln!("skipped: {work}: {why}"),
    }
}

/// The same model as a file, every state, and in Rust, a K-th of them: why it is there twice.
fn protocol_file(table: &mut Table) {
    let file = cpu(1, || check("k-state processes=7 unreduced"));
    let rust = cpu(1, || check("k-state processes=7"));
    table.add(Row {
        work: "k-state, N = K = 7, central, CPU time".to_owned(),
        ours: format!("in Rust, by value shift {}", time(rust)),
        baseline: format!("as a protocol file, every state {}", time(file)),
        ratio: ratio(file, rust),
        goal: Goal::AtLeast(5.0),
    });
}

/// A model by its name and settings.
fn named(line: &str) -> (&'static NamedModel, Given) {
    let mut words = line.split(' ');
    let model = NamedModel::of(words.next().unwrap_or_default()).expect("a model");
    let pair = |word: &str| {
        let (name, value) = word.split_once('=').unwrap_or((word, "true"));
        (name.to_owned(), value.to_owned())
    };
    (model, words.map(pair).collect())
}

fn check(line: &str) -> Report {
    let (model, given) = named(line);
    model.check(&given, &Control::default()).expect("fits")
}

fn of_ring(ring: &Instance) -> String {
    let (n, m, d) = (ring.processes(), ring.tokens(), ring.separation());
    format!("delay-relay processes={n} tokens={m} separation={d}")
}

fn exported(line: &str, language: Language) -> String {
    let (model, given) = named(line);
    let protocol = model.protocol(&given).expect("a model with a file");
    protocol::export(&protocol, protocol.scheduler(), language).expect("one of two schedulers")
}

const CONVERGENCE: &str = r#"P>=1 [ F "legitimate" ]"#;
const WORST_CASE: &str = r#"R{"steps"}max=? [ F "legitimate" ]"#;

/// What Storm's decision diagrams take for an answer from every state, by the clock.
fn storm(model: &str, formula: &str) -> Result<Duration, String> {
    let folder = PathBuf::from("target/bench/storm");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let (program, script) = (folder.join("model.prism"), folder.join("storm_dd.py"));
    std::fs::write(&program, model).map_err(|error| error.to_string())?;
    std::fs::write(&script, include_str!("storm_dd.py")).map_err(|error| error.to_string())?;
    let python = PathBuf::from("target/tools/python/bin/python");
    let told = run(Command::new("timeout")
        .arg("900")
        .arg(python)
        .args([script, program])
        .arg(formula))
    .map_err(|why| format!("install stormpy (scripts/install-tools does): {why}"))?;
    // Below what it warns about.
    let last = told.lines().last().unwrap_or_default();
    let seconds = last
        .strip_suffix(" seconds")
        .and_then(|text| text.parse().ok());
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("Storm said: {told}"))
}

/// 4.4·10^10 states, against what visiting each would take at the rate just seen.
fn large(table: &mut Table, seconds_per_state: f64) {
    let ring = Instance::uniform(12, 3, 4).expect("a ring");
    let ours = cpu(5, || {
        reduced::explore(&ring, &Control::default()).expect("fits")
    });
    let visiting = Duration::from_secs_f64(seconds_per_state * states(&ring) as f64);
    table.add(Row {
        work: "every state of N = 12, M = 3, D = 4 (4.4·10^10), CPU time".to_owned(),
        ours: format!("finished, by cases {}", time(ours)),
        baseline: format!("one by one, extrapolated from N = 9 {}", time(visiting)),
        ratio: ratio(visiting, ours),
        goal: Goal::AtLeast(30.0),
    });
}

fn states(ring: &Instance) -> u64 {
    ring.states().try_into().expect("small")
}

/// CPU time of one of `times` runs, on average.
fn cpu<T>(times: u32, mut work: impl FnMut() -> T) -> Duration {
    let start = ProcessTime::now();
    for _ in 0..times {
        std::hint::black_box(work());
    }
    start.elapsed() / times
}

fn spin_closure(ring: &Instance) -> Result<Duration, String> {
    let text = exported(&of_ring(ring), Language::Promela);
    // The start, and three for all those that are not given.
    spin(&text, states(ring) + 4)
}

/// CPU time of SPIN's search for a violated assertion, compiled as its manual
/// advises: safety only, optimized.
fn spin(text: &str, states: u64) -> Result<Duration, String> {
    for (tool, version) in [("spin", "-V"), ("gcc", "--version")] {
        run(Command::new(tool).arg(version))
            .map_err(|_| format!("install {tool} (scripts/install-tools does)"))?;
    }
    let folder = PathBuf::from("target/bench/spin");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    std::fs::write(folder.join("model.pml"), text).map_err(|error| error.to_string())?;
    run(Command::new("spin")
        .args(["-a", "model.pml"])
        .current_dir(&folder))?;
    run(Command::new("gcc")
        .args("-O2 -w -DSAFETY -DNOCLAIM -DVECTORSZ=2048 -o pan pan.c".split(' '))
        .current_dir(&folder))?;
    // -w27: a hash table for 2^27 states, so that SPIN does not have to grow it.
    let script = "TIMEFORMAT='%U %S'; { time ./pan -m10000 -w27 > pan.out; } 2>&1";
    let times = run(Command::new("bash")
        .args(["-c", script])
        .current_dir(&folder))?;
    let found = std::fs::read_to_string(folder.join("pan.out")).unwrap_or_default();
    let expected = format!("{states} states, stored");
    if !found.contains("errors: 0") || !found.contains(&expected) {
        return Err(format!(
            "SPIN did not finish; expected {expected}:\n{found}"
        ));
    }
    let seconds = times.split_whitespace().map(str::parse::<f64>);
    let seconds: Result<f64, _> = seconds.sum();
    seconds
        .map(Duration::from_secs_f64)
        .map_err(|error| format!("{times}: {error}"))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
