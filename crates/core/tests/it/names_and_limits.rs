//! What is shown to people and read back, and the ends of what is allowed.

use headway_core::chain::Chain;
use headway_core::program::relay;
use headway_core::{
    Clause, Configuration, Illegitimate, Measuring, Misfit, Process, Program, Ring, RingError,
    Separation, Variable,
};

#[test]
fn programs_are_read_by_the_name_they_are_shown_by() {
    for program in Program::ALL {
        assert_eq!(program.to_string().parse(), Ok(program));
    }
    assert_eq!(Program::MeasureAsPrinted.name(), "measure-as-printed");
    let error = "rely".parse::<Program>().unwrap_err();
    assert!(
        Program::ALL
            .iter()
            .all(|known| error.to_string().contains(known.name()))
    );
}

#[test]
fn clauses_have_the_names_of_the_paper() {
    let clauses = [
        Clause::Leg0,
        Clause::Leg1,
        Clause::Leg2,
        Clause::Leg3,
        Clause::Leg4,
    ];
    for (number, clause) in clauses.iter().enumerate() {
        assert_eq!(clause.name(), format!("leg:{number}"));
    }
    assert_eq!(Clause::Measured.name(), "measured");
}

/// Every reason names its process and its numbers.
#[test]
fn reasons_say_where_and_how_much() {
    let reasons: [(Illegitimate, &[&str]); 7] = [
        (
            Illegitimate::Tokens {
                expected: 3,
                found: 2,
            },
            &["2", "3"],
        ),
        (
            Illegitimate::Resting {
                process: 41,
                resting: 7,
            },
            &["41", "7"],
        ),
        (
            Illegitimate::Queued {
                process: 41,
                queued: 7,
            },
            &["41", "7"],
        ),
        (
            Illegitimate::TooClose {
                process: 41,
                distance: 2,
                required: 5,
            },
            &["41", "2", "5"],
        ),
        (
            Illegitimate::Astray {
                process: 41,
                counter: 3,
                ahead: 6,
            },
            &["41", "3", "6"],
        ),
        (
            Illegitimate::NotSet {
                process: 41,
                counter: 3,
                top: 6,
            },
            &["41", "3", "6"],
        ),
        // Bases are separations less 1; people are told separations.
        (
            Illegitimate::Mismeasured {
                process: 41,
                base: 2,
                expected: 8,
            },
            &["41", "3", "9"],
        ),
    ];
    for (reason, parts) in reasons {
        let text = reason.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    let misfits: [(Misfit, &[&str]); 5] = [
        (
            Misfit::Processes {
                expected: 4,
                found: 3,
            },
            &["3", "4"],
        ),
        (
            Misfit::Measuring {
                expected: 4,
                found: 3,
            },
            &["3", "4"],
        ),
        (
            Misfit::Counter {
                process: 41,
                counter: 9,
                largest: 5,
            },
            &["41", "9", "5"],
        ),
        (
            Misfit::Variable {
                process: 41,
                variable: Variable::Elapsed,
            },
            &["41", "elapsed"],
        ),
        (Misfit::TooManyTokens { found: 77 }, &["77"]),
    ];
    for (misfit, parts) in misfits {
        let text = misfit.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    let rings = [RingError::Empty, RingError::TooLarge, RingError::OutOfRange];
    let texts = rings.map(|error| error.to_string());
    assert!(
        texts[0].contains("at least one")
            && texts[1].contains("2^32")
            && texts[2].contains("not on the ring")
    );
}

#[test]
fn separations_from_one_to_two_to_the_31() {
    assert_eq!(Separation::new(1 << 31), Some(Separation::MAX));
    assert_eq!(Separation::MAX.top(), i32::MAX);
    assert_eq!(Separation::new((1 << 31) + 1), None);
    assert_eq!(Separation::new(7).unwrap().to_string(), "7");
    let d = Separation::new(3).unwrap();
    assert!(d.fits(9, 3) && d.fits(10, 3) && !d.fits(8, 3) && d.fits(0, 0));
    assert!(!Separation::MAX.fits(u64::MAX, u64::MAX), "no overflow");
}

#[test]
fn the_last_value_that_is_admitted() {
    let programs = vec![Program::Measure, Program::Relay, Program::Measure];
    let ring = Ring::new(Separation::new(2).unwrap(), programs.clone()).unwrap();
    assert_eq!(ring.programs(), programs);
    assert!(ring.measurers().eq([0, 2]) && ring.measures());
    let mut state = Configuration::empty(&ring, 2, i32::MAX as u32);
    assert_eq!(ring.admits(&state), Ok(()), "the largest limit");
    state.processes[1].resting = u32::MAX;
    assert_eq!(
        (state.tokens(), state.resting()),
        (u64::from(u32::MAX), u64::from(u32::MAX))
    );
    assert_eq!(ring.admits(&state), Ok(()), "the most tokens");
    state.processes[0].queued = 1;
    assert_eq!(
        state.resting(),
        u64::from(u32::MAX),
        "queued is not resting"
    );
}

#[test]
fn a_measuring_process_looks_for_twice_the_ring() {
    assert_eq!(Measuring::default_limit(1), 2);
    assert_eq!(Measuring::default_limit(12), 24);
    assert_eq!(Measuring::default_limit(usize::MAX), i32::MAX as u32);
    let programs = vec![Program::Measure, Program::Relay];
    let ring = Ring::new(Separation::new(1).unwrap(), programs).unwrap();
    assert_eq!(Configuration::piled(&ring, 1, 1).measuring[&0].limit, 4);
}

#[test]
fn a_relay_passes_a_token_on_whatever_its_counter_says() {
    let before = Process {
        queued: 0,
        resting: 2,
        counter: 3,
    };
    let after = relay::round(before, 0);
    assert_eq!((after.queued, after.resting, after.counter), (1, 1, 0));
}

#[test]
fn the_distance_in_a_chain_starts_at_its_second_process() {
    let distance = |tokens: [u32; 6]| {
        let mut chain = Chain::new(Separation::new(2).unwrap(), 6).unwrap();
        for (process, resting) in chain.processes_mut().iter_mut().zip(tokens) {
            *process = Process {
                queued: 0,
                resting,
                counter: 0,
            };
        }
        chain.min_distance()
    };
    assert_eq!(distance([5, 1, 0, 0, 0, 0]), None, "a lone token");
    assert_eq!(distance([5, 2, 0, 0, 0, 0]), Some(0), "two at one place");
    assert_eq!(distance([0, 1, 0, 0, 1, 0]), Some(3));
    assert_eq!(distance([1, 1, 0, 0, 1, 1]), Some(1));
}
