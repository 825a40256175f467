//! What is left of a ring that ran.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use headway_node::{Plan, recovery_rounds};
use headway_stage::live_ring::{Carrier, LiveRing, NodeSample};
use headway_stage::observer::{Observer, Recovery};
use serde::Serialize;

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

/// What `headway ring` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RingJson {
    /// Whether what nodes have seen for a whole turn was legitimate.
    settled: bool,
    /// Rounds that were run or forecast.
    rounds: u64,
    /// Tokens passed on.
    hops: u64,
    /// Smallest distance between permits in real time since settled, in hops; null: never two.
    min_true_distance: Option<u32>,
    /// Permits too close while settled.
    violations: u64,
    /// Permits too close before, which nobody promises to avoid.
    violations_while_unsettled: u64,
    /// The first of them.
    first_violations: Vec<String>,
    /// Permits granted.
    permits: u64,
    /// Seconds that it ran.
    elapsed_s: f64,
    /// Rounds a second.
    rounds_per_second: f64,
    /// Tokens passed on a second.
    hops_per_second: f64,
    /// Seconds until it had settled first; null: never.
    first_settled_s: Option<f64>,
    /// Rounds by which it is settled again after any fault, as stated: not proved, and no run has
    /// needed more.
    recovery_bound_rounds: u64,
    recoveries: Vec<RealRecovery>,
    /// What happened.
    events: Vec<Event>,
    /// Permits of the node with fewest and of that with most.
    fairness: Fairness,
    /// What the protocol was told.
    plan: PlanJson,
    /// What carries the datagrams.
    transport: &'static str,
    /// Whether a key protects the datagrams.
    authenticated: bool,
    /// Datagrams that were not listened to, by reason.
    rejected: BTreeMap<&'static str, u64>,
    /// Seed of every random choice.
    seed: u64,
}

/// A fault, and when the ring had settled again.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RealRecovery {
    /// The fault, as on the command line.
    fault: String,
    /// When, in seconds from the start.
    at_s: f64,
    /// Seconds from the fault until it had settled; null: it has not.
    settled_after_s: Option<f64>,
    /// The same in rounds.
    settled_after_rounds: Option<u64>,
}

/// Something that happened.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Event {
    /// When, in seconds from the start.
    at_s: f64,
    /// What it was.
    what: String,
}

/// How evenly nodes were visited.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Fairness {
    /// The fewest.
    visits_min: u64,
    /// The most.
    visits_max: u64,
}

/// The plan of the ring.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlanJson {
    /// How many nodes.
    nodes: u32,
    /// m, a number of tokens.
    tokens: u32,
    /// Asked for, in real time.
    wanted_separation: u32,
    /// Kept in real time.
    true_separation: u32,
    /// Set in logical time.
    logical_separation: u32,
    /// A round is executed in every pace-th tick.
    pace: u32,
    /// How many tokens could be had at the separation asked for.
    token_capacity: u32,
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

    pub(super) fn json(&self) -> RingJson {
        let seconds = |duration: Duration| duration.as_micros() as f64 / 1e6;
        let recovery = |(recovery, rounds): (&Recovery, Option<u64>)| RealRecovery {
            fault: recovery.fault.clone(),
            at_s: seconds(recovery.at),
            settled_after_s: recovery.settled.map(|at| seconds(at - recovery.at)),
            settled_after_rounds: rounds,
        };
        let event = |(at, what): &(Duration, String)| Event {
            at_s: seconds(*at),
            what: what.clone(),
        };
        let rejected = self.ring.rejected().into_iter();
        let (plan, settings, observer) = (self.plan(), self.ring.settings(), &self.observer);
        let violations = observer.violations().iter().map(ToString::to_string);
        let (visits_min, visits_max) = self.visits();
        RingJson {
            settled: self.settled(),
            rounds: self.rounds(),
            hops: self.hops(),
            min_true_distance: observer.least_distance(),
            violations: observer.violation_count(),
            violations_while_unsettled: observer.unsettled_count(),
            first_violations: violations.collect(),
            permits: observer.grants(),
            elapsed_s: seconds(self.elapsed),
            rounds_per_second: self.per_second(self.rounds()),
            hops_per_second: self.per_second(self.hops()),
            first_settled_s: self.first_settled().map(seconds),
            recovery_bound_rounds: recovery_rounds(plan),
            recoveries: self.recoveries().map(recovery).collect(),
            events: self.events.iter().map(event).collect(),
            fairness: Fairness {
                visits_min,
                visits_max,
            },
            plan: PlanJson {
                nodes: plan.nodes(),
                tokens: plan.tokens(),
                wanted_separation: plan.wanted(),
                true_separation: plan.true_separation(),
                logical_separation: plan.separation(),
                pace: plan.pace(),
                token_capacity: plan.capacity(),
            },
            transport: match settings.carrier {
                Carrier::Memory => "memory",
                Carrier::Udp => "udp",
            },
            authenticated: settings.key.authenticates(),
            rejected: rejected
                .map(|(reason, count)| (reason.name(), count))
                .collect(),
            seed: settings.seed,
        }
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
