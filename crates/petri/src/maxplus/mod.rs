//! The timing of a live event graph by the max-plus algebra, exactly.
//!
//! Let x(j,k) be the round in which transition j fires for the k-th time. With
//! earliest firing, x(j,k) is the maximum over the places that feed j, from
//! transition i with holding time h and t tokens, of x(i,k-t) + h: linear in the
//! algebra whose addition is max and whose multiplication is +. Its eigenvalue
//! is the *cycle time* λ, the largest ratio of holding time to tokens over all
//! circuits; transitions fire once in λ rounds in the long run.
//!
//! [`spectrum`] finds λ by Howard's policy iteration on integers ([`howard`]),
//! with a [`Certificate`] that a few lines of other code verify. The tests have
//! two more ways to the same number, bisection and exhaustion. Baccelli, Cohen,
//! Olsder, Quadrat, *Synchronization and Linearity* (1992), chapters 2 and 3, is
//! the reference; Cochet-Terrasson, Cohen, Gaubert, Mc Gettrick, Quadrat,
//! *Numerical computation of spectral elements in max-plus algebra* (1998) for
//! Howard's algorithm in this setting.

mod certificate;
mod critical;
mod fraction;
pub mod howard;
mod local;
mod series;

use num_bigint::BigUint;
use thiserror::Error;

use crate::graph::EventGraph;
use crate::net::{PlaceIndex, TransitionIndex};
use crate::structure;

pub use certificate::{Certificate, Refuted};
pub use fraction::{Fraction, reduced};

/// Everything that the eigenvalue problem of an event graph answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spectrum {
    /// λ: rounds per firing in the long run, of the slowest transitions.
    pub cycle_time: Fraction,
    /// A circuit whose ratio of time to tokens is λ: places, in order.
    pub critical_circuit: Vec<PlaceIndex>,
    /// All transitions on circuits whose ratio is λ, ascending.
    pub critical_nodes: Vec<TransitionIndex>,
    /// All places on circuits whose ratio is λ, ascending.
    pub critical_arcs: Vec<PlaceIndex>,
    /// In units of 1/q for λ = p/q: when each transition fires in the periodic
    /// regime, relative to the others. `None` (the algebra's zero) where no
    /// critical circuit leads, which happens only in a graph that is not
    /// strongly connected.
    pub eigenvector: Vec<Option<i128>>,
    /// In units of 1/q: potential(to) ≥ potential(from) + time - λ·tokens.
    pub potential: Vec<i128>,
    /// After how many firings of each transition the behaviour repeats in the
    /// periodic regime, whatever the initial marking: the least common multiple,
    /// over the critical components, of the greatest common divisors of their
    /// circuits' tokens.
    pub cyclicity: BigUint,
}

/// Why there is no cycle time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoSpectrum {
    /// Nothing repeats.
    #[error("the net has no circuit, so nothing limits its rate")]
    NoCircuit,
    /// The net is not live.
    #[error("a circuit of {} places has no token: its transitions never fire", circuit.len())]
    Dead {
        /// The places of the circuit, in order.
        circuit: Vec<PlaceIndex>,
    },
}

/// Cycle time, critical part, eigenvector and cyclicity of a live event graph.
///
/// Near-linear in practice; no iteration limit, no rounding.
///
/// # Errors
///
/// [`NoSpectrum`] without circuits, or with a circuit that has no token.
///
/// ```
/// use headway_core::{Configuration, Program, Ring, Separation};
/// use headway_petri::{maxplus, ring, EventGraph};
/// // A case that a solver limited to 100 iterations gets wrong (it says 6).
/// let ring = Ring::new(Separation::new(6).unwrap(), vec![Program::Delay; 1000]).unwrap();
/// let state = Configuration::piled(&ring, 100, 0);
/// let (net, marking) = ring::to_net(&ring, &state).unwrap();
/// let graph = EventGraph::of(&net, &marking).unwrap();
/// let spectrum = maxplus::spectrum(&graph).unwrap();
/// assert_eq!(spectrum.cycle_time.to_string(), "10/1");
/// assert_eq!(spectrum.critical_circuit.len(), 1000);
/// ```
pub fn spectrum(graph: &EventGraph) -> Result<Spectrum, NoSpectrum> {
    let howard::Solution {
        certificate,
        strongly_connected,
        ..
    } = howard::solve(graph)?;
    let critical = critical::part(graph, &certificate);
    let eigenvector = if strongly_connected {
        // Howard's potential is tight at every node: it is an eigenvector.
        certificate.potential.iter().copied().map(Some).collect()
    } else {
        critical::eigenvector(graph, &certificate, &critical)
    };
    Ok(Spectrum {
        cycle_time: certificate.cycle_time,
        critical_circuit: certificate.circuit,
        critical_nodes: critical.nodes,
        critical_arcs: critical.arcs,
        eigenvector,
        potential: certificate.potential,
        cyclicity: critical.cyclicity,
    })
}

impl Spectrum {
    /// The proof that the cycle time is right, for [`Certificate::check`].
    pub fn certificate(&self) -> Certificate {
        Certificate {
            cycle_time: self.cycle_time,
            potential: self.potential.clone(),
            circuit: self.critical_circuit.clone(),
        }
    }
}

/// Refuses graphs without circuits or with a circuit that has no token.
fn check_live(graph: &EventGraph) -> Result<(), NoSpectrum> {
    match structure::unmarked_circuit(graph) {
        Some(circuit) => Err(NoSpectrum::Dead { circuit }),
        None => Ok(()),
    }
}
