//! Protocols as files: the language, the engines on it, and the same protocols in Rust. What
//! was published of those that ship is compared in `atlas`.

use crate::common::report;
use headway_check::chance::{self, Fraction};
use headway_check::protocol::{self, Compiled, Format, Language, Protocol, write_space};
use headway_check::{BigUint, CheckError, Control, MODELS, Model, Report, Scheduler};
use headway_testkit::tier::properties;
use proptest::prelude::*;

fn text(name: &str) -> String {
    let path = format!(
        "{}/../../examples/protocols/{name}.protocol",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn load(name: &str, settings: &[(&str, i64)]) -> Protocol {
    let settings: Vec<(String, i64)> = settings
        .iter()
        .map(|(n, v)| ((*n).to_owned(), *v))
        .collect();
    Protocol::parse(&text(name), &settings).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn check(protocol: &Protocol, scheduler: Option<Scheduler>) -> Report {
    protocol::check(protocol, scheduler, &Control::default()).unwrap()
}

fn checked(name: &str, settings: &[(&str, i64)]) -> Report {
    check(&load(name, settings), None)
}

/// States, legitimate states, verdicts and worst cases.
fn same(file: &Report, rust: &Report) {
    let told = |report: &Report| {
        let counts = (report.states.clone(), report.legitimate.clone());
        (counts, report.closure(), report.convergence(), report.worst)
    };
    assert_eq!(
        told(file),
        told(rust),
        "{} {:?}",
        rust.instance,
        rust.scheduler
    );
}

#[test]
fn the_k_state_ring_and_unison_are_those_in_rust() {
    for (n, k) in [(3, 3), (4, 2), (4, 3), (4, 4), (5, 4)] {
        for scheduler in Scheduler::ALL {
            let file = check(&load("k-state", &[("n", n), ("k", k)]), Some(scheduler));
            for how in ["", "unreduced"] {
                let ring = format!("processes={n} values={k} scheduler={scheduler}");
                let named = report(&format!("k-state {ring} {how}"));
                same(&file, &named);
                assert_eq!(file.figures.diverging, named.figures.diverging);
            }
        }
    }
    for (n, k) in [(3, 4), (4, 5), (4, 4)] {
        for scheduler in Scheduler::ALL {
            let file = check(&load("unison", &[("n", n), ("k", k)]), Some(scheduler));
            let ring = format!("processes={n} values={k} scheduler={scheduler}");
            same(&file, &report(&format!("phase-clock {ring}")));
        }
    }
}

#[test]
fn the_papers_programs_are_those_in_rust() {
    for (n, m, d) in [(3, 1, 2), (4, 2, 2), (3, 1, 3), (4, 1, 3), (3, 2, 2)] {
        let file = checked("delay-relay", &[("n", n), ("m", m), ("d", d)]);
        let ring = format!("processes={n} tokens={m} separation={d}");
        let rust = report(&format!("delay-relay {ring} unreduced"));
        assert_eq!(
            (&file.states, &file.legitimate),
            (&rust.states, &rust.legitimate)
        );
        assert_eq!(
            (file.closure(), file.convergence()),
            (rust.closure(), rust.convergence())
        );
        assert_eq!(
            file.worst.map(|worst| worst.steps),
            rust.worst.map(|worst| worst.steps)
        );
        assert!(file.property("given").unwrap().holds);
    }
    for (n, m) in [(3, 1), (4, 2), (3, 2)] {
        let file = checked("measure", &[("n", n), ("m", m)]);
        let rust = report(&format!("measure processes={n} tokens={m}"));
        assert_eq!(
            (&file.states, &file.legitimate),
            (&rust.states, &rust.legitimate)
        );
        assert!(file.closure() && file.convergence());
        assert_eq!(
            file.worst.map(|worst| worst.steps),
            rust.worst.map(|worst| worst.steps)
        );
    }
}

/// The expected steps from a state with given values, exactly.
fn expected(protocol: &Protocol, values: &[i32]) -> Fraction {
    let model = Compiled::new(protocol).unwrap();
    let scheduler = protocol.scheduler();
    let answer = chance::explore(&model, scheduler, &Control::default()).unwrap();
    let exact = answer.exact.expect("few states");
    let place = answer
        .expected
        .iter()
        .position(|(rank, _)| model.state(*rank).as_ref()[..values.len()] == *values);
    let place = place.expect("an illegitimate state");
    let (low, high) = (answer.expected[place].1.low, answer.expected[place].1.high);
    let value = fraction_value(&exact[place]);
    assert!(low <= value && value <= high, "{low} {value} {high}");
    exact[place].clone()
}

fn fraction_value(fraction: &Fraction) -> f64 {
    let number = |text: String| text.parse::<f64>().unwrap();
    number(fraction.numerator.to_string()) / number(fraction.denominator.to_string())
}

fn fraction(numerator: i64, denominator: i64) -> Fraction {
    // In lowest terms.
    let common = (1..=denominator)
        .rev()
        .find(|c| numerator % c == 0 && denominator % c == 0);
    let common = common.unwrap();
    Fraction {
        numerator: (numerator / common).into(),
        denominator: (denominator / common).into(),
    }
}

/// Three tokens with gaps a, b, c take 4abc/n steps on average.
#[test]
fn hermans_ring_takes_4abc_over_n() {
    for n in [3_i64, 5, 7] {
        let ring = load("herman", &[("n", n)]);
        for a in 1..n - 1 {
            for b in 1..n - a {
                let c = n - a - b;
                // Tokens at 0, a and a + b: there a value equals the one before.
                let mut values = vec![0; n as usize];
                for place in 1..n {
                    let token = place == a || place == a + b;
                    values[place as usize] = values[place as usize - 1] ^ i32::from(!token);
                }
                if values[0] != values[n as usize - 1] {
                    panic!("a token at 0 follows: n is odd");
                }
                assert_eq!(
                    expected(&ring, &values),
                    fraction(4 * a * b * c, n),
                    "{a} {b} {c}"
                );
            }
        }
    }
}

#[test]
fn two_tokens_of_israeli_and_jalfon_take_a_times_b() {
    for n in [4_usize, 5, 7] {
        let ring = load("israeli-jalfon", &[("n", n as i64)]);
        for a in 1..n {
            let mut values = vec![0; n];
            (values[0], values[a]) = (1, 1);
            assert_eq!(expected(&ring, &values), fraction((a * (n - a)) as i64, 1));
        }
    }
    let ring = load("israeli-jalfon", &[]);
    let control = Control::default();
    let refused = protocol::check(&ring, Some(Scheduler::Synchronous), &control);
    assert!(matches!(refused, Err(CheckError::Protocol(error)) if error.says.contains("central")));
}

/// Without luck: a coin that always falls as the scheduler likes avoids legitimacy; and a
/// scheduler that can starve everybody does.
#[test]
fn certain_avoidance_is_found() {
    let text = "graph line(2) variable x: 0..2
        process 0: a: x = 0 -> 1/2: x := 1 | 1/2: x := 2   b: x = 1 -> x := 0
        process 1: c: x[left] = 1 -> x := x
        legitimate: x[0] = 2";
    let report = check(
        &Protocol::parse(text, &[]).unwrap(),
        Some(Scheduler::Central),
    );
    let lasso = report.counterexample("convergence").expect("c forever");
    assert!(lasso.repeats_from.is_some());
    // Without the third action it takes 4 steps from x = 0 by a, a coin and b: V = 1 + (V + 1)/2.
    let text = text.replace("process 1: c: x[left] = 1 -> x := x", "");
    let report = check(
        &Protocol::parse(&text, &[]).unwrap(),
        Some(Scheduler::Central),
    );
    assert!(report.convergence());
    assert_eq!(report.figures.expected_steps_exact.unwrap(), "4");
}

/// Line and column of what is wrong, and a word of the message.
#[test]
fn mistakes_are_shown_where_they_are() {
    let wrong = |text: &str, line, column, says: &str| {
        let error = Protocol::parse(text, &[]).expect_err(text);
        assert_eq!(
            (error.line, error.column),
            (line, column),
            "{text}: {error}"
        );
        assert!(error.says.contains(says), "{text}: {error}");
    };
    let ring = "graph ring(3)\nvariable x: 0..2\n";
    wrong(
        "graph ring(3)\nvariable x: 0..",
        2,
        16,
        "expected an expression",
    );
    wrong("graph ring(0)", 1, 7, "1 to 64 processes");
    wrong("graph circle(3)", 1, 7, "expected ring");
    wrong("graph edges of 3: 0-1", 1, 16, "not connected");
    wrong("graph edges of 2: 0-2", 1, 16, "0-2");
    wrong("grpah ring(3)", 1, 1, "expected `protocol`");
    wrong("graph ring(3)\nlegitimate: true", 2, 17, "no `variable`");
    wrong(ring, 3, 1, "no `legitimate`");
    // A domain may speak of no variable, not even of one that stands before it.
    wrong(
        &format!("{ring}variable y: 0..x[2]"),
        3,
        16,
        "domains have only constants",
    );
    wrong(
        &format!("{ring}variable y: 0..x"),
        3,
        16,
        "domains have only constants",
    );
    wrong(
        &format!("{ring}legitimate: y[0] = 1"),
        3,
        13,
        "no variable `y`",
    );
    wrong(
        &format!("{ring}legitimate: x = 1"),
        3,
        13,
        "of which process",
    );
    wrong(
        &format!("{ring}legitimate: x[3] = 1"),
        3,
        15,
        "no process 3",
    );
    wrong(
        &format!("{ring}legitimate: x[0] + 1"),
        3,
        18,
        "expected true or false",
    );
    wrong(
        &format!("{ring}legitimate: x[0] = true"),
        3,
        20,
        "one side is a number",
    );
    wrong(
        &format!("{ring}legitimate: 0 < x[0] < 2"),
        3,
        22,
        "join them with `and`",
    );
    wrong(
        &format!("{ring}legitimate: x[0] mod x[1] = 0"),
        3,
        22,
        "constant above 0",
    );
    wrong(
        &format!("{ring}process 3: a: true -> x := 0\nlegitimate: true"),
        3,
        9,
        "no process 3",
    );
    wrong(
        &format!("{ring}process 0: a: true -> y := 0\nlegitimate: true"),
        3,
        23,
        "no variable `y`",
    );
    wrong(
        &format!("{ring}process 0: a: true -> 1/2: x := 0\nlegitimate: true"),
        3,
        12,
        "add up to 1",
    );
    wrong(
        &format!("{ring}process 0: a: enabled(1) -> x := 0\nlegitimate: true"),
        3,
        15,
        "ask about itself",
    );
    wrong(
        &format!("{ring}define f = f\nlegitimate: f"),
        3,
        12,
        "defined by itself",
    );
    wrong(
        &format!("{ring}legitimate: true § false"),
        3,
        18,
        "unexpected `§`",
    );
    wrong(
        &format!("{ring}legitimate: true & false"),
        3,
        18,
        "unexpected `&`; use `and`",
    );
    wrong(
        "graph line(3)\nvariable x: 0..2\nprocess all: a: x[left] = 0 -> x := 0\nlegitimate: true",
        3,
        19,
        "process 0 has no `left`",
    );
    let deep = format!("{ring}legitimate: {}true", "(".repeat(5000));
    assert!(
        Protocol::parse(&deep, &[])
            .unwrap_err()
            .says
            .contains("too deeply")
    );
    let error = Protocol::parse(&text("k-state"), &[("q".to_owned(), 3)]).unwrap_err();
    assert!(
        error.says.contains("no parameter `q`") && error.says.contains("n, k"),
        "{error}"
    );
}

/// An assignment that leaves the domain is an error, unless no state of the model does it.
#[test]
fn leaving_a_domain_is_an_error() {
    let text = "graph line(2) variable x: 0..2
        process all: a: x < 3 -> x := x + 1
        legitimate: x[0] = 2";
    let broken = Protocol::parse(text, &[]).unwrap();
    let control = Control::default();
    let error = protocol::check(&broken, None, &control).unwrap_err();
    let CheckError::Protocol(error) = error else {
        panic!("{error}");
    };
    assert_eq!((error.line, error.column), (2, 34), "{error}");
    assert!(error.says.contains("assigns 3 to `x`"), "{error}");
    let given = text.replace("legitimate", "given x[0] < 2 and x[1] < 2 legitimate");
    let report = check(
        &Protocol::parse(&given, &[]).unwrap(),
        Some(Scheduler::Central),
    );
    let strays = report.property("given").unwrap();
    assert!(!strays.holds && strays.counterexample.is_some());
    assert_eq!(report.states, BigUint::from(4_u32));
}

/// Every state and step, in three forms.
#[test]
fn the_state_space_is_written() {
    let ring = load("k-state", &[("n", 3), ("k", 2)]);
    let model = Compiled::new(&ring).unwrap();
    let written = |format| {
        let mut out = Vec::new();
        write_space(&model, Some(Scheduler::Central), format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    // Sum over the 8 states of the processes enabled: 1 or 3.
    let steps = written(Format::Csv).lines().count() - 1;
    let dot = written(Format::Dot);
    assert_eq!(dot.matches(" -> ").count(), steps);
    assert_eq!(dot.matches("peripheries=2").count(), 6);
    let aut = written(Format::Aut);
    assert_eq!(
        aut.lines().next().unwrap(),
        format!("des (0, {}, 9)", steps + 8 + 6)
    );
    assert_eq!(aut.lines().count() - 1, steps + 8 + 6);
    assert!(written(Format::Csv).contains("0,1,0.bump,true,true,x 0 0 0,x 1 0 0"));
}

/// Every beginning of a file, however it ends, has an answer or an error.
#[test]
fn no_beginning_makes_the_parser_panic() {
    for name in ["matching", "measure", "unison", "herman"] {
        let text = text(name);
        for (at, _) in text.char_indices() {
            let _ = Protocol::parse(&text[..at], &[]);
        }
    }
}

proptest! {
    #![proptest_config(properties(64))]

    /// Whatever is written, there is an answer or an error with a place in the text.
    #[test]
    fn no_text_makes_the_parser_panic(cut in 0..1200_usize, other in 0..1200_usize, which in 0..4_usize) {
        let text = text(["matching", "measure", "unison", "herman"][which]);
        let cut_at = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap();
        let mixed = format!("{}{}", &text[..cut_at(cut)], &text[cut_at(other)..]);
        if let Err(error) = Protocol::parse(&mixed, &[]) {
            prop_assert!(error.line <= mixed.lines().count() + 1);
        }
    }
}

/// A file that names no scheduler is one and the same system for whoever reads it: `check`,
/// the state space, the exports, and the document.
#[test]
fn the_default_scheduler_is_one() {
    let without = |name: &str| {
        let text = text(name);
        let lines = text.lines().filter(|line| !line.starts_with("scheduler"));
        Protocol::parse(&lines.collect::<Vec<_>>().join("\n"), &[]).unwrap()
    };
    let default = Scheduler::default();
    for name in ["matching", "three-state", "k-state"] {
        let protocol = without(name);
        assert_eq!(protocol.scheduler(), default);
        let report = check(&protocol, None);
        assert_eq!(report.scheduler, Some(default));
        let exported = protocol::export(&protocol, protocol.scheduler(), Language::Promela);
        assert!(
            exported
                .unwrap()
                .contains(&format!("; {default} scheduler"))
        );
        let csv = |asked| {
            let mut out = Vec::new();
            let model = Compiled::new(&protocol).unwrap();
            write_space(&model, asked, Format::Csv, &mut out).unwrap();
            out
        };
        assert_eq!(csv(None), csv(Some(default)));
    }
    // The two systems differ: matching never ends when neighbours move together.
    assert!(check(&without("matching"), None).convergence());
    assert!(!check(&without("matching"), Some(Scheduler::Distributed)).convergence());
    let settings = MODELS.iter().flat_map(|model| model.settings());
    let schedulers = settings.filter(|setting| setting.name == "scheduler");
    let told: Vec<String> = schedulers.map(|setting| setting.help).collect();
    assert_eq!(told.len(), 3);
    let ends = format!("[default: {default}]");
    assert!(told.iter().all(|help| help.ends_with(&ends)), "{told:?}");

    let document = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/research/protocols.md"
    );
    let document = std::fs::read_to_string(document).unwrap();
    assert!(document.contains(&format!("| `scheduler {default}` | the default;")));
}

/// Nobody exports what nobody would check.
#[test]
fn a_scheduler_that_the_protocol_or_the_tool_does_not_know_is_not_exported() {
    let export = |name: &str, scheduler| {
        let protocol = load(name, &[]);
        protocol::export(&protocol, scheduler, Language::Prism).map_err(|error| error.to_string())
    };
    for scheduler in [Scheduler::Distributed, Scheduler::LocallyCentral] {
        let error = export("k-state", scheduler).unwrap_err();
        assert!(error.contains(scheduler.name()), "{error}");
    }
    assert!(export("k-state", Scheduler::Synchronous).is_ok());
    let error = export("israeli-jalfon", Scheduler::Synchronous).unwrap_err();
    assert!(error.contains("only one may move"), "{error}");
    assert!(export("israeli-jalfon", Scheduler::Central).is_ok());
}

/// Where a process writes a variable of another under a scheduler that lets both move.
#[test]
fn a_foreign_variable_is_shown_where_it_is_written() {
    let text = "graph ring(3) variable x: 0..2 scheduler distributed
        process all: own: x = 1 -> x := 0
          other: x = 2 -> x := 1, x[left] := 0
        legitimate: true";
    let ring = Protocol::parse(text, &[]).unwrap();
    let error = protocol::check(&ring, None, &Control::default()).unwrap_err();
    let CheckError::Protocol(checked) = error else {
        panic!("{error}");
    };
    let exported = protocol::export(&ring, Scheduler::Synchronous, Language::Tla).unwrap_err();
    for (error, scheduler) in [
        (checked.to_string(), "distributed"),
        (exported.to_string(), "synchronous"),
    ] {
        assert!(error.starts_with("line 3, column 35: "), "{error}");
        assert!(error.ends_with(scheduler), "{error}");
    }
    assert!(protocol::check(&ring, Some(Scheduler::Central), &Control::default()).is_ok());
}

/// `all:` and the like begin no action, and are told from a misspelt section.
#[test]
fn a_reserved_word_names_no_action() {
    let text = |name: &str| {
        format!(
            "graph ring(3) variable x: 0..1 process all:\n {name}: x = 0 -> x := 1\n legitimate: true"
        )
    };
    assert!(Protocol::parse(&text("every"), &[]).is_ok());
    for name in ["all", "in", "any", "count", "none"] {
        let error = Protocol::parse(&text(name), &[]).unwrap_err();
        assert_eq!((error.line, error.column), (2, 2));
        let says = format!("`{name}` is a reserved word and cannot name an action");
        assert_eq!(error.says, says);
    }
    let each = text("min (q in neighbours)");
    let error = Protocol::parse(&each, &[]).unwrap_err();
    assert!(error.says.contains("`min` is a reserved word"), "{error}");
}

/// Some editors begin a file with a mark.
#[test]
fn a_byte_order_mark_is_no_fault() {
    let marked = format!("\u{feff}{}", text("k-state"));
    assert!(Protocol::parse(&marked, &[]).is_ok());
    let error = Protocol::parse("\u{feff}grpah ring(3)", &[]).unwrap_err();
    assert_eq!((error.line, error.column), (1, 1));
}

/// A pointer to nobody is `none` as in the file; a number below 0 is a number.
#[test]
fn nobody_is_shown_as_none() {
    let report = check(&load("matching", &[]), Some(Scheduler::Distributed));
    let shown = &report.counterexample("convergence").unwrap().states;
    assert!(shown[0].contains("to none none"), "{shown:?}");
    assert!(!shown.iter().any(|state| state.contains("-1")), "{shown:?}");
    let text = "graph ring(3) variable x: -1..1 process all: a: x = -1 -> x := -1
        legitimate: x[0] = 1";
    let report = check(&Protocol::parse(text, &[]).unwrap(), None);
    let shown = &report.counterexample("convergence").unwrap().states;
    assert!(shown[0].contains("x -1 -1 -1"), "{shown:?}");
}

/// What is new of a variable has a name that no other has.
#[test]
fn promela_declares_every_name_once() {
    let text = "graph ring(3) variable x: 0..1 variable new_x: 0..1 variable next: 0..1
        process all: a: x = 0 -> x := 1, new_x := 0
        legitimate: x[0] = 1";
    let ring = Protocol::parse(text, &[]).unwrap();
    let text = protocol::export(&ring, Scheduler::Central, Language::Promela).unwrap();
    let mut names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("byte ")?.strip_suffix(';'))
        .flat_map(|names| names.split(", "))
        .collect();
    assert_eq!(names.len(), 2 * 3 * 3);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 2 * 3 * 3, "{text}");
}
