//! A token as one node sees it, and what its presence means to the application: a
//! permit to work.
//!
//! A token is a difference between two neighbours' values (Dijkstra's K-state ring), so
//! it cannot be lost; a node passes it on by one write to its own value. Its fencing
//! number grows by one with every hop.
//!
//! A permit is free, in use, asked back, or done with. A node passes the token on only
//! when nobody uses the permit any more. To tell the application, it compares what it
//! reported last with what is: a permit that comes and goes before the application
//! asks is never mentioned.

use crate::Micros;
use crate::config::Timing;
use crate::state::{Domain, Variable};

/// Where a permit is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// No permit for this token, here and now.
    #[default]
    Free,
    /// The application may work.
    Working,
    /// It has to stop; the token waits until it says so or the stop timeout is over.
    Stopping,
    /// It has said that it is done.
    Done,
}

impl Stage {
    /// All stages, in the order of their numbers in a saved state.
    pub const ALL: [Stage; 4] = [Stage::Free, Stage::Working, Stage::Stopping, Stage::Done];
}

/// One token ring at this node, and the token's stay if it is here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// The node's value on the token's ring; it decides where the token is.
    pub value: u32,
    /// The fencing number under which the token was last here.
    pub fence: u64,
    /// Rounds that the token is here, counting the current one; 0 when it is not.
    pub rounds: u32,
    /// Rounds since it last arrived. In a ring of moving blocks, how often in a row it has
    /// come round as it should.
    pub arrived: u32,
    /// Of its permit.
    pub stage: Stage,
    /// The fencing number that the application was last told, 0 for none.
    pub reported: u64,
    /// When the permit was granted, or asked back.
    pub since: Micros,
    /// The predecessor's fencing number, to take over on arrival.
    pub arriving_fence: u64,
}

impl Token {
    pub(crate) fn visit_kept(&mut self, domain: &Domain, see: &mut impl FnMut(Variable<'_>)) {
        see(Variable::Below(&mut self.value, domain.values));
        see(Variable::Fence(&mut self.fence));
        see(Variable::Rounds(&mut self.rounds));
        see(Variable::Rounds(&mut self.arrived));
        see(Variable::Stage(&mut self.stage));
    }

    pub(crate) fn visit_rest(&mut self, see: &mut impl FnMut(Variable<'_>)) {
        see(Variable::Number(&mut self.reported));
        see(Variable::Moment(&mut self.since));
        see(Variable::Fence(&mut self.arriving_fence));
    }

    /// The token is here.
    pub(crate) fn arrive(&mut self) {
        self.rounds = 1;
        self.arrived = 0;
        // The own number is from the token's last visit. It matters only after a
        // corruption has lowered the arriving one: numbers then grow again within a turn.
        let latest = self.fence.max(self.arriving_fence);
        self.fence = latest.checked_add(1).unwrap_or(1);
    }

    /// Whether the token has to wait for the application, and until when at most.
    pub(crate) fn blocked(&self, now: Micros, timing: &Times) -> Option<Micros> {
        let until = match self.stage {
            Stage::Free => return None,
            Stage::Working => self.since.saturating_add(timing.max_hold),
            Stage::Stopping => self.since.saturating_add(timing.stop_timeout),
            Stage::Done => self.since.saturating_add(timing.min_hold),
        };
        (now < until).then_some(until)
    }

    /// Whether the application works, or has been asked to stop and has not said so.
    pub(crate) const fn in_use(&self) -> bool {
        matches!(self.stage, Stage::Working | Stage::Stopping)
    }

    /// Asks a permit back, if there is one.
    pub(crate) fn withdraw(&mut self, now: Micros) {
        if self.stage == Stage::Working {
            self.stage = Stage::Stopping;
            self.since = now;
        }
    }

    /// The token has left, in whatever way.
    pub(crate) fn leave(&mut self) {
        self.rounds = 0;
        // An application that still works hears of it because `reported` stays.
        if self.stage == Stage::Done {
            self.reported = 0;
        }
        self.stage = Stage::Free;
    }
}

/// [`Timing`] in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) refresh: Micros,
    pub(crate) heartbeat_timeout: Micros,
    pub(crate) tick: Micros,
    pub(crate) min_hold: Micros,
    pub(crate) max_hold: Micros,
    pub(crate) stop_timeout: Micros,
}

impl Times {
    pub(crate) fn new(timing: &Timing) -> Times {
        use crate::micros;
        Times {
            refresh: micros(timing.refresh),
            heartbeat_timeout: micros(timing.heartbeat_timeout),
            tick: micros(timing.tick),
            min_hold: micros(timing.min_hold),
            max_hold: micros(timing.max_hold),
            stop_timeout: micros(timing.stop_timeout),
        }
    }

    /// From the grant of a permit to its end at the latest.
    pub(crate) const fn longest_permit(&self) -> Micros {
        self.max_hold.saturating_add(self.stop_timeout)
    }
}
