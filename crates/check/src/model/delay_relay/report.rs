//! The report on one placement of the delays.

use headway_core::bound::{gaps, worst_last_rest, worst_legitimate_at};
use headway_core::{Configuration, Process, Ring};

use super::reduced::{self, REDUCTIONS, ReducedAnswer};
use super::{Explicit, Instance, piles, show};
use crate::control::Control;
use crate::error::Result;
use crate::function;
use crate::model::Search;
use crate::protocol::built_in::{self, AsFile};
use crate::report::{Figure, Property, Report, Trace, Worst, distribution};
use crate::traits::Model;

const NAME: &str = "delay-relay";

/// Checks one instance: by cases, or state by state.
///
/// ```
/// use headway_check::{Control, Search, model::delay_relay::{self, Instance}};
/// let ring = Instance::uniform(6, 2, 3).unwrap();
/// let report = delay_relay::check(&ring, Search::Reduced, &Control::default()).unwrap();
/// assert!(report.all_hold());
/// assert_eq!(report.states, 56_862_u32.into());
/// ```
///
/// # Errors
///
/// When the instance is too large, or when stopped.
pub fn check(instance: &Instance, search: Search, control: &Control) -> Result<Report> {
    let own = by_own_engines(instance, search, control);
    if search == Search::EveryState || !instance.feasible() {
        return own;
    }
    let delays = instance.ring().delays();
    let who: Vec<String> = delays.map(|place| format!("p = {place}")).collect();
    let who = format!("delays(p) = {}", who.join(" or "));
    let file = AsFile {
        model: NAME,
        instance: &instance.to_string(),
        text: &built_in::DELAY_RELAY.replace("delays(p) = true", &who),
        set: &[
            ("n", instance.processes() as i64),
            ("m", instance.tokens() as i64),
            ("d", instance.separation().into()),
        ],
        scheduler: None,
    };
    built_in::or_by_diagrams(own, &file, control)
}

/// Without decision diagrams.
pub(super) fn by_own_engines(
    instance: &Instance,
    search: Search,
    control: &Control,
) -> Result<Report> {
    match search {
        Search::Reduced => {
            let (answer, reductions) = if piles::applies(instance) {
                let reductions = vec![REDUCTIONS[0], REDUCTIONS[1], piles::REDUCTION];
                (piles::explore(instance, control)?, reductions)
            } else {
                let answer = reduced::explore(instance, control)?;
                (answer, REDUCTIONS.to_vec())
            };
            let reductions = reductions.into_iter().map(str::to_owned).collect();
            Ok(Report {
                reductions,
                ..report(instance, answer)
            })
        }
        Search::EveryState => {
            let model = Explicit::new(instance.clone())?;
            let start = |rank| Some(configuration(instance, model.processes(&model.state(rank))));
            function::report(&model, NAME, instance.to_string(), control, start)
        }
    }
}

fn report(instance: &Instance, answer: ReducedAnswer) -> Report {
    let run = |processes: &Vec<Process>| run_from(instance, processes);
    let mut properties = vec![
        Property::closed_in_rounds(answer.closure_violation.as_ref().map(|state| {
            let mut trace = run(state);
            trace.states.truncate(2);
            trace
        })),
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
    let mut figures: Vec<_> = distribution(answer.distances, answer.never).collect();
    if answer.placements > 0 {
        figures.push(("placements_followed", Figure::Number(answer.placements)));
    }
    figures.push(("cases_followed", Figure::Number(answer.cases)));
    if let Some((rounds, _)) = answer.worst_last_rest {
        properties.push(last_rest_property(instance, rounds));
        figures.push(("worst_last_rest", Figure::Number(rounds)));
    }
    if let Some((rounds, _)) = answer.worst {
        properties.extend(worst_property(instance, rounds));
    }
    let worst = answer.worst.as_ref();
    Report {
        model: NAME.into(),
        instance: instance.to_string(),
        states: answer.states,
        legitimate: answer.legitimate,
        properties,
        worst: worst.map(|(rounds, _)| Worst::in_rounds(*rounds)),
        witness: worst.map(|(_, state)| run(state)),
        figures,
        ..Report::default()
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

fn configuration(instance: &Instance, processes: &[Process]) -> (Ring, Configuration) {
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
