//! The program `headway` as its users meet it: tests start it, which takes some milliseconds.

mod check;
mod common;
mod extremes;
mod fleet;
mod guides;
mod help;
mod interrupt;
mod join;
mod members;
mod messages;
mod mistakes;
mod node;
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
