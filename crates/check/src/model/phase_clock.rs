//! The phase clock (unison) on a ring, under every scheduler: a protocol file.

use headway_core::phase_clock::PhaseClock;

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::protocol::built_in::{self, AsFile};
use crate::settings::settings;
use crate::{Report, Scheduler};

const MAX_PROCESSES: usize = 16;

settings! {
    /// A ring of phase clocks and its scheduler.
    Settings {
        /// Number of processes
        processes: usize = 5, "N";
        /// The clock's modulus [default: N+1]
        values: Option<u32> = None, "K";
        /// Phases below 0, for recovery [default: N-2]
        tail: Option<u32> = None, "K";
        /// Who moves in a step
        scheduler: Scheduler = Scheduler::default(), "WHO";
    }
}

/// Checks a ring of phase clocks. Legitimate: all neighbours are in step.
///
/// # Errors
///
/// When a setting is out of its range; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    built_in::check(&file(settings)?, control)
}

pub(crate) fn file(settings: &Settings) -> Result<AsFile> {
    let n = settings.processes;
    if !(3..=MAX_PROCESSES).contains(&n) {
        return Err(CheckError::settings(format!(
            "phase-clock: 3 to {MAX_PROCESSES} processes, not {n}"
        )));
    }
    let needed = PhaseClock::for_ring(n as i32);
    let modulus = settings.values.map_or(needed.modulus.into(), i64::from);
    let tail = settings.tail.map_or(needed.tail.into(), i64::from);
    if modulus < 3 || modulus + tail > 100 {
        return Err(CheckError::settings(
            "phase-clock: a modulus of at least 3, a tail of at least 0, at most 100 phases",
        ));
    }
    Ok(AsFile {
        model: "phase-clock",
        instance: format!("{n} processes, modulus {modulus}, tail {tail}"),
        text: built_in::UNISON.into(),
        set: vec![("n", n as i64), ("k", modulus), ("tail", tail)],
        scheduler: Some(settings.scheduler),
    })
}
