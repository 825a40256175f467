//! A node's configuration and files, fleets on virtual time, fleets of real processes, and a model
//! of the agreement for SPIN.

mod config;
mod damaged;
mod fleet;
mod harness;
mod hosts;
mod names;
mod observer;
mod rollouts;
mod spin;
mod virtual_time;

/// Not a test: what a node of the other tests runs as.
#[test]
fn a_node_if_asked() {
    harness::be_a_node_if_asked();
}

/// Not a test: what a node of the other tests runs.
#[test]
fn a_command_if_asked() {
    observer::be_a_command_if_asked();
}
