//! Running the real binary.

use assert_cmd::Command;
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

/// Runs `headway` with these arguments, split at spaces, in a folder.
pub(crate) fn headway_in(folder: &std::path::Path, arguments: &str) -> Ran {
    let output = Command::cargo_bin("headway")
        .expect("the binary is built")
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output()
        .expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code().expect("no signal"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Runs `headway` with these arguments, split at spaces.
pub(crate) fn headway(arguments: &str) -> Ran {
    headway_in(std::path::Path::new("."), arguments)
}

/// The JSON that a command prints.
pub(crate) fn json(arguments: &str) -> Value {
    let ran = headway(arguments);
    serde_json::from_str(&ran.out)
        .unwrap_or_else(|error| panic!("{arguments}: {error}\n{}", ran.out))
}
