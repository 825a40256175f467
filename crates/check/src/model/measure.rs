//! The measuring delay, corrected and as printed: one process measures, all
//! others relay.
//!
//! The printed program has states of its own making that no fault needs to
//! create: a base, counter or `ignore` of -1. They belong to the state space, but
//! a counterexample starts from a state without them.

use headway_core::{Configuration, Measuring, Process, Program, Ring, Separation};
use headway_core::{legitimate, ring};
use headway_sim::placement::Delays;

use super::unknown_size;
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::placements::Placements;
use crate::protocol::built_in::{self, AsFile};
use crate::report::{Property, Report};
use crate::settings::{Tokens, settings};
use crate::traits::{Deterministic, Model};
use crate::{Domains, function};

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
/// As [`MeasureRing::new`]; when too large, or when stopped.
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
    let model = MeasureRing::new(settings, variant)?;
    let name = match variant {
        Variant::Corrected => "measure",
        Variant::AsPrinted => "measure-as-printed",
    };
    let start = |rank| Some(model.configuration(rank));
    let report = function::report(&model, name, model.instance(), control, start);
    report.map(in_its_words)
}

pub(crate) fn file(settings: &Settings) -> Result<AsFile> {
    if settings.delays.is_some() {
        return Err(CheckError::settings(
            "measure: in the file process 0 measures",
        ));
    }
    let model = MeasureRing::new(settings, Variant::Corrected)?;
    Ok(AsFile {
        model: "measure",
        instance: model.instance(),
        text: built_in::MEASURE.into(),
        set: vec![
            ("n", model.ring.len() as i64),
            ("m", model.tokens as i64),
            ("limit", model.limit.into()),
        ],
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

/// The local states and the variables of process 0, which measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    processes: [Process; MAX_PROCESSES],
    measuring: Measuring,
}

/// n processes of which process 0 measures, m tokens, and the limit at which its
/// clock saturates. Legitimate: separation ⌊n/m⌋, found and to be found again.
#[derive(Clone, Debug)]
pub struct MeasureRing {
    ring: Ring,
    tokens: usize,
    limit: u32,
    /// The smallest value of base, counter and `ignore`: 0, or -1 as printed.
    smallest: i32,
    placements: Placements,
    /// Of timing with ignore, elapsed, base, counter and placement, in that order.
    domains: Domains,
}

impl MeasureRing {
    /// The ring of the settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range, or there are 2^63 states or more.
    pub fn new(settings: &Settings, variant: Variant) -> Result<MeasureRing> {
        let processes = settings.processes;
        let tokens = settings.tokens.on(processes);
        let limit = settings
            .limit
            .unwrap_or(Measuring::default_limit(processes));
        if tokens == 0 || processes < tokens || processes > MAX_PROCESSES {
            return Err(CheckError::settings(format!(
                "measure: 1 to {MAX_PROCESSES} processes, and at least 1 token and at most as many as \
                 processes; not {processes} and {tokens}"
            )));
        }
        if (limit as usize) < processes || limit > 10_000 {
            return Err(CheckError::settings(format!(
                "measure: a limit from the ring's size, {processes}, to 10000, not {limit}"
            )));
        }
        let mut programs = vec![Program::Relay; processes];
        let smallest;
        (programs[0], smallest) = match variant {
            Variant::Corrected => (Program::Measure, 0),
            Variant::AsPrinted => (Program::MeasureAsPrinted, -1),
        };
        let separation = Separation::new((processes / tokens) as u32)
            .ok_or_else(|| CheckError::settings("measure: fewer processes than tokens"))?;
        let ring = Ring::new(separation, programs)
            .map_err(|error| CheckError::settings(error.to_string()))?;
        let placements = Placements::new(2 * processes, tokens)?;
        // While it times, even the printed program has `ignore` at 0 or more: line 18
        // sets it so, and below 1 the timing ends. So timing with ignore is
        // 2m values, and one more as printed, which comes last.
        let timings = 2 * tokens as u64 + u64::from(smallest < 0);
        let largest_base = Measuring::new(tokens as u32, limit).largest_base();
        let bases = (largest_base - smallest + 1) as u64;
        let elapsed = u64::from(limit) + 1;
        Ok(MeasureRing {
            ring,
            tokens,
            limit,
            smallest,
            domains: Domains::new([timings, elapsed, bases, bases, placements.count()])?,
            placements,
        })
    }

    fn instance(&self) -> String {
        format!(
            "{} processes, {} tokens, process 0 measures up to {} rounds, separation {} wanted",
            self.ring.len(),
            self.tokens,
            self.limit,
            self.ring.separation()
        )
    }

    fn processes<'a>(&self, state: &'a State) -> &'a [Process] {
        &state.processes[..self.ring.len()]
    }

    fn configuration(&self, rank: u64) -> (Ring, Configuration) {
        let state = self.state(rank);
        let configuration = Configuration {
            processes: self.processes(&state).to_vec(),
            measuring: [(0, state.measuring)].into(),
            counts: Vec::new(),
        };
        (self.ring.clone(), configuration)
    }
}

impl Model for MeasureRing {
    type State = State;

    fn states(&self) -> u64 {
        self.domains.states()
    }

    fn state(&self, rank: u64) -> State {
        let mut values = self.domains.values(rank);
        let mut next = || values.next().expect("five variables");
        let (timing, m) = (next(), self.tokens as u64);
        let mut processes = [Process::default(); MAX_PROCESSES];
        let measuring = Measuring {
            timing: timing / m == 1,
            elapsed: next() as u32,
            ignore: if timing == 2 * m {
                -1
            } else {
                (timing % m) as i32
            },
            base: next() as i32 + self.smallest,
            ..Measuring::new(self.tokens as u32, self.limit)
        };
        processes[0].counter = next() as i32 + self.smallest;
        self.placements.place(next(), &mut processes);
        State {
            processes,
            measuring,
        }
    }

    fn rank(&self, state: &State) -> u64 {
        let measuring = &state.measuring;
        let m = self.tokens as i32;
        let timing = match measuring.ignore {
            -1 => 2 * m,
            ignore => i32::from(measuring.timing) * m + ignore,
        };
        self.domains.rank([
            timing as u64,
            measuring.elapsed.into(),
            (measuring.base - self.smallest) as u64,
            (state.processes[0].counter - self.smallest) as u64,
            self.placements.rank(self.processes(state)),
        ])
    }

    fn legitimate(&self, state: &State) -> bool {
        let (ring, processes) = (&self.ring, self.processes(state));
        let measuring = [state.measuring];
        let tokens = self.tokens as u64;
        legitimate::check(
            ring.separation(),
            ring.programs(),
            processes,
            &measuring,
            tokens,
        )
        .is_ok()
    }

    fn show(&self, state: &State) -> String {
        let measuring = &state.measuring;
        format!(
            "{}  timing {} elapsed {} ignore {} base {}",
            super::delay_relay::show(self.processes(state), &self.ring),
            if measuring.timing { "yes" } else { "no" },
            measuring.elapsed,
            measuring.ignore,
            measuring.base
        )
    }
}

impl Deterministic for MeasureRing {
    fn next(&self, state: &State) -> State {
        let mut next = *state;
        let ring = &self.ring;
        let processes = &mut next.processes[..ring.len()];
        let measuring = std::slice::from_mut(&mut next.measuring);
        ring::round(ring.separation(), ring.programs(), processes, measuring);
        next
    }

    fn starts_anywhere(&self) -> bool {
        self.smallest == 0
    }

    fn initial(&self, state: &State) -> bool {
        let measuring = &state.measuring;
        measuring.ignore >= 0 && measuring.base >= 0 && state.processes[0].counter >= 0
    }

    fn blame(&self, cycle: &[State]) -> &'static str {
        let size = (self.ring.len(), self.ring.separation().hops() as usize);
        let process = |state: usize, process: usize| &cycle[state].processes[process];
        let queued = |state, at| process(state, at).queued.into();
        blame(properties(false), size, cycle.len(), queued, |state, at| {
            process(state, at).tokens()
        })
    }
}
