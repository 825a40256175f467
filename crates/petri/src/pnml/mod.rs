//! PNML, the interchange format of Petri nets (ISO/IEC 15909-2), for
//! place/transition nets.
//!
//! Written: one flat page, places, then transitions, then arcs; holding times
//! (which the standard lacks) in `toolspecific` elements of tool `headway`;
//! positions in `graphics`.
//!
//! Read: whatever the standard allows. Pages are flattened and reference nodes
//! replaced by what they refer to; prefixes, element order, white space,
//! comments, character data sections and missing labels do not matter; numbers
//! go up to 2^64-1. Other tools' `toolspecific` elements are kept. Whatever has
//! no place in a [`Net`] is listed in [`Imported::remarks`]; nothing is dropped
//! silently. What the standard forbids is refused, with line and element.
//!
//! Nodes outside of pages, and nets, pages and arcs without an id are read too.
//! So are the older dialects of WoPeD, PIPE, TAPAAL (untimed nets) and SNAKES,
//! which use no namespace or one of their own. `read/dialect.rs` is the one place that
//! knows them; an element or attribute that neither it nor the standard has is refused.

mod encoding;
mod read;
mod remark;
mod write;

use thiserror::Error;

use crate::net::{Marking, Net};

pub use read::read;
pub use remark::Remark;
pub use write::{to_string, write};

/// The namespace of PNML elements.
pub const NAMESPACE: &str = "http://www.pnml.org/version-2009/grammar/pnml";

/// The type of a place/transition net.
pub const NET_TYPE: &str = "http://www.pnml.org/version-2009/grammar/ptnet";

/// A net that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The net.
    pub net: Net,
    /// Its initial marking.
    pub marking: Marking,
    /// What a net cannot hold and where it was, in the order of first occurrence.
    pub remarks: Vec<Remark>,
}

/// Why a file is not a place/transition net in PNML. Nothing was read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, {what}")]
pub struct PnmlError {
    /// Where, from 1.
    pub line: usize,
    /// Where in the line, in characters from 1.
    pub column: usize,
    /// The element with its id, what is wrong and what was expected.
    pub what: String,
}
