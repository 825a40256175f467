//! Who watches the permits from outside: the commands themselves, by locks.
//!
//! A command locks a file of its node for as long as it lives; the kernel takes the
//! lock back when the last process that has it is gone, however that ended. Before
//! and after it takes its own lock, a command looks which others are taken, and says
//! so in the line that it writes when it begins. Of two commands that overlap, the
//! later one therefore names the earlier one, also if that is killed and never says
//! that it ends, and no clock is looked at.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};

/// Where the commands write, and how long they take.
const FOLDER: &str = "OBSERVER_FOLDER";
const SECONDS: &str = "OBSERVER_SECONDS";

/// The configuration that makes nodes run such commands.
pub(crate) fn section(folder: &Path, seconds: f64) -> String {
    let program = std::env::current_exe().expect("this program");
    format!(
        "[command]\nrun = [{program:?}, \"--exact\", \"a_command_if_asked\", \"--nocapture\"]\nwhen = \"every\"\n\
         environment = {{ {FOLDER} = {folder:?}, {SECONDS} = \"{seconds}\" }}\n"
    )
}

/// In a process that was started as a command, does its work and does not come back.
///
/// The file `slow-NODE` in the folder makes it take as many seconds as are written there;
/// `hang-NODE` makes it hang and not listen to SIGTERM.
pub(crate) fn be_a_command_if_asked() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let variable = |name: &str| std::env::var(name).expect("a command has it");
    let node = variable("HEADWAY_NODE");
    let who = format!(
        "{node} {} {} {}",
        variable("HEADWAY_TOKEN"),
        variable("HEADWAY_FENCE"),
        std::process::id()
    );
    let mut others = alive(&folder);
    let path = folder.join(format!("using-{node}"));
    let own = open(&path);
    // If another command of this node lives, it is seen, and waiting for it would hide that.
    let lock = if others.contains(&node) {
        own
    } else {
        let locked = Flock::lock(own, FlockArg::LockExclusive);
        let kept = locked.map_err(|(_, error)| error).expect("locked");
        others.extend(alive(&folder).into_iter().filter(|name| *name != node));
        // Released by the kernel, never by hand.
        let copy = kept.try_clone().expect("a copy");
        std::mem::forget(kept);
        copy
    };
    let others: Vec<String> = others.into_iter().collect();
    say(&folder, &format!("begin {who} {}", others.join(" ")));
    if folder.join(format!("hang-{node}")).exists() {
        let hangs = Command::new("/bin/sh")
            .args(["-c", "trap '' TERM; sleep 1000; sleep 1000"])
            .stdin(lock)
            .exec();
        panic!("{hangs}");
    }
    let slow = fs::read_to_string(folder.join(format!("slow-{node}")));
    let seconds = slow.unwrap_or_else(|_| variable(SECONDS));
    std::thread::sleep(Duration::from_secs_f64(
        seconds.trim().parse().expect("a number"),
    ));
    say(&folder, &format!("end {who}"));
    std::process::exit(0);
}

fn open(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    options.open(path).expect("opened")
}

/// One line, written at once.
fn say(folder: &Path, line: &str) {
    let line = format!("{}\n", line.trim_end());
    open(&folder.join("observed"))
        .write_all(line.as_bytes())
        .expect("written");
}

/// The nodes whose commands live at this moment.
fn alive(folder: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(folder).expect("a folder").flatten();
    let names = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        Some((file.path(), name.strip_prefix("using-")?.to_owned()))
    });
    // Those who look do not see each other.
    let taken = |path: &Path| Flock::lock(open(path), FlockArg::LockSharedNonblock).is_err();
    names
        .filter(|(path, _)| taken(path))
        .map(|(_, name)| name)
        .collect()
}

/// A line that a command wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) begins: bool,
    pub(crate) node: String,
    pub(crate) token: u32,
    pub(crate) fence: u64,
    pub(crate) process: i32,
    /// The nodes whose commands lived when this one began.
    pub(crate) others: Vec<String>,
}

impl Seen {
    pub(crate) fn read(line: &str) -> Option<Seen> {
        let mut words = line.split_whitespace();
        Some(Seen {
            begins: words.next()? == "begin",
            node: words.next()?.into(),
            token: words.next()?.parse().ok()?,
            fence: words.next()?.parse().ok()?,
            process: words.next()?.parse().ok()?,
            others: words.map(str::to_owned).collect(),
        })
    }
}

pub(crate) fn observed(folder: &Path) -> Vec<Seen> {
    let text = fs::read_to_string(folder.join("observed")).unwrap_or_default();
    text.lines().filter_map(Seen::read).collect()
}

/// How many commands have begun.
pub(crate) fn begun(seen: &[Seen]) -> usize {
    seen.iter().filter(|seen| seen.begins).count()
}

/// The least number of hops between two commands that lived together, either way round
/// the ring; 0 for two of the same node. None if never two did.
pub(crate) fn closest(seen: &[Seen], ring: &[String]) -> Option<usize> {
    closest_pair(seen, ring).map(|(far, _)| far)
}

/// Fencing numbers only ever grow, where one token travels.
pub(crate) fn fences_grow(seen: &[Seen]) {
    let begun = seen.iter().filter(|seen| seen.begins);
    let fences: Vec<u64> = begun.map(|seen| seen.fence).collect();
    assert!(
        fences.windows(2).all(|pair| pair[0] < pair[1]),
        "{fences:?}"
    );
}

/// The same, and what was seen around that, for people.
pub(crate) fn closest_pair(seen: &[Seen], ring: &[String]) -> Option<(usize, String)> {
    let place = |name: &String| ring.iter().position(|other| other == name);
    let pairs = seen.iter().enumerate().flat_map(|(at, line)| {
        line.others.iter().filter_map(move |other| {
            let far = place(&line.node)?.abs_diff(place(other)?);
            Some((far.min(ring.len() - far), at, other))
        })
    });
    let (far, at, other) = pairs.min_by_key(|(far, ..)| *far)?;
    let around = &seen[at.saturating_sub(12)..seen.len().min(at + 6)];
    let lines: Vec<String> = around.iter().map(|seen| format!("{seen:?}")).collect();
    let text = format!(
        "{:?}\nwhile {other} had not ended, in\n{}",
        seen[at],
        lines.join("\n")
    );
    Some((far, text))
}

/// How often each node was visited by a token: the least and the most.
pub(crate) fn visits(seen: &[Seen], ring: &[String], token: u32) -> (usize, usize) {
    let count = |name: &String| {
        let visits = seen
            .iter()
            .filter(|seen| seen.begins && seen.token == token && seen.node == *name);
        visits.count()
    };
    let counts: Vec<usize> = ring.iter().map(count).collect();
    (
        *counts.iter().min().unwrap_or(&0),
        *counts.iter().max().unwrap_or(&0),
    )
}

/// A command that runs, in a process group of its own, which ends with it.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn new(command: &mut Command) -> Running {
        Running(command.process_group(0).spawn().expect("it runs"))
    }

    /// Its first process is killed; what that has started lives on.
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("it ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(self.0.id() as i32);
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

/// A command as a node would run it, for tests of the observer.
pub(crate) fn command(folder: &Path, node: &str, fence: u64, seconds: f64) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", "a_command_if_asked", "--nocapture"])
        .stdout(std::process::Stdio::null())
        .env(FOLDER, folder)
        .env(SECONDS, seconds.to_string())
        .env("HEADWAY_NODE", node)
        .env("HEADWAY_TOKEN", "0")
        .env("HEADWAY_FENCE", fence.to_string());
    command
}
