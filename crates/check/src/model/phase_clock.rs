//! The phase clock (unison) on a ring, under every scheduler.

use headway_core::phase_clock::{Phase, PhaseClock};

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::protocol::built_in::{self, AsFile};
use crate::traits::{Guarded, Model};
use crate::{Domains, Report, Scheduler, guarded};

const MAX_PROCESSES: usize = 16;

/// A ring of phase clocks and its scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// n, 3 to 16.
    pub processes: usize,
    /// A modulus of at least 3, a tail of at least 0, and at most 100 phases in all.
    pub clock: PhaseClock,
    /// Who moves in a step.
    pub scheduler: Scheduler,
}

impl Settings {
    /// The clock that a ring of this size needs, and the default scheduler.
    pub fn new(processes: usize) -> Settings {
        Settings {
            processes,
            clock: PhaseClock::for_ring(i32::try_from(processes).unwrap_or(i32::MAX / 2)),
            scheduler: Scheduler::default(),
        }
    }
}

/// Checks a ring of phase clocks.
///
/// # Errors
///
/// As [`ClockRing::new`]; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let model = ClockRing::new(settings)?;
    let (processes, clock, scheduler) = (settings.processes, settings.clock, settings.scheduler);
    let instance = format!(
        "{processes} processes, modulus {}, tail {}",
        clock.modulus, clock.tail
    );
    let name = "phase-clock";
    let own = guarded::report(&model, name, instance.clone(), scheduler, control);
    let file = AsFile {
        model: name,
        instance: &instance,
        text: built_in::UNISON,
        set: &[
            ("n", processes as i64),
            ("k", clock.modulus.into()),
            ("tail", clock.tail.into()),
        ],
        scheduler: Some(scheduler),
    };
    built_in::or_by_diagrams(own, &file, control)
}

/// One phase per process; unused places stay 0.
pub type Phases = [i8; MAX_PROCESSES];

/// A ring of phase clocks. Legitimate: all neighbours are in step.
#[derive(Clone, Debug)]
pub struct ClockRing {
    processes: usize,
    clock: PhaseClock,
    domains: Domains,
}

impl ClockRing {
    /// The ring of the settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range, or there are 2^63 states or more.
    pub fn new(settings: &Settings) -> Result<ClockRing> {
        let (processes, clock) = (settings.processes, settings.clock);
        if !(3..=MAX_PROCESSES).contains(&processes) {
            return Err(CheckError::settings(format!(
                "phase-clock: 3 to {MAX_PROCESSES} processes, not {processes}"
            )));
        }
        let phases = clock.modulus.saturating_add(clock.tail);
        if clock.modulus < 3 || clock.tail < 0 || phases > 100 {
            return Err(CheckError::settings(
                "phase-clock: a modulus of at least 3, a tail of at least 0, at most 100 phases",
            ));
        }
        Ok(ClockRing {
            processes,
            clock,
            domains: Domains::new(vec![phases as u64; processes])?,
        })
    }
}

impl Model for ClockRing {
    type State = Phases;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> Phases {
        let mut state = [0; MAX_PROCESSES];
        for (phase, value) in state.iter_mut().zip(self.domains.values(rank)) {
            *phase = (value as i32 - self.clock.tail) as i8;
        }
        state
    }

    fn rank(&self, state: &Phases) -> u64 {
        let values = state[..self.processes].iter();
        self.domains
            .rank(values.map(|&phase| (i32::from(phase) + self.clock.tail) as u64))
    }

    fn legitimate(&self, state: &Phases) -> bool {
        (0..self.processes).all(|i| {
            let next = state[(i + 1) % self.processes];
            self.clock.in_step(state[i].into(), next.into())
        })
    }

    fn show(&self, state: &Phases) -> String {
        let cells = state[..self.processes].iter().map(ToString::to_string);
        cells.collect::<Vec<_>>().join(" ")
    }
}

impl Guarded for ClockRing {
    fn processes(&self) -> usize {
        self.processes
    }

    fn step(&self, state: &Phases, process: usize) -> Option<Phases> {
        let n = self.processes;
        let own = state[process].into();
        let neighbours = [process + n - 1, process + 1].map(|i| Phase::from(state[i % n]));
        let step = self.clock.step(own, &neighbours)?;
        let mut after = *state;
        after[process] = self.clock.stepped(own, step) as i8;
        Some(after)
    }
}
