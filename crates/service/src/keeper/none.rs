//! A node that was built without openraft: it keeps no log.

use tokio::sync::watch;

use super::post::{Answer, Post, Question};
use super::{Change, Leave, Roster, Setup, Tell};

/// There is none.
pub(super) enum Keeper {}

impl Keeper {
    /// Says that there should be one, if the roster says so.
    pub(super) async fn start(
        setup: &Setup,
        roster: watch::Receiver<Roster>,
        _: &Post,
        _: &Tell,
        _: (&Leave, Option<String>),
    ) -> Result<Option<Keeper>, String> {
        let roster = roster.borrow();
        let mut keepers = roster.keepers();
        if keepers.any(|keeper| keeper.name == setup.name) {
            tracing::warn!(
                "this program keeps no log of rosters: members are added, removed and bypassed \
                 only if enough others do (cargo build --release --features keepers)"
            );
        }
        Ok(None)
    }

    pub(super) async fn write(&self, _: Change) -> Answer {
        match *self {}
    }

    pub(super) async fn answer(&self, _: &str, _: Question) -> Option<Vec<u8>> {
        match *self {}
    }

    pub(super) const fn forget(_: &Setup, _: u64) {}

    pub(super) async fn stop(&self) {
        match *self {}
    }
}
