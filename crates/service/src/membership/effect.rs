//! What comes out of the membership, and what it is told of how the node stands.

use std::time::Duration;

use crate::agent::alarm::Reason;
use crate::identity::Identities;
use crate::permits::Grant;
use crate::request::{Reply, RequestId};

/// What the rest of the node has to do about the roster.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// Keep the roster, and what this voter has promised: [`Membership::handle_kept`] is to follow.
    Keep(Vec<u8>),
    /// There is a new roster: leave the ring of the old one.
    Adopted,
    /// The node has other key pairs: keep them. [`Membership::handle_identity_kept`] is to follow.
    KeepIdentity(Identities),
    /// Both neighbours have said, since then, that they are on this ring: a permit may be used.
    Confirmed { grant: Grant, since: Duration },
    /// A neighbour asks whether it may use a permit: [`Membership::answer`] is to follow.
    Asked {
        address: String,
        nonce: u64,
        grant: Grant,
    },
    /// A neighbour knows that the token of a permit has gone on: this node was restored.
    Overtaken,
    /// Somebody who wanted a change has an answer.
    Reply(RequestId, Reply),
    /// Something was not listened to.
    Rejected(Reason),
    /// Too few voters answered for a bypass.
    NoMajority,
    /// Somebody of this name, at this address, says something about rollouts.
    Rollouts(String, String, Vec<u8>),
}

/// How this node stands to the ring, as others are told or act upon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// It has a place on the ring of its roster.
    pub(crate) taking_part: bool,
    /// It hears both its neighbours there.
    pub(crate) on_ring: bool,
    /// It has seen a whole legitimate turn there.
    pub(crate) settled: bool,
    /// Nobody here uses a permit.
    pub(crate) idle: bool,
    /// It is about to end.
    pub(crate) stopping: bool,
}
