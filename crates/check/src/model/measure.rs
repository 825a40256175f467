//! The measuring delay, corrected and as printed: one process measures, all
//! others relay.
//!
//! The printed program has states of its own making that no fault needs to
//! create: a base, counter or `ignore` of -1. They belong to the state space, but
//! a counterexample starts from a state without them.

use headway_core::{Configuration, Measuring, Process, Program, Ring, Separation};
use headway_core::{legitimate, ring};

use crate::control::{CheckError, Control, Limits};
use crate::ranking::{Multisets, count_states, digit, place_tokens, token_slots};
use crate::report::{Property, Report};
use crate::traits::{Deterministic, Model};
use crate::{function, report};

const LARGEST: usize = 16;

/// The local states and the variables of process 0, which measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    processes: [Process; LARGEST],
    measuring: Measuring,
}

/// n processes of which process 0 measures, m tokens, and the limit at which its
/// clock saturates. Legitimate: separation ⌊n/m⌋, found and to be found again.
#[derive(Clone, Debug)]
pub struct MeasureRing {
    ring: Ring,
    tokens: usize,
    limit: u32,
    placements: Multisets,
    /// The smallest value of base, counter and `ignore`: 0, or -1 as printed.
    smallest: i32,
    states: u64,
}

impl MeasureRing {
    /// The corrected program, or the one as printed.
    ///
    /// # Errors
    ///
    /// Without tokens, with fewer processes than tokens or more than 16, with a
    /// limit below n, or when there are 2^63 states or more.
    pub fn new(
        processes: usize,
        tokens: usize,
        limit: u32,
        printed: bool,
    ) -> Result<MeasureRing, CheckError> {
        if tokens == 0 || processes < tokens || processes > LARGEST {
            return Err(CheckError::instance(format!(
                "measure: at least 1 token, and as many processes as tokens up to {LARGEST}"
            )));
        }
        if (limit as usize) < processes || limit > 10_000 {
            return Err(CheckError::instance(format!(
                "measure: a limit from the ring's size, {processes}, to 10000, not {limit}"
            )));
        }
        let program = if printed {
            Program::MeasureAsPrinted
        } else {
            Program::Measure
        };
        let mut programs = vec![Program::Relay; processes];
        programs[0] = program;
        let separation = u32::try_from(processes / tokens).unwrap_or(u32::MAX);
        let separation = Separation::new(separation)
            .ok_or_else(|| CheckError::instance("measure: fewer processes than tokens"))?;
        let ring = Ring::new(separation, programs)
            .map_err(|error| CheckError::instance(error.to_string()))?;
        let mut model = MeasureRing {
            ring,
            tokens,
            limit,
            placements: Multisets::new(2 * processes, tokens),
            smallest: if printed { -1 } else { 0 },
            states: 0,
        };
        let states = model
            .radices()
            .iter()
            .map(|&r| u128::from(r))
            .product::<u128>();
        let states = states.saturating_mul(model.placements.count());
        model.states = count_states(states)?;
        Ok(model)
    }

    fn largest_base(&self) -> i32 {
        Measuring::new(self.tokens as u32, self.limit).largest_base()
    }

    /// Of timing with ignore, elapsed, base and counter, in that order.
    ///
    /// While it times, even the printed program has `ignore` at 0 or more: line 18
    /// sets it so, and below 1 the timing ends. So timing with ignore is
    /// 2m values, and one more as printed, which comes last.
    fn radices(&self) -> [u64; 4] {
        let bases = (self.largest_base() - self.smallest + 1) as u64;
        let timings = 2 * self.tokens as u64 + u64::from(self.smallest < 0);
        [timings, u64::from(self.limit) + 1, bases, bases]
    }

    fn processes<'a>(&self, state: &'a State) -> &'a [Process] {
        &state.processes[..self.ring.len()]
    }

    /// Whether two tokens are closer than the separation wanted.
    fn too_close(&self, state: &State) -> bool {
        let processes = self.processes(state);
        let (n, d) = (processes.len(), self.ring.separation().hops() as usize);
        (0..n).any(|i| {
            processes[i].tokens() > 1
                || processes[i].tokens() == 1
                    && (1..d.min(n)).any(|hops| processes[(i + hops) % n].tokens() > 0)
        })
    }

    fn configuration(&self, rank: u64) -> (Ring, Configuration) {
        let state = self.state(rank);
        let configuration = Configuration {
            processes: self.processes(&state).to_vec(),
            measuring: [(0, state.measuring)].into(),
        };
        (self.ring.clone(), configuration)
    }
}

/// Checks a ring with one measuring process.
///
/// # Errors
///
/// As [`MeasureRing::new`]; when too large, or when stopped.
pub fn check(
    processes: usize,
    tokens: usize,
    limit: u32,
    printed: bool,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let model = MeasureRing::new(processes, tokens, limit, printed)?;
    let answer = function::explore(&model, limits, control)?;
    let name = if printed {
        "measure-as-printed"
    } else {
        "measure"
    };
    let instance = format!(
        "{processes} processes, {tokens} tokens, process 0 measures up to {limit} rounds, \
         separation {} wanted",
        model.ring.separation()
    );
    let start = |rank| Some(model.configuration(rank));
    let mut report = report::of_function(&model, name, instance, &answer, start);
    for (property, says) in PROPERTIES {
        match report.properties.iter_mut().find(|p| p.name == property) {
            Some(found) => found.says = says.to_owned(),
            None => report.properties.push(Property::new(property, says, true)),
        }
    }
    Ok(report)
}

const PROPERTIES: [(&str, &str); 3] = [
    ("no-deadlock", "tokens are released again and again"),
    (
        "full-separation",
        "tokens that circulate end up as far apart as they can be",
    ),
    (
        "measures-the-ring",
        "tokens that are apart are so because the right separation was found, not by luck",
    ),
];

impl Model for MeasureRing {
    type State = State;

    fn states(&self) -> u64 {
        self.states
    }

    fn state(&self, rank: u64) -> State {
        let mut rest = rank;
        let [timings, elapsed, base, counter] = self.radices();
        let timing = digit(&mut rest, timings);
        let m = self.tokens as u64;
        let mut processes = [Process::default(); LARGEST];
        let measuring = Measuring {
            tokens: self.tokens as u32,
            limit: self.limit,
            timing: timing / m == 1,
            elapsed: digit(&mut rest, elapsed) as u32,
            ignore: if timing == 2 * m {
                -1
            } else {
                (timing % m) as i32
            },
            base: digit(&mut rest, base) as i32 + self.smallest,
        };
        processes[0].counter = digit(&mut rest, counter) as i32 + self.smallest;
        let mut slots = [0; LARGEST];
        let slots = &mut slots[..self.tokens];
        self.placements.unrank(rest, slots);
        place_tokens(&mut processes, slots);
        State {
            processes,
            measuring,
        }
    }

    fn rank(&self, state: &State) -> u64 {
        let mut slots = [0; LARGEST];
        let count = token_slots(self.processes(state), &mut slots);
        let measuring = &state.measuring;
        let m = self.tokens as i32;
        let timing = match measuring.ignore {
            -1 => 2 * m,
            ignore => i32::from(measuring.timing) * m + ignore,
        };
        let digits = [
            timing,
            measuring.elapsed as i32,
            measuring.base - self.smallest,
            state.processes[0].counter - self.smallest,
        ];
        let placement = self.placements.rank(&slots[..count]);
        digits
            .iter()
            .zip(self.radices())
            .rev()
            .fold(placement, |rank, (&digit, radix)| {
                rank * radix + digit as u64
            })
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

    fn starts_anywhere(&self) -> bool {
        self.smallest == 0
    }

    fn initial(&self, state: &State) -> bool {
        let measuring = &state.measuring;
        measuring.ignore >= 0 && measuring.base >= 0 && state.processes[0].counter >= 0
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

    fn blame(&self, cycle: &[State]) -> &'static str {
        let moves = |state: &State| self.processes(state).iter().any(|p| p.queued > 0);
        if !cycle.iter().any(moves) {
            "no-deadlock"
        } else if cycle.iter().any(|state| self.too_close(state)) {
            "full-separation"
        } else {
            "measures-the-ring"
        }
    }
}
