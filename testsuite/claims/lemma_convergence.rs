//! Lemma 2 (convergence): every execution comes to a legitimate state.
//!
//! True. Checked with a bound, so that "eventually" can fail: the state is
//! legitimate at the latest C rounds after the last round in which a token can rest
//! plus one (`bound::worst_last_rest`). All states, any queues, of all rings up to 6
//! processes; 4000 random rings up to 60.
//! Counter-tests: relays alone, and m·d > n.
//!
//! The sketch of the running time after the lemma has two slips, shown below: a
//! delay that holds all tokens has released them after m·(C+1) rounds, not m·C; and
//! a component of F can start at m+1, not m.

use headway_core::bound::{widest_gap, worst_last_rest};
use headway_core::{Configuration, Round};
use headway_testsuite::execution::{Premise, from_sigma};
use headway_testsuite::resting::Variant;
use headway_testsuite::space::{Case, cases, each_state};

use super::{random_large, state_of};

/// The first round after which the state is legitimate.
fn legitimate_at(case: &Case, initial: &Configuration, within: Round) -> Option<Round> {
    let mut state = initial.clone();
    (0..=within).find(|_| {
        let found = case.ring.legitimate(&state, u64::from(case.tokens)).is_ok();
        case.ring.round(&mut state);
        found
    })
}

fn bound(case: &Case) -> Round {
    let delays = case.ring.delays().map(|index| index as u64);
    let gap = widest_gap(delays, case.ring.len() as u64).expect("a delay");
    let d = case.ring.separation().hops();
    let last_rest = worst_last_rest(u64::from(case.tokens), d, gap).expect("a token");
    last_rest + 1 + case.top()
}

/// And pinned: with two tokens or more, the worst state of each of these rings is
/// legitimate in the round after the last one in which a token can rest.
#[test]
fn holds_from_every_state_of_small_rings() {
    for case in (2..=6).flat_map(cases) {
        let mut worst = 0;
        each_state(&case, u32::MAX, &mut |state| {
            let found = legitimate_at(&case, state, bound(&case));
            worst = worst.max(found.unwrap_or_else(|| panic!("{case:?} {state:?}")));
        });
        if case.tokens > 1 {
            assert_eq!(worst, bound(&case) - case.top(), "{case:?}");
        }
    }
}

#[test]
fn holds_on_random_rings() {
    random_large(4000, u32::MAX, |case, state, seed| {
        let found = legitimate_at(case, state, bound(case));
        assert!(found.is_some(), "seed {seed}");
    });
}

#[test]
fn counter_test_relays_alone_do_not_converge() {
    let case = Case::new(6, 2, 3, &[]);
    let initial = Configuration::piled(&case.ring, 2, 0);
    assert_eq!(legitimate_at(&case, &initial, 1000), None);
}

#[test]
fn counter_test_too_many_tokens_do_not_converge() {
    let case = Case::new(5, 3, 2, &[0]);
    each_state(&case, u32::MAX, &mut |state| {
        assert_eq!(legitimate_at(&case, state, 200), None);
    });
}

/// The sketch: a delay "holds all m tokens, which it releases after at most m·C
/// rounds". With m = 2 and C = 1 it takes 4 rounds.
#[test]
fn as_printed_a_pile_would_be_gone_too_soon() {
    let case = Case::new(4, 2, 2, &[0]);
    let initial = state_of(&case, &[(0, 2, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0)]);
    let mut state = initial.clone();
    let gone = (1..).find(|_| {
        case.ring.round(&mut state);
        state.processes[0].resting == 0
    });
    let (m, c) = (u64::from(case.tokens), case.top());
    assert_eq!(gone, Some(m * (c + 1)));
    assert!(gone > Some(m * c));
}

/// The sketch: components of F have "an initial maximum value of m".
#[test]
fn as_printed_components_of_f_would_be_too_small() {
    let case = Case::new(8, 2, 4, &[0]);
    let o = (0, 0, 0);
    let initial = state_of(&case, &[(0, 0, 3), o, o, o, o, o, o, (1, 1, 0)]);
    let mut at_sigma = None;
    let step = |state: &mut Configuration| case.ring.round(state);
    from_sigma(&case, Premise::AsPrinted, &initial, step, |_, state, _| {
        at_sigma = Some(Variant::new(&case, state).bounds().to_vec());
        false
    })
    .expect("σ");
    assert_eq!(at_sigma, Some(vec![case.tokens + 1]));
}
