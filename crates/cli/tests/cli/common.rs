//! Running the real binary.

use std::path::Path;

use assert_cmd::Command;
use headway_testkit::schemas;
use serde_json::Value;

/// What a command printed and how it ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The JSON that was printed.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}\n{}{}", self.out, self.err))
    }
}

/// Runs `headway` in a folder with something to read. JSON has to be as its schema says.
pub(crate) fn run_with_input(folder: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    run_with(folder, &[], arguments, input)
}

fn run_with(folder: &Path, variables: &[(&str, &str)], arguments: &[&str], input: &[u8]) -> Ran {
    let output = Command::cargo_bin("headway")
        .expect("the binary is built")
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .envs(variables.iter().copied())
        .args(arguments)
        .write_stdin(input)
        .output()
        .expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let ran = Ran {
        code: output.status.code().expect("no signal"),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    schemas::check(folder, arguments, &ran.out);
    ran
}

/// Runs `headway` in a folder.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    run_with_input(folder, arguments, b"")
}

/// Runs `headway` with these arguments, split at spaces, in a folder.
pub(crate) fn headway_in(folder: &Path, arguments: &str) -> Ran {
    run(folder, &arguments.split_whitespace().collect::<Vec<_>>())
}

/// The same with an environment variable.
pub(crate) fn headway_where(folder: &Path, variable: (&str, &str), arguments: &str) -> Ran {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    run_with(folder, &[variable], &arguments, b"")
}

/// Runs `headway` with these arguments, split at spaces.
pub(crate) fn headway(arguments: &str) -> Ran {
    headway_in(Path::new("."), arguments)
}

/// The JSON that a command prints.
pub(crate) fn json(arguments: &str) -> Value {
    headway(arguments).json()
}
