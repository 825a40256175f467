//! Sweep files and journals that are no longer what they were: refused with a place,
//! or read the same way every time.

use std::fs;

use headway_lab::journal::{CELLS, Journal, ResultsFolder, Shard};
use headway_lab::{Sweep, shipped, sweep};
use headway_sim::seed::{Purpose, Random};
use headway_testkit::{damage, tier};

#[test]
fn a_damaged_sweep_is_refused_or_read() {
    let sweeps = tier::pick(500, 6_000, 60_000);
    let (mut read, mut refused) = (0, 0);
    for seed in 0..sweeps {
        let mut random = Random::new(seed, Purpose::Start);
        let (_, sample) = shipped::EXPERIMENTS[seed as usize % shipped::EXPERIMENTS.len()];
        let bytes = damage::damaged(sample.as_bytes(), &mut |bound| random.index(bound));
        let text = String::from_utf8_lossy(&bytes);
        match Sweep::parse(&text) {
            Ok(sweep) => {
                read += 1;
                assert!(!sweep.cells.is_empty(), "{text}");
                let again = Sweep::parse(&text).unwrap();
                assert_eq!(again.fingerprint(), sweep.fingerprint(), "{text}");
            }
            Err(error) => {
                refused += 1;
                let (line, column) = error.line_and_column(&text);
                let lines = text.lines().count() + 1;
                assert!((1..=lines).contains(&line), "{error}\n{text}");
                assert!(column >= 1 && !error.message.is_empty(), "{error}\n{text}");
            }
        }
    }
    assert!(
        read > sweeps / 100 && refused > sweeps / 100,
        "{read} {refused}"
    );
}

#[test]
fn a_damaged_journal_is_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"small\"\nsamples = 3\nmeasure = [\"legitimate_at\"]\n\
                [[grid]]\nprocesses = 8\ntokens = [1, 2]\ndelays = 2\n";
    let sweep = Sweep::parse(text).unwrap();
    let mut journal = Journal::create(folder.path(), &sweep, Shard::WHOLE).unwrap();
    for cell in sweep::run_all(&sweep, 1).unwrap() {
        journal.append(&cell).unwrap();
    }
    drop(journal);
    let path = folder.path().join(CELLS);
    let whole = fs::read(&path).unwrap();
    let part = ResultsFolder::read(folder.path()).unwrap().unwrap();
    assert!(part.complete() && part.sweep().is_ok());
    let journals = tier::pick(2_000, 20_000, 200_000);
    let (mut read, mut refused) = (0, 0);
    for seed in 0..journals {
        let mut random = Random::new(seed, Purpose::Start);
        let bytes = damage::damaged(&whole, &mut |bound| random.index(bound));
        damage::overwrite(&path, &bytes).unwrap();
        let part = match ResultsFolder::read(folder.path()) {
            Ok(part) => part.expect("there is a file"),
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        read += 1;
        // What it says of itself, whatever that is, and whether it fits the sweep.
        let _ = part.complete();
        if let Ok(sweep) = part.sweep() {
            assert!(
                part.cells
                    .keys()
                    .all(|&cell| (cell as usize) < sweep.cells.len())
            );
        }
    }
    assert!(
        read > journals / 100 && refused > journals / 100,
        "{read} {refused}"
    );
}
