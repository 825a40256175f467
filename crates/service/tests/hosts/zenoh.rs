//! The same hosts, and all that can happen to them, over Zenoh with mutual TLS.

use std::time::Duration;

use headway_testkit::tools;
use headway_zenoh::certificates::Authority;

use crate::harness::Fleet;
use crate::network::Network;
use crate::{HOSTS, Trial, Weather};

/// How long Zenoh may take to notice that a connection is dead (its lease) and to
/// connect again; a ring can settle only then.
const RECONNECTED: Duration = Duration::from_secs(10);

impl Fleet {
    /// Over Zenoh, everybody with a certificate of one authority.
    fn certified(&mut self) -> Authority {
        self.shared_key = true;
        let authority = Authority::create(&self.path("certificates")).expect("an authority");
        for (at, name) in self.names.iter().enumerate() {
            let address = self.address(at);
            let host = address.split(':').next().expect("a host");
            authority.certify(name, host).expect("a certificate");
        }
        self.certificates = Some("certificates");
        authority
    }
}

#[test]
fn eight_hosts_over_zenoh_with_mutual_tls() {
    let mut network = match Network::new(HOSTS) {
        Ok(network) => network,
        Err(why) => {
            return tools::skip("eight_hosts_over_zenoh_with_mutual_tls", &why);
        }
    };
    let mut trial = Trial::new(&network);
    trial.bound += RECONNECTED;
    trial.fleet.certified();
    let weather = Weather {
        loss: "loss 0.02",
        permits: 30,
        // TCP needs answers.
        one_way: false,
        killed: &[6, 0],
        moves: 3,
    };
    trial.everything(&mut network, &weather);
}

#[test]
fn a_member_is_added_over_zenoh_and_one_with_a_wrong_certificate_is_not() {
    let mut fleet = Fleet::new(91, &["a", "b", "c", "d", "e"], 1, 1).with_observer(0.01);
    fleet.certified();
    // What e has is from an authority that nobody knows.
    let strange = Authority::create(&fleet.path("strange")).expect("an authority");
    let address = fleet.address(4);
    let host = address.split(':').next().expect("a host");
    let forged = strange.certify("e", host).expect("a certificate");
    for file in [&forged.certificate, &forged.key] {
        let name = file.file_name().expect("a name");
        let ours = fleet.path("certificates").join(name);
        std::fs::copy(file, ours).expect("copied");
    }
    for at in 0..5 {
        fleet.write_config(at, 3);
    }
    for at in 0..5 {
        fleet.start(at);
    }
    fleet.until("the ring works", || fleet.observed().len() > 20);
    let status = fleet.status(0);
    assert_eq!(status["transport"], "zenoh");
    for neighbour in status["neighbours"].as_array().expect("neighbours") {
        let session = &neighbour["session"];
        assert_eq!(
            (&session["open"], &session["connected"]),
            (&true.into(), &true.into()),
            "{status}"
        );
        assert!(neighbour["heard_ms"].as_u64() < Some(1000), "{status}");
    }
    let add = |at: usize, name: &str| {
        let member = serde_json::json!({ "name": name, "address": fleet.address(at) });
        fleet.ask(0, "POST", "/v1/members", Some(&member))
    };
    let refused = add(4, "e").expect_err("e does not get in");
    assert!(refused.contains("does not answer"), "{refused}");
    fleet.until("d gets in", || add(3, "d").is_ok());
    fleet.until("d works", || {
        fleet.observed().iter().any(|seen| seen.node == "d")
    });
    assert_eq!(fleet.status(0)["members"], 4);
    let before = fleet.observed().len();
    fleet.until("work goes on", || fleet.observed().len() > before + 40);
    // A neighbour is gone: nobody reads what it is told.
    fleet.kill(3);
    fleet.until("the session to d is not connected", || {
        let status = fleet.status(0);
        let neighbours = status["neighbours"].as_array().cloned().unwrap_or_default();
        let d = neighbours.iter().find(|neighbour| neighbour["name"] == "d");
        d.is_some_and(|d| d["is_silent"] == true && d["session"]["connected"] == false)
    });
}

#[test]
fn a_certificate_s_key_that_everybody_can_read_stops_the_node_before_it_starts() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut fleet = Fleet::new(92, &["a", "b"], 1, 1);
    fleet.certified();
    let key = fleet.path("certificates/a.key");
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o644)).expect("changed");
    fleet.write_config(0, 2);
    fleet.start(0);
    assert_eq!(fleet.wait(0), 2);
    assert!(fleet.log(0).contains("chmod 600"), "{}", fleet.log(0));
}
