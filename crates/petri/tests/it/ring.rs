//! Rings and nets are the same thing, exactly.

use std::f64::consts::TAU;

use crate::common::{circle, maximal_step, net_of, ring_and_state};
use headway_core::{Configuration, Program, Ring, Separation};
use headway_petri::net::Position;
use headway_petri::play::Timed;
use headway_petri::{Marking, ring};
use headway_testkit::tier::properties;
use proptest::prelude::*;

proptest! {
    #![proptest_config(properties(400))]

    /// There and back: ring, state, every queued and resting token.
    #[test]
    fn a_net_keeps_the_ring_and_its_state((ring, state) in ring_and_state(9)) {
        let (net, marking) = ring::to_net(&ring, &state).unwrap();
        prop_assert_eq!(ring::from_net(&net, &marking).unwrap(), (ring, state));
    }

    /// Without the note the shape alone gives a ring that behaves the same.
    #[test]
    fn the_shape_alone_gives_the_same_behaviour((ring, state) in ring_and_state(9)) {
        let (mut net, marking) = ring::to_net(&ring, &state).unwrap();
        net.ring = None;
        let (read, read_state) = ring::from_net(&net, &marking).unwrap();
        prop_assert_eq!(read.len(), ring.len());
        prop_assert_eq!(read_state.tokens(), state.tokens());
        // A second net has the same marking if d is told by the shape.
        if ring.delays().next().is_some() {
            prop_assert_eq!(ring::marking_of(&read, &read_state).unwrap(), marking);
        }
    }

    /// Program, maximal steps and earliest firing agree round by round.
    #[test]
    fn program_and_both_plays_agree((ring, mut state) in ring_and_state(9)) {
        let (net, marking) = ring::to_net(&ring, &state).unwrap();
        let adjacency = net.adjacency();
        let holding = vec![1; net.places()];
        let mut stepped = marking.clone();
        let mut timed = Timed::new(&adjacency, &holding, &marking).unwrap();
        for round in 1..=40_u64 {
            ring.round(&mut state);
            let fired = maximal_step(&adjacency, &mut stepped);
            let expected: Vec<(u32, u64)> = state.processes.iter().enumerate()
                .filter(|(_, process)| process.queued > 0)
                .map(|(process, local)| (process as u32, u64::from(local.queued)))
                .collect();
            let major: Vec<(u32, u64)> = fired.iter().copied()
                .filter(|&(transition, _)| (transition as usize) < ring.len())
                .collect();
            prop_assert_eq!(&major, &expected, "releases in round {}", round);
            prop_assert_eq!(&stepped, &ring::marking_of(&ring, &state).unwrap());
            if timed.next_time() == Some(round) {
                prop_assert_eq!(timed.step().unwrap().unwrap().fired, &fired[..]);
            } else {
                prop_assert!(fired.is_empty());
            }
            prop_assert_eq!(&timed.marking(), &stepped);
        }
    }

    /// Also where transitions compete for tokens, and take and put down several.
    #[test]
    fn holding_times_of_1_are_maximal_steps(
        arcs in prop::collection::vec((0..4_usize, 0..4_usize, any::<bool>(), 1..3_u64), 0..14),
        tokens in prop::collection::vec(0..4_u64, 4),
    ) {
        let own = (0..4).map(|index| (index, index, true, 1));
        let net = net_of(4, 4, own.chain(arcs));
        let (adjacency, mut stepped) = (net.adjacency(), Marking(tokens));
        let mut timed = Timed::new(&adjacency, &[1; 4], &stepped).unwrap();
        for round in 1..=12 {
            let fired = maximal_step(&adjacency, &mut stepped);
            if timed.next_time() == Some(round) {
                prop_assert_eq!(timed.step().unwrap().unwrap().fired, &fired[..]);
            }
            prop_assert_eq!(&timed.marking(), &stepped, "round {}", round);
        }
    }
}

/// Minor rings stand off from their transitions, and neighbouring ones from each other.
#[test]
fn a_crowded_ring_is_drawn_with_room() {
    const SPACING: f64 = 44.0;
    let (n, d) = (6, 8);
    let ring = Ring::with_delays(Separation::new(d).unwrap(), n, 0..n).unwrap();
    let (net, _) = ring::to_net(&ring, &Configuration::piled(&ring, 1, 0)).unwrap();
    let place = |at| net.place_position(at).unwrap();
    let middle = |points: &[Position]| Position {
        x: points.iter().map(|point| point.x).sum::<f64>() / points.len() as f64,
        y: points.iter().map(|point| point.y).sum::<f64>() / points.len() as f64,
    };
    let far = |one: Position, other: Position| (one.x - other.x).hypot(one.y - other.y);
    let centre = middle(&(0..n).map(place).collect::<Vec<_>>());
    // It begins at the top and goes on to the right.
    assert!((place(0).x - centre.x).abs() < 0.2 && place(0).y < centre.y);
    assert!(place(1).x > centre.x + SPACING);
    for process in 0..n {
        let first = n + process * d as usize;
        let minor: Vec<_> = (first..first + d as usize).map(place).collect();
        let hub = middle(&minor);
        let radius = f64::from(2 * d) * SPACING / TAU;
        let apart = far(hub, centre) * TAU / n as f64 - 2.0 * radius;
        let stand_off = far(hub, net.transition_position(process).unwrap()) - radius;
        let found = [
            far(hub, minor[0]),
            apart,
            stand_off,
            centre.x - far(hub, centre),
        ];
        let expected = [radius, SPACING, 0.6 * SPACING, radius + 2.0 * SPACING];
        let close = |(found, expected): (&f64, f64)| (found - expected).abs() < 0.2;
        assert!(
            found.iter().zip(expected).all(close),
            "{found:?}, not {expected:?}"
        );
    }
}

#[test]
fn a_measuring_process_has_no_net() {
    let ring = Ring::new(
        Separation::new(2).unwrap(),
        vec![Program::Relay, Program::Measure],
    )
    .unwrap();
    let error = ring::to_net(&ring, &Configuration::piled(&ring, 1, 0)).unwrap_err();
    assert!(
        error.to_string().contains("process 1 runs measure"),
        "{error}"
    );
}

#[test]
fn what_is_no_ring_is_refused_with_a_reason() {
    let ring = Ring::with_delays(Separation::new(3).unwrap(), 4, [0]).unwrap();
    let (net, marking) = ring::to_net(&ring, &Configuration::piled(&ring, 1, 0)).unwrap();

    let mut slow = net.clone();
    slow.set_holding(2, 5);
    let error = ring::from_net(&slow, &marking).unwrap_err();
    assert!(
        error.to_string().contains("p2 holds tokens for 5 rounds"),
        "{error}"
    );

    let mut two = marking.clone();
    two.0[5] = 1;
    let error = ring::from_net(&net, &two).unwrap_err();
    assert!(
        error.to_string().contains("has 2 tokens, expected 1"),
        "{error}"
    );

    let error = ring::from_net(&circle(3), &Marking(vec![1, 0, 0])).unwrap_err();
    assert!(error.to_string().contains("make it a relay"), "{error}");
}
