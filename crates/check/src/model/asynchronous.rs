//! delay/relay without lock-step: driven by a phase clock, under every schedule.
//!
//! A process may tick when no neighbour is behind it. Ticking into a phase that
//! is a multiple of the pace p, it executes one round of its program; the other
//! phases are idle (the paper's; p = 1 is full speed). It reads its predecessor's
//! queue as of the round before: the predecessor's current state if that is as
//! far as itself, and its *previous* state if the predecessor is a round ahead.
//!
//! Explored are all schedules from all clocks at 0 and either every legitimate
//! state or every state of delay/relay. Every process carries a ghost: the state
//! of the lock-step run that it believes to be in. The property `logical-rounds`
//! says that its variables are those of its ghost, always; a process that reads
//! the wrong state of its predecessor departs from it. Where a token truly is
//! follows from the variables alone: a token counts as with its last holder until
//! the next process has taken it.
//!
//! With a modulus of at most n the clocks can also be wound round the ring, each
//! neighbour pair in step. Such a start is explored too, because nothing that a
//! process sees tells it from a good one.

use headway_core::bound::true_separation;
use headway_core::phase_clock::PhaseClock;

use super::delay_relay::{Explicit, Instance, reduced};
use crate::Scheduler;
use crate::control::{CheckError, Control, Limits};
use crate::reach;
use crate::report::{Figure, Property, Report, Trace};

mod model;

use model::{Asynchronous, LARGEST, State};

/// The parameters beyond the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocking {
    /// The clock's modulus; a multiple of the pace. At least 2, and more than n
    /// unless the failure is to be seen.
    pub modulus: u32,
    /// p: a round every p-th tick.
    pub pace: u32,
    /// Whether the previous state is published too. Without it, the protocol is
    /// wrong.
    pub previous: bool,
    /// Start from every state, not only from the legitimate ones.
    pub every_start: bool,
}

impl Clocking {
    /// For a ring of n processes and a pace: the smallest multiple of both n and p
    /// above n, starts legitimate.
    ///
    /// ```
    /// use headway_check::model::asynchronous::Clocking;
    /// assert_eq!(Clocking::for_ring(6, 4).modulus, 12);
    /// ```
    pub fn for_ring(processes: usize, pace: u32) -> Clocking {
        let n = processes as u32;
        let mut multiples = (2..).map(|k| k * n);
        Clocking {
            modulus: multiples
                .find(|k| k % pace.max(1) == 0)
                .expect("n·p is one of them"),
            pace,
            previous: true,
            every_start: false,
        }
    }

    /// What the true distance of tokens at separation g is at least.
    pub fn true_distance(&self, separation: u32) -> u32 {
        true_separation(separation.into(), self.pace.into()) as u32
    }
}

/// Checks delay/relay driven by a phase clock.
///
/// # Errors
///
/// When the parameters do not fit, too many states turn up, or when stopped.
pub fn check(
    instance: &Instance,
    clocking: Clocking,
    scheduler: Scheduler,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let n = instance.processes();
    if !(3..=LARGEST).contains(&n) {
        return Err(CheckError::instance(format!(
            "asynchronous: 3 to {LARGEST} processes, not {n}"
        )));
    }
    let (modulus, pace) = (clocking.modulus, clocking.pace);
    if pace == 0 || !(2..=250).contains(&modulus) || modulus % pace != 0 {
        return Err(CheckError::instance(format!(
            "asynchronous: a pace of at least 1 and a modulus from 2 to 250 that is a multiple \
             of it, not pace {pace} and modulus {modulus}"
        )));
    }
    if instance.states() >= u128::from(u32::MAX) {
        return Err(CheckError::TooLarge {
            what: format!("{} lock-step states", instance.states()),
            need: "a number for each".into(),
            fits: format!("{} states", u32::MAX),
        });
    }
    let model = Asynchronous {
        lock_step: Explicit::new(instance.clone())?,
        clock: PhaseClock {
            modulus: modulus as i32,
            tail: 0,
        },
        clocking,
        scheduler,
    };
    let answer = reach::explore(&model, limits, control)?;
    let run = |states: &Vec<State>| Trace {
        states: states.iter().map(|state| model.show(state)).collect(),
        repeats_from: None,
        start: None,
    };
    let counterexample = |name| {
        let found = answer
            .violation
            .as_ref()
            .filter(|(property, _)| *property == name);
        found.map(|(_, states)| run(states))
    };
    let (found, bound) = (
        answer.least.as_ref().map(|(least, _)| *least),
        clocking.true_distance(instance.separation()),
    );
    let holds = clocking.every_start || found.is_some_and(|found| found >= u64::from(bound));
    let logical = counterexample("logical-rounds");
    let properties = vec![
        Property::unless(
            "logical-rounds",
            "every process goes through the states of the lock-step run, whatever the schedule",
            logical,
        ),
        Property::unless(
            "conserved",
            "the tokens are m at every moment, counted at their last holders",
            counterexample("conserved"),
        ),
        Property::unless(
            "no-deadlock",
            "some process can always tick",
            answer.deadlock.as_ref().map(run),
        ),
        Property {
            name: "true-distance",
            says: if clocking.every_start {
                "asked of legitimate starts only".to_owned()
            } else {
                format!(
                    "tokens are truly at least g - ⌊(g+p)/(p+1)⌋ = {bound} apart; the least seen \
                     is {}",
                    found.map_or("none".to_owned(), |found| found.to_string())
                )
            },
            holds,
            counterexample: answer
                .least
                .as_ref()
                .filter(|_| !holds)
                .map(|(_, states)| run(states)),
        },
    ];
    let all = properties.iter().all(|property| property.holds);
    // Logical rounds being lock-step rounds, what holds of those holds here.
    let lock_step = reduced::explore(instance, limits, control)?;
    let legitimate = answer.states - u64::from(answer.violation.is_some());
    Ok(Report {
        model: "asynchronous",
        instance: format!(
            "{}, modulus {modulus}, pace {pace}{}{}",
            instance.describe(),
            if clocking.previous {
                ""
            } else {
                ", previous state not published"
            },
            if clocking.every_start {
                ", every start"
            } else {
                ", legitimate starts"
            },
        ),
        scheduler: Some(scheduler),
        states: u128::from(answer.states),
        legitimate: u128::from(legitimate),
        closure: all && lock_step.closure_violation.is_none(),
        convergence: all && lock_step.never == 0,
        properties,
        worst: None,
        witness: answer
            .least
            .as_ref()
            .filter(|_| all)
            .map(|(_, states)| run(states)),
        figures: vec![
            (
                "steps_between_states",
                Figure::Number(u128::from(answer.steps)),
            ),
            (
                "least_true_distance",
                Figure::Number(u128::from(found.unwrap_or(0))),
            ),
            ("true_distance_bound", Figure::Number(u128::from(bound))),
        ],
        reductions: Vec::new(),
    })
}
