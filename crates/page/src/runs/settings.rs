//! What a run is made from, as it stands in a request or a link.

use headway_core::{Configuration, Ring, Separation};
use headway_sim::moving_block::MovingBlockRun;
use headway_sim::placement::Delays;
use headway_sim::settings::{DelayProgram, Settings, SettingsError, Start};
use headway_sim::{StateFile, state_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::VariantNames;

use super::moving_block::MAX_PROCESSES;
use crate::error::ApiError;
use crate::limits::Limits;

/// What a run is made from. The same settings make the same run.
// The fields of `Settings` stand here again, because serde cannot take them over
// (`flatten`) and still refuse fields that nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What the delaying processes run, or `moving-block` for all processes [default: fixed]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<RunProgram>,
    /// `all`, a number, `every:K`, `even:K` or `at:0,5,9` [default: all; `at:0` for
    /// `measure` and `measure-as-printed`]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<Delays>,
    /// The initial state [default: random]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// Where the clock of a measuring process saturates [default: 2n]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Turns of all tokens in an epoch of `shortest-lap-epochs` [default: as many as are
    /// proved to be enough]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u32>,
    /// A state file, as an object or as its text, instead of all of the above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// The seed of every random choice [default: 2009]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Faults, in the order in which they strike.
    pub faults: Vec<String>,
    /// Where to stand at first [default: 0]
    pub round: u64,
}

/// What processes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RunProgram {
    /// Some delay, in lock-step.
    Delays(DelayProgram),
    /// All wait until the way ahead is told to be free.
    MovingBlock,
}

const MOVING_BLOCK: &str = "moving-block";

impl RunProgram {
    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let delays = DelayProgram::VARIANTS.iter().copied();
        delays.chain([MOVING_BLOCK])
    }
}

impl TryFrom<String> for RunProgram {
    type Error = String;

    fn try_from(name: String) -> Result<RunProgram, String> {
        match name.parse() {
            Ok(program) => Ok(RunProgram::Delays(program)),
            Err(_) if name == MOVING_BLOCK => Ok(RunProgram::MovingBlock),
            Err(_) => {
                let names: Vec<String> = RunProgram::names()
                    .map(|name| format!("`{name}`"))
                    .collect();
                Err(format!(
                    "unknown program `{name}`, expected one of {}",
                    names.join(", ")
                ))
            }
        }
    }
}

impl From<RunProgram> for String {
    fn from(program: RunProgram) -> String {
        match program {
            RunProgram::Delays(program) => program.to_string(),
            RunProgram::MovingBlock => MOVING_BLOCK.to_owned(),
        }
    }
}

impl RunSettings {
    /// The description of the ring, without its state file.
    fn ring(&self) -> Settings {
        Settings {
            processes: self.processes,
            tokens: self.tokens,
            separation: self.separation,
            program: match self.program {
                Some(RunProgram::Delays(program)) => Some(program),
                _ => None,
            },
            delays: self.delays.clone(),
            start: self.start,
            limit: self.limit,
            horizon: self.horizon,
            seed: self.seed,
        }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.ring().seed()
    }

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
        let seed = Some(self.seed());
        if self.state.is_some() {
            let text = state_file::render(ring, start);
            return RunSettings {
                state: serde_json::from_str(&text).ok(),
                seed,
                ..RunSettings::default()
            };
        }
        let ring = self.ring().written_out(ring, start);
        RunSettings {
            processes: ring.processes,
            tokens: ring.tokens,
            separation: ring.separation,
            program: ring.program.map(RunProgram::Delays),
            delays: ring.delays,
            start: ring.start,
            limit: ring.limit,
            horizon: ring.horizon,
            seed,
            ..RunSettings::default()
        }
    }

    /// The run, where these are the settings of a moving block.
    pub(crate) fn moving_block(&self) -> Result<Option<MovingBlockRun>, ApiError> {
        if self.program != Some(RunProgram::MovingBlock) {
            return Ok(None);
        }
        let meaningless = [
            ("delays", self.delays.is_some()),
            ("limit", self.limit.is_some()),
            ("horizon", self.horizon.is_some()),
            ("state", self.state.is_some()),
        ];
        if let Some((field, _)) = meaningless.into_iter().find(|(_, given)| *given) {
            let message = format!("{field} has no meaning for the program {MOVING_BLOCK}");
            return Err(ApiError::invalid(field, message));
        }
        let (n, m) = (self.ring().processes(), self.ring().tokens());
        let d = self
            .separation
            .unwrap_or(((n.max(1) - 1) / m.max(1)).clamp(1, 5));
        let sizes = [
            ("processes", n, 2, MAX_PROCESSES),
            ("tokens", m, 1, n),
            ("separation", d, 1, MAX_PROCESSES),
        ];
        for (field, given, least, most) in sizes {
            if !(least..=most).contains(&given) {
                let message =
                    format!("{field} {given}: expected {least} to {most} for a moving block");
                return Err(ApiError::invalid(field, message));
            }
        }
        Ok(Some(MovingBlockRun {
            start: self.start.unwrap_or_default(),
            seed: self.seed(),
            ..MovingBlockRun::new(n as usize, m as usize, d as u32)
        }))
    }

    /// The settings of a moving block with every default written out.
    pub(crate) fn of_moving_block(&self, run: &MovingBlockRun) -> RunSettings {
        RunSettings {
            processes: Some(run.processes as u64),
            tokens: Some(run.tokens as u64),
            separation: Some(run.separation.into()),
            program: self.program,
            start: Some(run.start),
            seed: Some(run.seed),
            ..RunSettings::default()
        }
    }

    fn numbered(&self, limits: &Limits) -> Result<(Ring, Configuration), ApiError> {
        let settings = self.ring();
        // Before anything of that size is made.
        check_size(settings.processes(), settings.tokens(), limits)?;
        settings.build().map_err(|error| in_words(&error))
    }

    fn described(&self, file: &Value, limits: &Limits) -> Result<(Ring, Configuration), ApiError> {
        if let Some(field) = self.ring().contradicts_state_file() {
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
