//! Petri nets for circulating tokens: the paper's embodiment of the protocol,
//! exact analysis by the max-plus algebra, and separation added to a plant that
//! somebody brings.
//!
//! # The model
//!
//! A [`Net`] has places, transitions and weighted arcs; a token that enters a
//! place is usable after the place's *holding time*, counted in rounds. A
//! [`Marking`] says how many tokens each place has. In an *event graph* every
//! place has one transition before it and one after it; such nets are linear in
//! the max-plus algebra, and everything about their timing is computable.
//!
//! ```
//! use headway_core::{Configuration, Ring, Separation};
//! use headway_petri::{maxplus, ring, transient, EventGraph};
//!
//! // Six processes, the first one a delay; two tokens, both at process 3.
//! let ring = Ring::with_delays(Separation::new(3).unwrap(), 6, [0]).unwrap();
//! let start = Configuration::piled(&ring, 2, 3);
//! let (net, marking) = ring::to_net(&ring, &start).unwrap();
//!
//! let graph = EventGraph::of(&net, &marking).unwrap();
//! let spectrum = maxplus::spectrum(&graph).unwrap();
//! assert_eq!(spectrum.cycle_time.to_string(), "3/1", "n/m = 6/2");
//! spectrum.certificate().check(&graph).unwrap();
//!
//! let transient = transient::exact(&graph, u64::MAX).unwrap();
//! assert_eq!((transient.rounds, transient.period), (6, 3));
//! ```
//!
//! # Reading order
//!
//! 1. [`net`]: nets and markings; [`ring`]: rings as nets and back;
//! 2. [`play`]: the two ways to run a net;
//! 3. [`pnml`], [`tina`], [`dot`], [`svg`]: files and pictures;
//! 4. [`graph`], [`structure`], [`circuit`], [`invariant`]: what the shape says;
//! 5. [`maxplus`]: cycle time, critical part, eigenvector, certificate;
//! 6. [`transient`]: when periodic behaviour begins; [`bound`]: what published
//!    bounds say about it;
//! 7. [`separate`]: minor rings or monitors added to a user's net.
//!
//! What is deliberately absent: state-space search, floating-point arithmetic
//! in any analysis (only drawings use it), randomness, files.
#![forbid(unsafe_code)]

pub mod bound;
pub mod circuit;
pub mod dot;
pub mod graph;
pub mod invariant;
pub mod maxplus;
pub mod net;
pub mod play;
pub mod pnml;
pub mod ring;
pub mod separate;
pub mod structure;
pub mod svg;
pub mod tina;
pub mod transient;

pub use graph::EventGraph;
pub use net::{Marking, Net};
