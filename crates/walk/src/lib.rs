//! Closed walks over networks on which circulating tokens stay apart.
//!
//! The protocol of *Separation of Circulating Tokens* keeps tokens apart on a
//! ring. Laid over a network, the ring becomes a closed walk that visits every
//! node, and the question of the paper's section 7 is how far apart the tokens
//! then are in the network itself. This crate answers it for any walk
//! ([`kept`]), and looks for the walk with the best answer ([`search`],
//! [`exact`]).
//!
//! # Reading order
//!
//! 1. [`network`]: nodes and links, [`formats`] and [`generators`]: where they
//!    come from; [`distance`]: breadth-first searches;
//! 2. [`walk`]: the ring over a network; [`kept`]: the distance kept on it;
//! 3. [`fairness`]: whether every node can have a token equally often;
//! 4. [`tour`] and [`hamiltonian`]: short walks, [`formation`]: walks made for
//!    separation, [`search`]: the best of all, [`bound`]: what none can exceed,
//!    [`exact`]: the best there is, with proof, on small networks;
//! 5. [`rings`]: several rings that share nodes, instead of one walk;
//! 6. [`file`](mod@file): the walk file; [`layout`] and [`svg`]: the picture.
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod bound;
pub mod distance;
pub mod exact;
pub mod fairness;
pub mod file;
pub mod formation;
pub mod formats;
pub mod generators;
pub mod hamiltonian;
pub mod kept;
pub mod layout;
pub mod network;
mod random;
mod refine;
pub mod rings;
pub mod search;
pub mod svg;
pub mod tour;
pub mod walk;

pub use network::{Network, Node};
pub use walk::Walk;
