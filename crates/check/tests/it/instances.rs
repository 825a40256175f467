//! What instances say of themselves, and which are refused: the last that is accepted
//! and the first that is not, on every side.

use crate::common::asked;
use headway_check::model::asynchronous;
use headway_check::model::delay_relay::{Explicit, Instance};
use headway_check::model::handover::{self, Handover};
use headway_check::model::measure::{self, Variant};
use headway_check::{Actions, CheckError, Control, Deterministic, Limits, Model, Step, TooLarge};
use headway_core::{Program, Ring, Separation};

fn ring(n: usize, d: u32, program: Program) -> Ring {
    Ring::new(Separation::new(d).unwrap(), vec![program; n]).unwrap()
}

fn describe(n: usize, delays: &[usize]) -> (String, bool, Option<u64>) {
    let instance = Instance::with_delays(n, 2, 2, delays.iter().copied()).unwrap();
    (
        instance.to_string(),
        instance.feasible(),
        instance.widest_gap(),
    )
}

#[test]
fn an_instance_describes_itself() {
    for (n, delays, words, feasible, gap) in [
        (4, &[][..], "no delay", false, None),
        (4, &[2], "delay at 2", true, Some(4)),
        (4, &[0, 3], "delays at 0,3", true, Some(3)),
        (4, &[0, 1, 2, 3], "all delay", true, Some(1)),
        (3, &[1], "delay at 1", false, Some(3)),
        (1, &[0], "all delay", false, Some(1)),
    ] {
        let told = format!("{n} processes, 2 tokens, separation 2, {words}");
        assert_eq!(describe(n, delays), (told, feasible, gap));
    }
}

#[test]
fn delay_relay_has_a_largest_ring_and_a_largest_number_of_tokens() {
    let new = |n, tokens| Instance::new(ring(n, 2, Program::Delay), tokens);
    assert!(new(64, 255).is_ok());
    for (instance, fits) in [(new(65, 1), "64 processes"), (new(3, 256), "255 tokens")] {
        let refused = instance.unwrap_err().to_string();
        assert!(refused.ends_with(fits), "{refused}");
    }
    assert!(Instance::new(ring(3, 2, Program::Measure), 1).is_err());
    assert!(Explicit::new(&new(16, 1).unwrap()).is_ok());
    assert!(Explicit::new(&new(17, 1).unwrap()).is_err());
    // 2^63 states are one too many: 16 placements of a token, and d^8 counters.
    let states = |d: u32| Explicit::new(&Instance::uniform(8, 1, d).unwrap());
    assert_eq!(states(165).unwrap().states(), 16 * 165_u64.pow(8));
    assert!(states(166).is_err());
}

#[test]
fn all_placements_are_checked_of_up_to_24_processes() {
    let refused = |n| {
        let limits = Limits {
            work: 0,
            ..Limits::default()
        };
        let line = format!("delay-relay processes={n} tokens=1 separation=2 all_placements");
        match asked(&line, &Control::new(limits)) {
            Err(CheckError::TooLarge(refused)) => refused,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(refused(25), TooLarge::Bound { limit: 24, .. }));
    let TooLarge::Cases { states, .. } = refused(24) else {
        panic!("24 are not too many");
    };
    assert_eq!(states, 96_u32.into(), "of the first placement, one delay");
}

/// The last that is accepted and the first that is refused, on every side. What is accepted is
/// stopped at once, or is too large.
#[test]
fn every_setting_has_a_range() {
    for (model, accepted, refused) in [
        (
            "asynchronous tokens=1 separation=2",
            &[
                "processes=3 values=250",
                "processes=3 values=2",
                "processes=3 values=4 pace=2",
                "processes=12 values=24 delays=at:0",
            ][..],
            &[
                "processes=3 values=251",
                "processes=3 values=1",
                "processes=3 values=4 pace=0",
                "processes=3 values=5 pace=2",
                "processes=2 values=24",
                "processes=13 values=26",
            ][..],
        ),
        (
            "definitional separation=2",
            &[
                "processes=2 tokens=1 values=2",
                "processes=16 tokens=2 values=2",
                "processes=2 tokens=16 values=2",
            ],
            &[
                "processes=1 tokens=1 values=2",
                "processes=17 tokens=1 values=2",
                "processes=2 tokens=0 values=2",
                "processes=2 tokens=17 values=2",
                "processes=2 tokens=1 values=1",
            ],
        ),
        (
            "measure",
            &[
                "processes=1 tokens=1 limit=1",
                "processes=16 tokens=1 limit=16",
                "processes=3 tokens=3 limit=10000",
            ],
            &[
                "processes=2 tokens=0 limit=4",
                "processes=2 tokens=3 limit=4",
                "processes=17 tokens=1 limit=20",
                "processes=4 tokens=1 limit=3",
                "processes=3 tokens=3 limit=10001",
            ],
        ),
        (
            "monitor",
            &[
                "processes=2 tokens=1 separation=1 supply=1 monitors=1",
                "processes=16 tokens=1 separation=2 supply=1 monitors=0,15",
                "processes=3 tokens=1 separation=2 supply=16",
            ],
            &[
                "processes=1 tokens=1 separation=1 supply=1",
                "processes=17 tokens=1 separation=1 supply=1",
                "processes=3 tokens=0 separation=2 supply=1",
                "processes=3 tokens=2 separation=2 supply=1",
                "processes=3 tokens=1 separation=2 supply=17",
                "processes=3 tokens=1 separation=0 supply=1",
                "processes=3 tokens=1 separation=2 supply=2 monitors=",
                "processes=3 tokens=1 separation=2 supply=2 monitors=3",
                "processes=3 tokens=1 separation=2 supply=2 monitors=1,0",
                "processes=3 tokens=1 separation=2 supply=2 monitors=1,1",
                "processes=3 tokens=1 separation=2 supply=2 monitors=0,1,2",
            ],
        ),
        (
            "k-state",
            &[
                "processes=2 values=2",
                "processes=7 values=255",
                "processes=16 values=2",
            ],
            &[
                "processes=1 values=2",
                "processes=17 values=2",
                "processes=2 values=1",
                "processes=2 values=256",
            ],
        ),
        (
            "phase-clock",
            &[
                "processes=3 values=3 tail=0",
                "processes=3 values=60 tail=40",
                "processes=16 values=3 tail=0",
            ],
            &[
                "processes=2 values=3 tail=0",
                "processes=17 values=3 tail=0",
                "processes=3 values=2 tail=0",
                "processes=3 values=61 tail=40",
                "processes=3 values=3 tail=-1",
            ],
        ),
        (
            "handover",
            &["values=2 capacity=1", "values=64 capacity=4"],
            &[
                "values=1 capacity=1",
                "values=65 capacity=1",
                "values=2 capacity=0",
                "values=2 capacity=5",
            ],
        ),
    ] {
        let is_refused = |settings: &str| {
            let control = Control::new(Limits {
                work: 1 << 16,
                ..Limits::default()
            });
            control.stop();
            match asked(&format!("{model} {settings}"), &control) {
                Err(CheckError::Settings(_) | CheckError::Setting { .. }) => true,
                Err(CheckError::TooLarge(_) | CheckError::Interrupted { .. }) => false,
                // Diagrams, where they are built in, may end before they look at the time.
                Ok(_) if headway_check::HAS_DIAGRAMS => false,
                other => panic!("{model} {settings}: {other:?}"),
            }
        };
        for settings in accepted {
            assert!(!is_refused(settings), "{model} {settings}");
        }
        for settings in refused {
            assert!(is_refused(settings), "{model} {settings}");
        }
    }
}

#[test]
fn a_clock_has_the_modulus_that_it_needs() {
    let clock = |pace, separation| asynchronous::Settings {
        pace,
        separation: Some(separation),
        ..asynchronous::Settings::default()
    };
    assert_eq!([4, 1, 5].map(|pace| clock(pace, 6).modulus()), [12, 12, 30]);
    // g - ⌊(g+p)/(p+1)⌋.
    assert_eq!([1, 2].map(|pace| clock(pace, 6).true_distance()), [3, 4]);
}

#[test]
fn lock_step_states_have_numbers_of_32_bits() {
    // 24 placements of a token, 5^12 counters.
    let refused = asked(
        "asynchronous processes=12 tokens=1 separation=5",
        &Control::default(),
    );
    let refused = refused.unwrap_err().to_string();
    let states = 24 * 5_u64.pow(12);
    assert!(
        refused.contains(&format!("{states} lock-step states")),
        "{refused}"
    );
}

fn measuring(processes: usize, tokens: usize) -> measure::Settings {
    measure::Settings {
        processes,
        tokens: tokens.into(),
        ..measure::Settings::default()
    }
}

/// Only the program as printed makes states that no fault needs to.
#[test]
fn a_measuring_ring_starts_anywhere_unless_as_printed() {
    let new = |variant| measure::ring(&measuring(3, 1), variant).unwrap();
    assert!(new(Variant::Corrected).starts_anywhere());
    assert!(!new(Variant::AsPrinted).starts_anywhere());
}

/// The numbers behind a word in a state as it is shown.
fn shown(state: &str, word: &str) -> Vec<usize> {
    let (_, behind) = state.split_once(word).unwrap();
    let numbers = behind.split_whitespace().map_while(|n| n.parse().ok());
    numbers.collect()
}

/// A cycle of one state, for every placement of the tokens: nothing moves, or two tokens are
/// closer than they should be, or an estimate is wrong.
#[test]
fn what_a_measuring_ring_is_blamed_for() {
    for (n, m) in [(4, 2), (6, 2), (5, 3)] {
        let model = measure::ring(&measuring(n, m), Variant::Corrected).unwrap();
        let placements = (1..=m).fold(1, |product, i| product * (2 * n + m - i) / i);
        let each = model.states() / placements as u64;
        for state in (0..placements as u64).map(|placement| model.state(placement * each)) {
            let text = model.show(&state);
            let (queued, resting) = (shown(&text, "queued"), shown(&text, "resting"));
            let places: Vec<usize> = (0..n)
                .flat_map(|at| vec![at; queued[at] + resting[at]])
                .collect();
            assert_eq!(places.len(), m, "{text}");
            let behind = |one: usize, other: usize| (places[other] + n - places[one]) % n;
            let mut pairs = (0..m).flat_map(|one| (0..m).map(move |other| (one, other)));
            let expected = if queued.iter().all(|&tokens| tokens == 0) {
                "no-deadlock"
            } else if pairs.any(|(one, other)| one != other && behind(one, other) < n / m) {
                "full-separation"
            } else {
                "exact-estimates"
            };
            assert_eq!(model.blame(&[state]), expected, "{text}");
        }
    }
}

/// In the order of the digits of a rank: number, sending, taken, channels.
fn handover_rank(number: u64, sending: u64, taken: u64) -> u64 {
    number + 3 * (sending + 2 * taken)
}

fn handover() -> Handover {
    let settings = handover::Settings {
        values: Some(3),
        capacity: 1,
    };
    Handover::new(&settings).unwrap()
}

#[test]
fn a_handover_names_its_actions() {
    let model = handover();
    let names: Vec<&str> = model.actions().iter().map(|action| action.name).collect();
    assert_eq!(names.len(), 8);
    assert!(names.contains(&"lose an acknowledgement"));
    let actions = |rank: u64| {
        let mut steps = Vec::new();
        model.steps(&model.state(rank), &mut steps);
        steps.iter().map(|step| step.action).collect::<Vec<_>>()
    };
    let message = 3 * 2 * 3;
    let acknowledgement = message * 4;
    for (rank, expected) in [
        (handover_rank(1, 0, 1), vec![0]),
        (handover_rank(1, 1, 0), vec![1]),
        (handover_rank(1, 1, 0) + message, vec![2, 4, 6]),
        (handover_rank(1, 1, 1) + acknowledgement, vec![1, 3, 5, 7]),
    ] {
        assert_eq!(
            actions(rank),
            expected,
            "{}",
            model.show(&model.state(rank))
        );
    }
}

/// A token is lost when its sender ceases to have it and nobody takes it, and doubled when
/// somebody takes what the sender keeps.
#[test]
fn a_token_lost_or_doubled_is_a_violation() {
    let model = handover();
    let violates = |before, action, after| {
        let state = model.state(after);
        model.violates(&model.state(before), &Step { action, state })
    };
    let (sent, taken) = (handover_rank(1, 1, 0), handover_rank(1, 1, 1));
    let (idle, next) = (handover_rank(1, 0, 1), handover_rank(2, 1, 1));
    assert_eq!(violates(sent, 2, taken), None);
    assert_eq!(violates(idle, 0, next), None);
    assert_eq!(violates(taken, 3, idle), None);
    let lost = violates(sent, 3, handover_rank(1, 0, 0));
    let doubled = violates(idle, 2, handover_rank(1, 0, 2));
    let arrived_and_gone = violates(idle, 0, idle);
    for violation in [lost, doubled, arrived_and_gone] {
        assert_eq!(violation, Some("conserved"));
    }
}
