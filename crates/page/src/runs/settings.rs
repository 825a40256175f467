//! What a run is made from, as it stands in a request or a link.

use std::fmt;

use headway_core::{Configuration, Ring, Separation};
use headway_sim::moving_block::MovingBlockRun;
use headway_sim::settings::{RingProgram, Settings, SettingsError};
use headway_sim::{StateFile, state_file};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::moving_block::MAX_PROCESSES;
use crate::error::ApiError;
use crate::limits::Limits;

/// What a run is made from. The same settings make the same run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(default)]
pub struct RunSettings {
    /// The ring and its initial state, by numbers and words.
    #[serde(flatten)]
    pub ring: Settings,
    /// A state file instead of all of the above but the seed: as an object, or as its text,
    /// whose errors name line and column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// Faults, in the order in which they strike.
    pub faults: Vec<String>,
    /// Where to stand at first [default: 0]
    pub round: u64,
}

// serde's own `flatten` would neither refuse unknown fields nor know which one is wrong.
impl<'de> Deserialize<'de> for RunSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RunSettings, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RunSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the settings of a run")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RunSettings, A::Error> {
                let mut run = RunSettings::default();
                let of_ring = RingFields { map, run: &mut run };
                let ring = Settings::deserialize(MapAccessDeserializer::new(of_ring))?;
                Ok(RunSettings { ring, ..run })
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// The fields of a run's settings that are the ring's; the others are taken out on the way.
struct RingFields<'a, A> {
    map: A,
    run: &'a mut RunSettings,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for RingFields<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        mut seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(name) = self.map.next_key_seed(Name(seed))? {
            let own = match name {
                Ok(of_ring) => return Ok(Some(of_ring)),
                Err((own, again)) => {
                    seed = again;
                    own
                }
            };
            match &*own {
                "state" => self.run.state = self.map.next_value()?,
                "faults" => self.run.faults = self.map.next_value()?,
                _ => self.run.round = self.map.next_value()?,
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// The name of a field of the ring, or of one that is the run's own.
struct Name<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Name<K> {
    type Value = Result<K::Value, (String, K)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(match &*name {
            "state" | "faults" | "round" => Err((name, self.0)),
            _ => Ok(self.0.deserialize(name.into_deserializer())?),
        })
    }
}

impl RunSettings {
    /// The ring and its initial state.
    pub(crate) fn build(&self, limits: &Limits) -> Result<(Ring, Configuration), ApiError> {
        let (ring, state) = match &self.state {
            Some(file) => self.described(file, limits)?,
            None => self.numbered(limits)?,
        };
        check_size(ring.len() as u64, state.tokens(), limits)?;
        if ring.measures() && ring.len() as u64 > limits.measuring_processes {
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
        if self.state.is_some() {
            let text = state_file::render(ring, start);
            let seed = Some(self.ring.seed());
            return RunSettings {
                state: serde_json::from_str(&text).ok(),
                ..RunSettings::from(Settings {
                    seed,
                    ..Settings::default()
                })
            };
        }
        self.ring.written_out(ring, start).into()
    }

    /// The run, where these are the settings of a moving block.
    pub(crate) fn moving_block(&self) -> Result<Option<MovingBlockRun>, ApiError> {
        if self.ring.program() != RingProgram::MovingBlock {
            return Ok(None);
        }
        if self.state.is_some() {
            let message = "state has no meaning for moving-block: it is of delays and relays";
            return Err(ApiError::invalid("state", message));
        }
        let tokens = 1..=self.ring.processes();
        let run = self.ring.moving_block(2..=MAX_PROCESSES, tokens);
        run.map(Some).map_err(|error| in_words(&error))
    }

    /// The settings of a moving block with every default written out.
    pub(crate) fn of_moving_block(&self, run: &MovingBlockRun) -> RunSettings {
        RunSettings::from(Settings {
            processes: Some(run.processes as u64),
            tokens: Some(run.tokens as u64),
            separation: Some(run.separation.into()),
            program: self.ring.program,
            start: Some(run.start),
            seed: Some(run.seed),
            ..Settings::default()
        })
    }

    fn numbered(&self, limits: &Limits) -> Result<(Ring, Configuration), ApiError> {
        let settings = &self.ring;
        // Before anything of that size is made.
        check_size(settings.processes(), settings.tokens(), limits)?;
        settings.build().map_err(|error| in_words(&error))
    }

    fn described(&self, file: &Value, limits: &Limits) -> Result<(Ring, Configuration), ApiError> {
        if let Some(field) = self.ring.contradicts_state_file() {
            let message = format!("{field} contradicts the state, which describes the whole ring");
            return Err(ApiError::invalid(&field.to_string(), message));
        }
        let wrong = |message: String| {
            let status = http::StatusCode::UNPROCESSABLE_ENTITY;
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

impl From<Settings> for RunSettings {
    fn from(ring: Settings) -> RunSettings {
        RunSettings {
            ring,
            ..RunSettings::default()
        }
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
    let field = error.setting().to_string();
    match error {
        SettingsError::NoWorst { .. } | SettingsError::WorstUnknown => {
            let status = http::StatusCode::UNPROCESSABLE_ENTITY;
            ApiError::new(status, "infeasible_start", error.to_string()).at(&field)
        }
        SettingsError::Meaningless { .. } | SettingsError::Size { .. } => {
            ApiError::invalid(&field, format!("{field} {error}"))
        }
        _ => ApiError::invalid(&field, format!("{field}: {error}")),
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
         The others queue forever, and a process passes on one token every {d} rounds.",
        u128::from(tokens) * u128::from(d),
        processes / u64::from(d)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::Run;
    use headway_testkit::damage;

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
