//! Dijkstra's K-state ring under every scheduler.

use headway_core::token_ring::{holds, released};

use crate::control::{CheckError, Control, Limits};
use crate::ranking::{count_states, digit};
use crate::schedule::bits;
use crate::traits::{Guarded, Model};
use crate::{Report, Scheduler, guarded};

const LARGEST: usize = 16;

/// One value per process; unused places stay 0.
pub type Values = [u8; LARGEST];

/// N processes with K values each. Legitimate: exactly one process holds the
/// token.
#[derive(Clone, Copy, Debug)]
pub struct KState {
    processes: usize,
    values: u64,
}

impl KState {
    /// A ring of `processes` with `values` values.
    ///
    /// # Errors
    ///
    /// With fewer than 2 or more than 16 processes, fewer than 2 or more than 255
    /// values, or 2^63 states and more.
    pub fn new(processes: usize, values: u32) -> Result<KState, CheckError> {
        if !(2..=LARGEST).contains(&processes) {
            return Err(CheckError::instance(format!(
                "k-state: 2 to {LARGEST} processes, not {processes}"
            )));
        }
        if !(2..=255).contains(&values) {
            return Err(CheckError::instance(format!(
                "k-state: 2 to 255 values, not {values}"
            )));
        }
        let values = u64::from(values);
        count_states(u128::from(values).saturating_pow(processes as u32))?;
        Ok(KState { processes, values })
    }

    fn predecessor(&self, process: usize) -> usize {
        (process + self.processes - 1) % self.processes
    }
}

/// Checks a K-state ring under a scheduler.
///
/// ```
/// use headway_check::{Control, Limits, Scheduler, model::k_state};
/// let report = k_state::check(4, 4, Scheduler::Distributed, Limits::default(), &Control::default()).unwrap();
/// assert_eq!(report.worst.unwrap().steps, 13);
/// ```
///
/// # Errors
///
/// As [`KState::new`]; when too large, or when stopped.
pub fn check(
    processes: usize,
    values: u32,
    scheduler: Scheduler,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let model = KState::new(processes, values)?;
    let instance = format!("{processes} processes, {values} values");
    guarded::report(&model, "k-state", instance, scheduler, limits, control)
}

impl Model for KState {
    type State = Values;

    fn states(&self) -> u64 {
        self.values.pow(self.processes as u32)
    }

    fn state(&self, mut rank: u64) -> Values {
        let mut state = [0; LARGEST];
        for value in &mut state[..self.processes] {
            *value = digit(&mut rank, self.values) as u8;
        }
        state
    }

    fn rank(&self, state: &Values) -> u64 {
        let values = state[..self.processes].iter().rev();
        values.fold(0, |rank, &value| rank * self.values + u64::from(value))
    }

    fn legitimate(&self, state: &Values) -> bool {
        self.enabled(state).count_ones() == 1
    }

    fn show(&self, state: &Values) -> String {
        let tokens = self.enabled(state);
        let cells = state[..self.processes]
            .iter()
            .enumerate()
            .map(|(i, value)| {
                let token = if tokens >> i & 1 == 1 { "*" } else { "" };
                format!("{value}{token}")
            });
        cells.collect::<Vec<_>>().join(" ")
    }
}

impl Guarded for KState {
    fn processes(&self) -> usize {
        self.processes
    }

    fn enabled(&self, state: &Values) -> u64 {
        (0..self.processes)
            .filter(|&i| {
                let (own, before) = (state[i], state[self.predecessor(i)]);
                holds(own.into(), before.into(), i == 0)
            })
            .map(|i| 1 << i)
            .sum()
    }

    fn fire(&self, state: &Values, selected: u64) -> Values {
        let mut after = *state;
        for i in bits(selected) {
            let (own, before) = (state[i], state[self.predecessor(i)]);
            after[i] = released(own.into(), before.into(), i == 0, self.values as u32) as u8;
        }
        after
    }
}
