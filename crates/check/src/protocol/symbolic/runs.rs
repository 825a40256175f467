//! Single steps between states that are given by values.

use super::super::Protocol;
use crate::Scheduler;
use crate::schedule::bits;

/// The first successor that is wanted.
pub(super) fn successor(
    protocol: &Protocol,
    scheduler: Scheduler,
    state: &[i32],
    wanted: impl Fn(&[i32]) -> bool,
) -> Option<Vec<i32>> {
    // By process, what each of its enabled actions assigns.
    let moves: Vec<Vec<Vec<(usize, i32)>>> = protocol
        .processes
        .iter()
        .map(|actions| {
            let enabled = actions.iter().filter(|action| action.guard.holds(state));
            let outcomes = enabled.flat_map(|action| &action.outcomes);
            let values = outcomes.map(|outcome| {
                let assigned = outcome.assignments.iter();
                assigned
                    .map(|(variable, node)| (*variable, node.value(state)))
                    .collect()
            });
            values.collect()
        })
        .collect();
    let set = |set: u64, (process, moves): (usize, &Vec<_>)| {
        set | u64::from(!moves.is_empty()) << process
    };
    let enabled = moves.iter().enumerate().fold(0, set);
    let graph = protocol.graph();
    let neighbours = |process: usize| {
        graph
            .neighbours(process)
            .iter()
            .fold(0, |set, &i| set | 1 << i)
    };
    let mut selections = scheduler.selections(enabled, neighbours);
    selections.find_map(|selected| {
        let mut all = vec![state.to_vec()];
        for process in bits(selected) {
            let each = all.iter().flat_map(|state| {
                moves[process].iter().map(|assigned| {
                    let mut after = state.clone();
                    assigned
                        .iter()
                        .for_each(|&(variable, value)| after[variable] = value);
                    after
                })
            });
            all = each.collect();
        }
        all.into_iter().find(|after| wanted(after))
    })
}
