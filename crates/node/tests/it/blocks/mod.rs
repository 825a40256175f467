//! Nodes of a ring of moving blocks.

mod patrol;
mod resuming;
mod ring;
mod wanted;
