//! The report on one placement of the delays, or on all of them.

use headway_core::bound::{gaps, worst_last_rest, worst_legitimate_at};
use headway_core::{Configuration, Process};

use super::reduced::{self, REDUCTIONS, ReducedAnswer};
use super::{Explicit, Instance, show};
use crate::control::{CheckError, Control, Limits};
use crate::report::{self, Figure, Property, Report, Trace, Worst};

#[cfg(test)]
mod tests;

const NAME: &str = "delay-relay";

/// Checks one instance: by cases, or state by state when `unreduced`.
///
/// ```
/// use headway_check::{Control, Limits, model::delay_relay::{self, Instance}};
/// let ring = Instance::uniform(6, 2, 3).unwrap();
/// let report = delay_relay::check(&ring, false, Limits::default(), &Control::default()).unwrap();
/// assert!(report.all_hold());
/// assert_eq!(report.states, 56_862);
/// ```
///
/// # Errors
///
/// When the instance is too large, or when stopped.
pub fn check(
    instance: &Instance,
    unreduced: bool,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    if unreduced {
        return check_unreduced(instance, limits, control);
    }
    let answer = reduced::explore(instance, limits, control)?;
    Ok(of_answer(instance, &answer))
}

fn of_answer(instance: &Instance, answer: &ReducedAnswer) -> Report {
    let run = |processes: &Vec<Process>| run_from(instance, processes);
    let mut properties = vec![
        Property::unless(
            "closure",
            "a round leads from every legitimate state to a legitimate state",
            answer.closure_violation.as_ref().map(|state| {
                let mut trace = run(state);
                trace.states.truncate(2);
                trace
            }),
        ),
        Property::unless(
            "convergence",
            "every run reaches a legitimate state",
            answer.diverging.as_ref().map(run),
        ),
        Property::new(
            "conserved",
            "no round changes the number of tokens (claim 1)",
            answer.conserved,
        ),
        Property::new(
            "one-queued",
            "from the end of round 1 on, no process has more than one token queued (claim 2)",
            answer.one_queued,
        ),
        Property::new(
            "tokens-move",
            "in a legitimate state every token moves in every round (D3)",
            answer.tokens_move,
        ),
    ];
    let mut figures = vec![("distribution", Figure::List(answer.distances.clone()))];
    let mean = report::mean(answer.distances.iter().map(|&n| n as f64));
    figures.extend(mean.map(|mean| ("mean", Figure::Real(mean))));
    figures.extend([
        (
            "placements_followed",
            Figure::Number(u128::from(answer.placements)),
        ),
        ("cases_followed", Figure::Number(u128::from(answer.cases))),
    ]);
    if answer.never > 0 {
        figures.push(("never", Figure::Number(answer.never)));
    }
    if let Some((rounds, _)) = &answer.worst_last_rest {
        properties.push(last_rest_property(instance, *rounds));
        figures.push(("worst_last_rest", Figure::Number(u128::from(*rounds))));
    }
    if let Some((rounds, _)) = &answer.worst {
        properties.extend(worst_property(instance, *rounds));
    }
    Report {
        model: NAME,
        instance: instance.describe(),
        scheduler: None,
        states: answer.states,
        legitimate: answer.legitimate,
        closure: answer.closure_violation.is_none(),
        convergence: answer.never == 0,
        properties,
        worst: answer.worst.as_ref().map(|(rounds, _)| Worst {
            steps: *rounds,
            moves: None,
            rounds: None,
        }),
        witness: answer.worst.as_ref().map(|(_, state)| run(state)),
        figures,
        reductions: REDUCTIONS.iter().map(|&text| text.to_owned()).collect(),
    }
}

/// The last rest found, against the closed form.
fn last_rest_property(instance: &Instance, found: u64) -> Property {
    let (m, d) = (instance.tokens() as u64, instance.separation());
    let Some(gap) = instance.widest_gap().filter(|_| instance.feasible()) else {
        return Property::new(
            "worst-last-rest",
            format!(
                "the last rest is after round {found}; no closed form: the ring is not feasible"
            ),
            true,
        );
    };
    let formula = worst_last_rest(m, d, gap);
    Property::new(
        "worst-last-rest",
        format!(
            "the last rest is after round {found}; (m-1)·d + max(L, d) - 1 gives {} with L = {gap}",
            formula.map_or("none".to_owned(), |rounds| rounds.to_string())
        ),
        formula == Some(found),
    )
}

/// The worst case found, against the closed form.
fn worst_property(instance: &Instance, found: u64) -> Option<Property> {
    let (n, m) = (instance.processes() as u64, instance.tokens() as u64);
    let delays: Vec<u64> = instance.ring().delays().map(|delay| delay as u64).collect();
    let formula = worst_legitimate_at(m, instance.separation(), gaps(delays, n))
        .filter(|_| instance.feasible())?;
    Some(Property::new(
        "worst-legitimate-at",
        format!(
            "the slowest state takes {found} rounds; (m-1)·d - 1 + max over gaps g of (max(g, d) \
             + max(1, d-1-g)) gives {formula}"
        ),
        formula == found,
    ))
}

fn check_unreduced(
    instance: &Instance,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    let model = Explicit::new(instance.clone())?;
    let answer = crate::function::explore(&model, limits, control)?;
    let start = |rank| {
        let state = crate::Model::state(&model, rank);
        Some(configuration(instance, model.processes(&state)))
    };
    Ok(report::of_function(
        &model,
        NAME,
        instance.describe(),
        &answer,
        start,
    ))
}

fn configuration(
    instance: &Instance,
    processes: &[Process],
) -> (headway_core::Ring, Configuration) {
    let configuration = Configuration::from(processes.to_vec());
    (instance.ring().clone(), configuration)
}

/// The run from a state to the first legitimate one, or once round its cycle.
fn run_from(instance: &Instance, processes: &[Process]) -> Trace {
    let (ring, mut state) = configuration(instance, processes);
    let start = state.clone();
    let mut seen: Vec<Configuration> = Vec::new();
    let mut repeats_from = None;
    loop {
        if let Some(index) = seen.iter().position(|old| *old == state) {
            repeats_from = Some(index);
            break;
        }
        seen.push(state.clone());
        if ring.legitimate(&state, instance.tokens() as u64).is_ok() {
            break;
        }
        ring.round(&mut state);
    }
    Trace {
        states: seen
            .iter()
            .map(|state| show(&state.processes, &ring))
            .collect(),
        repeats_from,
        start: Some((ring, start)),
    }
}

/// Checks every non-empty set of delays, one per rotation, and sums up.
///
/// The report's states and legitimate states are totals over the placements
/// checked; the worst case is the worst of all, with its witness.
///
/// # Errors
///
/// As [`check`]; also with more than 24 processes.
pub fn all_placements(
    processes: usize,
    tokens: usize,
    separation: u32,
    unreduced: bool,
    limits: Limits,
    control: &Control,
) -> Result<Report, CheckError> {
    if processes > 24 {
        return Err(CheckError::TooLarge {
            what: format!(
                "about {} placements",
                (1_u64 << processes.min(63)) / processes as u64
            ),
            need: "checking each".into(),
            fits: "24 processes".into(),
        });
    }
    let mut placements = 0_u128;
    let mut total: Option<Report> = None;
    for set in (1..1_u64 << processes).filter(|&set| is_first_rotation(set, processes)) {
        placements += 1;
        let delays = crate::schedule::bits(set);
        let instance = Instance::with_delays(processes, tokens, separation, delays)?;
        let report = check(&instance, unreduced, limits, control)?;
        total = Some(match total {
            None => report,
            Some(total) => combine(total, report),
        });
    }
    let mut total =
        total.ok_or_else(|| CheckError::instance("a ring needs at least one process"))?;
    total.instance = format!(
        "{processes} processes, {tokens} tokens, separation {separation}, all {placements} \
         placements of delays up to rotation"
    );
    total
        .figures
        .retain(|(name, _)| *name == "worst_last_rest" || *name == "never");
    total
        .figures
        .push(("placements", Figure::Number(placements)));
    Ok(total)
}

/// Whether a set of places is the smallest number among its turns.
fn is_first_rotation(set: u64, processes: usize) -> bool {
    let size = 1 << processes;
    // Twice, side by side: every turn is `processes` neighbouring bits of that.
    let twice = set * (size + 1);
    (1..processes).all(|turn| (twice >> turn) % size >= set)
}

fn combine(mut total: Report, other: Report) -> Report {
    total.states += other.states;
    total.legitimate += other.legitimate;
    total.closure &= other.closure;
    total.convergence &= other.convergence;
    // Keep one entry per property: the first that fails, else the last seen.
    for theirs in other.properties {
        match total
            .properties
            .iter_mut()
            .find(|mine| mine.name == theirs.name)
        {
            Some(mine) if mine.holds => {
                *mine = Property {
                    says: if theirs.holds {
                        mine.says.clone()
                    } else {
                        theirs.says
                    },
                    ..theirs
                };
            }
            Some(_) => {}
            None => total.properties.push(theirs),
        }
    }
    let slower = match (&total.worst, &other.worst) {
        (Some(mine), Some(theirs)) => theirs.steps > mine.steps,
        _ => false,
    };
    if slower {
        total.witness = other.witness;
        total.worst = other.worst;
    } else if other.worst.is_none() {
        total.worst = None;
        total.witness = None;
    }
    for (name, figure) in other.figures {
        let (Figure::Number(theirs), Some((_, Figure::Number(mine)))) = (
            &figure,
            total.figures.iter_mut().find(|(mine, _)| *mine == name),
        ) else {
            if name == "never" {
                total.figures.push((name, figure));
            }
            continue;
        };
        *mine = if name == "never" {
            *mine + theirs
        } else {
            (*mine).max(*theirs)
        };
    }
    total
}
