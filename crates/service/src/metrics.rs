//! What is counted, and how Prometheus is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use headway_node::Machine;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::agent::Status;
use crate::telemetry::{self, Tally};

/// Counts since the node started.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Permits granted.
    pub permits: u64,
    /// Rounds of machines that are no more.
    pub rounds: u64,
    /// Hops of machines that are no more.
    pub hops: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Datagrams that could not be sent.
    pub unsent: u64,
    /// Datagrams not listened to, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Permits that were not given back in time.
    pub overruns: u64,
    /// How often the command has run.
    pub hook_runs: u64,
    /// How often it failed.
    pub hook_failures: u64,
    /// Bypasses for which there was no majority.
    pub bypass_refused: u64,
    /// What became of what was told to a collector.
    pub telemetry: Arc<Tally>,
    settling: Histogram,
    holds: Histogram,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            permits: 0,
            rounds: 0,
            hops: 0,
            sent: 0,
            sent_bytes: 0,
            unsent: 0,
            rejected: BTreeMap::new(),
            overruns: 0,
            hook_runs: 0,
            hook_failures: 0,
            bypass_refused: 0,
            telemetry: Arc::default(),
            settling: Histogram::new(exponential_buckets(0.01, 4.0, 10)),
            holds: Histogram::new(exponential_buckets(0.01, 4.0, 10)),
        }
    }
}

impl Counts {
    /// The node has settled, after so long.
    pub fn settled(&self, took: Option<Duration>) {
        if let Some(took) = took {
            self.settling.observe(took.as_secs_f64());
        }
    }

    /// A permit was used for so long.
    pub fn held(&self, took: Duration) {
        self.holds.observe(took.as_secs_f64());
    }

    /// A machine is no more: what it counted is kept.
    pub fn close(&mut self, machine: &Machine) {
        self.rounds += machine.rounds();
        self.hops += machine.hops();
    }
}

/// What became of spans, in a program that can send them.
fn spans(tally: &Tally) -> Option<[(&'static str, &'static str, u64); 3]> {
    let count = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    telemetry::AVAILABLE.then(|| {
        [
            (
                "spans_sent",
                "Spans that the collector has taken",
                count(&tally.sent),
            ),
            (
                "spans_failed",
                "Spans that the collector has not taken",
                count(&tally.failed),
            ),
            (
                "spans_dropped",
                "Spans that were too many at once",
                count(&tally.dropped),
            ),
        ]
    })
}

/// The text that Prometheus reads.
pub fn text(status: &Status) -> String {
    let mut registry = Registry::with_prefix("headway");
    let counts = &status.counts;
    for (name, help, value) in [
        ("permits", "Permits granted to this node", counts.permits),
        ("rounds", "Rounds executed", status.round),
        ("hops", "Tokens passed on", status.hops),
        ("datagrams_sent", "Datagrams sent", counts.sent),
        (
            "datagram_bytes_sent",
            "Bytes of datagrams sent",
            counts.sent_bytes,
        ),
        (
            "datagrams_unsent",
            "Datagrams that could not be sent",
            counts.unsent,
        ),
        (
            "permit_overruns",
            "Permits not given back in time",
            counts.overruns,
        ),
        ("hook_runs", "Runs of the command", counts.hook_runs),
        (
            "hook_failures",
            "Runs of the command that failed",
            counts.hook_failures,
        ),
        (
            "bypass_refused",
            "Bypasses not made for want of a majority",
            counts.bypass_refused,
        ),
        (
            "state_failures",
            "Times that the state could not be kept",
            status.store_failures,
        ),
    ]
    .into_iter()
    .chain(spans(&counts.telemetry).into_iter().flatten())
    {
        let counter = Counter::<u64>::default();
        counter.inc_by(value);
        registry.register(name, help, counter);
    }
    for (name, help, value) in [
        (
            "settled",
            "1 when what was seen for a whole turn was legitimate",
            i64::from(status.settled),
        ),
        (
            "holding",
            "Permits in use here",
            status.holding.len() as i64,
        ),
        (
            "silent_neighbours",
            "Neighbours that are silent",
            status.silent.len() as i64,
        ),
        (
            "waiting",
            "Programs and clients that wait for a permit",
            status.waiting as i64,
        ),
        (
            "alarms",
            "Things that somebody should look at",
            status.alarms.len() as i64,
        ),
        ("members", "Nodes on the ring", status.members as i64),
        (
            "bypassed_members",
            "Members left out of the ring",
            status.bypassed.len() as i64,
        ),
        (
            "roster_version",
            "The roster's version",
            status.roster.min(i64::MAX as u64) as i64,
        ),
    ] {
        let gauge = Gauge::<i64>::default();
        gauge.set(value);
        registry.register(name, help, gauge);
    }
    let rejected = Family::<Vec<(&'static str, &'static str)>, Counter>::default();
    for (&reason, &count) in &status.rejected {
        rejected
            .get_or_create(&vec![("reason", reason)])
            .inc_by(count);
    }
    registry.register("rejected", "Datagrams not listened to", rejected);
    let settling = counts.settling.clone();
    registry.register_with_unit("settling", "Time to settle", Unit::Seconds, settling);
    let holds = counts.holds.clone();
    registry.register_with_unit("hold", "Time that a permit was used", Unit::Seconds, holds);
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = encode(&mut text, &registry);
    text
}
