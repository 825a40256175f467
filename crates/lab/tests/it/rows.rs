//! The same rows by forecast and by lock-step, with one thread and with many,
//! in one go, in parts, and interrupted.

use std::fs;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use headway_lab::journal::{self, CELLS, Journal, ResultsFolder, SAMPLES, Shard};
use headway_lab::model::Engine;
use headway_lab::sweep::{self, CellResult, Options, SweepEvent};
use headway_lab::{Sweep, table};
use proptest::prelude::*;

fn parse(text: &str) -> Sweep {
    Sweep::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Finished cells, and every sample if there are rows for them.
type Results = (Vec<CellResult>, Vec<(u32, Vec<Option<i64>>)>);

fn run_with(sweep: &Sweep, engine: Engine, threads: usize) -> Results {
    let options = Options {
        threads: NonZeroUsize::new(threads),
        engine,
        cells: None,
    };
    let (mut cells, mut samples) = (Vec::new(), Vec::new());
    let done = sweep::run(sweep, &options, &AtomicBool::new(false), |event| {
        match event {
            SweepEvent::Samples(_) => {}
            SweepEvent::Rows(more) => {
                let before = samples.iter().filter(|(cell, _)| *cell == more.cell);
                assert_eq!(more.first, before.count() as u64, "rows come in order");
                samples.extend(more.rows.into_iter().map(|row| (more.cell, row)));
            }
            SweepEvent::Cell(cell) => cells.push(cell),
        }
        Ok(())
    });
    assert_eq!(done, Ok(true));
    let rows = if sweep.sample_rows {
        cells.len() as u64 * sweep.samples
    } else {
        0
    };
    assert_eq!(samples.len() as u64, rows);
    (cells, samples)
}

const EVERYTHING: &str = r#"
name = "everything"
samples = 12
rows = "samples"
measure = ["legitimate_at", "last_rest", "recovery", "waits", "closest_before", "closest_after",
           "visits_fewest", "visits_most", "worst_last_rest", "of_worst", "at_worst", "flow",
           "density", "widest_gap", "turns", "speed"]
percentiles = [50]
"#;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn forecast_and_lock_step_give_the_same_rows(
        n in 2u32..26,
        m in 1u32..7,
        d in 1u32..9,
        delays in prop::sample::select(vec!["all", "1", "2", "n/2", "even:2", "every:3"]),
        start in prop::sample::select(vec!["random", "piled", "spaced"]),
        seed in any::<u32>(),
    ) {
        let text = format!(
            "{EVERYTHING}\nseed = {seed}\n[[grid]]\nprocesses = {n}\ntokens = {m}\n\
             separation = {d}\ndelays = \"{delays}\"\nstart = \"{start}\"\n"
        );
        let sweep = parse(&text);
        prop_assert_eq!(
            run_with(&sweep, Engine::Auto, 1),
            run_with(&sweep, Engine::LockStep, 1)
        );
    }

    #[test]
    fn so_they_do_for_sheets_of_rings_at_once(
        n in 2u32..70,
        m in 1u32..12,
        tenths in 1u32..11,
        delays in 1u32..70,
        seed in any::<u32>(),
    ) {
        // From hardly any separation to all that there is room for.
        let d = (n * tenths / 10 / m).max(1);
        let delays = delays.min(n);
        let text = format!(
            "name = \"sheets\"\nsamples = 150\nrows = \"samples\"\nseed = {seed}\n\
             measure = [\"legitimate_at\", \"last_rest\", \"recovery\", \"worst_last_rest\",\n\
             \"of_worst\", \"at_worst\", \"widest_gap\", \"turns\"]\n[[grid]]\n\
             processes = {n}\ntokens = {m}\nseparation = {d}\ndelays = {delays}\n"
        );
        let sweep = parse(&text);
        prop_assert_eq!(
            run_with(&sweep, Engine::Auto, 1),
            run_with(&sweep, Engine::LockStep, 1)
        );
    }

    #[test]
    fn so_they_do_after_a_fault_to_the_initial_state(
        n in 6u32..30,
        m in 1u32..5,
        percent in 1u32..101,
        delays in prop::sample::select(vec!["all", "1", "n/2"]),
        start in prop::sample::select(vec!["random", "spaced"]),
        seed in any::<u32>(),
    ) {
        let text = format!(
            "name = \"struck\"\nsamples = 12\nrows = \"samples\"\nseed = {seed}\n\
             measure = [\"recovery\", \"legitimate_at\", \"last_rest\"]\n[[grid]]\n\
             processes = {n}\ntokens = {m}\ndelays = \"{delays}\"\nstart = \"{start}\"\n\
             fault = [\"scramble:{percent}%@0\", \"pile@0\", \"scramble@0 + pile@0\"]\n"
        );
        let sweep = parse(&text);
        prop_assert_eq!(
            run_with(&sweep, Engine::Auto, 1),
            run_with(&sweep, Engine::LockStep, 1)
        );
    }
}

/// More samples than a unit holds, and cells of unequal cost.
const UNEVEN: &str = r#"
name = "uneven"
samples = 700
measure = ["legitimate_at", "waits"]
percentiles = [50, 99]
[[grid]]
processes = [5, 60]
tokens = [1, 2]
delays = [1, "all"]
"#;

#[test]
fn the_number_of_threads_does_not_matter() {
    for rows in ["", "rows = \"samples\"\n"] {
        let sweep = parse(&format!("{rows}{UNEVEN}"));
        let alone = run_with(&sweep, Engine::Auto, 1);
        assert_eq!(alone.0.len(), 8);
        assert_eq!(alone, run_with(&sweep, Engine::Auto, 2));
        assert_eq!(alone, run_with(&sweep, Engine::Auto, 7));
    }
}

#[test]
fn another_seed_gives_other_rows() {
    let mut sweep = parse(UNEVEN);
    let before = run_with(&sweep, Engine::Auto, 2);
    sweep.seed += 1;
    assert_ne!(before, run_with(&sweep, Engine::Auto, 2));
}

/// Runs cells into a folder until `stop_after` of them are finished.
fn run_into(sweep: &Sweep, journal: &mut Journal, cells: Vec<u32>, stop_after: usize) -> bool {
    let options = Options {
        threads: NonZeroUsize::new(2),
        engine: Engine::Auto,
        cells: Some(cells),
    };
    let stop = AtomicBool::new(stop_after == 0);
    let mut finished = 0;
    sweep::run(sweep, &options, &stop, |event| {
        match event {
            SweepEvent::Rows(rows) if finished < stop_after => {
                journal.append_rows(sweep, &rows).unwrap();
            }
            SweepEvent::Cell(cell) if finished < stop_after => {
                journal.append(&cell).unwrap();
                finished += 1;
                stop.store(finished == stop_after, Ordering::Relaxed);
            }
            _ => {}
        }
        Ok(())
    })
    .unwrap()
}

fn csv(sweep: &Sweep, cells: impl IntoIterator<Item = CellResult>) -> String {
    let mut out = Vec::new();
    table::write_header(&mut out, &table::cell_columns(sweep)).unwrap();
    for cell in cells {
        table::write_row(&mut out, &table::cell_row(sweep, &cell)).unwrap();
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn interrupted_and_resumed_is_as_if_nothing_had_happened() {
    let sweep = parse(&format!("rows = \"samples\"\n{UNEVEN}"));
    let all: Vec<u32> = (0..8).collect();
    let whole = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(whole.path(), &sweep, Shard::WHOLE).unwrap();
    assert!(run_into(&sweep, &mut journal, all.clone(), usize::MAX));

    let broken = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(broken.path(), &sweep, Shard::WHOLE).unwrap();
    run_into(&sweep, &mut journal, all, 3);
    // As after a power cut: half a line, and rows of a cell that is not finished.
    let append = |file: &str, text: &str| {
        let path = broken.path().join(file);
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before + text).unwrap();
    };
    append(CELLS, "{\"cell\":3,\"summ");
    append(SAMPLES, "uneven,0.1.0,3,grid,5,2");

    let part = ResultsFolder::read(broken.path()).unwrap().unwrap();
    assert_eq!(part.cells.len(), 3);
    assert!(!part.complete());
    let rest = (0..8)
        .filter(|cell| !part.cells.contains_key(cell))
        .collect();
    let mut journal = Journal::resume(&part, &sweep).unwrap();
    assert!(run_into(&sweep, &mut journal, rest, usize::MAX));
    for file in [CELLS, SAMPLES] {
        let read =
            |folder: &tempfile::TempDir| fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!(read(&whole), read(&broken), "{file}");
    }
}

fn shard(sweep: &Sweep, part: u32, parts: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let shard = Shard { part, parts };
    let mut journal = Journal::create(folder.path(), sweep, shard).unwrap();
    let cells = (0..sweep.cells.len() as u32)
        .filter(|&cell| shard.has(cell))
        .collect();
    assert!(run_into(sweep, &mut journal, cells, usize::MAX));
    folder
}

fn read(folders: &[&tempfile::TempDir]) -> Vec<ResultsFolder> {
    let read = |folder: &&tempfile::TempDir| ResultsFolder::read(folder.path()).unwrap().unwrap();
    folders.iter().map(read).collect()
}

#[test]
fn merged_parts_are_the_whole() {
    let sweep = parse(&format!("rows = \"samples\"\n{UNEVEN}"));
    let whole = shard(&sweep, 1, 1);
    let (one, two, three) = (
        shard(&sweep, 1, 3),
        shard(&sweep, 2, 3),
        shard(&sweep, 3, 3),
    );
    let out = tempfile::tempdir().unwrap();
    let (merged, cells) = journal::merge(&read(&[&three, &one, &two]), out.path()).unwrap();
    let expected = read(&[&whole]).remove(0).cells.into_values();
    assert_eq!(csv(&merged, cells), csv(&sweep, expected));
    let samples =
        |folder: &tempfile::TempDir| fs::read_to_string(folder.path().join(SAMPLES)).unwrap();
    assert_eq!(samples(&out), samples(&whole));
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let sweep = parse(UNEVEN);
    let mut other = parse(UNEVEN);
    other.seed = 5;
    let finer = parse(&UNEVEN.replace("[5, 60]", "[5, 61]"));
    let (one, two) = (shard(&sweep, 1, 2), shard(&sweep, 2, 2));
    let out = tempfile::tempdir().unwrap();
    let refusal = |parts: &[&tempfile::TempDir]| match journal::merge(&read(parts), out.path()) {
        Ok(_) => panic!("merged"),
        Err(error) => error.to_string(),
    };
    assert!(refusal(&[&one, &shard(&other, 2, 2)]).contains("its seed is 5, not 2009"));
    assert!(refusal(&[&one, &shard(&finer, 2, 2)]).contains("its grid"));
    assert!(refusal(&[&one]).contains("4 of 8 cells are missing, the first is cell 1"));
    assert!(refusal(&[&one, &two, &shard(&sweep, 1, 4)]).contains("cell 0 is in"));
    assert!(refusal(&[]).contains("no parts"));
    assert!(!out.path().join(CELLS).exists(), "nothing is written");
}
