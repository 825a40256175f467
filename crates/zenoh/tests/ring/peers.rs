//! Peers that are not there, go, and come back.

use std::time::Duration;

use headway_node::transport::Transport as _;
use headway_zenoh::certificates::Authority;
use headway_zenoh::{Options, Tls, ZenohTransport};

use crate::help::{arrives, beside, connected, options, ports, until};

#[test]
fn it_opens_with_nobody_there_and_then_tells_the_latest() {
    let ring = options(&ports(2), None);
    let mut early = beside(ZenohTransport::open(ring[0].clone()).unwrap(), 0, &ring);
    for number in 0..=200 {
        early.send(1, &[number]).unwrap();
    }
    let links = early.links();
    assert_eq!(links.len(), 1);
    assert!(!links[0].connected && !links[0].alive && links[0].heard.is_none());
    let mut late = beside(ZenohTransport::open(ring[1].clone()).unwrap(), 1, &ring);
    let mut buffer = [0; 10];
    until("the latest comes", || {
        let received = late.receive(&mut buffer, Duration::from_millis(50));
        matches!(received, Ok(Some(1)))
    });
    assert_eq!(buffer[0], 200);
    until("it is seen to be there", || {
        let links = early.links();
        links[0].connected && links[0].alive
    });
}

#[test]
fn a_peer_that_was_gone_for_long_is_heard_again() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(folder.path()).unwrap();
    for authority in [None, Some(&authority)] {
        let ring = options(&ports(2), authority);
        let mut nodes = connected(ring.clone());
        let (mut stays, mut goes) = (nodes.remove(0), nodes.remove(0));
        arrives(&mut goes, &mut stays, 0, b"before");
        arrives(&mut stays, &mut goes, 1, b"before");
        drop(goes);
        until("its session is opened anew", || {
            stays.links()[0].reopened >= 2
        });
        assert!(!stays.links()[0].connected && !stays.links()[0].alive);
        let mut back = beside(ZenohTransport::open(ring[1].clone()).unwrap(), 1, &ring);
        arrives(&mut back, &mut stays, 0, b"after");
        arrives(&mut stays, &mut back, 1, b"after");
    }
}

#[test]
fn a_silent_peer_has_its_session_opened_anew_and_is_none_the_worse() {
    let mut nodes = connected(options(&ports(2), None));
    let (mut one, mut other) = (nodes.remove(0), nodes.remove(0));
    arrives(&mut one, &mut other, 1, b"heard");
    // It lives and reads, and says nothing.
    until("its session is opened anew", || {
        one.links()[0].reopened >= 2
    });
    arrives(&mut other, &mut one, 0, b"speaks");
    arrives(&mut one, &mut other, 1, b"is heard");
    let reopened = one.links()[0].reopened;
    for _ in 0..30 {
        arrives(&mut other, &mut one, 0, b"speaks on");
        arrives(&mut one, &mut other, 1, b"is heard on");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(one.links()[0].reopened, reopened, "all is well");
}

#[test]
fn neighbours_can_change_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(folder.path()).unwrap();
    let ring = options(&ports(3), Some(&authority));
    let mut nodes: Vec<ZenohTransport> = ring
        .iter()
        .map(|options| ZenohTransport::open(options.clone()).unwrap())
        .collect();
    let mut third = nodes.pop().unwrap();
    let mut second = nodes.pop().unwrap();
    let mut first = nodes.pop().unwrap();
    for other in [&mut second, &mut third] {
        other.set_neighbours(&[(0, "n0")]);
        other.set_peer(0, &ring[0].listen);
    }
    first.set_neighbours(&[(1, "n1")]);
    first.set_peer(1, &ring[1].listen);
    arrives(&mut second, &mut first, 0, b"the second");
    first.set_neighbours(&[(2, "n2")]);
    first.set_peer(2, &ring[2].listen);
    arrives(&mut third, &mut first, 0, b"the third");
    // What was on its way may come; then the second is heard no more.
    let mut buffer = [0; 100];
    while first
        .receive(&mut buffer, Duration::from_millis(300))
        .unwrap()
        .is_some()
    {}
    for _ in 0..20 {
        second.send(0, b"not a neighbour").unwrap();
        let heard = first.receive(&mut buffer, Duration::from_millis(20));
        assert_eq!(heard.unwrap(), None);
    }
}

#[test]
fn what_cannot_work_is_said_at_once() {
    let taken = ZenohTransport::open(options(&ports(1), None).remove(0)).unwrap();
    let other = options(&ports(1), None).remove(0);
    drop(taken);
    let listener = std::net::TcpListener::bind(&other.listen).unwrap();
    let refused = ZenohTransport::open(other.clone()).unwrap_err().to_string();
    assert!(refused.contains(&other.listen), "{refused}");
    drop(listener);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let missing = Options {
        tls: Some(Tls {
            authority: file("ca.pem"),
            certificate: file("a.pem"),
            key: file("a.key"),
        }),
        ..other
    };
    let refused = ZenohTransport::open(missing.clone()).unwrap_err();
    assert!(refused.to_string().contains("cannot listen"), "{refused}");
    for name in ["ca.pem", "a.pem", "a.key"] {
        std::fs::write(file(name), "not a certificate").unwrap();
    }
    ZenohTransport::open(missing).unwrap_err();
}
