//! Models in which some outcomes are left to chance: does every run reach legitimacy with
//! probability 1, and how many steps does it take on average, under the worst scheduler?
//!
//! The scheduler chooses who moves, knowing all that happened; chance decides what comes of
//! it. **With probability 1:** the scheduler can avoid legitimacy with a positive
//! probability exactly if somewhere it can avoid it for certain, that is if there is a set
//! of illegitimate states in each of which some choice has all its outcomes in the set. The
//! largest such set is what is left when states are taken away that have, in each choice,
//! an outcome that is legitimate or was taken away.
//!
//! **On average:** without such a set the equation V(s) = 1 + max over choices of the mean
//! of V has one solution, the expected number of steps under the worst scheduler. It is
//! approached from below by iteration. Then two inequalities prove bounds around it: a
//! vector that the right-hand side does not raise is above V, one that it does not lower
//! is below. (One step of the iteration is monotone, and repeated it leads to V from
//! everywhere.) Where there are few states, V is solved exactly (`exact`), and the
//! equation itself is checked.

use num_bigint::BigUint;

use crate::control::Control;
use crate::error::{CheckError, Result, TooLarge};
use crate::report::{Lasso, follow};
use crate::schedule::Scheduler;
use crate::traits::Guarded;

mod exact;

pub use exact::{Fraction, solve};

/// An outcome: the difference it makes to the rank, and its probability as a fraction.
pub type Lottery = Vec<(u64, (u64, u64))>;

/// A model whose moves have outcomes that are left to chance.
pub trait Chances: Guarded {
    /// Calls `each` with every move of every process, processes ascending.
    fn lotteries(&self, rank: u64, each: &mut dyn FnMut(usize, Lottery));
}

/// The answer. States are given by rank.
#[derive(Clone, Debug, PartialEq)]
pub struct ChanceAnswer {
    /// A run in which the scheduler avoids legitimacy for certain, if it can.
    pub avoided: Option<Lasso>,
    /// States in which it can.
    pub avoiding: u64,
    /// The expected steps from every illegitimate state, by rank; without `avoided`.
    pub expected: Vec<(u64, Interval)>,
    /// The same exactly, in the same order, where there are at most [`MAX_EXACT`].
    pub exact: Option<Vec<Fraction>>,
}

/// Two numbers around one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// At least this.
    pub low: f64,
    /// At most this.
    pub high: f64,
}

impl ChanceAnswer {
    /// The slowest state on average: its place in the lists.
    pub fn slowest(&self) -> Option<usize> {
        let places = 0..self.expected.len();
        match &self.exact {
            // Of equals the first.
            Some(exact) => places.rev().max_by_key(|&place| exact[place].clone()),
            None => places
                .rev()
                .max_by(|&a, &b| self.expected[a].1.low.total_cmp(&self.expected[b].1.low)),
        }
    }
}

/// The most states for which expected times are solved exactly.
pub const MAX_EXACT: usize = 600;
/// How far the bounds are from the value found, as a part of it.
const WIDTH: f64 = 1e-9;
/// What rounding may have changed, as a part of the value.
const ROUNDING: f64 = 1e-13;
const MAX_SWEEPS: u64 = 1_000_000;
const LEGITIMATE: u32 = u32::MAX;
const BYTES_PER_OUTCOME: u64 = 32;

/// Explores a model under a scheduler.
///
/// # Errors
///
/// [`CheckError::TooLarge`], [`CheckError::Interrupted`] when stopped.
pub fn explore<M: Chances>(
    model: &M,
    scheduler: Scheduler,
    control: &Control,
) -> Result<ChanceAnswer> {
    let game = Game::new(model, scheduler, control)?;
    let avoiding = game.avoiding(control)?;
    if let Some(first) = avoiding.iter().position(|&avoids| avoids) {
        return Ok(ChanceAnswer {
            avoided: Some(game.run_within(first, &avoiding)),
            avoiding: avoiding.iter().filter(|&&avoids| avoids).count() as u64,
            expected: Vec::new(),
            exact: None,
        });
    }
    let (values, bounds) = game.bounds(control)?;
    let exact = if game.ranks.len() <= MAX_EXACT {
        exact::worst(&game, &values)
    } else {
        None
    };
    Ok(ChanceAnswer {
        avoided: None,
        avoiding: 0,
        expected: game.ranks.iter().copied().zip(bounds).collect(),
        exact,
    })
}

/// All illegitimate states with all choices and outcomes.
struct Game {
    ranks: Vec<u64>,
    /// By state: its choices, as places of `choices`.
    states: Vec<u32>,
    /// By choice: its outcomes.
    choices: Vec<u32>,
    /// Which state, or [`LEGITIMATE`], and the probability.
    outcomes: Vec<(u32, f64)>,
    /// The same probabilities as fractions.
    fractions: Vec<(u64, u64)>,
}

/// Where the next outcome goes: a number of 32 bits, of which there is room for so many.
fn end(outcomes: usize, room: u64) -> Result<u32> {
    let limit = room.min(u32::MAX.into());
    TooLarge::bound("outcomes", outcomes, limit)?;
    Ok(outcomes as u32)
}

impl Game {
    fn new<M: Chances>(model: &M, scheduler: Scheduler, control: &Control) -> Result<Game> {
        let states = model.states();
        control.limits.admit(states, 8)?;
        TooLarge::bound("states", states, u64::from(u32::MAX) - 2)?;
        let mut place = vec![LEGITIMATE; states as usize];
        let mut ranks = Vec::new();
        for rank in 0..states {
            let state = model.state(rank);
            if model.exists(&state) && !model.legitimate(&state) {
                place[rank as usize] = ranks.len() as u32;
                ranks.push(rank);
            }
        }
        let mut game = Game {
            ranks,
            states: vec![0],
            choices: vec![0],
            outcomes: Vec::new(),
            fractions: Vec::new(),
        };
        control.begin(game.ranks.len() as u64);
        let room = control.limits.memory_bytes / BYTES_PER_OUTCOME;
        for index in 0..game.ranks.len() {
            control.go_on(|| "the steps of the states are still being listed")?;
            game.list(model, scheduler, game.ranks[index], &place, room)?;
            control.advance(1);
        }
        Ok(game)
    }

    /// Adds the choices of a state.
    fn list<M: Chances>(
        &mut self,
        model: &M,
        scheduler: Scheduler,
        rank: u64,
        place: &[u32],
        room: u64,
    ) -> Result<()> {
        let mut by_process: Vec<(usize, Vec<Lottery>)> = Vec::new();
        let mut enabled = 0_u64;
        model.lotteries(rank, &mut |process, lottery| {
            enabled |= 1 << process;
            match by_process.last_mut() {
                Some((last, lotteries)) if *last == process => lotteries.push(lottery),
                _ => by_process.push((process, vec![lottery])),
            }
        });
        for selected in scheduler.selections(enabled, |process| model.neighbours(process)) {
            let selected = by_process
                .iter()
                .filter(|(process, _)| selected >> process & 1 == 1);
            let mut joint: Vec<Lottery> = vec![vec![(rank, (1, 1))]];
            for (_, lotteries) in selected {
                let mut next = Vec::new();
                for lottery in lotteries {
                    for sofar in &joint {
                        next.push(product(sofar, lottery)?);
                    }
                }
                joint = next;
            }
            for lottery in joint {
                for (after, (numerator, denominator)) in lottery {
                    let after = place[model.canonical(after, 0) as usize];
                    let chance = numerator as f64 / denominator as f64;
                    self.outcomes.push((after, chance));
                    self.fractions.push((numerator, denominator));
                }
                self.choices.push(end(self.outcomes.len(), room)?);
            }
        }
        self.states.push(self.choices.len() as u32 - 1);
        Ok(())
    }

    /// The choices of a state, each as places of `outcomes`.
    fn choices(&self, state: usize) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let choices = self.states[state] as usize..self.states[state + 1] as usize;
        choices.map(|choice| self.choices[choice] as usize..self.choices[choice + 1] as usize)
    }

    /// By state, whether the scheduler can avoid legitimacy for certain.
    fn avoiding(&self, control: &Control) -> Result<Vec<bool>> {
        let mut avoiding = vec![true; self.ranks.len()];
        loop {
            control.go_on(|| "whether the scheduler can avoid legitimacy is not known yet")?;
            let mut changed = false;
            for state in 0..self.ranks.len() {
                if avoiding[state] && !self.stays(state, &avoiding) {
                    avoiding[state] = false;
                    changed = true;
                }
            }
            if !changed {
                return Ok(avoiding);
            }
        }
    }

    /// Whether a state can be kept within some states; a dead end is.
    fn stays(&self, state: usize, within: &[bool]) -> bool {
        self.states[state] == self.states[state + 1] || self.staying(state, within).is_some()
    }

    fn staying(&self, state: usize, within: &[bool]) -> Option<std::ops::Range<usize>> {
        let inside = |&(after, _): &(u32, f64)| after != LEGITIMATE && within[after as usize];
        self.choices(state)
            .find(|outcomes| self.outcomes[outcomes.clone()].iter().all(inside))
    }

    /// A run that stays within some states.
    fn run_within(&self, first: usize, within: &[bool]) -> Lasso {
        let (path, repeats_from) = follow(first, |&state| {
            let outcomes = self.staying(state, within)?;
            Some(self.outcomes[outcomes.start].0 as usize)
        });
        let ranks = path.iter().map(|&state| self.ranks[state]).collect();
        Lasso::new(ranks, repeats_from)
    }

    /// The right-hand side of the equation, and the choice that it comes from.
    fn step(&self, state: usize, values: &[f64]) -> (f64, usize) {
        let (mut most, mut best) = (f64::NEG_INFINITY, 0);
        for (choice, outcomes) in self.choices(state).enumerate() {
            let mean: f64 = self.outcomes[outcomes]
                .iter()
                .filter(|(after, _)| *after != LEGITIMATE)
                .map(|&(after, chance)| chance * values[after as usize])
                .sum();
            if mean > most {
                (most, best) = (mean, choice);
            }
        }
        (1.0 + most, best)
    }

    /// The expected times as they were approached, and bounds that are proved.
    fn bounds(&self, control: &Control) -> Result<(Vec<f64>, Vec<Interval>)> {
        let mut values = vec![0.0; self.ranks.len()];
        let mut change = 0.0_f64;
        for sweep in 0..MAX_SWEEPS {
            change = 0.0;
            for state in 0..values.len() {
                let (value, _) = self.step(state, &values);
                change = change.max((value - values[state]) / value);
                values[state] = value;
            }
            let proved = || {
                let scaled = |factor: f64| values.iter().map(|value| value * factor).collect();
                let (low, high): (Vec<f64>, Vec<f64>) = (scaled(1.0 - WIDTH), scaled(1.0 + WIDTH));
                let slack = |value: f64| value * ROUNDING;
                let proved = (0..values.len()).all(|state| {
                    self.step(state, &high).0 <= high[state] - slack(high[state])
                        && self.step(state, &low).0 >= low[state] + slack(low[state])
                });
                proved.then(|| {
                    low.into_iter()
                        .zip(high)
                        .map(|(low, high)| Interval { low, high })
                        .collect()
                })
            };
            if change < WIDTH
                && let Some(bounds) = proved()
            {
                return Ok((values, bounds));
            }
            control.go_on(|| {
                let most = values.iter().copied().fold(0.0, f64::max);
                format!(
                    "legitimacy is reached with probability 1; after {sweep} sweeps the worst \
                     average is at least {most:.4} steps"
                )
            })?;
        }
        Err(CheckError::settings(format!(
            "the expected time was not found in {MAX_SWEEPS} sweeps: the last one still changed \
             it by a part of {change:.1e}"
        )))
    }
}

/// Two independent lotteries at once.
fn product(a: &Lottery, b: &Lottery) -> Result<Lottery> {
    let mut both = Vec::with_capacity(a.len() * b.len());
    for &(rank, (p, q)) in a {
        for &(difference, (r, s)) in b {
            let chance = p.checked_mul(r).zip(q.checked_mul(s));
            let chance = chance.ok_or(TooLarge::Bound {
                what: "bits of a probability",
                given: BigUint::from(65_u32),
                limit: 64,
            })?;
            both.push((rank.wrapping_add(difference), chance));
        }
    }
    Ok(both)
}

#[cfg(test)]
mod tests {
    use super::end;

    /// From 2^32 outcomes on their places would be those of others.
    #[test]
    fn places_of_outcomes_do_not_wrap() {
        let most = u32::MAX as usize;
        assert_eq!(end(most, u64::MAX), Ok(u32::MAX));
        assert!(end(most + 1, u64::MAX).is_err());
        assert!(end(11, 10).is_err() && end(10, 10).is_ok());
    }
}
