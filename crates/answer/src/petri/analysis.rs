//! Everything that is found out about a net.

use headway_core::{Configuration, Ring};
use headway_petri::graph::NotAnEventGraph;
use headway_petri::maxplus::{self, NoSpectrum, Spectrum};
use headway_petri::transient::{self, NoTransient, Transient};
use headway_petri::{EventGraph, Marking, bound, invariant, ring, structure};
use headway_sim::forecast::Forecast;
use serde::Serialize;

use super::behaviour::BehaviourJson;
use super::{Behaviour, Plant, place_ids, transition_ids};

/// Place times arcs that a search per place may cost.
const SEARCH_WORK: usize = 200_000_000;

/// Everything found.
pub struct Analysis {
    /// Whether it is an event graph, and why it is not.
    pub event_graph: (bool, Option<String>),
    /// Whether every node is reached from every other one.
    pub strongly_connected: Option<bool>,
    /// Whether every transition can always fire again.
    pub live: Option<bool>,
    /// A circuit without tokens.
    pub unmarked: Option<Vec<usize>>,
    /// Whether no place fills up without end.
    pub bounded: Option<bool>,
    /// Whether no place ever has two tokens.
    pub safe: Option<bool>,
    /// The most tokens on a place.
    pub largest_bound: Option<u64>,
    /// Circuits whose tokens are conserved; they generate all P-invariants.
    pub invariants: Option<Vec<invariant::Invariant>>,
    /// Cycle time and critical part, or why there is none.
    pub spectrum: Result<Spectrum, String>,
    /// When periodic behaviour begins, or why that is not known.
    pub transient: Result<Transient, String>,
    /// What the literature says about the transient.
    pub published: Vec<bound::Published>,
    /// What is known beyond the net when it is that of a ring.
    pub ring: Option<RingFacts>,
    /// What markings, invariants and siphons say where the shape does not say all.
    pub behaviour: Option<Behaviour>,
}

/// What is known beyond the net when it is that of a ring.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "a key's sentence stands at one type")]
pub struct RingFacts {
    pub processes: usize,
    pub tokens: u64,
    pub separation: u32,
    /// How many processes delay.
    pub delay_count: usize,
    pub feasible: bool,
    pub last_rest: Option<u64>,
    pub worst_last_rest: Option<u64>,
    /// The transitions of the major ring.
    #[serde(skip)]
    pub major: Vec<usize>,
}

impl Analysis {
    /// Analyzes a net, playing and listing no more than so much. Markings are made as long
    /// as `go_on` says so, which is told how many there are.
    ///
    /// # Panics
    ///
    /// When the proof of a cycle time does not hold, which would be our mistake.
    pub fn of(
        plant: &Plant,
        max_rounds: Option<u64>,
        max_markings: Option<usize>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Analysis {
        let graph = EventGraph::of(&plant.net, &plant.marking);
        let event_graph = match &graph {
            Ok(_) | Err(NotAnEventGraph::TooLarge { .. }) => (true, None),
            Err(why) => (false, Some(why.to_string())),
        };
        let no_timing = match &graph {
            Err(why @ NotAnEventGraph::TooLarge { .. }) => why.to_string(),
            _ => "not an event graph".to_owned(),
        };
        let mut analysis = Analysis {
            event_graph,
            strongly_connected: Some(structure::strongly_connected(&plant.net)),
            live: None,
            unmarked: None,
            bounded: None,
            safe: None,
            largest_bound: None,
            invariants: None,
            spectrum: Err(no_timing.clone()),
            transient: Err(no_timing),
            published: Vec::new(),
            ring: None,
            behaviour: None,
        };
        let small_numbers = match &graph {
            Err(NotAnEventGraph::TooLarge { .. }) => shape(plant),
            _ => None,
        };
        if let Some(shape) = graph.as_ref().ok().or(small_numbers.as_ref()) {
            analysis.bounded = Some(structure::unbounded_place(shape).is_none());
            analysis.unmarked = structure::unmarked_circuit(shape);
            analysis.live = Some(analysis.unmarked.is_none());
        }
        let Ok(graph) = graph else {
            let mut behaviour = Behaviour::of(plant, max_markings, go_on);
            behaviour.add_shape(analysis.live, analysis.bounded, plant);
            analysis.behaviour = Some(behaviour);
            return analysis;
        };
        let small = graph.arcs().len().saturating_mul(graph.arcs().len()) <= SEARCH_WORK;
        if small {
            analysis.invariants = Some(invariant::generators(&graph));
            if analysis.live == Some(true) {
                analysis.safe = Some(structure::unsafe_place(&graph).is_none());
                let bounds: Option<Vec<u64>> =
                    structure::place_bounds(&graph).into_iter().collect();
                analysis.largest_bound = bounds.and_then(|bounds| bounds.into_iter().max());
            }
        }
        let spectrum = maxplus::spectrum(&graph);
        if let Ok(spectrum) = &spectrum {
            let checked = spectrum.certificate().check(&graph);
            assert_eq!(checked, Ok(()), "a cycle time without proof is not shown");
            analysis.published = bound::published(&graph, spectrum);
        }
        if small && analysis.live == Some(false) {
            let mut behaviour = Behaviour::of(plant, max_markings, go_on);
            behaviour.add_shape(analysis.live, None, plant);
            analysis.behaviour = Some(behaviour);
        }
        let allowed = max_rounds.unwrap_or_else(|| default_rounds(&graph));
        analysis.transient = match &spectrum {
            Ok(_) => transient::exact(&graph, allowed).map_err(|why| told(&why, plant)),
            Err(why) => Err(why.to_string()),
        };
        analysis.spectrum = spectrum.map_err(|why: NoSpectrum| why.to_string());
        analysis.ring = plant
            .ring()
            .ok()
            .map(|(ring, state)| RingFacts::of(plant, &ring, &state));
        analysis
    }

    /// When periodic behaviour begins: of a ring, that of its tokens; of another
    /// net, that of everything.
    pub fn transient(&self) -> Option<u64> {
        let exact = self.transient.as_ref().ok();
        match &self.ring {
            Some(ring) => exact
                .map(|found| found.rounds_of(ring.major.iter().copied()))
                .or_else(|| ring.feasible.then_some(ring.last_rest.unwrap_or(0))),
            None => exact.map(|found| found.rounds),
        }
    }

    /// What `headway petri analyze` prints.
    pub fn json<'a>(&'a self, plant: &'a Plant) -> AnalysisJson<'a> {
        let net = &plant.net;
        let ids = |places: &[usize]| place_ids(net, places);
        let spectrum = self.spectrum.as_ref().ok();
        let exact = self.transient.as_ref().ok();
        let behaviour = self.behaviour.as_ref();
        let row = |row: &invariant::Invariant| InvariantJson {
            place_names: ids(&row.places),
            tokens: row.tokens,
        };
        let published = |bound: &bound::Published| PublishedJson {
            name: bound.name,
            formula: bound.formula,
            source: bound.source,
            bound_rounds: bound.rounds.to_string(),
        };
        let times = |spectrum: &Spectrum| {
            let q = spectrum.cycle_time.denominator;
            let entry = |value: &Option<i128>| value.map(|value| maxplus::reduced(value, q));
            spectrum.eigenvector.iter().map(entry).collect()
        };
        AnalysisJson {
            net: &net.id,
            places: net.places(),
            transitions: net.transitions(),
            arcs: net.arcs().len(),
            // It was refused where it does not fit.
            tokens: u64::try_from(plant.marking.total()).ok(),
            event_graph: self.event_graph.0,
            why_not_event_graph: self.event_graph.1.as_deref(),
            strongly_connected: self.strongly_connected,
            live: behaviour.map_or(self.live, |it| it.live.0),
            unmarked_circuit: self.unmarked.as_ref().map(|circuit| ids(circuit)),
            bounded: behaviour.map_or(self.bounded, |it| it.bounded.0),
            safe: behaviour.map_or(self.safe, |it| it.safe.0),
            largest_bound: behaviour.map_or(self.largest_bound, |it| it.largest_bound),
            invariants: self
                .invariants
                .as_ref()
                .map(|rows| rows.iter().map(row).collect()),
            cycle_time: spectrum.map(|s| s.cycle_time.to_string()),
            why_no_cycle_time: self.spectrum.as_ref().err(),
            certificate_verified: spectrum.map(|_| true),
            critical_circuit: spectrum.map(|s| ids(&s.critical_circuit)),
            critical_places: spectrum.map(|s| ids(&s.critical_arcs)),
            critical_transitions: spectrum
                .map(|s| transition_ids(net, s.critical_nodes.iter().copied())),
            eigenvector: spectrum.map(times),
            cyclicity: spectrum.map(|s| s.cyclicity.to_string()),
            transient: self.transient(),
            state_transient: exact.map(|found| found.rounds),
            period: exact.map(|found| found.period),
            why_no_transient: self.transient.as_ref().err(),
            published_bounds: self.published.iter().map(published).collect(),
            as_ring: self.ring.as_ref(),
            behaviour: BehaviourJson::of(behaviour, plant),
        }
    }
}

/// What `headway petri analyze` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AnalysisJson<'a> {
    /// The net's id.
    net: &'a str,
    /// How many places.
    places: usize,
    /// How many transitions.
    transitions: usize,
    /// How many arcs.
    arcs: usize,
    tokens: Option<u64>,
    /// Whether every place has one transition before and one after it.
    event_graph: bool,
    /// Why it is none.
    why_not_event_graph: Option<&'a str>,
    /// Whether every node can be reached from every other.
    strongly_connected: Option<bool>,
    /// Whether every transition can always fire again; null: not decided.
    live: Option<bool>,
    /// A circuit without tokens, which is why it is not live.
    unmarked_circuit: Option<Vec<String>>,
    /// Whether no place ever gets arbitrarily many tokens; null: not decided.
    bounded: Option<bool>,
    /// Whether no place ever has two tokens; null: not decided.
    safe: Option<bool>,
    /// The most tokens that any place can have.
    largest_bound: Option<u64>,
    /// Places whose tokens are always the same in number.
    invariants: Option<Vec<InvariantJson>>,
    cycle_time: Option<String>,
    /// Why there is none.
    why_no_cycle_time: Option<&'a String>,
    /// Whether the cycle time was checked against its certificate.
    certificate_verified: Option<bool>,
    /// The slowest circuit: its places.
    critical_circuit: Option<Vec<String>>,
    /// Places of all slowest circuits.
    critical_places: Option<Vec<String>>,
    /// Transitions of all slowest circuits.
    critical_transitions: Option<Vec<String>>,
    /// When transitions fire, relative to each other, as fractions.
    eigenvector: Option<Vec<Option<String>>>,
    /// Cyclicity of the critical part, as text.
    cyclicity: Option<String>,
    /// The round from which firings are periodic.
    transient: Option<u64>,
    /// The round from which markings are.
    state_transient: Option<u64>,
    period: Option<u64>,
    /// Why it is not known.
    why_no_transient: Option<&'a String>,
    /// Bounds of the transient from the literature.
    published_bounds: Vec<PublishedJson>,
    /// The ring that the net stands for; null: it stands for none.
    as_ring: Option<&'a RingFacts>,
    #[serde(flatten)]
    behaviour: BehaviourJson<'a>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct InvariantJson {
    /// Places, by id.
    place_names: Vec<String>,
    tokens: u64,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PublishedJson {
    /// A name.
    name: &'static str,
    /// The formula.
    formula: &'static str,
    /// Where it was published.
    source: &'static str,
    /// What it gives, as text.
    bound_rounds: String,
}

impl RingFacts {
    fn of(plant: &Plant, ring: &Ring, state: &Configuration) -> RingFacts {
        let tokens = state.tokens();
        let delays = ring.delay_count();
        let pace = if delays == 0 {
            1
        } else {
            ring.separation().hops()
        };
        let feasible = u128::from(tokens) * u128::from(pace) <= ring.len() as u128;
        let forecast = Forecast::of(ring, state).ok();
        let gap = ring.widest_gap();
        RingFacts {
            processes: ring.len(),
            major: ring::major_transitions(&plant.net, &plant.marking).unwrap_or_default(),
            tokens,
            separation: ring.separation().hops(),
            delay_count: delays,
            last_rest: forecast
                .filter(|_| feasible)
                .and_then(|forecast| forecast.last_rest()),
            feasible,
            worst_last_rest: gap
                .filter(|_| feasible)
                .and_then(|gap| headway_core::bound::worst_last_rest(tokens, pace, gap)),
        }
    }
}

/// The event graph without the numbers that are too large: where its tokens are, and how
/// its circuits go.
fn shape(plant: &Plant) -> Option<EventGraph> {
    let mut net = plant.net.clone();
    (0..net.places()).for_each(|place| net.set_holding(place, 1));
    let marked = plant.marking.0.iter().map(|&tokens| tokens.min(1));
    EventGraph::of(&net, &Marking(marked.collect())).ok()
}

/// Rounds that take a few seconds at most, by the size of the net.
fn default_rounds(graph: &EventGraph) -> u64 {
    // A round moves at most every token.
    (300_000_000 / (graph.total_tokens() + 1)).clamp(1_000, 50_000_000)
}

/// With ids in place of numbers.
fn told(why: &NoTransient, plant: &Plant) -> String {
    match why {
        NoTransient::FillsUp {
            place,
            fed,
            emptied,
        } => format!(
            "place {} fills up forever: it is fed every {fed} rounds but emptied only every {emptied}",
            plant.net.place_id(*place)
        ),
        other => other.to_string(),
    }
}
