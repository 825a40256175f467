//! An instance's variables, expressions and steps as decision diagrams.

use oxidd::bcdd::{BCDDFunction as Set, BCDDManagerRef, new_manager};
use oxidd::util::OptBool;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager,
    ManagerRef, Subst, VarNo,
};

use super::super::Protocol;
use super::Stop;
use crate::Scheduler;

mod expression;

type Outcome<T> = Result<T, Stop>;

/// A variable's bits: their numbers, now and next.
struct Bits {
    now: Vec<VarNo>,
    next: Vec<VarNo>,
}

/// The steps of one process.
struct Steps {
    relation: Set,
    /// What the process may assign stays as it is.
    stays: Set,
    enabled: Set,
    /// Renames what it may assign to its next value, which `written` has.
    rename: Subst<Set>,
    written: Set,
}

pub(super) struct Diagrams<'a> {
    protocol: &'a Protocol,
    scheduler: Scheduler,
    manager: BCDDManagerRef,
    variables: Vec<Bits>,
    /// By number of a bit.
    literals: Vec<Set>,
    steps: Vec<Steps>,
    rename_all: Subst<Set>,
    /// All states that variables can have, and those that are given.
    pub(super) valid: Set,
    pub(super) space: Set,
    /// States in which somebody is enabled, and those in which a value leaves its domain.
    pub(super) enabled: Set,
    pub(super) leaves_domain: Set,
}

impl<'a> Diagrams<'a> {
    /// In the better of two orders.
    pub(super) fn new(
        protocol: &'a Protocol,
        scheduler: Scheduler,
        nodes: usize,
    ) -> Outcome<Diagrams<'a>> {
        let n = protocol.graph().len();
        let straight: Vec<usize> = (0..n).collect();
        let folded: Vec<usize> = (0..n)
            .map(|i| if i % 2 == 0 { i / 2 } else { n - 1 - i / 2 })
            .collect();
        let first = Diagrams::in_order(protocol, scheduler, nodes / 2, &straight)?;
        let second = Diagrams::in_order(protocol, scheduler, nodes / 2, &folded)?;
        Ok(if second.size() < first.size() {
            second
        } else {
            first
        })
    }

    fn in_order(
        protocol: &'a Protocol,
        scheduler: Scheduler,
        nodes: usize,
        order: &[usize],
    ) -> Outcome<Diagrams<'a>> {
        let manager = new_manager(nodes.max(1 << 10), (nodes / 8).clamp(1 << 10, 1 << 24), 1);
        let count = protocol.variables.len();
        let mut variables: Vec<Bits> = (0..count)
            .map(|_| Bits {
                now: Vec::new(),
                next: Vec::new(),
            })
            .collect();
        let mut number = 0;
        let ordered = order.iter().flat_map(|&process| {
            (0..count).filter(move |&variable| protocol.variables[variable].process == process)
        });
        for variable in ordered {
            for _ in 0..protocol.variables[variable].bits() {
                variables[variable].now.push(number);
                variables[variable].next.push(number + 1);
                number += 2;
            }
        }
        let literals = manager.with_manager_exclusive(|manager| {
            let numbers = manager.add_vars(number);
            numbers
                .map(|number| Set::var(manager, number))
                .collect::<Result<Vec<_>, _>>()
        })?;
        let (no, yes) = manager.with_manager_shared(|manager| (Set::f(manager), Set::t(manager)));
        let rename_all = renaming(&literals, &variables, 0..count);
        let mut diagrams = Diagrams {
            protocol,
            scheduler,
            manager,
            variables,
            literals,
            steps: Vec::new(),
            rename_all,
            valid: yes.clone(),
            space: yes,
            enabled: no.clone(),
            leaves_domain: no,
        };
        for variable in 0..count {
            let mut any = diagrams.constant(false);
            for place in 0..protocol.variables[variable].domain.len() {
                any = any.or(&diagrams.is(variable, place, false)?)?;
            }
            diagrams.valid = diagrams.valid.and(&any)?;
        }
        diagrams.space = match &protocol.given {
            Some(given) => diagrams.valid.and(&diagrams.truth(given)?)?,
            None => diagrams.valid.clone(),
        };
        for process in 0..protocol.processes.len() {
            let steps = diagrams.steps_of(process)?;
            diagrams.enabled = diagrams.enabled.or(&steps.enabled)?;
            diagrams.steps.push(steps);
        }
        Ok(diagrams)
    }

    fn size(&self) -> usize {
        self.steps
            .iter()
            .map(|steps| steps.relation.node_count())
            .sum::<usize>()
            + self.space.node_count()
    }

    /// How many bits a state has.
    pub(super) fn bits(&self) -> u32 {
        self.literals.len() as u32 / 2
    }

    fn constant(&self, truth: bool) -> Set {
        self.manager.with_manager_shared(|manager| {
            if truth {
                Set::t(manager)
            } else {
                Set::f(manager)
            }
        })
    }

    /// States in which a variable has the value of a place of its domain, now or next.
    fn is(&self, variable: usize, place: usize, next: bool) -> Outcome<Set> {
        let bits = &self.variables[variable];
        let bits = if next { &bits.next } else { &bits.now };
        let mut all = self.constant(true);
        for (at, &bit) in bits.iter().enumerate() {
            let literal = &self.literals[bit as usize];
            all = if place >> at & 1 == 1 {
                all.and(literal)?
            } else {
                all.and(&literal.not()?)?
            };
        }
        Ok(all)
    }

    fn steps_of(&mut self, process: usize) -> Outcome<Steps> {
        let actions = &self.protocol.processes[process];
        let outcomes = actions.iter().flat_map(|action| &action.outcomes);
        let mut written: Vec<usize> = outcomes
            .flat_map(|o| &o.assignments)
            .map(|(v, _)| *v)
            .collect();
        written.sort_unstable();
        written.dedup();
        let mut stays = self.constant(true);
        let mut cube = self.constant(true);
        for &variable in &written {
            stays = stays.and(&self.keeps(variable)?)?;
            for &bit in &self.variables[variable].next {
                cube = cube.and(&self.literals[bit as usize])?;
            }
        }
        let (mut relation, mut enabled) = (self.constant(false), self.constant(false));
        for action in actions {
            let guard = self.truth(&action.guard)?;
            enabled = enabled.or(&guard)?;
            for outcome in &action.outcomes {
                let mut step = guard.clone();
                for &variable in &written {
                    let assigned = outcome
                        .assignments
                        .iter()
                        .find(|(other, _)| *other == variable);
                    let Some((_, value)) = assigned else {
                        step = step.and(&self.keeps(variable)?)?;
                        continue;
                    };
                    let mut becomes = self.constant(false);
                    for (value, when) in self.number(value)? {
                        let domain = &self.protocol.variables[variable].domain;
                        match domain.binary_search(&value) {
                            Ok(place) => {
                                becomes =
                                    becomes.or(&when.and(&self.is(variable, place, true)?)?)?;
                            }
                            Err(_) => {
                                self.leaves_domain = self.leaves_domain.or(&guard.and(&when)?)?;
                            }
                        }
                    }
                    step = step.and(&becomes)?;
                }
                relation = relation.or(&step)?;
            }
        }
        Ok(Steps {
            relation,
            stays,
            enabled,
            rename: renaming(&self.literals, &self.variables, written.iter().copied()),
            written: cube,
        })
    }

    /// A variable's next value is its value.
    fn keeps(&self, variable: usize) -> Outcome<Set> {
        let Bits { now, next } = &self.variables[variable];
        let mut all = self.constant(true);
        for (now, next) in now.iter().zip(next) {
            let same = self.literals[*now as usize].equiv(&self.literals[*next as usize])?;
            all = all.and(&same)?;
        }
        Ok(all)
    }

    /// The states with a step into a set.
    pub(super) fn before(&self, set: &Set) -> Outcome<Set> {
        let join = |a: &Set, b: &Set, steps: &Steps| {
            a.apply_exists(BooleanOperator::And, b, &steps.written)
        };
        if self.scheduler == Scheduler::Central {
            let mut all = self.constant(false);
            for steps in &self.steps {
                let next = set.substitute(&steps.rename)?;
                all = all.or(&join(&steps.relation, &next, steps)?)?;
            }
            return Ok(all);
        }
        let together = self.scheduler == Scheduler::Synchronous;
        // From next values to values, process by process: with nobody moved so far, and
        // with somebody.
        let (mut none, mut some) = (set.substitute(&self.rename_all)?, self.constant(false));
        for steps in &self.steps {
            let moved = join(&steps.relation, &none.or(&some)?, steps)?;
            let may_stay = if together {
                steps.stays.and(&steps.enabled.not()?)?
            } else {
                steps.stays.clone()
            };
            some = moved.or(&join(&may_stay, &some, steps)?)?;
            none = join(&may_stay, &none, steps)?;
        }
        // Variables that nobody ever assigns keep their values.
        for variable in 0..self.variables.len() {
            let next = &self.variables[variable].next;
            let mut cube = self.constant(true);
            for &bit in next {
                cube = cube.and(&self.literals[bit as usize])?;
            }
            some = some.apply_exists(BooleanOperator::And, &self.keeps(variable)?, &cube)?;
        }
        Ok(some)
    }

    /// The values of one state of a set, if there is one.
    pub(super) fn pick(&self, set: &Set) -> Option<Vec<i32>> {
        let cube = set.pick_cube(|_, _, _| false)?;
        let values = self
            .variables
            .iter()
            .zip(&self.protocol.variables)
            .map(|(bits, variable)| {
                let place = bits.now.iter().enumerate().fold(0, |place, (at, &bit)| {
                    place | usize::from(cube[bit as usize] == OptBool::True) << at
                });
                variable.domain[place]
            });
        Some(values.collect())
    }

    /// Whether a set has a state.
    pub(super) fn has(&self, set: &Set, state: &[i32]) -> bool {
        let mut valid = true;
        let mut values = Vec::new();
        for ((bits, variable), value) in self
            .variables
            .iter()
            .zip(&self.protocol.variables)
            .zip(state)
        {
            let place = variable.domain.binary_search(value).unwrap_or_else(|_| {
                valid = false;
                0
            });
            let each = bits.now.iter().zip(&bits.next).enumerate();
            for (at, (&now, &next)) in each {
                values.push((now, place >> at & 1 == 1));
                values.push((next, false));
            }
        }
        valid && set.eval(values)
    }
}

/// Values to next values, of some variables.
fn renaming(literals: &[Set], variables: &[Bits], some: impl Iterator<Item = usize>) -> Subst<Set> {
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for variable in some {
        from.extend(&variables[variable].now);
        to.extend(
            variables[variable]
                .next
                .iter()
                .map(|&bit| literals[bit as usize].clone()),
        );
    }
    Subst::new(from, to)
}
