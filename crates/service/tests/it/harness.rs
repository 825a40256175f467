//! Rings of real processes on loopback addresses of their own.
//!
//! A node is this test program run again, which then does nothing but what
//! `headway node --config FILE` does.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use headway_service::client;
use headway_service::config::{Settings, Sources};
use headway_service::identity::Identities;
use headway_service::internal::run_speaking;
use nix::sys::signal::{self, Signal};
use serde_json::Value;

use crate::observer::{self, Seen};

/// In vain after this long, on a machine that is busy with other things.
pub(crate) const LONG: Duration = Duration::from_secs(180);

/// What has to be shown to change something over HTTP.
pub(crate) const TOKEN: &str = "a-token-for-tests-only";

const CONFIG: &str = "HEADWAY_TEST_NODE_CONFIG";

/// The newest version of the wire format that a node speaks, if it is not this program's.
const WIRE: &str = "HEADWAY_TEST_NODE_WIRE";

/// In a process that was started as a node, runs it and does not come back.
pub(crate) fn be_a_node_if_asked() {
    let Some(path) = std::env::var_os(CONFIG).map(PathBuf::from) else {
        return;
    };
    let read = move || {
        let text = fs::read_to_string(&path).expect("the configuration is there");
        Settings::read(&Sources {
            text,
            file: Some(path.clone()),
            ..Sources::default()
        })
    };
    let settings = read().unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let ran = match std::env::var(WIRE) {
        Ok(wire) => run_speaking(wire.parse().expect("a number"), &settings, &read),
        Err(_) => headway_service::run(&settings, &read),
    };
    match ran {
        Ok(_) => std::process::exit(0),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    }
}

/// Addresses that no other fleet of this machine has: the first three numbers, and what keeps others
/// from taking them.
fn network() -> (String, TcpListener) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() + 101 * NEXT.fetch_add(1, Ordering::Relaxed);
        let network = format!("127.{}.{}", 1 + number % 250, 150 + number / 250 % 100);
        if let Ok(reserved) = TcpListener::bind(format!("{network}.254:7400")) {
            return (network, reserved);
        }
    }
}

/// A ring of processes.
pub(crate) struct Fleet {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) network: String,
    _reserved: TcpListener,
    pub(crate) names: Vec<String>,
    nodes: Vec<Mutex<Option<Child>>>,
    /// Lines for the file, by section.
    pub(crate) more: String,
    pub(crate) node: String,
    pub(crate) ring: String,
    pub(crate) timing: String,
    /// Namespaces that the nodes run in, if they are hosts of their own.
    pub(crate) hosts: Option<String>,
    /// More variables for some nodes.
    pub(crate) variables: Vec<(usize, &'static str, String)>,
}

/// Permits whose end no slow machine sees.
pub(crate) const QUICK: &str = "refresh = \"20ms\"\nheartbeat_timeout = \"2s\"\ntick = \"2ms\"\nmax_hold = \"300s\"\nstop_timeout = \"800ms\"\n";

impl Fleet {
    pub(crate) fn new(names: &[&str], tokens: u32, separation: u32) -> Fleet {
        let folder = tempfile::tempdir().expect("a folder");
        let (network, reserved) = network();
        let token = folder.path().join("api.token");
        fs::write(&token, TOKEN).expect("a token");
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("private");
        Fleet {
            folder,
            network,
            _reserved: reserved,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            nodes: names.iter().map(|_| Mutex::default()).collect(),
            more: String::new(),
            node: String::new(),
            ring: format!("tokens = {tokens}\nseparation = {separation}\n"),
            timing: QUICK.to_owned(),
            hosts: None,
            variables: Vec::new(),
        }
    }

    /// A node's key pairs, which are not in its state's folder: tests lose that.
    pub(crate) fn identities(&self, at: usize) -> Identities {
        let path = self.path(&format!("{}.identity", self.names[at]));
        Identities::open(&path).expect("an identity")
    }

    /// What `headway node add` sends for a node.
    pub(crate) fn member(&self, at: usize) -> Value {
        serde_json::json!({
            "name": self.names[at], "address": self.address(at),
            "key": self.identities(at).public().to_string(),
        })
    }

    /// Every node runs a command that says when it begins and ends, for `seconds`.
    pub(crate) fn with_observer(mut self, seconds: f64) -> Fleet {
        self.more += &observer::section(self.folder.path(), seconds);
        self
    }

    /// Every node runs a script when it is asked to.
    pub(crate) fn with_asked(mut self, script: &str) -> Fleet {
        self.more +=
            &format!("[command]\nrun = [\"/bin/sh\", \"-c\", {script:?}]\nwhen = \"requested\"\n");
        self
    }

    pub(crate) fn address(&self, at: usize) -> String {
        format!("{}.{}:7400", self.network, at + 1)
    }

    pub(crate) fn http(&self, at: usize) -> String {
        match self.hosts {
            // A host's own loopback, out of reach from here.
            Some(_) => "127.0.0.1:7480".into(),
            None => format!("{}.{}:7480", self.network, at + 1),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn socket(&self, at: usize) -> PathBuf {
        self.path(&format!("{}.sock", self.names[at]))
    }

    /// Writes a node's file. Nodes from `members` on ask those for the roster.
    pub(crate) fn write_config(&self, at: usize, members: usize) {
        let name = &self.names[at];
        let folder = self.folder.path().display();
        let mut text = format!(
            "[node]\nname = \"{name}\"\nlisten = \"{0}\"\nadvertise = \"{0}\"\n\
             state_dir = \"{folder}/state-{name}\"\n\
             identity_file = \"{folder}/{name}.identity\"\n{6}\
             [timing]\n{1}[api]\nsocket = \"{2}\"\nhttp = \"{3}\"\n\
             token_file = \"{folder}/api.token\"\n{4}\n\
             [ring]\nname = \"{7}\"\n{5}",
            self.address(at),
            self.timing,
            self.socket(at).display(),
            self.http(at),
            self.more,
            self.ring,
            self.node,
            self.network,
        );
        for (place, name) in self.names.iter().enumerate().take(members) {
            let (address, key) = (self.address(place), self.identities(place).public());
            text += &format!("[[ring.members]]\nname = \"{name}\"\naddress = \"{address}\"\n");
            text += &format!("key = \"{key}\"\n");
        }
        fs::write(self.path(&format!("{name}.toml")), text).expect("written");
    }

    pub(crate) fn start_all(&mut self) {
        let all = self.names.len();
        for at in 0..all {
            self.write_config(at, all);
            self.start(at);
        }
    }

    pub(crate) fn start(&mut self, at: usize) {
        *self.child(at) = Some(self.spawn(at));
    }

    fn spawn(&self, at: usize) -> Child {
        let name = &self.names[at];
        let log = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.path(&format!("{name}.log")));
        let program = std::env::current_exe().expect("this program");
        let mut command = match &self.hosts {
            None => Command::new(program),
            Some(hosts) => {
                let mut command = Command::new("ip");
                command
                    .args(["netns", "exec", &format!("{hosts}-{at}")])
                    .arg(program);
                command
            }
        };
        for (_, variable, value) in self.variables.iter().filter(|(node, ..)| *node == at) {
            command.env(variable, value);
        }
        command.args(["--exact", "a_node_if_asked", "--nocapture"]);
        let mut command = self.next_program(at).unwrap_or(command);
        let child = command
            .env(CONFIG, self.path(&format!("{name}.toml")))
            .env("SECRET_OF_THE_PARENT", "never in a command")
            .stdout(Stdio::null())
            .stderr(log.expect("a log"))
            .spawn();
        child.expect("a node")
    }

    /// From its next start on, a node's program is one whose newest wire format is this.
    pub(crate) fn speak(&mut self, at: usize, wire: u8) {
        self.variables
            .retain(|(node, variable, _)| (*node, *variable) != (at, WIRE));
        self.variables.push((at, WIRE, wire.to_string()));
    }

    /// A real program of the next wire format, if there is one and the node is to be of it.
    fn next_program(&self, at: usize) -> Option<Command> {
        let next = |(node, variable, wire): &(usize, &str, String)| {
            (*node, *variable, wire.as_str()) == (at, WIRE, "2")
        };
        let program = std::env::var_os("HEADWAY_NEXT_PROGRAM");
        let program = program.filter(|_| self.variables.iter().any(next))?;
        let mut command = Command::new(program);
        command.args(["node", "--config"]);
        command.arg(self.path(&format!("{}.toml", self.names[at])));
        Some(command)
    }

    fn child(&self, at: usize) -> MutexGuard<'_, Option<Child>> {
        self.nodes[at].lock().expect("no panic")
    }

    pub(crate) fn pid(&self, at: usize) -> i32 {
        self.child(at).as_ref().expect("it runs").id() as i32
    }

    pub(crate) fn signal(&self, at: usize, signal: Signal) {
        signal::kill(nix::unistd::Pid::from_raw(self.pid(at)), signal).expect("sent");
    }

    pub(crate) fn kill(&mut self, at: usize) {
        if let Some(mut node) = self.child(at).take() {
            let _ = node.kill();
            let _ = node.wait();
        }
    }

    /// SIGTERM, and how it ended.
    pub(crate) fn stop(&mut self, at: usize) -> i32 {
        self.signal(at, Signal::SIGTERM);
        let mut node = self.child(at).take().expect("it runs");
        node.wait().expect("it ends").code().unwrap_or(-1)
    }

    pub(crate) fn wait(&mut self, at: usize) -> i32 {
        let mut node = self.child(at).take().expect("it runs");
        node.wait().expect("it ends").code().unwrap_or(-1)
    }

    pub(crate) fn ask(
        &self,
        at: usize,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, String> {
        patiently(|| {
            let answer = client::ask(&self.socket(at), method, path, body);
            let answer = answer.map_err(|error| error.to_string());
            let late = matches!(&answer, Err(why) if why.contains(LATE));
            (!late).then_some(answer)
        })
    }

    pub(crate) fn status(&self, at: usize) -> Value {
        self.ask(at, "GET", "/v1/status", None)
            .unwrap_or(Value::Null)
    }

    pub(crate) fn metric(&self, at: usize, name: &str) -> f64 {
        let (status, text) = http(&self.http(at), "GET", "/metrics", &[], "");
        assert_eq!(status, 200, "{text}");
        let line = text
            .lines()
            .find(|line| line.starts_with(name) && !line.starts_with('#'));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
        value.unwrap_or_else(|| panic!("no {name} in\n{text}"))
    }

    pub(crate) fn log(&self, at: usize) -> String {
        fs::read_to_string(self.path(&format!("{}.log", self.names[at]))).unwrap_or_default()
    }

    /// Waits until all that run are settled.
    pub(crate) fn settle(&self) {
        let all: Vec<usize> = (0..self.names.len())
            .filter(|&at| self.child(at).is_some())
            .collect();
        self.settle_of(&all);
    }

    /// Waits until these are settled.
    pub(crate) fn settle_of(&self, nodes: &[usize]) {
        self.until("all settled", || {
            nodes.iter().all(|&at| self.status(at)["settled"] == true)
        });
    }

    /// Waits for something; shows everything when it does not come.
    pub(crate) fn until(&self, what: &str, mut done: impl FnMut() -> bool) {
        let began = Instant::now();
        while !done() {
            if began.elapsed() > LONG {
                for at in 0..self.names.len() {
                    eprintln!(
                        "--- {}: {}\n{}",
                        self.names[at],
                        self.status(at),
                        tail(&self.log(at))
                    );
                }
                panic!("in vain: {what}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn observed(&self) -> Vec<Seen> {
        observer::observed(self.folder.path())
    }
}

/// However a test ends, nothing that it started lives on: its nodes, and their commands, which
/// outlive them.
impl Drop for Fleet {
    fn drop(&mut self) {
        for at in 0..self.nodes.len() {
            self.kill(at);
        }
        // A command has the ring's name in its environment; what has not become one yet, the
        // node's.
        let marks = [
            format!("HEADWAY_RING={}\0", self.network),
            format!("{CONFIG}={}/", self.folder.path().display()),
        ];
        while end_all(&marks) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Kills the processes that have one of these in their environment. Whether there were any.
fn end_all(marks: &[String]) -> bool {
    let ours = |process: &i32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment);
        marks.iter().any(|mark| environment.contains(mark))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let found: Vec<i32> = processes.filter(ours).collect();
    for &process in &found {
        let _ = signal::kill(nix::unistd::Pid::from_raw(process), Signal::SIGKILL);
    }
    !found.is_empty()
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(25)..].join("\n")
}

/// What a node says that has not been on a processor for seconds: whoever asks, asks again.
const LATE: &str = "the node is not answering";

fn patiently<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(began.elapsed() < LONG, "{LATE}");
    }
}

/// One HTTP request of somebody who has the token, again if the node is late: status and body.
pub(crate) fn http(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String) {
    let token = format!("Bearer {TOKEN}");
    let known = [("host", address), ("authorization", &token)];
    let headers = [&known, headers].concat();
    patiently(|| {
        let answer = http_as(address, method, path, &headers, body);
        let late = answer.0 == 503 && answer.1.contains(LATE);
        (!late).then_some(answer)
    })
}

/// One HTTP request with these headers: status and body; 0 if the node has hung up.
pub(crate) fn http_as(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("connected");
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    let mut answer = String::new();
    let sent = write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len());
    if sent
        .and_then(|()| stream.read_to_string(&mut answer))
        .is_err()
    {
        return (0, answer);
    }
    let status = answer
        .split_whitespace()
        .nth(1)
        .and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status.unwrap_or(0), body.to_owned())
}

pub(crate) fn alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_whitespace().next().map(str::to_owned));
    state.is_some_and(|state| state != "Z")
}

pub(crate) fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path)
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect()
}
