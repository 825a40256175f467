//! What is under way and will be told of when it is over.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::desk::Who;
use crate::telemetry::{Episode, Outcome, Teller, What};

/// Permits in use, for whoever wants to be told; nothing if nobody does.
#[derive(Debug, Default)]
pub(super) struct Episodes {
    pub(super) teller: Option<Teller>,
    /// By token and fencing number: since when, by whom, and how it ends if it ends now.
    permits: BTreeMap<(u32, u64), (Duration, Who, Outcome)>,
}

impl Episodes {
    /// A permit is used from now on.
    pub(super) fn began(&mut self, now: Duration, token: u32, fence: u64, who: Who) {
        if self.teller.is_some() {
            // A token is in one place: whatever else was noted of it is over.
            self.permits.retain(|(other, _), _| *other != token);
            self.permits
                .insert((token, fence), (now, who, Outcome::Expired));
        }
    }

    /// How a permit will have ended.
    pub(super) fn outcome(&mut self, token: u32, fence: u64, outcome: Outcome) {
        if let Some((.., known)) = self.permits.get_mut(&(token, fence)) {
            *known = outcome;
        }
    }

    /// A permit is no longer used.
    pub(super) fn ended(&mut self, now: Duration, token: u32, fence: u64) {
        if let Some((began, who, outcome)) = self.permits.remove(&(token, fence)) {
            let what = What::Permit {
                token,
                fence,
                who,
                outcome,
            };
            self.tell(what, began, now);
        }
    }

    /// The node has settled.
    pub(super) fn settled(&self, began: Duration, now: Duration) {
        self.tell(What::Settling, began, now);
    }

    fn tell(&self, what: What, began: Duration, ended: Duration) {
        if let Some(teller) = &self.teller {
            teller.tell(Episode { what, began, ended });
        }
    }
}
