//! Transports whose nodes can be given addresses while they run.

use std::io;
use std::net::ToSocketAddrs as _;
use std::path::Path;

use headway_node::transport::lines::Lines;
use headway_node::transport::udp::Udp;
use headway_node::transport::{Transport, no_way_to};

use crate::config::{self, Settings};
use crate::service::{ServiceError, system};
use by_name::ByName;

mod by_name;

/// A [`Transport`] that can be told where a node is.
///
/// The service uses numbers below 2³¹ for the places of the ring, and numbers from
/// 2³¹ on for addresses that control datagrams go to; one address may have both.
pub(crate) trait ServiceTransport: Transport {
    /// From now on `node` is at `address`, as written in the roster.
    ///
    /// # Errors
    ///
    /// When the address means nothing to this transport, or it is not known yet what it means
    /// (`WouldBlock`); sending to the node is then loss.
    fn reach(&mut self, node: u32, address: &str) -> io::Result<()>;

    /// Forgets a node.
    fn forget(&mut self, node: u32);

    /// The nodes beside this one on the ring, by number and name: nobody else may tell
    /// the ring's state, as far as the transport can prevent it. Their addresses
    /// follow by [`ServiceTransport::reach`].
    fn beside(&mut self, _neighbours: &[(u32, &str)]) {}

    /// Its name, as in `node.transport`.
    fn name(&self) -> &'static str;
}

/// The transport that the settings ask for.
///
/// # Errors
///
/// When the address cannot be had, or a file with a key is readable by others.
pub(crate) fn open(settings: &Settings) -> Result<Box<dyn ServiceTransport>, ServiceError> {
    let listen = settings.node.listen.clone();
    let what = format!("cannot receive at {listen} (node.listen)");
    match settings.node.transport {
        config::Transport::Serial => {
            let serial = &settings.serial;
            let paths = [&serial.predecessor, &serial.successor];
            let paths: Vec<&Path> = paths.into_iter().flatten().map(|path| &**path).collect();
            let lines = Lines::open(&paths, serial.baud.get());
            let what = "cannot open the serial lines (serial.predecessor, serial.successor)";
            Ok(Box::new(lines.map_err(system(what))?))
        }
        config::Transport::Udp => {
            let address = listen
                .to_socket_addrs()
                .and_then(|mut found| {
                    found
                        .next()
                        .ok_or_else(|| io::Error::other("no such address"))
                })
                .map_err(system(&*what))?;
            let udp = Udp::bind(address).map_err(system(what))?;
            let names = ByName::new(udp).map_err(system("cannot start a thread"));
            Ok(Box::new(names?))
        }
    }
}

impl ServiceTransport for Lines {
    fn reach(&mut self, node: u32, _address: &str) -> io::Result<()> {
        if self.leads_to(node) {
            return Ok(());
        }
        Err(no_way_to(node))
    }

    fn forget(&mut self, node: u32) {
        self.remove_peer(node);
    }

    /// The predecessor comes first; of a ring of two it is the successor, too.
    fn beside(&mut self, neighbours: &[(u32, &str)]) {
        for (line, (node, _)) in neighbours.iter().enumerate() {
            self.set_peer(*node, line);
        }
    }

    fn name(&self) -> &'static str {
        "serial"
    }
}
