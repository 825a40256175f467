//! Deterministic models: the round is a function, so the states form a
//! functional graph. Every state either has a distance to the legitimate states
//! or leads into a cycle without one, and both are found exactly.
//!
//! One byte is kept per state: 0 unknown, 1 to 254 the distance plus 1, 255
//! never legitimate (two bytes when a distance exceeds 253, then four). A worker
//! follows a path until it meets a state whose distance is known, then writes the
//! distances back along the path. Two workers that meet on one path write the
//! same values, so the answer does not depend on the number of threads. A cycle
//! is noticed by Brent's rule: the state at every power of two is remembered and
//! compared, exactly, with those after it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use headway_core::{Configuration, Ring};

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::parallel;
use crate::report::{Figures, Lasso, Property, Report, Trace, Worst, follow};
use crate::traits::Deterministic;

mod cells;
mod tally;

use cells::{Cells, UNKNOWN};
use tally::Tally;

/// The answer about a deterministic model. States are given by rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionAnswer {
    /// All states.
    pub states: u64,
    /// Legitimate ones.
    pub legitimate: u64,
    /// A legitimate state whose successor is not: the lowest, if any.
    pub closure_violation: Option<u64>,
    /// How many initial states are how many rounds from the legitimate states.
    pub distances: Vec<u64>,
    /// Initial states from which no legitimate state is ever reached.
    pub never: u64,
    /// The initial state furthest from the legitimate ones, and how far it is;
    /// the lowest such. `None` when some initial state never gets there.
    pub worst: Option<(u64, u64)>,
    /// For every property that a cycle violates, the shortest counterexample: the
    /// one with the fewest states, then of lowest rank.
    pub lassos: BTreeMap<&'static str, Lasso>,
}

/// Explores every state of a deterministic model.
///
/// # Errors
///
/// [`CheckError::TooLarge`] before anything is explored,
/// [`CheckError::Interrupted`] when stopped.
pub fn explore<M: Deterministic>(model: &M, control: &Control) -> Result<FunctionAnswer> {
    for bytes in [1, 2, 4] {
        control.limits.admit(model.states(), bytes)?;
        if let Some(answer) = Exploration::run(model, bytes, control)? {
            return Ok(answer);
        }
    }
    Err(CheckError::settings("a path is longer than 2^32 rounds"))
}

/// The rounds from a state to the first legitimate one or back to a state on the
/// way, as a lasso; with an empty cycle when a legitimate state ends it.
pub fn trace<M: Deterministic>(model: &M, rank: u64) -> Lasso {
    let (path, repeats_from) = follow(rank, |&rank| {
        let state = model.state(rank);
        (!model.legitimate(&state)).then(|| model.rank(&model.next(&state)))
    });
    Lasso::new(path, repeats_from)
}

/// Explores a model and reports on it. `start` is the state of a rank in a form that can
/// be replayed.
pub(crate) fn report<M: Deterministic>(
    model: &M,
    name: &'static str,
    instance: String,
    control: &Control,
    start: impl Fn(u64) -> Option<(Ring, Configuration)>,
) -> Result<Report> {
    let answer = explore(model, control)?;
    let traced = |lasso: &Lasso| Trace {
        start: lasso.first().and_then(&start),
        ..lasso.trace(model)
    };
    let closure = answer.closure_violation.map(|rank| {
        let next = model.rank(&model.next(&model.state(rank)));
        traced(&Lasso::path(vec![rank, next]))
    });
    let mut properties = vec![
        Property::closed_in_rounds(closure),
        Property::new(
            "convergence",
            "every run reaches a legitimate state",
            answer.never == 0,
        ),
    ];
    for (&property, lasso) in &answer.lassos {
        let run = Some(traced(lasso));
        if property == "convergence" {
            properties[1].counterexample = run;
        } else {
            let says = "violated by a cycle without a legitimate state; the shortest run into one";
            properties.push(Property::unless(property, says, run));
        }
    }
    let counts = answer.distances.iter().map(|&n| n.into()).collect();
    Ok(Report {
        model: name.into(),
        instance,
        states: answer.states.into(),
        legitimate: answer.legitimate.into(),
        properties,
        worst: answer.worst.map(|(_, rounds)| Worst::in_rounds(rounds)),
        witness: answer.worst.map(|(rank, _)| traced(&trace(model, rank))),
        figures: Figures::of_distances(counts, answer.never.into()),
        ..Report::default()
    })
}

const CHUNK: u64 = 1 << 14;

struct Exploration<'a, M> {
    model: &'a M,
    control: &'a Control,
    cells: Cells,
    never: u32,
    overflow: AtomicBool,
}

impl<M: Deterministic> Exploration<'_, M> {
    /// `None` when a distance does not fit a cell of so many bytes.
    fn run(model: &M, bytes: u64, control: &Control) -> Result<Option<FunctionAnswer>> {
        let states = model.states();
        let cells = Cells::new(states, bytes);
        let exploration = Exploration {
            model,
            control,
            never: cells.never(),
            cells,
            overflow: AtomicBool::new(false),
        };
        control.begin(states);
        let merge = |one: Tally, other| one.merge(&other);
        let settle = |ranks| exploration.settle_chunk(ranks);
        let tally = parallel::reduce(0..states, CHUNK, &settle, &merge);
        control.go_on(|| tally.known())?;
        if exploration.overflow.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let lassos = if tally.never > 0 {
            exploration.lassos()
        } else {
            BTreeMap::new()
        };
        control.go_on(|| tally.known())?;
        Ok(Some(FunctionAnswer {
            states,
            legitimate: tally.legitimate,
            closure_violation: tally.closure_violation,
            distances: tally.distances,
            never: tally.never,
            worst: tally.worst.filter(|_| tally.never == 0),
            lassos,
        }))
    }

    fn settle_chunk(&self, ranks: Range<u64>) -> Tally {
        let mut tally = Tally::default();
        // What does not fit is explored again, with larger cells.
        if self.overflow.load(Ordering::Relaxed) {
            return tally;
        }
        let mut path = Vec::new();
        for rank in ranks.take_while(|_| !self.control.stopped()) {
            // A path from elsewhere may have been here; closure and the count of
            // legitimate states are still this worker's to do.
            let cell = self.cells.get(rank);
            if cell <= 1 {
                let state = self.model.state(rank);
                if self.model.legitimate(&state) {
                    self.cells.set(rank, 1);
                    tally.legitimate += 1;
                    if !self.model.legitimate(&self.model.next(&state)) {
                        tally.closure_violation.get_or_insert(rank);
                    }
                } else if cell == UNKNOWN && !self.settle_path(rank, state, &mut path) {
                    return tally;
                }
            }
            self.count(rank, &mut tally);
        }
        self.control.advance(tally.settled);
        tally
    }

    /// Follows the path from an illegitimate state and writes distances back, if they fit.
    fn settle_path(&self, rank: u64, mut state: M::State, path: &mut Vec<u64>) -> bool {
        path.clear();
        path.push(rank);
        let (mut landmark, mut next_power) = (rank, 1_usize);
        let mut value = loop {
            state = self.model.next(&state);
            let rank = self.model.rank(&state);
            let known = self.cells.get(rank);
            if known != UNKNOWN {
                break known;
            }
            if self.model.legitimate(&state) {
                self.cells.set(rank, 1);
                break 1;
            }
            if rank == landmark {
                break self.never;
            }
            if path.len() == next_power {
                landmark = rank;
                next_power *= 2;
            }
            path.push(rank);
        };
        for &rank in path.iter().rev() {
            if value != self.never {
                value += 1;
                if value >= self.never {
                    self.overflow.store(true, Ordering::Relaxed);
                    return false;
                }
            }
            self.cells.set(rank, value);
        }
        true
    }

    /// Counts a state that is settled.
    fn count(&self, rank: u64, tally: &mut Tally) {
        tally.settled += 1;
        let value = self.cells.get(rank);
        if !self.starts(rank) {
            return;
        }
        if value == self.never {
            tally.never += 1;
            return;
        }
        let distance = u64::from(value - 1);
        let index = distance as usize;
        if tally.distances.len() <= index {
            tally.distances.resize(index + 1, 0);
        }
        tally.distances[index] += 1;
        if tally.worst.is_none_or(|(_, worst)| distance > worst) {
            tally.worst = Some((rank, distance));
        }
    }

    /// Whether runs start here: what starts no run, starts no counterexample and no worst case.
    fn starts(&self, rank: u64) -> bool {
        // Asking for the state is the costly part; most models start anywhere.
        self.model.starts_anywhere() || self.model.initial(&self.model.state(rank))
    }

    /// Whether a shortest counterexample may start here. Where every state is
    /// initial it is a cycle without a stem, so that one state per cycle is enough:
    /// the lowest, which reaches itself before any lower one.
    fn worth_tracing(&self, from: u64) -> bool {
        if self.control.stopped() {
            return false;
        }
        if !self.model.starts_anywhere() {
            return self.starts(from);
        }
        let mut state = self.model.state(from);
        let (mut landmark, mut next_power, mut steps) = (from, 1_u64, 0_u64);
        loop {
            state = self.model.next(&state);
            let rank = self.model.rank(&state);
            if rank <= from || rank == landmark {
                return rank == from;
            }
            steps += 1;
            if steps == next_power {
                (landmark, next_power) = (rank, 2 * next_power);
            }
        }
    }

    /// The shortest counterexample of each property, over all initial states that
    /// never become legitimate.
    fn lassos(&self) -> BTreeMap<&'static str, Lasso> {
        let shortest = |ranks: Range<u64>| {
            let mut best = BTreeMap::new();
            let ranks = ranks.filter(|&rank| self.cells.get(rank) == self.never);
            for rank in ranks.filter(|&rank| self.worth_tracing(rank)) {
                let lasso = trace(self.model, rank);
                let cycle: Vec<M::State> = lasso
                    .cycle
                    .iter()
                    .map(|&rank| self.model.state(rank))
                    .collect();
                let length = lasso.stem.len() + lasso.cycle.len();
                keep_shortest(&mut best, self.model.blame(&cycle), (length, lasso));
            }
            best
        };
        let best = parallel::reduce(
            0..self.model.states(),
            CHUNK,
            &shortest,
            &|mut best, others| {
                for (property, lasso) in others {
                    keep_shortest(&mut best, property, lasso);
                }
                best
            },
        );
        best.into_iter()
            .map(|(property, (_, lasso))| (property, lasso))
            .collect()
    }
}

fn keep_shortest(
    best: &mut BTreeMap<&'static str, (usize, Lasso)>,
    property: &'static str,
    lasso: (usize, Lasso),
) {
    match best.get_mut(property) {
        Some(old) if *old <= lasso => {}
        Some(old) => *old = lasso,
        None => drop(best.insert(property, lasso)),
    }
}
