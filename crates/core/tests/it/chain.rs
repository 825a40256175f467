//! The open chain of section 3: with d ≥ 2, from any state, under any arrivals, tokens
//! are separated from p2 on within a bound.
//!
//! With n processes and K tokens that p1 can no longer throttle (its queue, and all
//! tokens from p2 on), the chain is separated from round
//! n - 1 + K + ⌈(K-1)/(d-1)⌉ on, and from the start when K = 0. In words: the K
//! tokens leave one by one, tokens that p1 lets in meanwhile, one every d rounds,
//! queue up behind them, and the last of those has to leave the chain.
//!
//! With d = 1 there is no such bound: a pile at p2 never shrinks while a token
//! arrives in every round.

use crate::splits::each_split;
use headway_core::chain::Chain;
use headway_core::{Process, Separation};
use headway_testkit::tier::properties;
use proptest::prelude::*;

fn bound(chain: &Chain) -> u64 {
    let unthrottled = chain.tokens() - u64::from(chain.processes()[0].resting);
    if unthrottled == 0 {
        return 0;
    }
    let top = chain.separation().top() as u64;
    chain.processes().len() as u64 - 1 + unthrottled + (unthrottled - 1).div_ceil(top)
}

fn chain(d: u32, processes: &[Process]) -> Chain {
    let d = Separation::new(d).expect("at least 1");
    let mut chain = Chain::new(d, processes.len()).expect("not empty");
    chain.processes_mut().copy_from_slice(processes);
    chain
}

/// The first round from which on the chain stays separated.
fn separated_from(mut chain: Chain, arrivals: impl Iterator<Item = u32>) -> u64 {
    let mut from = 0;
    for (round, arriving) in (0..).zip(arrivals) {
        if !chain.separated() {
            from = round + 1;
        }
        chain.round(arriving);
    }
    from
}

#[test]
fn the_bound_holds_and_is_met_over_all_initial_states() {
    for (d, n, unthrottled) in [
        (2, 5, 4),
        (2, 4, 3),
        (3, 5, 4),
        (3, 5, 3),
        (4, 5, 4),
        (4, 5, 2),
    ] {
        let mut worst = 0;
        let mut expected = 0;
        // p1's queue, then queued and resting of each from p2 on.
        let mut slots = vec![0; 2 * n - 1];
        each_split(&mut slots, 0, unthrottled, &mut |slots| {
            for counter in 0..d as i32 {
                for waiting in [0, 20] {
                    let mut processes = vec![Process::default(); n];
                    processes[0] = Process {
                        queued: slots[0],
                        resting: waiting,
                        counter,
                    };
                    for (process, pair) in processes[1..].iter_mut().zip(slots[1..].chunks(2)) {
                        (process.queued, process.resting) = (pair[0], pair[1]);
                    }
                    let chain = chain(d, &processes);
                    expected = bound(&chain);
                    worst = worst.max(separated_from(chain, std::iter::repeat_n(0, 40)));
                }
            }
        });
        assert_eq!(worst, expected, "d = {d}, n = {n}, K = {unthrottled}");
    }
}

prop_compose! {
    fn any_chain()(d in 2..6_u32, n in 1..9_usize)(
        d in Just(d),
        tokens in prop::collection::vec((0..3_u32, 0..4_u32), n),
        counter in 0..d as i32,
    ) -> Chain {
        let process = |&(queued, resting): &(u32, u32)| Process { queued, resting, counter: 0 };
        let mut processes: Vec<_> = tokens.iter().map(process).collect();
        processes[0].counter = counter;
        chain(d, &processes)
    }
}

proptest! {
    #![proptest_config(properties(2000))]

    #[test]
    fn the_bound_holds_for_any_arrivals(
        chain in any_chain(),
        arrivals in prop::collection::vec(0..4_u32, 200),
    ) {
        prop_assert!(separated_from(chain.clone(), arrivals.into_iter()) <= bound(&chain));
    }

    #[test]
    fn tokens_come_in_and_go_out(chain in any_chain(), arrivals in prop::collection::vec(0..4_u32, 50)) {
        let mut chain = chain;
        for arriving in arrivals {
            let before = chain.tokens();
            let leaving = chain.round(arriving);
            prop_assert_eq!(before + u64::from(arriving), chain.tokens() + u64::from(leaving));
        }
    }
}

/// Counter-test: relays alone keep no distance, and d = 1 no pile from staying.
#[test]
fn without_a_throttle_nothing_is_separated() {
    let mut two_at_p2 = vec![Process::default(); 4];
    two_at_p2[1].resting = 2;
    let unthrottled = chain(1, &two_at_p2);
    assert_eq!(
        separated_from(unthrottled, std::iter::repeat_n(1, 500)),
        500
    );
    // Asked of a chain that throttles to 2 whether it keeps 3.
    let mut throttled = chain(2, &[Process::default(); 6]);
    for _ in 0..20 {
        throttled.round(1);
    }
    let asked = chain(3, throttled.processes());
    assert!(throttled.separated());
    assert!(!asked.separated());
}
