//! The core and the forecast against the functions that the proof is about.
//!
//! `proof/` proves theorems about `round`, `legitimate`, `forecast` and the worst
//! cases as Coq functions. Extracted to a program, they answer the same questions
//! as the Rust code: all states of small rings, and random ones of all shapes.
//! Without Coq and OCaml these tests are skipped.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use headway_core::{Configuration, Process, ProcessIndex, Program, Ring, Separation, bound};
use headway_sim::forecast::Forecast;
use headway_testkit::tier::pick;
use headway_testkit::tools;
use headway_testsuite::documents::{quoted, read, root};
use headway_testsuite::space::{Random, cases, each_state};

mod moving_block;

/// One question to the oracle; what it asks is in `proof/oracle/main.ml`.
trait Ask: Sync {
    fn line(&self) -> String;
}

/// A question about a ring of delays and relays.
struct Question {
    ring: Ring,
    state: Configuration,
    /// What `legitimate` is asked for.
    tokens: u64,
    /// How far to look ahead by the closed form.
    rounds: u64,
}

impl Ask for Question {
    fn line(&self) -> String {
        let letter = |program: &Program| if *program == Program::Delay { 'D' } else { 'R' };
        let programs: String = self.ring.programs().iter().map(letter).collect();
        let d = self.ring.separation().hops();
        let state = text(&self.state.processes);
        format!("{d} {} {} {programs} {state}", self.tokens, self.rounds)
    }
}

impl Question {
    /// The answer of the Rust code, where `round` is the core's or a mutant.
    fn answer(&self, round: Round<'_>) -> String {
        let legitimate = self.ring.legitimate(&self.state, self.tokens).is_ok();
        let forecast = Forecast::of(&self.ring, &self.state).expect("delays and relays");
        let later = forecast.timeline().configuration_at(self.rounds);
        format!(
            "{};{};{};{}",
            text(&round(&self.ring, &self.state)),
            u8::from(legitimate),
            text(&later.processes),
            self.worst().unwrap_or_else(|| "-;-".to_owned())
        )
    }

    fn worst(&self) -> Option<String> {
        let (m, d) = (self.state.tokens(), self.ring.separation().hops());
        let n = self.ring.len() as u64;
        let delays = self.ring.delays().map(|index| index as u64);
        let rest = bound::worst_last_rest(m, d, bound::widest_gap(delays.clone(), n)?)?;
        let legitimate = bound::worst_legitimate_at(m, d, bound::gaps(delays, n))?;
        Some(format!("{rest};{legitimate}"))
    }
}

fn text(processes: &[Process]) -> String {
    let one = |p: &Process| format!("{},{},{}", p.queued, p.resting, p.counter);
    processes.iter().map(one).collect::<Vec<_>>().join(" ")
}

type Round<'a> = &'a dyn Fn(&Ring, &Configuration) -> Vec<Process>;

fn core_round(ring: &Ring, state: &Configuration) -> Vec<Process> {
    ring.after_round(state).processes
}

/// How many answers differ, and the first question that shows it.
fn differences<Q: Ask>(
    oracle: &Path,
    questions: &[Q],
    answer: impl Fn(&Q) -> String,
) -> (usize, Option<String>) {
    let mut child = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts");
    let mut ask = BufWriter::new(child.stdin.take().expect("piped"));
    let mut told = BufReader::new(child.stdout.take().expect("piped")).lines();
    let (mut differ, mut first) = (0, None);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for question in questions {
                writeln!(ask, "{}", question.line()).expect("the oracle reads");
            }
        });
        for question in questions {
            let told = told.next().expect("an answer").expect("text");
            let answer = answer(question);
            if told != answer {
                differ += 1;
                first.get_or_insert_with(|| {
                    format!("{}\n proof: {told}\n Rust:  {answer}", question.line())
                });
            }
        }
    });
    assert!(child.wait().expect("it ends").success());
    (differ, first)
}

/// The extracted program, built from the proof if need be.
fn oracle() -> Option<&'static Path> {
    static ORACLE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = ORACLE.get_or_init(|| {
        for tool in ["make", "coqc", "ocamlfind", "ocamlopt"] {
            if tools::program(&[tool], tool).is_err() {
                let why = format!("install coq and ocaml: no {tool}");
                tools::skip("proof oracle", &why);
                return None;
            }
        }
        let folder = root().join("proof");
        // `make test` checks the proof beside the tests, and two cannot build in one folder.
        let project = File::open(folder.join("_CoqProject")).expect("the proof");
        project.lock().expect("a lock");
        let made = Command::new("make")
            .args(["-s", "-C"])
            .arg(&folder)
            .arg("oracle")
            // Not the flags of a make that runs these tests.
            .env_remove("MAKEFLAGS")
            .output()
            .expect("make starts");
        let why = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "make -C proof oracle: {why}");
        Some(folder.join("oracle/oracle"))
    });
    built.as_deref()
}

fn assert_agreement(questions: &[Question]) {
    let Some(oracle) = oracle() else { return };
    let (differ, first) = differences(oracle, questions, |question| question.answer(&core_round));
    assert_eq!(differ, 0, "first: {}", first.unwrap_or_default());
}

/// A ring and state of any shape: with room or jammed, tokens piled or spread, from
/// no delay to delays only; half of them some rounds on, so that many are legitimate.
fn random_question(seed: u64) -> Question {
    let mut random = Random::new(seed);
    let processes = 1 + random.below(12);
    let separation = Separation::new(1 + random.below(5)).expect("at least 1");
    let share = random.below(6);
    let programs: Vec<Program> = (0..processes)
        .map(|_| match random.below(5) < share {
            true => Program::Delay,
            false => Program::Relay,
        })
        .collect();
    let ring = Ring::new(separation, programs).expect("not empty");
    let mut state = Configuration::empty(&ring, 1, 1);
    let tokens = match random.below(3) {
        0 => random.below(8),
        _ => random.below(1 + processes / separation.hops()),
    };
    let places = 1 + random.below(tokens + 1);
    for token in 0..tokens {
        let place = token % places * processes / places + random.below(2);
        let process = &mut state.processes[(place % processes) as ProcessIndex];
        match random.below(2) {
            0 => process.queued += 1,
            _ => process.resting += 1,
        }
    }
    for index in ring.delays() {
        state.processes[index].counter = random.below(separation.hops()) as i32;
    }
    if random.below(2) == 0 {
        for _ in 0..random.below(40) {
            ring.round(&mut state);
        }
    }
    // The closed form is proved for rings with a delay and a token.
    let rounds = match ring.delays().next().is_some() && tokens > 0 {
        true if random.below(50) == 0 => random.below(60),
        true => random.below(9),
        false => 0,
    };
    // Sometimes legitimacy is asked for another number of tokens.
    let tokens = u64::from(tokens) + u64::from(random.below(10) == 0);
    Question {
        ring,
        state,
        tokens,
        rounds: u64::from(rounds),
    }
}

#[test]
fn random_states_of_all_shapes() {
    let questions: Vec<Question> = (0..pick(5_000, 100_000, 1_000_000))
        .map(random_question)
        .collect();
    let legitimate = questions
        .iter()
        .filter(|question| {
            question.tokens > 0
                && question
                    .ring
                    .legitimate(&question.state, question.tokens)
                    .is_ok()
        })
        .count();
    assert!(
        legitimate > questions.len() / 10,
        "only {legitimate} are legitimate"
    );
    assert_agreement(&questions);
}

#[test]
fn every_state_of_small_rings() {
    let (largest, expected) = pick((4, 8_467), (5, 93_271), (5, 93_271));
    let mut questions = Vec::new();
    for case in (1..=largest).flat_map(cases) {
        each_state(&case, u32::MAX, &mut |state| {
            questions.push(Question {
                ring: case.ring.clone(),
                state: state.clone(),
                tokens: u64::from(case.tokens),
                rounds: questions.len() as u64 % 11,
            });
        });
    }
    assert_eq!(questions.len(), expected);
    assert_agreement(&questions);
}

/// Counter-test: a round that is wrong in one place is noticed.
#[test]
fn a_wrong_round_is_noticed() {
    let Some(oracle) = oracle() else { return };
    let questions: Vec<Question> = (0..pick(500, 2_000, 2_000)).map(random_question).collect();
    let wrong = |step: Step| {
        differences(oracle, &questions, |question| {
            question.answer(&|ring, state| stepped(ring, state, step))
        })
    };
    let (differ, first) = wrong(right);
    assert_eq!(
        differ,
        0,
        "the mutants' frame: {}",
        first.unwrap_or_default()
    );
    let mutants: [(&str, Step); 5] = [
        ("releases while the counter is at 1", |p, arriving, top| {
            let early = Process {
                counter: if p.counter == 1 { 0 } else { p.counter },
                ..p
            };
            right(early, arriving, top)
        }),
        ("starts again from one less", |p, arriving, top| {
            right(p, arriving, (top - 1).max(0))
        }),
        ("what arrives rests for a round", |p, arriving, top| {
            let after = right(p, 0, top);
            Process {
                resting: after.resting + arriving,
                ..after
            }
        }),
        ("counts only while a token waits", |p, arriving, top| {
            let after = right(p, arriving, top);
            match p.resting + arriving {
                0 => Process {
                    counter: p.counter,
                    ..after
                },
                _ => after,
            }
        }),
        ("releases all that it holds", |p, arriving, top| {
            let after = right(p, arriving, top);
            match after.queued {
                0 => after,
                _ => Process {
                    queued: after.queued + after.resting,
                    resting: 0,
                    ..after
                },
            }
        }),
    ];
    for (name, step) in mutants {
        assert!(wrong(step).0 > 0, "not noticed: {name}");
    }
}

type Step = fn(Process, u32, i32) -> Process;

fn right(before: Process, arriving: u32, top: i32) -> Process {
    headway_core::program::delay::round(before, arriving, top)
}

/// A row of a table ends with names and the file they are in: the first name that is
/// not stated there, or that `make proof` does not ask for its assumptions.
fn not_proved(document: &str) -> Option<String> {
    let asked = read("proof/Assumptions.v");
    let rows = document.lines().filter(|line| line.starts_with('|'));
    let mut names = rows.flat_map(|row| {
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap_or("");
        let items: Vec<&str> = quoted(cell).collect();
        let (file, names) = items.split_last().map_or(("", &[][..]), |(f, n)| (*f, n));
        names
            .iter()
            .map(move |name| (*name, file))
            .collect::<Vec<_>>()
    });
    names.find_map(|(name, file)| {
        let text = read(&format!("proof/{file}"));
        let kinds = ["Theorem", "Lemma", "Corollary"];
        let kind = kinds
            .iter()
            .find(|kind| text.contains(&format!("{kind} {name} ")));
        // Lemmas are steps on the way; the theorems are asked.
        let closed = |kind: &str| kind == "Lemma" || asked.contains(&format!("{name}."));
        (!kind.is_some_and(|kind| closed(kind))).then(|| format!("{name} in {file}"))
    })
}

#[test]
fn the_document_names_theorems_that_are_proved() {
    let document = read("docs/research/proof.md");
    assert_eq!(not_proved(&document), None);
    let rows = |text: &str| text.matches(".v` |").count();
    assert!(rows(&document) > 20, "{}", rows(&document));
    let picture = read("docs/images/proof.svg");
    for file in read("proof/_CoqProject")
        .lines()
        .filter(|line| line.ends_with(".v"))
    {
        assert!(
            picture.contains(&format!(">{file}<")),
            "{file} is not in the picture"
        );
    }
}

/// The first theorem of proof/Paper.v that is not exactly a theorem whose assumptions
/// `make proof` asks for.
fn not_exact(paper: &str) -> Option<String> {
    let asked = read("proof/Assumptions.v");
    let mut proofs = paper.split("\n").filter(|line| line.contains("Proof"));
    let stated = paper.matches("\n  Theorem ").count() + paper.matches("\nTheorem ").count();
    let other = proofs.clone().count() != stated;
    let unasked = proofs.find(|line| {
        let (_, rest) = line.split_once("exact ").unwrap_or_default();
        let words = |c: char| !(c.is_alphanumeric() || c == '_' || c == '.');
        !rest
            .split(words)
            .any(|name| asked.contains(&format!(" {}.\n", name.trim_end_matches('.'))))
    });
    unasked
        .map(str::to_owned)
        .or(other.then(|| "another proof".to_owned()))
}

#[test]
fn the_paper_by_statements_is_exactly_what_is_proved() {
    let paper = read("proof/Paper.v");
    assert_eq!(not_exact(&paper), None);
    for claim in 1..=8 {
        assert!(
            paper.contains(&format!("Theorem claim_{claim} ")),
            "claim {claim}"
        );
    }
    let more = format!("{paper}\nTheorem more : True.\nProof. exact I. Qed.\n");
    assert!(not_exact(&more).is_some(), "what is not asked is noticed");
}

/// README and docs count the theorems as `make proof` does.
#[test]
fn documents_count_the_theorems() {
    let asked = read("proof/Assumptions.v")
        .matches("\nPrint Assumptions ")
        .count();
    for document in [
        "README.md",
        "docs/research/proof.md",
        "docs/dev/verified.md",
    ] {
        let counted = read(document).contains(&format!("{asked} theorems"));
        assert!(counted, "{document}: {asked} theorems");
    }
}

/// Counter-test: a name that nobody has proved is noticed.
#[test]
fn a_theorem_that_nobody_has_proved_is_noticed() {
    let row = "| worst case | it takes one round | `theorem0` in `Theorems.v` |";
    assert_eq!(not_proved(row).as_deref(), Some("theorem0 in Theorems.v"));
}

/// The core's loop around a step that may be wrong.
fn stepped(ring: &Ring, state: &Configuration, step: Step) -> Vec<Process> {
    let old = &state.processes;
    let processes = old.iter().zip(ring.programs()).enumerate();
    processes
        .map(|(index, (&before, program))| {
            let arriving = old[(index + old.len() - 1) % old.len()].queued;
            let top = match program {
                Program::Delay => ring.separation().top(),
                _ => 0,
            };
            step(before, arriving, top)
        })
        .collect()
}
