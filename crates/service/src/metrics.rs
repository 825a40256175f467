//! What is counted, and how Prometheus is told.

use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::agent::Status;
use crate::permits::{Outcome, Used};

/// Counts since the node started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Permits granted.
    pub(crate) permits: u64,
    sent: u64,
    sent_bytes: u64,
    /// Datagrams that could not be sent.
    pub(crate) unsent: u64,
    overruns: u64,
    command_runs: u64,
    command_failures: u64,
    /// Bypasses for which there was no majority.
    pub(crate) bypass_refused: u64,
    /// How often something could not be kept.
    pub(crate) store_failures: u64,
    settling: Seconds,
    holds: Seconds,
}

/// How long something took, how often.
#[derive(Clone, Debug)]
struct Seconds(Histogram);

impl Default for Seconds {
    fn default() -> Seconds {
        Seconds(Histogram::new(exponential_buckets(0.01, 4.0, 10)))
    }
}

impl Seconds {
    fn add(&self, took: Duration) {
        self.0.observe(took.as_secs_f64());
    }
}

impl Counts {
    /// The node has settled, after so long.
    pub(crate) fn settled(&self, took: Option<Duration>) {
        if let Some(took) = took {
            self.settling.add(took);
        }
    }

    /// A datagram is sent.
    pub(crate) const fn sent(&mut self, datagram: &[u8]) {
        self.sent += 1;
        self.sent_bytes += datagram.len() as u64;
    }

    /// The command has run for so long.
    pub(crate) fn command_ended(&mut self, outcome: Outcome, took: Duration) {
        self.command_runs += 1;
        self.command_failures += u64::from(outcome == Outcome::Failed);
        self.holds.add(took);
    }

    /// A permit is not used any more. Those of commands are counted when the command ends.
    pub(crate) fn permit_ended(&mut self, used: &Used) {
        match used.outcome {
            Outcome::Released => self.holds.add(used.took),
            Outcome::Overrun => {
                self.overruns += 1;
                let (grant, holder) = (used.grant, &used.holder);
                let late = "a permit was not given back in time; its fencing number is over";
                tracing::error!(grant.token, grant.fence, ?holder, "{late}");
            }
            Outcome::Succeeded | Outcome::Failed | Outcome::Expired => {}
        }
    }
}

/// The text that Prometheus reads.
pub(crate) fn text(status: &Status) -> String {
    let mut registry = Registry::with_prefix("headway");
    let counts = &status.counts;
    let mut counter = |name: &str, help: &str, value| {
        let counter = Counter::<u64>::default();
        counter.inc_by(value);
        registry.register(name, help, counter);
    };
    counter("permits", "Permits granted to this node", counts.permits);
    counter("laps", "Visits of the patrol", status.laps);
    counter("hops", "Tokens passed on", status.hops);
    counter("datagrams_sent", "Datagrams sent", counts.sent);
    counter(
        "datagram_bytes_sent",
        "Bytes of datagrams sent",
        counts.sent_bytes,
    );
    counter(
        "datagrams_unsent",
        "Datagrams that could not be sent",
        counts.unsent,
    );
    counter(
        "permit_overruns",
        "Permits not given back in time",
        counts.overruns,
    );
    counter("command_runs", "Runs of the command", counts.command_runs);
    counter(
        "command_failures",
        "Runs of the command that failed",
        counts.command_failures,
    );
    counter(
        "bypass_refused",
        "Bypasses not made for want of a majority",
        counts.bypass_refused,
    );
    counter(
        "state_failures",
        "Times that the state could not be kept",
        counts.store_failures,
    );
    let mut gauge = |name: &str, help: &str, value: u64| {
        let gauge = Gauge::<i64>::default();
        gauge.set(value.min(i64::MAX as u64) as i64);
        registry.register(name, help, gauge);
    };
    gauge(
        "settled",
        "1 when what was seen for a whole turn was legitimate",
        status.settled.into(),
    );
    gauge(
        "holding",
        "Permits in use here",
        status.holding.len() as u64,
    );
    gauge(
        "silent_neighbours",
        "Neighbours that are silent",
        status.silent.len() as u64,
    );
    gauge(
        "waiting",
        "Programs and clients that wait for a permit",
        status.waiting as u64,
    );
    gauge(
        "alarms",
        "Things that somebody should look at",
        status.alarms.len() as u64,
    );
    gauge("members", "Nodes on the ring", status.members as u64);
    gauge(
        "bypassed_members",
        "Members left out of the ring",
        status.bypassed.len() as u64,
    );
    gauge(
        "membership_version",
        "The membership's version",
        status.membership,
    );
    let rejected = Family::<Vec<(&'static str, String)>, Counter>::default();
    for (reason, &count) in &status.rejected {
        rejected
            .get_or_create(&vec![("reason", reason.to_string())])
            .inc_by(count);
    }
    registry.register("rejected", "Datagrams not listened to", rejected);
    let mut seconds = |name: &str, help: &str, seconds: &Seconds| {
        registry.register_with_unit(name, help, Unit::Seconds, seconds.0.clone());
    };
    seconds("settling", "Time to settle", &counts.settling);
    seconds("hold", "Time that a permit was used", &counts.holds);
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = encode(&mut text, &registry);
    text
}
