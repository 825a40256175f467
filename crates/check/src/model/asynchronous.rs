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
use headway_sim::placement::Delays;
use num_bigint::BigUint;
use num_integer::Integer;

use super::delay_relay::{Instance, reduced};
use crate::Scheduler;
use crate::control::Control;
use crate::error::{CheckError, Result, TooLarge};
use crate::reach;
use crate::report::{Figures, Property, Report, Trace};
use crate::settings::{Tokens, separation, settings};

mod model;

use model::{Asynchronous, MAX_PROCESSES};

settings! {
    /// A ring, its clocks and its scheduler.
    Settings {
        /// Number of processes
        processes: usize = 6, "N";
        /// Number of tokens
        tokens: Tokens = Tokens::UpTo(2), "M";
        /// Hops to keep between successive tokens [default: N/M]
        separation: Option<u32> = None, "D";
        /// Which processes delay: all, every:K or at:0,5,9
        delays: Delays = Delays::All, "WHICH";
        /// A round every P-th tick
        pace: u32 = 1, "P";
        /// The clock's modulus [default: the smallest multiple of N and P above N]
        values: Option<u32> = None, "K";
        /// Start from every state, not only the legitimate ones
        every_start: bool = false, "";
        /// Do not publish the previous state: shows why it is needed
        without_previous: bool = false, "";
        /// Who ticks in a step
        scheduler: Scheduler = Scheduler::default(), "WHO";
    }
}

impl Settings {
    /// The modulus given, or the smallest multiple of both n and p above n. One that does not
    /// fit is refused, as are far smaller ones.
    pub fn modulus(&self) -> u32 {
        let (n, p) = (self.processes as u64, u64::from(self.pace.max(1)));
        let common = n.lcm(&p);
        let above = if common > n { common } else { 2 * n };
        let above = u32::try_from(above).unwrap_or(u32::MAX);
        self.values.unwrap_or(above)
    }

    /// The least true distance of tokens at the ring's separation.
    pub fn true_distance(&self) -> u32 {
        let tokens = self.tokens.on(self.processes);
        let separation = separation(self.separation, self.processes, tokens);
        true_separation(separation.into(), self.pace.into()) as u32
    }

    /// The ring, if it and its clocks can be checked.
    fn validate(&self) -> Result<Instance> {
        let (n, modulus, pace) = (self.processes, self.modulus(), self.pace);
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
        let instance = Instance::of(n, self.tokens, self.separation, &self.delays)?;
        let limit = u64::from(u32::MAX) - 1;
        TooLarge::bound("lock-step states", instance.states(), limit)?;
        Ok(instance)
    }

    fn describe(&self, instance: &Instance) -> String {
        let (modulus, pace) = (self.modulus(), self.pace);
        let previous = match self.without_previous {
            false => "",
            true => ", previous state not published",
        };
        let starts = if self.every_start {
            "every start"
        } else {
            "legitimate starts"
        };
        format!("{instance}, modulus {modulus}, pace {pace}{previous}, {starts}")
    }
}

/// Checks delay/relay driven by a phase clock.
///
/// # Errors
///
/// When the settings do not fit together, too many states turn up, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let instance = settings.validate()?;
    let model = Asynchronous::new(settings, &instance)?;
    let answer = reach::explore(&model, control)?;
    let run = |place: usize| {
        let states = answer.run_to(place);
        Trace::new(states.iter().map(|state| model.show(state)))
    };
    let broken = |name| {
        let found = answer.violation.filter(|(property, _)| *property == name);
        found.map(|(_, place)| run(place))
    };
    // Of equals the first.
    let explored = answer.reached.iter().take(answer.explored);
    let distances = explored.map(|state| model.true_distance(state)).zip(0..);
    let (least, bound) = (distances.min(), settings.true_distance());
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
            answer.deadlock.map(run),
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
            counterexample: least.filter(|_| !kept).map(|(_, place)| run(place)),
        },
    ];
    let all = properties.iter().all(|property| property.holds);
    let lock_step = reduced::explore(&instance, control)?;
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
        instance: settings.describe(&instance),
        scheduler: Some(settings.scheduler),
        states: answer.states().into(),
        legitimate: (answer.states() - u64::from(answer.violation.is_some())).into(),
        properties,
        witness: least.filter(|_| all).map(|(_, place)| run(place)),
        figures: Figures {
            steps_between_states: Some(answer.steps),
            least_true_distance: Some(found),
            true_distance_bound: Some(bound.into()),
            ..Figures::default()
        },
        ..Report::default()
    })
}
