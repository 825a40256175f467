//! The operators' guides, run as they are written: `a$` is a prompt on machine a, which
//! is a folder and an address on loopback here. A block of TOML whose first line is
//! `# FILE on MACHINE` is that file; `# in FILE on MACHINE` is what is edited in it.
//!
//! What stands for what is all in [`Machines::new`] and [`STAND_INS`]. Commands that
//! look at a ring are repeated until they print what stands under them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::text::{Block, Step, blocks, fits, steps};
use crate::common::{self, folder, network, read, root, until};

/// Programs that do not do here what they do there. `ROOT` is the folder of the machine
/// and `OWN` its address, `ALL` the folder of all machines and `NET` their network.
const STAND_INS: &[(&str, &str)] = &[
    (
        "headway",
        r#"case "$2" in create|join)
            set -- "$@" --name "$(basename ROOT)" --address OWN:7400 --state-dir ROOT/var/lib/headway --config ROOT/etc/headway/node.toml
        esac
        HEADWAY_API_SOCKET=ROOT/run/headway/node.sock exec PROGRAM "$@""#,
    ),
    // Who types is slower than a node that reads its file again.
    (
        "systemctl",
        r#"case "$*" in
        "enable --now headway-node")
            run=$(sed -n 's|^ExecStart=/usr/bin/headway|PROGRAM|p' ROOT/usr/lib/systemd/system/headway-node.service | sed 's| /etc/| ROOT/etc/|')
            setsid $run >ROOT/log 2>&1 & echo $! >ROOT/pid
            until [ -S ROOT/run/headway/node.sock ]; do sleep 0.05; kill -0 $! || exit 1; done ;;
        "reload headway-node")
            read_again() { grep -c 'the configuration was read again' ROOT/log; }
            before=$(read_again)
            kill -HUP "$(cat ROOT/pid)"
            for _ in $(seq 3000); do [ "$(read_again)" = "$before" ] || exit 0; sleep 0.02; done
            exit 1 ;;
        "restart nginx") echo restarted >>ROOT/nginx ;;
        *) echo "systemctl $*: unknown here" >&2; exit 1 ;;
        esac"#,
    ),
    // `scp -p FILE... MACHINE:FOLDER`; what is text names the machine's own folder.
    (
        "scp",
        r#"shift; for last; do :; done; to=ALL/${last%%:*}; folder=$to${last#*:}
        while [ $# -gt 1 ]; do cp -p "$1" "$folder"
            case "$1" in *.key) ;; *) sed -i -e "s|ROOT/|$to/|g" -e "s|^listen = .*|listen = \"$(cat "$to/own"):7400\"|" "$folder/${1##*/}" ;; esac
            shift
        done"#,
    ),
    // `ssh MACHINE COMMAND`, with the programs of that machine.
    (
        "ssh",
        r#"to=ALL/$1; shift; PATH="$to/bin:$PATH" sh -c "$*""#,
    ),
    ("journalctl", "cat ROOT/log"),
    // What the guide uses of a package; packaging/try-packages installs whole ones.
    (
        "dpkg",
        r#"mkdir -p ROOT/usr/lib/systemd/system ROOT/usr/share/doc/headway/examples
        cp REPOSITORY/packaging/headway-node.service ROOT/usr/lib/systemd/system/
        cp REPOSITORY/packaging/50-headway.rules ROOT/usr/share/doc/headway/examples/"#,
    ),
    // Everything here belongs to one user.
    ("chown", "[ \"$2\" = headway: ]"),
];

/// Folders that are there on every machine.
const FOLDERS: [&str; 4] = ["bin", "usr/local/bin", "etc/polkit-1/rules.d", "tmp"];

struct Machines {
    folder: tempfile::TempDir,
    /// The first three numbers of the addresses, for 192.0.2 in the guide.
    net: String,
}

impl Machines {
    fn new() -> Machines {
        let machines = Machines {
            folder: folder(),
            net: network(),
        };
        for (at, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
            let own = format!("{}.{}", machines.net, at + 1);
            let root = machines.root(name);
            for folder in FOLDERS {
                std::fs::create_dir_all(root.join(folder)).expect("a folder");
            }
            std::fs::write(root.join("own"), &own).expect("written");
            for (program, script) in STAND_INS {
                let script = script
                    .replace("ROOT", &root.display().to_string())
                    .replace("ALL", &machines.folder.path().display().to_string())
                    .replace("PROGRAM", common::program())
                    .replace("OWN", &own)
                    .replace("NET", &machines.net)
                    .replace("REPOSITORY", &common::root().display().to_string());
                let path = root.join("bin").join(program);
                std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
                let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                std::fs::set_permissions(path, runs).expect("made a program");
            }
        }
        machines
    }

    fn root(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the guide says, as it is here.
    fn here(&self, machine: &str, text: &str) -> String {
        let root = self.root(machine).display().to_string();
        let mut text = text.replace("192.0.2.", &format!("{}.", self.net));
        // Commands have a path of their own, without stand-ins.
        text = text.replace("/usr/bin/systemctl", &format!("{root}/bin/systemctl"));
        for path in [
            "/etc/headway",
            "/etc/polkit-1/rules.d",
            "/usr/share/doc/headway",
            "/usr/local/bin",
            "/var/lib/headway",
            "/run/headway",
        ] {
            text = text.replace(path, &format!("{root}{path}"));
        }
        // On the other side of a copy, the copy says where it is.
        text = text.replace(&format!(":{root}"), ":");
        let own = std::fs::read_to_string(self.root(machine).join("own")).unwrap_or_default();
        text.replace("0.0.0.0:", &format!("{own}:"))
    }

    /// What is printed here, as the guide says it.
    fn there(&self, machine: &str, text: &str) -> String {
        let root = self.root(machine).display().to_string();
        text.replace(&root, "")
            .replace(&format!("{}.", self.net), "192.0.2.")
    }

    fn run(&self, step: &Step, folder: &Path) -> Output {
        // A guide without machines is done on one of them.
        let machine = Some(&*step.machine).filter(|name| !name.is_empty());
        let machine = machine.unwrap_or("a");
        let command = self.here(machine, &step.command);
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.root(machine).join("bin");
        Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", bin.display()))
            .output()
            .expect("a shell")
    }

    fn check(&self, step: &Step, folder: &Path) -> Result<(), String> {
        let looks = ["headway node status", "headway node list", "grep "];
        let again = looks.iter().any(|look| step.command.contains(look));
        let began = Instant::now();
        loop {
            let output = self.run(step, folder);
            let printed = String::from_utf8_lossy(&output.stdout);
            let printed = self.there(&step.machine, &printed);
            let lines: Vec<&str> = printed.trim_end().lines().collect();
            let right = output.status.code() == Some(step.code) && fits(&step.expected, &lines);
            if right {
                return Ok(());
            }
            if !again || began.elapsed() > Duration::from_secs(60) {
                let told = String::from_utf8_lossy(&output.stderr);
                return Err(format!(
                    "exit code {:?}, expected\n{}\nbut it prints\n{printed}{told}",
                    output.status.code(),
                    step.expected.join("\n")
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A file, or an edit of one, if the first line says which.
    fn write(&self, lines: &[String]) -> Option<()> {
        let (first, rest) = lines.split_first()?;
        let (path, machine) = first.strip_prefix("# ")?.split_once(" on ")?;
        let rest: Vec<String> = rest.iter().map(|line| self.here(machine, line)).collect();
        if let Some(path) = path.strip_prefix("in ") {
            let path = self.here(machine, path);
            let text = std::fs::read_to_string(&path).expect("the file");
            std::fs::write(&path, edited(&text, &rest)).expect("written");
        } else {
            let path = self.here(machine, path);
            std::fs::write(path, rest.join("\n") + "\n").expect("written");
        }
        Some(())
    }

    /// Runs what a guide does on its machines; how many commands that were.
    fn follow(&self, name: &str, folder: &Path) -> usize {
        let text = read(&format!("docs/operators/{name}"));
        let mut commands = 0;
        for block in blocks(&text) {
            match block {
                Block::Text(kind, lines) if kind == "toml" => drop(self.write(&lines)),
                Block::Text(..) => {}
                Block::Console(mut steps) => {
                    steps.retain(|step| !step.machine.is_empty());
                    commands += steps.len();
                    for step in &steps {
                        self.try_out(name, step, folder);
                    }
                }
            }
        }
        commands
    }

    /// Runs what a guide does without machines; how many commands that were.
    fn follow_alone(&self, name: &str, folder: &Path) -> usize {
        let mut alone = steps(&read(&format!("docs/operators/{name}")));
        alone.retain(|step| step.machine.is_empty());
        for step in &alone {
            self.try_out(name, step, folder);
        }
        alone.len()
    }

    fn try_out(&self, name: &str, step: &Step, folder: &Path) {
        if let Err(why) = self.check(step, folder) {
            panic!(
                "{name}, line {}: {}$ {}\n{why}",
                step.line, step.machine, step.command
            );
        }
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for name in ["a", "b", "c", "d"] {
            let pid = std::fs::read_to_string(self.root(name).join("pid")).unwrap_or_default();
            if !pid.is_empty() {
                let _ = Command::new("kill").args(["-9", pid.trim()]).output();
            }
        }
    }
}

/// Sets keys where they are, commented out or not, in the sections where they are.
fn edited(text: &str, edits: &[String]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut at = 0;
    for edit in edits {
        let found = |line: &String| match edit.split_once(" = ") {
            None => line == edit,
            Some((key, _)) => line.trim_start_matches("# ").split(" = ").next() == Some(key),
        };
        let from = if edit.starts_with('[') { 0 } else { at };
        let place = lines[from..].iter().position(found);
        at = from + place.unwrap_or_else(|| panic!("no place for `{edit}` in\n{text}"));
        lines[at].clone_from(edit);
    }
    lines.join("\n") + "\n"
}

#[test]
#[ignore = "make test-all"]
fn three_machines_from_nothing() {
    let machines = Machines::new();
    let root = root();
    let commands =
        ["README.md", "permits.md", "members.md"].map(|page| machines.follow(page, &root));
    assert!(
        commands[0] >= 20 && commands[1] >= 7 && commands[2] >= 13,
        "{commands:?} commands"
    );
    for name in ["a", "b", "c", "d"] {
        until(|| match machines.root(name).join("nginx").exists() {
            true => Ok(()),
            false => Err(format!("the command of {name} has not run")),
        });
    }
    let commands = machines.follow("rollouts.md", &root);
    assert!(commands >= 8, "{commands} commands");
    assert_eq!(machines.follow("watching.md", &root), 2);
}

#[test]
fn fencing_numbers_that_a_resource_checks() {
    let machines = Machines::new();
    let folder = machines.root("a").join("tmp");
    let script = root().join("docs/operators/fenced.sh");
    std::fs::copy(script, folder.join("fenced.sh")).expect("a copy");
    assert_eq!(machines.follow_alone("permits.md", &folder), 4);
}

#[test]
fn a_wrong_guide_is_found_out() {
    let machines = Machines::new();
    let step = |command: &str, expected: &str| Step {
        line: 1,
        machine: "b".into(),
        command: command.into(),
        expected: expected.lines().map(str::to_owned).collect(),
        code: 0,
    };
    let root = machines.root("b");
    let run = |command, expected| machines.check(&step(command, expected), &root);
    assert_eq!(
        run("echo 192.0.2.7 /etc/headway/x", "192.0.2.7 /etc/headway/x"),
        Ok(())
    );
    assert!(run("echo one", "two").is_err());
    assert!(run("false", "").is_err());
    assert!(run("systemctl stop headway-node", "").is_err());
    let before = "[node]\nname = \"a\"\n# listen = 1\n[ring]\nname = \"web\"\n";
    let edit = |lines: &[&str]| {
        edited(
            before,
            &lines
                .iter()
                .map(|&line| line.to_owned())
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        edit(&["[node]", "name = \"b\"", "listen = 2"]),
        "[node]\nname = \"b\"\nlisten = 2\n[ring]\nname = \"web\"\n"
    );
    assert_eq!(
        edit(&["[ring]", "name = \"x\""]),
        before.replace("web", "x")
    );
}
