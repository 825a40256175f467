//! `headway sweep` and `headway experiment`.

use headway_testkit::tier::pick;

use crate::common::{Place, headway};

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
    let place = Place::new();
    let samples = pick("--samples 50", "", "");
    place.told(&format!("experiment paper {samples}"));
    let results = place.path().join("headway-paper");
    assert_eq!(rows(&place.read("headway-paper/cells.csv")).len(), 469);
    for graph in 1..=4 {
        assert!(results.join(format!("graph-{graph}.svg")).is_file());
    }
    let report = place.read("headway-paper/report.html");
    assert_eq!(report.matches("<figure>").count(), 4);
    assert_eq!(report.matches("class=\"finding\"").count(), 5);
    let own = !report.contains("src=\"http") && !report.contains("<link");
    assert!(own, "self-contained");
    let again = "experiment paper -o again --threads 1 --engine lock-step";
    place.told(&format!("{again} {samples}"));
    assert_eq!(
        place.read("headway-paper/cells.csv"),
        place.read("again/cells.csv"),
        "lock-step on one thread gives the same file"
    );
}

#[test]
fn a_sample_can_be_shown_and_run() {
    let place = Place::new();
    // The first is drawn many at a time, the second, because of its delays, one by one.
    for delays in ["4", "every:9"] {
        let ring = "--processes 40 --tokens 3 --separation 9 --samples 5";
        let sweep = format!("sweep {ring} --delays {delays}");
        place.told(&format!("{sweep} --rows samples --overwrite"));
        let samples = rows(&place.read("headway-sweep/samples.csv"));
        assert_eq!(samples.len(), 5);
        for sample in samples {
            let which = format!("{}/{}", sample["cell"], sample["sample"]);
            let shown = place.told(&format!("{sweep} --show {which}"));
            place.write("state.json", &shown);
            let replayed = place.json("run --start state.json");
            let legitimate_at = replayed["legitimate_at"].to_string();
            assert_eq!(legitimate_at, sample["legitimate_at"], "{replayed}");
        }
    }
    place.refused(&[
        (
            "sweep --samples 5 --show 7/0",
            "no cell 7; the sweep has cells 0 to 0",
        ),
        ("sweep --samples 5 --show 0/5", "a cell has samples 0 to 4"),
        ("sweep --samples 5 --show 5", "such as 3/17"),
    ]);
}

#[test]
fn parts_resume_and_merge() {
    let place = Place::new();
    let sweep = "sweep --tokens 1 2 3 --delays 1 all --samples 20";
    for part in ["-o whole", "--shard 1/2 -o one", "--shard 2/2 -o two"] {
        place.told(&format!("{sweep} {part}"));
    }
    place.told("sweep merge one two -o joined");
    let joined = place.read("joined/cells.csv");
    assert_eq!(joined, place.read("whole/cells.csv"));
    place.refused(&[
        ("sweep merge one -o lonely", "3 of 6 cells are missing"),
        ("sweep merge one two -o joined", "holds results already"),
    ]);
    // A journal that was cut off: refused as it is, finished with --resume.
    let text = place.read("whole/cells.jsonl");
    let cut: Vec<&str> = text.lines().take(3).collect();
    let cut = format!("{}\n{{\"ce", cut.join("\n"));
    place.write("whole/cells.jsonl", &cut);
    let other = format!("{sweep} --seed 7 --resume -o whole");
    place.refused(&[
        (&format!("{sweep} -o whole"), "--resume"),
        (&other, "its seed is 2009, not 7"),
    ]);
    place.told(&format!("{sweep} --resume -o whole"));
    assert_eq!(place.read("whole/cells.csv"), joined);
}

#[test]
fn mistakes_say_where() {
    let place = Place::new();
    place.write(
        "wrong.toml",
        "name = \"w\"\nmeasure = [\"waits\"]\n[[grid]]\ntokens = \"x/2\"\n",
    );
    place.refused(&[
        (
            "experiment wrong.toml",
            "wrong.toml:4:10: grid.tokens: 'x/2'",
        ),
        ("experiment nothing", "unknown experiment 'nothing'"),
        ("experiment nowhere.toml", "cannot read nowhere.toml"),
        ("sweep --separation 0", "--separation: 0 is out of range"),
        ("sweep --measure joy", "--measure: there is no 'joy'"),
        ("sweep --shard 3/2", "I from 1 to K"),
        ("sweep --x height", "--x: expected an axis"),
        ("sweep wrong.toml --tokens 3", "--tokens contradicts"),
        ("sweep merge nowhere -o x", "holds no results"),
    ]);
    assert_eq!(headway("experiment").code, 0);
}
