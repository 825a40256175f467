//! Howard's policy iteration, on integers.
//!
//! A policy chooses one entering place per transition. Following it backwards
//! leads to circuits; the best of their ratios is the current λ. With weights
//! time - λ·tokens the policy has a value at every transition; a place that
//! would give a higher value improves the policy. When none does, the values are
//! a potential, λ is the cycle time and the policy's circuit is critical.
//!
//! λ only grows, and for one λ values only grow and stay below any potential, so
//! the iteration ends by itself: there is no cap. Values are improved in place
//! along reverse postorder, which on rings takes a handful of iterations where
//! improving all nodes at once takes one per token gap.

use std::collections::VecDeque;
use std::ops::Add;

use super::local::{Layout, Local};
use super::series::Contracted;
use super::{Certificate, Fraction, NoSpectrum, check_live};
use crate::graph::{ArcsByNode, EventGraph, arcs_by_node};

/// What the iteration finds.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The cycle time with its proof.
    pub certificate: Certificate,
    /// The cycle time of each strongly connected component; `None` for a single
    /// transition without a loop.
    pub components: Vec<Option<Fraction>>,
    /// Whether there is one component only.
    pub strongly_connected: bool,
    /// Policies evaluated, over all components.
    pub iterations: u64,
}

/// The cycle time of a live event graph, with certificate.
///
/// # Errors
///
/// As [`super::spectrum`].
pub fn solve(graph: &EventGraph) -> Result<Solution, NoSpectrum> {
    let contracted = Contracted::of(graph);
    let small = solve_contracted(&contracted.graph);
    let mut solution = small.map_err(|refusal| contracted.expand_refusal(refusal))?;
    solution.certificate = contracted.expand_certificate(graph, &solution.certificate);
    if !solution.strongly_connected {
        let (inside, outside) = (contracted.graph.components(), graph.components());
        let mut ratios = vec![None; outside.count()];
        for node in 0..contracted.graph.nodes() {
            let component = outside.component(contracted.original(node));
            ratios[component] = solution.components[inside.component(node)];
        }
        solution.components = ratios;
    }
    Ok(solution)
}

fn solve_contracted(graph: &EventGraph) -> Result<Solution, NoSpectrum> {
    check_live(graph)?;
    let leaving = graph.leaving();
    let entering = graph.entering();
    let components = graph.components();
    let mut first = vec![usize::MAX; components.count()];
    for node in (0..graph.nodes()).rev() {
        first[components.component(node)] = node;
    }
    let mut layout = Layout::new(graph, &leaving, &entering);
    let mut iterations = 0;
    let mut ratios = Vec::with_capacity(components.count());
    let mut best: Option<(Fraction, Vec<usize>)> = None;
    let mut potential = vec![0_i128; graph.nodes()];
    for (component, &root) in first.iter().enumerate() {
        let local = layout.component(root, |node| components.component(node) == component);
        if local.arcs.is_empty() {
            ratios.push(None);
            continue;
        }
        let found = component_solution(&local);
        iterations += found.iterations;
        ratios.push(Some(found.ratio));
        for (&node, &value) in local.nodes.iter().zip(&found.values) {
            potential[node as usize] = value;
        }
        if best.as_ref().is_none_or(|(ratio, _)| found.ratio > *ratio) {
            best = Some((found.ratio, found.circuit));
        }
    }
    let Some((cycle_time, circuit)) = best else {
        return Err(NoSpectrum::NoCircuit);
    };
    let strongly_connected = components.count() == 1;
    if !strongly_connected {
        // Each component was solved for its own λ; raise all to one potential.
        potential = vec![0; graph.nodes()];
        let all = (0..graph.nodes()).collect();
        raise(graph, &leaving, cycle_time, &mut potential, all);
    }
    Ok(Solution {
        certificate: Certificate {
            cycle_time,
            potential,
            circuit,
        },
        components: ratios,
        strongly_connected,
        iterations,
    })
}

/// Raises values, from those in the queue on, until they are a potential for λ
/// wherever these lead. λ must not be below any circuit's ratio.
pub(super) fn raise(
    graph: &EventGraph,
    leaving: &ArcsByNode,
    cycle_time: Fraction,
    potential: &mut [i128],
    mut queue: VecDeque<usize>,
) {
    let mut queued = vec![false; graph.nodes()];
    queue.iter().for_each(|&node| queued[node] = true);
    while let Some(node) = queue.pop_front() {
        queued[node] = false;
        for &place in leaving.of(node) {
            let arc = graph.arc(place as usize);
            let value = potential[node] + cycle_time.weigh(arc.time, arc.tokens);
            let to = arc.to as usize;
            if value > potential[to] {
                potential[to] = value;
                if !queued[to] {
                    queued[to] = true;
                    queue.push_back(to);
                }
            }
        }
    }
}

struct ComponentSolution {
    ratio: Fraction,
    values: Vec<i128>,
    circuit: Vec<usize>,
    iterations: u64,
}

/// Narrow integers where no sum can exceed them, wide ones elsewhere.
fn component_solution(local: &Local) -> ComponentSolution {
    let (mut time, mut tokens) = (0_u128, 0_u128);
    for arc in &local.arcs {
        time += u128::from(arc.time);
        tokens += u128::from(arc.tokens);
    }
    // λ's terms are at most `time` and `tokens`, so that no path weighs more
    // than time·tokens either way, and no value more than a few paths.
    if time * tokens < 1 << 58 {
        Iteration::<i64>::new(local).run()
    } else {
        Iteration::<i128>::new(local).run()
    }
}

trait Number: Copy + Default + Ord + Add<Output = Self> + TryFrom<i128> + Into<i128> {}

impl Number for i64 {}
impl Number for i128 {}

struct Iteration<'a, N> {
    local: &'a Local,
    /// The chosen entering arc of each node.
    policy: Vec<u32>,
    values: Vec<N>,
    weights: Vec<N>,
    /// All nodes, every one after its predecessor under the policy, roots of
    /// circuits first in their tree.
    order: Vec<u32>,
    /// The policy circuit that a node's predecessors lead to.
    circuit_of: Vec<u32>,
    circuits: Vec<PolicyCircuit>,
}

#[derive(Clone, Copy)]
struct PolicyCircuit {
    root: u32,
    ratio: Fraction,
}

const NONE: u32 = u32::MAX;

impl<'a, N: Number> Iteration<'a, N> {
    fn new(local: &'a Local) -> Iteration<'a, N> {
        let nodes = local.nodes.len();
        let policy = (0..nodes)
            .map(|node| {
                let entering = local.starts[node]..local.starts[node + 1];
                // Few tokens and much time make for a high ratio.
                entering
                    .min_by_key(|&arc| {
                        let arc = &local.arcs[arc as usize];
                        (arc.tokens, std::cmp::Reverse(arc.time))
                    })
                    .unwrap_or(NONE)
            })
            .collect();
        Iteration {
            local,
            policy,
            values: vec![N::default(); nodes],
            weights: vec![N::default(); local.arcs.len()],
            order: Vec::with_capacity(nodes),
            circuit_of: vec![NONE; nodes],
            circuits: Vec::new(),
        }
    }

    fn run(mut self) -> ComponentSolution {
        let mut ratio: Option<Fraction> = None;
        let mut iterations = 0;
        loop {
            iterations += 1;
            let best = self.find_circuits();
            if ratio != Some(best) {
                ratio = Some(best);
                for (weight, arc) in self.weights.iter_mut().zip(&self.local.arcs) {
                    let exact = N::try_from(best.weigh(arc.time, arc.tokens));
                    *weight = exact.unwrap_or_else(|_| unreachable!("chosen wide enough"));
                }
                self.values.fill(N::default());
            }
            self.evaluate(best);
            if !self.improve() {
                return ComponentSolution {
                    ratio: best,
                    circuit: self.circuit(best),
                    values: self.values.into_iter().map(Into::into).collect(),
                    iterations,
                };
            }
        }
    }

    fn predecessor(&self, node: u32) -> u32 {
        self.local.arcs[self.policy[node as usize] as usize].from
    }

    /// Finds the policy's circuits and an order in which to evaluate. Returns
    /// the best ratio.
    fn find_circuits(&mut self) -> Fraction {
        self.order.clear();
        self.circuits.clear();
        self.circuit_of.fill(NONE);
        const WALKING: u32 = NONE - 1;
        let mut walk: Vec<u32> = Vec::new();
        let mut best: Option<Fraction> = None;
        for start in 0..self.local.nodes.len() as u32 {
            if self.circuit_of[start as usize] != NONE {
                continue;
            }
            let mut node = start;
            while self.circuit_of[node as usize] == NONE {
                self.circuit_of[node as usize] = WALKING;
                walk.push(node);
                node = self.predecessor(node);
            }
            let mut circuit = self.circuit_of[node as usize];
            if circuit == WALKING {
                circuit = self.circuits.len() as u32;
                let ratio = self.ratio_through(node);
                if best.is_none_or(|best| ratio > best) {
                    best = Some(ratio);
                }
                // The node walked last has its whole circuit after it in the
                // order, so it is the one whose value is kept.
                let root = walk.last().copied().unwrap_or(node);
                self.circuits.push(PolicyCircuit { root, ratio });
            }
            while let Some(node) = walk.pop() {
                self.circuit_of[node as usize] = circuit;
                self.order.push(node);
            }
        }
        best.expect("every policy has a circuit")
    }

    fn ratio_through(&self, start: u32) -> Fraction {
        let (mut time, mut tokens) = (0, 0);
        let mut node = start;
        loop {
            let arc = &self.local.arcs[self.policy[node as usize] as usize];
            time += arc.time;
            tokens += arc.tokens;
            node = arc.from;
            if node == start {
                return Fraction::new(time, tokens);
            }
        }
    }

    /// The value of every node under the policy; nodes that lead to a worse
    /// circuit are first hung onto better ones.
    fn evaluate(&mut self, best: Fraction) {
        let mut all_good = true;
        for position in 0..self.order.len() {
            let node = self.order[position];
            let circuit = self.circuits[self.circuit_of[node as usize] as usize];
            if circuit.ratio != best {
                all_good = false;
                self.circuit_of[node as usize] = NONE;
            } else if node != circuit.root {
                self.follow(node);
            }
        }
        if !all_good {
            self.hang_the_rest();
        }
    }

    fn follow(&mut self, node: u32) {
        let arc = self.policy[node as usize] as usize;
        let from = self.local.arcs[arc].from as usize;
        self.values[node as usize] = self.values[from] + self.weights[arc];
    }

    /// Breadth-first from the nodes that have a value, against the arcs that
    /// enter the others; the component is strongly connected, so all are met.
    fn hang_the_rest(&mut self) {
        let nodes = self.local.nodes.len();
        let sources = self.local.arcs.iter().map(|arc| arc.from);
        let leaving = arcs_by_node(nodes, sources);
        let mut target = vec![0_u32; self.local.arcs.len()];
        for node in 0..nodes {
            target[self.local.starts[node] as usize..self.local.starts[node + 1] as usize]
                .fill(node as u32);
        }
        let mut met: Vec<u32> = (0..nodes as u32)
            .filter(|&node| self.circuit_of[node as usize] != NONE)
            .collect();
        let mut next = 0;
        while next < met.len() {
            for &arc in leaving.of(met[next] as usize) {
                let to = target[arc as usize];
                if self.circuit_of[to as usize] == NONE {
                    self.circuit_of[to as usize] = 0;
                    self.policy[to as usize] = arc;
                    self.follow(to);
                    met.push(to);
                }
            }
            next += 1;
        }
    }

    /// One sweep. Returns whether any node found a better entering arc.
    fn improve(&mut self) -> bool {
        let mut improved = false;
        for node in 0..self.local.nodes.len() {
            let mut value = self.values[node];
            let entering = self.local.starts[node] as usize..self.local.starts[node + 1] as usize;
            for arc in entering {
                let offer = self.values[self.local.arcs[arc].from as usize] + self.weights[arc];
                if offer > value {
                    value = offer;
                    self.policy[node] = arc as u32;
                    improved = true;
                }
            }
            self.values[node] = value;
        }
        improved
    }

    /// The places of a best circuit, in the direction of the tokens.
    fn circuit(&self, best: Fraction) -> Vec<usize> {
        let root = self
            .circuits
            .iter()
            .find(|circuit| circuit.ratio == best)
            .map_or(0, |circuit| circuit.root);
        let mut places = Vec::new();
        let mut node = root;
        loop {
            let arc = &self.local.arcs[self.policy[node as usize] as usize];
            places.push(arc.place as usize);
            node = arc.from;
            if node == root {
                places.reverse();
                return places;
            }
        }
    }
}
