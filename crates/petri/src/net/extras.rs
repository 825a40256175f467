//! What a net carries beyond places, transitions and arcs.

use super::{PlaceIndex, TransitionIndex};

/// What a tool-specific element belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The net, or a page of it.
    Net,
    /// A place.
    Place(PlaceIndex),
    /// A transition.
    Transition(TransitionIndex),
    /// An arc, by its index in [`super::Net::arcs`].
    Arc(usize),
}

/// Another tool's `toolspecific` element, kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpecific {
    /// What it belongs to.
    pub owner: Owner,
    /// The `tool` attribute.
    pub tool: String,
    /// The `version` attribute.
    pub version: String,
    /// Further attributes, as written.
    pub attributes: String,
    /// Everything between the tags, as written.
    pub content: String,
    /// The namespaces that were in scope: prefix ("" for the default) and
    /// address, so that the content keeps its meaning elsewhere.
    pub namespaces: Vec<(String, String)>,
}

/// What a net of a ring says about the ring beyond its shape and marking.
///
/// A place of the major ring holds both the tokens that rest at its process and
/// those queued at the one before: nothing that happens later depends on which
/// is which, but a state file says it, so that a net that came from one keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingNote {
    /// d. It shows in the shape only where there is a delay.
    pub separation: u32,
    /// Which processes delay. It shows in the shape unless d = 1, when a minor
    /// ring looks like a relay's loop; empty unless d = 1.
    pub delays: Vec<usize>,
    /// Tokens of a major place that are queued at the process before it:
    /// (place, tokens), ascending, none with 0 tokens.
    pub queued: Vec<(PlaceIndex, u64)>,
}
