//! Programs that have a permit keep it, whatever others ask and whatever becomes of the node; and
//! `headway node run` ends its command before its permit is over, and not without need.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use headway_service::client::{self, Ran};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Fleet, LONG, TOKEN, http};

fn acquire(fleet: &Fleet, lease: Duration) -> String {
    let body = json!({ "wait_ms": 10_000, "lease_ms": lease.as_millis() as u64 });
    let mut given = None;
    fleet.until("a permit", || {
        let permit = fleet.ask(0, "POST", "/v1/permits", Some(&body));
        let permit = permit.expect("a node that gives permits");
        given = permit["permit"].as_str().map(str::to_owned);
        given.is_some()
    });
    given.expect("a permit")
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
    let lock = ("fleet-lock-protocol", "true");
    let back = http(
        &fleet.http(0),
        "POST",
        "/v1/steady-state",
        &[lock],
        &client(0),
    );
    assert_eq!(back.0, 200, "{}", back.1);
}

/// A thousand connections of whoever has no token do not keep out who has one.
#[test]
fn whoever_has_a_token_comes_in_however_many_have_none() {
    const STRANGERS: usize = 900;
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    fleet.start_all();
    fleet.settle();
    let permit = acquire(&fleet, Duration::from_secs(200));
    let address = fleet.http(0);
    let (tell, full) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut strangers = std::collections::VecDeque::new();
            let tell = tell;
            while {
                for _ in strangers.len()..STRANGERS {
                    let to = address.parse().expect("an address");
                    strangers.extend(TcpStream::connect_timeout(&to, ms(10)).ok());
                }
                tell.send(()).is_ok()
            } {
                // Those that were sent away come again.
                strangers.retain(|stranger: &TcpStream| {
                    let _ = stranger.set_nonblocking(true);
                    let left = stranger.peek(&mut [0]);
                    left.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
                });
                std::thread::sleep(ms(10));
            }
        });
        // They leave when this is dropped, also by a failure.
        let full = full;
        full.recv().expect("they come");
        let path = format!("/v1/permits/{permit}/extend");
        for _ in 0..4 {
            // Sent away if it was slow to show its token, it asks again.
            fleet.until("it comes in", || {
                let status = http(&address, "POST", &path, &[], "").0;
                assert_ne!(status, 404, "its lease is over");
                status == 200
            });
        }
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
    fleet.start_all();
    fleet.settle();
    let permit = acquire(&fleet, Duration::from_secs(200));
    fleet.signal(1, Signal::SIGSTOP);
    fleet.kill(0);
    fleet.start(0);
    fleet.until("it is up", || fleet.status(0).is_object());
    let address = fleet.http(0);
    let ask = |method: &str, path: &str| http(&address, method, path, &[], "");
    let look = format!("/v1/permits/{permit}");
    let extend = format!("{look}/extend");
    for (method, path) in [("POST", &extend), ("GET", &look)] {
        let (status, text) = ask(method, path);
        assert_eq!(status, 503, "{text}");
        assert!(text.contains("asks its neighbours"), "{text}");
    }
    fleet.signal(1, Signal::SIGCONT);
    fleet.until("it knows", || ask("POST", &extend).0 == 200);
    assert_eq!(ask("POST", &format!("{look}/release")).0, 200);
    let other = format!("/v1/permits/{:032x}/extend", 1);
    assert_eq!(ask("POST", &other).0, 404);
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
            "most_ms": 3_600_000, "stop_timeout_ms": 300_000,
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

#[test]
fn a_command_ends_when_the_node_says_that_its_permit_is_over() {
    let node = FakeNode::new();
    let ran = node.run("trap 'exit 5' TERM; while test -d FOLDER; do sleep 0.1; done");
    // It is asked for a third of that before anybody hurries.
    node.give(Duration::from_secs(12));
    let gone = json!({ "error": "there is no such permit" });
    for path in ["extend", "release"] {
        let (asked, stream) = node.next();
        assert_eq!(asked, format!("/v1/permits/5/{path}"));
        answer(stream, "404 Not Found", &gone);
    }
    assert_eq!(ran.recv_timeout(LONG), Ok(Ran::Ended(5)));
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
