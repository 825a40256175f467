//! `headway serve`: what it prints, what it refuses, how it stops.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::common::{folder, headway, program, refused};

/// A server that is killed with the test, and its address.
struct Serving {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Serving {
    fn new(arguments: &[&str]) -> Serving {
        let mut child = Command::new(program())
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
    let id = serving.child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.expect("kill runs").success());
    let ended = serving.child.wait().expect("it ends");
    assert_eq!(ended.code(), Some(130));
    let mut rest = String::new();
    serving.lines.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "Ctrl-C stops it.\n");
}

#[test]
fn mistakes_are_explained() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port();
    let ran = headway(&format!("serve --port {port}"));
    let listens = format!("cannot listen at 127.0.0.1:{port}");
    assert!(ran.code == 2 && ran.err.contains(&listens), "{}", ran.err);
    assert!(ran.err.contains("give --port 0"), "{}", ran.err);
    refused(
        folder().path(),
        &[
            ("serve --listen 0.0.0.0:0", "a secret is needed"),
            ("serve --port 70000", "at most 65535"),
            ("serve --port 1 --listen 127.0.0.1:0", "cannot be used with"),
            ("serve --listen nowhere", "expected an address and a port"),
            ("serve --fleet 10.0.0.1:7020", "expected http://HOST:PORT"),
            (
                "serve --fleet https://a:1",
                "reach nodes behind TLS through a local proxy",
            ),
            (
                "serve --secret-file no-such-file",
                "cannot read no-such-file",
            ),
        ],
    );
}

#[test]
fn a_secret_has_to_be_secret_and_long() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path().join("token");
    let write = |text: &str, mode: u32| {
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
    };
    let serve = "serve --port 0 --secret-file token";
    write("a-long-enough-token", 0o644);
    let cases = [(serve, "can be read by others"), (serve, "chmod 600 token")];
    refused(folder.path(), &cases);
    write("short", 0o600);
    // The secret itself is not shown.
    let short = "token is shorter than 16 characters\n";
    refused(folder.path(), &[(serve, short)]);
    write("a-long-enough-token\n", 0o600);
    let serving = Serving::new(&["--secret-file", path.to_str().expect("a path")]);
    assert!(serving.get("/").starts_with("HTTP/1.1 401 "));
    let shown = serving.get("/?secret=a-long-enough-token");
    assert!(shown.starts_with("HTTP/1.1 303 "), "{shown}");
}
