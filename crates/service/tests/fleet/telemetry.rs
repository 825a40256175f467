//! What a collector is told, and what becomes of a ring whose collector is gone.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;

use crate::harness::Fleet;

/// A span, as far as it is looked at.
#[derive(Clone, Debug)]
struct Span {
    node: String,
    name: String,
    token: i64,
    fence: i64,
    outcome: String,
    used_by: String,
    error: bool,
    began: u64,
    ended: u64,
}

/// Takes what it is sent by OTLP over HTTP.
struct Collector {
    address: String,
    spans: Arc<Mutex<Vec<Span>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let collector = Collector {
            address: listener.local_addr().expect("bound").to_string(),
            spans: Arc::default(),
            heads: Arc::default(),
        };
        let (spans, heads) = (Arc::clone(&collector.spans), Arc::clone(&collector.heads));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = BufReader::new(stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    if stream.read_line(&mut head).unwrap_or(0) == 0 {
                        break;
                    }
                }
                let head = head.to_lowercase();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                let mut body = vec![0; length.unwrap_or(0)];
                stream.read_exact(&mut body).expect("a body");
                let request = ExportTraceServiceRequest::decode(&body[..]).expect("protobuf");
                heads.lock().unwrap().push(head);
                spans.lock().unwrap().extend(read(request));
                let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\n\
                              content-length: 0\r\n\r\n";
                let _ = stream.get_mut().write_all(answer.as_bytes());
            }
        });
        collector
    }

    fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap().clone()
    }
}

fn read(request: ExportTraceServiceRequest) -> Vec<Span> {
    let mut spans = Vec::new();
    for resource in request.resource_spans {
        let of_node = resource.resource.expect("a resource").attributes;
        let node = text(&of_node, "headway.node");
        assert_eq!(text(&of_node, "service.name"), "headway");
        assert_eq!(text(&of_node, "headway.ring"), "test");
        for span in resource
            .scope_spans
            .into_iter()
            .flat_map(|scope| scope.spans)
        {
            let error = StatusCode::Error as i32;
            spans.push(Span {
                node: node.clone(),
                token: number(&span.attributes, "headway.token"),
                fence: number(&span.attributes, "headway.fence"),
                outcome: text(&span.attributes, "headway.outcome"),
                used_by: text(&span.attributes, "headway.used_by"),
                error: span.status.is_some_and(|status| status.code == error),
                name: span.name,
                began: span.start_time_unix_nano,
                ended: span.end_time_unix_nano,
            });
        }
    }
    spans
}

fn value(attributes: &[KeyValue], key: &str) -> Option<Value> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    found.value.clone().and_then(|AnyValue { value, .. }| value)
}

fn text(attributes: &[KeyValue], key: &str) -> String {
    match value(attributes, key) {
        Some(Value::StringValue(text)) => text,
        _ => String::new(),
    }
}

fn number(attributes: &[KeyValue], key: &str) -> i64 {
    match value(attributes, key) {
        Some(Value::IntValue(number)) => number,
        _ => -1,
    }
}

/// Two nodes whose commands say which permit they have; b's fails.
fn fleet(test: u8, endpoint: &str, more: &str) -> Fleet {
    let mut fleet = Fleet::new(test, &["a", "b"], 1, 1);
    let log = fleet.path("observed");
    let script = format!(
        "for what in begin end; do echo $what $HEADWAY_NODE $HEADWAY_TOKEN $HEADWAY_FENCE $$ >> {}; \
         sleep 0.02; done; [ $HEADWAY_NODE = a ]",
        log.display()
    );
    fleet.more = format!(
        "[hook]\ncommand = [\"/bin/sh\", \"-c\", {script:?}]\nwhen = \"every\"\n\
         [telemetry]\nendpoint = \"http://{endpoint}\"\n{more}"
    );
    // Not only every five seconds.
    for at in 0..2 {
        let delay = ("OTEL_BSP_SCHEDULE_DELAY", "50".to_owned());
        fleet.variables.push((at, delay.0, delay.1));
    }
    fleet
}

#[test]
fn a_collector_is_told_of_every_permit() {
    let collector = Collector::start();
    let mut fleet = fleet(70, &collector.address, "");
    let file = fleet.path("headers");
    fleet.more += &format!("headers_file = {:?}\n", file.display().to_string());
    std::fs::write(&file, "Authorization: Bearer of-good-news\n").expect("written");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, private).expect("private");
    let before = now();
    fleet.start_all();
    fleet.until("spans", || collector.spans().len() > 20);
    for at in 0..2 {
        assert_eq!(fleet.stop(at), 0);
    }
    let after = now();

    let spans = collector.spans();
    for node in ["a", "b"] {
        let settling: Vec<&Span> = spans
            .iter()
            .filter(|span| span.name == "settling" && span.node == node)
            .collect();
        assert!(!settling.is_empty(), "{node}: {spans:#?}");
    }
    let mut permits: Vec<&Span> = spans.iter().filter(|span| span.name == "permit").collect();
    permits.sort_by_key(|span| span.began);
    for span in &permits {
        assert_eq!((span.token, &*span.used_by), (0, "command"), "{span:?}");
        assert!(before <= span.began && span.began < span.ended && span.ended <= after);
        // Those that were asked back at the end count as failed, too.
        let failed = span.outcome == "failed";
        assert_eq!(span.error, failed, "{span:?}");
        assert!(failed || span.outcome == "succeeded", "{span:?}");
        assert!(failed || span.node == "a", "{span:?}");
    }
    assert!(permits.iter().any(|span| span.outcome == "succeeded"));
    // Every permit that a command has seen is there, by its fencing number, at its node,
    // and there are no others; but for one that a node was using when it was stopped, which
    // it keeps.
    let told: BTreeSet<(String, i64)> = permits
        .iter()
        .map(|span| (span.node.clone(), span.fence))
        .collect();
    let seen: BTreeSet<(String, i64)> = fleet
        .observed()
        .into_iter()
        .map(|seen| (seen.node, seen.fence as i64))
        .collect();
    assert!(told.is_subset(&seen), "{told:?}, {seen:?}");
    for (node, fence) in seen.difference(&told) {
        let later = seen
            .iter()
            .any(|(other, number)| other == node && number > fence);
        assert!(!later, "{node} was not stopped under {fence}");
    }
    assert_eq!(told.len(), permits.len(), "each once");
    assert!(permits.is_sorted_by_key(|span| span.fence), "{permits:#?}");
    let heads = collector.heads.lock().unwrap();
    for head in heads.iter() {
        assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
        assert!(
            head.contains("authorization: bearer of-good-news"),
            "{head}"
        );
    }
    for at in 0..2 {
        assert!(!fleet.log(at).contains("good-news"), "{}", fleet.log(at));
    }
}

#[test]
fn without_a_collector_the_ring_goes_on() {
    // One that nobody serves, and one that never answers.
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
    let gone = nobody.local_addr().expect("bound").to_string();
    drop(nobody);
    let mute = TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = mute.local_addr().expect("bound").to_string();
    for (test, endpoint) in [(71, gone), (72, silent)] {
        let mut fleet = fleet(test, &endpoint, "");
        fleet.start_all();
        fleet.until("lost spans", || {
            (0..2).all(|at| {
                fleet.status(at)["settled"] == true
                    && fleet.metric(at, "headway_spans_failed_total") > 0.0
            })
        });
        let before = fleet.observed().len();
        fleet.until("work goes on", || fleet.observed().len() > before + 40);
        for at in 0..2 {
            assert_eq!(fleet.metric(at, "headway_spans_sent_total"), 0.0);
            assert_eq!(fleet.log(at).matches("spans are lost").count(), 1);
            assert_eq!(fleet.stop(at), 0);
        }
    }
}

#[test]
fn headers_that_everybody_can_read_stop_the_node_before_it_starts() {
    let mut fleet = fleet(73, "127.0.0.1:4318", "");
    let file = fleet.path("headers");
    fleet.more += &format!("headers_file = {:?}\n", file.display().to_string());
    for (text, mode, expected) in [
        ("a: b\n", 0o644, "chmod 600"),
        ("a: b\n\nsecret\n", 0o600, "headers:3: expected NAME: VALUE"),
    ] {
        let _ = std::fs::remove_file(&file);
        std::fs::write(&file, text).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&file, mode).expect("changed");
        fleet.write_config(0, 2);
        fleet.start(0);
        assert_eq!(fleet.wait(0), 2);
        assert!(fleet.log(0).contains(expected), "{}", fleet.log(0));
    }
    assert!(!fleet.log(0).contains("secret"), "{}", fleet.log(0));
}

fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.expect("after 1970").as_nanos() as u64
}
