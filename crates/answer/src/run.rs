//! A run in lock-step.

use std::time::Duration;

use headway_core::Round;
use headway_sim::run::EngineChoice;
use headway_sim::{Fault, Run};

use crate::sentence::{Command, Sentence, set, setting};
use crate::{Failure, Instance, say};

/// The run of a ring with these faults.
///
/// # Errors
///
/// A fault that cannot strike.
pub fn new(
    instance: &Instance,
    faults: &[Fault],
    rounds: Option<Round>,
    engine: EngineChoice,
) -> Result<Run, Failure> {
    for fault in faults {
        fault
            .fits(&instance.ring)
            .map_err(|error| Failure::of(say![set("fault", fault), format!(": {error}")]))?;
        comes_in_time(fault, rounds)?;
    }
    Ok(Run {
        ring: instance.ring.clone(),
        start: instance.start.clone(),
        faults: faults.to_vec(),
        seed: instance.seed,
        rounds,
        engine,
    })
}

/// Refuses a fault that would come after the last round.
///
/// # Errors
///
/// Which fault.
pub fn comes_in_time(fault: &Fault, rounds: Option<Round>) -> Result<(), Failure> {
    if rounds.is_none_or(|rounds| fault.after_round <= rounds) {
        return Ok(());
    }
    Err(Failure::of(say![
        set("fault", fault),
        " would come after the last round",
    ])
    .advice(say![
        "give more ",
        setting("rounds"),
        ", or an earlier fault"
    ]))
}

/// Local states and tokens that lock-step gets through in a second, with what watches it.
const STEPS_PER_SECOND: u128 = 50_000_000;

/// What to do about a run that takes long.
pub fn tells_at_once() -> Sentence {
    say![Command::Forecast, TELLS_AT_ONCE]
}

const TELLS_AT_ONCE: &str = " tells the same at once, for rings of delays and relays";

/// How long it may take, if that is a minute or more.
///
/// # Errors
///
/// What would take a year.
pub fn admit(instance: &Instance, run: &Run) -> Result<Option<Duration>, Failure> {
    let (n, m) = (instance.processes(), instance.tokens());
    let last_fault = run.faults.iter().map(|fault| fault.after_round).max();
    let rounds = run.rounds.map_or_else(
        || u128::from(run.patience()) + u128::from(n) + u128::from(last_fault.unwrap_or(0)),
        u128::from,
    );
    // As the run chooses its engine.
    let per_round = if m <= n / 4 { m } else { n.max(m) };
    let seconds = rounds * u128::from(per_round) / STEPS_PER_SECOND;
    let days = seconds / 86_400;
    if days >= 365 {
        let fits = 365 * 86_400 * STEPS_PER_SECOND / u128::from(per_round.max(1));
        return Err(Failure::new(format!(
            "{rounds} rounds of this ring would take about {days} days"
        ))
        .advice(say![
            "give at most ",
            set("rounds", fits),
            "; ",
            Command::Forecast,
            TELLS_AT_ONCE,
        ]));
    }
    Ok((seconds >= 60).then(|| Duration::from_secs(seconds as u64)))
}
