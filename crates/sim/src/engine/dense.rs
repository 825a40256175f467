//! Every process, every round.

use headway_core::tokens::Tokens;
use headway_core::{Configuration, Ring, Round};

use super::Engine;

/// The protocol as it is defined: O(n) a round.
#[derive(Clone, Debug)]
pub struct Dense {
    ring: Ring,
    rounds: Round,
    configuration: Configuration,
    tokens: Tokens,
}

impl Dense {
    /// An engine at round 0 of the given state.
    pub fn new(ring: Ring, start: Configuration) -> Dense {
        Dense {
            ring,
            rounds: 0,
            tokens: Tokens::new(&start),
            configuration: start,
        }
    }
}

impl Engine for Dense {
    fn ring(&self) -> &Ring {
        &self.ring
    }

    fn rounds(&self) -> Round {
        self.rounds
    }

    fn round(&mut self) {
        self.ring.round(&mut self.configuration);
        self.tokens.follow(&self.configuration);
        self.rounds += 1;
    }

    fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    fn configuration(&self) -> Configuration {
        self.configuration.clone()
    }

    fn load(&mut self, configuration: Configuration) {
        self.tokens = Tokens::new(&configuration);
        self.configuration = configuration;
    }
}
