//! UDP: a socket per node, an address per neighbour.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

use super::{Transport, Waker, no_way_to, too_long};

/// The most that one datagram can carry over IPv4, and nearly so over IPv6.
pub const MAX_DATAGRAM_BYTES: usize = 65_507;

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
    /// Absent if the socket is registered with one that somebody else waits for.
    poller: Option<UdpPoller>,
    waker: Arc<mio::Waker>,
    /// One byte longer than the longest datagram, to notice one that is cut.
    arrived: Vec<u8>,
    /// The socket was empty when it was last read: the poller reports the next arrival,
    /// so there is no need to look before.
    empty: bool,
}

impl Udp {
    /// A socket at `address`; port 0 takes any free one.
    ///
    /// # Errors
    ///
    /// When the address cannot be had.
    pub fn bind(address: SocketAddr) -> io::Result<Udp> {
        let poller = UdpPoller::new()?;
        let mut socket = Udp::bind_with(address, &poller)?;
        socket.poller = Some(poller);
        Ok(socket)
    }

    /// A socket for a thread that serves several. It never waits; `poller` does.
    ///
    /// # Errors
    ///
    /// When the address cannot be had.
    pub fn bind_with(address: SocketAddr, poller: &UdpPoller) -> io::Result<Udp> {
        let mut socket = UdpSocket::bind(address)?;
        let registry = poller.poll.registry();
        registry.register(&mut socket, Token(0), Interest::READABLE)?;
        Ok(Udp {
            socket,
            peers: BTreeMap::new(),
            poller: None,
            waker: Arc::clone(&poller.waker),
            arrived: vec![0; MAX_DATAGRAM_BYTES + 1],
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

    /// What is in the socket, if anything.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.socket.recv(&mut self.arrived) {
                Ok(length) if length > MAX_DATAGRAM_BYTES.min(buffer.len()) => {}
                Ok(length) => {
                    buffer[..length].copy_from_slice(&self.arrived[..length]);
                    return Ok(Some(length));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.empty = true;
                    return Ok(None);
                }
                // The fate of an earlier datagram, which was sent.
                Err(error) if is_loss(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Waits for several sockets at once.
#[derive(Debug)]
pub struct UdpPoller {
    poll: Poll,
    events: Events,
    waker: Arc<mio::Waker>,
}

impl UdpPoller {
    /// One without sockets.
    ///
    /// # Errors
    ///
    /// When the system has no more descriptors.
    pub fn new() -> io::Result<UdpPoller> {
        let poll = Poll::new()?;
        let waker = Arc::new(mio::Waker::new(poll.registry(), WAKER)?);
        Ok(UdpPoller {
            poll,
            events: Events::with_capacity(64),
            waker,
        })
    }

    /// Returns when a datagram may have arrived for any socket, when a [`Waker`] of any
    /// was used, or after `limit`.
    ///
    /// # Errors
    ///
    /// When the system does not let it wait.
    pub fn wait(&mut self, limit: Duration) -> io::Result<()> {
        self.poll(limit).map(drop)
    }

    /// Waits; whether a socket has become readable, and whether the waker was used.
    fn poll(&mut self, limit: Duration) -> io::Result<(bool, bool)> {
        match self.poll.poll(&mut self.events, Some(limit)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            polled => polled?,
        }
        let woken = self.events.iter().any(|event| event.token() == WAKER);
        let readable = self.events.iter().any(|event| event.token() != WAKER);
        Ok((readable, woken))
    }
}

impl Transport for Udp {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        if datagram.len() > MAX_DATAGRAM_BYTES {
            return Err(too_long(datagram.len(), MAX_DATAGRAM_BYTES));
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
        let mut left = wait;
        loop {
            // The poller reports an arrival only once, so the socket is emptied first.
            let known_empty = self.empty && self.poller.is_some();
            if !known_empty && let Some(length) = self.take(buffer)? {
                return Ok(Some(length));
            }
            let Some(poller) = &mut self.poller else {
                return Ok(None);
            };
            if left.is_zero() {
                return Ok(None);
            }
            let (readable, woken) = poller.poll(left)?;
            self.empty &= !readable;
            if woken {
                return self.take(buffer);
            }
            left = wait.saturating_sub(started.elapsed());
        }
    }

    fn largest_datagram(&self) -> usize {
        MAX_DATAGRAM_BYTES
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
