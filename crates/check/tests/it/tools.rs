//! The exported models, run by the real tools: SPIN and Storm agree with our
//! counts and verdicts, and reject the infeasible ring.
//!
//! Where one of them is missing, its test says so and is skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{self, words};
use headway_check::protocol::{self, Language, Protocol};
use headway_check::{BigUint, Control, NamedModel, Report, Scheduler};
use headway_testkit::tools;

/// A fresh folder for one run of a tool.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder below target");
    folder
}

/// A model as it is exported, under its own scheduler.
fn exported(line: &str, language: Language) -> String {
    let (name, given) = words(line);
    let protocol = NamedModel::of(name).and_then(|model| model.protocol(&given));
    let protocol = protocol.expect("a model with a file");
    protocol::export(&protocol, protocol.scheduler(), language).expect("central or synchronous")
}

/// Protocol files, small enough for Storm to list their initial states, and whether they
/// converge.
fn protocols() -> Vec<(&'static str, Protocol, Scheduler, bool)> {
    use Scheduler::{Central, Synchronous};
    let files = [
        ("k-state", 4, Central, true),
        ("three-state", 4, Central, true),
        ("four-state", 4, Central, true),
        ("ghosh", 4, Central, true),
        ("colouring", 4, Central, true),
        ("colouring", 4, Synchronous, false),
        ("matching", 4, Central, true),
        ("herman", 5, Synchronous, true),
        ("israeli-jalfon", 4, Central, true),
        ("random-colouring", 4, Synchronous, true),
    ];
    let files = files.into_iter().map(|(name, n, scheduler, converges)| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/protocols");
        let text = std::fs::read_to_string(format!("{folder}/{name}.protocol")).unwrap();
        let protocol = Protocol::parse(&text, &[("n".to_owned(), n)]).unwrap();
        (name, protocol, scheduler, converges)
    });
    files.collect()
}

fn report_on(protocol: &Protocol, scheduler: Scheduler) -> Report {
    let control = Control::default();
    protocol::check(protocol, Some(scheduler), &control).expect("small enough")
}

/// What SPIN says: states stored and whether it found an error.
fn pan(folder: &Path, compile: &[&str], run: &[&str]) -> (u64, bool) {
    let compiled = Command::new("gcc")
        .args(["-O2", "-w", "-DVECTORSZ=2048", "-o", "pan", "pan.c"])
        .args(compile)
        .current_dir(folder)
        .status()
        .expect("gcc runs");
    assert!(compiled.success(), "pan.c compiles");
    let output = Command::new("./pan")
        .args(["-m100000"])
        .args(run)
        .current_dir(folder)
        .output()
        .expect("pan runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains("max search depth too small"), "{text}");
    let stored = text
        .lines()
        .find(|line| line.contains("states, stored"))
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_else(|| panic!("SPIN's count of states in:\n{text}"));
    let errors = text
        .lines()
        .find_map(|line| line.split("errors: ").nth(1))
        .unwrap_or_else(|| panic!("SPIN's count of errors in:\n{text}"));
    (stored, errors.trim() != "0")
}

/// What SPIN says of a text: states stored, and whether closure and convergence fail.
fn judge(spin: &Path, name: &str, text: &str) -> (u64, bool, bool) {
    let folder = folder(&format!("spin-{name}"));
    std::fs::write(folder.join("model.pml"), text).unwrap();
    let generated = Command::new(spin)
        .args(["-a", "model.pml"])
        .current_dir(&folder)
        .output()
        .expect("spin runs");
    assert!(generated.status.success(), "{name}: {generated:?}");
    let (stored, closure_fails) = pan(&folder, &["-DSAFETY", "-DNOCLAIM"], &[]);
    let (_, convergence_fails) = pan(&folder, &[], &["-a", "-N", "convergence"]);
    (stored, closure_fails, convergence_fails)
}

/// Compares what Storm says of a text with a report and its worst case.
fn compare_with_storm(python: &Path, text: &str, ours: &Report, worst: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools/storm_check.py");
    let path = folder("storm").join("model.prism");
    std::fs::write(&path, text).unwrap();
    let mut command = Command::new(python);
    let output = command.arg(script).arg(path).output().expect("python runs");
    let (name, error) = (&ours.instance, String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {error}");
    let theirs = String::from_utf8_lossy(&output.stdout);
    let expected = format!(
        "{{\"states\": {}, \"legitimate\": {}, \"closure\": {}, \"convergence\": {}, \"worst\": {worst}}}",
        ours.states,
        ours.legitimate,
        ours.closure(),
        ours.convergence()
    );
    assert_eq!(theirs.lines().last(), Some(expected.as_str()), "{name}");
}

#[test]
#[ignore = "make test-all"]
fn spin_agrees() {
    let gcc = tools::program(&["gcc"], "gcc libc6-dev");
    let spin = match gcc.and_then(|_| tools::program(&["spin"], "spin")) {
        Ok(spin) => spin,
        Err(why) => return tools::skip("spin_agrees", &why),
    };
    // Besides the states, SPIN stores the start, before one is chosen, and three for all those
    // that are not given.
    for (index, (line, besides, converges)) in [
        ("delay-relay processes=6 tokens=2 separation=3", 4_u32, true),
        (
            "delay-relay processes=5 tokens=2 separation=2 delays=at:0,2",
            4,
            true,
        ),
        (
            "delay-relay processes=7 tokens=3 separation=2 delays=at:0,3",
            4,
            true,
        ),
        // Infeasible: closure holds for want of legitimate states.
        ("delay-relay processes=5 tokens=2 separation=3", 4, false),
        ("k-state processes=4", 1, true),
        // Two values are too few for four processes.
        ("k-state processes=4 values=2", 1, false),
        ("measure processes=3 tokens=1", 4, true),
        ("phase-clock processes=3", 1, true),
    ]
    .into_iter()
    .enumerate()
    {
        let ours = common::report(line);
        let text = exported(line, Language::Promela);
        let (stored, closure_fails, convergence_fails) = judge(&spin, &index.to_string(), &text);
        assert_eq!(BigUint::from(stored), &ours.states + besides, "{line}");
        assert_eq!(closure_fails, !ours.closure(), "{line}");
        assert_eq!(convergence_fails, !converges, "{line}");
        assert_eq!(ours.convergence(), converges, "{line}");
    }
    for (name, protocol, scheduler, converges) in protocols() {
        let text = protocol::export(&protocol, scheduler, Language::Promela).unwrap();
        let (_, closure_fails, convergence_fails) =
            judge(&spin, &format!("{name}-{scheduler}"), &text);
        assert!(!closure_fails, "{name}");
        // Here chance is a free choice, which can always go wrong.
        let expected = converges && !protocol.is_random();
        assert_eq!(convergence_fails, !expected, "{name}");
    }
}

#[test]
#[ignore = "make test-all"]
fn storm_agrees_worst_case_included() {
    let python = match tools::python(&["stormpy"], "stormpy==2.0.0") {
        Ok(python) => python,
        Err(why) => return tools::skip("storm_agrees_worst_case_included", &why),
    };
    for (line, converges) in [
        ("delay-relay processes=4 tokens=2 separation=2", true),
        (
            "delay-relay processes=5 tokens=2 separation=2 delays=at:0,2",
            true,
        ),
        (
            "delay-relay processes=7 tokens=3 separation=2 delays=at:0,3",
            true,
        ),
        (
            "delay-relay processes=6 tokens=2 separation=3 delays=at:1",
            true,
        ),
        // Infeasible.
        (
            "delay-relay processes=5 tokens=2 separation=3 delays=at:0,2",
            false,
        ),
        ("k-state processes=4", true),
        ("k-state processes=4 values=2", false),
        ("phase-clock processes=3", true),
    ] {
        let ours = common::report(line);
        assert_eq!(ours.convergence(), converges, "{line}");
        let worst = ours
            .worst
            .map_or("null".to_owned(), |worst| worst.steps.to_string());
        compare_with_storm(&python, &exported(line, Language::Prism), &ours, &worst);
    }
    for (name, protocol, scheduler, converges) in protocols() {
        let ours = report_on(&protocol, scheduler);
        assert_eq!(ours.convergence(), converges, "{name}");
        let text = protocol::export(&protocol, scheduler, Language::Prism).unwrap();
        let worst = match (ours.worst, ours.figures.expected_steps_low) {
            (Some(worst), _) => worst.steps.to_string(),
            (None, Some(mean)) => {
                let rounded = (mean * 1e4).round() / 1e4;
                rounded.to_string()
            }
            _ => "null".to_owned(),
        };
        compare_with_storm(&python, &text, &ours, &worst);
    }
}

/// TLC is not to be had from the package registries, so the TLA+ text is at least
/// parsed by the grammar of the TLA+ community; and a broken text is not.
#[test]
#[ignore = "make test-all"]
fn tla_is_well_formed() {
    let modules = ["tree_sitter", "tree_sitter_tlaplus"];
    let python = match tools::python(&modules, "tree-sitter tree-sitter-tlaplus") {
        Ok(python) => python,
        Err(why) => return tools::skip("tla_is_well_formed", &why),
    };
    let mut texts = Vec::new();
    for line in [
        "delay-relay processes=6 tokens=2 separation=3 delays=at:0,3",
        "delay-relay processes=3 tokens=1 separation=1 delays=at:0",
        "k-state processes=4 values=3",
        "measure processes=3 tokens=1",
    ] {
        texts.push(exported(line, Language::Tla));
    }
    for (name, protocol, scheduler, _) in protocols() {
        let text = protocol::export(&protocol, scheduler, Language::Tla).unwrap();
        assert_eq!(text.contains("free choice"), protocol.is_random(), "{name}");
        texts.push(text);
    }
    let folder = folder("tla");
    let mut parse = Command::new(python);
    parse.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools/tla_parse.py"));
    let broken = |text: &String| text.replace("Init ==", "Init = =");
    for (index, text) in texts.iter().enumerate() {
        for (kind, text) in [("whole", text.clone()), ("broken", broken(text))] {
            let path = folder.join(format!("{index}-{kind}.tla"));
            std::fs::write(&path, text).unwrap();
            parse.arg(path);
        }
    }
    let output = parse.output().expect("python runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let verdicts = String::from_utf8_lossy(&output.stdout);
    let expected = ["yes", "no"].into_iter().cycle().take(2 * texts.len());
    assert!(
        verdicts.lines().eq(expected),
        "{}: {verdicts}",
        folder.display()
    );
}
