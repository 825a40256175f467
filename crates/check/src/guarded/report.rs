//! The report on a guarded model.

use std::borrow::Cow;

use super::{GuardedAnswer, explore};
use crate::control::Control;
use crate::error::Result;
use crate::report::{Figures, Lasso, Property, Report, Worst};
use crate::schedule::Scheduler;
use crate::traits::Guarded;

/// Explores a model and reports on it.
pub(crate) fn report<M: Guarded>(
    model: &M,
    name: &'static str,
    instance: String,
    scheduler: Scheduler,
    control: &Control,
) -> Result<Report> {
    let answer = explore(model, scheduler, control)?;
    Ok(report_on(model, name.into(), instance, scheduler, answer))
}

/// Reports on what was found.
pub(crate) fn report_on<M: Guarded>(
    model: &M,
    name: Cow<'static, str>,
    instance: String,
    scheduler: Scheduler,
    answer: GuardedAnswer,
) -> Report {
    let path = |ranks: Vec<u64>| Lasso::path(ranks).trace(model);
    let divergence = answer.divergence.as_ref();
    let properties = vec![
        Property::closed(answer.closure_violation.map(|(a, b)| path(vec![a, b]))),
        Property::unless(
            "convergence",
            match divergence {
                Some(lasso) if lasso.cycle.is_empty() => {
                    "a run stops in a state that is not legitimate"
                }
                _ => "every run reaches a legitimate state, however unfair the scheduler",
            },
            divergence.map(|lasso| lasso.trace(model)),
        ),
        Property::unless(
            "no-deadlock",
            "in every legitimate state some process is enabled",
            answer.legitimate_deadlock.map(|rank| path(vec![rank])),
        ),
    ];
    Report {
        model: name,
        instance,
        scheduler: Some(scheduler),
        states: answer.states.into(),
        legitimate: answer.legitimate.into(),
        properties,
        worst: answer.worst.map(|worst| Worst {
            steps: worst.steps,
            moves: Some(worst.moves),
            rounds: worst.rounds,
        }),
        witness: answer.worst.map(|_| path(answer.slowest)),
        figures: Figures {
            mean: answer
                .worst
                .map(|worst| worst.total_steps as f64 / answer.states as f64),
            diverging: (answer.diverging > 0).then_some(answer.diverging),
            ..Figures::default()
        },
        ..Report::default()
    }
}
