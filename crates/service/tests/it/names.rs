//! No file of the project uses a name that is refused today.

use std::path::Path;
use std::process::Command;

use headway_service::config::FORMER;

/// What documents do not say either; they are in the sentences of docs/dev/words.md.
const SENTENCES: [&str; 2] = ["whoever", "million million"];

/// Where they may stand: the history, the tables themselves, and what tests that they are refused.
const MAY: &[&str] = &[
    "CHANGELOG.md",
    "crates/cli/tests/it/node.rs",
    "crates/service/src/config/former.rs",
    "crates/service/tests/it/config.rs",
    "crates/service/tests/it/names.rs",
    "docs/dev/decisions.md",
    "docs/dev/words.md",
];

/// The words of the last column of docs/dev/words.md: of every file, and of documents alone.
fn words() -> (Vec<String>, Vec<String>) {
    let text = std::fs::read_to_string(root().join("docs/dev/words.md")).expect("the table");
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    let cells = rows.skip(1).filter_map(|row| row.rsplit('|').next());
    let words = cells.flat_map(|cell| cell.split(',')).map(str::trim);
    let (code, plain): (Vec<&str>, Vec<&str>) = words
        .filter(|word| !word.is_empty())
        .partition(|word| word.starts_with('`'));
    let code = code.iter().map(|word| word.trim_matches('`').to_owned());
    let plain = plain
        .iter()
        .chain(&SENTENCES)
        .map(|word| (*word).to_owned());
    (code.collect(), plain.collect())
}

/// Written by hand, and not about the past.
fn is_document(file: &str) -> bool {
    file.ends_with(".md") && !["docs/json.md", "crates/dashboard/API.md"].contains(&file)
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// How former names are written: a key also as it stands in its section.
fn written() -> Vec<String> {
    let (mut names, _) = words();
    for (name, today) in FORMER {
        match name.split_once('.') {
            // Not a key that has moved to another section, which is a usual word.
            Some((section, key)) if today.starts_with(section) => {
                names.extend([format!("{key} = \""), format!("{key} = \\\"")]);
            }
            None if name.chars().all(char::is_alphanumeric) => {
                names.push(format!("[{name}]"));
                continue;
            }
            _ => {}
        }
        names.push((*name).to_owned());
    }
    names
}

/// The names that a text has as words of their own, in any case.
fn said<'n>(text: &str, names: &'n [String]) -> Vec<&'n str> {
    let text = text.to_lowercase();
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let whole = |at: usize, name: &str| {
        let before = &text[..at];
        // `\n` in a text in quotes is no letter.
        let begins = before.ends_with("\\n") || !before.ends_with(part);
        begins && (name.ends_with(['"', ']']) || !text[at + name.len()..].starts_with(part))
    };
    let has = |name: &&String| text.match_indices(&***name).any(|(at, _)| whole(at, name));
    names.iter().filter(has).map(|name| &**name).collect()
}

#[test]
fn no_tracked_file_has_a_former_name() {
    let root = root();
    let listed = Command::new("git")
        .arg("ls-files")
        .current_dir(&root)
        .output();
    let listed = listed.expect("git lists the files").stdout;
    let listed = String::from_utf8(listed).expect("UTF-8");
    let (names, (_, sentences)) = (written(), words());
    let mut found = Vec::new();
    for file in listed.lines().filter(|file| !MAY.contains(file)) {
        // Pictures are no texts, and a file may be gone.
        if let Ok(text) = std::fs::read_to_string(root.join(file)) {
            let mut wrong = said(&text, &names);
            if is_document(file) {
                wrong.extend(said(&text, &sentences));
            }
            found.extend(wrong.iter().map(|name| format!("{file}: {name}")));
        }
    }
    assert!(
        listed.lines().count() > 500,
        "it looks at the files of the project"
    );
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn counter_test_former_names_are_found_and_todays_are_not() {
    let (names, (_, sentences)) = (written(), words());
    for (text, name) in [("the keeper decides", "keeper"), ("Whoever", "whoever")] {
        assert_eq!(said(text, &sentences), [name], "{text}");
    }
    for (text, name) in [
        ("the keepers decide", "keepers"),
        ("set timing.dwell_most", "timing.dwell_most"),
        ("[timing]\\ngrace = \\\"2s\\\"", "grace = \\\""),
        ("[timing]\nsilence = \"2s\"", "silence = \""),
        ("run `headway node ask --wait`", "node ask"),
        ("GET /v1/roster, and", "/v1/roster"),
        ("a Roll-out", "roll-out"),
        ("config.timing.grace)", "timing.grace"),
    ] {
        assert!(said(text, &names).contains(&name), "{text}");
    }
    for text in [
        "a graceful end",
        "node asked",
        "timing.stop_timeout = \"2s\"",
        "/v1/rosters",
    ] {
        assert_eq!(said(text, &names), Vec::<&str>::new(), "{text}");
    }
}
