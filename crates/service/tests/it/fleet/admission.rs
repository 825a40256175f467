//! Who is let in: at the Unix socket, whatever has become of its permissions, and over HTTP.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use headway_testkit::tools;
use serde_json::{Value, json};

use crate::harness::{Fleet, TOKEN, http, http_as};

const ROOT: u32 = 0;
const NOBODY: u32 = 65_534;

/// As another user, prints the first line of the node's answer, or why there is none.
const ASK: &str = r#"
import os, socket, sys
user = int(sys.argv[2])
os.setgroups([])
os.setgid(user)
os.setuid(user)
try:
    node = socket.socket(socket.AF_UNIX)
    node.connect(sys.argv[1])
    node.sendall(b"GET /v1/status HTTP/1.1\r\nhost: x\r\n\r\n")
    print(node.recv(4096).decode().split("\r\n")[0] or "left")
except PermissionError:
    print("no way to it")
except (ConnectionResetError, BrokenPipeError):
    print("left")
"#;

fn ask(python: &Path, user: u32, socket: &Path) -> String {
    let mut command = Command::new(python);
    command.args(["-c", ASK]).arg(socket).arg(user.to_string());
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("text");
    said.trim().to_owned()
}

#[test]
fn another_user_is_refused_at_the_socket() {
    let name = "another_user_is_refused_at_the_socket";
    if !nix::unistd::geteuid().is_root() {
        return tools::skip(name, "needs root");
    }
    let python = match tools::program(&["python3"], "python3") {
        Ok(python) => python,
        Err(why) => return tools::skip(name, &why),
    };
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    fleet.write_config(0, 3);
    fleet.start(0);
    fleet.until("a answers", || fleet.status(0)["name"] == "a");
    let socket = fleet.socket(0);
    let asked_by = |user| ask(&python, user, &socket);
    let refused = "another user was refused at the socket user=Ok(65534)";
    set_permissions(fleet.folder.path(), Permissions::from_mode(0o755)).expect("changed");
    assert_eq!(asked_by(ROOT), "HTTP/1.1 200 OK");
    assert_eq!(asked_by(NOBODY), "no way to it");
    set_permissions(&socket, Permissions::from_mode(0o666)).expect("changed");
    assert!(!fleet.log(0).contains(refused), "it did not come so far");
    assert_eq!(asked_by(NOBODY), "left");
    fleet.until("it is said", || fleet.log(0).contains(refused));
    assert_eq!(asked_by(ROOT), "HTTP/1.1 200 OK");
}

#[test]
fn strangers_change_nothing_over_http() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1);
    fleet.more += "hosts = [\"known.example\"]\n[fleetlock]\nenabled = true\nwait = \"0ms\"\nids = [\"x*\", \"y\"]\n";
    fleet.start_all();
    fleet.settle();
    let address = fleet.http(0);
    // What is wrong is said as JSON, whatever part of the request it is in.
    let (status, text) = http(&address, "GET", "/v1/permits/zz", &[], "");
    let said: Value = serde_json::from_str(&text).expect("JSON");
    let says = said["error"].as_str().unwrap_or_default();
    assert!(
        status == 400 && says.contains("the id of a permit"),
        "{text}"
    );
    let host = ("host", &*address);
    let bearer = format!("Bearer {TOKEN}");
    let basic = {
        use base64::Engine as _;
        let pair = format!("anybody:{TOKEN}");
        format!(
            "Basic {}",
            base64::engine::general_purpose::STANDARD.encode(pair)
        )
    };
    let json = ("content-type", "application/json");
    let ask = |headers: &[(&str, &str)], body: &str| {
        let headers = [headers, &[json]].concat();
        let (status, text) = http_as(&address, "POST", "/v1/permits", &headers, body);
        if status != 200 {
            return status;
        }
        // Its turn came at once. It is given back, as if it had not.
        let permit: Value = serde_json::from_str(&text).expect("JSON");
        let id = permit["permit"].as_str().expect("an id");
        let path = format!("/v1/permits/{id}/release");
        assert_eq!(http(&address, "POST", &path, &[], "").0, 200);
        204
    };
    for (headers, expected) in [
        (&[host][..], 401),
        (&[host, ("authorization", "Bearer guessed")], 401),
        (&[host, ("authorization", "Basic Z3Vlc3NlZA==")], 401),
        (
            &[("host", "rebound.example"), ("authorization", &bearer)],
            421,
        ),
        (&[("authorization", &bearer)], 421),
        (
            &[
                host,
                ("authorization", &bearer),
                ("origin", "http://evil.example"),
            ],
            403,
        ),
        (
            &[
                host,
                ("authorization", &bearer),
                ("sec-fetch-site", "cross-site"),
            ],
            403,
        ),
        (&[host, ("authorization", &bearer)], 204),
        (&[host, ("authorization", &basic)], 204),
        (
            &[("host", "known.example"), ("authorization", &bearer)],
            204,
        ),
    ] {
        assert_eq!(ask(headers, "{\"wait_ms\": 1}"), expected, "{headers:?}");
    }
    // Questions need no token, and a page of another site may not even ask.
    let look = |headers: &[(&str, &str)]| http_as(&address, "GET", "/v1/status", headers, "").0;
    assert_eq!(look(&[host]), 200);
    assert_eq!(look(&[("host", "rebound.example")]), 421);
    assert_eq!(look(&[host, ("origin", "http://evil.example")]), 403);
    // A permit cannot be guessed from another.
    let (status, text) = http(
        &address,
        "POST",
        "/v1/permits",
        &[json],
        "{\"wait_ms\": 60000}",
    );
    assert_eq!(status, 200, "{text}");
    let permit: Value = serde_json::from_str(&text).expect("JSON");
    let id = permit["permit"].as_str().expect("an id");
    assert_eq!(id.len(), 32, "128 bits: {id}");
    let number = u128::from_str_radix(id, 16).expect("hexadecimal");
    for near in [number.wrapping_add(1), number.wrapping_sub(1)] {
        let path = format!("/v1/permits/{near:032x}/release");
        assert_eq!(http(&address, "POST", &path, &[], "").0, 404);
    }
    let path = format!("/v1/permits/{id}/release");
    assert_eq!(http(&address, "POST", &path, &[], "").0, 200);
    // FleetLock: who may speak for which id, and names that are written with escapes.
    let lock = |id: &str, token: &str| {
        let body = json!({ "client_params": { "id": id, "group": "default" } }).to_string();
        let headers = [
            host,
            json,
            ("fleet-lock-protocol", "true"),
            ("authorization", token),
        ];
        let (status, text) = http_as(&address, "POST", "/v1/pre-reboot", &headers, &body);
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        (
            status,
            answer["kind"].as_str().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(lock("x1", "Bearer wrong"), (401, "refused".into()));
    assert_eq!(lock("z1", &basic), (403, "unknown_id".into()));
    assert_eq!(lock("y1", &basic), (403, "unknown_id".into()));
    let evil = "x\u{1b}[2J\nforged line";
    fleet.until("its turn", || lock(evil, &basic).0 == 200);
    let log = fleet.log(0);
    assert!(log.contains(r"x\u{1b}[2J\nforged line"), "{log}");
    assert!(
        !log.contains('\u{1b}') && !log.contains("\nforged"),
        "{log}"
    );
}

/// The ring takes no notice of thousands who ask and never come back.
#[test]
fn a_flood_of_fleetlock_ids_is_refused() {
    let mut fleet = Fleet::new(&["a", "b", "c"], 1, 1).with_observer(0.01);
    fleet.more += "[fleetlock]\nenabled = true\nwait = \"0ms\"\nids = [\"mine\"]\n";
    fleet.start_all();
    fleet.settle();
    let before = fleet.observed().len();
    for id in 0..300 {
        let body = format!(r#"{{"client_params":{{"id":"strange-{id}","group":"default"}}}}"#);
        let lock = ("fleet-lock-protocol", "true");
        let (status, _) = http(&fleet.http(0), "POST", "/v1/pre-reboot", &[lock], &body);
        assert_eq!(status, 403);
    }
    assert_eq!(fleet.status(0)["waiting"], 0);
    fleet.until("the ring works", || fleet.observed().len() > before + 40);
}
