//! What systemd is told: the test is at the other end of the notification socket.

use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;

use crate::harness::{Fleet, LONG, TOKEN, http, http_as};

/// The watchdog's time; the node is to feed it three times as often.
const WATCHDOG: Duration = Duration::from_millis(300);

/// As systemd at its end of the socket.
struct Manager {
    socket: UnixDatagram,
}

impl Manager {
    fn of(fleet: &mut Fleet, at: usize) -> Manager {
        let path = fleet.path("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        fleet.variables = vec![
            (at, "NOTIFY_SOCKET", path.display().to_string()),
            (at, "WATCHDOG_USEC", WATCHDOG.as_micros().to_string()),
        ];
        Manager { socket }
    }

    /// The next message, if one comes soon: its lines.
    fn next(&self) -> Option<Vec<String>> {
        let mut buffer = [0; 4096];
        let bytes = self.socket.recv(&mut buffer).ok()?;
        let text = String::from_utf8(buffer[..bytes].to_vec()).unwrap();
        Some(text.lines().map(str::to_owned).collect())
    }

    /// The next message that is not for the watchdog.
    fn news(&self, what: &str) -> Vec<String> {
        let began = Instant::now();
        while began.elapsed() < LONG {
            match self.next() {
                Some(lines) if lines != ["WATCHDOG=1"] => return lines,
                _ => {}
            }
        }
        panic!("in vain: {what}");
    }

    /// Leaves no room for more messages.
    fn fill(&self) {
        let address = self.socket.local_addr().unwrap();
        let other = UnixDatagram::unbound().unwrap();
        other.set_nonblocking(true).unwrap();
        while other.send_to_addr(b"FULL=1", &address).is_ok() {}
    }

    /// What has come and was not read.
    fn drain(&self) -> Vec<Vec<String>> {
        std::iter::from_fn(|| self.next()).collect()
    }

    fn is_fed(&self) {
        let mut fed = 0;
        let began = Instant::now();
        while fed < 5 {
            fed += usize::from(self.next().is_some_and(|lines| lines == ["WATCHDOG=1"]));
            assert!(began.elapsed() < LONG, "fed {fed} times");
        }
    }
}

/// A ring of which only the first node runs.
fn fleet() -> (Fleet, Manager) {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    fleet.more += "[fleetlock]\nenabled = true\nwait = \"0ms\"\n";
    let manager = Manager::of(&mut fleet, 0);
    fleet.write_config(0, 3);
    (fleet, manager)
}

#[test]
fn ready_reloading_stopping_and_the_watchdog_in_between() {
    let (mut fleet, manager) = fleet();
    fleet.start(0);
    assert_eq!(manager.news("ready"), ["READY=1"]);
    // From that moment on, not some time later.
    assert_eq!(fleet.status(0)["name"], "a");
    assert_eq!(http(&fleet.http(0), "GET", "/healthz", &[], "").0, 200);
    // Its neighbours are not there, which is not its fault; and nobody listens to it.
    manager.fill();
    fleet.until("it misses them", || {
        fleet.status(0)["silent"].as_array().map(Vec::len) == Some(2)
    });
    manager.drain();
    manager.is_fed();

    let path = fleet.path("a.toml");
    let good = std::fs::read_to_string(&path).unwrap();
    for text in [good.replace("tokens = 1", "tokens = 99"), good.clone()] {
        std::fs::write(&path, text).unwrap();
        fleet.signal(0, Signal::SIGHUP);
        let news = manager.news("reloading");
        assert_eq!(news[0], "RELOADING=1");
        let time = news[1].strip_prefix("MONOTONIC_USEC=");
        let time: u64 = time.and_then(|time| time.parse().ok()).expect("a time");
        let up = std::fs::read_to_string("/proc/uptime").unwrap();
        let up: f64 = up.split(' ').next().unwrap().parse().unwrap();
        assert!((time as f64 / 1e6 - up).abs() < 60.0, "{news:?}, up {up} s");
        // Also if the file is wrong: the node runs on with what it had.
        assert_eq!(manager.news("ready again"), ["READY=1"]);
    }
    assert!(fleet.log(0).contains("the configuration is not used"));
    // When it says so, it has.
    assert!(fleet.log(0).contains("the configuration was read again"));
    manager.is_fed();

    fleet.signal(0, Signal::SIGTERM);
    assert_eq!(manager.news("stopping"), ["STOPPING=1"]);
    assert_eq!(fleet.wait(0), 0);
    let rest = manager.drain();
    assert!(
        rest.iter().all(|lines| lines == &["WATCHDOG=1"]),
        "{rest:?}"
    );
}

/// The counter-test of the watchdog: the rest of the node lives, but its protocol does
/// not, because it waits for a disk that does not answer.
#[test]
fn a_protocol_that_is_stuck_does_not_feed_the_watchdog() {
    let (mut fleet, manager) = fleet();
    fleet.start(0);
    assert_eq!(manager.news("ready"), ["READY=1"]);
    manager.is_fed();
    // Nobody reads from this pipe, so opening it for writing waits.
    let pipe = fleet.path("state-a/notes.new");
    let _ = std::fs::remove_file(&pipe);
    nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    // Told to a client, it has to be written down.
    let address = fleet.http(0);
    let token = format!("Bearer {TOKEN}");
    let headers = [
        ("host", &*address),
        ("authorization", &*token),
        ("fleet-lock-protocol", "true"),
    ];
    let body = r#"{"client_params":{"id":"x","group":"default"}}"#;
    let (status, text) = http_as(&address, "POST", "/v1/pre-reboot", &headers, body);
    assert_eq!(status, 503, "the protocol does not answer");
    assert!(text.contains("\"kind\":\"unavailable\""), "{text}");
    fleet.until("the watchdog is not fed, and the node answers", || {
        manager.drain();
        // It waits for the protocol for longer than several of these times.
        let (status, _) = http_as(&address, "GET", "/healthz", &headers, "");
        assert_eq!(status, 503, "it is stuck");
        manager.drain().is_empty()
    });
    // Somebody reads: it goes on, and says so.
    let reader = std::fs::File::open(&pipe).unwrap();
    manager.is_fed();
    drop(reader);
}
