//! Rings: run, forecast, worst case.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use headway_answer::forecast::{self, ForecastJson};
use headway_answer::json::{self, OutcomeJson, RingJson, RunJson};
use headway_answer::sentence::{set, setting};
use headway_answer::{self as answer, Failure, say, worst};
use headway_sim::beliefs::Beliefs;
use headway_sim::run::EngineChoice;
use headway_sim::{Fault, Settings, run as simulate, state_file};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::OrRaise;
use crate::frame::Frame;
use crate::long::{self, Progress};

/// A ring in a state.
#[pyclass(frozen, module = "headway")]
pub(crate) struct Instance {
    pub(crate) of: Arc<answer::Instance>,
}

/// Settings as Python has written them; it has looked at all but the delays.
fn settings(py: Python<'_>, text: &str) -> PyResult<Settings> {
    let wrong = |error: serde_json::Error| {
        let text = error.to_string();
        let end = text.find(" at line").unwrap_or(text.len());
        Failure::of(say![setting("delays"), format!(": {}", &text[..end])])
    };
    serde_json::from_str(text).map_err(wrong).or_raise(py)
}

/// Numbers as bytes, for `numpy.frombuffer`.
fn bytes<'py, const K: usize>(
    py: Python<'py>,
    numbers: impl Iterator<Item = [u8; K]>,
) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = numbers.flatten().collect();
    PyBytes::new(py, &all)
}

type Columns<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
);

fn columns<'py>(py: Python<'py>, state: &headway_core::Configuration) -> Columns<'py> {
    let all = || state.processes.iter();
    (
        bytes(py, all().map(|process| process.queued.to_ne_bytes())),
        bytes(py, all().map(|process| process.resting.to_ne_bytes())),
        bytes(py, all().map(|process| process.counter.to_ne_bytes())),
    )
}

#[pymethods]
impl Instance {
    #[staticmethod]
    fn of_settings(py: Python<'_>, text: &str) -> PyResult<Instance> {
        let settings = settings(py, text)?;
        let of = py
            .detach(|| answer::Instance::of_settings(&settings))
            .or_raise(py)?;
        Ok(Instance { of: Arc::new(of) })
    }

    #[staticmethod]
    fn of_state(py: Python<'_>, name: &str, text: &str, seed: Option<u64>) -> PyResult<Instance> {
        let settings = Settings {
            seed,
            ..Settings::default()
        };
        let of = py
            .detach(|| answer::Instance::of_state_file(&settings, Path::new(name), text))
            .or_raise(py)?;
        Ok(Instance { of: Arc::new(of) })
    }

    fn fields(&self) -> String {
        json::line(&RingJson::of(&self.of))
    }

    fn title(&self) -> String {
        self.of.title()
    }

    fn state_json(&self) -> String {
        state_file::render(&self.of.ring, &self.of.start)
    }

    fn start_columns<'py>(&self, py: Python<'py>) -> Columns<'py> {
        columns(py, &self.of.start)
    }

    /// Why the initial state is not legitimate.
    fn illegitimate(&self) -> Option<String> {
        let legitimate = self.of.ring.legitimate(&self.of.start, self.of.tokens());
        legitimate.err().map(|why| why.to_string())
    }

    /// The JSON of `headway run`; with `record`, the process and the rest of every token
    /// after every round as well.
    #[pyo3(signature = (rounds, faults, engine, record, progress))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        rounds: Option<u64>,
        faults: Vec<String>,
        engine: &str,
        record: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let faults: Result<Vec<Fault>, Failure> = faults
            .iter()
            .map(|text| {
                text.parse::<Fault>()
                    .map_err(|error| Failure::of(say![set("fault", text), format!(": {error}")]))
            })
            .collect();
        let faults = faults.or_raise(py)?;
        let engine: EngineChoice = engine
            .parse()
            .map_err(|_| Failure::of(say![setting("engine"), ": expected auto, dense or sparse"]))
            .or_raise(py)?;
        let run = answer::run::new(&self.of, &faults, rounds, engine).or_raise(py)?;
        answer::run::admit(&self.of, &run).or_raise(py)?;
        let instance = Arc::clone(&self.of);
        let at = Arc::new(Progress::default());
        at.of(rounds.unwrap_or(0));
        let told = Arc::clone(&at);
        let work = move |stopped: &AtomicBool| {
            let mut beliefs = run.ring.measures().then(|| Beliefs::new(&run.ring));
            let (mut processes, mut resting): (Vec<u8>, Vec<u8>) = Default::default();
            let outcome = simulate(&run, |frame| {
                told.at(frame.round);
                if let Some(beliefs) = &mut beliefs {
                    beliefs.observe(frame.round, &frame.configuration());
                }
                if record && frame.fault.is_none() {
                    for place in frame.tokens.places() {
                        processes.extend((place.process() as u64).to_ne_bytes());
                        resting.push(place.resting.into());
                    }
                }
                match stopped.load(Ordering::Relaxed) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            let outcome = outcome.map_err(Failure::new)?;
            let outcome = OutcomeJson::of(&instance, &run.faults, &outcome);
            let json = RunJson::new(outcome, beliefs.as_ref(), None);
            Ok((json::line(&json), processes, resting))
        };
        let (json, processes, resting) = long::answer(py, progress.as_ref(), || at.get(), work)?;
        Ok((
            json,
            PyBytes::new(py, &processes),
            PyBytes::new(py, &resting),
        ))
    }

    /// The JSON of `headway forecast`.
    #[pyo3(signature = (rounds, waits, at))]
    fn forecast(
        &self,
        py: Python<'_>,
        rounds: Option<u64>,
        waits: bool,
        at: Vec<u64>,
    ) -> PyResult<String> {
        let of = &self.of;
        let found = py.detach(|| {
            let found = forecast::of(of)?;
            let line = found.movement();
            let outcome = line.outcome(rounds);
            let json = ForecastJson::of(of, &found, &line, &outcome, waits, &at);
            Ok(json::line(&json))
        });
        found.or_raise(py)
    }

    /// The state after a round.
    fn state<'py>(&self, py: Python<'py>, round: u64) -> PyResult<Columns<'py>> {
        let state = py.detach(|| Ok(forecast::of(&self.of)?.timeline().configuration_at(round)));
        Ok(columns(py, &state.or_raise(py)?))
    }

    /// The ring in its state after a round.
    fn after(&self, py: Python<'_>, round: u64) -> PyResult<Instance> {
        let of = &self.of;
        let state = py.detach(|| Ok(forecast::of(of)?.timeline().configuration_at(round)));
        let name = format!("{}, {round} rounds later", of.start_name);
        let of = answer::Instance::new(of.ring.clone(), state.or_raise(py)?, of.seed, name);
        Ok(Instance { of: Arc::new(of) })
    }

    fn svg(&self, py: Python<'_>, rounds: Option<u64>) -> PyResult<String> {
        let of = &self.of;
        let svg = py.detach(|| {
            let found = forecast::of(of)?;
            let rounds = found.movement().outcome(rounds).rounds;
            Ok(found.timeline().svg(rounds, &of.title()))
        });
        svg.or_raise(py)
    }
}

/// The JSON of `headway worst`, and the ring in its worst state.
#[pyfunction]
pub(crate) fn worst_case(py: Python<'_>, text: &str) -> PyResult<(String, Instance)> {
    let settings = settings(py, text)?;
    let found = py.detach(|| {
        let instance = answer::Instance::of_settings(&settings)?;
        let json = json::line(&worst::Worst::of(&instance)?.json(&instance));
        Ok((
            json,
            Instance {
                of: Arc::new(instance),
            },
        ))
    });
    found.or_raise(py)
}

/// When rings of one kind settle, one for each seed.
#[pyfunction]
#[pyo3(signature = (text, first, end, threads, progress))]
pub(crate) fn forecast_many(
    py: Python<'_>,
    text: &str,
    first: u64,
    end: u64,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Frame> {
    let settings = settings(py, text)?;
    let threads = threads
        .or_else(|| std::thread::available_parallelism().ok())
        .unwrap_or(NonZeroUsize::MIN);
    let work = move |stopped: &AtomicBool| forecast::many(&settings, first..end, threads, stopped);
    let found = long::answer(py, progress.as_ref(), || (0, end - first), work)?;
    let Some(found) = found else {
        return Err(PyRuntimeError::new_err("stopped"));
    };
    let seeds: ArrayRef = Arc::new(UInt64Array::from_iter_values(first..end));
    let legitimate: ArrayRef = Arc::new(UInt64Array::from_iter(
        found.iter().map(|settled| settled.0),
    ));
    let rest: ArrayRef = Arc::new(UInt64Array::from_iter(
        found.iter().map(|settled| settled.1),
    ));
    let columns = [
        ("seed", seeds),
        ("legitimate_at", legitimate),
        ("last_rest", rest),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, column)| (name, column, true)),
    );
    let batch = batch.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(Frame { batch })
}
