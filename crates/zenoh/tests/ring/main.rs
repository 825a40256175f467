//! The transport over Zenoh, on the loopback address: what every transport has to
//! do, certificates, and peers that go and come back.

mod help;
mod intruders;
mod peers;

use std::time::Duration;

use headway_stage::conformance::{Patience, check};
use headway_zenoh::certificates::Authority;

use help::{connected, options, ports};

fn patience() -> Patience {
    Patience {
        // A session needs several threads to have their turn on a busy machine.
        blocked: Duration::from_secs(120),
        ..Patience::default()
    }
}

#[test]
fn it_does_what_a_transport_has_to_do() {
    let ring = |nodes| connected(options(&ports(nodes), None));
    check(ring, &patience()).unwrap();
}

#[test]
fn so_it_does_with_mutual_tls() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(folder.path()).unwrap();
    let ring = |nodes| connected(options(&ports(nodes), Some(&authority)));
    check(ring, &patience()).unwrap();
}
