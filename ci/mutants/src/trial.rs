//! Every test once without a mutant, to see which switches it asks; then every
//! mutant against the tests that ask for it, the quickest first, up to the first
//! that fails.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::Asked;
use crate::list::Mutant;
use crate::outcome::Outcome;
use crate::tree::{Executable, Tree};

struct Test {
    executable: Executable,
    name: String,
    /// Processor time it takes without a mutant, or more when it was `cut`.
    time: Duration,
    /// It was not watched to its end, so what it takes is not known.
    cut: bool,
    asks: BTreeSet<u32>,
}

pub fn run(
    asked: &Asked,
    mutants: &[Mutant],
    tried: &[bool],
    tree: Tree,
) -> Result<Vec<Outcome>, String> {
    let mut tests = Vec::new();
    let wanted = |executable: &&Executable| {
        asked.targets.is_empty() || asked.targets.contains(&executable.name)
    };
    for executable in tree.executables.iter().filter(wanted) {
        for name in names(executable)? {
            if !asked.skip.iter().any(|skip| name.contains(skip)) {
                tests.push(baseline(asked, executable, name)?);
            }
        }
    }
    tests.sort_by_key(|test| test.time);
    let all: Duration = tests.iter().map(|test| test.time).sum();
    eprintln!("{} tests, {:.1} s", tests.len(), all.as_secs_f64());
    for test in tests.iter().rev().take(8) {
        eprintln!(
            "  {:.1} s{} {}::{}",
            test.time.as_secs_f64(),
            if test.cut { " and more" } else { "" },
            test.executable.name,
            test.name
        );
    }
    let outcomes = Mutex::new(vec![Outcome::NotWoven; mutants.len()]);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..asked.jobs {
            scope.spawn(|| {
                loop {
                    let id = next.fetch_add(1, Ordering::Relaxed);
                    let Some(mutant) = mutants.get(id) else {
                        break;
                    };
                    if !tried[id] {
                        continue;
                    }
                    let outcome = outcome(asked, &tree, &tests, id as u32);
                    if outcome.survives() {
                        eprintln!("{id} of {}: {outcome:?} {}", mutants.len(), mutant.name);
                    }
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes[id] = outcome;
                    }
                }
            });
        }
    });
    outcomes
        .into_inner()
        .map_err(|_| "a thread panicked".to_owned())
}

fn outcome(asked: &Asked, tree: &Tree, tests: &[Test], id: u32) -> Outcome {
    if tree.unviable.contains(&id) {
        return Outcome::Unviable;
    }
    if !tree.woven.contains(&id) {
        return Outcome::NotWoven;
    }
    let mut reached = false;
    let mut spent = Duration::ZERO;
    for test in tests.iter().filter(|test| test.asks.contains(&id)) {
        reached = true;
        if spent > Duration::from_secs(asked.budget_s) {
            break;
        }
        let name = format!("{}::{}", test.executable.name, test.name);
        let at_most = Duration::from_secs(asked.at_most_s);
        // It would not end in time without a mutant either.
        let long = test.cut || test.time >= at_most;
        spent += if long { at_most } else { test.time };
        let more_s = if long { 0 } else { 10 * test.time.as_secs() };
        let id = id.to_string();
        match process(
            &test.executable,
            &test.name,
            &[("MUTANT", &id)],
            asked.at_most_s + more_s,
        ) {
            Ended::Passed => {}
            Ended::Failed => return Outcome::Caught(name),
            Ended::Late if long => {}
            Ended::Late => return Outcome::TimedOut(name),
        }
    }
    if reached {
        Outcome::Missed
    } else {
        Outcome::Unreached
    }
}

fn names(executable: &Executable) -> Result<Vec<String>, String> {
    let output = Command::new(&executable.path)
        .args(["--list", "--format", "terse"])
        .output()
        .map_err(|error| format!("{}: {error}", executable.path))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(str::to_owned).collect())
}

fn baseline(asked: &Asked, executable: &Executable, name: String) -> Result<Test, String> {
    let folder = asked.tree.join(format!("trace/{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let folder = fs::canonicalize(&folder).map_err(|error| error.to_string())?;
    let before = children_time();
    let seconds = asked.trace_s.to_string();
    let trace = [
        ("MUTANT_TRACE", folder.to_str().unwrap_or("")),
        ("MUTANT_TRACE_S", &seconds),
    ];
    match process(executable, &name, &trace, 10 * asked.trace_s) {
        Ended::Passed => {}
        _ => {
            return Err(format!(
                "{}::{name} fails without a mutant",
                executable.name
            ));
        }
    }
    let time = children_time().saturating_sub(before);
    let (asks, cut) = traced(&folder).map_err(|error| error.to_string())?;
    Ok(Test {
        executable: executable.clone(),
        name,
        time,
        cut,
        asks,
    })
}

/// Processor time of all children that have ended.
fn children_time() -> Duration {
    #[repr(C)]
    struct Usage {
        user: [i64; 2],
        system: [i64; 2],
        others: [i64; 14],
    }
    unsafe extern "C" {
        fn getrusage(who: i32, usage: *mut Usage) -> i32;
    }
    const CHILDREN: i32 = -1;
    let mut usage = Usage {
        user: [0; 2],
        system: [0; 2],
        others: [0; 14],
    };
    // SAFETY: `usage` is laid out as Linux lays out `struct rusage` on 64 bits, two
    // times of two words and fourteen words, and lives until the call returns.
    let _ = unsafe { getrusage(CHILDREN, &raw mut usage) };
    let time = |[seconds, micros]: [i64; 2]| {
        Duration::from_secs(seconds as u64) + Duration::from_micros(micros as u64)
    };
    time(usage.user) + time(usage.system)
}

/// What the test's processes have left, and whether one was cut short.
fn traced(folder: &Path) -> std::io::Result<(BTreeSet<u32>, bool)> {
    let mut asked = BTreeSet::new();
    let mut cut = false;
    for file in fs::read_dir(folder)? {
        let text = fs::read_to_string(file?.path())?;
        asked.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
        cut |= text.lines().any(|line| line == "cut");
    }
    Ok((asked, cut))
}

enum Ended {
    Passed,
    Failed,
    Late,
}

/// One test in a process of its own, with at most so many seconds of processor time
/// (a busy machine, or one that stops this process for a while, makes no difference) and
/// 4 GiB of memory; what only waits, without using the processor, is late after a minute.
///
/// A test with threads of its own may go on long after one of them has failed; so
/// what panics has failed. (No test here panics and passes.)
fn process(
    executable: &Executable,
    test: &str,
    variables: &[(&str, &str)],
    processor_s: u64,
) -> Ended {
    let limits = format!("ulimit -t {processor_s} -v 4194304; exec \"$@\"");
    let child = Command::new("bash")
        .args([
            "-c",
            &limits,
            "test",
            &executable.path,
            "--exact",
            test,
            "--test-threads",
            "1",
            "--nocapture",
        ])
        .current_dir(&executable.folder)
        .envs(variables.iter().copied())
        .env("CARGO_MANIFEST_DIR", &executable.folder)
        .env("PROPTEST_MAX_SHRINK_ITERS", "0")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return Ended::Failed;
    };
    let panicked = Arc::new(AtomicBool::new(false));
    if let Some(stderr) = child.stderr.take() {
        let panicked = Arc::clone(&panicked);
        std::thread::spawn(move || look_for_panics(stderr, &panicked));
    }
    let mut pause = Duration::from_millis(1);
    let mut waited = Duration::ZERO;
    let mut used = None;
    loop {
        let panicked = panicked.load(Ordering::Relaxed);
        match child.try_wait() {
            Ok(Some(status)) => return ended(status),
            Ok(None) if !panicked && waited < MOST_WAITED => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(50));
                waited += pause;
                let now = processor_ticks_unless_stopped(child.id());
                if now.is_none() || now != used {
                    waited = Duration::ZERO;
                    used = now;
                }
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return if panicked { Ended::Failed } else { Ended::Late };
            }
        }
    }
}

const MOST_WAITED: Duration = Duration::from_secs(60);

/// Processor time of a process so far, in the kernel's ticks; nothing while it is stopped
/// by a signal.
fn processor_ticks_unless_stopped(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which may have anything in it: the state, and eleven and twelve
    // fields later the ticks in user mode and in the kernel.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
    (*fields.first()? != "T").then_some(ticks(11)? + ticks(12)?)
}

fn ended(status: ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    // SIGXCPU, or SIGKILL when that was not enough.
    match status.signal() {
        Some(24 | 9) => Ended::Late,
        _ if status.success() => Ended::Passed,
        _ => Ended::Failed,
    }
}

fn look_for_panics(stderr: ChildStderr, panicked: &AtomicBool) {
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        if String::from_utf8_lossy(&line).contains("panicked at") {
            panicked.store(true, Ordering::Relaxed);
        }
    }
}
