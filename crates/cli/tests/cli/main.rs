//! The `headway` binary as its users meet it.

mod check;
mod common;
mod help;
mod messages;
mod mistakes;
mod node;
mod petri;
mod ring;
mod run;
mod serve;
mod sweep;
mod walk;
