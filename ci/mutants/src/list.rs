//! The list of `cargo mutants --list --json`.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// One mutant as cargo-mutants describes it.
#[derive(Clone, Debug, Deserialize)]
pub struct Mutant {
    pub file: String,
    pub function: Option<Function>,
    pub genre: Genre,
    pub name: String,
    pub replacement: String,
    pub span: Span,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Function {
    pub return_type: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Genre {
    BinaryOperator,
    FnValue,
    MatchArm,
    MatchArmGuard,
    StructField,
    UnaryOperator,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Span {
    pub start: Position,
}

/// Line and column, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    /// The offset in bytes.
    pub fn offset(self, text: &str) -> usize {
        let line = text.split_inclusive('\n').nth(self.line - 1).unwrap_or("");
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let columns = line.char_indices().nth(self.column - 1);
        start + columns.map_or(line.len(), |(at, _)| at)
    }
}

impl Mutant {
    /// Whether it is a value for a function that returns `impl Trait`: that value and
    /// the function's own are seldom of one type, so no switch can choose.
    pub fn is_opaque(&self) -> bool {
        let opaque = |function: &Function| function.return_type.contains("impl ");
        self.genre == Genre::FnValue && self.function.as_ref().is_some_and(opaque)
    }

    /// The name without line and column, which move.
    pub fn what(&self) -> &str {
        self.name.splitn(4, ':').last().unwrap_or("").trim()
    }
}

/// What a mutant is known by when lines have moved: file, function and change.
pub type Key = (String, String);

impl Mutant {
    pub fn key(&self) -> Key {
        (self.file.clone(), self.what().to_owned())
    }
}

/// Asks cargo-mutants for the mutants of these packages.
pub fn list(packages: &[String], files: &[String]) -> Result<Vec<Mutant>, String> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json"]);
    for package in packages {
        command.args(["-p", package]);
    }
    for file in files {
        command.args(["-f", file]);
    }
    let output = command
        .output()
        .map_err(|error| format!("cargo mutants: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "cargo mutants --list: {said} (cargo install cargo-mutants)"
        ));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo mutants --list: {error}"))
}
