//! What somebody should know: datagrams that were refused, and alarms.

use std::time::Duration;

use super::Agent;

impl Agent {
    /// Counts datagrams that were not listened to, and says so now and then.
    pub(super) fn refused(&mut self, now: Duration, reason: &'static str, count: u64) {
        *self.counts.rejected.entry(reason).or_default() += count;
        // Nodes that start and change rings are out of step for a moment; that is
        // not worth a line.
        if matches!(reason, "stale" | "ring" | "no_ring" | "sender" | "receiver") {
            tracing::debug!(reason, count, "datagrams rejected");
            return;
        }
        let last = self.complained.get(reason);
        if last.is_none_or(|last| now.saturating_sub(*last) >= Duration::from_secs(10)) {
            let total = self.counts.rejected[reason];
            tracing::warn!(reason, count, total, "datagrams rejected");
            self.complained.insert(reason, now);
        }
    }

    pub(super) fn alarm(&mut self, key: &str, raised: bool, text: impl FnOnce() -> String) {
        if !raised {
            self.alarms.remove(key);
        } else if !self.alarms.contains_key(key) {
            let text = text();
            tracing::error!(alarm = %text);
            self.alarms.insert(key.to_owned(), text);
        }
    }
}
