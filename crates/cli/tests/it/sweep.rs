//! `headway sweep` and `headway experiment`.

use std::path::Path;

use headway_testkit::tier::pick;

use crate::common::{folder, headway, headway_in, refused};

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The rows of a table, as fields by column.
fn rows(csv: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut lines = csv.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().unwrap().collect();
    let row = |fields: std::str::Split<'_, char>| {
        let named = names.iter().map(|name| (*name).to_owned());
        named.zip(fields.map(str::to_owned)).collect()
    };
    lines.map(row).collect()
}

#[test]
fn the_paper_in_one_command() {
    let folder = folder();
    let samples = pick("--samples 50", "", "");
    let ran = headway_in(folder.path(), &format!("experiment paper {samples}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let results = folder.path().join("headway-paper");
    assert_eq!(rows(&read(&results, "cells.csv")).len(), 469);
    for graph in 1..=4 {
        for suffix in [".svg", "-dark.svg", ".png", "-dark.png"] {
            assert!(results.join(format!("graph-{graph}{suffix}")).is_file());
        }
    }
    let report = read(&results, "report.html");
    assert_eq!(report.matches("<picture>").count(), 4);
    assert_eq!(report.matches("class=\"finding\"").count(), 5);
    assert!(
        !report.contains("src=\"http") && !report.contains("<link"),
        "self-contained"
    );
    let again = "experiment paper -o again --threads 1 --engine lock-step";
    let same = headway_in(folder.path(), &format!("{again} {samples}"));
    assert_eq!(same.code, 0, "{}", same.err);
    assert_eq!(
        read(&results, "cells.csv"),
        read(&folder.path().join("again"), "cells.csv"),
        "lock-step on one thread gives the same file"
    );
}

#[test]
fn a_sample_can_be_shown_and_run() {
    let folder = folder();
    // The first is drawn many at a time, the second, because of its delays, one by one.
    for delays in ["4", "every:9"] {
        let sweep = format!("sweep --processes 40 --tokens 3 --separation 9 --delays {delays}");
        let ran = headway_in(
            folder.path(),
            &format!("{sweep} --samples 5 --rows samples --overwrite"),
        );
        assert_eq!(ran.code, 0, "{}", ran.err);
        let samples = rows(&read(&folder.path().join("headway-sweep"), "samples.csv"));
        assert_eq!(samples.len(), 5);
        for sample in samples {
            let which = format!("{}/{}", sample["cell"], sample["sample"]);
            let shown = headway_in(
                folder.path(),
                &format!("{sweep} --samples 5 --show {which}"),
            );
            assert_eq!(shown.code, 0, "{}", shown.err);
            let state = folder.path().join("state.json");
            std::fs::write(&state, &shown.out).unwrap();
            let replayed =
                crate::common::json(&format!("run --start {} --format json", state.display()));
            let legitimate_at = replayed["legitimate_at"].to_string();
            assert_eq!(legitimate_at, sample["legitimate_at"], "{replayed}");
        }
    }
    let show = "sweep --samples 5 --show";
    refused(
        folder.path(),
        &[
            (
                &format!("{show} 7/0"),
                "there is no cell 7; the sweep has cells 0 to 0",
            ),
            (&format!("{show} 0/5"), "a cell has samples 0 to 4"),
            (&format!("{show} 5"), "such as 3/17"),
        ],
    );
}

#[test]
fn parts_resume_and_merge() {
    let folder = folder();
    let sweep = "sweep --tokens 1 2 3 --delays 1 all --samples 20";
    for part in ["-o whole", "--shard 1/2 -o one", "--shard 2/2 -o two"] {
        assert_eq!(
            headway_in(folder.path(), &format!("{sweep} {part}")).code,
            0
        );
    }
    let merged = headway_in(folder.path(), "sweep merge one two -o joined");
    assert_eq!(merged.code, 0, "{}", merged.err);
    let csv = |name: &str| read(&folder.path().join(name), "cells.csv");
    assert_eq!(csv("joined"), csv("whole"));

    refused(
        folder.path(),
        &[
            ("sweep merge one -o lonely", "3 of 6 cells are missing"),
            ("sweep merge one two -o joined", "holds results already"),
        ],
    );
    // A journal that was cut off: refused as it is, finished with --resume.
    let journal = folder.path().join("whole/cells.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let cut: Vec<&str> = text.lines().take(3).collect();
    std::fs::write(&journal, format!("{}\n{{\"ce", cut.join("\n"))).unwrap();
    let other = format!("{sweep} --seed 7 --resume -o whole");
    refused(
        folder.path(),
        &[
            (&format!("{sweep} -o whole"), "--resume"),
            (&other, "its seed is 2009, not 7"),
        ],
    );
    let before = csv("joined");
    assert_eq!(
        headway_in(folder.path(), &format!("{sweep} --resume -o whole")).code,
        0
    );
    assert_eq!(csv("whole"), before);
}

#[test]
fn mistakes_say_where() {
    let folder = folder();
    std::fs::write(
        folder.path().join("wrong.toml"),
        "name = \"w\"\nmeasure = [\"waits\"]\n[[grid]]\ntokens = \"x/2\"\n",
    )
    .unwrap();
    refused(
        folder.path(),
        &[
            (
                "experiment wrong.toml",
                "wrong.toml:4:10: grid.tokens: 'x/2'",
            ),
            ("experiment nothing", "there is no experiment 'nothing'"),
            ("experiment nowhere.toml", "cannot read nowhere.toml"),
            ("sweep --separation 0", "--separation: 0 is out of range"),
            ("sweep --measure joy", "--measure: there is no 'joy'"),
            ("sweep --shard 3/2", "I from 1 to K"),
            ("sweep --x height", "--x: expected an axis"),
            ("sweep wrong.toml --tokens 3", "--tokens contradicts"),
            ("sweep merge nowhere -o x", "holds no results"),
        ],
    );
    assert_eq!(headway("experiment").code, 0);
}
