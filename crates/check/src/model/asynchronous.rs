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
//! the wrong state of its predecessor departs from it. Where a token is in real time
//! follows from the variables alone: it counts as with its last holder until
//! the next process has taken it.
//!
//! With a modulus of at most n the clocks can also be wound round the ring, each
//! neighbour pair in step. Such a start is explored too, because nothing that a
//! process sees tells it from a good one.

use headway_core::bound::true_separation;
use num_bigint::BigUint;
use num_integer::Integer;

use super::delay_relay::{Instance, reduced};
use crate::Scheduler;
use crate::control::Control;
use crate::error::{CheckError, Result, TooLarge};
use crate::reach;
use crate::report::{Figure, Property, Report, Trace};

mod model;

use model::{Asynchronous, MAX_PROCESSES, State};

/// A ring, its clocks and its scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The ring, of 3 to 12 processes.
    pub instance: Instance,
    /// The clock's modulus; a multiple of the pace. From 2 to 250, and more than n
    /// unless the failure is to be seen.
    pub modulus: u32,
    /// p: a round every p-th tick, at least 1.
    pub pace: u32,
    /// Whether the previous state is published too. Without it, the protocol is
    /// wrong.
    pub previous: bool,
    /// Start from every state, not only from the legitimate ones.
    pub every_start: bool,
    /// Who ticks in a step.
    pub scheduler: Scheduler,
}

impl Settings {
    /// The smallest multiple of both n and p above n as the modulus, legitimate starts, and
    /// the default scheduler; under it, steps of several processes reach no further states.
    ///
    /// ```
    /// use headway_check::model::asynchronous::Settings;
    /// use headway_check::model::delay_relay::Instance;
    /// let ring = Instance::uniform(6, 2, 3).unwrap();
    /// assert_eq!(Settings::new(ring, 4).modulus, 12);
    /// ```
    pub fn new(instance: Instance, pace: u32) -> Settings {
        let (n, p) = (instance.processes() as u64, u64::from(pace.max(1)));
        let common = n.lcm(&p);
        let above = if common > n { common } else { 2 * n };
        Settings {
            instance,
            // One that does not fit is refused, as are far smaller ones.
            modulus: u32::try_from(above).unwrap_or(u32::MAX),
            pace,
            previous: true,
            every_start: false,
            scheduler: Scheduler::default(),
        }
    }

    /// The least true distance of tokens at the ring's separation.
    pub fn true_distance(&self) -> u32 {
        true_separation(self.instance.separation().into(), self.pace.into()) as u32
    }

    fn validate(&self) -> Result<()> {
        let (n, modulus, pace) = (self.instance.processes(), self.modulus, self.pace);
        if !(3..=MAX_PROCESSES).contains(&n) {
            return Err(CheckError::settings(format!(
                "asynchronous: 3 to {MAX_PROCESSES} processes, not {n}"
            )));
        }
        if pace == 0 || !(2..=250).contains(&modulus) || modulus % pace != 0 {
            return Err(CheckError::settings(format!(
                "asynchronous: a pace of at least 1 and a modulus from 2 to 250 that is a \
                 multiple of it, not pace {pace} and modulus {modulus}"
            )));
        }
        let states = self.instance.states();
        Ok(TooLarge::bound(
            "lock-step states",
            states,
            u64::from(u32::MAX) - 1,
        )?)
    }

    fn describe(&self) -> String {
        let (modulus, pace) = (self.modulus, self.pace);
        let previous = if self.previous {
            ""
        } else {
            ", previous state not published"
        };
        let starts = if self.every_start {
            "every start"
        } else {
            "legitimate starts"
        };
        format!(
            "{}, modulus {modulus}, pace {pace}{previous}, {starts}",
            self.instance
        )
    }
}

/// Checks delay/relay driven by a phase clock.
///
/// # Errors
///
/// When the settings do not fit together, too many states turn up, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    settings.validate()?;
    let model = Asynchronous::new(settings)?;
    let answer = reach::explore(&model, control)?;
    let run = |states: &Vec<State>| Trace::new(states.iter().map(|state| model.show(state)));
    let broken = |name| {
        let found = answer.violation.as_ref();
        let found = found.filter(|(property, _)| *property == name);
        found.map(|(_, states)| run(states))
    };
    let (least, bound) = (answer.least.as_ref(), settings.true_distance());
    let kept = settings.every_start || least.is_some_and(|least| least.0 >= bound.into());
    let mut properties = vec![
        Property::unless(
            "logical-rounds",
            "every process goes through the states of the lock-step run, whatever the schedule",
            broken("logical-rounds"),
        ),
        Property::unless(
            "conserved",
            "there are m tokens at every moment, counted at their last holders",
            broken("conserved"),
        ),
        Property::unless(
            "no-deadlock",
            "some process can always tick",
            answer.deadlock.as_ref().map(run),
        ),
        Property {
            name: "true-distance".into(),
            says: if settings.every_start {
                "asked of legitimate starts only".to_owned()
            } else {
                format!(
                    "tokens are at least g - ⌊(g+p)/(p+1)⌋ = {bound} apart in real time; the \
                     least seen is {}",
                    least.map_or("none".to_owned(), |least| least.0.to_string())
                )
            },
            holds: kept,
            counterexample: least.filter(|_| !kept).map(|(_, states)| run(states)),
        },
    ];
    let all = properties.iter().all(|property| property.holds);
    let lock_step = reduced::explore(&settings.instance, control)?;
    let inherited = |name, says, holds| Property::new(name, says, all && holds);
    properties.splice(
        0..0,
        [
            inherited(
                "closure",
                "logical rounds are lock-step rounds, which lead from legitimate states to \
                 legitimate states",
                lock_step.closure_violation.is_none(),
            ),
            inherited(
                "convergence",
                "logical rounds are lock-step rounds, of which every run reaches a legitimate \
                 state",
                lock_step.never == BigUint::ZERO,
            ),
        ],
    );
    let found = least.map_or(0, |least| least.0);
    Ok(Report {
        model: "asynchronous".into(),
        instance: settings.describe(),
        scheduler: Some(settings.scheduler),
        states: answer.states.into(),
        legitimate: (answer.states - u64::from(answer.violation.is_some())).into(),
        properties,
        witness: least.filter(|_| all).map(|(_, states)| run(states)),
        figures: vec![
            ("steps_between_states", Figure::Number(answer.steps)),
            ("least_true_distance", Figure::Number(found)),
            ("true_distance_bound", Figure::Number(bound.into())),
        ],
        ..Report::default()
    })
}
