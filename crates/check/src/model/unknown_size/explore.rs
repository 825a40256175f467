//! All runs of all cases, depth first: the longest, or one that never ends.

use std::collections::HashMap;

use headway_core::{Configuration, Program};

use super::case::{Case, Choice, hops_to};
use super::{MAX_PROCESSES, UnknownSize};
use crate::control::Control;
use crate::error::Result;

/// What was found.
pub(super) struct Found {
    pub(super) cases: u64,
    /// Unless some run never becomes legitimate.
    pub(super) worst: Option<Slowest>,
    /// A shortest cycle without a legitimate state, and the state it begins with.
    pub(super) lasso: Option<(Vec<Case>, Configuration)>,
}

/// A run that takes longest.
pub(super) struct Slowest {
    pub(super) rounds: u64,
    pub(super) path: Vec<Case>,
    pub(super) start: Configuration,
}

const UNKNOWN: u32 = u32::MAX;
const ON_PATH: u32 = u32::MAX - 1;
const NEVER: u32 = u32::MAX - 2;

struct Exploration<'a> {
    model: &'a UnknownSize,
    /// Rounds to the legitimate states, or a mark.
    rounds: HashMap<Case, u32>,
    /// The shortest cycle so far.
    cycle: Option<Vec<Case>>,
}

/// A case whose successors are being looked at.
struct Step {
    case: Case,
    left: Vec<Case>,
    rounds: u32,
}

pub(super) fn explore(model: &UnknownSize, control: &Control) -> Result<Found> {
    let mut exploration = Exploration {
        model,
        rounds: HashMap::new(),
        cycle: None,
    };
    let mut slowest: Option<(u32, Case)> = None;
    for placement in 0..model.placements.count() {
        let start = model.start(placement);
        if !model.represents(&start) {
            continue;
        }
        let rounds = exploration.follow(start, control)?;
        if slowest.is_none_or(|(most, _)| rounds > most) {
            slowest = Some((rounds, start));
        }
    }
    let cases = exploration.rounds.len() as u64;
    let lasso = exploration.cycle.take();
    let lasso = lasso.map(|cycle| (cycle.clone(), model.configuration(&cycle[0])));
    let slowest = slowest.filter(|_| lasso.is_none());
    Ok(Found {
        cases,
        worst: slowest.map(|(rounds, start)| exploration.slowest(rounds, start)),
        lasso,
    })
}

impl UnknownSize {
    /// Whether this start is followed for all its rotations: the first of them.
    fn represents(&self, start: &Case) -> bool {
        let n = self.ring.len();
        let key = |turn: usize| {
            (0..n).map(move |index| {
                let local = &start.locals[(index + turn) % n];
                (local.queued, local.resting)
            })
        };
        !self.symmetric() || (1..n).all(|turn| key(0).le(key(turn)))
    }
}

impl Exploration<'_> {
    fn follow(&mut self, start: Case, control: &Control) -> Result<u32> {
        let mut path = Vec::new();
        let mut result = self.enter(start, &mut path);
        let mut steps = 0_u64;
        while let Some(step) = path.last_mut() {
            steps += 1;
            if steps.is_multiple_of(1 << 16) {
                self.check_limits(control)?;
                continue;
            }
            if let Some(rounds) = result.take() {
                step.rounds = match (step.rounds, rounds) {
                    (NEVER, _) | (_, NEVER) => NEVER,
                    (most, rounds) => most.max(rounds + 1),
                };
                continue;
            }
            let Some(next) = step.left.pop() else {
                let (case, rounds) = (step.case, step.rounds);
                self.rounds.insert(case, rounds);
                path.pop();
                result = Some(rounds);
                continue;
            };
            result = self.enter(next, &mut path);
        }
        Ok(result.unwrap_or(0))
    }

    /// The rounds of a case if they are known; else it is put on the path.
    fn enter(&mut self, case: Case, path: &mut Vec<Step>) -> Option<u32> {
        match self.rounds.get(&case).copied().unwrap_or(UNKNOWN) {
            UNKNOWN => {}
            ON_PATH => {
                let from = path.iter().rposition(|step| step.case == case)?;
                let cycle = || {
                    path[from..]
                        .iter()
                        .map(|step| step.case)
                        .collect::<Vec<_>>()
                };
                if self
                    .cycle
                    .as_ref()
                    .is_none_or(|best| path.len() - from < best.len())
                {
                    self.cycle = Some(cycle());
                }
                return Some(NEVER);
            }
            rounds => return Some(rounds),
        }
        if self.model.legitimate(&case) {
            self.rounds.insert(case, 0);
            return Some(0);
        }
        self.rounds.insert(case, ON_PATH);
        let next = self.model.successors(&case);
        let left = next.into_iter().map(|(case, _)| case).collect();
        path.push(Step {
            case,
            left,
            rounds: 0,
        });
        None
    }

    fn check_limits(&self, control: &Control) -> Result<()> {
        let cases = self.rounds.len() as u64;
        control.advance(1 << 16);
        control.go_on(|| format!("{cases} cases without a run that never settles"))?;
        Ok(control.limits.admit(cases, 3 * size_of::<Case>() as u64)?)
    }

    /// The run of a case that takes so many rounds.
    fn slowest(&self, rounds: u32, start: Case) -> Slowest {
        let mut path = vec![start];
        let mut chosen = Vec::new();
        for left in (0..rounds).rev() {
            let case = path[path.len() - 1];
            let mut next = self.model.successors(&case).into_iter();
            let next = next.find(|(next, _)| self.rounds.get(next) == Some(&left));
            let Some((next, choices)) = next else { break };
            chosen.push((case.age, choices));
            path.push(next);
        }
        Slowest {
            rounds: rounds.into(),
            start: self.model.initial(&start, &chosen),
            path,
        }
    }
}

impl UnknownSize {
    /// An initial state that goes the way of these choices.
    fn initial(&self, start: &Case, chosen: &[(u8, [Choice; MAX_PROCESSES])]) -> Configuration {
        let mut state = self.configuration(start);
        for (round, (age, choices)) in chosen.iter().enumerate() {
            for index in self.ring.measurers() {
                let choice = &choices[index];
                let due = |ignore| hops_to(&state.processes, index, ignore);
                let Some(variables) = state.measuring.get_mut(&index) else {
                    continue;
                };
                if let Some(base) = choice.base {
                    variables.base = base.into();
                }
                if let Some(lap) = choice.lap {
                    variables.timing = lap.is_some();
                    variables.ignore = lap.unwrap_or(0).into();
                }
                if let Some(clock) = choice.clock {
                    let passed = u32::try_from(round).unwrap_or(u32::MAX).saturating_add(1);
                    variables.elapsed = u32::from(clock).saturating_sub(passed);
                    variables.mark = due(variables.ignore as u64).wrapping_sub(clock.into());
                }
                if let Some([one, two, three]) = choice.memory {
                    match self.program {
                        Program::ShortestLap => {
                            variables.gaps.previous = one.into();
                            variables.gaps.shortest = 0;
                        }
                        _ => {
                            (variables.laps.best, variables.laps.last) = (one.into(), two.into());
                            variables.laps.seen = three.into();
                        }
                    }
                }
                if let Some(counter @ 1..) = choice.counter {
                    state.processes[index].counter = (counter + age).into();
                }
            }
        }
        state
    }
}
