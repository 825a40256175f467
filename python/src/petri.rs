//! Petri nets.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use headway_answer::petri::separate::{Question, no_clear_circuit};
use headway_answer::petri::{Analysis, Mark, Plant};
use headway_answer::sentence::{Part, set};
use headway_answer::{self as answer, Failure, say};
use headway_petri::net::Direction;
use headway_petri::{pnml, svg};
use pyo3::prelude::*;
use serde_json::json;

use crate::failure::OrRaise;
use crate::long;
use crate::ring::Instance;

/// A net with its marking.
#[pyclass(frozen, module = "headway")]
pub(crate) struct Net {
    plant: Arc<Plant>,
    name: String,
}

#[pymethods]
impl Net {
    /// Reads PNML or a state file; what was tolerated beside it.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        name: &str,
        bytes: &[u8],
        id: Option<&str>,
    ) -> PyResult<(Net, Vec<String>)> {
        let (plant, remarks) = Plant::read(Path::new(name), bytes, id).or_raise(py)?;
        let remarks = remarks.iter().filter(|remark| !remark.only_looks);
        let remarks = remarks.map(|remark| format!("{name}: {remark}")).collect();
        let net = Net {
            plant: Arc::new(plant),
            name: name.to_owned(),
        };
        Ok((net, remarks))
    }

    #[staticmethod]
    fn of_ring(py: Python<'_>, ring: &Instance) -> PyResult<Net> {
        let plant = Plant::of_ring(&ring.of.ring, &ring.of.start).or_raise(py)?;
        Ok(Net {
            plant: Arc::new(plant),
            name: "ring".to_owned(),
        })
    }

    /// The same net with other numbers of tokens on some places.
    fn mark(&self, py: Python<'_>, marks: Vec<(String, u64)>) -> PyResult<Net> {
        let mut plant = Plant {
            net: self.plant.net.clone(),
            marking: self.plant.marking.clone(),
        };
        let marks: Vec<Mark> = marks
            .into_iter()
            .map(|(place, tokens)| Mark { place, tokens })
            .collect();
        plant.mark(Path::new(&self.name), &marks).or_raise(py)?;
        Ok(Net {
            plant: Arc::new(plant),
            name: self.name.clone(),
        })
    }

    #[getter]
    fn id(&self) -> &str {
        &self.plant.net.id
    }

    fn marking(&self) -> Vec<(String, u64)> {
        let Plant { net, marking } = &*self.plant;
        let places = 0..net.places();
        places
            .map(|place| (net.place_id(place).to_owned(), marking.0[place]))
            .collect()
    }

    fn transitions(&self) -> Vec<String> {
        let net = &self.plant.net;
        (0..net.transitions())
            .map(|at| net.transition_id(at).to_owned())
            .collect()
    }

    /// The arcs as JSON: from, to and weight.
    fn structure(&self) -> String {
        let net = &self.plant.net;
        let arcs = net.arcs().iter().map(|arc| {
            let (place, transition) = (
                net.place_id(arc.place as usize),
                net.transition_id(arc.transition as usize),
            );
            match arc.direction == Direction::TransitionToPlace {
                true => json!([transition, place, arc.weight]),
                false => json!([place, transition, arc.weight]),
            }
        });
        serde_json::Value::from_iter(arcs).to_string()
    }

    fn pnml(&self) -> String {
        pnml::to_string(&self.plant.net, &self.plant.marking)
    }

    fn svg(&self) -> String {
        svg::draw(
            &self.plant.net,
            &self.plant.marking,
            &svg::Highlight::default(),
        )
    }

    /// The ring whose net this is.
    fn ring(&self, py: Python<'_>) -> PyResult<Instance> {
        let ring = self.plant.ring().map_err(Failure::new);
        let (ring, state) = ring.or_raise(py)?;
        let of = answer::Instance::new(ring, state, 0, format!("start from {}", self.name));
        Ok(Instance { of: Arc::new(of) })
    }

    /// The JSON of `headway petri analyze`.
    #[pyo3(signature = (max_rounds, max_markings))]
    fn analyze(
        &self,
        py: Python<'_>,
        max_rounds: Option<u64>,
        max_markings: Option<usize>,
    ) -> PyResult<String> {
        let plant = Arc::clone(&self.plant);
        long::answer(py, None, long::unsaid, move |stopped| {
            let mut go_on = |_| !stopped.load(Ordering::Relaxed);
            let found = Analysis::of(&plant, max_rounds, max_markings, &mut go_on);
            Ok(answer::json::line(&found.json(&plant)))
        })
    }

    /// The JSON of `headway petri separate`, and the net with control added.
    #[pyo3(signature = (ring, separation, transitions, method, max_rounds))]
    fn separate(
        &self,
        py: Python<'_>,
        ring: Vec<String>,
        separation: u32,
        transitions: Vec<String>,
        method: &str,
        max_rounds: u64,
    ) -> PyResult<(String, Net, bool)> {
        let method = method
            .parse()
            .map_err(|_| {
                let expected = ": expected minor-ring or monitor";
                Failure::of(say![set("method", method), expected])
            })
            .or_raise(py)?;
        let question = Question {
            ring,
            separation: Some(separation),
            transitions,
            method,
            max_rounds,
            list: 100,
        };
        let (plant, name) = (Arc::clone(&self.plant), self.name.clone());
        // It has limits of its own and nothing to stop it by.
        long::answer(py, None, long::unsaid, move |_| {
            let circuit = question.circuit(&plant)?.map_err(|several| {
                let several = several.circuits.iter();
                let several: Vec<String> = several.map(|it| it.place_names.join(",")).collect();
                if several.is_empty() {
                    return no_clear_circuit().help("there is no circuit");
                }
                let mut advice = vec![Part::from("choose one: ")];
                for (at, places) in several.into_iter().enumerate() {
                    advice.push(if at > 0 { ", or " } else { "" }.into());
                    advice.push(set("ring", places).into());
                }
                no_clear_circuit().advice(advice.into_iter().collect())
            })?;
            let found = question.separate(Path::new(&name), &plant, circuit)?;
            let (json, holds) = (answer::json::line(&found.json(&plant)), found.holds());
            let plant = Plant {
                net: found.done.net,
                marking: found.done.marking,
            };
            let net = Net {
                plant: Arc::new(plant),
                name,
            };
            Ok((json, net, holds))
        })
    }

    /// The JSON of the circuits to choose from.
    fn circuits(&self, py: Python<'_>, list: usize) -> PyResult<String> {
        let question = Question {
            ring: vec!["auto".to_owned()],
            separation: None,
            transitions: Vec::new(),
            method: headway_petri::separate::Method::default(),
            max_rounds: 0,
            list,
        };
        let plant = Arc::clone(&self.plant);
        long::answer(py, None, long::unsaid, move |_| {
            question.circuit(&plant).map(|found| match found {
                Err(circuits) => answer::json::line(&circuits),
                Ok(_) => String::new(),
            })
        })
    }
}
