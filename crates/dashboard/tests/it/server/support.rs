//! A server in a thread, and the plainest of clients.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;

use headway_dashboard::{Limits, Options, Server};
use serde_json::Value;
use tokio::sync::oneshot;

use super::described;

/// A server that ends with the test.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The code of an error.
    pub(crate) fn code(&self) -> String {
        let body = self.json();
        assert!(body["error"]["message"].is_string(), "{body}");
        body["error"]["code"].as_str().expect("a code").to_owned()
    }

    /// The field to blame.
    pub(crate) fn field(&self) -> Option<String> {
        self.json()["error"]["field"].as_str().map(str::to_owned)
    }
}

/// Limits that let tests ask as fast as they can.
pub(crate) fn fast() -> Limits {
    Limits {
        requests_per_second: 1e9,
        request_burst: 1e9,
        ..Limits::default()
    }
}

impl TestServer {
    pub(crate) fn new() -> TestServer {
        TestServer::with(Options {
            limits: fast(),
            ..Options::default()
        })
    }

    /// On any free port of this machine.
    pub(crate) fn with(mut options: Options) -> TestServer {
        options.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let server = Server::bind(options).expect("a free port");
                tell.send(server.address().expect("an address"))
                    .expect("the test waits");
                server
                    .serve(async {
                        let _ = stopped.await;
                    })
                    .await;
            });
        });
        TestServer {
            address: told.recv().expect("the server starts"),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let kind = [("Content-Type", "application/json")];
        self.ask("POST", path, &kind, body.to_string().as_bytes())
    }

    /// Makes a run; its description.
    pub(crate) fn run(&self, settings: &Value) -> Value {
        let answer = self.post("/api/runs", settings);
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()
    }

    /// Any request; `Host` is the server's unless it is among the headers.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        sent: &[u8],
    ) -> Answer {
        let mut stream = self.connect();
        write_request(&mut stream, self.address, method, path, headers, sent);
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader);
        let mut body = Vec::new();
        // A server that refuses a body may close while it is still being sent.
        let _ = reader.read_to_end(&mut body);
        if headers.get("transfer-encoding").map(String::as_str) == Some("chunked") {
            body = dechunked(&body);
        }
        let answer = Answer {
            status,
            headers,
            body,
        };
        described::check(method, path, sent, &answer);
        answer
    }

    /// An event stream.
    pub(crate) fn events(&self, path: &str) -> Events {
        let mut stream = self.connect();
        write_request(&mut stream, self.address, "GET", path, &[], b"");
        let mut reader = BufReader::new(stream);
        let (status, _) = read_head(&mut reader);
        Events { status, reader }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("the server listens")
    }

    /// Stops the server and waits until it has ended.
    pub(crate) fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server ends well");
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.end();
        }
    }
}

/// An event stream that is being read.
pub(crate) struct Events {
    pub(crate) status: u16,
    reader: BufReader<TcpStream>,
}

impl Events {
    /// The next event: its name and data.
    pub(crate) fn next(&mut self) -> Option<(String, Value)> {
        let (mut name, mut data) = (String::new(), None);
        loop {
            let line = self.line()?;
            if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut name);
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(text).expect("JSON"));
            } else if line.is_empty()
                && let Some(data) = data.take()
            {
                described::check_event(&name, &data);
                return Some((name, data));
            }
        }
    }

    /// The next frame.
    pub(crate) fn frame(&mut self) -> Value {
        let (name, data) = self.next().expect("another event");
        assert_eq!(name, "frame");
        data
    }

    /// A line of the body. The sizes of chunks stand on lines of their own, which are
    /// neither empty nor fields.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
        }
    }

    pub(crate) fn close(self) {
        let _ = self.reader.get_ref().shutdown(Shutdown::Both);
    }
}

fn write_request(
    stream: &mut TcpStream,
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) {
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        head.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes()).expect("the head is sent");
    let _ = stream.write_all(body);
}

fn read_head(reader: &mut impl BufRead) -> (u16, BTreeMap<String, String>) {
    let mut line = String::new();
    reader.read_line(&mut line).expect("a status line");
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    (status.unwrap_or_else(|| panic!("{line:?}")), headers)
}

fn dechunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|pair| pair == b"\r\n");
        let end = end.expect("a chunk's size");
        let size = std::str::from_utf8(&body[..end]).expect("digits");
        let size = usize::from_str_radix(size, 16).expect("hexadecimal digits");
        if size == 0 {
            return whole;
        }
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 2 + size + 2..];
    }
}
