//! A ring over a network.

use std::path::Path;

use headway_answer::sentence::{set, setting};
use headway_answer::{Failure, json, say, walk as answer};
use headway_walk::ReadError;
use headway_walk::network::Builder;
use headway_walk::walk::search::{self, Method, Request};
use headway_walk::walk::svg::{self, Picture, Theme};
use pyo3::prelude::*;

use crate::failure::OrRaise;
use crate::long;

/// The JSON of `headway walk`, a picture, and what was noticed about the network.
#[pyfunction]
#[pyo3(signature = (names, links, directed, coordinates, largest_component, tokens, separation, method, longest, seed, effort))]
#[expect(clippy::too_many_arguments, reason = "called by headway/walk.py alone")]
pub(crate) fn walk(
    py: Python<'_>,
    names: Vec<String>,
    links: Vec<(u32, u32)>,
    directed: bool,
    coordinates: Vec<(u32, f64, f64)>,
    largest_component: bool,
    tokens: usize,
    separation: Option<u32>,
    method: &str,
    longest: Option<usize>,
    seed: u64,
    effort: u32,
) -> PyResult<(String, String, Vec<String>)> {
    let mut builder = Builder::default();
    for name in &names {
        builder.node(name);
    }
    for (from, to) in links {
        builder.join(from, to, directed);
    }
    for (node, x, y) in coordinates {
        builder.place(node, x, y);
    }
    if largest_component {
        builder = builder.largest_component();
    }
    let network = builder.finish().map_err(|error| {
        answer::network_failure(Path::new("graph"), "", ReadError::Content(error))
    });
    let network = network.or_raise(py)?;
    answer::admit(tokens, &network).or_raise(py)?;
    let method: Method = method
        .parse()
        .map_err(|_| {
            let names = <Method as strum::VariantArray>::VARIANTS
                .iter()
                .map(ToString::to_string);
            let expected = names.collect::<Vec<_>>().join(", ");
            Failure::of(say![
                set("method", method),
                format!(": expected {expected}")
            ])
        })
        .or_raise(py)?;
    if longest.is_some() && method != Method::Exact {
        let exact = || set("method", "exact");
        let failure = Failure::of(say![
            setting("longest"),
            " only has a meaning for ",
            exact(),
        ])
        .advice(say!["add ", exact(), ", or drop ", setting("longest")]);
        return Err(failure).or_raise(py);
    }
    let request = Request {
        tokens,
        wanted: separation,
        method,
        longest,
        seed,
        effort,
    };
    long::answer(py, None, long::unsaid, move |stopped| {
        let found = search::walk_until(&network, &request, &mut |_| {}, stopped);
        let Some(found) = found else {
            return Err(Failure::of(answer::nothing_found(
                &network, tokens, method, seed,
            )));
        };
        let picture = Picture {
            network: &network,
            walk: &found.walk,
            tokens,
            nearest: found.nearest,
            bound: found.bound.as_ref().map(|bound| bound.distance),
            theme: Theme::Auto,
        };
        let json = json::line(&answer::json(&network, &request, &found, false, false));
        Ok((json, svg::draw(&picture), network.notes().to_vec()))
    })
}
