//! Programs that have a permit keep it, whatever others ask and whatever becomes of the node; and
//! `headway node run` ends its command before its permit is over, and not without need.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use headway_service::client::{self, Ran};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Fleet, TOKEN, http_as};

/// In vain after this long.
const LONG: Duration = Duration::from_secs(60);

fn acquire(fleet: &Fleet, lease: Duration) -> String {
    let body = json!({ "wait_ms": 60_000, "lease_ms": lease.as_millis() as u64 });
    let permit = fleet.ask(0, "POST", "/v1/permits", Some(&body));
    let permit = permit.expect("a permit");
    permit["permit"].as_str().expect("a name").to_owned()
}

/// Sends a request, and reads no answer.
fn send(mut to: impl std::io::Write, path: &str, headers: &str, body: &str) {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}");
    let sent = write!(to, "{head}content-length: {length}\r\n\r\n{body}");
    sent.expect("sent");
}

#[test]
fn whoever_has_a_permit_is_heard_however_many_wait() {
    const WAITING: usize = 70;
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    fleet.timing = fleet.timing.replace("\"3s\"", "\"300s\"");
    fleet.more += "[fleetlock]\nenabled = true\nwait = \"300s\"\n";
    fleet.start_all();
    fleet.settle();
    let permit = acquire(&fleet, Duration::from_secs(200));
    let wait = r#"{"wait_ms": 300000}"#;
    let _programs: Vec<UnixStream> = (0..WAITING)
        .map(|_| {
            let stream = UnixStream::connect(fleet.socket(0)).expect("connected");
            let headers = "content-type: application/json\r\n";
            send(&stream, "/v1/permits", headers, wait);
            stream
        })
        .collect();
    let client = |id: usize| format!(r#"{{"client_params":{{"id":"m{id}","group":"default"}}}}"#);
    let headers = format!("authorization: Bearer {TOKEN}\r\nfleet-lock-protocol: true\r\n");
    let _machines: Vec<TcpStream> = (0..WAITING)
        .map(|id| {
            let stream = TcpStream::connect(fleet.http(0)).expect("connected");
            send(&stream, "/v1/pre-reboot", &headers, &client(id));
            stream
        })
        .collect();
    let path = format!("/v1/permits/{permit}/extend");
    let extended = fleet.ask(0, "POST", &path, None);
    assert!(extended.is_ok(), "{extended:?}");
    let stream = TcpStream::connect(fleet.http(0)).expect("connected");
    stream.set_read_timeout(Some(LONG)).expect("set");
    let close = format!("{headers}connection: close\r\n");
    send(&stream, "/v1/steady-state", &close, &client(0));
    let mut answer = String::new();
    (&stream).read_to_string(&mut answer).expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// A thousand connections of whoever has no token do not keep out who has one.
#[test]
fn whoever_has_a_token_comes_in_however_many_have_none() {
    const STRANGERS: usize = 900;
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    fleet.timing = fleet.timing.replace("\"3s\"", "\"300s\"");
    fleet.start_all();
    fleet.settle();
    let permit = acquire(&fleet, Duration::from_secs(200));
    let address = fleet.http(0);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut strangers = std::collections::VecDeque::new();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                while strangers.len() < STRANGERS {
                    let to = address.parse().expect("an address");
                    strangers.extend(TcpStream::connect_timeout(&to, ms(10)).ok());
                }
                // Those that were sent away come again.
                strangers.retain(|stranger: &TcpStream| {
                    let _ = stranger.set_nonblocking(true);
                    let left = stranger.peek(&mut [0]);
                    left.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
                });
                std::thread::sleep(ms(10));
            }
        });
        std::thread::sleep(ms(300));
        let token = format!("Bearer {TOKEN}");
        let headers = [("host", &*address), ("authorization", &*token)];
        let path = format!("/v1/permits/{permit}/extend");
        for _ in 0..4 {
            let began = Instant::now();
            assert_eq!(http_as(&address, "POST", &path, &headers, "").0, 200);
            println!("extended after {:?}", began.elapsed());
            assert!(began.elapsed() < Duration::from_secs(10));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// It is up again, and does not hear a neighbour yet: whether the permit still counts, it will know
/// later, and that is no reason to stop.
#[test]
fn a_node_that_does_not_know_yet_whether_a_permit_counts_does_not_say_no() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    fleet.timing = fleet.timing.replace("\"3s\"", "\"300s\"");
    fleet.start_all();
    fleet.settle();
    let permit = acquire(&fleet, Duration::from_secs(200));
    fleet.signal(1, Signal::SIGSTOP);
    fleet.kill(0);
    fleet.start(0);
    fleet.until("it is up", || fleet.status(0).is_object());
    let http = fleet.http(0);
    let token = format!("Bearer {TOKEN}");
    let headers = [("host", &*http), ("authorization", &*token)];
    let extend = format!("/v1/permits/{permit}/extend");
    let (status, text) = http_as(&http, "POST", &extend, &headers, "");
    assert_eq!(status, 503, "{text}");
    let look = format!("/v1/permits/{permit}");
    assert_eq!(http_as(&http, "GET", &look, &headers, "").0, 503);
    fleet.signal(1, Signal::SIGCONT);
    fleet.until("it knows", || {
        http_as(&http, "POST", &extend, &headers, "").0 == 200
    });
    let release = format!("{look}/release");
    assert_eq!(http_as(&http, "POST", &release, &headers, "").0, 200);
    let other = format!("/v1/permits/{:032x}/extend", 1);
    assert_eq!(http_as(&http, "POST", &other, &headers, "").0, 404);
}

/// A node as `headway node run` sees it: it gives one permit, and then says what it is told to.
struct FakeNode {
    folder: tempfile::TempDir,
    listener: UnixListener,
}

impl FakeNode {
    fn new() -> FakeNode {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        FakeNode { folder, listener }
    }

    /// Runs a script for its permit; FOLDER is its folder.
    fn run(&self, script: &str) -> mpsc::Receiver<Ran> {
        let folder = self.folder.path().to_owned();
        let script = script.replace("FOLDER", &folder.display().to_string());
        let (sender, ran) = mpsc::channel();
        std::thread::spawn(move || {
            let command = ["sh", "-c", &script].map(Into::into);
            let tell = |text: &str| println!("{text}");
            let socket = folder.join("socket");
            let ran = client::run(&socket, &command, None, &tell).expect("it runs");
            let _ = sender.send(ran);
        });
        ran
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn accept(&self) -> UnixStream {
        self.listener.set_nonblocking(true).expect("set");
        let began = Instant::now();
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).expect("set");
                    return stream;
                }
                Err(error) => assert!(began.elapsed() < LONG, "nobody asks: {error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The next request: its path, and where the answer goes.
    fn next(&self) -> (String, UnixStream) {
        let stream = self.accept();
        let mut text = String::new();
        // All of it: who closes before has not listened.
        while !is_whole(&text) {
            let mut piece = [0; 1024];
            let read = (&stream).read(&mut piece).expect("a request");
            text += &String::from_utf8_lossy(&piece[..read]);
        }
        let path = text.split(' ').nth(1).expect("a path").to_owned();
        (path, stream)
    }

    fn give(&self, lease: Duration) {
        let (path, stream) = self.next();
        assert_eq!(path, "/v1/permits");
        let permit = json!({
            "permit": "5", "token": 0, "fencing": 7, "lease_ms": lease.as_millis() as u64,
            "most_ms": 3_600_000, "stop_timeout_ms": 1_000,
        });
        answer(stream, "200 OK", &permit);
    }
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let mut lines = head.lines();
    let length = lines.find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn answer(mut to: UnixStream, status: &str, body: &Value) {
    let body = body.to_string();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}");
    let _ = write!(to, "{head}\r\n\r\n{body}");
}

/// Whether it was asked for too much, or something hangs: a node that has heard nothing for a
/// whole lease has given the permit to somebody else.
#[test]
fn a_command_has_ended_before_its_lease_is_over_if_the_node_does_not_answer() {
    let node = FakeNode::new();
    let ran = node.run("trap 'touch FOLDER/told; exit 5' TERM; while :; do sleep 0.01; done");
    node.give(Duration::from_secs(3));
    let (path, _hangs) = node.next();
    assert_eq!(path, "/v1/permits/5/extend");
    std::thread::spawn({
        let told = node.path("told");
        move || {
            // Nobody is answered until the command has been told.
            let mut silent = Vec::new();
            loop {
                let (path, stream) = node.next();
                if path.ends_with("/release") && told.exists() {
                    return answer(stream, "200 OK", &json!({}));
                }
                silent.push(stream);
            }
        }
    });
    assert_eq!(ran.recv_timeout(LONG), Ok(Ran::Ended(5)));
}

/// A stall, a restart: the node will say so if the permit is over.
#[test]
fn a_command_goes_on_if_the_node_cannot_say_yet_whether_its_permit_counts() {
    let node = FakeNode::new();
    let ran = node.run("until test -e FOLDER/end; do sleep 0.01; done; exit 6");
    node.give(Duration::from_secs(6));
    let (_, stream) = node.next();
    let why = json!({ "error": "the node is not answering" });
    answer(stream, "503 Service Unavailable", &why);
    let (path, stream) = node.next();
    assert_eq!(path, "/v1/permits/5/extend");
    answer(stream, "200 OK", &json!({ "lease_ms": 6_000 }));
    std::fs::write(node.path("end"), "").expect("written");
    let (path, stream) = node.next();
    assert_eq!(path, "/v1/permits/5/release");
    answer(stream, "200 OK", &json!({}));
    assert_eq!(ran.recv_timeout(LONG), Ok(Ran::Ended(6)));
}

#[test]
fn a_command_ends_when_the_node_says_that_its_permit_is_over() {
    let node = FakeNode::new();
    let ran = node.run("trap 'exit 5' TERM; while :; do sleep 0.01; done");
    node.give(Duration::from_secs(3));
    let gone = json!({ "error": "there is no such permit" });
    for path in ["extend", "release"] {
        let (asked, stream) = node.next();
        assert_eq!(asked, format!("/v1/permits/5/{path}"));
        answer(stream, "404 Not Found", &gone);
    }
    assert_eq!(ran.recv_timeout(LONG), Ok(Ran::Ended(5)));
}

/// A node that does not run keeps the permit until it is back.
#[test]
fn a_command_goes_on_while_its_node_does_not_run() {
    let node = FakeNode::new();
    // Each half of it takes longer than a lease.
    let ran = node.run(
        "sleep 0.6; touch FOLDER/half; until test -e FOLDER/go; do sleep 0.01; done; sleep 0.6; exit 6",
    );
    node.give(Duration::from_millis(300));
    // First it is killed, then it is stopped.
    let (half, go, socket) = (node.path("half"), node.path("go"), node.path("socket"));
    let FakeNode {
        folder: _folder,
        listener,
    } = node;
    drop(listener);
    let began = Instant::now();
    while !half.exists() {
        assert!(began.elapsed() < LONG, "it does not run");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_file(socket).expect("removed");
    std::fs::write(go, "").expect("written");
    assert_eq!(ran.recv_timeout(LONG), Ok(Ran::Ended(6)));
}

#[test]
fn a_command_waits_while_too_many_wait_at_the_node() {
    let node = FakeNode::new();
    let ran = node.run("exit 6");
    let (_, stream) = node.next();
    let full = json!({ "error": "too many wait for a permit here already" });
    answer(stream, "429 Too Many Requests", &full);
    node.give(LONG);
    let (path, stream) = node.next();
    assert_eq!(path, "/v1/permits/5/release");
    answer(stream, "200 OK", &json!({}));
    assert_eq!(ran.recv_timeout(LONG), Ok(Ran::Ended(6)));
}
