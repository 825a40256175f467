//! The `headway` binary as its users meet it.

mod check;
mod common;
mod extremes;
mod fleet;
mod follow;
mod help;
mod interrupt;
mod messages;
mod mistakes;
mod node;
mod operator;
mod packaging;
mod petri;
mod plan;
mod ring;
mod run;
mod schemas;
mod serve;
mod strangers;
mod study;
mod sweep;
mod walk;
