//! Every initial state, every schedule.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use headway_answer::check::{self as answer, CheckJson};
use headway_answer::sentence::{set, setting};
use headway_answer::{Failure, json, say};
use headway_check::protocol::{self, Engine, Protocol};
use headway_check::{CheckError, Control, Report, Scheduler};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::failure::OrRaise;
use crate::long;

/// Checks with so many threads; the JSON of `headway check`.
fn check(
    py: Python<'_>,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    progress: Option<&Py<PyAny>>,
    check: impl FnOnce(&Control) -> Result<Report, CheckError> + Send + 'static,
    failure: impl FnOnce(CheckError) -> Failure + Send + 'static,
) -> PyResult<String> {
    let control = Arc::new(Control::new(answer::limits(memory).or_raise(py)?));
    let theirs = Arc::clone(&control);
    let work = move || {
        let threads = threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let wrong = |error| Failure::of(say![set("threads", threads), format!(": {error}")]);
        let pool = pool.map_err(wrong)?;
        let report = pool.install(|| check(&theirs)).map_err(failure)?;
        Ok(json::line(&CheckJson::of(&report)))
    };
    long::work(py, progress, || control.progress(), || control.stop(), work)?.or_raise(py)
}

#[pyfunction]
#[pyo3(signature = (model, settings, threads, memory, progress))]
pub(crate) fn check_model(
    py: Python<'_>,
    model: String,
    settings: &str,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let settings =
        serde_json::from_str(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let progress = progress.as_ref();
    let work = move |control: &Control| answer::check(&model, settings, control);
    check(py, threads, memory, progress, work, answer::failure)
}

#[pyfunction]
#[pyo3(signature = (name, text, parameters, scheduler, threads, memory, progress))]
#[expect(
    clippy::too_many_arguments,
    reason = "called by headway/check.py alone"
)]
pub(crate) fn check_protocol(
    py: Python<'_>,
    name: &str,
    text: &str,
    parameters: Vec<(String, i64)>,
    scheduler: Option<&str>,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let scheduler = scheduler.map(str::parse::<Scheduler>).transpose();
    let scheduler = scheduler
        .map_err(|error| Failure::of(say![setting("scheduler"), format!(": {error}")]))
        .or_raise(py)?;
    let protocol = Protocol::parse(text, &parameters)
        .map_err(|error| answer::in_protocol(Path::new(name), text, &error))
        .or_raise(py)?;
    let work =
        move |control: &Control| protocol::check_with(Engine::Auto, &protocol, scheduler, control);
    let (name, text) = (name.to_owned(), text.to_owned());
    let failure = move |error| answer::protocol_failure(Path::new(&name), &text, error);
    let progress = progress.as_ref();
    check(py, threads, memory, progress, work, failure)
}
