//! What a receiver does not take.

use thiserror::Error;

/// Why a datagram was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum Rejected {
    /// Not as long as all datagrams of the ring.
    #[error("wrong length")]
    Length,
    /// Not a datagram of this protocol, or of another version.
    #[error("not this protocol or version")]
    Version,
    /// The sender does not know the key, or it was changed on the way.
    #[error("not authenticated")]
    Unauthenticated,
    /// Another ring, or another configuration of this one.
    #[error("another ring")]
    Ring,
    /// Not from a neighbour.
    #[error("not from a neighbour")]
    Sender,
    /// For somebody else.
    #[error("for another node")]
    Receiver,
    /// A field is out of its domain.
    #[error("a field is out of range")]
    Domain,
    /// A fencing number is larger than any can be.
    #[error("a fencing number is too large")]
    Fence,
    /// Older than what is known, a copy, or of an incarnation that has not
    /// answered a challenge.
    #[error("stale")]
    Stale,
}

impl Rejected {
    /// All reasons, in the order in which they are looked for.
    pub const ALL: [Rejected; 9] = [
        Rejected::Length,
        Rejected::Version,
        Rejected::Unauthenticated,
        Rejected::Ring,
        Rejected::Sender,
        Rejected::Receiver,
        Rejected::Domain,
        Rejected::Fence,
        Rejected::Stale,
    ];

    /// A name for labels and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Rejected::Length => "length",
            Rejected::Version => "version",
            Rejected::Unauthenticated => "unauthenticated",
            Rejected::Ring => "ring",
            Rejected::Sender => "sender",
            Rejected::Receiver => "receiver",
            Rejected::Domain => "domain",
            Rejected::Fence => "fence",
            Rejected::Stale => "stale",
        }
    }
}
