//! How datagrams get from node to node.
//!
//! A [`Transport`] belongs to one node and carries whole datagrams to other nodes, named
//! by their index. It may lose, duplicate and reorder them; the protocol does not mind.
//! The trait lists what it must not do, and `conformance` of `headway-stage` tries that
//! on any transport.
//!
//! [`udp`] (feature `udp`) connects programs and machines, [`lines`] (feature `lines`) a
//! program and boards on serial lines; `headway-stage` has one within a program, and one that
//! makes any of them worse.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "lines")]
pub mod lines;
#[cfg(feature = "udp")]
pub mod udp;

/// One node's connection to the others.
///
/// * A datagram arrives whole, as it was sent, or not at all: never a part of it, never
///   two in one.
/// * Only [`Transport::receive`] blocks, and no longer than asked. Above all, sending to
///   a node that is dead, slow or gone does not.
/// * What it keeps is bounded; when there is too much, it drops the oldest, because the
///   latest state wins.
/// * It refuses a datagram that is too long as a whole.
pub trait Transport: Send {
    /// Sends a datagram to a node, or loses it.
    ///
    /// # Errors
    ///
    /// When it can never be sent: it is longer than
    /// [`Transport::largest_datagram`] (`InvalidInput`), or there is no way to this
    /// node (`NotFound`). What may work the next time is loss, not an error.
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()>;

    /// Waits for a datagram, writes it into `buffer` and returns its length. `None`
    /// if none has come within `wait`, or the [`Waker`] was used. One that is longer
    /// than the buffer is dropped. With a `wait` of zero it only looks.
    ///
    /// # Errors
    ///
    /// When the transport itself is broken.
    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>>;

    /// The longest datagram that it carries whole.
    fn largest_datagram(&self) -> usize;

    /// Ends a [`Transport::receive`] from another thread.
    fn waker(&self) -> Waker;

    /// When it wants to be asked again at the latest, because it holds something
    /// back. Most hold nothing back.
    fn due(&self) -> Option<Instant> {
        None
    }
}

/// Makes a waiting [`Transport::receive`] return, or the next one if none waits.
#[derive(Clone)]
pub struct Waker(Arc<dyn Fn() + Send + Sync>);

impl Waker {
    /// What to do to wake the receiver.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Waker {
        Waker(Arc::new(wake))
    }

    /// Wakes the receiver.
    pub fn wake(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Waker(..)")
    }
}

/// The refusal of a datagram that is too long, by any transport.
pub fn too_long(bytes: usize, limit: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("a datagram of {bytes} bytes, and the transport carries {limit}"),
    )
}

/// The refusal to send to a node that has no address, by any transport.
pub fn no_way_to(node: u32) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("no address for node {node}"),
    )
}
