//! Dijkstra's K-state ring under every scheduler.

use headway_core::token_ring::{holds, released};

use crate::control::{Control, Limits};
use crate::error::{CheckError, Result};
use crate::traits::{Guarded, Model};
use crate::{Domains, Report, Scheduler, guarded};

const MAX_PROCESSES: usize = 16;

/// A K-state ring and its scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// N, 2 to 16.
    pub processes: usize,
    /// K, 2 to 255.
    pub values: u32,
    /// Who moves in a step.
    pub scheduler: Scheduler,
}

impl Settings {
    /// As many values as processes, and the distributed scheduler.
    pub fn new(processes: usize) -> Settings {
        Settings {
            processes,
            values: u32::try_from(processes).unwrap_or(u32::MAX),
            scheduler: Scheduler::Distributed,
        }
    }
}

/// Checks a K-state ring.
///
/// ```
/// use headway_check::{Control, Limits, model::k_state::{self, Settings}};
/// let report = k_state::check(&Settings::new(4), Limits::default(), &Control::default()).unwrap();
/// assert_eq!(report.worst.unwrap().steps, 13);
/// ```
///
/// # Errors
///
/// As [`KState::new`]; when too large, or when stopped.
pub fn check(settings: &Settings, limits: Limits, control: &Control) -> Result<Report> {
    let model = KState::new(settings)?;
    let Settings {
        processes,
        values,
        scheduler,
    } = *settings;
    let instance = format!("{processes} processes, {values} values");
    guarded::report(&model, "k-state", instance, scheduler, limits, control)
}

/// One value per process; unused places stay 0.
pub type Values = [u8; MAX_PROCESSES];

/// N processes with K values each. Legitimate: exactly one process holds the
/// token.
#[derive(Clone, Debug)]
pub struct KState {
    processes: usize,
    values: u32,
    domains: Domains,
}

impl KState {
    /// The ring of the settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range, or there are 2^63 states or more.
    pub fn new(settings: &Settings) -> Result<KState> {
        let (processes, values) = (settings.processes, settings.values);
        if !(2..=MAX_PROCESSES).contains(&processes) {
            return Err(CheckError::settings(format!(
                "k-state: 2 to {MAX_PROCESSES} processes, not {processes}"
            )));
        }
        if !(2..=255).contains(&values) {
            return Err(CheckError::settings(format!(
                "k-state: 2 to 255 values, not {values}"
            )));
        }
        Ok(KState {
            processes,
            values,
            domains: Domains::new(vec![u64::from(values); processes])?,
        })
    }

    /// A process's own value and its predecessor's, if it holds the token.
    fn token(&self, state: &Values, process: usize) -> Option<(u32, u32)> {
        let before = state[(process + self.processes - 1) % self.processes];
        let (own, before) = (state[process].into(), before.into());
        holds(own, before, process == 0).then_some((own, before))
    }
}

impl Model for KState {
    type State = Values;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> Values {
        let mut state = [0; MAX_PROCESSES];
        for (place, value) in state.iter_mut().zip(self.domains.values(rank)) {
            *place = value as u8;
        }
        state
    }

    fn rank(&self, state: &Values) -> u64 {
        self.domains.rank(state.iter().map(|&value| value.into()))
    }

    fn legitimate(&self, state: &Values) -> bool {
        let holders = (0..self.processes).filter(|&i| self.token(state, i).is_some());
        holders.count() == 1
    }

    fn show(&self, state: &Values) -> String {
        let cells = (0..self.processes).map(|i| {
            let token = self.token(state, i).map_or("", |_| "*");
            format!("{}{token}", state[i])
        });
        cells.collect::<Vec<_>>().join(" ")
    }
}

impl Guarded for KState {
    fn processes(&self) -> usize {
        self.processes
    }

    fn step(&self, state: &Values, process: usize) -> Option<Values> {
        let (own, before) = self.token(state, process)?;
        let mut after = *state;
        after[process] = released(own, before, process == 0, self.values) as u8;
        Some(after)
    }
}
