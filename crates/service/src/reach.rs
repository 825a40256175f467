//! Transports whose nodes can be given addresses while they run.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

use headway_node::transport::Transport;
use headway_node::transport::udp::Udp;

/// A [`Transport`] that can be told where a node is.
///
/// The service uses numbers below 2³¹ for the places of the ring, and numbers from
/// 2³¹ on for addresses that control datagrams go to; one address may have both.
pub trait Reach: Transport {
    /// From now on `node` is at `address`, as written in the roster.
    ///
    /// # Errors
    ///
    /// When the address means nothing to this transport; sending to the node is then
    /// loss.
    fn reach(&mut self, node: u32, address: &str) -> io::Result<()>;

    /// Forgets a node.
    fn forget(&mut self, node: u32);

    /// The nodes beside this one on the ring, by number and name: nobody else may tell
    /// the ring's state, as far as the transport can prevent it. Their addresses
    /// follow by [`Reach::reach`].
    fn beside(&mut self, _neighbours: &[(u32, &str)]) {}
}

#[cfg(feature = "zenoh")]
impl Reach for headway_zenoh::ZenohTransport {
    fn reach(&mut self, node: u32, address: &str) -> io::Result<()> {
        self.set_peer(node, address);
        Ok(())
    }

    fn forget(&mut self, node: u32) {
        self.remove_peer(node);
    }

    fn beside(&mut self, neighbours: &[(u32, &str)]) {
        self.set_neighbours(neighbours);
    }
}

impl Reach for Udp {
    fn reach(&mut self, node: u32, address: &str) -> io::Result<()> {
        let found = match address.parse::<SocketAddr>() {
            Ok(address) => Some(address),
            Err(_) => address.to_socket_addrs()?.next(),
        };
        let address = found.ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("no address for {address}"))
        })?;
        self.set_peer(node, address);
        Ok(())
    }

    fn forget(&mut self, node: u32) {
        self.remove_peer(node);
    }
}
