//! The whole future from the initial state.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use headway_core::{Configuration, Round};
use headway_sim::forecast::{Forecast, Movement, Queue, Wait};
use headway_sim::state_file::AsStateFile;
use headway_sim::{Outcome, Settings};
use serde::Serialize;

use crate::json::{OutcomeJson, StateAt};
use crate::sentence::Command;
use crate::{Failure, Instance, say};

/// The forecast of a ring.
///
/// # Errors
///
/// When it has none.
pub fn of(instance: &Instance) -> Result<Forecast<'_>, Failure> {
    Forecast::of(&instance.ring, &instance.start).map_err(|error| {
        Failure::new(error).advice(match instance.ring.measures() {
            true => say!["use ", Command::Run, " for rings that measure"],
            false => say!["give fewer tokens, or less separation"],
        })
    })
}

/// When a ring settles: the first round after which it is legitimate, and the last after
/// which a token rests.
pub type Settled = (Option<Round>, Option<Round>);

/// When rings of these settings settle, one for each seed; `None` when it was stopped.
///
/// # Errors
///
/// Why a ring cannot be, or has no forecast.
pub fn many(
    settings: &Settings,
    seeds: Range<u64>,
    threads: NonZeroUsize,
    stop: &AtomicBool,
) -> Result<Option<Vec<Settled>>, Failure> {
    // What is wrong with one of them is wrong with all.
    let first = Settings {
        seed: Some(seeds.start),
        ..settings.clone()
    };
    of(&Instance::of_settings(&first)?)?;
    let one = |seed: u64| {
        let settings = Settings {
            seed: Some(seed),
            ..settings.clone()
        };
        let (ring, state) = settings.build().map_err(Failure::new)?;
        let forecast = Forecast::of(&ring, &state).map_err(Failure::new)?;
        Ok((forecast.legitimate_at(), forecast.last_rest()))
    };
    let each = (seeds.end - seeds.start).div_ceil(threads.get() as u64);
    let some = &|index: usize| {
        let begin = seeds.start + (index as u64 * each).min(seeds.end - seeds.start);
        let some = begin..seeds.end.min(begin.saturating_add(each));
        some.map_while(|seed| (!stop.load(Ordering::Relaxed)).then(|| one(seed)))
            .collect::<Result<Vec<Settled>, Failure>>()
    };
    let parts: Vec<_> = std::thread::scope(|scope| {
        let threads = (0..threads.get()).map(|index| scope.spawn(move || some(index)));
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let all = parts.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    Ok((all.len() as u64 == seeds.end - seeds.start).then_some(all))
}

/// Rounds between two releases of a process in the long run, as a fraction.
pub fn cycle_time(forecast: &Forecast<'_>) -> Option<String> {
    forecast
        .cycle_time()
        .map(|(rounds, releases)| format!("{rounds}/{releases}"))
}

/// What `headway forecast` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ForecastJson<'a> {
    #[serde(flatten)]
    outcome: OutcomeJson,
    /// Rounds for so many firings of every transition (releases of every process), as a
    /// fraction; null: there is none.
    cycle_time: Option<String>,
    /// What a ring with more tokens than fit does forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    jam: Option<JamJson>,
    /// Every wait: which token rests where, after which rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<Vec<WaitJson>>,
    /// States in the form of the state file, with the round that led there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemas", schemars(with = "Vec<crate::json::StateSchema>"))]
    states: Vec<StateAt<'a>>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct JamJson {
    /// From this round or step on it repeats; null: it does not.
    repeats_from: Round,
    /// After so many rounds it repeats; null: not known.
    period: u64,
    /// Where every token waits in every turn.
    queues: Vec<QueueJson>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct QueueJson {
    /// A process, from 0.
    process: u64,
    /// For how many rounds.
    wait_rounds: u64,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct WaitJson {
    /// A token, from 0.
    token: u64,
    process: u64,
    /// From this round on.
    from: Round,
    /// To this round.
    to: Round,
}

impl<'a> ForecastJson<'a> {
    /// With every wait and some states if asked for.
    pub fn of(
        instance: &'a Instance,
        forecast: &Forecast<'_>,
        line: &Movement<'_>,
        outcome: &Outcome,
        waits: bool,
        at: &[Round],
    ) -> ForecastJson<'a> {
        let queue = |queue: &Queue| QueueJson {
            process: queue.process,
            wait_rounds: queue.rounds,
        };
        let wait = |wait: Wait| WaitJson {
            token: wait.token,
            process: wait.process,
            from: wait.from,
            to: wait.to,
        };
        let timeline = (!at.is_empty()).then(|| forecast.timeline());
        let state = |(round, state): (Round, Configuration)| StateAt {
            file: AsStateFile {
                ring: &instance.ring,
                state: Cow::Owned(state),
            },
            round,
        };
        ForecastJson {
            outcome: OutcomeJson::of(instance, &[], outcome),
            cycle_time: cycle_time(forecast),
            jam: line.jam().map(|jam| JamJson {
                repeats_from: jam.from,
                period: jam.period,
                queues: jam.queues.iter().map(queue).collect(),
            }),
            waits: waits.then(|| line.waits(outcome.rounds).map(wait).collect()),
            states: timeline
                .iter()
                .flat_map(|timeline| {
                    at.iter()
                        .map(|&round| (round, timeline.configuration_at(round)))
                })
                .map(state)
                .collect(),
        }
    }
}
