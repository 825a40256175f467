//! What a node tells of its past: every permit that was used, from grant to end, and
//! every time that it took to settle.
//!
//! The protocol's thread hands each [`Episode`] over and never waits: when nobody takes
//! them quickly enough, they are dropped and counted. With the feature `otel` they become
//! OpenTelemetry spans (`otlp`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::desk::Who;

#[cfg(feature = "otel")]
pub mod otlp;

/// Whether this program can send episodes to a collector.
pub const AVAILABLE: bool = cfg!(feature = "otel");

/// How many episodes wait at most.
pub const MOST_EPISODES: usize = 1024;

/// Something that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// What it was.
    pub what: What,
    /// When it began, by the node's clock.
    pub began: Duration,
    /// When it ended.
    pub ended: Duration,
}

/// What an episode was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A permit was used.
    Permit {
        /// Which token.
        token: u32,
        /// Its fencing number.
        fence: u64,
        /// By whom.
        who: Who,
        /// How it ended.
        outcome: Outcome,
    },
    /// The node was not settled.
    Settling,
}

/// How a permit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The command ended well.
    Succeeded,
    /// The command failed.
    Failed,
    /// It was given back.
    Released,
    /// It was not extended in time, or its time was over.
    Expired,
    /// It was asked back and not given back in time.
    Overrun,
}

impl Outcome {
    /// A name for attributes.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
            Outcome::Released => "released",
            Outcome::Expired => "expired",
            Outcome::Overrun => "overrun",
        }
    }
}

/// What became of episodes.
#[derive(Debug, Default)]
pub struct Tally {
    /// Taken by the collector.
    pub sent: AtomicU64,
    /// The collector could not be reached, or did not want them.
    pub failed: AtomicU64,
    /// There were too many at once.
    pub dropped: AtomicU64,
}

/// Where the protocol's thread puts episodes.
#[derive(Clone, Debug)]
pub struct Teller {
    episodes: SyncSender<Episode>,
    tally: Arc<Tally>,
}

impl Teller {
    /// Episodes go into `episodes`; what does not fit is counted in `tally`.
    pub fn new(episodes: SyncSender<Episode>, tally: Arc<Tally>) -> Teller {
        Teller { episodes, tally }
    }

    /// Hands an episode over, or drops it.
    pub fn tell(&self, episode: Episode) {
        if self.episodes.try_send(episode).is_err() {
            self.tally.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_those_who_do_not_listen() {
        let (sender, receiver) = std::sync::mpsc::sync_channel(2);
        let tally = Arc::new(Tally::default());
        let teller = Teller::new(sender, Arc::clone(&tally));
        let episode = Episode {
            what: What::Settling,
            began: Duration::ZERO,
            ended: Duration::from_secs(1),
        };
        for _ in 0..5 {
            teller.tell(episode.clone());
        }
        assert_eq!(tally.dropped.load(Ordering::Relaxed), 3);
        assert_eq!(receiver.try_iter().count(), 2);
        drop(receiver);
        teller.tell(episode);
        assert_eq!(tally.dropped.load(Ordering::Relaxed), 4);
    }
}
