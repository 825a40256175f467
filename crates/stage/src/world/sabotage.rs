//! Breaking nodes from outside, to show that the breakage is noticed.

use std::fmt::Debug;

use headway_node::state::Domain;
use headway_node::{Config, ConfigError, Machine};

use super::Settings;

/// Interferes with every node: with what it is made of, with what it receives, and with
/// its memory before and after each call. The machine itself stays as it is.
pub trait Sabotage: Debug + Send {
    /// The phases and values that a node gets.
    fn domain(&self, config: &Config) -> Domain {
        config.domain()
    }

    /// A node is about to be called, with a datagram or because time has passed.
    fn before(&mut self, _node: &mut Machine, _datagram: Option<&mut Vec<u8>>) {}

    /// A node was called.
    fn after(&mut self, _node: &mut Machine) {}

    /// Whether applications say that they are done as soon as they begin.
    fn ends_early(&self) -> bool {
        false
    }
}

impl Settings {
    /// A node that has just started.
    pub(super) fn machine(&self, config: Config, incarnation: u64) -> Result<Machine, ConfigError> {
        let domain = match &self.sabotage {
            Some(sabotage) => sabotage.domain(&config),
            None => config.domain(),
        };
        Machine::with_domain(config, domain, self.key.clone(), incarnation)
    }
}
