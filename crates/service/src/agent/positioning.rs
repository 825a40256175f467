//! Taking a place on the ring, using it, and leaving it.

use std::time::Duration;

use headway_node::Config;

use super::Agent;
use crate::membership::roster::Roster;
use crate::permits::Grant;

/// Fencing numbers grow by as much in a second at most.
const HOPS_PER_SECOND: u64 = 1 << 20;

/// How much larger than the time of day says a fencing number may be: by a century or more.
const A_CENTURY: u64 = 1 << 52;

impl Agent {
    /// Gives a permit to whoever wants it.
    pub(super) fn grant(&mut self, now: Duration, grant: Grant, since: Duration) {
        self.permits.handle_granted(now, grant, since);
    }

    pub(super) fn leave(&mut self, now: Duration) {
        self.fence = self.fence.max(self.position.fence());
        self.position.leave(now);
        // Whoever has left the ring uses none of its permits, whatever neighbours answer.
        self.membership.drop_challenges();
        self.permits.handle_left(now);
    }

    /// A permit of before may be in use, here or elsewhere, and nothing here knows of it.
    pub(super) fn bar(&mut self, now: Duration) {
        self.barred_since = Some(now);
    }

    /// It may still be. What was kept may be an older roster than the one that it is of, so the
    /// one that there is by now says how long it lasts.
    fn is_barred(&self, now: Duration) -> bool {
        let timing = &self.settings.timing;
        let own = timing.max_hold + timing.stop_timeout;
        let agreed = self.membership.roster().map(Roster::longest_permit);
        let longest = agreed.unwrap_or(own);
        self.barred_since.is_some_and(|since| now < since + longest)
    }

    /// Larger than any fencing number so far: larger than those that this node has seen, and
    /// as large as if a token had made a million hops a second since 1970, so that numbers do
    /// not start again when all nodes have lost everything.
    fn fence_floor(&self, now: Duration) -> u64 {
        let elapsed = self.fence_of_time(now);
        elapsed.max(self.fence.saturating_add(HOPS_PER_SECOND))
    }

    fn fence_of_time(&self, now: Duration) -> u64 {
        // Not in whole seconds: all nodes may lose everything twice in one.
        let nanos = self.epoch.saturating_add(now).as_nanos();
        let elapsed = nanos.saturating_mul(HOPS_PER_SECOND.into()) / 1_000_000_000;
        u64::try_from(elapsed).unwrap_or(u64::MAX)
    }

    /// This node's place by the roster. No fencing number there is much larger than the time of day
    /// and the roster's version make it, whichever clocks are wrong by decades: whoever says so would
    /// use up all that there are, or all that programs can compare.
    pub(super) fn place(&mut self, now: Duration) -> Option<Config> {
        let mut config = self.membership.place()?;
        let here = config.fence_floor.max(self.fence_of_time(now));
        // The next roster has room for more, if somebody has used this up.
        let more = config.fence_floor >> 10;
        config.fence_ceiling = here.saturating_add(A_CENTURY).saturating_add(more);
        Some(config)
    }

    /// Takes the place on the ring of the roster when nothing is left to wait for. Whether it
    /// has.
    pub(super) fn take_position(&mut self, now: Duration) -> bool {
        let busy = self.position.machine().is_some() || self.stopping.is_some();
        let busy = busy || self.is_barred(now);
        if busy || self.permits.permits().next().is_some() || !self.membership.is_free(now) {
            return false;
        }
        let Some(mut config) = self.place(now) else {
            return false;
        };
        config.fence_floor = config.fence_floor.max(self.fence_floor(now));
        // Without them there is an alarm about the node's own key.
        let Some(keys) = self.membership.link_keys(&config) else {
            return false;
        };
        if let Err(error) = self.position.take(now, config, keys) {
            self.membership.handle_no_place(error);
            return false;
        }
        self.neighbours_due = true;
        true
    }
}
