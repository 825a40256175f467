//! The README, the tutorial and the guides do what they say: every `console` block is run, in
//! order, in one directory a guide, and prints what stands under it. `...` stands for anything:
//! alone on a line for any lines, at the end of a line for its rest. `? 1` is an exit code. A
//! picture that a guide shows and its commands write is the one that they write.
//!
//! `HEADWAY_GUIDE_PRINT=1` prints what each command prints, to write guides with;
//! `HEADWAY_UPDATE=1` keeps the pictures.

mod documents;
mod embedded;
mod operators;
mod text;

use std::path::Path;

use crate::common::{folder, root, run};
use text::{Step, fits, steps};

/// Guides whose commands are run and compared with what they print; `embedded` and `operators`
/// follow the others.
const GUIDES: [&str; 4] = [
    "README.md",
    "docs/tutorial.md",
    "docs/operators/plan.md",
    "docs/research/README.md",
];

/// A directory to try commands in, with the examples of the repository.
fn workplace() -> tempfile::TempDir {
    let directory = folder();
    std::os::unix::fs::symlink(root().join("examples"), directory.path().join("examples"))
        .expect("a link");
    directory
}

#[test]
fn every_command_of_every_guide() {
    let guides = GUIDES.map(|name| root().join(name));
    let (mut commands, mut pictures) = (0, 0);
    for guide in &guides {
        let text = std::fs::read_to_string(guide).expect("a guide");
        let directory = workplace();
        for step in steps(&text) {
            commands += 1;
            let name = guide.file_name().unwrap_or_default().to_string_lossy();
            if let Err(why) = step.run(directory.path()) {
                panic!("{name}, line {}: $ {}\n{why}", step.line, step.command);
            }
        }
        pictures += check_pictures(&text, directory.path());
    }
    assert!(pictures >= 5, "{pictures} pictures");
    assert!(
        commands >= 10,
        "{commands} commands in {} guides",
        guides.len()
    );
}

/// Compares the pictures of a guide with those that its commands have just made.
fn check_pictures(guide: &str, directory: &Path) -> usize {
    let shown = guide.split("images/").skip(1);
    let names = shown.filter_map(|rest| rest.split(['"', ')']).next());
    let mut compared = 0;
    for name in names {
        let Ok(made) = std::fs::read_to_string(directory.join(name)) else {
            continue;
        };
        compared += 1;
        let kept = root().join("docs/images").join(name);
        if std::env::var_os("HEADWAY_UPDATE").is_some() {
            std::fs::write(&kept, &made).expect("written");
        }
        let kept = std::fs::read_to_string(kept).unwrap_or_default();
        assert!(
            kept == made,
            "docs/images/{name} is not what its command draws; look at it and keep it with \
             HEADWAY_UPDATE=1 cargo test -p headway --test it guides"
        );
    }
    compared
}

impl Step {
    fn run(&self, directory: &Path) -> Result<(), String> {
        let words: Vec<&str> = self.command.split_whitespace().collect();
        assert_eq!(words[0], "headway", "only headway is run");
        let ran = run(directory, &words[1..]);
        if std::env::var_os("HEADWAY_GUIDE_PRINT").is_some() {
            println!("$ {}\n{}? {}", self.command, ran.out, ran.code);
        }
        if ran.code != self.code {
            return Err(format!("exit code {}: {}", ran.code, ran.err));
        }
        let lines: Vec<&str> = ran.out.trim_end().lines().collect();
        match fits(&self.expected, &lines) {
            true => Ok(()),
            false => Err(format!(
                "expected\n{}\nbut it prints\n{}",
                self.expected.join("\n"),
                ran.out
            )),
        }
    }
}

#[test]
fn a_guide_that_is_wrong_is_found_out() {
    let expected = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let lines = ["one", "two", "three 3.1 s"];
    assert!(fits(&expected("one\n...\nthree ..."), &lines));
    assert!(!fits(&expected("one\n...\nfour"), &lines));
    assert!(!fits(&expected("one\ntwo"), &lines));
    let wrong = steps("```console\n$ headway --version\nheadway 9.9.9\n```");
    assert!(wrong[0].run(Path::new(".")).is_err());
    let right = steps("```console\n$ headway --version\nheadway ...\n```");
    assert_eq!(right[0].run(Path::new(".")), Ok(()));
}
