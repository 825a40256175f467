//! Grids of rings, measured here or in parts elsewhere.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use headway_answer::sentence::set;
use headway_answer::{self as answer, Failure, say, sweep as ask};
use headway_lab::arrow::{self, SampleColumns};
use headway_lab::model::Engine;
use headway_lab::sweep::{CellResult, Measured, Options, SampleRows, Samples, SweepEvent};
use headway_lab::{self as lab, figure, report, shipped, sweep as run};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;

use crate::failure::OrRaise;
use crate::frame::Frame;
use crate::long::{self, Progress};
use crate::ring::Instance;

/// A sweep that was described and not run yet.
#[pyclass(frozen, module = "headway")]
pub(crate) struct Sweep {
    of: Arc<lab::Sweep>,
    /// The file that describes it.
    #[pyo3(get)]
    text: String,
}

/// A sweep's results: a row per cell, a row per sample, and the cells themselves as JSON.
type Results = (Frame, Option<Frame>, String);

impl Sweep {
    fn new(
        py: Python<'_>,
        text: String,
        mut of: lab::Sweep,
        samples: Option<u64>,
        seed: Option<u64>,
        rows: bool,
    ) -> PyResult<Sweep> {
        of.samples = samples.unwrap_or(of.samples);
        of.seed = seed.unwrap_or(of.seed);
        of.sample_rows = rows;
        if of.samples == 0 {
            let expected = ": expected a whole number, at least 1";
            return Err(Failure::of(say![set("samples", 0), expected])).or_raise(py);
        }
        ask::admit(&of, None).or_raise(py)?;
        Ok(Sweep {
            of: Arc::new(of),
            text,
        })
    }

    fn frames(
        &self,
        cells: &[CellResult],
        samples: Option<SampleColumns<'_>>,
    ) -> Result<Results, Failure> {
        let batch = arrow::cells(&self.of, cells).map_err(Failure::new)?;
        let samples = samples
            .map(SampleColumns::finish)
            .transpose()
            .map_err(Failure::new)?;
        let results: Vec<_> = cells
            .iter()
            .map(|cell| json!({ "cell": cell.index, "summaries": cell.summaries }))
            .collect();
        let results = serde_json::Value::Array(results).to_string();
        Ok((
            Frame { batch },
            samples.map(|batch| Frame { batch }),
            results,
        ))
    }
}

#[pymethods]
impl Sweep {
    /// Of a sweep file, whose name is for errors.
    #[staticmethod]
    #[pyo3(signature = (name, text, samples, seed, rows))]
    fn parse(
        py: Python<'_>,
        name: &str,
        text: String,
        samples: Option<u64>,
        seed: Option<u64>,
        rows: bool,
    ) -> PyResult<Sweep> {
        let parsed = lab::Sweep::parse(&text).map_err(|error| {
            let (line, column) = error.line_and_column(&text);
            Failure::in_text(Path::new(name), &text, line, column, error)
        });
        let of = parsed.or_raise(py)?;
        Sweep::new(py, text, of, samples, seed, rows)
    }

    /// Of values for axes.
    #[staticmethod]
    #[pyo3(signature = (name, axes, measure, percentiles, x, series, samples, seed, rows))]
    #[expect(
        clippy::too_many_arguments,
        reason = "called by headway/sweep.py alone"
    )]
    fn grid(
        py: Python<'_>,
        name: String,
        axes: Vec<(String, Vec<String>)>,
        measure: Vec<String>,
        percentiles: Vec<String>,
        x: Option<String>,
        series: Vec<String>,
        samples: Option<u64>,
        seed: Option<u64>,
        rows: bool,
    ) -> PyResult<Sweep> {
        let grid = ask::Grid {
            name,
            axes,
            measure,
            percentiles,
            x,
            series,
        };
        let (text, of) = grid.sweep().or_raise(py)?;
        Sweep::new(py, text, of, samples, seed, rows)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.of.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.of.title
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.of.seed
    }

    #[getter]
    fn samples(&self) -> u64 {
        self.of.samples
    }

    #[getter]
    fn cells(&self) -> usize {
        self.of.cells.len()
    }

    #[getter]
    fn rows(&self) -> bool {
        self.of.sample_rows
    }

    /// Runs it here.
    #[pyo3(signature = (threads, progress))]
    fn run(
        &self,
        py: Python<'_>,
        threads: Option<NonZeroUsize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Results> {
        let sweep = Arc::clone(&self.of);
        let at = Arc::new(Progress::default());
        at.of(sweep.samples * sweep.cells.len() as u64);
        let told = Arc::clone(&at);
        let this = Sweep {
            of: Arc::clone(&self.of),
            text: String::new(),
        };
        let work = move |stopped: &AtomicBool| {
            let options = Options {
                threads,
                ..Options::default()
            };
            let (mut cells, mut done) = (Vec::new(), 0);
            let mut columns = sweep.sample_rows.then(|| SampleColumns::new(&sweep));
            run::run(&sweep, &options, stopped, |event| {
                match event {
                    SweepEvent::Samples(more) => {
                        done += more;
                        told.at(done);
                    }
                    SweepEvent::Rows(rows) => {
                        if let Some(columns) = &mut columns {
                            columns.add(&rows);
                        }
                    }
                    SweepEvent::Cell(cell) => cells.push(cell),
                }
                Ok(())
            })
            .map_err(Failure::new)?;
            this.frames(&cells, columns)
        };
        long::answer(py, progress.as_ref(), || at.get(), work)
    }

    /// Does part `index` of `parts` in this thread; for `join`.
    fn part(&self, py: Python<'_>, index: u64, parts: u64) -> PyResult<String> {
        let sweep = Arc::clone(&self.of);
        long::answer(py, None, long::unsaid, move |stopped| {
            let pieces = run::part(&sweep, index, parts).into_iter();
            let measured = pieces.filter_map(|piece: Samples| {
                run::measure(&sweep, piece, Engine::Auto, stopped).transpose()
            });
            let measured: Vec<Measured> =
                measured.collect::<Result<_, _>>().map_err(Failure::new)?;
            serde_json::to_string(&measured).map_err(Failure::new)
        })
    }

    /// The results of the whole from those of all parts.
    fn join(&self, py: Python<'_>, parts: Vec<String>) -> PyResult<Results> {
        let results = py.detach(|| {
            let mut measured: Vec<Measured> = Vec::new();
            for part in &parts {
                let part: Vec<Measured> = serde_json::from_str(part).map_err(Failure::new)?;
                measured.extend(part);
            }
            measured.sort_by_key(|part| part.of);
            let mut columns = self.of.sample_rows.then(|| SampleColumns::new(&self.of));
            if let Some(columns) = &mut columns {
                for part in &mut measured {
                    columns.add(&SampleRows {
                        cell: part.of.cell,
                        first: part.of.first,
                        rows: std::mem::take(&mut part.rows),
                    });
                }
            }
            let cells = run::join(&self.of, measured).map_err(|error| {
                Failure::new(error).help("join the results of all parts of one sweep, each once")
            })?;
            self.frames(&cells, columns)
        });
        results.or_raise(py)
    }

    /// The ring of a sample.
    fn state(&self, cell: u32, sample: u64) -> Option<Instance> {
        let (ring, state) = run::state(&self.of, cell, sample)?;
        let name = format!("sample {sample} of cell {cell}");
        let of = answer::Instance::new(ring, state, self.of.seed, name);
        Some(Instance { of: Arc::new(of) })
    }

    /// What the data say about the paper's statements, as JSON.
    fn findings(&self, results: &str) -> PyResult<String> {
        let cells = cells(results)?;
        let findings = report::findings(&self.of, &cells)
            .into_iter()
            .map(|finding| {
                json!({
                    "statement": finding.statement,
                    "criterion": finding.criterion,
                    "evidence": finding.evidence,
                    "holds": finding.holds,
                })
            });
        Ok(serde_json::Value::from_iter(findings).to_string())
    }

    /// The figures by name, as SVG.
    fn figures(&self, py: Python<'_>, results: &str) -> PyResult<Vec<(String, String)>> {
        let cells = cells(results)?;
        let sweep = Arc::clone(&self.of);
        let drawn = py.detach(move || {
            let figures = sweep.figures.iter().map(|figure| {
                let picture = figure::draw(&sweep, figure, &cells)?;
                Ok((figure.name.clone(), picture.finish()))
            });
            figures.collect::<Result<Vec<_>, String>>()
        });
        drawn.map_err(PyRuntimeError::new_err)
    }
}

/// Cells as [`Sweep::frames`] has written them.
fn cells(results: &str) -> PyResult<Vec<CellResult>> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let all: Vec<serde_json::Value> = serde_json::from_str(results).map_err(wrong)?;
    let cell = |mut value: serde_json::Value| {
        Ok(CellResult {
            index: serde_json::from_value(value["cell"].take()).map_err(wrong)?,
            summaries: serde_json::from_value(value["summaries"].take()).map_err(wrong)?,
        })
    };
    all.into_iter().map(cell).collect()
}

/// The file of an experiment that comes with Headway.
#[pyfunction]
pub(crate) fn experiment(name: &str) -> Option<&'static str> {
    shipped::named(name)
}
