//! Separation added to a plant.

use std::path::Path;

use headway_petri::circuit::{self, Circuit};
use headway_petri::separate::{self, Method, NotSeparable, Request, Separated};
use headway_petri::{EventGraph, Marking, Net, maxplus};
use serde::Serialize;

use super::{Plant, place_ids, shortened, transition_ids};
use crate::sentence::{form, set, setting};
use crate::{Failure, say};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Question {
    /// The places of the circuit in order, by id or name, or `auto` alone.
    pub ring: Vec<String>,
    /// D: places from one token to the next.
    pub separation: Option<u32>,
    /// Transitions for minor rings, by id or name; none: every D-th of the circuit.
    pub transitions: Vec<String>,
    /// How to separate.
    pub method: Method,
    /// How long the net is played to see what it does.
    pub max_rounds: u64,
    /// How many circuits are listed at most.
    pub list: usize,
}

/// The circuits of a net: what `headway petri separate --ring auto` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Circuits {
    /// Circuits to choose from.
    pub circuits: Vec<Listed>,
    /// Whether the list has all there are.
    pub all: bool,
}

/// A circuit of a net.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "a key's sentence stands at one type")]
pub struct Listed {
    pub place_names: Vec<String>,
    pub tokens: u64,
    /// Rounds that a turn of the circuit takes.
    pub circuit_rounds: u64,
}

impl Question {
    /// The circuit that is asked for, or the circuits to choose from.
    ///
    /// # Errors
    ///
    /// When the places are no circuit.
    pub fn circuit(&self, plant: &Plant) -> Result<Result<Circuit, Circuits>, Failure> {
        if self.ring != ["auto"] {
            let names: Vec<&str> = self.ring.iter().map(|name| name.trim()).collect();
            let named = Circuit::named(&plant.net, &names).map_err(|error| {
                Failure::of(say![setting("ring"), format!(": {error}")]).advice(say![
                    "name the places in the order of the tokens' way, or use ",
                    set("ring", "auto"),
                ])
            });
            return named.map(Ok);
        }
        let (circuits, all) = circuit::list(&plant.net, self.list);
        let crowded = |circuit: &&Circuit| circuit.tokens(&plant.marking) >= 2;
        let mut candidates = circuits.iter().filter(crowded);
        let first = candidates.next();
        let clear = all && first.is_some() && candidates.next().is_none();
        match first {
            Some(first) if self.separation.is_some() && clear => Ok(Ok(first.clone())),
            _ => Ok(Err(Circuits {
                circuits: circuits
                    .iter()
                    .map(|circuit| Listed {
                        place_names: place_ids(&plant.net, &circuit.places),
                        tokens: circuit.tokens(&plant.marking),
                        circuit_rounds: circuit.rounds(&plant.net),
                    })
                    .collect(),
                all,
            })),
        }
    }

    /// The plant, which is from this file, with separation added.
    ///
    /// # Errors
    ///
    /// Why that cannot be.
    pub fn separate(
        &self,
        file: &Path,
        plant: &Plant,
        circuit: Circuit,
    ) -> Result<Answer, Failure> {
        let Some(separation) = self.separation else {
            return Err(
                Failure::of(say![setting("separation"), " is missing"]).advice(say![
                    "say how many places apart the tokens are to be: ",
                    form("separation", "D"),
                ]),
            );
        };
        let request = Request {
            at: positions(self, &plant.net, &circuit)?,
            circuit,
            separation,
            method: self.method,
        };
        let done = separate::add(&plant.net, &plant.marking, &request)
            .map_err(|error| refused(&error, &request, &plant.marking))?;
        Ok(Answer {
            before: Side::of(&plant.net, &plant.marking, &request, file, self.max_rounds)?,
            after: Side::of(&done.net, &done.marking, &request, file, self.max_rounds)?,
            request,
            done,
        })
    }
}

/// What to do when `auto` finds several circuits, or none.
pub fn no_clear_circuit() -> Failure {
    Failure::of(say![
        set("ring", "auto"),
        ": not exactly one circuit has two tokens or more",
    ])
    .advice(say![
        "choose one of those listed: ",
        form("ring", "P1,P2,..."),
    ])
}

/// The net before and after.
pub struct Answer {
    /// What was done.
    pub request: Request,
    /// The net with control added.
    pub done: Separated,
    /// What the plant does.
    pub before: Side,
    /// What the net with control does.
    pub after: Side,
}

impl Answer {
    /// Whether the tokens become separated, and go on if they did before. Tokens that
    /// stand still forever are not what was asked for, however far apart.
    pub fn holds(&self) -> bool {
        let separated = self.after.separated_from.is_some();
        separated && (self.before.stands_still || !self.after.stands_still)
    }

    /// What `headway petri separate` prints.
    pub fn json<'a>(&'a self, plant: &'a Plant) -> SeparateJson<'a> {
        let Answer { request, done, .. } = self;
        SeparateJson {
            net: &plant.net.id,
            method: request.method.to_string(),
            circuit: place_ids(&plant.net, &request.circuit.places),
            tokens: request.circuit.tokens(&plant.marking),
            separation: request.separation,
            at_transitions: self.ring_ids(plant),
            places_added: done.places_added.len(),
            transitions_added: done.transitions_added.len(),
            arcs_added: done.net.arcs().len() - plant.net.arcs().len(),
            illegal_rows_at_start: done.illegal.len(),
            stabilization_bound: done.bound.as_ref().ok().copied(),
            why_no_bound: done.bound.as_ref().err().map(ToString::to_string),
            before: &self.before,
            after: &self.after,
        }
    }

    /// The transitions that have got minor rings.
    pub fn ring_ids(&self, plant: &Plant) -> Vec<String> {
        let at = self.done.at.iter();
        let transitions = at.map(|&position| self.request.circuit.transitions[position]);
        transition_ids(&plant.net, transitions)
    }
}

/// What a net does, before or after.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "a key's sentence stands at one type")]
pub struct Side {
    pub cycle_time: Option<String>,
    pub why_no_cycle_time: Option<String>,
    pub critical_circuit: Vec<String>,
    /// Places between tokens, seen.
    pub separation_kept: Option<u64>,
    /// From this round on tokens are as far apart as wanted; null: never.
    pub separated_from: Option<u64>,
    /// The round after which nothing fires any more; null: something does.
    pub dead_from: Option<u64>,
    /// Whether the tokens stop for good.
    pub stands_still: bool,
    /// From this round on markings repeat; null: not seen to.
    pub recurs_from: Option<u64>,
    pub period: Option<u64>,
    /// Rounds that were played.
    pub rounds_played: u64,
}

impl Side {
    fn of(
        net: &Net,
        marking: &Marking,
        request: &Request,
        file: &Path,
        max_rounds: u64,
    ) -> Result<Side, Failure> {
        let spectrum = EventGraph::of(net, marking)
            .map_err(|why| why.to_string())
            .and_then(|graph| maxplus::spectrum(&graph).map_err(|why| why.to_string()));
        let seen = separate::observe(
            net,
            marking,
            &request.circuit,
            request.separation,
            max_rounds,
        )
        .map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        let found = spectrum.as_ref().ok();
        Ok(Side {
            cycle_time: found.map(|found| found.cycle_time.to_string()),
            critical_circuit: found
                .map_or_else(Vec::new, |found| place_ids(net, &found.critical_circuit)),
            why_no_cycle_time: spectrum.err(),
            separation_kept: seen.separation,
            separated_from: seen.separated_from,
            dead_from: seen.dead_from,
            stands_still: seen.recurs.is_some() && seen.circuit_firings == 0,
            recurs_from: seen.recurs.map(|(round, _)| round),
            period: seen.recurs.map(|(_, period)| period),
            rounds_played: seen.rounds,
        })
    }
}

/// What `headway petri separate` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SeparateJson<'a> {
    net: &'a str,
    /// How it was made.
    method: String,
    /// The places of the circuit.
    circuit: Vec<String>,
    tokens: u64,
    separation: u32,
    /// Transitions that got minor rings.
    at_transitions: Vec<String>,
    /// Places added.
    places_added: usize,
    /// Transitions added.
    transitions_added: usize,
    /// Arcs added.
    arcs_added: usize,
    /// Rows of places that have too many tokens at the start.
    illegal_rows_at_start: usize,
    /// Rounds by which tokens are separated, from any marking.
    stabilization_bound: Option<u64>,
    /// Why none is known.
    why_no_bound: Option<String>,
    /// Without the control.
    before: &'a Side,
    /// With it.
    after: &'a Side,
}

fn positions(
    question: &Question,
    net: &Net,
    circuit: &Circuit,
) -> Result<Option<Vec<usize>>, Failure> {
    if question.transitions.is_empty() {
        return Ok(None);
    }
    if question.method == Method::Monitor {
        return Err(Failure::of(say![
            setting("transitions"),
            " has no meaning for monitors, which go everywhere",
        ])
        .advice(say![
            "drop ",
            setting("transitions"),
            ", or use ",
            set("method", "minor-ring"),
        ]));
    }
    let position = |name: &String| {
        let found = circuit.transitions.iter().position(|&t| {
            net.transition_id(t) == name.trim() || net.transition_name(t) == name.trim()
        });
        found.ok_or_else(|| {
            let ids = transition_ids(net, circuit.transitions.iter().copied());
            Failure::of(say![
                set("transitions", name),
                ": not a transition of the circuit",
            ])
            .help(format!("choose among {}", shortened(&ids)))
        })
    };
    question
        .transitions
        .iter()
        .map(position)
        .collect::<Result<Vec<usize>, Failure>>()
        .map(Some)
}

fn refused(error: &NotSeparable, request: &Request, marking: &Marking) -> Failure {
    let failure = Failure::new(error);
    match error {
        NotSeparable::NoRoom { .. } => {
            let tokens = request.circuit.tokens(marking).max(1);
            let most = request.circuit.places.len() as u64 / tokens;
            failure.advice(say![
                "give ",
                set("separation", most),
                " or less, or fewer tokens",
            ])
        }
        NotSeparable::Nothing => failure.advice(say!["give ", set("separation", 1), " or more",]),
        _ => failure,
    }
}
