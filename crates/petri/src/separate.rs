//! Separation added to a net that somebody brings.
//!
//! Two ways to keep the tokens of a circuit D places apart:
//!
//! * **Minor rings** ([`Method::MinorRing`]), the paper's: at chosen transitions
//!   of the circuit a ring of D places with one token is conjoined, so that
//!   tokens pass there at least D rounds apart. Whatever the marking is, tokens
//!   end up separated, and after a fault they do so again. It holds in play by
//!   rounds or time, as everything about distance in time does.
//! * **Monitors** ([`Method::Monitor`]), control by place invariants (Yamalidou,
//!   Moody, Lemmon, Antsaklis, *Feedback control of Petri nets based on place
//!   invariants*, 1996): for every D places in a row a place that lets in one
//!   token at most. Bad states are forbidden outright, in any order of firing,
//!   but only if the start is legal: from another the monitor's sum is wrong and
//!   stays wrong. And it ties together nodes that are D places apart.

mod behaviour;
mod build;

use thiserror::Error;

pub use behaviour::{Behaviour, observe};
pub use build::add;

use strum::{Display, EnumMessage, EnumString, VariantArray};

use crate::circuit::Circuit;
use crate::net::{Marking, Net, PlaceIndex, TransitionIndex};

/// How separation is to be had.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumMessage, EnumString, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Method {
    /// Rings of D places with one token, conjoined at transitions.
    #[default]
    MinorRing,
    /// Places that allow one token in D places in a row.
    Monitor,
}

/// What is to be added.
#[derive(Clone, Debug)]
pub struct Request {
    /// The circuit whose tokens are to be separated.
    pub circuit: Circuit,
    /// D: places from one token to the next.
    pub separation: u32,
    /// Where minor rings are conjoined, as positions on the circuit; `None` for
    /// every D-th transition, which is as fast as one at each (see
    /// [`headway_core::bound`]). Monitors need no choice.
    pub at: Option<Vec<usize>>,
    /// How.
    pub method: Method,
}

/// A net with control added.
#[derive(Clone, Debug)]
pub struct Separated {
    /// The plant and the control; the plant's nodes keep their numbers.
    pub net: Net,
    /// The plant's marking and the control's.
    pub marking: Marking,
    /// The places added: the last ones.
    pub places_added: Vec<PlaceIndex>,
    /// The transitions added: the last ones.
    pub transitions_added: Vec<TransitionIndex>,
    /// Where minor rings were conjoined, as positions on the circuit.
    pub at: Vec<usize>,
    /// Rows of D places that have more than one token at the start, each by the
    /// position of its first place: what monitors cannot undo.
    pub illegal: Vec<usize>,
    /// A bound on the round from which tokens are separated, over all markings
    /// of the circuit and the minor rings with as many tokens; `None` where no
    /// closed form is known, and why.
    pub bound: Result<u64, NoBound>,
}

/// Why there is no closed-form bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoBound {
    /// The method does not recover.
    #[error("monitors do not recover from an illegal start")]
    Monitor,
    /// The circuit is part of something larger.
    #[error(
        "transition {transition} of the circuit also depends on places outside of it; \
         the transient from the given marking is exact"
    )]
    Entangled {
        /// Its id.
        transition: String,
    },
    /// Tokens can leave the circuit or join it.
    #[error(
        "place {place} of the circuit also has transitions outside of it, so that tokens come and \
         go; what was played holds for the given marking"
    )]
    Shared {
        /// Its id.
        place: String,
    },
    /// Not every place holds tokens for one round.
    #[error("place {place} of the circuit holds tokens for {rounds} rounds, not 1")]
    Holding {
        /// Its id.
        place: String,
        /// Its holding time.
        rounds: u64,
    },
    /// There are no tokens.
    #[error("there are no tokens on the circuit")]
    Empty,
}

/// Why nothing was added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotSeparable {
    /// D is 0.
    #[error("a separation of 0 asks for nothing; use 1 or more")]
    Nothing,
    /// There is no room.
    #[error(
        "{tokens} tokens cannot be {separation} places apart on a circuit of {places} places: \
         {tokens} x {separation} > {places}"
    )]
    NoRoom {
        /// Tokens on the circuit.
        tokens: u64,
        /// D.
        separation: u32,
        /// Places of the circuit.
        places: usize,
    },
    /// A position that the circuit does not have.
    #[error("position {position} is not on the circuit of {places} places")]
    NotThere {
        /// The position.
        position: usize,
        /// Places of the circuit.
        places: usize,
    },
    /// An arc of the circuit moves several tokens at once.
    #[error("an arc of the circuit at place {place} moves {weight} tokens at once")]
    Weight {
        /// The place's id.
        place: String,
        /// The arc's weight.
        weight: u64,
    },
    /// No transition was chosen.
    #[error("choose at least one transition for a minor ring")]
    NoTransition,
}
