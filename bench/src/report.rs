//! docs/dev/performance.md: the latest figures of every area as tables and charts.
//!
//! What was measured last stays in `bench/results.json`, so that one area can be
//! measured alone. The document and the charts are written from that file.

use std::io;
use std::path::{Path, PathBuf};

use crate::AREAS;
use crate::chart;
use crate::table::{Measured, markdown};

/// What stands on one chart, and in one table below it.
const TOPICS: &[(&str, &str, &[&str])] = &[
    (
        "rings",
        "Rounds, forecasts and whole commands",
        &["ring", "forecast", "commands"],
    ),
    (
        "analysis",
        "Sweeps, Petri nets and walks",
        &["experiments", "petri", "walk"],
    ),
    ("check", "Checks", &["check"]),
    (
        "fleet",
        "Nodes, fleets and the page",
        &[
            "node",
            "moving-block",
            "dashboard",
            "service",
            "hand-over",
            "fleetlock",
            "voters",
        ],
    ),
];

const BEGIN: &str = "<!-- From here on headway-bench writes this file. -->\n";

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

/// All rows measured so far, in the order of the areas.
pub(crate) fn load() -> io::Result<Vec<Measured>> {
    let text = std::fs::read_to_string(path("bench/results.json"))?;
    serde_json::from_str(&text).map_err(io::Error::other)
}

/// Puts rows in the place of the older ones of their areas, and writes everything anew.
pub(crate) fn replace(rows: Vec<Measured>) -> io::Result<()> {
    let mut all = load()?;
    let measured: Vec<&str> = rows.iter().map(|row| &*row.area).collect();
    // An area that measured nothing, because a tool is missing, keeps its older rows.
    all.retain(|row| !measured.contains(&&*row.area));
    all.extend(rows);
    all.sort_by_key(|row| AREAS.iter().position(|(area, _)| *area == row.area));
    let lines: Result<Vec<String>, _> = all.iter().map(serde_json::to_string).collect();
    let json = format!("[\n{}\n]\n", lines?.join(",\n"));
    std::fs::write(path("bench/results.json"), json)?;
    write()
}

/// Writes the document's tables and the charts.
pub(crate) fn write() -> io::Result<()> {
    for (name, text) in files(&load()?)? {
        std::fs::write(path(&name), text)?;
    }
    Ok(())
}

/// The document and the charts, by name.
fn files(rows: &[Measured]) -> io::Result<Vec<(String, String)>> {
    let document = std::fs::read_to_string(path("docs/dev/performance.md"))?;
    let Some((by_hand, _)) = document.split_once(BEGIN) else {
        let missing = format!(
            "docs/dev/performance.md: expected the line {}",
            BEGIN.trim_end()
        );
        return Err(io::Error::other(missing));
    };
    let mut text = format!("{by_hand}{BEGIN}");
    let mut files = Vec::new();
    for (name, title, areas) in TOPICS {
        let shown: Vec<&Measured> = rows
            .iter()
            .filter(|row| areas.contains(&&*row.area))
            .collect();
        let chart = format!("images/performance-{name}.svg");
        text += &format!(
            "\n## {title}\n\n![{title}: how far within its goal each row is](../{chart})\n\n"
        );
        text += &markdown(&shown);
        files.push((format!("docs/{chart}"), chart::draw(title, &shown)));
    }
    files.push(("docs/dev/performance.md".to_owned(), text));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_and_its_charts_show_the_rows_on_file() {
        for (name, text) in files(&load().expect("rows")).expect("a document") {
            let kept = std::fs::read_to_string(path(&name)).unwrap_or_default();
            assert!(
                kept == text,
                "{name} is stale: run `cargo run --release -p headway-bench draw`"
            );
        }
    }

    #[test]
    fn every_area_has_its_place() {
        for (area, _) in AREAS {
            let places = TOPICS.iter().filter(|(_, _, areas)| areas.contains(area));
            assert_eq!(places.count(), 1, "{area}");
        }
        for row in load().expect("rows") {
            assert!(
                AREAS.iter().any(|(area, _)| *area == row.area),
                "{}",
                row.row.work
            );
        }
    }

    #[test]
    fn every_missed_goal_is_explained() {
        let document = std::fs::read_to_string(path("docs/dev/performance.md")).expect("it");
        let (by_hand, _) = document.split_once(BEGIN).expect("its beginning");
        let rows = load().expect("rows");
        let missed = rows.iter().filter(|row| row.row.met() == Some(false));
        for row in missed.clone() {
            let name = format!("* **{}**", row.row.work);
            assert!(
                by_hand.contains(&name),
                "why is this goal missed? {}",
                row.row.work
            );
        }
        assert_eq!(
            by_hand.matches("\n* **").count(),
            missed.count(),
            "no longer missed"
        );
    }
}
