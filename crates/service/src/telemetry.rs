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

use crate::permits::{Grant, Holder};

#[cfg(feature = "otel")]
mod otlp;
#[cfg(feature = "otel")]
pub(crate) use otlp::Exporter;
#[cfg(not(feature = "otel"))]
pub(crate) use without::Exporter;

#[cfg(not(feature = "otel"))]
mod without {
    use std::io;
    use std::time::Instant;

    use super::EpisodeSender;
    use crate::config::Settings;

    /// Nothing: settings that ask for a collector are refused.
    pub(crate) struct Exporter;

    impl Exporter {
        pub(crate) fn start(_: &Settings, _: Instant) -> io::Result<Option<Exporter>> {
            Ok(None)
        }

        pub(crate) fn sender(&self) -> Option<EpisodeSender> {
            None
        }

        pub(crate) async fn finish(self) {}
    }
}

/// Whether this program can send episodes to a collector.
pub(crate) const AVAILABLE: bool = cfg!(feature = "otel");

/// How many episodes wait at most.
#[cfg(feature = "otel")]
const MAX_EPISODES: usize = 1024;

/// Something that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// What it was.
    pub past: Past,
    /// When it began, by the node's clock.
    pub began: Duration,
    /// When it ended.
    pub ended: Duration,
}

/// What an episode was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Past {
    /// A permit was used.
    Permit {
        /// Its token.
        grant: Grant,
        /// By whom.
        holder: Holder,
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
    #[cfg(feature = "otel")]
    const fn name(self) -> &'static str {
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
pub(crate) struct Tally {
    /// Taken by the collector.
    pub(crate) sent: AtomicU64,
    /// The collector could not be reached, or did not want them.
    pub(crate) failed: AtomicU64,
    /// There were too many at once.
    pub(crate) dropped: AtomicU64,
}

/// Where the protocol's thread puts episodes.
#[derive(Clone, Debug)]
pub(crate) struct EpisodeSender {
    episodes: SyncSender<Episode>,
    tally: Arc<Tally>,
}

impl EpisodeSender {
    /// Episodes go into `episodes`; what does not fit is counted in `tally`.
    #[cfg(any(test, feature = "otel"))]
    pub(crate) fn new(episodes: SyncSender<Episode>, tally: Arc<Tally>) -> EpisodeSender {
        EpisodeSender { episodes, tally }
    }

    /// What becomes of them.
    pub(crate) fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }

    /// Hands an episode over, or drops it.
    pub(crate) fn send(&self, episode: Episode) {
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
        let sender = EpisodeSender::new(sender, Arc::clone(&tally));
        let episode = Episode {
            past: Past::Settling,
            began: Duration::ZERO,
            ended: Duration::from_secs(1),
        };
        for _ in 0..5 {
            sender.send(episode.clone());
        }
        assert_eq!(tally.dropped.load(Ordering::Relaxed), 3);
        assert_eq!(receiver.try_iter().count(), 2);
        drop(receiver);
        sender.send(episode);
        assert_eq!(tally.dropped.load(Ordering::Relaxed), 4);
    }
}
