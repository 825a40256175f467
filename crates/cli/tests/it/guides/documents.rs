//! The commands of the documents that stand there without what they print: none may be
//! refused, and the tests and examples that are named exist.

use std::path::{Path, PathBuf};
use std::process::Command;

use headway_testkit::tools;

use super::text::{Block, blocks};
use super::{check_pictures, workplace};
use crate::common::{read, root, run_with_input};

/// Documents whose commands are run, or at least known. The README, the tutorial, the guides
/// and `docs/operators` are read by tests of their own.
const DOCUMENTS: &[&str] = &[
    "crates/cli/README.md",
    "docs/research/check.md",
    "docs/dashboard.md",
    "docs/research/forecast.md",
    "docs/dev/node.md",
    "docs/research/petri.md",
    "docs/research/walks.md",
    "docs/research/worst-case.md",
];

/// Commands that are not run, because they end by Ctrl-C only.
const NOT_RUN: &[&str] = &[
    "headway serve --open",
    "headway serve --listen 0.0.0.0:7007 --secret-file secret",
];

/// Commands that a document shows because they are refused.
const REFUSED: &[&str] = &["headway ring --nodes 10 --tokens 4 --separation 2"];

#[test]
fn every_command_of_the_other_documents() {
    let mut left = NOT_RUN.to_vec();
    let mut run = 0;
    for document in DOCUMENTS {
        let text = read(document);
        let directory = workplace();
        for (line, command) in commands(&text) {
            if NOT_RUN.contains(&&*command) {
                left.retain(|other| *other != command);
                continue;
            }
            let refused = i32::from(REFUSED.contains(&&*command)) * 2;
            for part in command.split(" && ") {
                run += 1;
                let (code, told) = try_out(part, directory.path());
                let fine = if refused == 2 { code == 2 } else { code < 2 };
                assert!(
                    fine,
                    "{document}, line {line}: $ {part}\nexit code {code}: {told}"
                );
            }
        }
        check_pictures(&text, directory.path());
    }
    assert!(left.is_empty(), "no document says {left:?} any more");
    assert!(run >= 30, "{run} commands");
}

/// Lines that are commands, in blocks of any kind: what comes after `$ `, or begins with
/// `headway`, up to a remark.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let indented = line.starts_with("    ");
        let line = line.trim_start();
        let line = line.strip_prefix("$ ").unwrap_or(line);
        // A line of the page's sentences about headway has no command in it.
        let named = line == "headway" || line.starts_with("headway ");
        if (fenced || indented) && named && !line.starts_with("headway (") {
            let command = line.split("  ").next().unwrap_or(line);
            let command = command.split(" #").next().unwrap_or(command);
            found.push((index + 1, command.trim_end().to_owned()));
        }
    }
    found
}

/// Its exit code, and what it says on standard error. A ring ends when it is told to.
fn try_out(command: &str, directory: &Path) -> (i32, String) {
    // What the shell would do with `> file` matters to no later command here.
    let command = command.split(" > ").next().unwrap_or(command);
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    let ran = run_with_input(directory, &words, b"quit\n");
    (ran.code, ran.err)
}

/// What the documents tell people to run with cargo, or to read: packages, tests, examples
/// and files that exist.
#[test]
fn every_test_example_and_file_named_exists() {
    let mut documents = files_below(&root().join("docs"), "md");
    let front = [
        "README.md",
        "ARCHITECTURE.md",
        "PAPER.md",
        "CONTRIBUTING.md",
    ];
    documents.extend(front.map(|name| root().join(name)));
    let (mut named, mut quoted) = (0, 0);
    for document in &documents {
        let text = std::fs::read_to_string(document).expect("a document");
        for (package, kind, name) in targets(&text) {
            named += 1;
            assert!(
                target_exists(&package, &kind, &name),
                "{}: -p {package} {kind} {name}",
                document.display()
            );
        }
        for path in paths(&text) {
            quoted += 1;
            let there = root().join(path).exists();
            assert!(there, "{}: there is no `{path}`", document.display());
        }
    }
    assert!(
        named >= 20 && quoted >= 100,
        "{named} named, {quoted} quoted"
    );
    assert!(!target_exists("headway-core", "--test", "nowhere"));
    assert!(!target_exists("headway-nowhere", "--test", "chain"));
    assert_eq!(paths("see `crates/core` and `src/x.rs`"), ["crates/core"]);
}

/// Every path of this repository between two backquotes.
fn paths(text: &str) -> Vec<&str> {
    let folders = ["crates/", "testsuite/", "docs/", "proof/", "scripts/"];
    let is_path = |piece: &&str| {
        folders.iter().any(|folder| piece.starts_with(folder))
            && !piece.contains([' ', '*', '<', '{', '\n'])
    };
    text.split('`').skip(1).step_by(2).filter(is_path).collect()
}

/// Every `-p PACKAGE ... --test NAME` and `--example NAME`.
fn targets(text: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for piece in text.split(['`', '\n']) {
        let words: Vec<&str> = piece.split_whitespace().collect();
        let mut package = None;
        for pair in words.windows(2) {
            match *pair {
                ["-p", name] => package = Some(name),
                // X and Y stand for a name.
                ["--test" | "--example", name] if name.len() == 1 || package == Some("X") => {}
                [kind @ ("--test" | "--example"), name] => {
                    let package = package.unwrap_or("headway").to_owned();
                    found.push((package, kind.to_owned(), name.to_owned()));
                }
                _ => {}
            }
        }
    }
    found
}

fn target_exists(package: &str, kind: &str, name: &str) -> bool {
    let folder = match package {
        "headway" => "crates/cli".to_owned(),
        "headway-testsuite" => "testsuite".to_owned(),
        other => other.replacen("headway-", "crates/", 1),
    };
    let folder = root().join(folder);
    let kind = kind.trim_start_matches('-');
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let files = folder.join(format!("{kind}s"));
    files.join(format!("{name}.rs")).exists()
        || files.join(name).join("main.rs").exists()
        || manifest.contains(&format!("[[{kind}]]\nname = \"{name}\""))
}

/// The files in a folder, and below it, whose names end like this.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(files_below(&path, ending));
        } else if path.extension().is_some_and(|end| end == ending) {
            files.push(path);
        }
    }
    files
}

/// Every promise to operators leads to tests by a number, and they are there.
#[test]
fn every_promise_names_a_test() {
    let text = read("docs/operators/promises.md");
    let mut sources = String::new();
    for folder in [
        "crates/service",
        "crates/node/tests",
        "crates/stage/tests",
        "crates/cli/tests",
        "crates/check/tests",
    ] {
        for file in files_below(&root().join(folder), "rs") {
            sources += &std::fs::read_to_string(file).expect("a source");
        }
    }
    let claims = claims(&text);
    assert_eq!(unproved(&claims, &sources), Vec::<String>::new());
    for (section, least) in [
        ("What happens when", 10),
        ("Not promised", 5),
        ("Assumed", 5),
        ("Tests", 40),
    ] {
        let found = claims.iter().filter(|(of, _)| of == section).count();
        assert!(found >= least, "{found} in {section}");
    }
}

/// The counter-test: wherever there is no test, that is noticed.
#[test]
fn a_promise_without_a_test_is_found_out() {
    let sources =
        "#[test]\nfn it_holds() {}\n#[tokio::test]\nasync fn so_does_it() {}\nfn helper() {}";
    let rows = "| # | promise | tests |\n|---|---|---|\n| 1 | it holds | `it_holds` |\n\
        | 2 | so does it | `it_holds`, `so_does_it` |";
    let wrong = |text: &str, rows: &str| {
        let page = format!("# Title\n\nNot a promise.\n\n## Promised\n\n{text}\n\n## Tests\n\n");
        unproved(&claims(&(page + rows)), sources).len()
    };
    for right in [
        "* One. (1)",
        "* One,\n  in two lines. (1,\n  2)",
        "| promise | # |\n|---|---|\n| one | 1 to 2 |",
        "Promised:\n\n* One. (2)\n\nAnd this. (1)",
    ] {
        assert_eq!(wrong(right, rows), 0, "{right}");
    }
    for text in [
        "* One.",
        "* One. (3)",
        "* One. (1 to 3)",
        "* One. (2 to 1)",
        "* One. (not\n  tested)",
        "* One. (1) But no test says this.",
        "* One, see [there](there.md).",
        "* One. (1)\n* Two.",
        "| promise | when | # |\n|---|---|---|\n| one | 1 | |",
        "Promised:\n\n* One. (1)\n\nAnd this.",
    ] {
        assert_eq!(wrong(text, rows), 1, "{text}");
    }
    for row in [
        "| 3 | helped | `helper` |",
        "| 3 | nowhere | `it_holds`, `nowhere` |",
        "| 3 | no test | |",
        "| 2 | a second time | `it_holds` |",
        "| | without a number | `it_holds` |",
    ] {
        assert_eq!(wrong("* One. (1)", &format!("{rows}\n{row}")), 1, "{row}");
    }
}

/// Rows of tests without a number of their own or without a test that is there, and claims that
/// lead to no row.
fn unproved(claims: &[(String, String)], sources: &str) -> Vec<String> {
    let (mut numbers, mut wrong) = (Vec::new(), Vec::new());
    for (_, row) in claims.iter().filter(|(section, _)| section == "Tests") {
        let number = row
            .split('|')
            .nth(1)
            .and_then(|cell| cell.trim().parse::<usize>().ok());
        match number.filter(|number| !numbers.contains(number)) {
            Some(number) => numbers.push(number),
            None => wrong.push(format!("no number of its own: {row}")),
        }
        wrong.extend(untested(row, sources));
    }
    for (_, claim) in claims.iter().filter(|(section, _)| section != "Tests") {
        let rows = referred(claim);
        if rows.is_empty() || rows.iter().any(|row| !numbers.contains(row)) {
            wrong.push(format!("no row of tests: {claim}"));
        }
    }
    wrong
}

/// The rows that a claim leads to, such as `4, 11 to 15`; none if that is not all that stands there.
fn referred(claim: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (from, to) = part.split_once(" to ").unwrap_or((part, part));
        let (from, to) = (
            from.trim().parse::<usize>().ok()?,
            to.trim().parse::<usize>().ok()?,
        );
        (from <= to).then_some(from..=to)
    };
    let ranges: Option<Vec<_>> = end(claim).split(',').map(range).collect();
    ranges.into_iter().flatten().flatten().collect()
}

/// The last cell of a row, or what stands between the brackets at the end.
fn end(claim: &str) -> &str {
    let last = match claim.strip_prefix("| ") {
        Some(row) => row.strip_suffix('|').and_then(|row| row.rsplit_once('|')),
        None => claim
            .strip_suffix(')')
            .and_then(|text| text.rsplit_once('(')),
    };
    last.map_or("", |(_, end)| end)
}

/// What a page says under its headings: bullets, rows of tables, and paragraphs that do not end
/// with a colon; each with its heading.
fn claims(text: &str) -> Vec<(String, String)> {
    let mut claims: Vec<(String, String)> = Vec::new();
    let (mut section, mut open) = (String::new(), false);
    let lines = text.lines().skip_while(|line| !line.starts_with("## "));
    for line in lines {
        if line.starts_with('#') {
            line.trim_start_matches(['#', ' ']).clone_into(&mut section);
            open = false;
        } else if line.starts_with("|---") {
            // What stands over it are names of columns.
            claims.pop();
        } else if line.trim().is_empty() {
            open = false;
        } else if open && !line.starts_with("* ") && !line.starts_with("| ") {
            let (_, last) = claims.last_mut().expect("one is open");
            *last = format!("{last} {}", line.trim());
        } else {
            claims.push((section.clone(), line.to_owned()));
            open = true;
        }
    }
    claims.retain(|(_, claim)| !claim.ends_with(':'));
    claims
}

/// Why there is no test behind a row: its tests are in the last cell.
fn untested(row: &str, sources: &str) -> Option<String> {
    let mut names = end(row).split('`').skip(1).step_by(2).peekable();
    if names.peek().is_none() {
        return Some(format!("no test: {row}"));
    }
    let missing = names.find(|name| !is_test(name, sources))?;
    Some(format!("there is no test `{missing}`: {row}"))
}

/// What runs at night only is a test, too.
const IGNORED: &str = "#[ignore = \"make test-all\"]";

fn is_test(name: &str, sources: &str) -> bool {
    let test = format!("fn {name}(");
    sources.match_indices(&test).any(|(at, _)| {
        let before = sources[..at].trim_end().trim_end_matches("async");
        let before = before.trim_end().trim_end_matches(IGNORED).trim_end();
        let test = [
            "#[test]",
            "#[tokio::test]",
            "#[tokio::test(start_paused = true)]",
        ];
        test.iter().any(|test| before.ends_with(test))
    })
}

/// A database, one write after the other: what each has changed.
const DATABASE: &str = "
import sqlite3, sys
once, write = sys.argv[1:]
database = sqlite3.connect(':memory:', isolation_level=None)
database.executescript(once + 'CREATE TABLE settings (name TEXT, value TEXT)')
database.execute(\"INSERT INTO settings VALUES ('colour', 'none')\")
for token, fence in [(0, 41), (0, 1 << 51), (0, 45), (0, 1 << 51), (1, 12)]:
    values = dict(token=token, fence=fence, name='colour', value='new')
    for statement in write.split(';')[:-1]:
        done = database.execute(statement, values)
        if statement.strip().startswith('UPDATE'):
            print(done.rowcount, end=' ')
";

/// The guide's SQL writes under the latest permit of each token, again if that comes again,
/// and not under an older one.
#[test]
fn a_database_refuses_an_older_permit() {
    let test = "a_database_refuses_an_older_permit";
    let python = match tools::program(&["python3"], "python3") {
        Ok(python) => python,
        Err(why) => return tools::skip(test, &why),
    };
    let guide = read("docs/operators/permits.md");
    let sql = |block| match block {
        Block::Text(kind, lines) if kind == "sql" => Some(lines.join("\n") + "\n"),
        _ => None,
    };
    let sql: Vec<String> = blocks(&guide).into_iter().filter_map(sql).collect();
    let [once, write] = &sql[..] else {
        panic!("{sql:?}");
    };
    let run = |write: &str| {
        let mut command = Command::new(&python);
        let output = command.args(["-c", DATABASE, once, write]).output();
        let output = output.expect("it runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(run(write), "1 1 0 1 1");
    // The counter-test: without one of its conditions it lets the older one in.
    for condition in [
        " WHERE seen.fence <= excluded.fence",
        "AND EXISTS (SELECT 1 FROM seen WHERE token = :token AND fence = :fence)",
    ] {
        let without = write.replace(condition, "");
        assert_ne!(&without, write, "{condition}");
        assert_eq!(run(&without), "1 1 1 1 1", "{condition}");
    }
}
