//! Dijkstra's K-state ring: no state is without a token, one token stays one and goes
//! round; and m of them under the delay/relay rule are the ring that counts tokens.

use headway_core::token_ring::{Gate, holds, released, round};
use headway_core::{Configuration, Ring, Separation};
use headway_testkit::tier::properties;
use proptest::prelude::*;

fn holders(values: &[u32]) -> Vec<usize> {
    let n = values.len();
    let held = |&at: &usize| holds(values[at], values[(at + n - 1) % n], at == 0);
    (0..n).filter(held).collect()
}

/// Every state with n processes and K values.
fn states(n: u32, k: u32) -> impl Iterator<Item = Vec<u32>> {
    (0..k.pow(n)).map(move |number| (0..n).map(|at| number / k.pow(at) % k).collect())
}

#[test]
fn a_token_is_never_lost_and_one_goes_round() {
    let (n, k) = (4, 5);
    for mut values in states(n, k) {
        let before = holders(&values).len();
        assert!(before > 0, "{values:?}");
        for &at in &holders(&values) {
            let mut after = values.clone();
            let predecessor = values[(at + n as usize - 1) % n as usize];
            after[at] = released(values[at], predecessor, at == 0, k);
            assert!(after[at] < k, "{values:?}");
            // It has gone to the successor, or met another there.
            let now = holders(&after);
            assert!(!now.contains(&at), "{values:?}");
            assert!(now.len() <= before, "{values:?}");
            if before == 1 {
                assert_eq!(now, [(at + 1) % n as usize], "{values:?}");
            }
        }
        // One at a time, the last that holds one: Dijkstra's theorem for K ≥ n - 1.
        for _ in 0..200 {
            let at = *holders(&values).last().unwrap();
            let predecessor = values[(at + n as usize - 1) % n as usize];
            values[at] = released(values[at], predecessor, at == 0, k);
        }
        assert_eq!(holders(&values).len(), 1);
    }
}

/// Values of a ring of n whose one token is at `at`.
fn one_token(n: usize, at: usize, base: u32, k: u32) -> Vec<u32> {
    let ahead = |index: usize| index < at;
    (0..n)
        .map(|index| (base + u32::from(ahead(index))) % k)
        .collect()
}

proptest! {
    #![proptest_config(properties(500))]

    /// What a process holds is what rests there and what its predecessor has queued.
    #[test]
    fn counts_are_those_of_the_ring(
        n in 2..8_usize,
        d in 1..4_u32,
        k in 9..12_u32,
        delays in any::<u8>(),
        places in prop::collection::vec((0..8_usize, 0..12_u32), 1..5),
        turn in 0..4_u32,
    ) {
        let separation = Separation::new(d).unwrap();
        let delays: Vec<usize> = (0..n).filter(|at| delays >> at & 1 == 1).collect();
        let ring = Ring::with_delays(separation, n, delays.iter().copied()).unwrap();
        let mut state = Configuration::empty(&ring, 0, 0);
        let m = places.len();
        // By process, then by ring.
        let mut values = vec![vec![0; m]; n];
        for (index, &(at, base)) in places.iter().enumerate() {
            state.processes[at % n].resting += 1;
            for (process, value) in one_token(n, at % n, base % k, k).into_iter().enumerate() {
                values[process][index] = value;
            }
        }
        let mut gates = vec![Gate { counter: 0, turn: turn % m as u32 }; n];
        for _ in 0..60 {
            let before = values.clone();
            let mut released_from = vec![None; n];
            for at in 0..n {
                let top = if delays.contains(&at) { separation.top() } else { 0 };
                let predecessor = &before[(at + n - 1) % n];
                let held: Vec<usize> = (0..m)
                    .filter(|&index| holds(before[at][index], predecessor[index], at == 0))
                    .collect();
                let turn = gates[at].turn as usize;
                let ran_down = gates[at].counter == 0;
                released_from[at] = round(&mut values[at], predecessor, at == 0, k, &mut gates[at], top);
                // Round-robin: the first held from the turn on.
                let due = held.iter().find(|&&index| index >= turn).or(held.first());
                prop_assert_eq!(released_from[at], due.copied().filter(|_| ran_down));
                if let Some(index) = released_from[at] {
                    prop_assert_eq!(gates[at].turn as usize, (index + 1) % m);
                }
            }
            ring.round(&mut state);
            for at in 0..n {
                prop_assert_eq!(gates[at].counter, state.processes[at].counter);
                let released = u32::from(released_from[at].is_some());
                prop_assert_eq!(released, state.processes[at].queued);
                let predecessor = &values[(at + n - 1) % n];
                let held = (0..m).filter(|&index| holds(values[at][index], predecessor[index], at == 0));
                let expected = state.processes[at].resting + state.processes[(at + n - 1) % n].queued;
                prop_assert_eq!(held.count() as u32, expected);
            }
        }
    }
}
