//! What a token's presence means to the application: a permit to work.
//!
//! A permit is free, being used, asked back, or done with. Its token is passed on
//! only when nobody uses it any more. The application is told by comparing what it
//! was told last with what is: a permit that comes and goes before it asks is
//! never mentioned.

use crate::Micros;
use crate::config::Timing;

/// Where a permit is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No permit for this token, here and now.
    #[default]
    Free,
    /// The application may work.
    Working,
    /// It has to stop; the token waits until it says so or the grace is over.
    Stopping,
    /// It has said that it is done.
    Done,
}

/// One token's stay at this node, if it is here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stay {
    /// The fencing number that the application was last told, 0 for none.
    pub(crate) told: u64,
    /// When the permit was granted, or asked back.
    pub(crate) since: Micros,
    /// Rounds that the token is here, counting the current one; 0 when it is not.
    pub(crate) rounds: u32,
    /// Rounds since it last arrived.
    pub(crate) arrived: u32,
    pub(crate) stage: Stage,
}

impl Stay {
    /// Whether the token has to wait for the application, and until when at most.
    pub(crate) fn blocked(&self, now: Micros, timing: &Times) -> Option<Micros> {
        let until = match self.stage {
            Stage::Free => return None,
            Stage::Working => self.since.saturating_add(timing.dwell_most),
            Stage::Stopping => self.since.saturating_add(timing.grace),
            Stage::Done => self.since.saturating_add(timing.dwell_least),
        };
        (now < until).then_some(until)
    }

    /// Asks a permit back, if there is one.
    pub(crate) fn withdraw(&mut self, now: Micros) {
        if self.stage == Stage::Working {
            self.stage = Stage::Stopping;
            self.since = now;
        }
    }

    /// The token has left, by whatever way.
    pub(crate) fn leave(&mut self) {
        self.rounds = 0;
        // The application that was not told that it may not is told by `told`.
        if self.stage == Stage::Done {
            self.told = 0;
        }
        self.stage = Stage::Free;
    }
}

/// [`Timing`] in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) refresh: Micros,
    pub(crate) silence: Micros,
    pub(crate) tick: Micros,
    pub(crate) dwell_least: Micros,
    pub(crate) dwell_most: Micros,
    pub(crate) grace: Micros,
}

impl Times {
    pub(crate) fn new(timing: &Timing) -> Times {
        use crate::micros;
        Times {
            refresh: micros(timing.refresh),
            silence: micros(timing.silence),
            tick: micros(timing.tick),
            dwell_least: micros(timing.dwell_least),
            dwell_most: micros(timing.dwell_most),
            grace: micros(timing.grace),
        }
    }
}
