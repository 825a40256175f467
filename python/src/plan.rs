//! Stations, and the order of a ring, from the members that may not be down together.

use std::path::Path;

use headway_answer::plan::{Places, Plan, read_failure};
use headway_answer::sentence::set;
use headway_answer::{Failure, json, say};
use headway_walk::plan::Request;
use headway_walk::plan::conflicts::{Conflicts, Input};
use headway_walk::walk::svg::Theme;
use pyo3::prelude::*;
use strum::VariantArray;

use crate::failure::OrRaise;
use crate::long;

/// The JSON of `headway plan` and a picture. A file is its path and its text.
#[pyfunction]
#[pyo3(signature = (file, input, groups, together_file, together, seed, effort))]
#[expect(
    clippy::too_many_arguments,
    reason = "called by headway/_plan.py alone"
)]
pub(crate) fn plan(
    py: Python<'_>,
    file: Option<(String, String)>,
    input: Option<&str>,
    groups: Vec<(String, Vec<String>)>,
    together_file: Option<(String, String)>,
    together: Option<Places>,
    seed: u64,
    effort: u32,
) -> PyResult<(String, String)> {
    let conflicts = match file {
        None => Conflicts::new(groups).map_err(Failure::new),
        Some((path, text)) => the_input(input, &text).and_then(|input| {
            (input.read(&text))
                .map_err(|error| read_failure(Path::new(&path), &text, input, &error))
        }),
    };
    let conflicts = conflicts.or_raise(py)?;
    let places = match together_file {
        None => together,
        Some((path, text)) => {
            let racks = Input::racks(&text);
            let wrong = |error| read_failure(Path::new(&path), &text, Input::Racks, &error);
            Some(racks.map_err(wrong).or_raise(py)?)
        }
    };
    let request = Request { seed, effort };
    long::answer(py, None, long::unsaid, move |stopped| {
        let plan = Plan::new(conflicts, places, request, &mut |_| {}, stopped)?;
        Ok((json::line(&plan.json(false)), plan.svg(Theme::Auto)))
    })
}

/// What a file is said to be, or seems to be.
fn the_input(said: Option<&str>, text: &str) -> Result<Input, Failure> {
    let Some(said) = said else {
        return Ok(Input::of_text(text));
    };
    said.parse().map_err(|_| {
        let names: Vec<String> = Input::VARIANTS.iter().map(ToString::to_string).collect();
        let expected = format!(": expected {}", names.join(", "));
        Failure::of(say![set("input", said), expected])
    })
}
