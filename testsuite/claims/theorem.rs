//! Theorem 1: with at least one delay, n > 1, m > 1, d = C+1 and m·d ≤ n, the
//! protocol stabilizes to D1 to D5.
//!
//! True. Checked by a monitor that watches every state of a run: all states of all
//! rings up to 5 processes with m > 1 (and, beyond the theorem, m = 1), 2000 random
//! rings up to 60 with a second random state thrown in as a transient fault. A run
//! goes on for two turns after the state has become legitimate, so that D4, equal
//! visits, can fail.
//! Counter-tests: each premise broken (no delay; m·d > n; d larger than C+1), and
//! each verdict is seen to be "no" somewhere.

use headway_core::Configuration;
use headway_core::desiderata::Monitor;
use headway_core::tokens::Tokens;
use headway_testsuite::space::{Case, Random};

use super::{every_small, random_large};

struct Watched<'a> {
    case: &'a Case,
    state: Configuration,
    tokens: Tokens,
    monitor: Monitor,
    round: u64,
}

impl<'a> Watched<'a> {
    fn new(case: &'a Case, initial: &Configuration) -> Watched<'a> {
        let tokens = Tokens::new(initial);
        let mut watched = Watched {
            case,
            state: initial.clone(),
            monitor: Monitor::new(case.ring.separation(), &tokens),
            tokens,
            round: 0,
        };
        let legitimate = watched.legitimate();
        watched.monitor.observe(0, &watched.tokens, || legitimate);
        watched
    }

    fn legitimate(&self) -> bool {
        let tokens = u64::from(self.case.tokens);
        self.case.ring.legitimate(&self.state, tokens).is_ok()
    }

    fn run(&mut self, protocol: &Case) {
        let replaced = !std::ptr::eq(protocol, self.case);
        for _ in 0..self.case.horizon() + 2 * self.case.ring.len() as u64 {
            protocol.ring.round(&mut self.state);
            self.tokens.follow(&self.state);
            self.round += 1;
            // It panics where legitimacy ends by itself; another protocol may end it.
            let trusted = replaced && self.monitor.settled_since().is_some();
            let legitimate = self.legitimate() || trusted;
            self.monitor
                .observe(self.round, &self.tokens, || legitimate);
        }
    }

    fn fault(&mut self, state: Configuration) {
        self.tokens = Tokens::new(&state);
        self.state = state;
        let legitimate = self.legitimate();
        self.monitor.fault(&self.tokens, || legitimate);
    }

    fn failed(&self) -> Vec<&'static str> {
        let verdicts = self.monitor.outcome().desiderata;
        let failed = verdicts
            .iter()
            .filter(|verdict| verdict.holds != Some(true));
        failed.map(|verdict| verdict.of.name()).collect()
    }
}

fn failed(case: &Case, initial: &Configuration) -> Vec<&'static str> {
    let mut watched = Watched::new(case, initial);
    watched.run(case);
    watched.failed()
}

#[test]
fn holds_from_every_state_of_small_rings() {
    every_small(5, u32::MAX, |case, state| {
        assert!(failed(case, state).is_empty(), "{case:?} {state:?}");
    });
}

#[test]
fn holds_on_random_rings_with_a_fault() {
    random_large(2000, u32::MAX, |case, state, seed| {
        let mut watched = Watched::new(case, state);
        watched.run(case);
        let mut random = Random::new(seed ^ 0xfa17);
        watched.fault(random.state(case, u32::MAX));
        watched.run(case);
        assert_eq!(watched.failed(), [""; 0], "seed {seed}");
        assert_eq!(watched.monitor.outcome().recoveries.len(), 2);
    });
}

#[test]
fn counter_test_no_delay() {
    let case = Case::new(6, 2, 3, &[]);
    let initial = Configuration::piled(&case.ring, 2, 0);
    assert_eq!(failed(&case, &initial), ["D2", "D3", "D4", "D5"]);
}

#[test]
fn counter_test_too_many_tokens() {
    let case = Case::new(5, 3, 2, &[0]);
    let initial = Configuration::piled(&case.ring, 3, 0);
    assert_eq!(failed(&case, &initial), ["D2", "D3", "D4", "D5"]);
}

/// The run keeps a smaller distance than is watched for: d > C+1.
#[test]
fn counter_test_counters_too_short_for_d() {
    let case = Case::new(6, 2, 3, &[0]);
    let initial = Configuration::piled(&case.ring, 2, 0);
    let mut watched = Watched::new(&case, &initial);
    watched.run(&case.with_separation(2));
    assert_eq!(watched.failed(), ["D2", "D3", "D4", "D5"]);
}

/// D2 to D4 can each fail after legitimacy, when the protocol is then replaced.
#[test]
fn counter_test_each_verdict_can_be_no() {
    let case = Case::new(6, 2, 3, &[0]);
    let initial = Configuration::piled(&case.ring, 2, 0);
    let mut watched = Watched::new(&case, &initial);
    watched.run(&case);
    // Longer counters: a token rests, and the other comes close.
    watched.run(&case.with_separation(6));
    assert_eq!(watched.failed(), ["D2", "D3", "D4"]);
    // A token lost, unnoticed by the rest.
    let mut watched = Watched::new(&case, &initial);
    let mut lost = initial.clone();
    lost.processes[0].resting = 1;
    watched.fault(lost);
    watched.run(&case);
    assert!(watched.failed().contains(&"D1"));
}
