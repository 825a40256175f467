//! The models by name, with settings as a command line or a program gives them.

use std::fmt::Display;
use std::str::FromStr;

use headway_check::model::delay_relay::{Instance, MAX_PROCESSES};
use headway_check::model::{
    asynchronous, definitional, delay_relay, handover, k_state, measure, monitor, moving_block,
    patrol, phase_clock, unknown_size,
};
use headway_check::{CheckError, Control, Report, Search};
use headway_core::Program;
use headway_sim::placement::Delays;
use serde_json::{Map, Value};

/// The models that have a name.
pub const MODELS: [&str; 14] = [
    "delay-relay",
    "measure",
    "shortest-lap",
    "shortest-lap-epochs",
    "hop-count",
    "measure-as-printed",
    "k-state",
    "definitional",
    "phase-clock",
    "asynchronous",
    "handover",
    "monitor",
    "moving-block",
    "patrol",
];

/// Checks a model by its name. `settings` are the flags of `headway check MODEL`, with `_`
/// for `-`; what is null or false is as if it was not given.
///
/// # Errors
///
/// A setting that the model does not have or cannot take, or why there is no answer.
pub fn check(
    model: &str,
    settings: Map<String, Value>,
    control: &Control,
) -> Result<Report, CheckError> {
    let mut given = Given(settings);
    given
        .0
        .retain(|_, value| !value.is_null() && *value != Value::Bool(false));
    match model {
        "delay-relay" => delay_relay(given, control),
        "measure" | "measure-as-printed" | "shortest-lap" | "shortest-lap-epochs" | "hop-count" => {
            measuring(model, given, control)
        }
        "k-state" => {
            let mut settings = k_state::Settings::new(given.number("processes")?.unwrap_or(5));
            settings.values = given.number("values")?.unwrap_or(settings.values);
            settings.scheduler = given.word("scheduler")?.unwrap_or_default();
            settings.search = given.search()?;
            given.end(model)?;
            k_state::check(&settings, control)
        }
        "definitional" => {
            let mut settings = definitional::Settings::new(given.ring(4, 2)?);
            settings.values = given.number("values")?.unwrap_or(settings.values);
            settings.search = given.search()?;
            given.end(model)?;
            definitional::check(&settings, control)
        }
        "phase-clock" => {
            let mut settings = phase_clock::Settings::new(given.number("processes")?.unwrap_or(5));
            // Far larger ones are refused than do not fit.
            let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
            let (values, tail) = (given.number("values")?, given.number("tail")?);
            settings.clock.modulus = values.map_or(settings.clock.modulus, number);
            settings.clock.tail = tail.map_or(settings.clock.tail, number);
            settings.scheduler = given.word("scheduler")?.unwrap_or_default();
            given.end(model)?;
            phase_clock::check(&settings, control)
        }
        "asynchronous" => {
            let pace = given.number("pace")?.unwrap_or(1);
            if !(1..=250).contains(&pace) {
                return Err(wrong("pace", pace, "expected a whole number from 1 to 250"));
            }
            let mut settings = asynchronous::Settings::new(given.ring(6, 2)?, pace);
            settings.modulus = given.number("values")?.unwrap_or(settings.modulus);
            settings.previous = !given.flag("without_previous")?;
            settings.every_start = given.flag("every_start")?;
            settings.scheduler = given.word("scheduler")?.unwrap_or_default();
            given.end(model)?;
            asynchronous::check(&settings, control)
        }
        "handover" => {
            let mut settings = handover::Settings::new(given.number("capacity")?.unwrap_or(2));
            settings.values = given.number("values")?.unwrap_or(settings.values);
            given.end(model)?;
            handover::check(&settings, control)
        }
        "monitor" => {
            let (size, separation) = (given.size(6, 2)?, given.number("separation")?);
            let separation = size.separation(separation);
            let mut settings = monitor::Settings::new(size.processes, size.tokens, separation);
            settings.supply = given.number("supply")?.unwrap_or(settings.supply);
            settings.monitors = given.places("monitors")?.unwrap_or_else(|| vec![0]);
            given.end(model)?;
            monitor::check(&settings, control)
        }
        "moving-block" => moving_block(given, control),
        "patrol" => patrol(given, control),
        _ => Err(CheckError::Settings(format!(
            "there is no model '{model}'; expected {}, or a protocol file (with a dot or a slash \
             in its name)",
            MODELS.join(", ")
        ))),
    }
}

fn delay_relay(mut given: Given, control: &Control) -> Result<Report, CheckError> {
    let search = given.search()?;
    if given.flag("all_placements")? {
        let (size, separation) = (given.size(12, 3)?, given.number("separation")?);
        given.end("delay-relay with all placements")?;
        let settings = delay_relay::AllPlacements {
            processes: size.processes,
            tokens: size.tokens,
            separation: size.separation(separation),
            search,
        };
        return delay_relay::check_all(&settings, control);
    }
    let ring = given.ring(12, 3)?;
    given.end("delay-relay")?;
    delay_relay::check(&ring, search, control)
}

fn measuring(model: &str, mut given: Given, control: &Control) -> Result<Report, CheckError> {
    let limit = given.number("limit")?;
    let delays: Option<Delays> = given.word("delays")?;
    let one = match model {
        "measure" if delays.is_none() => Some(measure::Variant::Corrected),
        "measure-as-printed" => Some(measure::Variant::AsPrinted),
        _ => None,
    };
    if let Some(variant) = one {
        if delays.is_some() {
            return Err(CheckError::Settings(format!(
                "--delays has no meaning for the model {model}"
            )));
        }
        let size = given.size(6, 2)?;
        given.end(model)?;
        let mut settings = measure::Settings::new(size.processes, size.tokens);
        settings.limit = limit.unwrap_or(settings.limit);
        settings.variant = variant;
        return measure::check(&settings, control);
    }
    let (program, n) = match model {
        "measure" => (Program::Measure, 6),
        "shortest-lap" => (Program::ShortestLap, 3),
        "hop-count" => (Program::HopCount, 3),
        _ => (Program::ShortestLapEpochs, 3),
    };
    let size = given.size(n, 2)?;
    let mut settings = unknown_size::Settings::new(program, size.processes, size.tokens);
    settings.limit = limit.unwrap_or(settings.limit);
    if program == Program::ShortestLapEpochs {
        settings.horizon = given.number("horizon")?;
    }
    given.end(model)?;
    // Larger ones are refused, before their places are listed.
    if size.processes <= 64 {
        settings.measurers = places(&delays.unwrap_or_default(), size.processes)?;
    }
    unknown_size::check(&settings, control)
}

fn moving_block(mut given: Given, control: &Control) -> Result<Report, CheckError> {
    let (size, separation) = (given.size(3, 2)?, given.number("separation")?);
    let mut settings = moving_block::Settings::new(
        size.processes,
        u32::try_from(size.tokens).unwrap_or(u32::MAX),
        size.separation_with_slack(separation),
    );
    settings.late_news = !given.flag("prompt_news")?;
    if given.flag("clean_start")? {
        settings.starts = moving_block::Starts::Clean;
    }
    let variants = [
        ("believe_old_news", moving_block::Variant::OldNews),
        ("tell_old_news", moving_block::Variant::NotSilent),
    ];
    settings.variant = given.variant(variants)?.unwrap_or(settings.variant);
    given.end("moving-block")?;
    moving_block::check(&settings, control)
}

fn patrol(mut given: Given, control: &Control) -> Result<Report, CheckError> {
    let (size, separation) = (given.size(3, 2)?, given.number("separation")?);
    let separation = size.separation_with_slack(separation);
    let mut settings = patrol::Settings::new(size.processes, size.tokens, separation);
    settings.values = given.number("values")?.unwrap_or(settings.values);
    let variants = [
        ("never_open", patrol::Variant::NeverOpens),
        ("ignore_ready", patrol::Variant::IgnoresReady),
        ("ignore_moves", patrol::Variant::IgnoresMoves),
    ];
    settings.variant = given.variant(variants)?.unwrap_or(settings.variant);
    given.end("patrol")?;
    patrol::check(&settings, control)
}

/// How many processes and tokens.
struct Size {
    processes: usize,
    tokens: usize,
}

impl Size {
    /// The separation given, or the largest that fits.
    fn separation(&self, given: Option<u32>) -> u32 {
        let largest = (self.processes / self.tokens.max(1)).max(1);
        given.unwrap_or_else(|| u32::try_from(largest).unwrap_or(u32::MAX))
    }

    /// The separation given, or the largest that leaves one process over.
    fn separation_with_slack(&self, given: Option<u32>) -> u32 {
        let largest = (self.processes.max(1) - 1) / self.tokens.max(1);
        given.unwrap_or_else(|| u32::try_from(largest.max(1)).unwrap_or(u32::MAX))
    }
}

/// A ring of delays and relays: `processes`, `tokens`, `separation` and `delays` of the
/// settings, which by default are n, m, n/m and all.
///
/// # Errors
///
/// The setting that is wrong.
pub fn ring(settings: Map<String, Value>, n: usize, m: usize) -> Result<Instance, CheckError> {
    let mut given = Given(settings);
    given.0.retain(|_, value| !value.is_null());
    given.ring(n, m)
}

/// Settings that nobody has asked for yet.
struct Given(Map<String, Value>);

impl Given {
    fn number<T: TryFrom<u64>>(&mut self, name: &str) -> Result<Option<T>, CheckError> {
        let Some(value) = self.0.remove(name) else {
            return Ok(None);
        };
        let number = value.as_u64().and_then(|number| T::try_from(number).ok());
        let expected = match 8 * size_of::<T>() {
            64.. => "expected a whole number, not negative".to_owned(),
            bits => format!("expected a whole number from 0 to {}", (1_u64 << bits) - 1),
        };
        number
            .map(Some)
            .ok_or_else(|| wrong(name, value, &expected))
    }

    fn flag(&mut self, name: &str) -> Result<bool, CheckError> {
        match self.0.remove(name) {
            None => Ok(false),
            Some(Value::Bool(set)) => Ok(set),
            Some(value) => Err(wrong(name, value, "expected true or false")),
        }
    }

    /// The one of these flags that is set.
    fn variant<T: Copy, const K: usize>(
        &mut self,
        variants: [(&str, T); K],
    ) -> Result<Option<T>, CheckError> {
        let mut found = None;
        for (name, variant) in variants {
            if self.flag(name)? && found.replace((name, variant)).is_some() {
                let names = variants.map(|(name, _)| flag_name(name)).join(", ");
                return Err(CheckError::Settings(format!("give one of {names} at most")));
            }
        }
        Ok(found.map(|(_, variant)| variant))
    }

    fn word<T: FromStr<Err: Display>>(&mut self, name: &str) -> Result<Option<T>, CheckError> {
        let Some(value) = self.0.remove(name) else {
            return Ok(None);
        };
        let text = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let parsed = text.parse().map(Some);
        parsed.map_err(|why: T::Err| wrong(name, text, &why.to_string()))
    }

    fn places(&mut self, name: &str) -> Result<Option<Vec<usize>>, CheckError> {
        let Some(value) = self.0.remove(name) else {
            return Ok(None);
        };
        let one = |value: &Value| usize::try_from(value.as_u64()?).ok();
        let all = match &value {
            Value::Array(all) => all.iter().map(one).collect(),
            other => one(other).map(|place| vec![place]),
        };
        let all: Option<Vec<usize>> = all;
        all.map(Some)
            .ok_or_else(|| wrong(name, &value, "expected numbers of processes"))
    }

    fn search(&mut self) -> Result<Search, CheckError> {
        Ok(match self.flag("unreduced")? {
            true => Search::EveryState,
            false => Search::Reduced,
        })
    }

    /// By default n processes and m tokens, or fewer if they would not find room.
    fn size(&mut self, n: usize, m: usize) -> Result<Size, CheckError> {
        let processes = self.number("processes")?.unwrap_or(n);
        let tokens = self.number("tokens")?.unwrap_or(m.min(processes.max(1)));
        Ok(Size { processes, tokens })
    }

    fn ring(&mut self, n: usize, m: usize) -> Result<Instance, CheckError> {
        let size = self.size(n, m)?;
        let separation = size.separation(self.number("separation")?);
        let delays: Delays = self.word("delays")?.unwrap_or_default();
        let Size { processes, tokens } = size;
        if processes > MAX_PROCESSES {
            // Refused, before its delays are listed.
            return Instance::uniform(processes, tokens, separation);
        }
        Instance::with_delays(processes, tokens, separation, places(&delays, processes)?)
    }

    /// Refuses what the model does not have.
    fn end(self, model: &str) -> Result<(), CheckError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(CheckError::Settings(format!(
                "{} has no meaning for the model {model}",
                flag_name(name)
            ))),
        }
    }
}

/// Which processes delay, where chance does not choose.
fn places(delays: &Delays, processes: usize) -> Result<Vec<usize>, CheckError> {
    if let Delays::Count(_) = delays {
        return Err(wrong(
            "delays",
            delays,
            "which ones? give all, every:K or at:0,5,9",
        ));
    }
    let places = delays.choose(processes, 0);
    places.map_err(|error| wrong("delays", delays, &error.to_string()))
}

fn flag_name(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

fn wrong(name: &str, value: impl Display, why: &str) -> CheckError {
    CheckError::Settings(format!("{} {value}: {why}", flag_name(name)))
}
