//! Failures as Python exceptions.

use headway_answer::Failure;
use headway_answer::sentence::{Command, SettingValue, Voice};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    headway,
    HeadwayError,
    PyValueError,
    "What was asked cannot be answered: `str()` says why, `help` what to do about it, `about` which argument is at fault."
);

/// How arguments and functions are called in Python: `tokens=0`, `Ring.forecast()`.
pub(crate) struct Arguments;

impl Voice for Arguments {
    fn setting(&self, name: &str, value: Option<&SettingValue>) -> String {
        match value {
            None => name.to_owned(),
            Some(SettingValue::Form(form)) => format!("{name}={form}"),
            Some(SettingValue::Given(value)) if value.parse::<i128>().is_ok() => {
                format!("{name}={value}")
            }
            Some(SettingValue::Given(value)) => format!("{name}=\"{value}\""),
        }
    }

    fn command(&self, command: Command) -> &'static str {
        match command {
            Command::Run => "`Ring.run()`",
            Command::Forecast => "`Ring.forecast()`",
            Command::Worst => "`worst_case()`",
            Command::CheckMeasure => "`check(\"measure\")`",
            Command::ModelHelp => "see help(headway.check)",
            Command::ExampleState => "`worst_case().start.to_json()` is one to look at",
        }
    }
}

/// The exception of a failure. Its argument is `about`, if it is about one.
pub(crate) fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    let mut text = failure.message.said_by(&Arguments);
    if let Some((line, column, shown)) = &failure.snippet {
        let shown: String = shown.chars().take(200).collect();
        text += &format!("\n{line:>6} | {shown}\n       | {:>column$}", "^");
    }
    let help = failure.help.as_ref().map(|help| help.said_by(&Arguments));
    if let Some(help) = &help {
        text += &format!("\nhelp: {help}");
    }
    let error = HeadwayError::new_err(text);
    let about = failure.message.about().map(|setting| &setting.name);
    let on_command_line = (
        failure.message.to_string(),
        failure.help.as_ref().map(ToString::to_string),
    );
    let value = error.value(py);
    let told = value
        .setattr("help", help)
        .and_then(|()| value.setattr("about", about))
        .and_then(|()| value.setattr("_on_command_line", on_command_line));
    match told {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// For results whose error is a [`Failure`].
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Failure> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|failure| exception(py, &failure))
    }
}
