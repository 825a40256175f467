//! Who may write into the log: nobody after what removes it.

use std::sync::Arc;

use openraft::{Raft, RaftMetrics};
use tokio::sync::{Semaphore, watch};

use super::Roster;
use super::engine::Types;

/// By what a keeper knows whether it is one.
#[derive(Clone)]
pub(super) struct Standing {
    pub(super) name: String,
    /// The roster that the node acts by: one that was removed hears no more of the log.
    pub(super) acts_by: watch::Receiver<Roster>,
    /// The last one that the log here has led to, which most keepers may have to sign first.
    pub(super) decided: watch::Receiver<Roster>,
}

impl Standing {
    pub(super) fn is_named(&self) -> bool {
        self.acts_by.borrow().has_keeper(&self.name)
    }

    /// Where members have keys, those who know that one was removed do not hear what it asks. It
    /// would not be elected, nor hear why, and by its higher terms keep others from it. If it
    /// leads, nobody hears of what it writes; it would only have more of the log than those who
    /// want its vote.
    pub(super) fn may_lead(&self) -> bool {
        let (acts_by, decided) = (self.acts_by.borrow(), self.decided.borrow());
        let latest = if decided.version > acts_by.version {
            decided
        } else {
            acts_by
        };
        latest.member(&self.name).is_some() || !latest.has_keys()
    }
}

/// How much may be on its way into the log at a time.
const MAX_WRITES: u32 = 16;

/// The way into the log: nothing is written after what removes this one, because perhaps nobody
/// would hear of it.
#[derive(Clone)]
pub(super) struct Pen {
    raft: Raft<Types>,
    own: u64,
    standing: Standing,
    room: Arc<Semaphore>,
}

impl Pen {
    pub(super) fn new(raft: &Raft<Types>, own: u64, standing: &Standing) -> Pen {
        Pen {
            raft: raft.clone(),
            own,
            standing: standing.clone(),
            room: Arc::new(Semaphore::new(MAX_WRITES as usize)),
        }
    }

    /// Has something written, unless it has to wait; `is_last` removes this one. It goes on even if
    /// nobody waits for it, until it is done or another leads.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        is_last: bool,
        written: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let room = if is_last { MAX_WRITES } else { 1 };
        let room = Arc::clone(&self.room).try_acquire_many_owned(room).ok()?;
        // Here, and not before: what removes this one may have had the room until now.
        if !self.standing.may_lead() {
            return None;
        }
        let (raft, own) = (self.raft.clone(), self.own);
        let written = tokio::spawn(async move {
            let (_room, raft) = (room, raft.wait(None));
            let is_over = |metrics: &RaftMetrics<_, _>| metrics.current_leader != Some(own);
            tokio::select! {
                biased;
                written = written => Some(written),
                // openraft may never answer to what another leader has left out.
                _ = raft.metrics(is_over, "another leads") => None,
            }
        });
        written.await.ok().flatten()
    }
}
