//! Whether what this node can see is legitimate.
//!
//! In a legitimate ring of n nodes every token comes by every n rounds exactly,
//! stays for one round, and is at least the separation behind the one before. A
//! node that has seen nothing else for a whole turn is *settled*. It sees the whole
//! ring that way: a token that rested anywhere in that turn came late, and a
//! surplus one came in between; and when no token has rested for a whole turn, all
//! have passed every node that might have made them rest, so none ever will.

use crate::config::Config;
use crate::state::Variable;

/// What a node has seen of late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Rounds since anything was wrong.
    pub clean: u32,
    /// Rounds since any token arrived.
    pub arrived: u32,
}

impl Verdict {
    pub(crate) fn visit(&mut self, see: &mut impl FnMut(Variable<'_>)) {
        see(Variable::Rounds(&mut self.clean));
        see(Variable::Rounds(&mut self.arrived));
    }

    /// Something was wrong.
    pub(crate) fn wrong(&mut self) {
        self.clean = 0;
    }

    /// A round has passed.
    pub(crate) fn round(&mut self) {
        self.clean = self.clean.saturating_add(1);
        self.arrived = self.arrived.saturating_add(1);
    }

    /// A token has arrived, `rounds` after it last did.
    pub(crate) fn arrival(&mut self, rounds: u32, separation: u32, config: &Config) {
        if rounds != config.plan.nodes() || self.arrived < separation {
            self.wrong();
        }
        self.arrived = 0;
    }

    /// Nothing was wrong for more than a turn.
    pub(crate) fn settled(&self, config: &Config) -> bool {
        self.clean > config.plan.nodes()
    }
}
