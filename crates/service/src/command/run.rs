//! One run of the command, and what is done about it when its node was killed.
//!
//! A run has a number of its own. It is noted on disk before the command begins, and
//! the command and all that it starts have it in their environment, so that a node
//! that comes back finds them whenever it was killed: also in the moment between
//! starting the command and noting its process. Between `fork` and `exec` a process
//! does not have it yet; but then it still has the node's files, and with them the
//! lock on the state's folder, which the new node waits for first.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpgrp, getsid};
use sd_notify::NotifyState;
use serde::{Deserialize, Serialize};

/// How often a node says that it waits for a command to end.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// The session of this process.
pub(crate) fn session() -> i32 {
    getsid(None).map_or(0, Pid::as_raw)
}

/// The variable with a run's number.
pub(super) const VARIABLE: &str = "HEADWAY_HOLD";

/// A run of the command, as noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its number.
    pub id: u64,
    /// The session of the node that runs it. What a command has put into a session of
    /// its own, such as a server that it restarted, is to live on.
    pub session: i32,
    /// Its first process and when that was started, as soon as that is known.
    pub process: Option<(i32, u64)>,
}

impl Run {
    /// Ends all that is left of it, and waits until it is gone.
    pub(crate) fn end(&self) {
        end(|| self.groups());
    }

    /// The process groups that are left of it.
    fn groups(&self) -> Vec<i32> {
        let mark = format!("{VARIABLE}={}", self.id);
        // A group keeps its number from others, so its number means another group only if
        // somebody else is its first process by now.
        let own = self.process.filter(|&(process, start)| {
            process > 1 && Stat::of(process).is_none_or(|stat| stat.start == start)
        });
        groups(|process, stat| {
            let ours = own.is_some_and(|(group, _)| group == stat.group);
            stat.session == self.session && (ours || has(process, &[&mark]))
        })
    }
}

/// Ends all that any command of a node has left, when it is not known which one ran; also what
/// is in a session of its own.
pub(crate) fn end_all(node: &str, ring: &str) {
    let marks = [
        format!("HEADWAY_NODE={node}"),
        format!("HEADWAY_RING={ring}"),
    ];
    let [node, ring] = &marks;
    end(|| groups(|process, _| has(process, &[node, ring])));
}

/// However long it takes: whatever still lives may still be at work.
fn end(mut groups: impl FnMut() -> Vec<i32>) {
    let mut told_at: Option<Instant> = None;
    loop {
        // Searched again every time: what is searched may start more.
        let groups = groups();
        if groups.is_empty() {
            if told_at.is_some() {
                tracing::warn!("the command of before the restart has ended");
                let _ = sd_notify::notify(&[NotifyState::Status("")]);
            }
            return;
        }
        if told_at.is_none_or(|at| at.elapsed() >= TELL_EVERY) {
            if told_at.replace(Instant::now()).is_none() {
                tracing::warn!(
                    ?groups,
                    "a command of before the restart still runs: SIGKILL"
                );
            } else {
                tracing::error!(
                    ?groups,
                    "a command of before the restart does not end, and the node takes no part \
                     until it has: end these process groups, or restart the machine"
                );
            }
            // So that systemd does not give up waiting for the node.
            let _ = sd_notify::notify(&[
                NotifyState::Status("waits for a command of before the restart to end"),
                NotifyState::ExtendTimeoutUsec(2 * TELL_EVERY.as_micros() as u32),
            ]);
        }
        for group in groups {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The groups of living processes that are looked for, but for this one's own.
fn groups(wanted: impl Fn(i32, &Stat) -> bool) -> Vec<i32> {
    let mut groups: Vec<i32> = processes()
        .filter_map(|process| Some((process, Stat::of(process)?)))
        .filter(|(process, stat)| stat.lives && wanted(*process, stat))
        .map(|(_, stat)| stat.group)
        .filter(|&group| group > 1 && group != getpgrp().as_raw())
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// Whether all of these are in a process's environment.
fn has(process: i32, marks: &[&String]) -> bool {
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let mut marks = marks.iter();
    marks.all(|mark| {
        let mut variables = environment.split(|&byte| byte == 0);
        variables.any(|variable| variable == mark.as_bytes())
    })
}

/// All processes that there are.
fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What the kernel says of a process.
struct Stat {
    /// It is there and has not ended.
    lives: bool,
    group: i32,
    session: i32,
    /// When it was started, in the kernel's ticks.
    start: u64,
}

impl Stat {
    fn of(process: i32) -> Option<Stat> {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name in brackets may contain anything; the third field follows it.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        Some(Stat {
            lives: !matches!(*fields.first()?, "Z" | "X"),
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

/// When a process was started, in the kernel's ticks; 0 if it is not there.
pub(super) fn started(process: i32) -> u64 {
    Stat::of(process).map_or(0, |stat| stat.start)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};

    use super::*;

    fn run(id: u64) -> Run {
        Run {
            id,
            session: session(),
            process: None,
        }
    }

    fn sleeper(id: u64) -> Command {
        let mut command = Command::new("sleep");
        command
            .arg("1000")
            .env_clear()
            .env(VARIABLE, id.to_string())
            .process_group(0);
        command
    }

    /// However a test ends, its processes end, with their groups.
    struct Sleeper(Child);

    impl Sleeper {
        fn new(command: &mut Command) -> Sleeper {
            Sleeper(command.spawn().expect("sleeps"))
        }

        fn id(&self) -> i32 {
            self.0.id() as i32
        }

        fn ended(&mut self) -> bool {
            self.0.try_wait().expect("a child").is_some()
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = killpg(Pid::from_raw(self.id()), Signal::SIGKILL);
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// A number that no other test uses.
    fn number(which: u64) -> u64 {
        (u64::from(std::process::id()) << 32) + which
    }

    #[test]
    fn a_process_that_was_never_noted_is_found_by_its_number_and_others_are_left_alone() {
        let run = run(number(1));
        let mut ours = Sleeper::new(&mut sleeper(run.id));
        let mut other = Sleeper::new(&mut sleeper(number(2)));
        // The same number in a session of its own: a server that the command started.
        let mut escaped = Command::new("setsid");
        escaped.args(["sleep", "1000"]);
        let mut escaped = Sleeper::new(escaped.env(VARIABLE, run.id.to_string()));
        let own = escaped.id();
        while Stat::of(own).is_some_and(|stat| stat.session != own) {
            std::thread::sleep(Duration::from_millis(1));
        }
        run.end();
        assert!(ours.ended());
        assert!(!other.ended() && !escaped.ended());
    }

    /// When the notes cannot be read, nobody knows what may live on.
    #[test]
    fn without_notes_whatever_a_node_has_started_is_ended_in_sessions_of_its_own_too() {
        let named = |node: &str, ring: &str| {
            let mut command = Command::new("setsid");
            let command = command.args(["sleep", "1000"]);
            let node = format!("{node}-{}", std::process::id());
            command.env("HEADWAY_NODE", node).env("HEADWAY_RING", ring);
            Sleeper::new(command)
        };
        let mut ours = named("escaped", "r");
        let mut others = [named("escaped", "s"), named("other", "r")];
        let in_its_own = |sleeper: &Sleeper| {
            let own = sleeper.id();
            Stat::of(own).is_some_and(|stat| stat.session == own)
        };
        while !others.iter().chain([&ours]).all(in_its_own) {
            std::thread::sleep(Duration::from_millis(1));
        }
        end_all(&format!("escaped-{}", std::process::id()), "r");
        assert!(ours.ended());
        assert!(!others.iter_mut().any(Sleeper::ended));
    }

    /// Some processes do not end even on SIGKILL, or are somebody else's.
    #[test]
    fn whatever_does_not_end_is_waited_for() {
        const NOBODY: i32 = 1 << 30;
        let mut looks = 0;
        end(|| {
            looks += 1;
            if looks < 50 { vec![NOBODY] } else { Vec::new() }
        });
        assert_eq!(looks, 50);
    }

    #[test]
    fn a_group_whose_first_process_has_gone_is_ended_and_a_reused_number_is_not() {
        // Without the variable: only the noted process tells.
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 1000 & exec sleep 1000"]);
        let mut shell = Sleeper::new(shell.env_clear().process_group(0));
        let group = shell.id();
        let alive = || {
            processes()
                .filter(|&process| {
                    Stat::of(process).is_some_and(|stat| stat.lives && stat.group == group)
                })
                .count()
        };
        while alive() < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let noted = |start| Run {
            process: Some((group, start)),
            ..run(number(3))
        };
        let start = started(group);
        noted(start + 1).end();
        assert_eq!(alive(), 2, "another one's number");
        shell.0.kill().expect("killed");
        shell.0.wait().expect("ended");
        assert_eq!(alive(), 1, "its child lives on");
        noted(start).end();
        assert_eq!(alive(), 0);
    }
}
