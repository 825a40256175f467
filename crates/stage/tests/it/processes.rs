//! A real ring of 16 processes on loopback UDP, a fifth of all datagrams lost,
//! processes killed and restarted at random, and an observer outside of the ring.
//!
//! All processes write to one pipe, whose order is the order of what happened: a
//! process writes the beginning of a permit before it uses it, and the end before
//! its node passes the token on. Whoever kills a process waits until it is dead and
//! writes that to the same pipe.
//!
//! `HEADWAY_PROCESSES_SEED` changes what is killed when.

mod node;
mod ring;

use headway_node::Rule;
use headway_testkit::tier::pick;
use ring::{Ring, Saving};

/// One of the 16: started by the other tests, each in a process of its own. Does nothing
/// where nobody has said which of the 16 it is.
#[test]
fn node() {
    if std::env::var_os(node::INDEX).is_some() {
        node::run();
    }
}

#[test]
fn killed_nodes_with_saved_state_break_no_promise() {
    killed_with_saved_state(Rule::LockStep);
    killed_with_saved_state(Rule::MovingBlock);
}

fn killed_with_saved_state(rule: Rule) {
    let mut ring = Ring::start(Saving::BeforeEachTransmit, rule);
    ring.wait_until_settled();
    let strikes = pick(8, 60, 600);
    for _ in 0..strikes {
        let more = 1 + ring.random(20);
        ring.wait_for_permits(more);
        // Sometimes two at once.
        let victims = 1 + ring.random(2);
        let killed: Vec<u32> = (0..victims).map(|_| ring.kill_one()).collect();
        ring.pause_ms(10..200);
        for node in killed {
            ring.restart(node);
        }
    }
    ring.wait_for_visits(3);
    // From the first time on everything was promised, through every restart.
    ring.wait_until_settled();
    let seen = ring.finish();
    println!("{seen}");
    assert_eq!(seen.violations, Vec::<String>::new(), "{seen}");
    assert!(seen.kills >= strikes, "{seen}");
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
    let strikes = pick(3, 8, 100);
    for _ in 0..strikes {
        let node = ring.kill_one();
        ring.pause_ms(10..100);
        ring.restart(node);
        // Nothing is promised until now, everything from now on.
        ring.wait_until_settled();
        let more = 1 + ring.random(20);
        ring.wait_for_permits(more);
    }
    let seen = ring.finish();
    println!("{seen}");
    assert_eq!(seen.violations, Vec::<String>::new(), "{seen}");
    // The first one is from the start of the ring.
    assert_eq!(seen.recoveries.len() as u64, 1 + strikes, "{seen}");
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
    let ring = Ring::start(Saving::NeverAndCareless, rule);
    ring.wait_until_settled();
    ring.wait_for_a_violation();
    let seen = ring.finish();
    println!("{seen}");
    assert!(
        seen.violations.iter().all(|what| what.contains("node 3")),
        "{:?}",
        seen.violations
    );
}
