//! A ring whose machines let each other in: `headway node create`, `join` and `invite`.

use crate::common::Ran;
use crate::fleet::Ring;

const QUICK: [(&str, &str); 2] = [("TIMING_TICK", "2ms"), ("TIMING_REFRESH", "20ms")];

impl Ring {
    /// The flags that keep everything of a machine here.
    fn machine(&self, at: usize) -> String {
        let address = self.address(at);
        format!(
            "--name n{at} --address {address} --state-dir {at} --config {at}.toml --socket {at}.sock"
        )
    }

    /// The token in a line that was printed.
    fn token(&self, ran: &Ran) -> String {
        let token = ran.out.strip_prefix("headway node join hwj1");
        let token = token.unwrap_or_else(|| panic!("{}{}", ran.out, ran.err));
        format!("hwj1{}", token.trim())
    }
}

#[test]
fn three_machines_are_a_ring_by_one_line_each() {
    let mut ring = Ring::new(3);
    let created = ring.headway(&format!("node create web --no-run {}", ring.machine(0)));
    let token = ring.token(&created);
    ring.start_by(0, &["--config", "0.toml"], &QUICK);
    ring.until("node status --socket 0.sock", 1, "the only member so far");
    // The line is all: keys, configuration, membership.
    let join = format!("join {token} {}", ring.machine(1));
    let flags: Vec<&str> = join.split(' ').collect();
    ring.start_by(1, &flags, &QUICK);
    ring.until("node status --socket 1.sock", 0, "n1 is settled");
    // Any member invites.
    let invited = ring.headway("node invite --socket 1.sock");
    let next = ring.token(&invited);
    let join = format!("join {next} {}", ring.machine(2));
    let flags: Vec<&str> = join.split(' ').collect();
    ring.start_by(2, &flags, &QUICK);
    ring.until("node status --socket 2.sock", 0, "place 2 of 3");
    ring.until("node status --socket 0.sock", 0, "n0 is settled");
    let ran = ring.headway("node run --socket 2.sock -- echo permitted");
    assert_eq!(ran.out, "permitted\n", "{}", ran.err);
    // Nobody else comes by these lines.
    let other = "--name n9 --address 127.0.0.1:7499 --state-dir 9 --config 9.toml --socket 9.sock";
    let open = ring.token(&ring.headway("node invite --socket 0.sock"));
    let listed = ring.headway("node invite --made --socket 0.sock").out;
    assert!(listed.contains("used by n1\n"), "{listed}");
    let id = listed.lines().find_map(|line| line.strip_suffix("  open"));
    let id = id.expect("an open one").to_owned();
    let revoked = ring.headway(&format!("node invite --revoke {id} --socket 0.sock"));
    assert!(
        revoked.out.contains(&format!("{id}  revoked\n")),
        "{}",
        revoked.out
    );
    let mistyped = token.replace('1', "2");
    for (token, code, why) in [
        (&token, 1, "the token was used already, by n1 at"),
        (&open, 1, "the token is revoked"),
        (&mistyped, 2, "this is no token, or not all of it"),
    ] {
        let ran = ring.headway(&format!("node join {token} {other}"));
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
        assert!(!ring.path().join("9.toml").exists());
    }
    let again = ring.headway(&format!("node create web {}", ring.machine(0)));
    assert_eq!(again.code, 2);
    assert!(
        again.err.contains("this machine has a node already"),
        "{}",
        again.err
    );
}
