//! The protocol, its Petri net, the max-plus algebra and the forecast.

use headway_core::{Configuration, Process, Program, Ring, Separation};
use headway_petri::maxplus::{self, Fraction};
use headway_petri::play::Timed;
use headway_petri::{EventGraph, ring, transient};
use headway_sim::forecast::Forecast;
use headway_testkit::tier::properties;
use proptest::prelude::*;

/// Delays and relays mixed, tokens piled or spread, any counters.
fn ring_and_state(largest: usize) -> impl Strategy<Value = (Ring, Configuration)> {
    (2..=largest, 1_u32..8).prop_flat_map(|(processes, hops)| {
        let program = prop_oneof![Just(Program::Delay), Just(Program::Relay)];
        let local = (0_u32..3, 0_u32..4, 0..hops as i32, 0_u8..10);
        (
            prop::collection::vec(program, processes),
            prop::collection::vec(local, processes),
        )
            .prop_map(move |(programs, locals)| {
                let separation = Separation::new(hops).expect("at least 1");
                let ring = Ring::new(separation, programs).expect("at least 2");
                let mut state = Configuration::empty(&ring, 1, 1);
                for (process, (queued, resting, counter, luck)) in locals.into_iter().enumerate() {
                    state.processes[process] = Process {
                        queued: if luck == 0 { queued } else { 0 },
                        resting: if luck == 1 { resting } else { 0 },
                        counter: if ring.programs()[process].delays() {
                            counter
                        } else {
                            0
                        },
                    };
                }
                state.processes[0].resting += u32::from(state.tokens() == 0);
                (ring, state)
            })
    })
}

proptest! {
    #![proptest_config(properties(300))]

    /// Round by round: program and earliest firing.
    #[test]
    fn protocol_and_net_go_through_the_same_rounds((ring, mut state) in ring_and_state(40)) {
        let (net, marking) = ring::to_net(&ring, &state).expect("no process measures");
        let adjacency = net.adjacency();
        let holding = vec![1; net.places()];
        let mut timed = Timed::new(&adjacency, &holding, &marking).expect("no sources");
        for round in 1..=3 * ring.len() as u64 {
            ring.round(&mut state);
            while timed.next_time().is_some_and(|time| time <= round) {
                timed.step().unwrap();
            }
            let expected = ring::marking_of(&ring, &state).expect("the same ring");
            prop_assert_eq!(&timed.marking(), &expected, "round {}", round);
        }
    }

    /// λ = max(n/m, d), or max(n/m, 1) where nobody delays.
    #[test]
    fn the_cycle_time_is_that_of_the_theory((ring, state) in ring_and_state(40)) {
        let (net, marking) = ring::to_net(&ring, &state).expect("no process measures");
        let graph = EventGraph::of(&net, &marking).expect("rings are event graphs");
        let spectrum = maxplus::spectrum(&graph).expect("rings are live");
        let pace = if ring.delays().next().is_some() { ring.separation().hops() } else { 1 };
        let turn = Fraction::new(ring.len() as u64, state.tokens());
        prop_assert_eq!(spectrum.cycle_time, turn.max(Fraction::new(pace.into(), 1)));
        prop_assert_eq!(spectrum.certificate().check(&graph), Ok(()));
    }

    /// The last unperiodic round of the major ring is the last after which a
    /// token rests, by the forecast that simulates nothing.
    #[test]
    fn the_transient_is_the_forecast((ring, state) in ring_and_state(40)) {
        let pace = if ring.delays().next().is_some() { ring.separation().hops() } else { 1 };
        prop_assume!(state.tokens() * u64::from(pace) <= ring.len() as u64);
        let (net, marking) = ring::to_net(&ring, &state).expect("no process measures");
        let graph = EventGraph::of(&net, &marking).expect("rings are event graphs");
        let settling = transient::exact(&graph, 1_000_000).expect("rings settle");
        let forecast = Forecast::of(&ring, &state).expect("no process measures");
        let major = settling.rounds_of(0..ring.len());
        prop_assert_eq!(major, forecast.last_rest().unwrap_or(0));
        // The whole state, counters included, recurs from no earlier round on, and
        // what recurs is legitimate after one more: a net does not tell a token
        // that rests from one that has just arrived.
        prop_assert!(settling.rounds >= major);
        if ring.delays().next().is_some() {
            prop_assert!(forecast.legitimate_at().is_some_and(|round| round <= settling.rounds + 1));
        }
    }
}
