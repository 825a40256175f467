//! Shortest runs that never become legitimate, under an unfair and under a fair scheduler.
//!
//! Every state is initial, so a shortest such run is a state in which nobody can move, or a
//! cycle. A weakly fair scheduler selects in the end who can always move: on a cycle that it
//! allows every process moves, or cannot move somewhere. A strongly connected part of the
//! states has such a cycle exactly if it has such a step or such a state for every process,
//! because the walk through all of it is one.

use std::collections::HashSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::Exploration;
use crate::control::Control;
use crate::error::{Result, TooLarge};
use crate::report::Lasso;
use crate::schedule::Scheduler;
use crate::traits::Guarded;

/// The states from which some run never becomes legitimate, and the steps between them.
/// Where one state of a model stands for several, its cycles are of those.
#[derive(Clone, Debug)]
pub struct Divergences {
    /// Nodes have the rank and the processes that can move, edges those that do.
    graph: DiGraph<(u64, u64), u64>,
    /// The strongly connected parts that have a cycle, states ascending.
    parts: Vec<Vec<NodeIndex>>,
}

/// What petgraph keeps of a step.
const BYTES_PER_STEP: u64 = 24;

impl Divergences {
    /// Explores every state of a model under a scheduler.
    ///
    /// # Errors
    ///
    /// As [`super::explore`], and when the steps do not fit the memory.
    pub fn new<M: Guarded>(
        model: &M,
        scheduler: Scheduler,
        control: &Control,
    ) -> Result<Divergences> {
        let exploration = Exploration::new(model, scheduler, control)?;
        exploration.run()?;
        let left = exploration.left();
        let mut graph = DiGraph::with_capacity(left.len(), 0);
        for &rank in &left {
            let rank = u64::from(rank);
            graph.add_node((rank, exploration.moves(rank).enabled));
        }
        let room = control.limits.memory_bytes / BYTES_PER_STEP;
        for (place, &rank) in left.iter().enumerate() {
            let rank = u64::from(rank);
            exploration.each_step(rank, &exploration.moves(rank), |selected, after| {
                if let Ok(to) = left.binary_search(&(after as u32)) {
                    graph.add_edge(NodeIndex::new(place), NodeIndex::new(to), selected);
                }
                false
            });
            TooLarge::bound("steps", graph.edge_count(), room)?;
            control.go_on(|| format!("{} states never settle", left.len()))?;
        }
        let mut parts = kosaraju_scc(&graph);
        parts.retain(|part| part.len() > 1 || graph.contains_edge(part[0], part[0]));
        for part in &mut parts {
            part.sort_unstable();
        }
        Ok(Divergences { graph, parts })
    }

    /// Whether some run never becomes legitimate, among all or among the weakly fair ones.
    pub fn any(&self, fair: bool) -> bool {
        self.dead_end().is_some() || self.parts.iter().any(|part| !fair || self.is_fair(part))
    }

    /// A shortest of them; `None` if there is none, or none was found in so many steps.
    pub fn shortest(&self, fair: bool, mut work: u64) -> Option<Lasso> {
        if let Some(end) = self.dead_end() {
            return Some(Lasso::path(vec![self.graph[end].0]));
        }
        let mut best = None;
        let parts = self.parts.iter();
        for part in parts.filter(|part| !fair || self.is_fair(part)) {
            for &start in part {
                let limit = best.as_ref().map_or(usize::MAX, Vec::len);
                match self.shortest_from(start, part, fair, limit, &mut work) {
                    Some(cycle) => best = Some(cycle),
                    None if work == 0 => return None,
                    None => {}
                }
            }
        }
        best.map(|cycle| Lasso::new(cycle, Some(0)))
    }

    fn dead_end(&self) -> Option<NodeIndex> {
        let mut states = self.graph.node_indices();
        states.find(|&state| self.graph[state].1 == 0)
    }

    fn is_fair(&self, part: &[NodeIndex]) -> bool {
        let inside = |state: &NodeIndex| part.binary_search(state).is_ok();
        let waiting = part.iter().fold(u64::MAX, |waiting, &state| {
            let steps = self.graph.edges(state);
            let moved = steps.filter(|step| inside(&step.target()));
            let moved = moved.fold(0, |moved, step| moved | step.weight());
            waiting & self.graph[state].1 & !moved
        });
        // Who is still waited for was not selected anywhere and can move everywhere.
        waiting == 0
    }

    /// A cycle of fewer than `limit` states whose lowest is `start`, breadth first over
    /// states and the processes that were selected or could not move.
    fn shortest_from(
        &self,
        start: NodeIndex,
        part: &[NodeIndex],
        fair: bool,
        limit: usize,
        work: &mut u64,
    ) -> Option<Vec<u64>> {
        let served = |state: NodeIndex| if fair { !self.graph[state].1 } else { u64::MAX };
        // State, processes served, from which place, after how many steps.
        let mut found = vec![(start, served(start), 0, 0)];
        let mut known = HashSet::from([(start, served(start))]);
        let mut place = 0;
        while let Some(&(state, already, _, length)) = found.get(place) {
            if length + 1 >= limit {
                return None;
            }
            for step in self.graph.edges(state) {
                *work = work.checked_sub(1)?;
                let to = step.target();
                if to < start || part.binary_search(&to).is_err() {
                    continue;
                }
                let already = already | step.weight() | served(to);
                if to == start && already == u64::MAX {
                    let back =
                        std::iter::successors(Some(place), |&at| (at > 0).then(|| found[at].2));
                    let mut cycle: Vec<u64> = back.map(|at| self.graph[found[at].0].0).collect();
                    cycle.reverse();
                    return Some(cycle);
                }
                if known.insert((to, already)) {
                    found.push((to, already, place, length + 1));
                }
            }
            place += 1;
        }
        None
    }
}
