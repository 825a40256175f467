//! Running the real program.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use headway_testkit::schemas;
use serde_json::Value;

/// The program, for who cannot wait until it ends. What it prints is not compared with its schema.
pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_headway")
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the repository.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// An empty folder.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The first three numbers of loopback addresses that no other process uses.
pub(crate) fn network() -> String {
    let pid = std::process::id();
    format!("127.{}.{}", 1 + pid / 250 % 250, 1 + pid % 250)
}

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

/// Runs `headway` in a folder with something to read, after variables (`A=B`) as in a shell.
/// JSON has to be as its schema says.
pub(crate) fn run_with_input(folder: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    let is_variable = |word: &&str| word.starts_with("HEADWAY_");
    let variables = arguments
        .iter()
        .take_while(|word| is_variable(word))
        .count();
    let (variables, arguments) = arguments.split_at(variables);
    let output = Command::new(program())
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .envs(variables.iter().filter_map(|word| word.split_once('=')))
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
    assert!(!ran.err.contains("panicked"), "{arguments:?}: {}", ran.err);
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

/// Runs `headway` with these arguments, split at spaces.
pub(crate) fn headway(arguments: &str) -> Ran {
    headway_in(Path::new("."), arguments)
}

/// The JSON that a command prints.
pub(crate) fn json(arguments: &str) -> Value {
    headway(arguments).json()
}

/// A folder in which commands are run one after the other.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Place {
        Place(folder())
    }

    /// One with the examples of the repository.
    pub(crate) fn with_examples() -> Place {
        let place = Place::new();
        let examples = place.path().join("examples");
        std::os::unix::fs::symlink(root().join("examples"), examples).expect("a link");
        place
    }

    /// Writes a node's configuration, and the key pairs of that node and two others.
    pub(crate) fn init_node(&self, file: &str) {
        init_node(self.path(), file);
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path().join(name));
        text.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command that ends with this code.
    #[track_caller]
    pub(crate) fn run(&self, code: i32, arguments: &str) -> Ran {
        let ran = headway_in(self.path(), arguments);
        assert_eq!(ran.code, code, "{arguments}: {}{}", ran.out, ran.err);
        ran
    }

    /// What a command prints that ends with 0.
    #[track_caller]
    pub(crate) fn told(&self, arguments: &str) -> String {
        self.run(0, arguments).out
    }

    /// The JSON of a command that ends with 0.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &str) -> Value {
        self.run(0, &format!("{arguments} --format json")).json()
    }

    #[track_caller]
    pub(crate) fn refused(&self, cases: &[(&str, &str)]) {
        refused(self.path(), cases);
    }
}

/// All parts are in a text.
#[track_caller]
pub(crate) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

/// Each command ends with 2, prints nothing, and says what is wrong in words for everybody.
#[track_caller]
pub(crate) fn refused(folder: &Path, cases: &[(&str, &str)]) {
    for (arguments, says) in cases {
        let ran = headway_in(folder, arguments);
        let told = format!("{arguments} has to say `{says}`:\n{}{}", ran.out, ran.err);
        assert!(ran.code == 2 && ran.out.is_empty(), "{told}");
        let said = ran.err.starts_with("error: ") && ran.err.contains(says);
        assert!(said, "{told}");
        for rust in ["non-zero type", "target type", "literal", "invalid digit"] {
            assert!(!ran.err.contains(rust), "{told}");
        }
        assert!(!ran.err.contains("os error"), "{told}");
    }
}

/// Waits until there is something, for a minute at most; what there is instead is shown.
pub(crate) fn until<T>(mut look: impl FnMut() -> Result<T, String>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(why) => assert!(began.elapsed() < Duration::from_secs(60), "{why}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Writes the configuration of a node that keeps everything here, and the key pairs of that node and
/// two others.
pub(crate) fn init_node(folder: &Path, file: &str) {
    let run = |arguments: &str| {
        let ran = headway_in(folder, arguments);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.trim().to_owned()
    };
    let member = |(at, file): (u32, &str)| {
        let key = run(&format!("node identity {file}"));
        let name = ["a", "b", "c"][at as usize];
        format!(" --member {name}=192.0.2.{}:7400={key}", at + 1)
    };
    let members: String = (0..)
        .zip(["identity", "b.identity", "c.identity"])
        .map(member)
        .collect();
    run(&format!("node init {file}{members}"));
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).expect("written");
    let state = "state_dir = \"/var/lib/headway\"";
    assert!(text.contains(state), "{text}");
    std::fs::write(path, text.replace(state, "state_dir = \".\"")).expect("written");
}
