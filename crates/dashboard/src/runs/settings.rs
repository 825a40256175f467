//! What a run is made from, as it stands in a request or a link.

use headway_core::{Configuration, Ring, Separation};
use headway_sim::placement::Delays;
use headway_sim::settings::{self, Kind, Settings, SettingsError};
use headway_sim::{StateFile, state_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::limits::Limits;

/// What a run is made from. The same settings make the same run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    /// n [default: 24]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// m [default: 4, or n if that is less]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// d [default: 5, or n/m if that is less]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separation: Option<u64>,
    /// What the delaying processes run [default: fixed]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramName>,
    /// `all`, a number, `every:K`, or `at:0,5,9` [default: all; `at:0` if it measures]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<String>,
    /// The initial state [default: random]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartName>,
    /// Where the clock of a measuring process saturates [default: 2n]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// A state file, as an object or as its text, instead of all of the above.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub state: Option<Value>,
    /// The seed of every random choice [default: 2009]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Faults, in the order in which they strike.
    pub faults: Vec<String>,
    /// Where to stand at first [default: 0]
    pub round: u64,
}

/// What the delaying processes run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramName {
    /// They know the separation.
    #[default]
    Fixed,
    /// They measure the ring.
    Measure,
    /// The same with the paper's two errors.
    MeasureAsPrinted,
}

/// An initial state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartName {
    /// Everything scrambled by the seed.
    #[default]
    Random,
    /// All tokens rest at process 0.
    Piled,
    /// Legitimate.
    Spaced,
    /// The one that takes longest of all to settle.
    Worst,
}

/// The year of the paper.
const DEFAULT_SEED: u64 = 2009;

impl RunSettings {
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// The ring and its initial state.
    pub(crate) fn build(&self, limits: &Limits) -> Result<(Ring, Configuration), ApiError> {
        let (ring, state) = match &self.state {
            Some(file) => self.described(file, limits)?,
            None => self.numbered(limits)?,
        };
        check_size(ring.len() as u64, state.tokens(), limits)?;
        let measuring = !ring.measurers().is_empty();
        if measuring && ring.len() as u64 > limits.measuring_processes {
            let message = format!(
                "a ring that measures has no closed form and is run: at most {} processes here",
                limits.measuring_processes
            );
            return Err(ApiError::too_large("processes", message));
        }
        Ok((ring, state))
    }

    /// The same with every default written out, but without faults and round.
    pub(crate) fn written_out(&self, ring: &Ring, start: &Configuration) -> RunSettings {
        let seed = Some(self.seed());
        if self.state.is_some() {
            let text = state_file::render(ring, start);
            return RunSettings {
                state: serde_json::from_str(&text).ok(),
                seed,
                ..RunSettings::default()
            };
        }
        let program = self.program.unwrap_or_default();
        RunSettings {
            processes: Some(ring.len() as u64),
            tokens: Some(start.tokens()),
            separation: (program == ProgramName::Fixed)
                .then(|| u64::from(ring.separation().hops())),
            program: Some(program),
            delays: Some(self.delays.clone().unwrap_or_else(|| {
                let named = if program == ProgramName::Fixed {
                    "all"
                } else {
                    "at:0"
                };
                named.to_owned()
            })),
            start: Some(self.start.unwrap_or_default()),
            limit: self.limit,
            state: None,
            seed,
            faults: Vec::new(),
            round: 0,
        }
    }

    fn numbered(&self, limits: &Limits) -> Result<(Ring, Configuration), ApiError> {
        let delays = self.delays.as_deref().map(str::parse::<Delays>).transpose();
        let settings = Settings {
            processes: self.processes,
            tokens: self.tokens,
            separation: self.separation,
            kind: match self.program.unwrap_or_default() {
                ProgramName::Fixed => Kind::Fixed,
                ProgramName::Measure => Kind::Measure,
                ProgramName::MeasureAsPrinted => Kind::MeasureAsPrinted,
            },
            delays: delays.map_err(|error| ApiError::invalid("delays", error.to_string()))?,
            start: match self.start.unwrap_or_default() {
                StartName::Random => settings::Start::Random,
                StartName::Piled => settings::Start::Piled,
                StartName::Spaced => settings::Start::Spaced,
                StartName::Worst => settings::Start::Worst,
            },
            seed: self.seed(),
            limit: self.limit,
        };
        // Before anything of that size is made.
        check_size(settings.processes(), settings.tokens(), limits)?;
        settings.build().map_err(|error| in_words(&error))
    }

    fn described(&self, file: &Value, limits: &Limits) -> Result<(Ring, Configuration), ApiError> {
        let others = [
            ("processes", self.processes.is_some()),
            ("tokens", self.tokens.is_some()),
            ("separation", self.separation.is_some()),
            ("program", self.program.is_some()),
            ("delays", self.delays.is_some()),
            ("start", self.start.is_some()),
            ("limit", self.limit.is_some()),
        ];
        if let Some((field, _)) = others.iter().find(|(_, given)| *given) {
            let message = format!("{field} contradicts the state, which describes the whole ring");
            return Err(ApiError::invalid(field, message));
        }
        let wrong = |message: String| {
            let status = axum::http::StatusCode::UNPROCESSABLE_ENTITY;
            ApiError::new(status, "state_file", message).at("state")
        };
        let StateFile {
            ring,
            configuration,
        } = match file {
            Value::String(text) => {
                StateFile::parse(text).map_err(|error| wrong(error.to_string()))?
            }
            // Lines of a text that nobody has seen would not help.
            object => StateFile::parse(&object.to_string())
                .map_err(|error| wrong(format!("{}: {}", error.field, error.problem)))?,
        };
        check_size(ring.len() as u64, configuration.tokens(), limits)?;
        if configuration.tokens() == 0 {
            return Err(wrong(SettingsError::NoTokens.to_string()));
        }
        Ok((ring, configuration))
    }
}

fn check_size(processes: u64, tokens: u64, limits: &Limits) -> Result<(), ApiError> {
    let checks = [
        ("processes", processes, limits.processes),
        ("tokens", tokens, limits.tokens),
    ];
    for (field, asked, most) in checks {
        if asked > most {
            let message = format!("{field} {asked}: at most {most} here");
            return Err(ApiError::too_large(field, message));
        }
    }
    Ok(())
}

fn in_words(error: &SettingsError) -> ApiError {
    match error {
        SettingsError::NoWorst { .. } | SettingsError::WorstUnknown => {
            let status = axum::http::StatusCode::UNPROCESSABLE_ENTITY;
            ApiError::new(status, "infeasible_start", error.to_string()).at(error.field())
        }
        _ => ApiError::invalid(error.field(), format!("{}: {error}", error.field())),
    }
}

/// When more tokens are asked for than fit: why that is a jam.
pub(crate) fn why_infeasible(
    processes: u64,
    tokens: u64,
    separation: Separation,
) -> Option<String> {
    if separation.fits(processes, tokens) {
        return None;
    }
    let d = separation.hops();
    Some(format!(
        "{tokens} tokens {d} apart need {} processes, and there are {processes}: at most {} fit. \
         The others queue for ever, and a process passes on one token every {d} rounds.",
        u128::from(tokens) * u128::from(d),
        processes / u64::from(d)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::damage;
    use crate::runs::Run;

    /// What makes a run can be sent on, and makes the same run again.
    #[test]
    fn damaged_settings_are_refused_or_make_a_run() {
        let samples = [
            r#"{"processes":24,"tokens":4,"separation":5,"delays":"at:0,5,9","start":"random",
                "seed":7,"faults":["scramble:3,5-8@3","program:5:relay@20","pile:4@22"],
                "round":30}"#,
            r#"{"processes":12,"tokens":3,"program":"measure","start":"piled","limit":40,
                "faults":["pile:4@9"],"round":25}"#,
            r#"{"state":{"separation":2,"processes":[{"program":"delay","resting":2},
                {"program":"relay"},{"program":"delay","queued":1},{"program":"relay"}]},"round":3}"#,
        ];
        let limits = Limits {
            processes: 200,
            tokens: 200,
            measuring_processes: 50,
            lock_step: 100_000,
            ..Limits::default()
        };
        for sample in samples {
            let settings: RunSettings = serde_json::from_str(sample).unwrap();
            if let Err(error) = Run::new("whole".into(), &settings, &limits) {
                panic!("{sample}: {error:?}");
            }
        }
        let (mut made, mut refused) = (0, 0);
        for seed in 0..6_000 {
            let sample = samples[seed as usize % samples.len()];
            let bytes = damage::damaged(sample.as_bytes(), &mut damage::below(seed));
            let settings = serde_json::from_slice::<RunSettings>(&bytes).unwrap_or_default();
            let faults = !settings.faults.is_empty();
            if settings == RunSettings::default() {
                refused += 1;
                continue;
            }
            let Ok(run) = Run::new("damaged".into(), &settings, &limits) else {
                refused += 1;
                continue;
            };
            made += 1;
            let state = run.lock();
            let text = serde_json::to_string(&state.settings).unwrap();
            let again: RunSettings = serde_json::from_str(&text).unwrap();
            assert_eq!(again, state.settings, "seed {seed}");
            let again = Run::new("again".into(), &again, &limits).expect("it was one");
            drop(state);
            // What is written out is without the faults.
            if !faults {
                let [one, other] = [&run, &again].map(|run| {
                    let frame = run.frame(&run.lock(), Some(0)).unwrap();
                    (frame.at, frame.resting, frame.counters)
                });
                assert_eq!(one, other, "seed {seed}");
            }
        }
        assert!(made > 60 && refused > 60, "{made} {refused}");
    }
}
