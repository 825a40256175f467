//! When a held token is released: the programs of the paper, as they stand in
//! [`headway_core::program`], and which token if several are held.

use headway_core::program::{delay, measure, relay};
use headway_core::{Measuring, Process};

use crate::Flaw;
use crate::config::{Config, Role};

/// The variables of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Rounds until a delay may release again.
    pub(crate) counter: i32,
    /// The token that is released first if held; then in turn, so that every ring
    /// moves.
    pub(crate) turn: u32,
    /// Used by [`Role::Measure`] only.
    pub(crate) measuring: Measuring,
}

impl Rule {
    pub(crate) fn new(config: &Config) -> Rule {
        Rule {
            counter: 0,
            turn: 0,
            measuring: config.measuring(),
        }
    }

    /// One round with `held` tokens here, `arriving` of them new: the program's
    /// variables after it, and whether it releases one.
    pub(crate) fn round(mut self, held: u32, arriving: u32, config: &Config) -> (Rule, bool) {
        let before = Process {
            queued: 0,
            resting: held - arriving,
            counter: self.counter,
        };
        let after = match config.role {
            _ if config.has(Flaw::NoDelay) => relay::round(before, arriving),
            Role::Delay => delay::round(before, arriving, top(config)),
            Role::Relay => relay::round(before, arriving),
            Role::Measure => {
                let (after, measuring) = measure::round(before, self.measuring, arriving);
                self.measuring = measuring;
                after
            }
        };
        self.counter = after.counter;
        (self, after.queued > 0)
    }

    /// As if a token had just been released: the safe thing for a node that does
    /// not know.
    pub(crate) fn just_released(&mut self, config: &Config) {
        self.counter = match config.role {
            Role::Delay => top(config),
            Role::Relay => 0,
            Role::Measure => self.measuring.base,
        };
    }

    /// The separation in logical time that this node keeps or expects.
    pub(crate) fn separation(&self, config: &Config) -> u32 {
        match config.role {
            Role::Measure => self.measuring.base.unsigned_abs() + 1,
            Role::Delay | Role::Relay => config.plan.separation(),
        }
    }

    /// Puts back what a corruption took out of its domain.
    pub(crate) fn sanitise(&mut self, config: &Config) {
        let fresh = config.measuring();
        let measuring = &mut self.measuring;
        measuring.tokens = fresh.tokens;
        measuring.limit = fresh.limit;
        measuring.elapsed = measuring.elapsed.min(fresh.limit);
        measuring.ignore = measuring.ignore.clamp(0, config.plan.tokens() as i32);
        measuring.base = measuring.base.clamp(0, fresh.largest_base());
        let most = match config.role {
            Role::Delay => top(config),
            Role::Relay => 0,
            Role::Measure => fresh.largest_base(),
        };
        self.counter = self.counter.clamp(0, most);
        if self.turn >= config.plan.tokens() {
            self.turn = 0;
        }
    }
}

/// The paper's C = d - 1.
const fn top(config: &Config) -> i32 {
    config.plan.separation() as i32 - 1
}
