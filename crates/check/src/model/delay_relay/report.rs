//! The report on one placement of the delays.

use headway_core::bound::{gaps, worst_last_rest, worst_legitimate_at};
use headway_core::{Configuration, Process, Ring};

use super::all_placements::check_all;
use super::reduced::{self, REDUCTIONS, ReducedAnswer};
use super::{Explicit, Instance, Settings, piles, show};
use crate::control::Control;
use crate::error::Result;
use crate::function;
use crate::protocol::built_in::{self, AsFile};
use crate::report::{Figures, Property, Report, Trace, Worst};

const NAME: &str = "delay-relay";

/// Checks a ring of delays and relays, or all of one size.
///
/// ```
/// use headway_check::{Control, model::delay_relay::{self, Settings}};
/// let ring = Settings { processes: 6, tokens: 2.into(), ..Settings::default() };
/// let report = delay_relay::check(&ring, &Control::default()).unwrap();
/// assert!(report.all_hold());
/// assert_eq!(report.states, 56_862_u32.into());
/// ```
///
/// # Errors
///
/// When a setting is out of its range or the ring is too large, or when stopped.
pub fn check(settings: &Settings, control: &Control) -> Result<Report> {
    if settings.all_placements {
        return check_all(settings, control);
    }
    let instance = settings.instance()?;
    if settings.unreduced {
        return check_every_state(&instance, control);
    }
    let own = check_by_cases(&instance, control);
    if !instance.feasible() {
        return own;
    }
    built_in::or_by_diagrams(own, &as_file(&instance), control)
}

pub(in crate::model) fn file(settings: &Settings) -> Result<AsFile> {
    Ok(as_file(&settings.instance()?))
}

impl Settings {
    fn instance(&self) -> Result<Instance> {
        let (tokens, separation) = (self.tokens, self.separation);
        Instance::of(self.processes, tokens, separation, &self.delays)
    }
}

fn as_file(instance: &Instance) -> AsFile {
    let delays = instance.ring().delays();
    let who: Vec<String> = delays.map(|place| format!("p = {place}")).collect();
    let who = match who.is_empty() {
        true => "false".to_owned(),
        false => who.join(" or "),
    };
    let text = built_in::DELAY_RELAY;
    AsFile {
        model: NAME,
        instance: instance.to_string(),
        text: text
            .replace("delays(p) = true", &format!("delays(p) = {who}"))
            .into(),
        set: vec![
            ("n", instance.processes() as i64),
            ("m", instance.tokens() as i64),
            ("d", instance.separation().into()),
        ],
        scheduler: None,
    }
}

/// Checks one instance by cases, or by piles where that is possible.
///
/// # Errors
///
/// When the instance is too large, or when stopped.
pub fn check_by_cases(instance: &Instance, control: &Control) -> Result<Report> {
    let (answer, reductions) = if piles::applies(instance) {
        let reductions = vec![REDUCTIONS[0], REDUCTIONS[1], piles::REDUCTION];
        (piles::explore(instance, control)?, reductions)
    } else {
        (reduced::explore(instance, control)?, REDUCTIONS.to_vec())
    };
    let reductions = reductions.into_iter().map(str::to_owned).collect();
    Ok(Report {
        reductions,
        ..report(instance, answer)
    })
}

/// Checks one instance state by state.
///
/// # Errors
///
/// When the instance is too large, or when stopped.
pub fn check_every_state(instance: &Instance, control: &Control) -> Result<Report> {
    let model = Explicit::new(instance)?;
    let start = |rank| Some(model.start(rank));
    function::report(&model, NAME, instance.to_string(), control, start)
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
    let last_rest = answer.worst_last_rest.as_ref().map(|(rounds, _)| *rounds);
    let figures = Figures {
        placements_followed: (answer.placements > 0).then_some(answer.placements),
        cases_followed: Some(answer.cases),
        worst_last_rest: last_rest,
        ..Figures::of_distances(answer.distances, answer.never)
    };
    if let Some(rounds) = last_rest {
        properties.push(last_rest_property(instance, rounds));
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
