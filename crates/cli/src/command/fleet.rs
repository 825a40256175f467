//! `headway fleet`: real nodes on this machine, to see what a fleet does.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

use clap::{Args as ClapArgs, Subcommand};

use crate::failure::{Answer, Failure, say};
use crate::flags::duration;
use crate::interrupt;
use crate::report::count;
use crate::report::style::{BAD, DIM, GOOD, HEADING};
use nodes::{Event, NAMES, Nodes};

mod nodes;

/// How long a node that was killed by --kill-after stays away.
const AWAY: Duration = Duration::from_secs(8);

/// How long a command takes.
const WORK: Duration = Duration::from_millis(500);

/// Flags of `headway fleet`.
#[derive(ClapArgs, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Five real nodes on this machine for a minute: watch them, kill one
    Demo(DemoArgs),
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway fleet demo                       for a minute; type k to kill a node, ? for help
  headway fleet demo --for 20s --kill-after 3s

The nodes are processes of this program with a folder of their own and addresses on 127.0.0.1.
Their command sleeps for half a second. Everything is removed at the end, also after Ctrl-C.
Exit code 1 if two commands ever ran at a time.")]
struct DemoArgs {
    /// End after this long
    #[arg(long = "for", value_name = "DURATION", default_value = "1m", value_parser = duration)]
    time: Duration,
    /// Kill a node this long after the ring has settled, and start it again eight seconds later
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    kill_after: Option<Duration>,
    /// Serve the dashboard's fleet view and print its address
    #[arg(long = "serve")]
    page: bool,
}

/// Runs a subcommand.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let Command::Demo(args) = &args.command;
    interrupt::arm();
    let (sender, events) = channel();
    let nodes = Nodes::start(&sender)?;
    let mut demo = Demo {
        nodes,
        began: Instant::now(),
        settled: Vec::new(),
        marks: Vec::new(),
        membership: 1,
    };
    writeln!(
        anstream::stdout(),
        "{HEADING}{}{HEADING:#} on 127.0.0.1, one permit; its holder works for half a second.",
        count(NAMES.len() as u64, "node")
    )?;
    if io::stdin().is_terminal() {
        say(format_args!(
            "Type a line: k kills a node (k c: that one), r starts it again, p serves the page, q ends."
        ))?;
        listen(sender);
    }
    if args.page {
        demo.page()?;
    }
    let interrupted = demo.watch(args, &events)?;
    let Demo { nodes, marks, .. } = demo;
    drop(nodes);
    let (runs, overlaps) = judge(marks);
    let (style, verdict) = match overlaps {
        0 => (GOOD, "never two at a time"),
        _ => (BAD, "two at a time"),
    };
    writeln!(
        anstream::stdout(),
        "{}, {style}{verdict}{style:#}. Nodes, folders and processes are removed.",
        count(runs, "command")
    )?;
    Ok(match interrupted {
        true => Answer::Interrupted,
        false => Answer::from(overlaps == 0 && runs > 0),
    })
}

/// When a command began or ended, in the words of the log of its node, and where.
type Mark = (String, bool, usize);

/// How many commands began, and how many of them while another ran.
fn judge(mut marks: Vec<Mark>) -> (u64, u64) {
    // Lines of several nodes may be read late, but all have the time of one clock.
    marks.sort();
    let (mut runs, mut overlaps, mut works) = (0, 0, Vec::new());
    for (_, begins, at) in marks {
        works.retain(|&other| other != at);
        if begins {
            runs += 1;
            overlaps += u64::from(!works.is_empty());
            works.push(at);
        }
    }
    (runs, overlaps)
}

struct Demo {
    nodes: Nodes,
    began: Instant,
    /// Nodes that have said so.
    settled: Vec<usize>,
    marks: Vec<Mark>,
    /// The version that was told of last.
    membership: u64,
}

impl Demo {
    /// Tells what happens until the end. Whether Ctrl-C came first.
    fn watch(&mut self, args: &DemoArgs, events: &Receiver<Event>) -> Result<bool, Failure> {
        let ends = self.began + args.time;
        let mut kill_at = None;
        let mut back_at: Option<Instant> = None;
        loop {
            if interrupt::is_stopped() {
                return Ok(true);
            }
            let now = Instant::now();
            if now >= ends {
                return Ok(false);
            }
            if self.settled.len() == NAMES.len() && kill_at.is_none() {
                kill_at = args.kill_after.map(|after| now + after);
            }
            if kill_at.is_some_and(|at| now >= at) && back_at.is_none() {
                self.kill(None);
                back_at = Some(now + AWAY);
            }
            if let Some(at) = back_at
                && now >= at
            {
                self.restart()?;
                back_at = Some(ends + AWAY);
            }
            match events.recv_timeout(Duration::from_millis(50)) {
                Ok(Event::Line(at, line)) => self.tell(at, &line),
                Ok(Event::Typed(line)) => {
                    if !self.obey(&line)? {
                        return Ok(false);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
    }

    /// One line of a node's log, if it is for spectators.
    fn tell(&mut self, at: usize, line: &serde_json::Value) {
        let name = NAMES[at];
        let number = |key: &str| line[key].as_u64().unwrap_or_default();
        let stamp = || line["timestamp"].as_str().unwrap_or_default().to_owned();
        match line["message"].as_str().unwrap_or_default() {
            "settled" => {
                if !self.settled.contains(&at) {
                    self.settled.push(at);
                }
                self.say(&format!("{GOOD}{name} is settled{GOOD:#}"));
            }
            "the command runs" => {
                self.marks.push((stamp(), true, at));
                let fence = number("fence");
                self.say(&format!("{name} works, fencing number {fence}"));
            }
            "the command has ended" => {
                self.marks.push((stamp(), false, at));
                self.say(&format!("{DIM}{name} is done{DIM:#}"));
            }
            // By then it has ended what its command had left.
            "started" => self.marks.push((stamp(), false, at)),
            "silent: tokens stop behind it" => {
                let other = line["neighbour"].as_str().unwrap_or_default();
                let what = "does not hear it: the ring waits until no permit can be in use there";
                self.say(&format!("{BAD}{other} is silent:{BAD:#} {name} {what}"));
            }
            "a new membership" if number("version") > self.membership => {
                self.membership = number("version");
                let names = line["bypassed"].as_str().unwrap_or_default();
                self.say(&match names {
                    "" => format!("{GOOD}all are on the ring again{GOOD:#}"),
                    names => format!("{GOOD}the ring goes on without {names}{GOOD:#}"),
                });
            }
            "heard again" => {
                let other = line["neighbour"].as_str().unwrap_or_default();
                self.say(&format!("{name} hears {other} again"));
            }
            _ => {}
        }
    }

    /// A line that somebody has typed. Whether to go on.
    fn obey(&mut self, line: &str) -> Result<bool, Failure> {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("q"), _) => return Ok(false),
            (Some("k"), which) => self.kill(which),
            (Some("r"), _) => self.restart()?,
            (Some("p"), _) => self.page()?,
            (None, _) => {}
            _ => self.say("expected k, k c, r, p or q"),
        }
        Ok(true)
    }

    fn kill(&mut self, which: Option<&str>) {
        let at = match which {
            Some(name) => NAMES.iter().position(|known| *known == name),
            None => Some(2),
        };
        match at {
            Some(at) if self.nodes.kill(at) => {
                self.settled.retain(|&other| other != at);
                // Its command lives on, and nobody else gets the permit meanwhile.
                let ends = SystemTime::now() + WORK;
                let stamp = humantime::format_rfc3339_micros(ends).to_string();
                self.marks.push((stamp, false, at));
                self.say(&format!("{BAD}kill -9 {}{BAD:#}", NAMES[at]));
            }
            Some(at) => self.say(&format!("{} is dead already; r starts it again", NAMES[at])),
            None => self.say(&format!("expected one of {}", NAMES.join(", "))),
        }
    }

    fn restart(&mut self) -> Result<(), Failure> {
        for at in self.nodes.restart()? {
            self.say(&format!(
                "{} is started again, with the state it kept",
                NAMES[at]
            ));
        }
        Ok(())
    }

    fn page(&mut self) -> Result<(), Failure> {
        let url = self.nodes.page()?;
        self.say(&format!("the fleet view is at {url}fleet"));
        Ok(())
    }

    fn say(&self, what: &str) {
        let time = self.began.elapsed().as_secs_f64();
        // A pipe that nobody reads any more is no reason to leave nodes behind.
        let _ = writeln!(anstream::stdout(), "{time:>6.1} s  {what}");
    }
}

/// Passes on what somebody types.
fn listen(sender: Sender<Event>) {
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(Event::Typed(line)).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn two_at_a_time_are_seen_whatever_was_read_first() {
        let mark = |stamp: &str, begins, at| (stamp.to_owned(), begins, at);
        let one = [mark("1", true, 0), mark("2", false, 0), mark("3", true, 1)];
        assert_eq!(judge(one.to_vec()), (2, 0));
        assert_eq!(judge(one.into_iter().rev().collect()), (2, 0));
        let two = [mark("1", true, 0), mark("2", true, 1), mark("3", false, 0)];
        assert_eq!(judge(two.to_vec()), (2, 1));
    }
}
