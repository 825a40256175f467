//! What became of each mutant.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::list::{Key, Mutant};

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Outcome {
    /// By this test.
    Caught(String),
    /// This test did not end.
    TimedOut(String),
    /// It does not compile.
    Unviable,
    /// It has no switch: for cargo-mutants itself.
    NotWoven,
    /// No test gets there.
    Unreached,
    /// All tests that get there pass.
    Missed,
}

impl Outcome {
    /// Whether it compiles and no test fails.
    pub fn survives(&self) -> bool {
        matches!(self, Outcome::Unreached | Outcome::Missed)
    }

    fn column(&self) -> usize {
        match self {
            Outcome::Caught(_) => 0,
            Outcome::TimedOut(_) => 1,
            Outcome::Unviable => 2,
            Outcome::NotWoven => 3,
            Outcome::Unreached => 4,
            Outcome::Missed => 5,
        }
    }
}

/// One object per mutant.
pub fn write(file: &Path, mutants: &[Mutant], outcomes: &[Outcome]) -> Result<(), String> {
    let rows: Vec<_> = mutants
        .iter()
        .zip(outcomes)
        .map(|(mutant, outcome)| {
            serde_json::json!({
                "file": mutant.file, "name": mutant.name, "what": mutant.what(),
                "outcome": outcome,
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// The mutants that survived, were late or were not tried, in a file that [`write`] wrote.
pub fn survivors(file: &Path) -> Result<BTreeSet<Key>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_owned();
    let survive = rows.iter().filter(|row| {
        let outcome = row["outcome"].as_str().unwrap_or("");
        let late = row["outcome"].get("TimedOut").is_some();
        late || ["Unreached", "Missed", "NotWoven"].contains(&outcome)
    });
    Ok(survive
        .map(|row| (text(&row["file"]), text(&row["what"])))
        .collect())
}

/// Counts per file.
pub fn table(mutants: &[Mutant], outcomes: &[Outcome]) -> String {
    let mut counts: BTreeMap<&str, [u32; 6]> = BTreeMap::new();
    for (mutant, outcome) in mutants.iter().zip(outcomes) {
        for name in [mutant.file.as_str(), "in all"] {
            counts.entry(name).or_default()[outcome.column()] += 1;
        }
    }
    let mut text = String::from(
        "| file | mutants | caught | timed out | unviable | not woven | not reached | missed |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (name, counts) in counts {
        let _ = write!(text, "| {name} | {} |", counts.iter().sum::<u32>());
        for count in counts {
            let _ = write!(text, " {count} |");
        }
        text.push('\n');
    }
    text
}
