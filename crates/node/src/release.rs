//! When a node releases a token that it holds: the programs of the paper, as they stand
//! in [`headway_core::program`], and which token if it holds several.

use headway_core::program::{delay, measure, relay};
use headway_core::{Measuring, Process};

use crate::config::{Config, Role};
use crate::state::Variable;

/// The variables of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Rounds until a delay may release again.
    pub counter: i32,
    /// The token that is released first if held; then in turn, so that every ring
    /// moves.
    pub turn: u32,
    /// Used by [`Role::Measure`] only.
    pub measuring: Measuring,
}

impl Program {
    pub(crate) fn new(config: &Config) -> Program {
        Program {
            counter: 0,
            turn: 0,
            measuring: config.measuring(),
        }
    }

    pub(crate) fn visit(&mut self, config: &Config, see: &mut impl FnMut(Variable<'_>)) {
        let measuring = config.measuring();
        let largest_counter = match config.role {
            Role::Delay => reset_value(config),
            Role::Relay => 0,
            Role::Measure => measuring.largest_base(),
        };
        let tokens = config.plan.tokens();
        see(Variable::Counter(&mut self.counter, largest_counter));
        see(Variable::Below(&mut self.turn, tokens));
        see(Variable::Flag(&mut self.measuring.timing));
        see(Variable::Limited(
            &mut self.measuring.elapsed,
            measuring.limit,
        ));
        see(Variable::Counter(&mut self.measuring.ignore, tokens as i32));
        see(Variable::Counter(
            &mut self.measuring.base,
            measuring.largest_base(),
        ));
    }

    /// One round with `held` tokens here, `arriving` of them new: the program's
    /// variables after it, and whether it releases one.
    pub(crate) fn round(mut self, held: u32, arriving: u32, config: &Config) -> (Program, bool) {
        let before = Process {
            queued: 0,
            resting: held - arriving,
            counter: self.counter,
        };
        let after = match config.role {
            Role::Delay => delay::round(before, arriving, reset_value(config)),
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
            Role::Delay => reset_value(config),
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
}

/// The paper's C = d - 1, from which a delay's counter runs down.
const fn reset_value(config: &Config) -> i32 {
    config.plan.separation() as i32 - 1
}
