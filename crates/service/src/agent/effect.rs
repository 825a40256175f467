//! What comes out of a node.

use crate::identity::Identities;
use crate::permits::{CommandPermit, Grant};
use crate::request::{Reply, RequestId};
use crate::store::Notes;

/// Something for the world to do.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Keep the machine's state.
    KeepState(Vec<u8>),
    /// Keep the roster, with what proves it and what this node has promised about the next one;
    /// [`super::Agent::handle_stored`] is to follow.
    KeepRoster(Vec<u8>),
    /// Keep the node's key pairs; [`super::Agent::handle_stored`] is to follow.
    KeepIdentity(Identities),
    /// Keep what else has to survive a restart; [`super::Agent::handle_stored`] is to follow before
    /// the next effect, which may rely on it.
    KeepNotes(Notes),
    /// Keep what is known of rollouts.
    KeepRollouts(Vec<u8>),
    /// The members beside this one are these.
    Neighbours(Vec<Beside>),
    /// Send a datagram.
    Send(Destination, Vec<u8>),
    /// Answer a request.
    Reply(RequestId, Reply),
    /// Run the command.
    StartCommand(CommandPermit),
    /// Stop it.
    StopCommand(Grant),
}

/// Where a datagram goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To a neighbour, by its place on the ring.
    Neighbour(u32),
    /// To an address of a roster.
    Address(String),
}

/// A member beside this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Its place on the ring.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub address: String,
}
