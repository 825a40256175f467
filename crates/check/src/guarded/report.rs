//! The report on a guarded model.

use super::explore;
use crate::control::{CheckError, Control, Limits};
use crate::function::Lasso;
use crate::report::{Property, Report, Trace, Worst};
use crate::schedule::Scheduler;
use crate::traits::Guarded;

/// Explores a model and reports on it.
pub(crate) fn report<M: Guarded>(
    model: &M,
    name: &'static str,
    instance: String,
    scheduler: Scheduler,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let answer = explore(model, scheduler, limits, control)?;
    let closure = answer.closure_violation.map(|(from, to)| {
        let stem = vec![from, to];
        Trace::of_ranks(
            model,
            &Lasso {
                stem,
                cycle: Vec::new(),
            },
        )
    });
    let alive = answer.legitimate_deadlock.map(|rank| {
        let stem = vec![rank];
        Trace::of_ranks(
            model,
            &Lasso {
                stem,
                cycle: Vec::new(),
            },
        )
    });
    let divergence = answer.divergence.as_ref();
    let properties = vec![
        Property::unless(
            "closure",
            "every step from a legitimate state leads to a legitimate state",
            closure,
        ),
        Property::unless(
            "convergence",
            match divergence {
                Some(lasso) if lasso.cycle.is_empty() => {
                    "a run stops in a state that is not legitimate"
                }
                _ => "every run reaches a legitimate state, however unfair the scheduler",
            },
            divergence.map(|lasso| Trace::of_ranks(model, lasso)),
        ),
        Property::unless(
            "no-deadlock",
            "in every legitimate state some process is enabled",
            alive,
        ),
    ];
    Ok(Report {
        model: name,
        instance,
        scheduler: Some(scheduler),
        states: u128::from(answer.states),
        legitimate: u128::from(answer.legitimate),
        closure: answer.closure_violation.is_none(),
        convergence: answer.divergence.is_none(),
        properties,
        worst: answer.worst.map(|worst| Worst {
            steps: worst.steps,
            moves: Some(worst.moves),
            rounds: worst.rounds,
        }),
        witness: answer.worst.map(|_| {
            let stem = answer.slowest.clone();
            Trace::of_ranks(
                model,
                &Lasso {
                    stem,
                    cycle: Vec::new(),
                },
            )
        }),
        figures: if answer.diverging > 0 {
            vec![(
                "diverging",
                crate::Figure::Number(u128::from(answer.diverging)),
            )]
        } else {
            Vec::new()
        },
        reductions: Vec::new(),
    })
}
