//! Failures as Python exceptions, in the same sentences.

use headway_answer::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    headway,
    HeadwayError,
    PyValueError,
    "What was asked cannot be answered: `str()` says why, `help` what to do about it."
);

/// The exception of a failure. Flags are called as in Python: `--tokens 0` is `tokens=0`.
pub(crate) fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    let mut text = in_python(&failure.message);
    if let Some((line, column, shown)) = &failure.snippet {
        let shown: String = shown.chars().take(200).collect();
        text += &format!("\n{line:>6} | {shown}\n       | {:>column$}", "^");
    }
    let help = failure.help.as_deref().map(in_python);
    if let Some(help) = &help {
        text += &format!("\nhelp: {help}");
    }
    let error = HeadwayError::new_err(text);
    match error.value(py).setattr("help", help) {
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

/// What Python calls a command.
const COMMANDS: [(&str, &str); 6] = [
    ("`headway forecast`", "`Ring.forecast()`"),
    ("`headway run`", "`Ring.run()`"),
    ("`headway worst`", "`worst_case()`"),
    ("`headway check measure`", "`check(\"measure\")`"),
    ("see headway check MODEL --help", "see help(headway.check)"),
    (
        "`headway worst --witness example.json` writes one to look at",
        "`worst_case().start.to_json()` is one to look at",
    ),
];

/// Words that are the value of a flag before them.
const WORDS: [&str; 13] = [
    "auto",
    "central",
    "exact",
    "fixed",
    "measure",
    "minor-ring",
    "monitor",
    "piled",
    "random",
    "rings",
    "shortest-lap-epochs",
    "spaced",
    "worst",
];

/// A sentence about flags as one about arguments.
fn in_python(text: &str) -> String {
    let mut text = text.to_owned();
    for (command, python) in COMMANDS {
        text = text.replace(command, python);
    }
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("--") {
        let begins = at == 0 || rest[..at].ends_with([' ', '(', '`']);
        let name: String = rest[at + 2..]
            .chars()
            .take_while(|c| c.is_ascii_lowercase() || *c == '-')
            .collect();
        if !begins || name.is_empty() {
            out += &rest[..at + 2];
            rest = &rest[at + 2..];
            continue;
        }
        out += &rest[..at];
        out += &name.replace('-', "_");
        rest = &rest[at + 2 + name.len()..];
        let Some(after) = rest.strip_prefix(' ') else {
            continue;
        };
        let end = after.find([' ', ',', ';', ')']).unwrap_or(after.len());
        let value = after[..end].trim_end_matches([':', '.', '`']);
        let is_number = value.parse::<i128>().is_ok();
        let is_value = WORDS.contains(&value)
            || value.contains(['@', ':', '/'])
            || value.starts_with(|c: char| c.is_ascii_digit())
            || value.starts_with(|c: char| c.is_ascii_uppercase());
        if is_number || is_value {
            let quote = if is_number || value.chars().all(|c| c.is_ascii_uppercase()) {
                ""
            } else {
                "\""
            };
            out += &format!("={quote}{value}{quote}");
            rest = &after[value.len()..];
        }
    }
    out + rest
}

/// `in_python`, for tests.
#[pyfunction]
pub(crate) fn sentence(text: &str) -> String {
    in_python(text)
}
