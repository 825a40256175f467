//! Real processes on loopback: rings, membership, permits, mistakes and attacks.

mod api;
mod attack;
mod door;
mod edges;
mod harness;
mod hook;
mod keys;
mod membership;
mod notify;
mod observer;
mod programs;
mod ring;
mod terms;

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
