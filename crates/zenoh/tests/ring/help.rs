//! Rings on the loopback address.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use headway_node::transport::Transport as _;
use headway_zenoh::certificates::Authority;
use headway_zenoh::{Options, ZenohTransport};

/// Nothing here takes that long unless it is broken.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Ports that are free now.
pub(crate) fn ports(count: u32) -> Vec<u16> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    listeners.iter().map(port).collect()
}

pub(crate) fn name(index: usize) -> String {
    format!("n{index}")
}

pub(crate) fn address(port: u16) -> String {
    format!("127.0.0.1:{port}")
}

/// A node at each port; with an authority, each with its certificate.
pub(crate) fn options(ports: &[u16], authority: Option<&Authority>) -> Vec<Options> {
    let nodes = ports.iter().enumerate();
    nodes
        .map(|(index, &port)| Options {
            tls: authority.map(|authority| authority.certify(&name(index), "127.0.0.1").unwrap()),
            reopen_after: Duration::from_millis(500),
            ..Options::new("test", &name(index), &address(port))
        })
        .collect()
}

/// Opens them all, each with its neighbours.
pub(crate) fn connected(ring: Vec<Options>) -> Vec<ZenohTransport> {
    let all = ring.clone();
    let nodes = ring.into_iter().enumerate();
    nodes
        .map(|(index, options)| beside(ZenohTransport::open(options).unwrap(), index, &all))
        .collect()
}

/// Tells a transport its two neighbours.
pub(crate) fn beside(
    mut transport: ZenohTransport,
    index: usize,
    all: &[Options],
) -> ZenohTransport {
    let around = [(index + all.len() - 1) % all.len(), (index + 1) % all.len()];
    transport.set_neighbours(&around.map(|node| (node as u32, &*all[node].name)));
    for node in around {
        transport.set_peer(node as u32, &all[node].listen);
    }
    transport
}

/// Sends until it arrives.
pub(crate) fn arrives(
    from: &mut ZenohTransport,
    to: &mut ZenohTransport,
    node: u32,
    datagram: &[u8],
) {
    let mut buffer = [0; 2000];
    until("it arrives", || {
        from.send(node, datagram).unwrap();
        let received = to.receive(&mut buffer, Duration::from_millis(50)).unwrap();
        received.is_some_and(|bytes| buffer[..bytes] == *datagram)
    });
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
