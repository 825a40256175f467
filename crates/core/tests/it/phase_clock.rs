//! The phase clock: each rule against the clock's face, and whole rings of clocks
//! from every state.

use headway_core::phase_clock::{Phase, PhaseClock, Step};

/// How far `other` is ahead of `own` on the face: -1, 0 or 1, else `None`; also
/// `None` when one is in the tail.
fn ahead(clock: PhaseClock, own: Phase, other: Phase) -> Option<i32> {
    if own < 0 || other < 0 {
        return None;
    }
    match (other - own).rem_euclid(clock.modulus) {
        0 => Some(0),
        1 => Some(1),
        far if far == clock.modulus - 1 => Some(-1),
        _ => None,
    }
}

fn phases(clock: PhaseClock) -> std::ops::Range<Phase> {
    -clock.tail..clock.modulus
}

#[test]
fn every_rule_at_every_phase() {
    for (modulus, tail) in [(3, 0), (4, 1), (5, 2), (7, 4)] {
        let clock = PhaseClock { modulus, tail };
        for own in phases(clock) {
            for left in phases(clock) {
                assert_eq!(clock.in_step(own, left), ahead(clock, own, left).is_some());
                for right in phases(clock) {
                    let seen = [ahead(clock, own, left), ahead(clock, own, right)];
                    let expected = if seen.iter().all(Option::is_some) {
                        (!seen.contains(&Some(-1))).then_some(Step::Tick)
                    } else if own < 0 {
                        let lowest = left.min(right);
                        let highest = left.max(right);
                        (own <= lowest && highest <= 0).then_some(Step::Climb)
                    } else {
                        (own != 0).then_some(Step::Reset)
                    };
                    let step = clock.step(own, &[left, right]);
                    assert_eq!(step, expected, "{clock:?}: {left} {own} {right}");
                    if let Some(step) = step {
                        let after = clock.stepped(own, step);
                        let expected = match step {
                            Step::Tick => (own + 1).rem_euclid(modulus),
                            Step::Climb => own + 1,
                            Step::Reset => -tail,
                        };
                        assert_eq!(after, expected, "{clock:?}: {step:?} at {own}");
                    }
                }
            }
        }
    }
}

/// All that may step do, round by round.
fn round(clock: PhaseClock, phases: &[Phase]) -> Vec<Phase> {
    let n = phases.len();
    let step = |at: usize| {
        let own = phases[at];
        let step = clock.step(own, &[phases[(at + n - 1) % n], phases[(at + 1) % n]]);
        step.map_or(own, |step| clock.stepped(own, step))
    };
    (0..n).map(step).collect()
}

#[test]
fn every_state_of_a_small_ring_gets_in_step_and_stays() {
    for n in 3..=4_usize {
        let clock = PhaseClock::for_ring(n as i32);
        let values: Vec<Phase> = phases(clock).collect();
        for number in 0..values.len().pow(n as u32) {
            let digit = |at| values[number / values.len().pow(at) % values.len()];
            let mut state: Vec<Phase> = (0..n as u32).map(digit).collect();
            let in_step =
                |state: &[Phase]| (0..n).all(|at| clock.in_step(state[at], state[(at + 1) % n]));
            let settled = (0..60).find(|_| {
                let settled = in_step(&state);
                if !settled {
                    state = round(clock, &state);
                }
                settled
            });
            assert!(settled.is_some(), "{n} clocks, state {number}");
            // In step for ever, and every clock ticks.
            let before = state.clone();
            let mut ticks = vec![0; n];
            for _ in 0..2 * clock.modulus {
                let after = round(clock, &state);
                assert!(in_step(&after));
                for at in 0..n {
                    ticks[at] += i32::from(after[at] != state[at]);
                }
                state = after;
            }
            assert!(
                ticks.iter().all(|&ticks| ticks >= clock.modulus / 2),
                "{before:?}"
            );
        }
    }
}

#[test]
fn parameters_are_the_smallest_that_may_be() {
    for n in 1..50 {
        let clock = PhaseClock::for_ring(n);
        assert_eq!(
            clock.modulus,
            (n + 1).max(3),
            "more than n, and never below 3"
        );
        assert_eq!(clock.tail, (n - 2).max(0), "{n}");
    }
}
