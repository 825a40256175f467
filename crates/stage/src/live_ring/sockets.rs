//! The sockets of a ring on one machine.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use headway_node::transport::udp::{Udp, UdpPoller};

/// Sockets for all nodes, `size` of them per thread, each knowing its neighbours.
pub(super) fn sockets(nodes: &[u32], size: usize) -> io::Result<Vec<(Vec<Udp>, UdpPoller)>> {
    let mut groups = Vec::new();
    let mut addresses = Vec::with_capacity(nodes.len());
    for chunk in nodes.chunks(size) {
        let poller = UdpPoller::new()?;
        let mut sockets = Vec::with_capacity(chunk.len());
        for _ in chunk {
            let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let socket = Udp::bind_with(any, &poller)?;
            addresses.push(socket.address()?);
            sockets.push(socket);
        }
        groups.push((sockets, poller));
    }
    let count = nodes.len();
    let all = groups.iter_mut().flat_map(|(sockets, _)| sockets);
    for (index, socket) in all.enumerate() {
        for neighbour in [(index + count - 1) % count, (index + 1) % count] {
            socket.set_peer(neighbour as u32, addresses[neighbour]);
        }
    }
    Ok(groups)
}
