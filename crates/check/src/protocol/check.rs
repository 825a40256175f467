//! The report on a protocol file.

use rayon::prelude::*;
use strum::{Display, EnumMessage, EnumString, VariantArray};

use super::{Compiled, Protocol, Rule};
use crate::chance::{self, ChanceAnswer, Chances, Lottery};
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::report::{Figures, Lasso, Property, Report, Trace};
use crate::traits::Model;
use crate::{Scheduler, guarded};

/// Checks a protocol under a scheduler: the one given, or [`Protocol::scheduler`].
///
/// ```
/// use headway_check::{Control, protocol::{self, Protocol}};
/// let text = "
///   graph ring(4)
///   variable x: 0..3
///   process 0: bump: x = x[left] -> x := (x + 1) mod 4
///   process others: copy: x != x[left] -> x := x[left]
///   legitimate: (count p in processes: enabled(p)) = 1";
/// let ring = Protocol::parse(text, &[]).unwrap();
/// let report = protocol::check(&ring, None, &Control::default()).unwrap();
/// assert_eq!(report.worst.unwrap().steps, 13);
/// ```
///
/// # Errors
///
/// When there are too many states, an action leaves a domain, or when stopped.
pub fn check(
    protocol: &Protocol,
    scheduler: Option<Scheduler>,
    control: &Control,
) -> Result<Report> {
    check_with(Engine::Auto, protocol, scheduler, control)
}

/// How states are explored.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumMessage, EnumString, VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum Engine {
    /// One by one where they fit, otherwise by decision diagrams.
    #[default]
    Auto,
    /// One by one.
    Explicit,
    /// By decision diagrams: needs a build with --features symbolic, and knows no moves, no
    /// chance, and not the locally central scheduler.
    Symbolic,
}

/// [`check`] with a certain engine.
///
/// # Errors
///
/// As [`check`]; also when the engine is not there.
pub fn check_with(
    engine: Engine,
    protocol: &Protocol,
    scheduler: Option<Scheduler>,
    control: &Control,
) -> Result<Report> {
    let scheduler = scheduler.unwrap_or(protocol.scheduler());
    protocol.runs_under(scheduler)?;
    let states = protocol.states();
    let fits = guarded::fits(&states, protocol.graph().len(), scheduler, control);
    let built = cfg!(feature = "symbolic");
    let can = built && !protocol.is_random() && scheduler != Scheduler::LocallyCentral;
    let (engine, why) = match engine {
        // What does not fit is refused there, with the reason.
        Engine::Auto if fits || !can => (Engine::Explicit, "fit the memory and the time"),
        Engine::Auto => (Engine::Symbolic, "are too many to visit"),
        Engine::Symbolic if !built => {
            return Err(CheckError::settings(
                "this build knows no decision diagrams: build it with --features symbolic",
            ));
        }
        asked => (asked, "to explore, as asked"),
    };
    let mut report = if engine == Engine::Symbolic {
        by_diagrams(protocol, scheduler, control)?
    } else {
        state_by_state(protocol, scheduler, control)?
    };
    let name = if engine == Engine::Symbolic {
        "decision diagrams"
    } else {
        "state by state"
    };
    let says = format!("{name}; {states} combinations of values {why}");
    report.figures.engine = Some(says);
    Ok(report)
}

#[cfg(not(feature = "symbolic"))]
fn by_diagrams(_: &Protocol, _: Scheduler, _: &Control) -> Result<Report> {
    unreachable!("chosen only in a build that has them")
}

#[cfg(feature = "symbolic")]
fn by_diagrams(protocol: &Protocol, scheduler: Scheduler, control: &Control) -> Result<Report> {
    use crate::report::Worst;
    let found = super::symbolic::explore(protocol, scheduler, control)?;
    let trace = |states: &[Vec<i32>], repeats_from| Trace {
        repeats_from,
        ..Trace::new(states.iter().map(|state| protocol.show(state)))
    };
    let step = |step: &Option<[Vec<i32>; 2]>| step.as_ref().map(|step| trace(step, None));
    let mut properties = vec![
        Property::closed(step(&found.closure_violation)),
        Property::unless(
            "convergence",
            "every run reaches a legitimate state, however unfair the scheduler",
            found
                .divergence
                .as_ref()
                .map(|(states, from)| trace(states, *from)),
        ),
    ];
    if protocol.given.is_some() {
        properties.push(Property::unless(GIVEN.0, GIVEN.1, step(&found.strays)));
    }
    for (rule, broken) in protocol.rules.iter().zip(found.broken) {
        properties.push(rule_property(
            rule,
            broken.map(|state| trace(&[state], None)),
        ));
    }
    let converges = found.divergence.is_none();
    Ok(Report {
        model: protocol.title().unwrap_or("protocol").to_owned().into(),
        instance: protocol.instance(),
        scheduler: Some(scheduler),
        states: found.states,
        legitimate: found.legitimate,
        properties,
        worst: converges.then(|| Worst {
            steps: found.layers.len() as u64 - 1,
            moves: None,
            rounds: None,
        }),
        witness: converges.then(|| trace(&found.slowest, None)),
        figures: Figures {
            layers: Some(found.layers),
            diverging_states: (!converges).then_some(found.diverging),
            diagram_nodes: Some(found.nodes as u64),
            ..Figures::default()
        },
        ..Report::default()
    })
}

const GIVEN: (&str, &str) = ("given", "no step leaves the states that are given");

fn rule_property(rule: &Rule, broken: Option<Trace>) -> Property {
    let of = if rule.everywhere {
        "every state"
    } else {
        "every legitimate state"
    };
    let says = format!("as the file says, of {of}");
    Property::unless(rule.name.clone(), says, broken)
}

fn state_by_state(protocol: &Protocol, scheduler: Scheduler, control: &Control) -> Result<Report> {
    let model = Compiled::new(protocol)?;
    let answer = guarded::explore(&model, scheduler, control)?;
    model.kept_domains()?;
    let strays = answer.strays;
    let name = protocol.title().unwrap_or("protocol").to_owned();
    let mut report =
        guarded::report_on(&model, name.into(), protocol.instance(), scheduler, answer);
    // A silent protocol has no step left when it is legitimate, and need not have one.
    report
        .properties
        .retain(|property| property.name != "no-deadlock");
    let path = |ranks: Vec<u64>| Lasso::path(ranks).trace(&model);
    if protocol.given.is_some() {
        let strays = strays.map(|(from, to)| path(vec![from, to]));
        report
            .properties
            .push(Property::unless(GIVEN.0, GIVEN.1, strays));
    }
    if protocol.is_random() {
        let found = chance::explore(&model, scheduler, control)?;
        by_chance(&model, &found, &mut report);
    }
    for rule in &protocol.rules {
        let broken = first_broken(&model, rule).map(|rank| path(vec![rank]));
        report.properties.push(rule_property(rule, broken));
    }
    Ok(report)
}

fn first_broken(model: &Compiled<'_>, rule: &Rule) -> Option<u64> {
    let holds = rule.holds.tabulated(&model.protocol().bounds());
    let concerns = |state: &_| model.exists(state) && (rule.everywhere || model.legitimate(state));
    let broken = |rank: &u64| {
        let state = model.state(*rank);
        concerns(&state) && !holds.holds(state.as_ref())
    };
    (0..model.states()).into_par_iter().find_first(broken)
}

/// Convergence is with probability 1 where chance decides, and the worst case an average.
fn by_chance(model: &Compiled<'_>, found: &ChanceAnswer, report: &mut Report) {
    let certain = report.worst.take();
    let convergence = Property::unless(
        "convergence",
        "every run reaches a legitimate state with probability 1, whatever the scheduler does",
        found.avoided.as_ref().map(|lasso| lasso.trace(model)),
    );
    let mut properties = report.properties.iter_mut();
    if let Some(old) = properties.find(|property| property.name == "convergence") {
        *old = convergence;
    }
    report.witness = None;
    // Without luck it may converge too: then there is a bound on the steps.
    report.figures = Figures {
        diverging: (found.avoiding > 0).then_some(found.avoiding),
        certain_steps: certain.map(|worst| worst.steps),
        ..Figures::default()
    };
    if let Some(slowest) = found.slowest() {
        let (rank, interval) = found.expected[slowest];
        report.witness = Some(Lasso::path(vec![rank]).trace(model));
        let all = found.expected.iter();
        let total: f64 = all
            .map(|(_, bounds)| (bounds.low + bounds.high) / 2.0)
            .sum();
        report.figures.mean = report
            .states
            .to_string()
            .parse()
            .ok()
            .map(|n: f64| total / n);
        let exact = found.exact.as_ref();
        report.figures.expected_steps_exact = exact.map(|exact| exact[slowest].to_string());
        report.figures.expected_steps_low = Some(interval.low);
        report.figures.expected_steps_high = Some(interval.high);
    }
}

impl Chances for Compiled<'_> {
    fn lotteries(&self, rank: u64, each: &mut dyn FnMut(usize, Lottery)) {
        self.each_choice(rank, |process, _, effects| {
            let outcome = |effect: &super::model::Effect| {
                let (p, q) = effect.chance;
                (effect.difference.unwrap_or(0), (p.into(), q.into()))
            };
            each(process, effects.iter().map(outcome).collect());
        });
    }
}
