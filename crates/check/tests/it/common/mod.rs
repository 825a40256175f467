//! Random models for the engines: any function, any guarded assignments, any steps.

#![allow(dead_code, reason = "every test target uses some of it")]

use headway_check::settings::Given;
use headway_check::{
    Action, Actions, CheckError, Control, Deterministic, Domains, Fairness, Guarded, Model,
    NamedModel, Report, Step,
};
use proptest::prelude::*;

/// Checks a model by its name and settings: `monitor processes=4 tokens=1 monitors=0,2`. A
/// word alone is a switch.
pub(crate) fn asked(line: &str, control: &Control) -> Result<Report, CheckError> {
    let (name, given) = words(line);
    NamedModel::of(name)?.check(&given, control)
}

/// The same where there is an answer.
pub(crate) fn report(line: &str) -> Report {
    asked(line, &Control::default()).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// The name and the settings of a line.
pub(crate) fn words(line: &str) -> (&str, Given) {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let pair = |word: &str| {
        let (name, value) = word.split_once('=').unwrap_or((word, "true"));
        (name.to_owned(), value.to_owned())
    };
    (name, words.map(pair).collect())
}

/// The ways to choose k of n.
pub(crate) fn binomial(n: usize, k: usize) -> usize {
    (1..=k).fold(1, |product, i| product * (n + 1 - i) / i)
}

/// A few states, each of which is its own rank, and what each leads to.
#[derive(Clone, Debug)]
pub(crate) struct Numbered<T> {
    pub(crate) next: Vec<T>,
    pub(crate) legitimate: Vec<bool>,
}

/// Any function on a few states.
pub(crate) type Table = Numbered<u64>;

/// Four actions, two strongly fair, one unfair, one weakly fair; any steps: by state,
/// action and successor.
pub(crate) type Steps = Numbered<Vec<(usize, u64)>>;

impl<T: Sync> Model for Numbered<T> {
    type State = u64;
    fn states(&self) -> u64 {
        self.next.len() as u64
    }
    fn state(&self, rank: u64) -> u64 {
        rank
    }
    fn rank(&self, state: &u64) -> u64 {
        *state
    }
    fn legitimate(&self, state: &u64) -> bool {
        self.legitimate[*state as usize]
    }
    fn show(&self, state: &u64) -> String {
        state.to_string()
    }
}

impl Deterministic for Table {
    fn next(&self, state: &u64) -> u64 {
        self.next[*state as usize]
    }
}

pub(crate) fn tables() -> impl Strategy<Value = Table> {
    (1..60_usize).prop_flat_map(|size| {
        (
            prop::collection::vec(0..size as u64, size),
            prop::collection::vec(prop::bool::weighted(0.2), size),
        )
            .prop_map(|(next, legitimate)| Table { next, legitimate })
    })
}

/// Two or three processes with few values and any guards and assignments.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) processes: usize,
    pub(crate) values: u64,
    /// By process and global state: the new value, if enabled.
    pub(crate) moves: Vec<Vec<Option<u64>>>,
    pub(crate) legitimate: Vec<bool>,
}

impl Rules {
    fn domains(&self) -> Domains {
        Domains::new(vec![self.values; self.processes]).unwrap()
    }

    /// The processes whose guard holds.
    pub(crate) fn enabled(&self, state: &Vec<u64>) -> u64 {
        (0..self.processes)
            .filter(|&process| self.step(state, process).is_some())
            .fold(0, |set, process| set | 1 << process)
    }

    /// The state after a set of processes made their assignments, each from the old state.
    pub(crate) fn fire(&self, state: &Vec<u64>, selected: u64) -> Vec<u64> {
        let mut after = state.clone();
        for process in (0..self.processes).filter(|process| selected >> process & 1 == 1) {
            after[process] = self.step(state, process).unwrap()[process];
        }
        after
    }
}

impl Model for Rules {
    type State = Vec<u64>;
    fn states(&self) -> u64 {
        self.domains().states()
    }
    fn state(&self, rank: u64) -> Vec<u64> {
        self.domains().values(rank).collect()
    }
    fn rank(&self, state: &Vec<u64>) -> u64 {
        self.domains().rank(state.iter().copied())
    }
    fn legitimate(&self, state: &Vec<u64>) -> bool {
        self.legitimate[self.rank(state) as usize]
    }
    fn show(&self, state: &Vec<u64>) -> String {
        format!("{state:?}")
    }
}

impl Guarded for Rules {
    fn processes(&self) -> usize {
        self.processes
    }
    fn step(&self, state: &Vec<u64>, process: usize) -> Option<Vec<u64>> {
        let mut after = state.clone();
        after[process] = self.moves[process][self.rank(state) as usize]?;
        Some(after)
    }
}

pub(crate) fn rules() -> impl Strategy<Value = Rules> {
    (2..=3_usize, 2..=3_u64).prop_flat_map(|(processes, values)| {
        let states = values.pow(processes as u32) as usize;
        let one = prop::option::weighted(0.5, 0..values);
        (
            prop::collection::vec(prop::collection::vec(one, states), processes),
            prop::collection::vec(prop::bool::weighted(0.6), states),
        )
            .prop_map(move |(moves, legitimate)| Rules {
                processes,
                values,
                moves,
                legitimate,
            })
    })
}

impl Actions for Steps {
    fn actions(&self) -> Vec<Action> {
        [
            ("strong", Fairness::Strong),
            ("strong too", Fairness::Strong),
            ("unfair", Fairness::Unfair),
            ("weak", Fairness::Weak),
        ]
        .map(|(name, fairness)| Action { name, fairness })
        .to_vec()
    }
    fn steps(&self, state: &u64, steps: &mut Vec<Step<u64>>) {
        let all = self.next[*state as usize].iter();
        steps.extend(all.map(|&(action, state)| Step { action, state }));
    }
}

impl Steps {
    /// Whether a fair run can visit exactly the states of a set forever: all
    /// illegitimate, each reachable from each inside it, and no fair action enabled,
    /// somewhere or for the weak one everywhere, but never taken.
    pub(crate) fn fair_for_ever(&self, set: u64) -> bool {
        let members: Vec<u64> = (0..self.states())
            .filter(|rank| set >> rank & 1 == 1)
            .collect();
        let inside = |rank: u64| set >> rank & 1 == 1;
        let reached_from = |from: u64| {
            let mut reached = 0_u64;
            loop {
                let mut next = reached;
                for &rank in members
                    .iter()
                    .filter(|&&r| r == from || reached >> r & 1 == 1)
                {
                    for &(_, to) in self.next[rank as usize]
                        .iter()
                        .filter(|step| inside(step.1))
                    {
                        next |= 1 << to;
                    }
                }
                if next == reached {
                    return reached;
                }
                reached = next;
            }
        };
        let (mut somewhere, mut everywhere, mut taken) = (0_u64, u64::MAX, 0_u64);
        for &rank in &members {
            let mut enabled = 0;
            for &(action, to) in &self.next[rank as usize] {
                enabled |= 1 << action;
                taken |= u64::from(inside(to)) << action;
            }
            somewhere |= enabled;
            everywhere &= enabled;
        }
        members.iter().all(|rank| !self.legitimate(rank))
            && members.iter().all(|&rank| reached_from(rank) == set)
            && (somewhere & 0b0011 | everywhere & 0b1000) & !taken == 0
    }
}
