//! Nodes of a demonstration: processes of this program, with a folder that goes with them.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use headway_service::identity::{Identities, NodeKey};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::failure::Failure;

/// Who they are, in the order of the ring.
pub(super) const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// How long nodes get to end by themselves.
const PATIENCE: Duration = Duration::from_secs(3);

/// Something to look at.
pub(super) enum Event {
    /// A line of a node's log.
    Line(usize, Value),
    /// A line that somebody has typed.
    Typed(String),
}

/// The nodes. When they are dropped, nothing is left of them.
pub(super) struct Nodes {
    folder: Folder,
    events: Sender<Event>,
    http: Vec<String>,
    running: [Option<Child>; NAMES.len()],
    page: Option<(Child, String)>,
}

/// A folder that is removed.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Nodes {
    /// Starts all of them; what they log goes to `events`.
    pub(super) fn start(events: &Sender<Event>) -> Result<Nodes, Failure> {
        let path = std::env::temp_dir().join(format!("headway-demo-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| Failure::writing(&path, &error))?;
        let folder = Folder(path);
        let keys = NAMES.map(|name| {
            let here = Identities::open(&folder.0.join(format!("{name}.identity")));
            here.map(|here| here.public())
        });
        let keys = keys.into_iter().collect::<Result<Vec<_>, _>>();
        let keys = keys.map_err(Failure::new)?;
        let (ports, http) = free_addresses()?;
        let mut nodes = Nodes {
            folder,
            events: events.clone(),
            http,
            running: Default::default(),
            page: None,
        };
        for at in 0..NAMES.len() {
            let file = nodes.file(at);
            let text = nodes.configuration(at, &ports, &keys);
            std::fs::write(&file, text).map_err(|error| Failure::writing(&file, &error))?;
        }
        nodes.restart()?;
        Ok(nodes)
    }

    fn file(&self, at: usize) -> PathBuf {
        self.folder.0.join(format!("{}.toml", NAMES[at]))
    }

    fn configuration(&self, at: usize, addresses: &[String], keys: &[NodeKey]) -> String {
        let (name, folder) = (NAMES[at], self.folder.0.display());
        let members = NAMES.iter().zip(addresses).zip(keys);
        let members = members.map(|((name, address), key)| {
            format!(
                "[[ring.members]]\nname = \"{name}\"\naddress = \"{address}\"\nkey = \"{key}\"\n"
            )
        });
        format!(
            "[node]\nname = \"{name}\"\nlisten = \"{}\"\nstate_dir = \"{folder}/{name}\"\n\
             identity_file = \"{folder}/{name}.identity\"\n\
             [timing]\ntick = \"10ms\"\nrefresh = \"50ms\"\nheartbeat_timeout = \"500ms\"\n\
             max_hold = \"2s\"\nstop_timeout = \"1s\"\n\
             [membership]\nbypass_after = \"1s\"\nwindow = \"500ms\"\n\
             [command]\nrun = [\"sleep\", \"0.5\"]\nwhen = \"every\"\n\
             [api]\nsocket = \"{folder}/{name}.sock\"\nhttp = \"{}\"\n\
             [log]\nformat = \"json\"\n\
             [ring]\nname = \"demo\"\n{}",
            addresses[at],
            self.http[at],
            members.collect::<String>()
        )
    }

    /// Starts those that do not run.
    pub(super) fn restart(&mut self) -> Result<Vec<usize>, Failure> {
        let dead: Vec<usize> = (0..NAMES.len())
            .filter(|&at| self.running[at].is_none())
            .collect();
        for &at in &dead {
            let mut command = this_program()?;
            command.args(["node", "--config"]).arg(self.file(at));
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let mut child = command
                .stderr(Stdio::piped())
                .spawn()
                .map_err(cannot_start)?;
            let (log, events) = (child.stderr.take(), self.events.clone());
            self.running[at] = Some(child);
            std::thread::spawn(move || {
                let lines = log
                    .map(BufReader::new)
                    .into_iter()
                    .flat_map(|log| log.lines());
                for line in lines.map_while(Result::ok) {
                    let line = serde_json::from_str(&line).unwrap_or(Value::Null);
                    if events.send(Event::Line(at, line)).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(dead)
    }

    /// As `kill -9` does. Whether it ran.
    pub(super) fn kill(&mut self, at: usize) -> bool {
        let Some(mut child) = self.running[at].take() else {
            return false;
        };
        end(&mut child);
        true
    }

    /// Where the page is; it is served from now on.
    pub(super) fn page(&mut self) -> Result<String, Failure> {
        if let Some((_, url)) = &self.page {
            return Ok(url.clone());
        }
        let urls: Vec<String> = self.http.iter().map(|at| format!("http://{at}")).collect();
        let mut command = this_program()?;
        command.args(["serve", "--demonstration", "--port", "0"]);
        command.args(["--fleet", &urls.join(",")]);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .map_err(cannot_start)?;
        let mut said = String::new();
        let mut out = child.stdout.take().map(BufReader::new);
        let read = out.as_mut().map(|out| out.read_line(&mut said));
        let url = said
            .trim()
            .strip_prefix("Headway is at ")
            .map(str::to_owned);
        match (read, url) {
            (Some(Ok(_)), Some(url)) => {
                self.page = Some((child, url.clone()));
                // What somebody wants on the page is as good as typed.
                let events = self.events.clone();
                std::thread::spawn(move || {
                    let lines = out.into_iter().flat_map(BufRead::lines);
                    for line in lines.map_while(Result::ok) {
                        let order = line == "r" || line.starts_with("k ");
                        if order && events.send(Event::Typed(line)).is_err() {
                            return;
                        }
                    }
                });
                Ok(url)
            }
            _ => {
                end(&mut child);
                Err(Failure::new("the page cannot be served").help("try `headway serve --port 0`"))
            }
        }
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        let running = self.running.iter_mut().flatten();
        let mut children: Vec<&mut Child> = running
            .chain(self.page.as_mut().map(|(child, _)| child))
            .collect();
        for child in &children {
            // They end their commands first.
            let pid = i32::try_from(child.id()).ok();
            let _ = pid.map(|pid| kill(Pid::from_raw(pid), Signal::SIGTERM));
        }
        let began = Instant::now();
        for child in &mut children {
            while matches!(child.try_wait(), Ok(None)) && began.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(10));
            }
            end(child);
        }
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn this_program() -> Result<Command, Failure> {
    let program = std::env::current_exe().map_err(cannot_start)?;
    let mut command = Command::new(program);
    // What somebody has set for a node of theirs is not for these.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HEADWAY_") {
            command.env_remove(name);
        }
    }
    Ok(command)
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn cannot_start(error: std::io::Error) -> Failure {
    Failure::new(format!("cannot start a node: {error}"))
}

/// Addresses on this machine that nobody uses: for datagrams, for HTTP.
fn free_addresses() -> Result<(Vec<String>, Vec<String>), Failure> {
    let none = |error| Failure::new(format!("no free address on 127.0.0.1: {error}"));
    let sockets: Result<Vec<UdpSocket>, _> = NAMES
        .iter()
        .map(|_| UdpSocket::bind("127.0.0.1:0"))
        .collect();
    let listeners: Result<Vec<TcpListener>, _> = NAMES
        .iter()
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect();
    let (sockets, listeners) = (sockets.map_err(none)?, listeners.map_err(none)?);
    let sockets: Result<Vec<_>, _> = sockets.iter().map(UdpSocket::local_addr).collect();
    let listeners: Result<Vec<_>, _> = listeners.iter().map(TcpListener::local_addr).collect();
    let text = |all: Vec<std::net::SocketAddr>| all.iter().map(ToString::to_string).collect();
    Ok((text(sockets.map_err(none)?), text(listeners.map_err(none)?)))
}
