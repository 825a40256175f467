//! The proof of a cycle time, and its checker.
//!
//! The checker is deliberately apart from the solver and short enough to be read
//! in a minute: whoever believes these lines need not believe the algorithm.

use thiserror::Error;

use super::Fraction;
use crate::graph::EventGraph;
use crate::net::PlaceIndex;

/// A claimed cycle time p/q with its proof.
///
/// The circuit shows that λ is at least p/q. The potential shows that it is at
/// most p/q: around any circuit its differences cancel, so that the inequality
/// leaves q·time ≤ p·tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// λ = p/q.
    pub cycle_time: Fraction,
    /// One number per transition, in units of 1/q.
    pub potential: Vec<i128>,
    /// The places of a circuit, in order.
    pub circuit: Vec<PlaceIndex>,
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refuted {
    /// Not one potential per transition, or a number out of range.
    #[error("the certificate is not one for this net")]
    Shape,
    /// The circuit does not close.
    #[error("place {place} of the circuit does not lead to the next one")]
    Open {
        /// Its number.
        place: PlaceIndex,
    },
    /// The circuit's ratio is another.
    #[error("the circuit takes {time} rounds with {tokens} tokens, which is not the cycle time")]
    Ratio {
        /// Its holding times together.
        time: u128,
        /// Its tokens together.
        tokens: u128,
    },
    /// The potential does not rise enough across a place.
    #[error("the potential is too low after place {place}")]
    Potential {
        /// Its number.
        place: PlaceIndex,
    },
}

impl Certificate {
    /// Verifies the proof against the graph.
    ///
    /// # Errors
    ///
    /// [`Refuted`] says what does not hold.
    pub fn check(&self, graph: &EventGraph) -> Result<(), Refuted> {
        let (numerator, denominator) = (self.cycle_time.numerator, self.cycle_time.denominator);
        if self.potential.len() != graph.nodes() || self.circuit.is_empty() || denominator == 0 {
            return Err(Refuted::Shape);
        }
        let (mut time, mut tokens) = (0_u128, 0_u128);
        for (step, &place) in self.circuit.iter().enumerate() {
            let next = self.circuit[(step + 1) % self.circuit.len()];
            if place.max(next) >= graph.arcs().len() {
                return Err(Refuted::Shape);
            }
            if graph.arc(place).to != graph.arc(next).from {
                return Err(Refuted::Open { place });
            }
            time += u128::from(graph.arc(place).time);
            tokens += u128::from(graph.arc(place).tokens);
        }
        let left = time.checked_mul(denominator.into());
        let right = tokens.checked_mul(numerator.into());
        if tokens == 0 || left.is_none() || left != right {
            return Err(Refuted::Ratio { time, tokens });
        }
        for (place, arc) in graph.arcs().iter().enumerate() {
            // Both products are below 2^127, their difference cannot overflow.
            let gain = i128::from(denominator) * i128::from(arc.time)
                - i128::from(numerator) * i128::from(arc.tokens);
            let least = self.potential[arc.from as usize].checked_add(gain);
            if least.is_none_or(|least| self.potential[arc.to as usize] < least) {
                return Err(Refuted::Potential { place });
            }
        }
        Ok(())
    }
}
