//! Models of named actions, some of which are fair.
//!
//! A run that never becomes legitimate either stops, or stays in the end inside a
//! strongly connected set of illegitimate states, all of whose states it visits
//! again and again. Such a set is possible exactly if every strongly fair action that
//! some state of the set enables, and every weakly fair one that all of its states
//! enable, is also taken by a step inside the set. So: take the strongly connected
//! components of the illegitimate states; where a fair action is enabled like that but
//! never taken inside, remove the states that enable it and look at the components of
//! the rest; what passes is a counterexample, and when nothing is left there is none.
//! (This is the emptiness check for Streett automata: Emerson and Lei, 1987.)

use std::collections::{BTreeMap, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};
use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Result, TooLarge};
use crate::report::{Lasso, Property, Report};
use crate::schedule::bits;
use crate::traits::{Action, Actions, Fairness, Model, Step};

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
/// [`crate::CheckError::TooLarge`] before it starts, [`crate::CheckError::Interrupted`] when
/// stopped.
pub fn explore<M: Actions>(model: &M, control: &Control) -> Result<ActionsAnswer> {
    let states = model.states();
    let actions = model.actions();
    // Edges are there twice while the graph is built: 8 and 20 bytes each.
    control
        .limits
        .admit(states, 96 + 28 * actions.len() as u64)?;
    TooLarge::bound("states", states, u32::MAX.into())?;
    control.begin(2 * states);
    let mut nodes: Vec<Node> = Vec::with_capacity(states as usize);
    while (nodes.len() as u64) < states {
        let from = nodes.len() as u64;
        control.go_on(|| format!("the steps of {from} of {states} states are known"))?;
        let some = from..states.min(from + CHUNK);
        nodes.par_extend(some.into_par_iter().map(|rank| Node::new(model, rank)));
        control.advance(nodes.len() as u64 - from);
    }
    if model.looks_for_closure() {
        keep_closed(&mut nodes);
    }
    let mut answer = ActionsAnswer {
        states,
        legitimate: nodes.iter().filter(|node| node.legitimate).count() as u64,
        closure_violation: None,
        violations: BTreeMap::new(),
        divergence: None,
    };
    for (rank, node) in (0..).zip(&nodes).filter(|(_, node)| node.legitimate) {
        let mut leaves = node.edges.iter().map(|edge| edge.1);
        let leaves = leaves.find(|&to| !nodes[to as usize].legitimate);
        if answer.closure_violation.is_none() {
            answer.closure_violation = leaves.map(|to| (rank, to.into()));
        }
        for &(property, to) in &node.violations {
            answer
                .violations
                .entry(property)
                .or_insert((rank, to.into()));
        }
    }
    let those = |fairness| {
        let those = (0..)
            .zip(&actions)
            .filter(move |(_, action)| action.fairness == fairness);
        those.fold(0, |set, (index, _)| set | 1 << index)
    };
    let (weak, strong) = (those(Fairness::Weak), those(Fairness::Strong));
    let known = || {
        let broken = answer.closure_violation.is_some() || !answer.violations.is_empty();
        let steps = if broken {
            "one breaks what legitimate states promise"
        } else {
            "all keep what legitimate states promise"
        };
        format!(
            "{} of {states} states are legitimate, and of their steps {steps}; convergence is not \
             known",
            answer.legitimate
        )
    };
    let illegitimate = Illegitimate::new(nodes, weak, strong, control);
    let divergence = illegitimate.and_then(|mut found| found.divergence(control));
    // What was found while it was being stopped is of a graph that was cut short.
    control.go_on(known)?;
    answer.divergence = divergence;
    control.advance(states);
    Ok(answer)
}

/// Leaves only those legitimate states from which no run leads to another.
fn keep_closed(nodes: &mut [Node]) {
    loop {
        let leaves = |node: &Node| {
            node.legitimate && (node.edges.iter()).any(|&(_, to)| !nodes[to as usize].legitimate)
        };
        let leaving: Vec<usize> = (0..nodes.len())
            .into_par_iter()
            .filter(|&at| leaves(&nodes[at]))
            .collect();
        if leaving.is_empty() {
            return;
        }
        for at in leaving {
            nodes[at].legitimate = false;
        }
    }
}

/// Explores a model and reports on it, also on the properties of steps given by name and
/// meaning.
pub(crate) fn report<M: Actions>(
    model: &M,
    name: &'static str,
    instance: String,
    step_properties: &[(&'static str, &'static str)],
    control: &Control,
) -> Result<Report> {
    let answer = explore(model, control)?;
    let step = |(from, to): (u64, u64)| Lasso::path(vec![from, to]).trace(model);
    let weak = |action: &Action| action.fairness == Fairness::Weak;
    let convergence = if model.actions().iter().any(weak) {
        "every run reaches a legitimate state, if nobody puts off forever what it can always do"
    } else {
        "every run reaches a legitimate state, if the parties do again and again what they \
         can do again and again"
    };
    let mut properties = vec![
        Property::closed(answer.closure_violation.map(step)),
        Property::unless(
            "convergence",
            convergence,
            answer.divergence.as_ref().map(|lasso| lasso.trace(model)),
        ),
    ];
    properties.extend(step_properties.iter().map(|&(property, says)| {
        let violation = answer.violations.get(property).copied();
        Property::unless(property, says, violation.map(step))
    }));
    Ok(Report {
        model: name.into(),
        instance,
        states: answer.states.into(),
        legitimate: answer.legitimate.into(),
        properties,
        // No worst case: under fairness alone there is no bound on the number of steps.
        ..Report::default()
    })
}

/// Whether process 0 is visited again and again, which is this action.
pub(crate) fn visits<M: Actions>(model: &M, visit: usize, control: &Control) -> Result<Property> {
    let model = Until { model, last: visit };
    let visited = explore(&model, control)?;
    Ok(Property::unless(
        "visits",
        "every process is visited again and again, if nobody puts off forever what it can \
         always do",
        visited.divergence.map(|lasso| lasso.trace(&model)),
    ))
}

/// The same model until this action, which is the end.
struct Until<'a, M> {
    model: &'a M,
    last: usize,
}

impl<M: Model> Model for Until<'_, M> {
    type State = Option<M::State>;

    fn states(&self) -> u64 {
        self.model.states() + 1
    }

    fn state(&self, rank: u64) -> Option<M::State> {
        (rank < self.model.states()).then(|| self.model.state(rank))
    }

    fn rank(&self, state: &Option<M::State>) -> u64 {
        let end = self.model.states();
        state.as_ref().map_or(end, |state| self.model.rank(state))
    }

    fn legitimate(&self, state: &Option<M::State>) -> bool {
        state.is_none()
    }

    fn show(&self, state: &Option<M::State>) -> String {
        let shown = state.as_ref().map(|state| self.model.show(state));
        shown.unwrap_or_else(|| "visited".into())
    }
}

impl<M: Actions> Actions for Until<'_, M> {
    fn actions(&self) -> Vec<Action> {
        self.model.actions()
    }

    fn steps(&self, state: &Option<M::State>, steps: &mut Vec<Step<Option<M::State>>>) {
        let Some(state) = state else { return };
        let mut all = Vec::new();
        self.model.steps(state, &mut all);
        steps.extend(all.into_iter().map(|Step { action, state }| Step {
            action,
            state: (action != self.last).then_some(state),
        }));
    }
}

/// States whose steps are listed before anybody looks whether to stop.
const CHUNK: u64 = 1 << 16;

struct Node {
    legitimate: bool,
    /// Action and state led to.
    edges: Vec<(u8, u32)>,
    violations: Vec<(&'static str, u32)>,
}

impl Node {
    fn new<M: Actions>(model: &M, rank: u64) -> Node {
        let state = model.state(rank);
        let legitimate = model.legitimate(&state);
        let mut steps: Vec<Step<M::State>> = Vec::new();
        model.steps(&state, &mut steps);
        let mut node = Node {
            legitimate,
            edges: Vec::with_capacity(steps.len()),
            violations: Vec::new(),
        };
        for step in &steps {
            let to = model.rank(&step.state) as u32;
            node.edges.push((step.action as u8, to));
            if let Some(property) = legitimate.then(|| model.violates(&state, step)).flatten() {
                node.violations.push((property, to));
            }
        }
        node
    }
}

/// The illegitimate states as a graph. A node is a state's rank; a legitimate one keeps
/// its node, without edges.
struct Illegitimate {
    /// Nodes have the set of actions enabled, edges the action.
    graph: DiGraph<u64, u8>,
    /// The part of the graph that a state belongs to; 0 when it is out of the question.
    part: Vec<u32>,
    /// Sets of actions.
    weak: u64,
    strong: u64,
}

impl Illegitimate {
    /// Nothing if it is stopped.
    fn new(nodes: Vec<Node>, weak: u64, strong: u64, control: &Control) -> Option<Illegitimate> {
        let edges = nodes.iter().map(|node| node.edges.len()).sum();
        let mut graph = DiGraph::with_capacity(nodes.len(), edges);
        for node in &nodes {
            let enabled = node
                .edges
                .iter()
                .fold(0, |set, (action, _)| set | 1 << action);
            graph.add_node(enabled);
        }
        let part = nodes
            .iter()
            .map(|node| u32::from(!node.legitimate))
            .collect();
        for (rank, node) in (0..).zip(nodes).filter(|(_, node)| !node.legitimate) {
            if control.stopped() {
                return None;
            }
            // The graph lists the edge added last first.
            for (action, to) in node.edges.into_iter().rev() {
                graph.add_edge(NodeIndex::new(rank), NodeIndex::new(to as usize), action);
            }
        }
        Some(Illegitimate {
            graph,
            part,
            weak,
            strong,
        })
    }

    /// Something else, or nothing, if it is stopped.
    fn divergence(&mut self, control: &Control) -> Option<Lasso> {
        let mut left = self
            .graph
            .node_indices()
            .filter(|node| self.part[node.index()] > 0);
        if let Some(end) = left.find(|&node| self.graph[node] == 0) {
            return Some(Lasso::path(vec![end.index() as u64]));
        }
        let mut parts = 1;
        loop {
            let part = &self.part;
            let inside = EdgeFiltered::from_fn(&self.graph, |edge| {
                let from = part[edge.source().index()];
                // Without edges the search for components is over at once.
                !control.stopped() && from > 0 && from == part[edge.target().index()]
            });
            let mut components = kosaraju_scc(&inside);
            components.retain(|states| part[states[0].index()] > 0);
            let mut next = vec![0; self.part.len()];
            let mut any = false;
            for component in &components {
                if control.stopped() {
                    return None;
                }
                parts += 1;
                for state in component {
                    next[state.index()] = parts;
                }
                let (mut sometimes, mut always, mut taken) = (0, u64::MAX, 0);
                for &state in component {
                    sometimes |= self.graph[state];
                    always &= self.graph[state];
                    for edge in self.graph.edges(state) {
                        taken |= u64::from(next[edge.target().index()] == parts) << edge.weight();
                    }
                }
                let starved = (sometimes & self.strong | always & self.weak) & !taken;
                if taken != 0 && starved == 0 {
                    self.part = next;
                    return Some(self.tour(component, taken & (self.strong | self.weak)));
                }
                for state in component {
                    let stays = taken != 0 && self.graph[*state] & starved == 0;
                    any |= stays;
                    next[state.index()] *= u32::from(stays);
                }
            }
            if !any {
                return None;
            }
            self.part = next;
        }
    }

    /// A cycle inside a component that takes every action of a set, and where it takes
    /// no weakly fair one, passes a state that does not enable it.
    fn tour(&self, component: &[NodeIndex], actions: u64) -> Lasso {
        let start = *component.iter().min().expect("never empty");
        let mut cycle = vec![start];
        let mut at = start;
        for action in bits(actions) {
            cycle.extend(self.path(at, |found, _| usize::from(found) == action));
            at = cycle[cycle.len() - 1];
        }
        for action in bits(self.weak & !actions) {
            let disabled = |state: NodeIndex| self.graph[state] >> action & 1 == 0;
            if !cycle.iter().any(|&state| disabled(state)) {
                cycle.extend(self.path(at, |_, to| disabled(to)));
                at = cycle[cycle.len() - 1];
            }
        }
        if cycle.len() == 1 || at != start {
            cycle.extend(self.path(at, |_, to| to == start));
        }
        // The last state is the first again.
        cycle.pop();
        Lasso::new(
            cycle.iter().map(|state| state.index() as u64).collect(),
            Some(0),
        )
    }

    /// The states after `from` on a shortest path inside its part whose last edge, by
    /// action and target, is wanted.
    fn path(&self, from: NodeIndex, wanted: impl Fn(u8, NodeIndex) -> bool) -> Vec<NodeIndex> {
        let part = self.part[from.index()];
        let mut parent: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(state) = queue.pop_front() {
            for edge in self.graph.edges(state) {
                let to = edge.target();
                if self.part[to.index()] != part {
                    continue;
                }
                if wanted(*edge.weight(), to) {
                    let mut path = vec![to];
                    let back = std::iter::successors(Some(state), |at| parent.get(at).copied());
                    path.extend(back.take_while(|&at| at != from));
                    path.reverse();
                    return path;
                }
                if to != from && !parent.contains_key(&to) {
                    parent.insert(to, state);
                    queue.push_back(to);
                }
            }
        }
        Vec::new()
    }
}
