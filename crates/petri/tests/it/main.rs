//! Nets, files, algebra and play, each against a second way to the same answer.

mod behaviour;
mod common;
mod damaged_nets;
mod extremes;
mod maxplus;
mod pnml;
mod ring;
mod separate;
mod tools;
mod transient;
