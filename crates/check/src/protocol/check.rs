//! The report on a protocol file.

use rayon::prelude::*;

use super::{Compiled, Protocol, Rule};
use crate::chance::{self, ChanceAnswer, Chances, Lottery};
use crate::control::{Control, Limits};
use crate::error::{CheckError, Result};
use crate::report::{Figure, Lasso, Property, Report};
use crate::traits::Model;
use crate::{Scheduler, guarded};

/// Checks a protocol under a scheduler: the one given, or the file's, or the distributed
/// one.
///
/// ```
/// use headway_check::{Control, Limits, protocol::{self, Protocol}};
/// let text = "
///   graph ring(4)
///   variable x: 0..3
///   process 0: bump: x = x[left] -> x := (x + 1) mod 4
///   process others: copy: x != x[left] -> x := x[left]
///   legitimate: (count p in processes: enabled(p)) = 1";
/// let ring = Protocol::parse(text, &[]).unwrap();
/// let report = protocol::check(&ring, None, Limits::default(), &Control::default()).unwrap();
/// assert_eq!(report.worst.unwrap().steps, 13);
/// ```
///
/// # Errors
///
/// When there are too many states, an action leaves a domain, or when stopped.
pub fn check(
    protocol: &Protocol,
    scheduler: Option<Scheduler>,
    limits: Limits,
    control: &Control,
) -> Result<Report> {
    let model = Compiled::new(protocol)?;
    let scheduler = model.scheduler(scheduler);
    if scheduler != Scheduler::Central && protocol.writes_others() {
        return Err(CheckError::settings(format!(
            "a process assigns to a variable of another, so only one may move at a time: the \
             scheduler must be central, not {scheduler}"
        )));
    }
    let answer = guarded::explore(&model, scheduler, limits, control)?;
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
        report.properties.push(Property::unless(
            "given",
            "no step leaves the states that are given",
            strays.map(|(from, to)| path(vec![from, to])),
        ));
    }
    if protocol.is_random() {
        let found = chance::explore(&model, scheduler, limits, control)?;
        by_chance(&model, found, &mut report);
    }
    for rule in &protocol.rules {
        let broken = first_broken(&model, rule).map(|rank| path(vec![rank]));
        let of = if rule.everywhere {
            "every state"
        } else {
            "every legitimate state"
        };
        let says = format!("as the file says, of {of}");
        report
            .properties
            .push(Property::unless(rule.name.clone(), says, broken));
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
fn by_chance(model: &Compiled<'_>, found: ChanceAnswer, report: &mut Report) {
    let certain = report.worst.take();
    report.figures.retain(|(name, _)| *name != "diverging");
    let convergence = Property::unless(
        "convergence",
        "every run reaches a legitimate state with probability 1, whatever the scheduler does",
        found.avoided.as_ref().map(|lasso| lasso.trace(model)),
    );
    let old = report
        .properties
        .iter_mut()
        .find(|property| property.name == "convergence");
    if let Some(old) = old {
        *old = convergence;
    }
    report.witness = None;
    if found.avoiding > 0 {
        report
            .figures
            .push(("diverging", Figure::Number(found.avoiding)));
    }
    if let Some(slowest) = found.slowest() {
        let (rank, interval) = found.expected[slowest];
        report.witness = Some(Lasso::path(vec![rank]).trace(model));
        if let Some(exact) = &found.exact {
            let exact = exact[slowest].to_string();
            report
                .figures
                .push(("expected_steps_exact", Figure::Text(exact)));
        }
        report
            .figures
            .push(("expected_steps_low", Figure::Real(interval.low)));
        report
            .figures
            .push(("expected_steps_high", Figure::Real(interval.high)));
    }
    if let Some(worst) = certain {
        // Without luck it converges too: then there is a bound on the steps.
        report
            .figures
            .push(("certain_steps", Figure::Number(worst.steps)));
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
