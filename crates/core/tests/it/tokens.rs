//! Tokens keep their identity first-in-first-out: `Tokens::follow` against queues of
//! names that are moved one by one.

use std::collections::VecDeque;

use crate::common::any_ring;
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Ring};
use headway_testkit::tier::properties;
use proptest::prelude::*;

/// Names in queues: per process those queued and those resting, oldest first.
struct Names {
    queued: Vec<VecDeque<usize>>,
    resting: Vec<VecDeque<usize>>,
}

impl Names {
    /// Numbered as [`Tokens::new`] does: from the last process backwards.
    fn new(state: &Configuration) -> Names {
        let n = state.processes.len();
        let mut names = Names {
            queued: vec![VecDeque::new(); n],
            resting: vec![VecDeque::new(); n],
        };
        let mut next = 0..;
        for (index, process) in state.processes.iter().enumerate().rev() {
            let mut take = |count: u32| (&mut next).take(count as usize).collect();
            names.queued[index] = take(process.queued);
            names.resting[index] = take(process.resting);
        }
        names
    }

    /// Everybody who is queued arrives behind those who rest; whoever has rested
    /// longest leaves if the process releases.
    fn follow(&mut self, after: &Configuration) {
        let n = self.queued.len();
        let arriving: Vec<_> = self.queued.iter_mut().map(std::mem::take).collect();
        for (index, names) in arriving.into_iter().enumerate() {
            self.resting[(index + 1) % n].extend(names);
        }
        for (index, process) in after.processes.iter().enumerate() {
            for _ in 0..process.queued {
                let oldest = self.resting[index].pop_front().expect("a token to release");
                self.queued[index].push_back(oldest);
            }
        }
    }
}

fn agree(tokens: &Tokens, names: &Names) -> Result<(), TestCaseError> {
    for (name, place) in tokens.places().iter().enumerate() {
        let here = place.process();
        let list = if place.resting {
            &names.resting[here]
        } else {
            &names.queued[here]
        };
        prop_assert!(list.contains(&name), "token {} is not at {}", name, here);
    }
    Ok(())
}

/// Counts, order, and that a token moves exactly when it was queued.
fn consistent(before: &Tokens, after: &Tokens, state: &Configuration) -> Result<(), TestCaseError> {
    let mut counts = vec![(0, 0); state.processes.len()];
    for place in after.places() {
        let (queued, resting) = &mut counts[place.process()];
        *(if place.resting { resting } else { queued }) += 1;
    }
    let expected: Vec<_> = state
        .processes
        .iter()
        .map(|p| (p.queued, p.resting))
        .collect();
    prop_assert_eq!(counts, expected);
    for (old, new) in before.places().iter().zip(after.places()) {
        prop_assert_eq!(new.lifted - old.lifted, u64::from(!old.resting));
        prop_assert_eq!(new.lifted % after.ring_len(), new.process() as u64);
    }
    let turn: u64 = after.distances().sum();
    let one_turn = if after.places().is_empty() {
        0
    } else {
        after.ring_len()
    };
    prop_assert_eq!(turn, one_turn, "no token overtakes another");
    Ok(())
}

proptest! {
    #![proptest_config(properties(400))]

    #[test]
    fn tokens_leave_first_in_first_out((ring, initial) in any_ring()) {
        let mut state = initial;
        let (mut tokens, mut names) = (Tokens::new(&state), Names::new(&state));
        agree(&tokens, &names)?;
        for _ in 0..60 {
            ring.round(&mut state);
            let before = tokens.clone();
            tokens.follow(&state);
            names.follow(&state);
            agree(&tokens, &names)?;
            consistent(&before, &tokens, &state)?;
        }
    }
}

proptest! {
    #![proptest_config(properties(400))]

    /// A pile is what rests at a process and what its predecessor has queued; every
    /// process that holds anything is asked once.
    #[test]
    fn piles_are_what_the_state_says((ring, initial) in any_ring()) {
        let mut state = initial;
        let n = ring.len();
        let mut tokens = Tokens::new(&state);
        for _ in 0..40 {
            let before = state.clone();
            ring.round(&mut state);
            let mut piles = Vec::new();
            tokens.advance(|pile| {
                piles.push((pile.process, pile.held, pile.arriving));
                state.processes[pile.process].queued > 0
            });
            piles.sort_unstable();
            let expected = (0..n).filter_map(|at| {
                let arriving = before.processes[(at + n - 1) % n].queued;
                let held = before.processes[at].resting + arriving;
                (held > 0).then_some((at, held, arriving))
            });
            prop_assert_eq!(piles, expected.collect::<Vec<_>>());
        }
    }
}

/// Counter-test: last-in-first-out would be told apart.
#[test]
fn the_oldest_leaves_first() {
    let d = headway_core::Separation::new(2).unwrap();
    let ring = Ring::with_delays(d, 4, [0]).unwrap();
    let mut state = Configuration::piled(&ring, 1, 1);
    state.processes[0].queued = 1;
    let mut tokens = Tokens::new(&state);
    // Token 0 rests at process 1, token 1 arrives there.
    ring.round(&mut state);
    tokens.follow(&state);
    assert!(!tokens.places()[0].resting);
    assert!(tokens.places()[1].resting);
    assert_eq!(tokens.min_distance(), Some(0));
}
