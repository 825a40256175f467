//! `headway node follow`: three real nodes, and a Consul that says who should be there.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::common::headway;
use crate::fleet::Ring;

/// Answers what it is given, for as long as the test lasts.
fn consul() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let body = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&body);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = Vec::new();
            let mut part = [0; 1024];
            while !asked.ends_with(b"\r\n\r\n") {
                let bytes = stream.read(&mut part).unwrap();
                asked.extend_from_slice(&part[..bytes]);
            }
            let body = told.lock().unwrap().clone();
            let length = body.len();
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (address, body)
}

#[test]
fn members_come_and_go_as_consul_lists_them() {
    let mut ring = Ring::start(120, "");
    ring.start_another();
    ring.start_another();
    let net = format!("127.{}.120", 1 + std::process::id() % 250);
    let (address, body) = consul();
    let list = |nodes: &[usize]| {
        let node = |at: &usize| {
            format!(
                r#"{{"Node":{{"Node":"n{at}","Address":"{net}.{}"}},"Service":{{"Port":7400}}}}"#,
                at + 1
            )
        };
        let nodes: Vec<String> = nodes.iter().map(node).collect();
        *body.lock().unwrap() = format!("[{}]", nodes.join(","));
    };
    let ring = &ring;
    let follow = |more: &str| {
        ring.headway(&format!(
            "node follow consul:http://{address}/web --socket 0.sock {more}"
        ))
    };
    list(&[0, 1, 2]);
    let ran = follow("--remove");
    assert_eq!((ran.code, &*ran.out, &*ran.err), (0, "", ""));
    // One that does not run yet is not added.
    list(&[0, 1, 2, 5]);
    let ran = follow("--dry-run");
    assert_eq!(
        (ran.code, &*ran.out),
        (0, "would be changed: n5 is added\n")
    );
    let ran = follow("");
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("not yet: n5 is added: "), "{}", ran.err);
    // Keys come from a file; on a ring that shares one nobody may have its own.
    let keys = ring.folder.path().join("keys");
    let write = |text: &str| std::fs::write(&keys, text).unwrap();
    let public = headway(&format!(
        "node identity {}",
        ring.folder.path().join("n5").display()
    ))
    .out;
    for (text, code, said) in [
        (
            "n5\n".to_owned(),
            2,
            "line 1: expected a name, a space and a key",
        ),
        ("# keys\n\nn5 hw1x\n".to_owned(), 2, "line 3: "),
        (
            format!("n6 {public}"),
            1,
            "not yet: n5 is added: no key for it in",
        ),
        (format!("n5 {public}"), 1, "not yet: n5 is added: "),
    ] {
        write(&text);
        let ran = follow(&format!("--keys {}", keys.display()));
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    // Nobody is removed unless it is asked for, and never half of them.
    list(&[0, 1]);
    let ran = follow("");
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("n2 is not listed"), "{}", ran.err);
    list(&[]);
    let ran = follow("--remove");
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("nobody is listed"), "{}", ran.err);
    let ran = headway("node follow etcd:x");
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("expected dns:NAME"), "{}", ran.err);
    list(&[0]);
    let ran = follow("--remove");
    assert_eq!((ran.code, &*ran.out), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("no more than half"), "{}", ran.err);
    list(&[0, 1, 3, 4]);
    let ran = follow("--remove");
    if !cfg!(feature = "keepers") {
        assert_eq!((ran.code, &*ran.out), (1, ""));
        assert!(ran.err.contains("too few keepers"), "{}", ran.err);
        return;
    }
    assert_eq!(
        (ran.code, &*ran.out),
        (
            0,
            "roster 2: n3 is added\nroster 2: n4 is added\nroster 2: n2 is removed\n"
        ),
        "{}",
        ran.err
    );
    ring.until("node list --socket 1.sock", 0, "roster 2 of ring test");
}
