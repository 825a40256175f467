//! The fleet: nodes that answer, answer nonsense, or do not answer.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use headway_dashboard::Options;
use serde_json::{Value, json};

use super::support::{TestServer, fast};

/// A node that says what it is told to say.
struct FakeNode {
    address: SocketAddr,
    says: Arc<Mutex<String>>,
}

impl FakeNode {
    fn new(says: &Value) -> FakeNode {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let says = Arc::new(Mutex::new(says.to_string()));
        let node = FakeNode {
            address,
            says: Arc::clone(&says),
        };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let mut request = String::new();
                let _ = reader.read_line(&mut request);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    line.clear();
                }
                let (status, body) = if request.starts_with("GET /v1/status ") {
                    ("200 OK", says.lock().unwrap().clone())
                } else if request.starts_with("GET /v1/rollouts ") {
                    let rollouts = json!([{ "name": "kernel", "done": 2, "total": 3 }]);
                    ("200 OK", json!({ "rollouts": rollouts }).to_string())
                } else {
                    ("404 Not Found", String::new())
                };
                let length = body.len();
                let _ = write!(
                    reader.get_mut(),
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            }
        });
        node
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn say(&self, says: &Value) {
        *self.says.lock().unwrap() = says.to_string();
    }
}

fn status(name: &str, index: u64, holding: &Value) -> Value {
    json!({
        "name": name, "index": index, "members": 8, "ring": "web", "settled": true,
        "phase": 3, "laps": 99, "holding": holding, "silent": [], "separation": 3,
        "tokens": 2, "hops": 12, "permits": 4, "rejected": { "key": 1 }, "novel": [1, 2]
    })
}

fn watching(nodes: &[&FakeNode], others: &[&str]) -> TestServer {
    let urls = nodes.iter().map(|node| node.url());
    let urls = urls.chain(others.iter().map(|&url| url.to_owned()));
    TestServer::with(Options {
        fleet: urls.map(|url| url.parse().expect("an address")).collect(),
        limits: fast(),
        ..Options::default()
    })
}

/// The first view for which this holds; the stream ends the test if none ever comes.
fn until(server: &TestServer, holds: impl Fn(&Value) -> bool) -> Value {
    let mut events = server.events("/api/fleet/events");
    loop {
        let (name, view) = events.next().expect("another event");
        assert_eq!(name, "fleet");
        if holds(&view) {
            return view;
        }
    }
}

#[test]
fn without_a_fleet_there_is_none() {
    let server = TestServer::new();
    for path in ["/api/fleet", "/api/fleet/events"] {
        assert_eq!(server.get(path).code(), "no_fleet");
    }
}

#[test]
fn nodes_make_one_picture() {
    let a = FakeNode::new(&status(
        "a",
        0,
        &json!([{ "token": 0, "fencing": 7, "since_ms": 20 }]),
    ));
    let b = FakeNode::new(&status("b", 4, &json!([{ "token": 1, "fencing": 5 }])));
    let server = watching(&[&a, &b], &["http://127.0.0.1:1"]);
    let view = until(&server, |view| view["summary"]["reachable"] == 2);
    let summary = &view["summary"];
    assert_eq!(
        (&summary["settled"], &summary["closest"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(
        (&summary["violated"], &summary["members"]),
        (&json!(false), &json!(8))
    );
    assert_eq!(
        summary["holders"][1],
        json!({ "token": 1, "name": "b", "index": 4, "fencing": 5, "since_ms": 0 })
    );
    let nodes = &view["nodes"];
    assert_eq!(
        (
            &nodes[0]["status"]["phase"],
            nodes[0]["status"].get("novel")
        ),
        (&json!("outside"), None),
        "a word that is not known is as if it was not said"
    );
    assert_eq!(
        (&nodes[2]["reachable"], &nodes[2]["status"]),
        (&json!(false), &Value::Null)
    );
    assert!(nodes[2]["error"].is_string());
    assert_eq!(server.get("/api/about").json()["fleet"], true);

    // b holds too close to a: seen, and said.
    let mut close = status("b", 2, &json!([{ "token": 1, "fencing": 6 }]));
    close["silent"] = json!(["c"]);
    b.say(&close);
    let view = until(&server, |view| view["summary"]["closest"] == 2);
    assert_eq!(view["summary"]["violated"], true);
    assert_eq!(
        view["summary"]["silent"],
        json!([{ "name": "c", "by": ["b"] }])
    );

    // Of two answers about one token the one with the larger fencing number counts.
    a.say(&status("a", 0, &json!([{ "token": 1, "fencing": 9 }])));
    let view = until(&server, |view| {
        view["summary"]["holders"][0]["fencing"] == 9
    });
    assert_eq!(view["summary"]["holders"].as_array().unwrap().len(), 1);
}

#[test]
fn a_node_that_talks_nonsense_is_marked() {
    let node = FakeNode::new(&json!("nonsense"));
    let server = watching(&[&node], &[]);
    let view = until(&server, |view| {
        view["nodes"][0]["error"]
            .as_str()
            .is_some_and(|error| error.contains("no status"))
    });
    assert_eq!(view["nodes"][0]["reachable"], false);
    // It comes back, and what little it says is taken.
    node.say(&json!({ "name": "n" }));
    let view = until(&server, |view| view["nodes"][0]["reachable"] == true);
    assert_eq!(view["nodes"][0]["status"]["name"], "n");
}

/// It answers, and has no place on the ring.
#[test]
fn a_node_that_was_removed_is_outside_and_not_unreachable() {
    let mut outside = status("d", 0, &json!([]));
    for (key, value) in [
        ("index", Value::Null),
        ("settled", json!(false)),
        ("phase", json!("outside")),
        ("membership", json!(3)),
    ] {
        outside[key] = value;
    }
    let node = FakeNode::new(&outside);
    let server = watching(&[&node], &[]);
    let asked = until(&server, |view| view["nodes"][0]["reachable"] == true);
    let node = &asked["nodes"][0];
    assert_eq!(node["error"], Value::Null);
    assert_eq!(node["status"]["phase"], "outside");
    assert_eq!(node["status"]["index"], Value::Null);
}

/// Whoever only looks at a fleet changes nothing; with a socket, orders reach the node.
#[cfg(unix)]
#[test]
fn rollouts_are_shown_and_ordered_by_those_who_may() {
    use headway_dashboard::fleet::Powers;

    let node = FakeNode::new(&status("a", 0, &json!([])));
    let server = watching(&[&node], &[]);
    let view = until(&server, |view| view["rollouts"][0]["name"] == "kernel");
    assert_eq!(
        (&view["may_order"], &view["may_kill"]),
        (&json!(false), &json!(false))
    );
    let pause = "/api/fleet/rollouts/kernel/pause";
    assert_eq!(server.post(pause, &json!({})).code(), "no_orders");
    let kill = "/api/fleet/nodes/a/kill";
    assert_eq!(server.post(kill, &json!({})).code(), "no_demonstration");

    // A node's socket, which notes what it is asked.
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("node.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut request = String::new();
            let _ = reader.read_line(&mut request);
            let status = if request.contains("kernel") {
                "204 No Content"
            } else {
                "404 Not Found"
            };
            noted.lock().unwrap().push(request);
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    let (sender, orders) = std::sync::mpsc::channel();
    let server = TestServer::with(Options {
        fleet: vec![node.url().parse().unwrap()],
        powers: Powers {
            node_socket: Some(socket),
            demonstration: Some(sender),
        },
        limits: fast(),
        ..Options::default()
    });
    assert_eq!(server.post(pause, &json!({})).status, 204);
    assert_eq!(
        asked.lock().unwrap()[0].trim(),
        "POST /v1/rollouts/kernel/pause HTTP/1.1"
    );
    let unknown = server.post("/api/fleet/rollouts/other/abort", &json!({}));
    assert_eq!((unknown.status, unknown.code()), (502, "node".to_owned()));
    for wrong in [
        "rollouts/kernel/burn",
        "rollouts/a%20b/pause",
        "nodes/a/burn",
    ] {
        assert_eq!(
            server
                .post(&format!("/api/fleet/{wrong}"), &json!({}))
                .status,
            422,
            "{wrong}"
        );
    }
    assert_eq!(server.post(kill, &json!({})).status, 204);
    assert_eq!(
        server.post("/api/fleet/nodes/all/start", &json!({})).status,
        204
    );
    assert_eq!(orders.try_iter().collect::<Vec<_>>(), ["k a", "r"]);
}
