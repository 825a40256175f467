//! The phase clock (unison) on a ring, under every scheduler.

use headway_core::phase_clock::{Phase, PhaseClock};

use crate::control::{CheckError, Control, Limits};
use crate::ranking::{count_states, digit};
use crate::schedule::bits;
use crate::traits::{Guarded, Model};
use crate::{Report, Scheduler, guarded};

const LARGEST: usize = 16;

/// One phase per process; unused places stay 0.
pub type Phases = [i8; LARGEST];

/// A ring of phase clocks. Legitimate: all neighbours are in step.
#[derive(Clone, Copy, Debug)]
pub struct ClockRing {
    processes: usize,
    clock: PhaseClock,
}

impl ClockRing {
    /// A ring of `processes` clocks.
    ///
    /// # Errors
    ///
    /// With fewer than 3 or more than 16 processes, a modulus below 3, or more than
    /// 100 phases.
    pub fn new(processes: usize, clock: PhaseClock) -> Result<ClockRing, CheckError> {
        if !(3..=LARGEST).contains(&processes) {
            return Err(CheckError::instance(format!(
                "phase-clock: 3 to {LARGEST} processes, not {processes}"
            )));
        }
        if clock.modulus < 3 || clock.tail < 0 || clock.modulus + clock.tail > 100 {
            return Err(CheckError::instance(
                "phase-clock: a modulus of at least 3, a tail of at least 0, at most 100 phases",
            ));
        }
        let phases = (clock.modulus + clock.tail) as u64;
        count_states(u128::from(phases).saturating_pow(processes as u32))?;
        Ok(ClockRing { processes, clock })
    }

    fn phases(&self) -> u64 {
        (self.clock.modulus + self.clock.tail) as u64
    }

    fn neighbouring(&self, state: &Phases, process: usize) -> [Phase; 2] {
        let n = self.processes;
        [
            state[(process + n - 1) % n].into(),
            state[(process + 1) % n].into(),
        ]
    }
}

/// Checks a ring of phase clocks under a scheduler.
///
/// # Errors
///
/// As [`ClockRing::new`]; when too large, or when stopped.
pub fn check(
    processes: usize,
    clock: PhaseClock,
    scheduler: Scheduler,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let model = ClockRing::new(processes, clock)?;
    let instance = format!(
        "{processes} processes, modulus {}, tail {}",
        clock.modulus, clock.tail
    );
    guarded::report(&model, "phase-clock", instance, scheduler, limits, control)
}

impl Model for ClockRing {
    type State = Phases;

    fn states(&self) -> u64 {
        self.phases().pow(self.processes as u32)
    }

    fn state(&self, mut rank: u64) -> Phases {
        let mut state = [0; LARGEST];
        for phase in &mut state[..self.processes] {
            *phase = (digit(&mut rank, self.phases()) as i32 - self.clock.tail) as i8;
        }
        state
    }

    fn rank(&self, state: &Phases) -> u64 {
        let phases = state[..self.processes].iter().rev();
        phases.fold(0, |rank, &phase| {
            rank * self.phases() + (i32::from(phase) + self.clock.tail) as u64
        })
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

    fn enabled(&self, state: &Phases) -> u64 {
        (0..self.processes)
            .filter(|&i| {
                let neighbours = self.neighbouring(state, i);
                self.clock.step(state[i].into(), &neighbours).is_some()
            })
            .map(|i| 1 << i)
            .sum()
    }

    fn fire(&self, state: &Phases, selected: u64) -> Phases {
        let mut after = *state;
        for i in bits(selected) {
            let own = state[i].into();
            if let Some(step) = self.clock.step(own, &self.neighbouring(state, i)) {
                after[i] = self.clock.stepped(own, step) as i8;
            }
        }
        after
    }
}
