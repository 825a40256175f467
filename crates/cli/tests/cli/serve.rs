//! `headway serve`: what it prints, what it refuses, how it stops.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::common::{headway, headway_in};

/// A server that is killed with the test, and its address.
struct Serving {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Serving {
    fn new(arguments: &[&str]) -> Serving {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("headway"))
            .arg("serve")
            .args(["--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        let address = line
            .trim_end()
            .strip_prefix("Headway is at http://")
            .and_then(|rest| rest.strip_suffix('/'))
            .unwrap_or_else(|| panic!("{line:?}"));
        let address = address.to_owned();
        Serving {
            child,
            lines,
            address,
        }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let host = &self.address;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_is_there_and_ctrl_c_stops_it() {
    let mut serving = Serving::new(&[]);
    assert!(serving.address.starts_with("127.0.0.1:"));
    let page = serving.get("/");
    assert!(
        page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<html"),
        "{page}"
    );
    assert!(serving.get("/api/about").contains("\"version\""));
    if cfg!(unix) {
        let id = serving.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("kill runs").success());
        let ended = serving.child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(130));
        let mut rest = String::new();
        serving.lines.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "Ctrl-C stops it.\n");
    }
}

#[test]
fn a_port_in_use_is_said_to_be() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port();
    let ran = headway(&format!("serve --port {port}"));
    assert_eq!(ran.code, 2);
    assert!(
        ran.err
            .contains(&format!("cannot listen at 127.0.0.1:{port}")),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("give --port 0"), "{}", ran.err);
}

#[test]
fn mistakes_are_explained() {
    for (arguments, says) in [
        ("serve --listen 0.0.0.0:0", "a secret is needed"),
        ("serve --port 70000", "--port"),
        ("serve --port 1 --listen 127.0.0.1:0", "cannot be used with"),
        ("serve --listen nowhere", "--listen"),
        ("serve --fleet 10.0.0.1:7020", "expected http://HOST:PORT"),
        (
            "serve --fleet https://a:1",
            "reach nodes behind TLS through a local proxy",
        ),
        (
            "serve --secret-file no-such-file",
            "cannot read no-such-file",
        ),
    ] {
        let ran = headway(arguments);
        assert_eq!(ran.code, 2, "{arguments}");
        assert!(ran.err.contains(says), "{arguments}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn a_token_has_to_be_secret_and_long() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    let write = |text: &str, mode: u32| {
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
    };
    write("a-long-enough-token", 0o644);
    let ran = headway_in(folder.path(), "serve --port 0 --secret-file token");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("can be read by others"), "{}", ran.err);
    assert!(ran.err.contains("chmod 600 token"), "{}", ran.err);
    write("short", 0o600);
    let ran = headway_in(folder.path(), "serve --port 0 --secret-file token");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("is shorter than 16 characters"),
        "{}",
        ran.err
    );
    assert!(
        !ran.err.contains("short\n"),
        "the token itself is not shown"
    );
    write("a-long-enough-token\n", 0o600);
    let serving = Serving::new(&["--secret-file", path.to_str().expect("a path")]);
    assert!(serving.get("/").starts_with("HTTP/1.1 401 "));
    assert!(
        serving
            .get("/?secret=a-long-enough-token")
            .starts_with("HTTP/1.1 303 ")
    );
}
