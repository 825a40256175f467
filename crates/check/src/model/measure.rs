//! The measuring delay, corrected and as printed: one process measures, all
//! others relay.
//!
//! The printed program has states of its own making that no fault needs to
//! create: a base, counter or `ignore` of -1. They belong to the state space, but
//! a counterexample starts from a state without them.

use headway_core::{Measuring, Program, Ring, Separation};
use headway_sim::placement::Delays;

use super::delay_relay::Explicit;
use super::unknown_size;
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::function;
use crate::protocol::built_in::{self, AsFile};
use crate::report::{Property, Report};
use crate::settings::{Tokens, settings};

const MAX_PROCESSES: usize = 16;

settings! {
    /// A ring on which process 0 measures, or several do.
    Settings {
        /// Number of processes
        processes: usize = 6, "N";
        /// Number of tokens
        tokens: Tokens = Tokens::UpTo(2), "M";
        /// Where the measuring clock saturates [default: 2N]
        limit: Option<u32> = None, "ROUNDS";
        /// Which processes measure: all, every:K or at:0,5,9; at more than one it does not
        /// settle from every start [default: at:0]
        delays: Option<Delays> = None, "WHICH";
    }
}

/// The two programs that measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The corrected one.
    Corrected,
    /// The paper's figure 6 to the letter.
    AsPrinted,
}

/// Checks a ring with one measuring process, or with several.
///
/// # Errors
///
/// As [`ring`]; when too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    if let Some(delays) = &settings.delays {
        let several = unknown_size::Settings {
            processes: settings.processes,
            tokens: settings.tokens,
            limit: settings.limit,
            delays: delays.clone(),
            horizon: None,
        };
        return unknown_size::check(Program::Measure, &several, control);
    }
    let own = check_one(settings, Variant::Corrected, control);
    built_in::or_by_diagrams(own, &file(settings)?, control)
}

/// Checks a ring with one measuring process as the paper prints it.
///
/// # Errors
///
/// As [`check`].
pub fn check_as_printed(settings: &Settings, control: &Control) -> Result<Report> {
    check_one(settings, Variant::AsPrinted, control)
}

fn check_one(settings: &Settings, variant: Variant, control: &Control) -> Result<Report> {
    let model = ring(settings, variant)?;
    let name = match variant {
        Variant::Corrected => "measure",
        Variant::AsPrinted => "measure-as-printed",
    };
    let start = |rank| Some(model.start(rank));
    let report = function::report(&model, name, settings.instance(), control, start);
    report.map(in_its_words)
}

pub(crate) fn file(settings: &Settings) -> Result<AsFile> {
    if settings.delays.is_some() {
        return Err(CheckError::settings(
            "measure: in the file process 0 measures",
        ));
    }
    ring(settings, Variant::Corrected)?;
    let (n, m, limit) = settings.size();
    Ok(AsFile {
        model: "measure",
        instance: settings.instance(),
        text: built_in::MEASURE.into(),
        set: vec![("n", n as i64), ("m", m as i64), ("limit", limit.into())],
        scheduler: None,
    })
}

/// The report with what the properties mean here.
fn in_its_words(mut report: Report) -> Report {
    for (property, says) in properties(false) {
        match report.properties.iter_mut().find(|p| p.name == property) {
            Some(found) => found.says = says.to_owned(),
            None => report.properties.push(Property::new(property, says, true)),
        }
    }
    report
}

/// What programs that measure are for. Of `shortest-lap` no more is asked than that estimates
/// are not too large: one that is too small may stay where tokens are apart anyway.
pub(super) const fn properties(may_be_low: bool) -> [(&'static str, &'static str); 3] {
    [
        ("no-deadlock", "tokens are released again and again"),
        (
            "full-separation",
            "tokens that circulate end up as far apart as they can be",
        ),
        if may_be_low {
            (
                "no-overestimate",
                "no process ends up with an estimate above the separation that fits",
            )
        } else {
            (
                "exact-estimates",
                "every process ends up with the separation that fits as its estimate",
            )
        },
    ]
}

/// Which of these is violated by a cycle without a legitimate state: of `states` states, by
/// number of processes and separation, with the queue and the tokens of each process.
pub(super) fn blame(
    properties: [(&'static str, &'static str); 3],
    (n, d): (usize, usize),
    states: usize,
    queued: impl Fn(usize, usize) -> u64,
    tokens: impl Fn(usize, usize) -> u64,
) -> &'static str {
    let moves = |state| (0..n).any(|process| queued(state, process) > 0);
    let close = |state| {
        (0..n).any(|process| {
            let ahead = |hops: usize| tokens(state, (process + hops) % n);
            ahead(0) > 1 || ahead(0) == 1 && (1..d.min(n)).any(|hops| ahead(hops) > 0)
        })
    };
    let place = match (0..states).any(moves) {
        false => 0,
        true if (0..states).any(close) => 1,
        true => 2,
    };
    properties[place].0
}

/// The ring of the settings, without reductions. Legitimate: separation ⌊n/m⌋, found and to be
/// found again.
///
/// # Errors
///
/// When a setting is out of its range, or there are 2^63 states or more.
pub fn ring(settings: &Settings, variant: Variant) -> Result<Explicit<1>> {
    let (n, tokens, limit) = settings.size();
    if tokens == 0 || n < tokens || n > MAX_PROCESSES {
        return Err(CheckError::settings(format!(
            "measure: 1 to {MAX_PROCESSES} processes, and at least 1 token and at most as many as \
             processes; not {n} and {tokens}"
        )));
    }
    if (limit as usize) < n || limit > 10_000 {
        return Err(CheckError::settings(format!(
            "measure: a limit from the ring's size, {n}, to 10000, not {limit}"
        )));
    }
    let mut programs = vec![Program::Relay; n];
    programs[0] = match variant {
        Variant::Corrected => Program::Measure,
        Variant::AsPrinted => Program::MeasureAsPrinted,
    };
    let separation = Separation::new((n / tokens) as u32)
        .ok_or_else(|| CheckError::settings("measure: fewer processes than tokens"))?;
    let ring =
        Ring::new(separation, programs).map_err(|error| CheckError::settings(error.to_string()))?;
    Explicit::measuring(ring, tokens, limit)
}

impl Settings {
    /// n, m and the limit.
    fn size(&self) -> (usize, usize, u32) {
        let n = self.processes;
        let limit = self.limit.unwrap_or(Measuring::default_limit(n));
        (n, self.tokens.on(n), limit)
    }

    fn instance(&self) -> String {
        let (n, m, limit) = self.size();
        let separation = n / m;
        format!(
            "{n} processes, {m} tokens, process 0 measures up to {limit} rounds, separation \
             {separation} wanted"
        )
    }
}
