//! Rings whose nodes are processes of the service.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use headway_service::client;
use headway_service::config::{Settings, Sources};
use headway_service::identity::{Identities, Identity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Called with this and a file, the program is a node of the service.
pub(crate) const NODE: &str = "--service-node";

/// Runs a node until it is killed.
pub(crate) fn node(config: &Path) -> std::io::Result<()> {
    let text = std::fs::read_to_string(config)?;
    let read = move || {
        let text = text.clone();
        Settings::read(&Sources {
            text,
            ..Sources::default()
        })
    };
    let settings = read().map_err(|mistakes| std::io::Error::other(format!("{mistakes:?}")))?;
    let stopped = headway_service::run(&settings, &read);
    stopped.map(|_| ()).map_err(std::io::Error::other)
}

/// A ring of which some nodes are processes of the service.
pub(crate) struct Ring {
    folder: tempfile::TempDir,
    pub(crate) members: usize,
    first_port: u16,
    timing: &'static str,
    /// Lines for `[api]` and what follows it, given a node's place.
    pub(crate) api: fn(&Ring, usize) -> String,
    processes: Vec<(usize, Child)>,
}

/// The key pairs of a member.
pub(crate) fn identity(at: usize) -> Identity {
    let mut secret = [7; 64];
    secret[..2].copy_from_slice(&(at as u16).to_be_bytes());
    secret[32..34].copy_from_slice(&(at as u16).to_be_bytes());
    Identity::new(&secret)
}

impl Ring {
    pub(crate) fn new(members: usize, first_port: u16, timing: &'static str) -> Ring {
        let folder = tempfile::tempdir().expect("a folder");
        Ring {
            folder,
            members,
            first_port,
            timing,
            api: |_, _| String::new(),
            processes: Vec::new(),
        }
    }

    pub(crate) fn text(&self, at: usize) -> String {
        let folder = self.folder.path().display();
        let members: String = (0..self.members)
            .map(|at| {
                let port = self.port(at);
                let key = identity(at).public();
                format!(
                    "[[ring.members]]\nname = \"n{at}\"\naddress = \"127.0.0.1:{port}\"\n\
                     key = \"{key}\"\n"
                )
            })
            .collect();
        format!(
            "[node]\nname = \"n{at}\"\nlisten = \"127.0.0.1:{}\"\nstate_dir = \"{folder}/{at}\"\n\
             identity_file = \"{folder}/{at}.identity\"\n[api]\nsocket = \"{folder}/{at}.sock\"\n{}[log]\nlevel = \"error\"\n[timing]\n{}\
             [ring]\nname = \"bench\"\ntokens = 1\nseparation = 1\n{members}",
            self.port(at),
            (self.api)(self, at),
            self.timing
        )
    }

    pub(crate) fn port(&self, at: usize) -> u16 {
        self.first_port + at as u16
    }

    pub(crate) fn start(&mut self, at: usize) {
        let path = self.folder.path().join(format!("{at}.toml"));
        std::fs::write(&path, self.text(at)).expect("written");
        let own = Identities::new(identity(at));
        own.write(&self.path(&format!("{at}.identity")))
            .expect("written");
        let this = std::env::current_exe().expect("a path");
        let child = Command::new(this)
            .arg(NODE)
            .arg(path)
            .spawn()
            .expect("it starts");
        self.processes.push((at, child));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn socket(&self, at: usize) -> PathBuf {
        self.path(&format!("{at}.sock"))
    }

    pub(crate) fn status(&self, at: usize) -> Value {
        client::ask(&self.socket(at), "GET", "/v1/status", None).unwrap_or(Value::Null)
    }

    /// Bytes that a node has sent.
    pub(crate) fn sent_bytes(&self, at: usize) -> f64 {
        self.metric(at, "headway_datagram_bytes_sent_total ")
    }

    /// Datagrams that a node has sent.
    pub(crate) fn sent(&self, at: usize) -> f64 {
        self.metric(at, "headway_datagrams_sent_total ")
    }

    fn metric(&self, at: usize, name: &str) -> f64 {
        // Metrics are no JSON: the same client, a line at a time.
        let mut stream =
            std::os::unix::net::UnixStream::connect(self.socket(at)).expect("it listens");
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        .expect("sent");
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let line = lines.filter(|line| line.starts_with(name)).last();
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok())
            .expect("a count")
    }

    pub(crate) fn settings(&self, at: usize) -> Settings {
        let sources = Sources {
            text: self.text(at),
            ..Sources::default()
        };
        Settings::read(&sources).expect("correct")
    }
}

impl Ring {
    /// Waits until all its processes call it settled.
    pub(crate) fn settle(&self) {
        let began = Instant::now();
        while (0..self.members).any(|at| self.status(at)["settled"] != true) {
            let waited = began.elapsed();
            assert!(waited < Duration::from_secs(60), "it does not settle");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops all its processes until [`Ring::resume`].
    pub(crate) fn pause(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Lets them go on.
    pub(crate) fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        for process in self.processes() {
            kill(Pid::from_raw(process as i32), signal).expect("it is ours");
        }
    }

    /// The numbers of its processes.
    pub(crate) fn processes(&self) -> impl Iterator<Item = u32> {
        self.processes.iter().map(|(_, child)| child.id())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for (_, child) in &mut self.processes {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// CPU time of a process so far, and its memory in bytes.
pub(crate) fn usage(process: u32) -> (Duration, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let field = |at: usize| -> u64 {
        fields
            .split_whitespace()
            .nth(at)
            .and_then(|field| field.parse().ok())
            .unwrap_or(0)
    };
    // Hundredths of a second, whatever the kernel counts in.
    let cpu = Duration::from_millis(10 * (field(11) + field(12)));
    (cpu, 4096 * field(21))
}

/// How often the threads of a process have gone to sleep, to be woken again.
pub(crate) fn sleeps(process: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let statuses = threads.into_iter().flatten().flatten().map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse::<u64>().ok())
            .unwrap_or(0)
    });
    statuses.sum()
}
