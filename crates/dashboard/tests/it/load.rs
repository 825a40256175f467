//! Many viewers of one run, none of whom reads: memory stays bounded, and whoever begins
//! to read gets the latest frame.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use headway_dashboard::{Limits, Options};
use headway_testkit::tier::pick;
use peak_alloc::PeakAlloc;
use serde_json::Value;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// What a connection may cost: its buffers, and a frame or two on their way.
const BYTES_PER_VIEWER: usize = 64 << 10;
/// What everything else may cost.
const BYTES: usize = 8 << 20;

#[test]
fn memory_is_bounded_with_viewers_who_do_not_read() {
    const TEST: &str = "load::memory_is_bounded_with_viewers_who_do_not_read";
    // The heap is the whole process's, so the test has one to itself.
    if std::env::args().any(|argument| argument == "--exact") {
        return measure(pick(40, 200, 200), pick(300, 1_000, 1_000));
    }
    let program = std::env::current_exe().expect("a path");
    let alone = Command::new(program)
        .args(["--exact", TEST, "--nocapture"])
        .output()
        .expect("this program runs");
    let said = String::from_utf8_lossy(&alone.stdout);
    let failed = String::from_utf8_lossy(&alone.stderr);
    print!("{said}");
    assert!(said.contains("1 passed"), "{failed}");
}

fn measure(number: usize, frames: u64) {
    let limits = Limits {
        requests_per_second: 1e9,
        request_burst: 1e9,
        ..Limits::default()
    };
    let address = crate::serve(Options {
        limits,
        ..Options::default()
    });
    let settings = r#"{ "processes": 1500, "tokens": 300, "separation": 5 }"#;
    let run: Value = post(address, "/api/runs", settings);
    let id = run["id"].as_str().expect("a run").to_owned();
    let frame_bytes = run["frame"].to_string().len();
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let mut viewers: Vec<BufReader<TcpStream>> = (0..number)
        .map(|_| {
            let path = format!("/api/runs/{id}/events");
            let mut reader = BufReader::new(send(address, "GET", &path, ""));
            let mut status = String::new();
            reader.read_line(&mut status).expect("an answer");
            assert_eq!(status, "HTTP/1.1 200 OK\r\n");
            reader
        })
        .collect();
    for round in 1..=frames {
        let body = format!("{{\"round\": {round}}}");
        post(address, &format!("/api/runs/{id}/seek"), &body);
    }
    let used = HEAP.peak_usage().saturating_sub(before);
    let unread = number * frames as usize * frame_bytes;
    let bound = number * BYTES_PER_VIEWER + BYTES;
    println!(
        "{used} bytes at most, {} a viewer; {unread} bytes were not read",
        used / number
    );
    assert!(used <= bound, "{used} bytes are more than {bound}");
    // The bound means something: keeping every frame for every viewer breaks it.
    assert!(unread > 10 * bound, "{unread} bytes are too few to tell");
    for viewer in viewers.iter_mut().step_by(40) {
        let latest = format!("\"round\":{frames},");
        let mut line = String::new();
        while !line.contains(&latest) {
            line.clear();
            assert!(
                viewer.read_line(&mut line).expect("a line") > 0,
                "the stream has ended"
            );
        }
    }
}

fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("sent");
    stream
}

fn post(address: SocketAddr, path: &str, body: &str) -> Value {
    let mut answer = String::new();
    let mut stream = send(address, "POST", path, body);
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}
