//! What instances say of themselves, and which are refused: the last that is accepted
//! and the first that is not, on every side.

use headway_check::model::asynchronous;
use headway_check::model::definitional::{self, Definitional};
use headway_check::model::delay_relay::{self, AllPlacements, Explicit, Instance};
use headway_check::model::handover::{self, Handover};
use headway_check::model::k_state::{self, KState};
use headway_check::model::measure::{self, MeasureRing, Variant};
use headway_check::model::monitor::{self, MonitoredRing};
use headway_check::model::phase_clock::{self, ClockRing};
use headway_check::{
    Actions, CheckError, Control, Deterministic, Limits, Model, Search, Step, TooLarge,
};
use headway_core::phase_clock::PhaseClock;
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
    assert!(Explicit::new(new(16, 1).unwrap()).is_ok());
    assert!(Explicit::new(new(17, 1).unwrap()).is_err());
    // 2^63 states are one too many: 16 placements of a token, and d^8 counters.
    let states = |d: u32| Explicit::new(Instance::uniform(8, 1, d).unwrap());
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
        let settings = AllPlacements {
            processes: n,
            tokens: 1,
            separation: 2,
            search: Search::Reduced,
        };
        match delay_relay::check_all(&settings, &Control::new(limits)) {
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

fn clocking(n: usize, separation: u32, pace: u32) -> asynchronous::Settings {
    asynchronous::Settings::new(Instance::uniform(n, 1, separation).unwrap(), pace)
}

#[test]
fn clocks_have_a_range() {
    let check = |n, modulus, pace| {
        let settings = asynchronous::Settings {
            modulus,
            pace,
            ..clocking(n, 2, 1)
        };
        let control = Control::default();
        // Stopped at once where it is accepted.
        control.stop();
        asynchronous::check(&settings, &control)
    };
    for (n, modulus, pace, accepted) in [
        (3, 250, 1, true),
        (3, 251, 1, false),
        (3, 2, 1, true),
        (3, 1, 1, false),
        (3, 4, 0, false),
        (3, 4, 2, true),
        (3, 5, 2, false),
        (12, 24, 1, true),
        (2, 24, 1, false),
        (13, 26, 1, false),
    ] {
        let refused = matches!(check(n, modulus, pace), Err(CheckError::Settings(_)));
        assert_eq!(refused, !accepted, "{n} {modulus} {pace}");
    }
    assert_eq!(clocking(6, 6, 4).modulus, 12);
    assert_eq!(clocking(6, 6, 1).modulus, 12);
    assert_eq!(clocking(6, 6, 5).modulus, 30);
    // g - ⌊(g+p)/(p+1)⌋.
    assert_eq!(clocking(6, 6, 1).true_distance(), 3);
    assert_eq!(clocking(6, 6, 2).true_distance(), 4);
}

#[test]
fn lock_step_states_have_numbers_of_32_bits() {
    // 24 placements of a token, 5^12 counters.
    let control = Control::default();
    let refused = asynchronous::check(&clocking(12, 5, 1), &control);
    let refused = refused.unwrap_err().to_string();
    let states = 24 * 5_u64.pow(12);
    assert!(
        refused.contains(&format!("{states} lock-step states")),
        "{refused}"
    );
}

#[test]
fn tokens_by_definition_have_room_for_so_many_values() {
    let new = |n, tokens, values| {
        let instance = Instance::new(ring(n, 2, Program::Delay), tokens).unwrap();
        let settings = definitional::Settings {
            values,
            ..definitional::Settings::new(instance)
        };
        Definitional::new(&settings).is_ok()
    };
    assert!(new(2, 1, 2) && new(16, 2, 2) && new(2, 16, 2));
    assert!(!new(1, 1, 2) && !new(17, 1, 2), "processes");
    assert!(!new(2, 0, 2) && !new(2, 17, 2), "tokens");
    assert!(!new(2, 1, 1), "values");
}

#[test]
fn measuring_rings_have_a_size_and_a_limit() {
    let new = |processes, tokens, limit| {
        let settings = measure::Settings {
            limit,
            ..measure::Settings::new(processes, tokens)
        };
        MeasureRing::new(&settings).is_ok()
    };
    assert!(new(1, 1, 1) && new(16, 1, 16) && new(3, 3, 10_000));
    assert!(!new(2, 0, 4) && !new(2, 3, 4) && !new(17, 1, 20));
    assert!(!new(4, 1, 3) && !new(3, 3, 10_001), "limits");
}

/// Only the program as printed makes states that no fault needs to.
#[test]
fn a_measuring_ring_starts_anywhere_unless_as_printed() {
    let new = |variant| {
        let settings = measure::Settings {
            variant,
            ..measure::Settings::new(3, 1)
        };
        MeasureRing::new(&settings).unwrap()
    };
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
        let model = MeasureRing::new(&measure::Settings::new(n, m)).unwrap();
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

#[test]
fn monitored_rings_have_places_for_monitors() {
    let new = |processes, tokens, separation, supply, monitors: &[usize]| {
        let settings = monitor::Settings {
            supply,
            monitors: monitors.to_vec(),
            ..monitor::Settings::new(processes, tokens, separation)
        };
        MonitoredRing::new(&settings).is_ok()
    };
    assert!(new(2, 1, 1, 1, &[1]) && new(16, 1, 2, 1, &[0, 15]) && new(3, 1, 2, 16, &[0]));
    assert!(!new(1, 1, 1, 1, &[0]) && !new(17, 1, 1, 1, &[0]));
    assert!(!new(3, 0, 2, 1, &[0]) && !new(3, 2, 2, 1, &[0]) && !new(3, 1, 2, 17, &[0]));
    assert!(!new(3, 1, 0, 1, &[0]));
    for monitors in [&[][..], &[3], &[1, 0], &[1, 1], &[0, 1, 2]] {
        assert!(!new(3, 1, 2, 2, monitors), "{monitors:?}");
    }
}

#[test]
fn guarded_models_have_a_size() {
    let k_state = |processes, values| {
        let settings = k_state::Settings {
            values,
            ..k_state::Settings::new(processes)
        };
        KState::new(&settings).is_ok()
    };
    assert!(k_state(2, 2) && k_state(7, 255) && k_state(16, 2));
    assert!(!k_state(1, 2) && !k_state(17, 2) && !k_state(2, 1) && !k_state(2, 256));
    let clock = |processes, modulus, tail| {
        let settings = phase_clock::Settings {
            clock: PhaseClock { modulus, tail },
            ..phase_clock::Settings::new(processes)
        };
        ClockRing::new(&settings).is_ok()
    };
    assert!(clock(3, 3, 0) && clock(3, 60, 40) && clock(16, 3, 0));
    assert!(!clock(2, 3, 0) && !clock(17, 3, 0), "processes");
    assert!(!clock(3, 2, 0) && !clock(3, 3, -1) && !clock(3, 61, 40));
}

/// In the order of the digits of a rank: number, sending, taken, channels.
fn handover_rank(number: u64, sending: u64, taken: u64) -> u64 {
    number + 3 * (sending + 2 * taken)
}

fn handover(values: u32, capacity: usize) -> Result<Handover, CheckError> {
    Handover::new(&handover::Settings { values, capacity })
}

#[test]
fn a_handover_names_its_actions() {
    let model = handover(3, 1).unwrap();
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
    for (values, capacity, accepted) in [
        (2, 1, true),
        (64, 4, true),
        (1, 1, false),
        (65, 1, false),
        (2, 0, false),
        (2, 5, false),
    ] {
        assert_eq!(handover(values, capacity).is_ok(), accepted);
    }
}

/// A token is lost when its sender ceases to have it and nobody takes it, and doubled when
/// somebody takes what the sender keeps.
#[test]
fn a_token_lost_or_doubled_is_a_violation() {
    let model = handover(3, 1).unwrap();
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
