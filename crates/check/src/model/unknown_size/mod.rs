//! Rings on which nobody knows the ring's size: several processes measure it.
//!
//! Every variable of the domain may have any value at the start: tokens anywhere,
//! counters, bases, clocks up to a limit, memories. That is far too many states to
//! visit one by one, so what is read late is split late:
//!
//! * **Open variables.** A counter is first read when a token is there, a base when a
//!   token is released, whether a token is being timed when one arrives or leaves, the
//!   clock and the memory when a lap ends. Until then nothing depends on them, so one
//!   *case* stands for all their values; when one is read, the case is split by what
//!   it may be by then. Whatever a variable is split into, some initial value leads to
//!   it, so that the cases are exactly the runs.
//! * **Stale laps.** The clock of a lap that began before the start is any value, so it
//!   ends with any value that is not below the rounds that have passed; every later lap
//!   is timed from its start.
//! * **Rotations.** Where every process measures, placements of tokens that are
//!   rotations of one another share their fate, and one of them is followed.
//!
//! Legitimacy is a conjunction of clauses that each concern one process and the places
//! of the tokens, all of which move in every round. So closure is checked process by
//! process, and legitimate states are counted as a product.

use headway_core::program::Counts;
use headway_core::{Configuration, Measuring, Process, Program, Ring, Separation};
use headway_sim::placement::Delays;
use num_bigint::BigUint;

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::model::measure;
use crate::placements::Placements;
use crate::report::{Figures, Property, Report, Trace, Worst};
use crate::settings::{Tokens, places, settings};

mod case;
mod closure;
mod explore;
mod split;

use case::Case;

const MAX_PROCESSES: usize = 8;
const MAX_LIMIT: u32 = 100;

settings! {
    /// A ring on which some processes run one of the programs that measure; the others relay.
    Settings {
        /// Number of processes
        processes: usize = 3, "N";
        /// Number of tokens
        tokens: Tokens = Tokens::UpTo(2), "M";
        /// Where the measuring clocks saturate [default: 2N]
        limit: Option<u32> = None, "ROUNDS";
        /// Which processes measure: all, every:K or at:0,5,9
        delays: Delays = Delays::All, "WHICH";
        /// Turns of all tokens in an epoch [default: 4T+4 for a shortest lap of T]
        horizon: Option<u32> = None, "K";
    }
}

/// One round of a measuring process: the program's, unless a test breaks it.
pub type Round = fn(Program, Process, Measuring, u32, Counts) -> (Process, Measuring);

/// Checks a ring on which several processes measure.
///
/// # Errors
///
/// When a setting is out of its range; when too large, or when stopped.
pub fn check(program: Program, settings: &Settings, control: &Control) -> Result<Report> {
    check_with(program, settings, Program::measuring_round, control)
}

/// The same for another rule in the same variables.
///
/// # Errors
///
/// As [`check`].
pub fn check_with(
    program: Program,
    settings: &Settings,
    round: Round,
    control: &Control,
) -> Result<Report> {
    let model = UnknownSize::new(program, settings, round)?;
    let closure = closure::check(&model, control)?;
    let found = explore::explore(&model, control)?;
    let lasso = found.lasso.as_ref();
    let blamed = lasso.map(|(cycle, _)| model.blame(cycle));
    let lasso = lasso.map(|(cycle, start)| model.trace(cycle, Some(0), Some(start.clone())));
    let mut properties = vec![
        Property::closed_in_rounds(closure.violation),
        Property::unless("convergence", "every run reaches a legitimate state", lasso),
    ];
    for (name, says) in model.properties() {
        properties.push(Property::new(name, says, blamed != Some(name)));
    }
    let worst = found.worst.as_ref();
    Ok(Report {
        model: program.name().into(),
        instance: model.instance(settings.horizon),
        states: model.all_states(),
        legitimate: closure.legitimate,
        properties,
        worst: worst.map(|worst| Worst::in_rounds(worst.rounds)),
        witness: worst.map(|worst| model.trace(&worst.path, None, Some(worst.start.clone()))),
        figures: Figures {
            cases: Some(found.cases),
            ..Figures::default()
        },
        reductions: model.reductions(),
        ..Report::default()
    })
}

struct UnknownSize {
    ring: Ring,
    tokens: usize,
    program: Program,
    /// What a measuring process is born with: its parameters.
    parameters: Measuring,
    placements: Placements,
    round: Round,
}

impl UnknownSize {
    fn new(program: Program, settings: &Settings, round: Round) -> Result<UnknownSize> {
        let n = settings.processes;
        let m = settings.tokens.on(n);
        let limit = settings.limit.unwrap_or(Measuring::default_limit(n));
        let wrong = |problem: String| Err(CheckError::settings(format!("{program}: {problem}")));
        if m == 0 || n < m || n > MAX_PROCESSES {
            return wrong(format!(
                "1 to {MAX_PROCESSES} processes, and at least 1 token and at most as many as \
                 processes; not {n} and {m}"
            ));
        }
        if (limit as usize) < n || limit > MAX_LIMIT {
            return wrong(format!(
                "a limit from the ring's size, {n}, to {MAX_LIMIT}, not {limit}"
            ));
        }
        let per_token = |rounds: usize| rounds / m;
        if program == Program::ShortestLap && per_token(limit as usize) == per_token(n) {
            return wrong(format!(
                "a limit of at least {}, because below it no clock can be wrong",
                (n / m + 1) * m
            ));
        }
        if !program.measures() || program == Program::MeasureAsPrinted {
            return wrong("not a program that several processes can run".to_owned());
        }
        if settings.horizon.is_some() && program != Program::ShortestLapEpochs {
            return wrong("only shortest-lap-epochs has a horizon".to_owned());
        }
        let mut programs = vec![Program::Relay; n];
        for measurer in places(&settings.delays, n)? {
            programs[measurer] = program;
        }
        let mut parameters = Measuring::new(m as u32, limit);
        if let Some(turns) = settings.horizon {
            parameters.laps.horizon = std::num::NonZeroU32::new(turns);
            if turns == 0 || m as u32 * turns > 250 {
                return wrong(format!("a horizon from 1 to {}, not {turns}", 250 / m));
            }
        } else if program == Program::ShortestLapEpochs && parameters.laps.epoch(m as u32) > 250 {
            return wrong("give a horizon: by default an epoch is too long here".to_owned());
        }
        let separation = Separation::new((n / m) as u32);
        let separation = separation.ok_or_else(|| CheckError::settings("fewer than tokens"))?;
        Ok(UnknownSize {
            ring: Ring::new(separation, programs)
                .map_err(|error| CheckError::settings(error.to_string()))?,
            tokens: m,
            program,
            parameters,
            placements: Placements::new(2 * n, m)?,
            round,
        })
    }

    fn measures_at(&self, process: usize) -> bool {
        self.ring.programs()[process].measures()
    }

    fn instance(&self, horizon: Option<u32>) -> String {
        let horizon = match horizon {
            Some(turns) => format!(", epochs of {turns} turns"),
            None => String::new(),
        };
        format!(
            "{} processes, {} tokens, measured at {:?} up to {} rounds{horizon}, separation {} wanted",
            self.ring.len(),
            self.tokens,
            self.ring.measurers().collect::<Vec<_>>(),
            self.parameters.limit,
            self.ring.separation(),
        )
    }

    /// Values of the variables of one measuring process, apart from tokens.
    fn local_states(&self) -> u64 {
        let t = u64::from(self.parameters.limit);
        let bases = self.parameters.largest_base() as u64 + 1;
        let memory = match self.program {
            Program::ShortestLap => (t + 1).pow(3),
            Program::ShortestLapEpochs => t * t * (u64::from(self.largest_seen()) + 1),
            _ => 1,
        };
        // The clock, or what the token will show.
        2 * self.tokens as u64 * (t + 1) * bases * bases * memory
    }

    /// Arrivals in an epoch, beyond which more make no difference.
    fn largest_seen(&self) -> u8 {
        self.parameters.laps.epoch(self.tokens as u32).min(250) as u8
    }

    fn all_states(&self) -> BigUint {
        let measurers = self.ring.measurers().count() as u32;
        BigUint::from(self.local_states()).pow(measurers) * self.placements.count()
    }

    fn reductions(&self) -> Vec<String> {
        let mut all = vec![
            "variables are split when they are first read".to_owned(),
            "closure is checked process by process".to_owned(),
        ];
        if self.symmetric() {
            all.push("placements up to rotation".to_owned());
        }
        all
    }

    /// Whether all processes are alike.
    fn symmetric(&self) -> bool {
        self.ring.measurers().count() == self.ring.len()
    }

    fn properties(&self) -> [(&'static str, &'static str); 3] {
        measure::properties(self.program == Program::ShortestLap)
    }

    /// The property that a cycle without a legitimate state violates.
    fn blame(&self, cycle: &[Case]) -> &'static str {
        let size = (self.ring.len(), self.ring.separation().hops() as usize);
        let local = |case: usize, process: usize| &cycle[case].locals[process];
        let queued = |case, at| local(case, at).queued.into();
        measure::blame(self.properties(), size, cycle.len(), queued, |case, at| {
            u64::from(local(case, at).queued) + u64::from(local(case, at).resting)
        })
    }

    fn trace(
        &self,
        path: &[Case],
        repeats_from: Option<usize>,
        start: Option<Configuration>,
    ) -> Trace {
        Trace {
            states: path.iter().map(|case| self.show(case)).collect(),
            repeats_from,
            start: start.map(|start| (self.ring.clone(), start)),
        }
    }
}
