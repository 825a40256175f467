//! What the test targets share: every initial state of a small ring, seeded
//! random large ones, the listings of the paper line by line, executions in
//! which tokens have an identity, and the resting bounds of the paper's proof.
//!
//! * [`documents`]: the texts of the repository;
//! * [`space`]: which rings and which initial states;
//! * [`listing`]: figures 3 and 6 as printed;
//! * [`execution`]: a run, who arrives where, and since when claim 5 applies;
//! * [`resting`]: resting bounds and the variant function F.

/// The examples of the guide for embedded engineers compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedded.md")]
struct EmbeddedGuide;

pub mod documents;
pub mod execution;
pub mod listing;
pub mod resting;
pub mod space;
