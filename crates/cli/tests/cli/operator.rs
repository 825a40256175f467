//! What an operator's key is for: another one in its place, and a new log of rosters.

use crate::common::headway;
use crate::fleet::Ring;

/// Wrong use ends with 2 and says what to do.
fn refused(ring: &Ring, arguments: &str, says: &[&str]) {
    let ran = ring.headway(arguments);
    assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments}: {}", ran.err);
    for says in says {
        assert!(ran.err.contains(says), "{arguments}: {}", ran.err);
    }
}

#[test]
fn the_operator_takes_another_key() {
    let ring = Ring::with_keys(122, 3);
    for file in ["next.key", "other.key"] {
        let made = ring.headway(&format!("node identity --operator {file}"));
        assert_eq!(made.code, 0, "{}", made.err);
    }
    let rotate = "node rotate-key --socket 1.sock";
    let with = |old: &str, new: &str| format!("{rotate} --operator {old} --new {new}");
    refused(
        &ring,
        &format!("{rotate} --operator operator.key"),
        &["--new <FILE>"],
    );
    refused(
        &ring,
        &format!("{rotate} --new next.key"),
        &["--operator <FILE>"],
    );
    let makes_one = "headway node identity --operator FILE";
    let missing = "cannot read the key file missing.key";
    refused(
        &ring,
        &with("missing.key", "next.key"),
        &[missing, makes_one],
    );
    refused(
        &ring,
        &with("operator.key", "missing.key"),
        &[missing, makes_one],
    );
    refused(
        &ring,
        &with("operator.key", "0.toml"),
        &["chmod 600 0.toml"],
    );
    let unsigned = [
        "not signed with the key that is to be replaced",
        "--operator",
    ];
    refused(&ring, &with("other.key", "next.key"), &unsigned);
    let ran = headway("node rotate-key --operator x --new y --socket /nowhere/node.sock");
    assert_eq!(ran.code, 2, "{}", ran.out);
    let ran = ring.headway(&with("operator.key", "next.key"));
    if !cfg!(feature = "keepers") {
        assert_eq!((ran.code, &*ran.out), (1, ""));
        assert!(ran.err.contains("too few keepers"), "{}", ran.err);
        return;
    }
    let said = "roster 2: the operator has another key\n";
    assert_eq!((ran.code, &*ran.out), (0, said), "{}", ran.err);
    for at in 0..3 {
        let status = format!("node status --socket {at}.sock");
        ring.until(&status, 0, "roster 2, place");
    }
    // The old one is worth nothing, and the new one all.
    refused(&ring, &with("operator.key", "other.key"), &unsigned);
    let ran = ring.headway(&with("next.key", "other.key"));
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn a_new_log_begins_on_the_operators_word() {
    let mut ring = Ring::with_keys(123, 4);
    let made = ring.headway("node identity --operator other.key");
    assert_eq!(made.code, 0, "{}", made.err);
    let recover = |more: &str| format!("node recover --socket 0.sock {more}");
    let majority = "which is a majority: use `headway node remove` for each";
    refused(&ring, &recover(""), &["4 of 4 keepers", majority]);
    refused(&ring, &recover("--gone n3"), &["3 of 4 keepers", majority]);
    refused(&ring, &recover("--gone n2,n9"), &["no member `n9`"]);
    for at in [2, 3] {
        ring.kill(at);
    }
    let gone = |operator: &str| recover(&format!("--gone n2,n3 --operator {operator}"));
    let makes_one = "headway node identity --operator FILE";
    refused(&ring, &gone("missing.key"), &["missing.key", makes_one]);
    let unsigned = ["not signed with the key", "--operator"];
    refused(&ring, &gone("other.key"), &unsigned);
    let ran = ring.headway(&gone("operator.key"));
    let said = "roster 1001: a new log begins with it\n";
    assert_eq!((ran.code, &*ran.out), (0, said), "{}", ran.err);
    // Said once, on one node; the other believes it.
    for at in [0, 1] {
        let place = format!("roster 1001, place {at} of 2");
        ring.until(&format!("node status --socket {at}.sock"), 0, &place);
    }
    let ran = ring.headway("node list --socket 1.sock");
    assert!(
        !ran.out.contains("n2") && !ran.out.contains("n3"),
        "{}",
        ran.out
    );
}
