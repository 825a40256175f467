//! Against small servers that speak those interfaces.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use super::*;

fn found(members: &[(&str, &str)]) -> Found {
    let member = |(name, address): &(&str, &str)| ((*name).to_owned(), (*address).to_owned());
    members.iter().map(member).collect()
}

/// Answers one request; what was asked for.
fn serve(status: &str, body: &str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody");
        let mut asked = Vec::new();
        let mut part = [0; 1024];
        while !asked.ends_with(b"\r\n\r\n") {
            let bytes = stream.read(&mut part).expect("a request");
            asked.extend_from_slice(&part[..bytes]);
        }
        stream.write_all(answer.as_bytes()).expect("told");
        let asked = String::from_utf8(asked).expect("text");
        asked.lines().next().unwrap_or_default().to_owned()
    });
    (address, server)
}

#[test]
fn sources_are_read_and_refused() {
    let read = |text: &str| text.parse::<Source>();
    for good in [
        "dns:_headway._udp.example.org",
        "dns:x@127.0.0.1:53",
        "consul:http://127.0.0.1:8500/web",
        "kubernetes:http://127.0.0.1:8001/default/web",
    ] {
        assert!(read(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "dns:",
        "dns:x@localhost",
        "dns:x@127.0.0.1",
        "consul:127.0.0.1:8500/web",
        "consul:http://127.0.0.1:8500",
        "consul:http://127.0.0.1:8500/a/b",
        "consul:http://127.0.0.1:8500/a?b",
        "consul:https://127.0.0.1:8500/web",
        "kubernetes:http://127.0.0.1:8001/web",
        "etcd:http://127.0.0.1:2379/web",
    ] {
        assert!(
            matches!(read(bad), Err(DiscoveryError::NoSource(_))),
            "{bad}"
        );
    }
}

#[test]
fn consul_lists_nodes_and_where_the_service_is() {
    let body = r#"[
        {"Node":{"Node":"a","Address":"192.0.2.1"},"Service":{"Address":"","Port":7400},"Checks":[]},
        {"Node":{"Node":"b","Address":"192.0.2.2"},"Service":{"Address":"198.51.100.2","Port":7401}},
        {"Node":{"Node":"c","Address":"2001:db8::3"},"Service":{"Address":"","Port":7400}}
    ]"#;
    let (address, server) = serve("200 OK", body);
    let source: Source = format!("consul:http://{address}/web").parse().unwrap();
    let expected = found(&[
        ("a", "192.0.2.1:7400"),
        ("b", "198.51.100.2:7401"),
        ("c", "[2001:db8::3]:7400"),
    ]);
    assert_eq!(source.find().unwrap(), expected);
    let asked = server.join().unwrap();
    assert_eq!(asked, "GET /v1/health/service/web HTTP/1.1");
}

#[test]
fn kubernetes_lists_pods_of_all_slices() {
    let slice = |pod: &str, address: &str, ready: bool| {
        format!(
            r#"{{"ports":[{{"name":"http","port":80}},{{"name":"headway","port":7400}}],
            "endpoints":[{{"addresses":["{address}"],"conditions":{{"ready":{ready}}},
            "targetRef":{{"kind":"Pod","name":"{pod}"}}}}]}}"#
        )
    };
    let slices = [
        slice("web-0", "10.0.0.1", true),
        slice("web-1", "10.0.0.2", false),
    ];
    let body = format!(r#"{{"items":[{}]}}"#, slices.join(","));
    let (address, server) = serve("200 OK", &body);
    let source = format!("kubernetes:http://{address}/prod/web");
    let source: Source = source.parse().unwrap();
    let expected = found(&[("web-0", "10.0.0.1:7400"), ("web-1", "10.0.0.2:7400")]);
    assert_eq!(source.find().unwrap(), expected);
    assert_eq!(
        server.join().unwrap(),
        "GET /apis/discovery.k8s.io/v1/namespaces/prod/endpointslices\
         ?labelSelector=kubernetes.io%2Fservice-name%3Dweb HTTP/1.1"
    );
}

#[test]
fn an_answer_that_makes_no_sense_is_an_error_and_never_an_empty_fleet() {
    let nodes = |name: &str, port: u32| {
        format!(r#"{{"Node":{{"Node":"{name}","Address":"a"}},"Service":{{"Port":{port}}}}}"#)
    };
    for (status, body, expected) in [
        ("200 OK", "[]".to_owned(), "nobody is listed"),
        ("200 OK", "{}".to_owned(), "expected a list"),
        ("200 OK", "oops".to_owned(), "not JSON"),
        ("403 Forbidden", "[]".to_owned(), "it answers 403"),
        ("200 OK", format!("[{}]", nodes("a b", 1)), "no member"),
        ("200 OK", format!("[{}]", nodes("a", 0)), "no member"),
        (
            "200 OK",
            format!("[{},{}]", nodes("a", 1), nodes("a", 2)),
            "twice",
        ),
    ] {
        let (address, server) = serve(status, &body);
        let source: Source = format!("consul:http://{address}/web").parse().unwrap();
        let error = source.find().unwrap_err().to_string();
        assert!(error.contains(expected), "{body}: {error}");
        server.join().unwrap();
    }
}

#[test]
fn a_source_that_forgets_half_of_the_fleet_removes_nobody() {
    let roster = found(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
    let same = changes(&roster, &roster);
    assert_eq!(same, Changes::default());
    let other = found(&[("a", "1"), ("b", "9"), ("c", "3"), ("e", "5")]);
    let compared = changes(&roster, &other);
    assert_eq!(compared.add, found(&[("e", "5")]));
    assert_eq!(
        (compared.remove, compared.moved),
        (vec!["d".into()], vec!["b".into()])
    );
    let half = changes(&roster, &found(&[("a", "1"), ("b", "2"), ("e", "5")]));
    assert!(half.doubtful && half.remove.is_empty() && half.add.len() == 1);
}

#[cfg(not(feature = "dns"))]
#[test]
fn a_program_without_dns_says_so() {
    let source: Source = "dns:_headway._udp.example.org".parse().unwrap();
    let error = source.find().unwrap_err().to_string();
    assert!(error.contains("--features dns"), "{error}");
}

/// A server that knows two members of one service.
#[cfg(feature = "dns")]
#[test]
fn dns_lists_the_targets_of_srv_records() {
    use hickory_resolver::proto::op::{Message, MessageType, OpCode, ResponseCode};
    use hickory_resolver::proto::rr::rdata::SRV;
    use hickory_resolver::proto::rr::{RData, Record, RecordType};

    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let server = socket.local_addr().expect("an address");
    std::thread::spawn(move || {
        let mut buffer = [0; 1500];
        while let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
            let asked = Message::from_vec(&buffer[..bytes]).expect("a question");
            let query = asked.queries().first().expect("one").clone();
            let mut answer = Message::new();
            answer.set_id(asked.id());
            answer.set_message_type(MessageType::Response);
            answer.set_op_code(OpCode::Query);
            answer.add_query(query.clone());
            let known = query.name().to_utf8() == "_headway._udp.example.org."
                && query.query_type() == RecordType::SRV;
            if known {
                for (host, port) in [("a.example.org.", 7400), ("b.example.org.", 7401)] {
                    let target = host.parse().expect("a name");
                    let data = RData::SRV(SRV::new(0, 0, port, target));
                    answer.add_answer(Record::from_rdata(query.name().clone(), 60, data));
                }
            } else {
                answer.set_response_code(ResponseCode::NXDomain);
            }
            let answer = answer.to_vec().expect("written");
            socket.send_to(&answer, from).expect("told");
        }
    });
    let source = |name: &str| -> Source { format!("dns:{name}@{server}").parse().unwrap() };
    let expected = found(&[("a", "a.example.org:7400"), ("b", "b.example.org:7401")]);
    assert_eq!(
        source("_headway._udp.example.org").find().unwrap(),
        expected
    );
    let error = source("_other._udp.example.org").find().unwrap_err();
    assert!(
        error.to_string().contains("does not say who is there"),
        "{error}"
    );
}
