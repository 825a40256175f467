//! A real ring of 16 processes on loopback UDP, a fifth of all datagrams lost,
//! processes killed and restarted at random, and an observer outside of the ring.
//!
//! All processes write to one pipe, whose order is the order of what happened: a
//! process writes the beginning of a permit before it uses it, and the end before
//! its node passes the token on. Whoever kills a process waits until it is dead and
//! writes that to the same pipe.
//!
//! `HEADWAY_PROCESSES_SEED` changes what is killed when.

#![cfg(unix)]

mod processes {
    pub(crate) mod node;
    pub(crate) mod ring;
}

use std::io::Write;
use std::time::{Duration, Instant};

use headway_node::Rule;
use processes::ring::{Ring, Saving, Seen};

/// Past the test harness, which would swallow it.
fn show(seen: &Seen) {
    let line = format!("{seen}\n");
    // A test that cannot print can still fail.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// One of the 16: started by the other tests, each in a process of its own.
#[test]
#[ignore = "a process of the ring, started by the other tests"]
fn node() {
    processes::node::run();
}

#[test]
fn killed_nodes_with_saved_state_break_no_promise_for_a_minute() {
    killed_with_saved_state(Rule::LockStep);
    killed_with_saved_state(Rule::MovingBlock);
}

fn killed_with_saved_state(rule: Rule) {
    let mut ring = Ring::start(Saving::BeforeEachTransmit, rule);
    ring.wait_until_settled();
    let until = Instant::now() + Duration::from_secs(30);
    while Instant::now() < until {
        ring.pause_ms(100..600);
        // Sometimes two at once.
        let victims = 1 + ring.random(2);
        let killed: Vec<u32> = (0..victims).map(|_| ring.kill_one()).collect();
        ring.pause_ms(10..200);
        for node in killed {
            ring.restart(node);
        }
    }
    // From the first time on everything was promised, through every restart.
    ring.wait_until_settled();
    let seen = ring.finish();
    show(&seen);
    assert_eq!(seen.violations, Vec::<String>::new(), "{seen}");
    assert!(seen.kills > 15 && seen.permits > 250, "{seen}");
    assert!(seen.least_visits > 2, "{seen}");
    assert!(seen.refused_states == 0, "{seen}");
}

#[test]
fn killed_nodes_without_state_are_recovered_from_within_the_bound() {
    killed_without_state(Rule::LockStep);
    killed_without_state(Rule::MovingBlock);
}

fn killed_without_state(rule: Rule) {
    let mut ring = Ring::start(Saving::Never, rule);
    ring.wait_until_settled();
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        let node = ring.kill_one();
        ring.pause_ms(10..100);
        ring.restart(node);
        // Nothing is promised until now, everything from now on.
        ring.wait_until_settled();
        ring.pause_ms(200..500);
    }
    let seen = ring.finish();
    show(&seen);
    assert_eq!(seen.violations, Vec::<String>::new(), "{seen}");
    assert!(seen.kills >= 2 && seen.recoveries.len() >= 2, "{seen}");
    for &rounds in &seen.recoveries {
        assert!(rounds <= seen.bound, "{seen}");
    }
}

#[test]
fn a_process_that_works_on_after_passing_a_token_on_is_caught() {
    for rule in [Rule::LockStep, Rule::MovingBlock] {
        careless(rule);
    }
}

fn careless(rule: Rule) {
    let mut ring = Ring::start(Saving::NeverAndCareless, rule);
    ring.wait_until_settled();
    ring.pause_ms(3000..4000);
    let seen = ring.finish();
    show(&seen);
    assert!(!seen.violations.is_empty(), "{seen}");
    assert!(
        seen.violations.iter().all(|what| what.contains("node 3")),
        "{:?}",
        seen.violations
    );
}
