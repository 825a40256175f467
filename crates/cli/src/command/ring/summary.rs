//! What is left of a ring that ran.

use std::io::{self, Write};
use std::time::Duration;

use headway_node::{Plan, recovery_rounds};
use headway_stage::live_ring::{Carrier, LiveRing, NodeSample};
use headway_stage::observer::{Observer, Recovery};
use serde_json::{Value, json};

use crate::report::count;
use crate::report::style::tick;

/// A ring that has stopped, and what is said of it.
pub(super) struct Summary {
    pub(super) title: String,
    pub(super) ring: LiveRing,
    pub(super) observer: Observer,
    pub(super) nodes: Vec<NodeSample>,
    pub(super) elapsed: Duration,
    pub(super) events: Vec<(Duration, String)>,
}

impl Summary {
    fn plan(&self) -> &Plan {
        &self.ring.settings().plan
    }

    fn settled(&self) -> bool {
        let mut nodes = self.nodes.iter();
        self.observer.is_settled() && nodes.all(|node| node.alive && node.settled)
    }

    fn first_settled(&self) -> Option<Duration> {
        self.ring.recovery_rounds().first().map(|&(at, _)| at)
    }

    fn rounds(&self) -> u64 {
        self.nodes.iter().map(|node| node.rounds).max().unwrap_or(0)
    }

    fn hops(&self) -> u64 {
        self.nodes.iter().map(|node| node.hops).sum()
    }

    /// The fewest and the most at a node.
    fn visits(&self) -> (u64, u64) {
        let visits = self.observer.visits().iter().copied();
        (visits.clone().min().unwrap_or(0), visits.max().unwrap_or(0))
    }

    /// Each with the rounds that it took.
    fn recoveries(&self) -> impl Iterator<Item = (&Recovery, Option<u64>)> {
        let found = self.ring.recovery_rounds();
        self.observer.recoveries().iter().map(|recovery| {
            let rounds = found.iter().find(|(at, _)| Some(*at) == recovery.settled);
            (recovery, rounds.map(|&(_, rounds)| rounds))
        })
    }

    /// Settled, and nothing happened that was promised not to.
    pub(super) fn good(&self) -> bool {
        self.settled() && self.observer.violation_count() == 0
    }

    fn per_second(&self, number: u64) -> f64 {
        (number as f64 / self.elapsed.as_secs_f64() * 10.0).round() / 10.0
    }

    pub(super) fn json(&self) -> Value {
        let seconds = |duration: Duration| duration.as_micros() as f64 / 1e6;
        let recoveries = self.recoveries().map(|(recovery, rounds)| {
            json!({
                "fault": recovery.fault,
                "at_s": seconds(recovery.at),
                "settled_after_s": recovery.settled.map(|at| seconds(at - recovery.at)),
                "settled_after_rounds": rounds,
            })
        });
        let events = self.events.iter();
        let events = events.map(|(at, what)| json!({ "at_s": seconds(*at), "what": what }));
        let rejected = self.ring.rejected().into_iter();
        let rejected = rejected.map(|(reason, count)| (reason.name().to_owned(), json!(count)));
        let (plan, settings, observer) = (self.plan(), self.ring.settings(), &self.observer);
        let violations = observer.violations().iter().map(ToString::to_string);
        let visits = self.visits();
        json!({
            "settled": self.settled(),
            "rounds": self.rounds(),
            "hops": self.hops(),
            "min_true_distance": observer.least_distance(),
            "violations": observer.violation_count(),
            "violations_while_unsettled": observer.unsettled_count(),
            "first_violations": violations.collect::<Vec<_>>(),
            "permits": observer.grants(),
            "elapsed_s": seconds(self.elapsed),
            "rounds_per_second": self.per_second(self.rounds()),
            "hops_per_second": self.per_second(self.hops()),
            "first_settled_s": self.first_settled().map(seconds),
            "recovery_bound_rounds": recovery_rounds(plan),
            "recoveries": recoveries.collect::<Vec<_>>(),
            "events": events.collect::<Vec<_>>(),
            "fairness": { "visits_min": visits.0, "visits_max": visits.1 },
            "plan": {
                "nodes": plan.nodes(),
                "tokens": plan.tokens(),
                "wanted_separation": plan.wanted(),
                "true_separation": plan.true_separation(),
                "logical_separation": plan.separation(),
                "pace": plan.pace(),
                "token_capacity": plan.capacity(),
            },
            "transport": match settings.carrier {
                Carrier::Memory => "memory",
                Carrier::Udp => "udp",
            },
            "authenticated": settings.key.authenticates(),
            "rejected": rejected.collect::<serde_json::Map<_, _>>(),
            "seed": settings.seed,
        })
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (observer, wanted) = (&self.observer, self.plan().wanted());
        writeln!(out, "{}", self.title)?;
        let first = match self.first_settled() {
            Some(at) => format!("first after {:.3} s", at.as_secs_f64()),
            None => "never".to_owned(),
        };
        writeln!(out, "{} settled          {first}", tick(self.settled()))?;
        let least = observer.least_distance();
        let distance = match least {
            Some(hops) => format!("{hops}, of {wanted} wanted, since it settled"),
            None => "no two permits were in use at once since it settled".to_owned(),
        };
        let apart = least.is_none_or(|hops| hops >= wanted);
        writeln!(out, "{} least distance   {distance}", tick(apart))?;
        let recovering = match observer.unsettled_count() {
            0 => String::new(),
            number => format!("; {number} before it had settled, when nothing is promised"),
        };
        let violations = observer.violation_count();
        let mark = tick(violations == 0);
        writeln!(out, "{mark} violations       {violations}{recovering}")?;
        for violation in observer.violations() {
            writeln!(out, "    {violation}")?;
        }
        for (recovery, rounds) in self.recoveries() {
            let took = match (recovery.settled, rounds) {
                (Some(at), Some(rounds)) => format!(
                    "settled after {:.3} s and {} (stated bound {})",
                    (at - recovery.at).as_secs_f64(),
                    count(rounds, "round"),
                    recovery_rounds(self.plan())
                ),
                _ => "not settled".to_owned(),
            };
            let name = format!("{} at {:.3} s", recovery.fault, recovery.at.as_secs_f64());
            writeln!(out, "{} {name}: {took}", tick(recovery.settled.is_some()))?;
        }
        writeln!(
            out,
            "  {} in {:.1} s: {} a second; {}, {} a second",
            count(self.rounds(), "round"),
            self.elapsed.as_secs_f64(),
            self.per_second(self.rounds()),
            count(self.hops(), "hop"),
            self.per_second(self.hops()),
        )?;
        let (permits, (fewest, most)) = (count(observer.grants(), "permit"), self.visits());
        writeln!(
            out,
            "  {permits}; since it settled {fewest} to {most} at each node"
        )?;
        let rejected = self.ring.rejected().into_iter();
        let rejected = rejected.filter(|(_, count)| *count > 0);
        let rejected = rejected.map(|(reason, count)| format!("{} {count}", reason.name()));
        let rejected: Vec<String> = rejected.collect();
        if !rejected.is_empty() {
            writeln!(out, "  datagrams rejected: {}", rejected.join(", "))?;
        }
        Ok(())
    }
}
