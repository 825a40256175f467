//! The page without a server: what `scripts/static-page` builds answers every request as
//! `headway serve` does, byte for byte. Node runs the WebAssembly, through the page's own
//! `js/desk.js`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use headway_dashboard::Options;
use headway_testkit::tools;
use serde_json::{Value, json};

/// Reads requests as lines of JSON, prints answers as lines of JSON.
const ASKER: &str = r#"
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
const [folder] = process.argv.slice(-1);
const { desk } = await import(`file://${folder}/js/desk.js`);
const ask = await desk(await WebAssembly.compile(readFileSync(`${folder}/headway.wasm`)));
for await (const line of createInterface({ input: process.stdin })) {
  const { body, ...request } = JSON.parse(line);
  const answer = ask(request, new TextEncoder().encode(body));
  console.log(JSON.stringify({ status: answer.status, kind: answer.kind ?? "", body: new TextDecoder().decode(answer.body) }));
}
"#;

struct Alone {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    now_ms: u64,
}

impl Alone {
    fn start(node: &Path, folder: &Path) -> Alone {
        let mut child = Command::new(node)
            .args(["--input-type=module", "-e", ASKER, "--"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node");
        Alone {
            to: child.stdin.take().expect("a pipe"),
            from: BufReader::new(child.stdout.take().expect("a pipe")),
            child,
            now_ms: 0,
        }
    }

    fn ask(&mut self, asked: &Asked) -> Answered {
        self.now_ms += 1;
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let line = json!({ "method": asked.method, "path": path, "query": query,
            "kind": asked.kind, "now_ms": self.now_ms, "body": asked.body });
        writeln!(self.to, "{line}").expect("node is there");
        let mut line = String::new();
        self.from.read_line(&mut line).expect("node is there");
        let answer: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{asked:?}: {line}"));
        Answered {
            status: answer["status"].as_u64().expect("a status"),
            kind: answer["kind"].as_str().expect("a kind").to_owned(),
            body: answer["body"].as_str().expect("a body").to_owned(),
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Clone, Debug)]
struct Asked {
    method: &'static str,
    path: String,
    kind: &'static str,
    body: String,
}

#[derive(Debug, PartialEq)]
struct Answered {
    status: u64,
    kind: String,
    body: String,
}

fn get(path: impl Into<String>) -> Asked {
    asked("GET", path, "", &"")
}

fn post(path: impl Into<String>, body: &impl ToString) -> Asked {
    asked("POST", path, "application/json", body)
}

fn asked(
    method: &'static str,
    path: impl Into<String>,
    kind: &'static str,
    body: &impl ToString,
) -> Asked {
    Asked {
        method,
        path: path.into(),
        kind,
        body: body.to_string(),
    }
}

/// One request over a connection of its own.
fn over_http(server: SocketAddr, asked: &Asked) -> Answered {
    let mut stream = TcpStream::connect(server).expect("the server listens");
    write!(
        stream,
        "{} {} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\nContent-Type: {}\r\n\
         Content-Length: {}\r\n\r\n{}",
        asked.method,
        asked.path,
        asked.kind,
        asked.body.len(),
        asked.body
    )
    .expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let kind = head
        .lines()
        .find_map(|line| line.strip_prefix("content-type: "));
    Answered {
        status: head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("a status"),
        kind: kind.unwrap_or("").to_owned(),
        body: body.to_owned(),
    }
}

/// The rings of the page's first view, lessons and menus, and what the page asks of each.
fn rings() -> Vec<Value> {
    let mut rings = vec![
        json!({ "processes": 30, "tokens": 5, "separation": 6, "start": "piled", "seed": 2009 }),
        json!({ "processes": 30, "tokens": 5, "separation": 6, "start": "worst" }),
        json!({ "processes": 20, "tokens": 9, "separation": 4 }),
        json!({ "processes": 97, "tokens": 7, "separation": 11, "delays": "every:3", "seed": 5,
            "faults": ["scramble@40", "pile:9@90", "program:6:relay@91"], "round": 95 }),
        json!({ "processes": 3000, "tokens": 200, "separation": 15, "delays": "7", "seed": 1 }),
        json!({ "state": { "separation": 2, "processes": [{ "program": "delay", "resting": 2 },
            { "program": "relay" }, { "program": "delay", "queued": 1 }] } }),
    ];
    rings.push(
        json!({ "processes": 25, "tokens": 4, "separation": 6, "program": "moving-block",
            "faults": ["scramble@40", "pile:9@90"], "round": 95 }),
    );
    for program in [
        "measure",
        "measure-as-printed",
        "shortest-lap",
        "shortest-lap-epochs",
        "hop-count",
    ] {
        rings.push(json!({ "processes": 16, "tokens": 3, "program": program, "start": "random", "seed": 3 }));
    }
    rings
}

fn of_a_run() -> Vec<Asked> {
    let run = |rest: &str| format!("/api/runs/RUN{rest}");
    vec![
        get(run("")),
        get(run("/frame?round=17")),
        get(run("/frame?round=1000")),
        get(run("/window?from=0&rounds=240")),
        get(run("/window?from=31&rounds=7")),
        get(run("/lines?round=12")),
        get(run("/state?round=12")),
        get(run("/diagram.svg?from=0&rounds=30")),
        get(run("/film.svg?from=2&rounds=30")),
        post(run("/seek"), &json!({ "round": 40 })),
        post(run("/step"), &json!({ "rounds": -3 })),
        post(run("/play"), &json!({ "playing": false, "speed": 9.5 })),
        post(run("/faults"), &json!({ "fault": "scramble", "round": 41 })),
        post(run("/faults"), &json!({ "fault": "pile:2" })),
        get(run("/frame")),
        post(run("/faults"), &json!({ "fault": "move:0:99999" })),
        asked(
            "PUT",
            run(""),
            "application/json",
            &json!({ "processes": 12, "tokens": 2 }),
        ),
        asked("DELETE", run(""), "", &""),
        get(run("")),
    ]
}

fn of_no_run() -> Vec<Asked> {
    let network = "graph { a -- b; b -- c; c -- d; d -- a; a -- c }";
    vec![
        get("/api/about"),
        get("/api/explore/flow"),
        get("/api/explore/flow?processes=60&separation=4&delays=3"),
        get("/api/explore/flow?processes=ten"),
        get("/api/explore/stabilization?samples=20"),
        get("/api/explore/stabilization?tokens=99"),
        get("/api/chain?arrivals=random:30%25&rounds=40&scrambled=3"),
        get("/api/chain?arrivals=never"),
        get("/api/token-rings?rounds=40&seed=3"),
        get("/api/asynchrony?steps=50&schedule=slow-one"),
        get("/api/asynchrony?steps=50&schedule=bursts"),
        get("/api/asynchrony?steps=50"),
        post(
            "/api/walks",
            &json!({ "generator": "figure7", "tokens": 3 }),
        ),
        post("/api/walks", &json!({ "generator": "grid:4x5" })),
        post(
            "/api/walks",
            &json!({ "generator": "geometric:60", "tokens": 4, "seed": 8 }),
        ),
        post(
            "/api/walks",
            &json!({ "file": { "name": "a.dot", "text": network }, "tokens": 2 }),
        ),
        post(
            "/api/walks",
            &json!({ "file": { "name": "a.dot", "text": "graph {" } }),
        ),
        asked(
            "POST",
            "/api/charts",
            "text/csv",
            &"delays,rounds_mean\n1,40.5\n2,33\n",
        ),
        asked("POST", "/api/charts", "text/plain", &"x"),
        post("/api/runs", &json!({ "processes": 0 })),
        post("/api/runs", &json!({ "tokens": "many" })),
        post(
            "/api/runs",
            &json!({ "program": "moving-block", "start": "worst" }),
        ),
        post(
            "/api/runs",
            &json!({ "program": "moving-block", "delays": "3" }),
        ),
        post("/api/runs", &json!([1])),
        post("/api/runs", &"{"),
        asked("POST", "/api/runs", "text/plain", &"{}"),
        asked("DELETE", "/api/about", "", &""),
        asked("PUT", "/api/runs", "application/json", &"{}"),
    ]
}

/// Nodes of a network are placed by sines and cosines, whose last digit is not the same
/// everywhere: so that much is left out where there are such places.
fn with_places_as_drawn(body: &str) -> String {
    let mut value: Value = serde_json::from_str(body).unwrap_or_default();
    let Some(nodes) = value.get_mut("nodes").and_then(Value::as_array_mut) else {
        return body.to_owned();
    };
    for node in nodes {
        for name in ["x", "y"] {
            let place = node[name].as_f64().expect("a place");
            node[name] = json!((place * 1e9).round());
        }
    }
    value.to_string()
}

/// The built folder; `Err` says why there is none.
fn built() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("static-page");
    let script = Command::new(root.join("scripts/static-page"))
        .arg(&folder)
        .output();
    let script = script.map_err(|_| "install python3 (Debian: apt-get install python3)")?;
    let said = String::from_utf8_lossy(&script.stderr).into_owned();
    match script.status.code() {
        Some(0) => Ok(folder),
        Some(2) => Err(said.trim().to_owned()),
        _ => panic!("scripts/static-page: {said}"),
    }
}

#[test]
#[ignore = "make test-all"]
fn the_page_alone_answers_as_the_server_does() {
    const TEST: &str = "the_page_alone_answers_as_the_server_does";
    let tools = tools::program(&["node"], "nodejs").and_then(|node| Ok((node, built()?)));
    let (node, folder) = match tools {
        Ok(tools) => tools,
        Err(why) => return tools::skip(TEST, &why),
    };
    let mut alone = Alone::start(&node, &folder);
    let server = crate::serve(Options::default());
    let mut same = |asked: &Asked, ids: Option<&(String, String)>| {
        let named = |id: &str| Asked {
            path: asked.path.replace("RUN", id),
            ..asked.clone()
        };
        let unnamed = |answer: Answered, id: &str| Answered {
            body: match id {
                "" => with_places_as_drawn(&answer.body),
                id => answer.body.replace(id, "RUN"),
            },
            ..answer
        };
        let (one, other) = ids.map_or(("", ""), |(one, other)| (one.as_str(), other.as_str()));
        let (mut from_server, from_page) =
            (over_http(server, &named(one)), alone.ask(&named(other)));
        // A server may be built with the feature, files for a web server never are.
        let body = &mut from_server.body;
        *body = body.replace("\"parquet\":true", "\"parquet\":false");
        let id = |answer: &Answered| {
            let value: Value = serde_json::from_str(&answer.body).unwrap_or_default();
            value["id"].as_str().unwrap_or("").to_owned()
        };
        let ids = match ids {
            None => (id(&from_server), id(&from_page)),
            Some(ids) => ids.clone(),
        };
        let status = from_server.status;
        assert_eq!(
            unnamed(from_page, &ids.1),
            unnamed(from_server, &ids.0),
            "{asked:?}"
        );
        (ids, status)
    };
    let mut refused = 0;
    for asked in of_no_run() {
        refused += u32::from(same(&asked, None).1 >= 400);
    }
    assert!(refused >= 8, "{refused} requests were refused");
    for ring in rings() {
        let (ids, status) = same(&post("/api/runs", &ring), None);
        assert_eq!(status, 201, "{ring}");
        assert_ne!(ids.0, ids.1, "two runs, not one");
        for asked in of_a_run() {
            same(&asked, Some(&ids));
        }
    }
}
