//! UDP: a socket per node, an address per neighbour.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

use super::{Doorbell, Transport, Waker, no_way_to, too_long};

/// The most that one datagram can carry over IPv4, and nearly so over IPv6.
pub const LARGEST_DATAGRAM: usize = 65_507;

const WAKER: Token = Token(usize::MAX);

/// One node's socket.
///
/// It listens to everybody: who may speak is for the ring's key to say, and a
/// neighbour's address may change. Nothing is connected, so that a neighbour that is
/// gone is silence, not an error.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    peers: BTreeMap<u32, SocketAddr>,
    /// Not there if another one rings for this socket too.
    bell: Option<UdpBell>,
    waker: Arc<mio::Waker>,
    /// One byte longer than the longest datagram, to notice one that is cut.
    arrived: Vec<u8>,
    largest: usize,
    spin: Duration,
    /// Nothing was left in the socket when it was last looked at: the next arrival
    /// rings the bell, so that there is no need to look before.
    empty: bool,
}

impl Udp {
    /// A socket at `address`; port 0 takes any free one.
    ///
    /// # Errors
    ///
    /// When the address cannot be had.
    pub fn bind(address: SocketAddr) -> io::Result<Udp> {
        let bell = UdpBell::new()?;
        let mut socket = Udp::bind_at(address, &bell)?;
        socket.bell = Some(bell);
        Ok(socket)
    }

    /// A socket for a thread that looks after several. It never waits; `bell` does.
    ///
    /// # Errors
    ///
    /// When the address cannot be had.
    pub fn bind_at(address: SocketAddr, bell: &UdpBell) -> io::Result<Udp> {
        let mut socket = UdpSocket::bind(address)?;
        let registry = bell.poll.registry();
        registry.register(&mut socket, Token(0), Interest::READABLE)?;
        Ok(Udp {
            socket,
            peers: BTreeMap::new(),
            bell: None,
            waker: Arc::clone(&bell.waker),
            arrived: vec![0; LARGEST_DATAGRAM + 1],
            largest: LARGEST_DATAGRAM,
            spin: Duration::ZERO,
            empty: false,
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Where a neighbour listens; replaces what was known.
    pub fn set_peer(&mut self, node: u32, address: SocketAddr) {
        self.peers.insert(node, address);
    }

    /// A neighbour that there is no way to any more.
    pub fn remove_peer(&mut self, node: u32) {
        self.peers.remove(&node);
    }

    /// Looks again and again for this long before it sleeps: quicker, and a whole
    /// core busy.
    #[must_use]
    pub const fn spinning(mut self, spin: Duration) -> Udp {
        self.spin = spin;
        self
    }

    /// What is in the socket, if anything.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.socket.recv(&mut self.arrived) {
                Ok(length) if length > self.largest || length > buffer.len() => {}
                Ok(length) => {
                    buffer[..length].copy_from_slice(&self.arrived[..length]);
                    return Ok(Some(length));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.empty = true;
                    return Ok(None);
                }
                // What became of something sent before is no matter here.
                Err(error) if is_loss(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Waits for several sockets at once.
#[derive(Debug)]
pub struct UdpBell {
    poll: Poll,
    events: Events,
    waker: Arc<mio::Waker>,
}

impl UdpBell {
    /// One that rings for no socket yet.
    ///
    /// # Errors
    ///
    /// When the system has no more descriptors.
    pub fn new() -> io::Result<UdpBell> {
        let poll = Poll::new()?;
        let waker = Arc::new(mio::Waker::new(poll.registry(), WAKER)?);
        Ok(UdpBell {
            poll,
            events: Events::with_capacity(64),
            waker,
        })
    }

    /// Waits; whether a socket has become ready, and whether the waker was used.
    fn listen(&mut self, most: Duration) -> io::Result<(bool, bool)> {
        match self.poll.poll(&mut self.events, Some(most)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            polled => polled?,
        }
        let used = self.events.iter().any(|event| event.token() == WAKER);
        let rung = self.events.iter().any(|event| event.token() != WAKER);
        Ok((rung, used))
    }
}

impl Doorbell for UdpBell {
    fn wait(&mut self, most: Duration) -> io::Result<()> {
        self.listen(most).map(drop)
    }
}

impl Transport for Udp {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        if datagram.len() > self.largest {
            return Err(too_long(datagram.len(), self.largest));
        }
        let address = *self.peers.get(&to).ok_or_else(|| no_way_to(to))?;
        match self.socket.send_to(datagram, address) {
            Ok(_) => Ok(()),
            Err(error) if is_loss(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        if wait.is_zero() {
            return self.take(buffer);
        }
        let started = Instant::now();
        let mut looked = false;
        loop {
            // The bell tells of arrivals only once, so the socket is emptied first.
            let known_empty = self.empty && self.bell.is_some() && self.spin.is_zero();
            if !known_empty && let Some(length) = self.take(buffer)? {
                return Ok(Some(length));
            }
            let passed = if std::mem::replace(&mut looked, true) {
                started.elapsed()
            } else {
                Duration::ZERO
            };
            if passed >= wait {
                return Ok(None);
            }
            if passed < self.spin {
                std::hint::spin_loop();
                continue;
            }
            let Some(bell) = &mut self.bell else {
                return Ok(None);
            };
            let (rung, woken) = bell.listen(wait - passed)?;
            self.empty &= !rung;
            if woken {
                return self.take(buffer);
            }
        }
    }

    fn largest_datagram(&self) -> usize {
        self.largest
    }

    fn waker(&self) -> Waker {
        let waker = Arc::clone(&self.waker);
        // A waker that fails has filled its counter: the receiver is awake anyway.
        Waker::new(move || drop(waker.wake()))
    }
}

/// Errors of a socket that mean no more than that a datagram is lost.
fn is_loss(error: &io::Error) -> bool {
    use io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, ConnectionReset, HostUnreachable, Interrupted,
        NetworkDown, NetworkUnreachable, OutOfMemory, PermissionDenied, WouldBlock,
    };
    matches!(
        error.kind(),
        AddrNotAvailable
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
            | OutOfMemory
            // A firewall's way of dropping.
            | PermissionDenied
            | WouldBlock
    )
    // No room in the device's queue; std has no name for it.
    || error.raw_os_error() == Some(ENOBUFS)
}

const ENOBUFS: i32 = if cfg!(target_os = "linux") { 105 } else { 55 };
