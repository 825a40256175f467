//! What is left of a ring that ran.

use std::io::{self, Write};
use std::time::Duration;

use headway_node::{Plan, recovery_rounds};
use headway_stage::live_ring::{Carrier, LiveRing, NodeSample};
use headway_stage::observer::Recovery;
use serde_json::{Value, json};

use crate::report::count;
use crate::report::style::tick;

/// The run in numbers.
pub(super) struct Summary {
    title: String,
    plan: Plan,
    carrier: Carrier,
    authenticated: bool,
    seed: u64,
    elapsed: Duration,
    settled: bool,
    settled_first: Option<Duration>,
    rounds: u64,
    hops: u64,
    permits: u64,
    least_distance: Option<u32>,
    violations: u64,
    violations_unsettled: u64,
    shown: Vec<String>,
    visits: (u64, u64),
    recoveries: Vec<(Recovery, Option<u64>)>,
    events: Vec<(Duration, String)>,
    rejected: Vec<(&'static str, u64)>,
}

impl Summary {
    pub(super) fn new(
        ring: &LiveRing,
        nodes: &[NodeSample],
        title: String,
        elapsed: Duration,
        events: Vec<(Duration, String)>,
    ) -> Summary {
        let settings = ring.settings();
        let observer = ring.observer();
        let found = ring.recovery_rounds();
        let visits = observer.visits().iter().copied();
        Summary {
            title,
            plan: settings.plan,
            carrier: settings.carrier,
            authenticated: settings.key.authenticates(),
            seed: settings.seed,
            elapsed,
            settled: observer.is_settled() && nodes.iter().all(|node| node.alive && node.settled),
            settled_first: found.first().map(|&(at, _)| at),
            rounds: nodes.iter().map(|node| node.rounds).max().unwrap_or(0),
            hops: nodes.iter().map(|node| node.hops).sum(),
            permits: observer.grants(),
            least_distance: observer.least_distance(),
            violations: observer.violation_count(),
            violations_unsettled: observer.unsettled_count(),
            shown: observer
                .violations()
                .iter()
                .map(ToString::to_string)
                .collect(),
            visits: (visits.clone().min().unwrap_or(0), visits.max().unwrap_or(0)),
            recoveries: observer
                .recoveries()
                .iter()
                .map(|recovery| {
                    let rounds = found.iter().find(|(at, _)| Some(*at) == recovery.settled);
                    (recovery.clone(), rounds.map(|&(_, rounds)| rounds))
                })
                .collect(),
            events,
            rejected: ring
                .rejected()
                .into_iter()
                .map(|(reason, count)| (reason.name(), count))
                .collect(),
        }
    }

    /// Settled, and nothing happened that was promised not to.
    pub(super) fn good(&self) -> bool {
        self.settled && self.violations == 0
    }

    fn per_second(&self, number: u64) -> f64 {
        (number as f64 / self.elapsed.as_secs_f64() * 10.0).round() / 10.0
    }

    pub(super) fn json(&self) -> Value {
        let seconds = |duration: Duration| duration.as_micros() as f64 / 1e6;
        let recoveries: Vec<Value> = self
            .recoveries
            .iter()
            .map(|(recovery, rounds)| {
                json!({
                    "fault": recovery.fault,
                    "at_s": seconds(recovery.at),
                    "settled_after_s": recovery.settled.map(|at| seconds(at - recovery.at)),
                    "settled_after_rounds": rounds,
                })
            })
            .collect();
        let events: Vec<Value> = self
            .events
            .iter()
            .map(|(at, what)| json!({ "at_s": seconds(*at), "what": what }))
            .collect();
        let rejected: serde_json::Map<String, Value> = self
            .rejected
            .iter()
            .map(|(reason, count)| ((*reason).to_owned(), json!(count)))
            .collect();
        json!({
            "settled": self.settled,
            "rounds": self.rounds,
            "hops": self.hops,
            "min_true_distance": self.least_distance,
            "violations": self.violations,
            "violations_while_unsettled": self.violations_unsettled,
            "first_violations": self.shown,
            "permits": self.permits,
            "elapsed_s": seconds(self.elapsed),
            "rounds_per_second": self.per_second(self.rounds),
            "hops_per_second": self.per_second(self.hops),
            "first_settled_s": self.settled_first.map(seconds),
            "recovery_bound_rounds": recovery_rounds(&self.plan),
            "recoveries": recoveries,
            "events": events,
            "fairness": { "visits_min": self.visits.0, "visits_max": self.visits.1 },
            "plan": {
                "nodes": self.plan.nodes(),
                "tokens": self.plan.tokens(),
                "wanted_separation": self.plan.wanted(),
                "true_separation": self.plan.true_separation(),
                "logical_separation": self.plan.separation(),
                "pace": self.plan.pace(),
                "token_capacity": self.plan.capacity(),
            },
            "transport": match self.carrier {
                Carrier::Memory => "memory",
                Carrier::Udp => "udp",
            },
            "authenticated": self.authenticated,
            "rejected": rejected,
            "seed": self.seed,
        })
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.title)?;
        let first = match self.settled_first {
            Some(at) => format!("first after {:.3} s", at.as_secs_f64()),
            None => "never".to_owned(),
        };
        writeln!(out, "{} settled          {first}", tick(self.settled))?;
        let distance = match self.least_distance {
            Some(hops) => format!("{hops}, of {} wanted, since it settled", self.plan.wanted()),
            None => "no two permits were in use at once since it settled".to_owned(),
        };
        let apart = self
            .least_distance
            .is_none_or(|hops| hops >= self.plan.wanted());
        writeln!(out, "{} least distance   {distance}", tick(apart))?;
        let recovering = match self.violations_unsettled {
            0 => String::new(),
            number => format!("; {number} before it had settled, when nothing is promised"),
        };
        writeln!(
            out,
            "{} violations       {}{recovering}",
            tick(self.violations == 0),
            self.violations
        )?;
        for violation in &self.shown {
            writeln!(out, "    {violation}")?;
        }
        for (recovery, rounds) in &self.recoveries {
            let took = match (recovery.settled, rounds) {
                (Some(at), Some(rounds)) => format!(
                    "settled after {:.3} s and {} (stated bound {})",
                    (at - recovery.at).as_secs_f64(),
                    count(*rounds, "round"),
                    recovery_rounds(&self.plan)
                ),
                _ => "not settled".to_owned(),
            };
            let name = format!("{} at {:.3} s", recovery.fault, recovery.at.as_secs_f64());
            writeln!(out, "{} {name}: {took}", tick(recovery.settled.is_some()))?;
        }
        writeln!(
            out,
            "  {} in {:.1} s: {} a second; {}, {} a second",
            count(self.rounds, "round"),
            self.elapsed.as_secs_f64(),
            self.per_second(self.rounds),
            count(self.hops, "hop"),
            self.per_second(self.hops),
        )?;
        writeln!(
            out,
            "  {}; since it settled {} to {} at each node",
            count(self.permits, "permit"),
            self.visits.0,
            self.visits.1
        )?;
        let rejected: Vec<String> = self
            .rejected
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| format!("{reason} {count}"))
            .collect();
        if !rejected.is_empty() {
            writeln!(out, "  datagrams rejected: {}", rejected.join(", "))?;
        }
        Ok(())
    }
}
