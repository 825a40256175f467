//! The web page's server, over loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use cpu_time::ProcessTime;
use headway_dashboard::{Limits, Options, Server, page_weight};
use serde_json::{Value, json};

use crate::table::{Goal, Row, Table, best_of, ratio, time};

const VIEWERS: usize = 50;
const FRAMES: u64 = 400;

pub(crate) fn measure(table: &mut Table) {
    let address = serve();
    viewers(table, address);
    seeking(table, address);
    first_page(table, address);
    weight(table);
}

/// The processor time that a frame costs for each viewer, readers included, against
/// writing the same bytes to as many bare sockets, readers included.
fn viewers(table: &mut Table, address: SocketAddr) {
    let settings = json!({ "processes": 500, "tokens": 100, "separation": 5 });
    let run = post(address, "/api/runs", &settings);
    let id = run["id"].as_str().expect("a run").to_owned();
    let seek = |round: u64| {
        post(
            address,
            &format!("/api/runs/{id}/seek"),
            &json!({ "round": round }),
        )
    };
    // Seeking costs the same without anybody watching.
    let start = ProcessTime::now();
    for round in 1..=FRAMES {
        seek(round);
    }
    let alone = start.elapsed();
    let path = format!("/api/runs/{id}/events");
    let streams = (0..VIEWERS).map(|_| send(address, "GET", &path, ""));
    let readers = Readers::new(streams.collect());
    readers.wait();
    let start = ProcessTime::now();
    for round in 1..=FRAMES {
        seek(round);
        readers.wait();
    }
    let watched = start.elapsed().saturating_sub(alone);
    let frame = format!("event: frame\ndata: {}\n\n", seek(1));
    readers.wait();
    drop(readers);
    let bare = bare_sockets(frame.as_bytes());
    let per_frame = |all: Duration| all / (VIEWERS as u32 * FRAMES as u32);
    table.add(Row {
        work: format!(
            "a frame of {} bytes for each of {VIEWERS} viewers",
            frame.len()
        ),
        ours: format!("{} of a core", time(per_frame(watched))),
        baseline: format!("bare sockets {}", time(per_frame(bare))),
        ratio: ratio(watched, bare),
        goal: Goal::AtMost(4.0),
    });
}

/// Writes the same frames to bare sockets, and waits for the same readers.
fn bare_sockets(frame: &[u8]) -> Duration {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let mut writers = Vec::new();
    let streams = (0..VIEWERS).map(|_| {
        let stream = TcpStream::connect(address).expect("it listens");
        let (writer, _) = listener.accept().expect("a connection");
        writer.set_nodelay(true).expect("an option");
        writers.push(writer);
        stream
    });
    let readers = Readers::new(streams.collect());
    let start = ProcessTime::now();
    for _ in 0..FRAMES {
        for writer in &mut writers {
            writer.write_all(frame).expect("written");
        }
        readers.wait();
    }
    start.elapsed()
}

/// A thread for every stream that tells when it has read a frame.
struct Readers {
    read: Receiver<()>,
    streams: Vec<TcpStream>,
}

impl Readers {
    fn new(streams: Vec<TcpStream>) -> Readers {
        let (tell, read) = channel();
        let copies = streams
            .iter()
            .map(|stream| stream.try_clone().expect("a copy"));
        let copies = copies.collect();
        for stream in streams {
            let tell: Sender<()> = tell.clone();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream).lines();
                while let Some(Ok(line)) = lines.next() {
                    if line.starts_with("data: ") && tell.send(()).is_err() {
                        return;
                    }
                }
            });
        }
        Readers {
            read,
            streams: copies,
        }
    }

    /// Until every stream has read one more frame.
    fn wait(&self) {
        for _ in 0..VIEWERS {
            self.read.recv().expect("a frame");
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        for stream in &self.streams {
            // It may be closed already.
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// A round a million million away, against the next one.
fn seeking(table: &mut Table, address: SocketAddr) {
    let settings =
        json!({ "processes": 10_000, "tokens": 1_000, "separation": 8, "delays": "500" });
    let run = post(address, "/api/runs", &settings);
    let id = run["id"].as_str().expect("a run");
    let frame = |round: u64| {
        best_of(20, || {
            get(address, &format!("/api/runs/{id}/frame?round={round}"))
        })
    };
    let (near, far) = (frame(1), frame(1_000_000_000_000));
    table.add(Row {
        work: "any round of 10,000 processes over HTTP: round 10^12".to_owned(),
        ours: time(far),
        baseline: format!("round 1 {}", time(near)),
        ratio: ratio(far, near),
        goal: Goal::AtMost(2.0),
    });
}

/// From the request to the last byte, against a bare server that has the bytes ready.
fn first_page(table: &mut Table, address: SocketAddr) {
    let page = get(address, "/");
    let ours = best_of(200, || get(address, "/"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let bare = listener.local_addr().expect("an address");
    let ready = page.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let _ = reader.get_mut().write_all(&ready);
        }
    });
    let baseline = best_of(200, || get(bare, "/"));
    table.add(Row {
        work: format!("the first page, {} bytes, from request to end", page.len()),
        ours: time(ours),
        baseline: format!("bare sockets {}", time(baseline)),
        ratio: ratio(ours, baseline),
        goal: Goal::AtMost(4.0),
    });
}

fn weight(table: &mut Table) {
    const MOST: usize = 320_000;
    let weight = page_weight();
    table.add(Row {
        work: format!("the whole page, {} files", weight.files),
        ours: format!(
            "{:.0} KB, {:.0} KB as sent",
            weight.bytes as f64 / 1e3,
            weight.gzipped_bytes as f64 / 1e3
        ),
        baseline: format!("{:.0} KB allowed", MOST as f64 / 1e3),
        ratio: weight.bytes as f64 / MOST as f64,
        goal: Goal::AtMost(1.0),
    });
}

/// A server on a free port, which ends with the process.
fn serve() -> SocketAddr {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async move {
            let limits = Limits {
                requests_per_second: 1e9,
                request_burst: 1e9,
                ..Limits::default()
            };
            let server = Server::bind(Options {
                listen: SocketAddr::from(([127, 0, 0, 1], 0)),
                limits,
                ..Options::default()
            })
            .expect("a free port");
            let address = server.address().expect("an address");
            tell.send(address).expect("somebody waits");
            server.serve(std::future::pending()).await;
        });
    });
    told.recv().expect("the server starts")
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

/// The whole answer, head included.
fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    let mut answer = Vec::new();
    let mut stream = send(address, "GET", path, "");
    stream.read_to_end(&mut answer).expect("an answer");
    answer
}

fn post(address: SocketAddr, path: &str, body: &Value) -> Value {
    let mut answer = String::new();
    let mut stream = send(address, "POST", path, &body.to_string());
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}
