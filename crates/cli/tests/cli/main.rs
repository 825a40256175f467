//! The `headway` binary as its users meet it.

mod check;
mod common;
mod extremes;
mod fleet;
mod help;
mod interrupt;
mod members;
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
mod sweep;
mod walk;
