//! Every initial state, every schedule.

use std::path::Path;

use headway_check::protocol::ProtocolError;
use headway_check::settings::Given;
use headway_check::{CheckError, Control, Limits, MODELS, NamedModel, Report, TooLarge, Trace};
use serde_json::{Map, Value};

use crate::memory::available_memory_bytes;
use crate::sentence::{Command, set, setting};
use crate::{Failure, say};

mod json;

pub use json::{CheckJson, TraceJson};

/// The names of the models.
pub fn models() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|model| model.name)
}

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
    let mut given = Given::new();
    for (name, value) in settings {
        let text = match value {
            Value::Null | Value::Bool(false) => continue,
            Value::String(text) => text,
            Value::Array(all) => {
                let all = all.iter().map(ToString::to_string);
                all.collect::<Vec<_>>().join(",")
            }
            other => other.to_string(),
        };
        given.insert(name, text);
    }
    NamedModel::of(model)?.check(&given, control)
}

/// The run worth keeping: a counterexample if a property fails, else the slowest.
pub fn witness_of(report: &Report) -> Option<&Trace> {
    let failed = report.properties.iter().filter(|property| !property.holds);
    failed
        .filter_map(|property| property.counterexample.as_ref())
        .max_by_key(|trace| trace.repeats_from.is_some())
        .or(report.witness.as_ref())
}

/// How much may be used for tables.
///
/// # Errors
///
/// More than there is.
pub fn limits(memory_mib: Option<u64>) -> Result<Limits, Failure> {
    let default = Limits::default();
    let available = available_memory_bytes();
    let free = available.map(|bytes| bytes / 4 * 3);
    let asked = memory_mib.map(|mib| (mib, mib.checked_mul(1 << 20)));
    let memory_bytes = match asked {
        None => free.unwrap_or(default.memory_bytes),
        Some((_, Some(bytes))) if available.is_none_or(|most| bytes <= most) => bytes,
        Some((mib, _)) => {
            let most = available.unwrap_or(u64::MAX) >> 20;
            return Err(Failure::of(say![
                set("memory", mib),
                format!(": only {most} MiB are free"),
            ])
            .advice(say!["give at most ", set("memory", most)]));
        }
    };
    Ok(Limits {
        memory_bytes,
        ..default
    })
}

/// The engine for what is too large for the others.
const DIAGRAMS: &str = if headway_check::HAS_DIAGRAMS {
    ""
} else {
    ", or build it with the feature symbolic for decision diagrams"
};

/// What to do about a model that cannot be checked.
pub fn failure(error: CheckError) -> Failure {
    let help = match &error {
        CheckError::Settings(_) | CheckError::Protocol(_) => say![Command::ModelHelp],
        CheckError::Setting { name, given, why } => {
            let message = match given {
                Some(given) => say![set(name, given), format!(": {why}")],
                None => say![setting(name), format!(" {why}")],
            };
            return Failure::of(message).advice(say![Command::ModelHelp]);
        }
        CheckError::TooLarge(TooLarge::Memory { .. }) => say![
            "give more ",
            setting("memory"),
            ", or make the ring, the tokens, the separation or the values smaller",
            DIAGRAMS,
        ],
        CheckError::TooLarge(TooLarge::Cases { .. }) => say![
            "make it smaller",
            DIAGRAMS,
            "; ",
            Command::Worst,
            " tells the worst case of rings of any size",
        ],
        CheckError::TooLarge(_) => say![
            "make the ring, the tokens, the separation or the values smaller",
            DIAGRAMS,
        ],
        CheckError::Interrupted { .. } => {
            return Failure::interrupted(error)
                .help("run it again to the end for the whole answer");
        }
    };
    Failure::new(error).advice(help)
}

/// What is wrong with a protocol file, whose text this is, and where.
pub fn in_protocol(path: &Path, text: &str, error: &ProtocolError) -> Failure {
    Failure::in_text(path, text, error.line, error.column, &error.says)
        .help("docs/research/protocols.md describes the language")
}

/// What to do about a protocol file, whose text this is, that cannot be checked.
pub fn protocol_failure(path: &Path, text: &str, error: CheckError) -> Failure {
    match error {
        CheckError::Protocol(error) => in_protocol(path, text, &error),
        CheckError::Settings(_) => Failure::new(error).advice(say![
            "change the file, or ",
            setting("set"),
            " and ",
            setting("scheduler"),
        ]),
        CheckError::TooLarge(_) => Failure::new(error).advice(say![
            "make it smaller with ",
            setting("set"),
            ", give more ",
            setting("memory"),
            DIAGRAMS,
        ]),
        CheckError::Setting { .. } | CheckError::Interrupted { .. } => failure(error),
    }
}
