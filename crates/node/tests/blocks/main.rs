//! Nodes of a ring of moving blocks.

mod resuming;
mod ring;
mod wanted;
