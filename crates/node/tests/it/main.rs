//! The machine, its wire format and its frames, by what goes in and comes out.

mod blocks;
mod configuration;
mod frames;
mod joining;
mod link_keys;
mod machine;
mod vectors;
