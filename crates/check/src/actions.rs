//! Models of named actions, some of which are strongly fair.
//!
//! A run that never becomes legitimate either stops, or stays in the end inside a
//! strongly connected set of illegitimate states, all of whose states it visits
//! again and again. Such a set is possible under strong fairness exactly if every
//! fair action that some state of the set enables is also taken by a step inside
//! the set. So: take the strongly connected components of the illegitimate
//! states; where a fair action is enabled but never taken inside, remove the
//! states that enable it and look at the components of the rest; what passes is a
//! counterexample, and when nothing is left there is none. (This is the emptiness
//! check for Streett automata: Emerson and Lei, 1987.)

use std::collections::{BTreeMap, VecDeque};

use rayon::prelude::*;

use crate::control::{CheckError, Control, Limits};
use crate::function::Lasso;
use crate::report::{Property, Report, Trace};
use crate::schedule::bits;
use crate::traits::{Actions, Step};

/// The answer about a model of actions. States are given by rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionsAnswer {
    /// All states.
    pub states: u64,
    /// Legitimate ones.
    pub legitimate: u64,
    /// A step from a legitimate state to one that is not; the lowest, if any.
    pub closure_violation: Option<(u64, u64)>,
    /// For every other property that a step from a legitimate state violates, the
    /// lowest such step.
    pub violations: BTreeMap<&'static str, (u64, u64)>,
    /// A fair run that never becomes legitimate.
    pub divergence: Option<Lasso>,
}

/// Explores every state.
///
/// # Errors
///
/// [`CheckError::TooLarge`] before it starts, [`CheckError::Interrupted`] when
/// stopped.
pub fn explore<M: Actions>(
    model: &M,
    limits: Limits,
    control: &Control,
) -> Result<ActionsAnswer, CheckError> {
    let states = model.states();
    // An edge of 16 bytes per action and state, at most.
    let bytes = 16 + 16 * model.actions().len() as u64;
    limits.admit(u128::from(states), bytes)?;
    control.begin(2 * states);
    let nodes: Vec<Node> = (0..states)
        .into_par_iter()
        .map(|rank| Node::new(model, rank))
        .collect();
    control.advance(states);
    if control.stopped() {
        return Err(CheckError::interrupted(control, "closure is not settled"));
    }
    let mut answer = ActionsAnswer {
        states,
        legitimate: nodes.iter().filter(|node| node.legitimate).count() as u64,
        closure_violation: None,
        violations: BTreeMap::new(),
        divergence: None,
    };
    for (rank, node) in nodes.iter().enumerate().filter(|(_, node)| node.legitimate) {
        for &(_, to) in &node.edges {
            if !nodes[to as usize].legitimate && answer.closure_violation.is_none() {
                answer.closure_violation = Some((rank as u64, to));
            }
        }
        for &(property, to) in &node.violations {
            answer
                .violations
                .entry(property)
                .or_insert((rank as u64, to));
        }
    }
    let graph = Graph {
        nodes: &nodes,
        fair: model.fair(),
    };
    answer.divergence = graph.divergence();
    control.advance(states);
    Ok(answer)
}

struct Node {
    legitimate: bool,
    /// Action and state led to.
    edges: Vec<(usize, u64)>,
    /// Actions enabled.
    enabled: u64,
    violations: Vec<(&'static str, u64)>,
}

impl Node {
    fn new<M: Actions>(model: &M, rank: u64) -> Node {
        let state = model.state(rank);
        let legitimate = model.legitimate(&state);
        let mut steps: Vec<Step<M::State>> = Vec::new();
        model.steps(&state, &mut steps);
        let mut node = Node {
            legitimate,
            edges: Vec::new(),
            enabled: 0,
            violations: Vec::new(),
        };
        for step in &steps {
            let to = model.rank(&step.state);
            node.enabled |= 1 << step.action;
            node.edges.push((step.action, to));
            if let Some(property) = legitimate.then(|| model.violates(&state, step)).flatten() {
                node.violations.push((property, to));
            }
        }
        node
    }
}

struct Graph<'a> {
    nodes: &'a [Node],
    fair: u64,
}

impl Graph<'_> {
    fn divergence(&self) -> Option<Lasso> {
        let illegitimate: Vec<u64> = (0..self.nodes.len() as u64)
            .filter(|&rank| !self.nodes[rank as usize].legitimate)
            .collect();
        let stops = illegitimate
            .iter()
            .find(|&&rank| self.nodes[rank as usize].edges.is_empty());
        if let Some(&rank) = stops {
            return Some(Lasso {
                stem: vec![rank],
                cycle: Vec::new(),
            });
        }
        // Sets of states still to be looked at; `set` numbers the set of a state.
        let mut set = vec![0_u32; self.nodes.len()];
        let mut sets = 0;
        let mut work = vec![illegitimate];
        while let Some(states) = work.pop() {
            sets += 1;
            for &rank in &states {
                set[rank as usize] = sets;
            }
            for component in self.components(&states, &set, sets) {
                sets += 1;
                for &rank in &component {
                    set[rank as usize] = sets;
                }
                let inside = |to: u64| set[to as usize] == sets;
                let (mut enabled, mut taken) = (0, 0);
                for &rank in &component {
                    let node = &self.nodes[rank as usize];
                    enabled |= node.enabled;
                    for &(action, to) in &node.edges {
                        taken |= u64::from(inside(to)) << action;
                    }
                }
                if taken == 0 {
                    continue;
                }
                let starved = enabled & self.fair & !taken;
                if starved == 0 {
                    return Some(self.tour(&component, taken & self.fair, &set, sets));
                }
                let rest: Vec<u64> = component
                    .into_iter()
                    .filter(|&rank| self.nodes[rank as usize].enabled & starved == 0)
                    .collect();
                if !rest.is_empty() {
                    work.push(rest);
                }
            }
        }
        None
    }

    /// Strongly connected components inside one set (Tarjan, with its own stack).
    fn components(&self, states: &[u64], set: &[u32], number: u32) -> Vec<Vec<u64>> {
        // By place in `states`, which ascend: when found, and the low link.
        let mut found: Vec<Option<(u32, u32)>> = vec![None; states.len()];
        let mut on_stack = vec![false; states.len()];
        let place = |rank: u64| states.binary_search(&rank).expect("a state of the set");
        let (mut stack, mut components, mut next) = (Vec::new(), Vec::new(), 0);
        for (root_place, &root) in states.iter().enumerate() {
            if found[root_place].is_some() {
                continue;
            }
            let mut calls = vec![(root, 0_usize)];
            while let Some((rank, edge)) = calls.pop() {
                let here = place(rank);
                if edge == 0 {
                    found[here] = Some((next, next));
                    next += 1;
                    stack.push(rank);
                    on_stack[here] = true;
                }
                let edges = &self.nodes[rank as usize].edges;
                let mut descended = false;
                for (offset, &(_, to)) in edges[edge..].iter().enumerate() {
                    if set[to as usize] != number {
                        continue;
                    }
                    let at = edge + offset;
                    let there = place(to);
                    match found[there] {
                        None => {
                            calls.push((rank, at + 1));
                            calls.push((to, 0));
                            // Coming back, the child's low link is read below.
                            descended = true;
                            break;
                        }
                        Some((when, _)) if on_stack[there] => lower(&mut found[here], when),
                        Some(_) => {}
                    }
                }
                if descended {
                    continue;
                }
                let Some((when, low)) = found[here] else {
                    continue;
                };
                if low == when {
                    let mut component = Vec::new();
                    while let Some(member) = stack.pop() {
                        on_stack[place(member)] = false;
                        component.push(member);
                        if member == rank {
                            break;
                        }
                    }
                    component.sort_unstable();
                    components.push(component);
                }
                if let Some(&(parent, _)) = calls.last() {
                    lower(&mut found[place(parent)], low);
                }
            }
        }
        components
    }

    /// A cycle inside a component that takes every action of a set.
    fn tour(&self, component: &[u64], actions: u64, set: &[u32], number: u32) -> Lasso {
        let start = component[0];
        let mut cycle = vec![start];
        let inside = |to: u64| set[to as usize] == number;
        for action in bits(actions) {
            let at = *cycle.last().expect("never empty");
            cycle.extend(self.path(at, &inside, |found, to| found == action && inside(to)));
        }
        if cycle.len() == 1 || *cycle.last().expect("never empty") != start {
            let at = *cycle.last().expect("never empty");
            cycle.extend(self.path(at, &inside, |_, to| to == start));
        }
        // The last state is the first again.
        cycle.pop();
        Lasso {
            stem: Vec::new(),
            cycle,
        }
    }

    /// The states after `from` on a shortest path whose last edge is wanted.
    fn path(
        &self,
        from: u64,
        inside: &impl Fn(u64) -> bool,
        wanted: impl Fn(usize, u64) -> bool,
    ) -> Vec<u64> {
        let mut parent: BTreeMap<u64, u64> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(rank) = queue.pop_front() {
            for &(action, to) in &self.nodes[rank as usize].edges {
                if wanted(action, to) {
                    let mut path = vec![to];
                    let mut at = rank;
                    while at != from {
                        path.push(at);
                        at = parent[&at];
                    }
                    path.reverse();
                    return path;
                }
                if inside(to) && to != from && !parent.contains_key(&to) {
                    parent.insert(to, rank);
                    queue.push_back(to);
                }
            }
        }
        Vec::new()
    }
}

/// Lowers a low link.
fn lower(found: &mut Option<(u32, u32)>, to: u32) {
    if let Some((_, low)) = found {
        *low = to.min(*low);
    }
}

/// Explores a model and reports on it.
pub(crate) fn report<M: Actions>(
    model: &M,
    name: &'static str,
    instance: String,
    step_properties: &[(&'static str, &'static str)],
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let answer = explore(model, limits, control)?;
    let step = |(from, to): (u64, u64)| {
        let stem = vec![from, to];
        Trace::of_ranks(
            model,
            &Lasso {
                stem,
                cycle: Vec::new(),
            },
        )
    };
    let divergence = answer.divergence.as_ref();
    let mut properties = vec![
        Property::unless(
            "closure",
            "every step from a legitimate state leads to a legitimate state",
            answer.closure_violation.map(step),
        ),
        Property::unless(
            "convergence",
            "every run reaches a legitimate state, if what the parties can do again and again \
             they do",
            divergence.map(|lasso| Trace::of_ranks(model, lasso)),
        ),
    ];
    for &(property, says) in step_properties {
        let violation = answer.violations.get(property).copied();
        properties.push(Property::unless(property, says, violation.map(step)));
    }
    Ok(Report {
        model: name,
        instance,
        scheduler: None,
        states: u128::from(answer.states),
        legitimate: u128::from(answer.legitimate),
        closure: answer.closure_violation.is_none(),
        convergence: answer.divergence.is_none(),
        properties,
        // Under fairness alone there is no bound on the number of steps.
        worst: None,
        witness: None,
        figures: Vec::new(),
        reductions: Vec::new(),
    })
}
