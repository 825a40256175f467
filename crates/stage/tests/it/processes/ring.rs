//! The processes, who kills them, and the observer.

use std::fmt;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use headway_node::{Rule, recovery_rounds};
use headway_stage::observer::Observer;
use tempfile::TempDir;

use super::node::{INDEX, LOSS, NODES, SEPARATION, TOKENS, plan};

/// Whether a restart is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saving {
    BeforeEachTransmit,
    Never,
    /// And node 3 passes tokens on before its work is done.
    NeverAndCareless,
}

/// The ring, from outside.
pub(crate) struct Ring {
    rule: Rule,
    saving: Saving,
    seed: u64,
    random: ChaCha8Rng,
    folder: TempDir,
    ports: String,
    children: Vec<Option<Child>>,
    pipe: Option<PipeWriter>,
    reader: Option<JoinHandle<()>>,
    view: Arc<Mutex<View>>,
    started: Instant,
    kills: u64,
    /// Lines that it has written to the pipe itself.
    written: u64,
}

/// What the pipe has told.
struct View {
    observer: Observer,
    started: Instant,
    rounds: Vec<u64>,
    settled: Vec<bool>,
    /// Rounds at the latest fault.
    since: Vec<u64>,
    recoveries: Vec<u64>,
    refused_states: u64,
    strange: Vec<String>,
    /// Lines of the ring itself: who was killed and what is a fault.
    heard: u64,
}

/// What was seen in all.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) rule: Rule,
    pub(crate) seed: u64,
    pub(crate) kills: u64,
    pub(crate) permits: u64,
    pub(crate) least_visits: u64,
    pub(crate) rounds: u64,
    pub(crate) least_distance: Option<u32>,
    pub(crate) violations: Vec<String>,
    /// Of the same kind, but before the ring had settled.
    pub(crate) unpromised: u64,
    /// Rounds to settle after each fault.
    pub(crate) recoveries: Vec<u64>,
    pub(crate) bound: u64,
    pub(crate) refused_states: u64,
    pub(crate) seconds: f64,
}

impl fmt::Display for Seen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:?}, {NODES} processes, {TOKENS} tokens {SEPARATION} apart, loss {LOSS}, {:.0} s, seed {}: \
             {} kills, {} permits (at least {} a node), {} rounds, least distance {:?}, \
             {} violations ({} more while nothing was promised), settled within {:?} rounds (bound {})",
            self.rule,
            self.seconds,
            self.seed,
            self.kills,
            self.permits,
            self.least_visits,
            self.rounds,
            self.least_distance,
            self.violations.len(),
            self.unpromised,
            self.recoveries,
            self.bound,
        )
    }
}

impl Ring {
    /// Starts all processes.
    pub(crate) fn start(saving: Saving, rule: Rule) -> Ring {
        let seed = std::env::var("HEADWAY_PROCESSES_SEED")
            .map_or(2009, |seed| seed.parse().expect("a number"));
        let (reader, pipe) = std::io::pipe().expect("a pipe");
        let started = Instant::now();
        let view = Arc::new(Mutex::new(View {
            observer: Observer::new(&plan(rule)),
            started,
            rounds: vec![0; NODES as usize],
            settled: vec![false; NODES as usize],
            since: vec![0; NODES as usize],
            recoveries: Vec::new(),
            refused_states: 0,
            strange: Vec::new(),
            heard: 0,
        }));
        let told = Arc::clone(&view);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(reader).lines() {
                let Ok(line) = line else { return };
                lock(&told).hear(&line);
            }
        });
        let mut ring = Ring {
            rule,
            saving,
            seed,
            random: ChaCha8Rng::seed_from_u64(seed),
            folder: tempfile::tempdir().expect("a folder"),
            ports: free_ports(),
            children: (0..NODES).map(|_| None).collect(),
            pipe: Some(pipe),
            reader: Some(reader),
            view,
            started,
            kills: 0,
            written: 0,
        };
        for node in 0..NODES {
            ring.spawn(node);
        }
        ring
    }

    /// A number below `below`.
    pub(crate) fn random(&mut self, below: u64) -> u64 {
        self.random.next_u64() % below
    }

    /// Sleeps for a random time.
    pub(crate) fn pause_ms(&mut self, range: std::ops::Range<u64>) {
        let more = self.random(range.end - range.start);
        std::thread::sleep(Duration::from_millis(range.start + more));
    }

    /// Kills a process that is alive, with SIGKILL.
    pub(crate) fn kill_one(&mut self) -> u32 {
        loop {
            let node = self.random(u64::from(NODES)) as u32;
            let Some(mut child) = self.children[node as usize].take() else {
                continue;
            };
            child.kill().expect("it can be killed");
            child.wait().expect("it is dead");
            self.kills += 1;
            // It does nothing any more; what it held is no longer used.
            self.write(format_args!("K {node}"));
            return node;
        }
    }

    /// Starts a process that was killed.
    pub(crate) fn restart(&mut self, node: u32) {
        if self.saving != Saving::BeforeEachTransmit {
            self.write(format_args!("F {node}"));
        }
        self.spawn(node);
    }

    /// Returns when every process has called the ring settled for a turn.
    pub(crate) fn wait_until_settled(&self) {
        // What was written to the pipe before now is read first.
        self.wait("settled", |view| {
            view.heard == self.written && view.note_settled()
        });
    }

    /// Returns when the nodes have had so many permits more.
    pub(crate) fn wait_for_permits(&self, more: u64) {
        let before = lock(&self.view).observer.grants();
        let what = format!("{more} more permits");
        self.wait(&what, |view| view.observer.grants() >= before + more);
    }

    /// Returns when every node has had so many permits.
    pub(crate) fn wait_for_visits(&self, visits: u64) {
        let what = format!("{visits} permits of each node");
        self.wait(&what, |view| {
            view.observer.visits().iter().all(|&had| had >= visits)
        });
    }

    /// Returns when a promise is broken.
    pub(crate) fn wait_for_a_violation(&self) {
        self.wait("caught", |view| !view.observer.violations().is_empty());
    }

    /// Panics when that takes forever.
    fn wait(&self, what: &str, mut come: impl FnMut(&mut View) -> bool) {
        let begun = Instant::now();
        loop {
            let mut view = lock(&self.view);
            assert!(view.strange.is_empty(), "{:?}", view.strange);
            if come(&mut view) {
                return;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "seed {}: not {what} in a minute: {:?} {:?}",
                self.seed,
                view.settled,
                view.rounds
            );
            drop(view);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills all and says what was seen.
    pub(crate) fn finish(mut self) -> Seen {
        for child in self.children.iter_mut().flatten() {
            child.kill().expect("it can be killed");
            child.wait().expect("it is dead");
        }
        drop(self.pipe.take());
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader reads to the end");
        }
        let view = lock(&self.view);
        assert!(view.strange.is_empty(), "{:?}", view.strange);
        let observer = &view.observer;
        Seen {
            rule: self.rule,
            seed: self.seed,
            kills: self.kills,
            permits: observer.grants(),
            least_visits: observer.visits().iter().copied().min().unwrap_or(0),
            rounds: view.rounds.iter().copied().max().unwrap_or(0),
            least_distance: observer.least_distance(),
            violations: observer
                .violations()
                .iter()
                .map(ToString::to_string)
                .collect(),
            unpromised: observer.unsettled_count(),
            recoveries: view.recoveries.clone(),
            bound: recovery_rounds(&plan(self.rule)),
            refused_states: view.refused_states,
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }

    fn spawn(&mut self, node: u32) {
        let this = std::env::current_exe().expect("a path");
        let pipe = self.pipe.as_ref().expect("it runs");
        let mut command = Command::new(this);
        command
            .args(["--exact", "processes::node", "--nocapture"])
            .env(INDEX, node.to_string())
            .env("NODE_INCARNATION", self.random.next_u64().to_string())
            .env("NODE_PORTS", &self.ports)
            .env("NODE_RULE", format!("{:?}", self.rule))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(pipe.try_clone().expect("another end"));
        if self.saving == Saving::BeforeEachTransmit {
            command.env("NODE_STATE", self.folder.path().join(node.to_string()));
        }
        if self.saving == Saving::NeverAndCareless && node == 3 {
            command.env("NODE_CARELESS", "1");
        }
        self.children[node as usize] = Some(command.spawn().expect("it starts"));
    }

    fn write(&mut self, line: fmt::Arguments<'_>) {
        self.written += 1;
        let mut pipe = self.pipe.as_ref().expect("it runs");
        let line = format!("{line}\n");
        pipe.write_all(line.as_bytes()).expect("the reader reads");
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for child in self.children.iter_mut().flatten() {
            // It may be dead already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl View {
    fn hear(&mut self, line: &str) {
        let at = self.started.elapsed();
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
        self.heard += u64::from(matches!(words[0], "K" | "F"));
        let node = number(1).unwrap_or(0) as u32;
        let index = node as usize;
        match (words[0], number(1), number(2), number(3)) {
            ("G", Some(_), Some(token), Some(fence)) => {
                self.observer.granted(at, node, token as u32, fence);
            }
            ("E", Some(_), Some(token), _) => {
                if !self.observer.ended(node, token as u32) {
                    self.strange
                        .push(format!("ended what it did not have: {line}"));
                }
            }
            ("R", Some(_), Some(rounds), Some(settled)) => {
                self.rounds[index] = rounds;
                self.settled[index] = settled == 1;
            }
            ("K", Some(_), _, _) => {
                self.observer.gone(node);
                self.settled[index] = false;
            }
            ("F", Some(_), _, _) => {
                self.observer.fault(at, line);
                self.rounds[index] = 0;
                self.since.clone_from(&self.rounds);
            }
            ("X", Some(_), ..) => self.refused_states += 1,
            _ => self.strange.push(line.to_owned()),
        }
    }

    /// If all nodes have been settled for a turn, tells the observer.
    fn note_settled(&mut self) -> bool {
        let turn = u64::from(NODES);
        let passed = self.rounds.iter().zip(&self.since);
        let settled = self.settled.iter().all(|&settled| settled)
            && passed.clone().all(|(now, then)| *now > then + turn);
        if settled && !self.observer.is_settled() {
            let most = passed.map(|(now, then)| now - then).max();
            self.recoveries.push(most.unwrap_or(0));
            self.observer.settled(self.started.elapsed());
        }
        settled
    }
}

fn lock(view: &Mutex<View>) -> MutexGuard<'_, View> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ports that nobody has now.
fn free_ports() -> String {
    let sockets: Vec<UdpSocket> = (0..NODES)
        .map(|_| UdpSocket::bind("127.0.0.1:0").expect("a free port"))
        .collect();
    let ports: Vec<String> = sockets
        .iter()
        .map(|socket| socket.local_addr().expect("bound").port().to_string())
        .collect();
    ports.join(",")
}
