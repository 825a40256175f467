//! Dijkstra's K-state ring under every scheduler.
//!
//! **Value shift.** Guards and assignments compare values and add 1 modulo K. So adding
//! the same number to all values maps runs to runs, whoever moves, and legitimate states to
//! legitimate states: the states with value 0 at process 0 stand for all, each for K. When
//! process 0 moves, the others are shifted back by one.

//! It leaves a K-th of the states to visit; to visit every single one, the protocol file is the
//! model. With N = K = 7 under the central scheduler that takes 1.64 s, and this 0.17 s: a tenth
//! (both in one run of a release build, one thread; `make bench` repeats it).

use headway_core::token_ring::{holds, released};

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::protocol::built_in::{self, AsFile};
use crate::settings::settings;
use crate::traits::{Guarded, Model, Moves};
use crate::{Domains, Report, Scheduler, guarded};

const MAX_PROCESSES: usize = 16;
/// The most values of the processes that are decoded at once.
const MAX_HALF: u64 = 1 << 14;

settings! {
    /// A K-state ring and its scheduler.
    Settings {
        /// Number of processes
        processes: usize = 5, "N";
        /// Values of each process [default: N]
        values: Option<u32> = None, "K";
        /// Who moves in a step
        scheduler: Scheduler = Scheduler::default(), "WHO";
        /// Visit every single state, without the reduction
        unreduced: bool = false, "";
    }
}

/// Checks a K-state ring.
///
/// ```
/// use headway_check::{Control, model::k_state::{self, Settings}};
/// let ring = Settings { processes: 4, ..Settings::default() };
/// let report = k_state::check(&ring, &Control::default()).unwrap();
/// assert_eq!(report.worst.unwrap().steps, 13);
/// ```
///
/// # Errors
///
/// As [`KState::new`]; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    let (model, file) = (KState::new(settings)?, file(settings)?);
    if settings.unreduced {
        return built_in::check(&file, control);
    }
    let instance = file.instance.clone();
    let own = guarded::report(&model, NAME, instance, settings.scheduler, control);
    built_in::or_by_diagrams(
        own.map(|report| unshifted(report, model.values)),
        &file,
        control,
    )
}

pub(crate) fn file(settings: &Settings) -> Result<AsFile> {
    let (n, values) = settings.size(64)?;
    Ok(AsFile {
        model: NAME,
        instance: format!("{n} processes, {values} values"),
        text: built_in::K_STATE.into(),
        set: vec![("n", n as i64), ("k", values.into())],
        scheduler: Some(settings.scheduler),
    })
}

impl Settings {
    /// How many processes, of `most` at most, and how many values.
    fn size(&self, most: usize) -> Result<(usize, u32)> {
        let n = self.processes;
        if !(2..=most).contains(&n) {
            return Err(CheckError::settings(format!(
                "{NAME}: 2 to {most} processes, not {n}"
            )));
        }
        let values = self.values.unwrap_or(n as u32);
        if !(2..=255).contains(&values) {
            return Err(CheckError::settings(format!(
                "{NAME}: 2 to 255 values, not {values}"
            )));
        }
        Ok((n, values))
    }
}

/// The report on all states, of which those with value 0 at process 0 were visited.
fn unshifted(mut report: Report, values: u32) -> Report {
    report.states *= values;
    report.legitimate *= values;
    report.figures.diverging = (report.figures.diverging).map(|count| count * u64::from(values));
    report.reductions = vec![REDUCTION.to_owned()];
    report
}

const NAME: &str = "k-state";

const REDUCTION: &str = "value shift: a state with value 0 at process 0 for all that differ from \
                         it by the same number everywhere";

/// One value per process; unused places stay 0.
pub type Values = [u8; MAX_PROCESSES];

/// N processes with K values each. Legitimate: exactly one process holds the
/// token.
#[derive(Clone, Debug)]
pub struct KState {
    processes: usize,
    values: u32,
    /// Of the values but that of process 0, which is 0.
    domains: Domains,
    /// The values of `half` processes, by their rank.
    halves: Vec<Values>,
    half: usize,
}

impl KState {
    /// The ring of the settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range, or there are 2^63 states or more.
    pub fn new(settings: &Settings) -> Result<KState> {
        let (processes, values) = settings.size(MAX_PROCESSES)?;
        let k = u64::from(values);
        let half = (1..=processes.div_ceil(2))
            .rev()
            .find(|half| k.pow(*half as u32) <= MAX_HALF);
        let half = half.unwrap_or(1);
        let each = Domains::new(vec![k; half])?;
        let halves = (0..each.states()).map(|rank| {
            let mut values = [0; MAX_PROCESSES];
            for (place, value) in values.iter_mut().zip(each.values(rank)) {
                *place = value as u8;
            }
            values
        });
        Ok(KState {
            processes,
            values,
            domains: Domains::new(vec![k; processes - 1])?,
            halves: halves.collect(),
            half,
        })
    }

    /// With the same number added to all values.
    fn shifted(&self, state: &Values, shift: u32) -> Values {
        let mut shifted = *state;
        for value in &mut shifted[..self.processes] {
            *value = ((u32::from(*value) + shift) % self.values) as u8;
        }
        shifted
    }

    /// Whether some processes can have moved from one state to the other.
    fn is_step(&self, old: &Values, new: &Values) -> bool {
        old != new
            && (0..self.processes).all(|process| {
                let moved = self.step(old, process).map(|after| after[process]);
                new[process] == old[process] || moved == Some(new[process])
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
        let (mut rest, mut from) = (rank, 1);
        while from < self.processes {
            let values = &self.halves[(rest % self.halves.len() as u64) as usize];
            let to = (from + self.half).min(self.processes);
            state[from..to].copy_from_slice(&values[..to - from]);
            rest /= self.halves.len() as u64;
            from = to;
        }
        state
    }

    fn rank(&self, state: &Values) -> u64 {
        let shift = self.values - u32::from(state[0]);
        let values = state[1..self.processes].iter();
        let shifted = values.map(|&value| u64::from((u32::from(value) + shift) % self.values));
        self.domains.rank(shifted)
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

    /// Shifts every state back to where the run from the first one really is. A cycle is
    /// gone round until the values come back, at most K times.
    fn unfold(&self, stem: &[u64], cycle: &[u64]) -> (Vec<Values>, Option<usize>) {
        let mut states: Vec<Values> = Vec::new();
        let mut shift = 0;
        let mut push = |states: &mut Vec<Values>, rank: u64| {
            let mut state = self.shifted(&self.state(rank), shift);
            let moved = |state: &Values| states.last().is_none_or(|old| self.is_step(old, state));
            if !moved(&state) {
                shift = (shift + 1) % self.values;
                state = self.shifted(&self.state(rank), shift);
            }
            states.push(state);
            state
        };
        for &rank in stem {
            push(&mut states, rank);
        }
        loop {
            for &rank in cycle {
                push(&mut states, rank);
            }
            let Some(&rank) = cycle.first() else {
                return (states, None);
            };
            let again = push(&mut states, rank);
            states.pop();
            if again == states[stem.len()] {
                return (states, Some(stem.len()));
            }
            // The next turn starts from there.
        }
    }
}

impl Guarded for KState {
    fn processes(&self) -> usize {
        self.processes
    }

    fn moves(&self, rank: u64, moves: &mut Moves) {
        moves.clear();
        let state = self.state(rank);
        // Process 0 has no place in the rank: it is shifted to 0 again.
        let mut weight = 0;
        for process in 0..self.processes {
            if let Some((own, before)) = self.token(&state, process) {
                let after = released(own, before, process == 0, self.values);
                let difference = u64::from(after).wrapping_sub(own.into());
                moves.add(process, difference.wrapping_mul(weight));
            }
            weight = match weight {
                0 => 1,
                weight => weight * u64::from(self.values),
            };
        }
    }

    fn canonical(&self, rank: u64, selected: u64) -> u64 {
        if selected & 1 == 0 {
            return rank;
        }
        let mut state = self.state(rank);
        state[0] = 1;
        self.rank(&state)
    }

    fn step(&self, state: &Values, process: usize) -> Option<Values> {
        let (own, before) = self.token(state, process)?;
        let mut after = *state;
        after[process] = released(own, before, process == 0, self.values) as u8;
        Some(after)
    }
}
