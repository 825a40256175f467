//! Headway's parts agree with each other: the same question, answered in ways that share no
//! code, has one answer; and the documents name what exists.

mod architecture;
mod bounds;
mod clocks;
mod listing;
mod moving_block;
mod node;
mod pages;
mod paper;
mod petri;
mod proof;
mod versions;
