//! Mutants by switches; see `Cargo.toml` and `docs/mutants.md`.

mod list;
mod outcome;
mod tree;
mod trial;
mod weave;

use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Runs the mutants that cargo-mutants lists, all from one build.

    cargo run --release --manifest-path ci/mutants/Cargo.toml -- [FLAGS] -p PACKAGE... -- CARGO-TEST-ARGUMENTS...

  -p PACKAGE     whose mutants (as of cargo mutants)
  -f FILE        only those in files that match (as of cargo mutants)
  --in PREFIX    try only mutants in files whose path begins so; the others are woven
  --of NAME      run only tests of this target (as often as wanted)
  --tree DIR     where the copy with the switches is made (default target/woven)
  --out FILE     outcomes as JSON (default target/mutants.json)
  --skip NAME    a test, or part of its name, that is not run
  --jobs N       processes at a time (default 2)
  --at-most SECONDS  of processor time for one test of one mutant, beside ten times
                 what it takes without one; a test that takes longer than this
                 without a mutant is stopped after this time, and what it has not
                 caught by then it has not caught (default 10)
  --trace SECONDS  of processor time a test is watched to see what it reaches (default 30)
  --budget SECONDS of processor time of tests that pass, after which a mutant counts as missed
                 (default 600)
  --only FILE    an earlier --out: only the mutants that survived there

What follows the second -- says which tests: -p headway-core --tests
Exit code 0: every mutant that compiles was caught. 1: some were not. 2: it did not run.
";

/// What was asked for.
pub struct Asked {
    pub packages: Vec<String>,
    pub files: Vec<String>,
    pub within: String,
    pub targets: Vec<String>,
    pub tree: PathBuf,
    pub out: PathBuf,
    pub skip: Vec<String>,
    pub jobs: usize,
    pub at_most_s: u64,
    pub trace_s: u64,
    pub budget_s: u64,
    pub only: Option<PathBuf>,
    pub tests: Vec<String>,
}

fn main() -> ExitCode {
    match asked().and_then(|asked| run(&asked)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn run(asked: &Asked) -> Result<bool, String> {
    let mutants = list::list(&asked.packages, &asked.files)?;
    eprintln!("{} mutants", mutants.len());
    let woven = tree::weave(asked, &mutants)?;
    let survived = asked.only.as_deref().map(outcome::survivors).transpose()?;
    let tried = |mutant: &list::Mutant| {
        let survived = survived
            .as_ref()
            .is_none_or(|keys| keys.contains(&mutant.key()));
        survived && mutant.file.starts_with(&asked.within)
    };
    let tried: Vec<bool> = mutants.iter().map(tried).collect();
    let outcomes = trial::run(asked, &mutants, &tried, woven)?;
    let kept = mutants
        .into_iter()
        .zip(outcomes)
        .zip(tried)
        .filter(|(_, tried)| *tried);
    let (mutants, outcomes): (Vec<_>, Vec<_>) = kept.map(|(kept, _)| kept).unzip();
    outcome::write(&asked.out, &mutants, &outcomes)?;
    print!("{}", outcome::table(&mutants, &outcomes));
    Ok(outcomes.iter().all(|outcome| !outcome.survives()))
}

fn asked() -> Result<Asked, String> {
    let mut asked = Asked {
        packages: Vec::new(),
        files: Vec::new(),
        within: String::new(),
        targets: Vec::new(),
        tree: PathBuf::from("target/woven"),
        out: PathBuf::from("target/mutants.json"),
        skip: Vec::new(),
        jobs: 2,
        at_most_s: 10,
        trace_s: 30,
        budget_s: 600,
        only: None,
        tests: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        if flag == "--" {
            asked.tests = arguments.by_ref().collect();
            break;
        }
        if flag == "--help" {
            print!("{HELP}");
            std::process::exit(0);
        }
        let value = arguments
            .next()
            .ok_or(format!("{flag} needs a value\n\n{HELP}"))?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("{flag}: {value} is no number"))
        };
        match flag.as_str() {
            "-p" => asked.packages.push(value),
            "-f" => asked.files.push(value),
            "--in" => asked.within = value,
            "--of" => asked.targets.push(value),
            "--tree" => asked.tree = value.into(),
            "--out" => asked.out = value.into(),
            "--skip" => asked.skip.push(value),
            "--only" => asked.only = Some(value.into()),
            "--jobs" => asked.jobs = number()? as usize,
            "--trace" => asked.trace_s = number()?,
            "--budget" => asked.budget_s = number()?,
            "--at-most" => asked.at_most_s = number()?,
            _ => return Err(format!("{flag} is no flag\n\n{HELP}")),
        }
    }
    if asked.packages.is_empty() || asked.tests.is_empty() {
        return Err(format!("which packages, and which tests?\n\n{HELP}"));
    }
    Ok(asked)
}
