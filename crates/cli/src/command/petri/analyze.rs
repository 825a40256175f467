//! `headway petri analyze`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use headway_core::{Configuration, Ring};
use headway_petri::graph::NotAnEventGraph;
use headway_petri::maxplus::{self, NoSpectrum, Spectrum};
use headway_petri::transient::{self, NoTransient, Transient};
use headway_petri::{EventGraph, bound, invariant, ring, structure, svg};
use headway_sim::forecast::Forecast;
use serde_json::{Value, json};

use self::behaviour::Behaviour;
use super::input::{NetFlags, Plant, Purpose, place_ids, shortened, transition_ids, write_svg};
use crate::failure::{Answer, Failure};
use crate::flags::{TextOrJson, whole_number};
use crate::report::style::{DIM, HEADING, tick};

mod behaviour;

/// Flags of `headway petri analyze`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway petri analyze ring.pnml
  headway petri analyze plant.pnml --format json
  headway petri analyze plant.pnml --svg plant.svg        the critical part is coloured

Everything is exact, without floating point or iteration limit. Of an event graph no
markings are searched, and the cycle time comes with a certificate that separate code has
verified. Of other nets markings are made up to a limit; \"?\" comes with the reason.")]
pub(super) struct Args {
    #[command(flatten)]
    net: NetFlags,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,

    /// Draw the net, critical part coloured
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,

    /// Play at most this many rounds for the transient [default: by the net's size]
    #[arg(long, value_name = "R", value_parser = whole_number::<u64>)]
    max_rounds: Option<u64>,

    /// Make at most this many markings of a net that is not a live event graph
    /// [default: 100000, fewer with more than 200 places]
    #[arg(long, value_name = "COUNT", value_parser = whole_number::<usize>)]
    max_markings: Option<usize>,
}

/// Place times arcs that a search per place may cost.
const SEARCH_WORK: usize = 200_000_000;

/// Everything found.
struct Analysis {
    /// Whether it is an event graph, and why it is not or why that is not known.
    event_graph: (Option<bool>, Option<String>),
    strongly_connected: Option<bool>,
    live: Option<bool>,
    unmarked: Option<Vec<usize>>,
    bounded: Option<bool>,
    safe: Option<bool>,
    largest_bound: Option<u64>,
    invariants: Option<Vec<invariant::Invariant>>,
    spectrum: Result<Spectrum, String>,
    transient: Result<Transient, String>,
    published: Vec<bound::Published>,
    ring: Option<RingFacts>,
    /// What markings, invariants and siphons say where the shape does not say all.
    behaviour: Option<Behaviour>,
}

/// What is known beyond the net when it is that of a ring.
struct RingFacts {
    processes: usize,
    /// The transitions of the major ring.
    major: Vec<usize>,
    tokens: u64,
    separation: u32,
    delays: usize,
    /// By the forecast: the last round after which a token rests.
    last_rest: Option<u64>,
    feasible: bool,
    worst: Option<u64>,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let plant = args.net.read(Purpose::Use)?;
    let analysis = Analysis::of(&plant, args);
    let mut out = anstream::stdout().lock();
    match args.format {
        TextOrJson::Text => analysis.write_text(&mut out, &plant)?,
        TextOrJson::Json => writeln!(out, "{:#}", analysis.json(&plant))?,
    }
    drop(out);
    if let Some(path) = &args.svg {
        let spectrum = analysis.spectrum.as_ref().ok();
        let highlight = svg::Highlight {
            places: spectrum.map_or_else(Vec::new, |s| s.critical_arcs.clone()),
            added: Vec::new(),
            caption: spectrum.map_or_else(String::new, |s| {
                format!("{}: cycle time {}", plant.net.id, s.cycle_time)
            }),
        };
        write_svg(Some(path), &plant.net, &plant.marking, &highlight)?;
    }
    Ok(Answer::Yes)
}

impl Analysis {
    fn of(plant: &Plant, args: &Args) -> Analysis {
        let graph = EventGraph::of(&plant.net, &plant.marking);
        let event_graph = match &graph {
            Ok(_) => (Some(true), None),
            Err(why @ NotAnEventGraph::TooLarge { .. }) => (None, Some(why.to_string())),
            Err(why) => (Some(false), Some(why.to_string())),
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
            spectrum: Err("not an event graph".to_owned()),
            transient: Err("not an event graph".to_owned()),
            published: Vec::new(),
            ring: None,
            behaviour: None,
        };
        let Ok(graph) = graph else {
            analysis.behaviour = Some(Behaviour::of(plant, args.max_markings));
            return analysis;
        };
        let small = graph.arcs().len().saturating_mul(graph.arcs().len()) <= SEARCH_WORK;
        analysis.bounded = Some(structure::unbounded_place(&graph).is_none());
        analysis.unmarked = structure::unmarked_circuit(&graph);
        analysis.live = Some(analysis.unmarked.is_none());
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
            analysis.behaviour = Some(Behaviour::of(plant, args.max_markings));
        }
        let allowed = args.max_rounds.unwrap_or_else(|| default_rounds(&graph));
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
    fn transient(&self) -> Option<u64> {
        let exact = self.transient.as_ref().ok();
        match &self.ring {
            Some(ring) => exact
                .map(|found| found.rounds_of(ring.major.iter().copied()))
                .or_else(|| ring.feasible.then_some(ring.last_rest.unwrap_or(0))),
            None => exact.map(|found| found.rounds),
        }
    }

    fn json(&self, plant: &Plant) -> Value {
        let net = &plant.net;
        let ids = |places: &[usize]| place_ids(net, places);
        let spectrum = self.spectrum.as_ref().ok();
        // It was refused where it does not fit.
        let tokens = u64::try_from(plant.marking.total()).ok();
        let exact = self.transient.as_ref().ok();
        let invariants = self.invariants.as_ref().map(|invariants| {
            let row =
                |i: &invariant::Invariant| json!({"place_names": ids(&i.places), "tokens": i.tokens});
            invariants.iter().map(row).collect::<Vec<_>>()
        });
        let published: Vec<Value> = self
            .published
            .iter()
            .map(|bound| {
                json!({"name": bound.name, "formula": bound.formula, "source": bound.source,
                       "bound_rounds": bound.rounds.to_string()})
            })
            .collect();
        let times: Option<Vec<Option<String>>> = spectrum.map(|spectrum| {
            let q = spectrum.cycle_time.denominator;
            let entry = |value: &Option<i128>| value.map(|value| format!("{value}/{q}"));
            spectrum.eigenvector.iter().map(entry).collect()
        });
        let mut found = json!({
            "net": net.id,
            "places": net.places(),
            "transitions": net.transitions(),
            "arcs": net.arcs().len(),
            "tokens": tokens,
            "event_graph": self.event_graph.0,
            "why_not_event_graph": self.event_graph.1,
            "strongly_connected": self.strongly_connected,
            "live": self.live,
            "unmarked_circuit": self.unmarked.as_ref().map(|circuit| ids(circuit)),
            "bounded": self.bounded,
            "safe": self.safe,
            "largest_bound": self.largest_bound,
            "invariants": invariants,
            "cycle_time": spectrum.map(|s| s.cycle_time.to_string()),
            "why_no_cycle_time": self.spectrum.as_ref().err(),
            "certificate_verified": spectrum.map(|_| true),
            "critical_circuit": spectrum.map(|s| ids(&s.critical_circuit)),
            "critical_places": spectrum.map(|s| ids(&s.critical_arcs)),
            "critical_transitions": spectrum
                .map(|s| transition_ids(net, s.critical_nodes.iter().copied())),
            "eigenvector": times,
            "cyclicity": spectrum.map(|s| s.cyclicity.to_string()),
            "transient": self.transient(),
            "state_transient": exact.map(|found| found.rounds),
            "period": exact.map(|found| found.period),
            "why_no_transient": self.transient.as_ref().err(),
            "published_bounds": published,
            "as_ring": self.ring.as_ref().map(RingFacts::json),
        });
        Behaviour::add_json(self.behaviour.as_ref(), &mut found, plant);
        found
    }

    fn write_text(&self, out: &mut impl Write, plant: &Plant) -> std::io::Result<()> {
        let net = &plant.net;
        writeln!(
            out,
            "{HEADING}{}{HEADING:#}   {} places, {} transitions, {} arcs, {} tokens",
            net.id,
            net.places(),
            net.transitions(),
            net.arcs().len(),
            plant.marking.total()
        )?;
        if let Some(ring) = &self.ring {
            writeln!(
                out,
                "{DIM}the net of a ring: {} processes ({} delay), {} tokens, separation {}{DIM:#}",
                ring.processes, ring.delays, ring.tokens, ring.separation
            )?;
        }
        writeln!(out, "\n{HEADING}Structure{HEADING:#}")?;
        let (holds, why) = &self.event_graph;
        row(out, *holds, "event graph", why.as_deref().unwrap_or(""))?;
        row(out, self.strongly_connected, "strongly connected", "")?;
        let why = self.unmarked.as_ref().map_or_else(String::new, |circuit| {
            format!(
                "no token on the circuit {}",
                shortened(&place_ids(net, circuit))
            )
        });
        if let Some(behaviour) = &self.behaviour {
            behaviour.write_text(out, plant, (self.live, &why))?;
        } else {
            row(out, self.live, "live", &why)?;
            row(out, self.bounded, "bounded", "")?;
            let most = match self.largest_bound {
                Some(most) => format!("at most {most} on a place, in any order of firing"),
                None if self.safe.is_none() => "too many places to search from each".to_owned(),
                None => String::new(),
            };
            row(out, self.safe, "safe", &most)?;
        }
        if let Some(invariants) = &self.invariants {
            let circuits = invariants.len();
            writeln!(out, "  P-invariants: {circuits} circuits generate all")?;
            for invariant::Invariant { places, tokens } in invariants.iter().take(3) {
                let places = shortened(&place_ids(net, places));
                writeln!(out, "    {DIM}{tokens} token(s) on {places}{DIM:#}")?;
            }
        }
        writeln!(out, "\n{HEADING}Timing{HEADING:#}")?;
        match &self.spectrum {
            Err(why) => writeln!(out, "  no cycle time: {why}")?,
            Ok(spectrum) => {
                writeln!(
                    out,
                    "  cycle time {HEADING}{}{HEADING:#} rounds per firing   {DIM}certificate verified{DIM:#}",
                    spectrum.cycle_time
                )?;
                let circuit = shortened(&place_ids(net, &spectrum.critical_circuit));
                writeln!(out, "  critical circuit: {circuit}")?;
                writeln!(
                    out,
                    "  critical in all: {} places, {} transitions; cyclicity {}",
                    spectrum.critical_arcs.len(),
                    spectrum.critical_nodes.len(),
                    spectrum.cyclicity
                )?;
            }
        }
        self.write_transient(out)
    }

    fn write_transient(&self, out: &mut impl Write) -> std::io::Result<()> {
        if let Some(rounds) = self.transient() {
            match &self.transient {
                Ok(found) => {
                    writeln!(
                        out,
                        "  transient {HEADING}{rounds}{HEADING:#} rounds, exactly; then the pattern repeats every {}",
                        found.period
                    )?;
                    if found.rounds != rounds {
                        writeln!(
                            out,
                            "    {DIM}minor rings included: {} rounds{DIM:#}",
                            found.rounds
                        )?;
                    }
                }
                Err(why) => writeln!(
                    out,
                    "  transient {HEADING}{rounds}{HEADING:#} rounds, exactly, by the forecast   {DIM}not played: {why}{DIM:#}"
                )?,
            }
        } else if let Err(why) = &self.transient {
            writeln!(out, "  transient not known: {why}")?;
        }
        if let Some(worst) = self.ring.as_ref().and_then(|ring| ring.worst) {
            let what = "worst case over all markings of this ring";
            writeln!(out, "    {DIM}{what}: {worst}{DIM:#}")?;
        }
        for bound in &self.published {
            writeln!(
                out,
                "    {DIM}{} bounds the critical transitions' by {} = {} ({}){DIM:#}",
                bound.name, bound.formula, bound.rounds, bound.source
            )?;
        }
        Ok(())
    }
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
            delays,
            last_rest: forecast
                .filter(|_| feasible)
                .and_then(|forecast| forecast.last_rest()),
            feasible,
            worst: gap
                .filter(|_| feasible)
                .and_then(|gap| headway_core::bound::worst_last_rest(tokens, pace, gap)),
        }
    }

    fn json(&self) -> Value {
        json!({
            "processes": self.processes, "tokens": self.tokens, "separation": self.separation,
            "delay_count": self.delays, "feasible": self.feasible, "last_rest": self.last_rest,
            "worst_last_rest": self.worst,
        })
    }
}

fn row(out: &mut impl Write, holds: Option<bool>, what: &str, why: &str) -> std::io::Result<()> {
    let mark = holds.map_or_else(|| format!("{DIM}?{DIM:#}"), tick);
    let why = match (holds, why) {
        (None, "") => "not decided".to_owned(),
        (_, why) => why.to_owned(),
    };
    writeln!(out, "  {mark} {what:<20} {DIM}{why}{DIM:#}")
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
