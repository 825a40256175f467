//! What a configuration means: capacity, distance, times.

use std::time::Duration;

use headway_node::{Config, Plan, Timing};

use super::{Bypass, Settings, When};
use crate::membership::roster::Roster;

/// What `headway node check-config` prints; `typical` is how long a ring takes to recover, if that
/// was measured.
pub fn explain(settings: &Settings, typical: Option<Duration>) -> String {
    let (node, timing) = (&settings.node, &settings.timing);
    let mut facts = vec![("node", format!("{} at {}", node.name, node.listen))];
    facts.push(("transport", "UDP, authenticated, not encrypted".into()));
    let keys = "a pair for each member: one that is compromised speaks for itself only";
    facts.push(("keys", keys.into()));
    facts.push(("ring", settings.ring.name.clone()));
    match settings.first_roster() {
        None => {
            let listed = settings.ring.members.iter().map(|member| &member.address);
            let asked: Vec<&str> = listed.map(|at| &**at).collect();
            facts.push(("members", format!("asked for at {}", asked.join(", "))));
        }
        Some(roster) => about_ring(&roster, typical, &mut facts),
    }
    let permit = format!(
        "at most {}, then {} to stop",
        duration(timing.max_hold),
        duration(timing.stop_timeout)
    );
    facts.push(("permit", permit));
    facts.push((
        "silent neighbour",
        format!("after {}", duration(timing.heartbeat_timeout)),
    ));
    let (after, longest) = (
        duration(settings.membership.bypass_after),
        duration(timing.max_hold + timing.stop_timeout),
    );
    let dead = match settings.membership.bypass {
        Bypass::Auto => format!(
            "passed over after {after}, or when its last permit is over ({longest} after its start), \
             by a majority of the voters"
        ),
        Bypass::Never => "stops the ring until it is back or removed".into(),
    };
    facts.push(("dead member", dead));
    let mut name = "permits are for";
    for used in uses(settings) {
        facts.push((std::mem::take(&mut name), used));
    }
    let lines = facts.into_iter();
    lines
        .map(|(name, value)| format!("{name:<22}{value}\n"))
        .collect()
}

fn uses(settings: &Settings) -> impl Iterator<Item = String> {
    let command = settings.command.run.as_ref().map(|command| {
        let when = match settings.command.when {
            When::Every => "at every permit",
            When::Requested => "when requested",
        };
        format!("{} {when}", command.join(" "))
    });
    let api = &settings.api;
    let http = api.http.as_ref();
    let http = http.map(|address| format!("programs at http://{address}"));
    let groups = &settings.fleetlock.groups;
    let fleetlock = settings.fleetlock.enabled;
    let fleetlock = fleetlock.then(|| format!("FleetLock groups {}", groups.join(", ")));
    let socket = Some(format!("programs at {}", api.socket.display()));
    [command, socket, http, fleetlock].into_iter().flatten()
}

/// What follows from a roster and the settings.
fn about_ring(roster: &Roster, typical: Option<Duration>, facts: &mut Vec<(&'static str, String)>) {
    let nodes = roster.active().count();
    facts.push(("members", nodes.to_string()));
    let Ok(plan) = roster.plan() else {
        return;
    };
    let timing = roster.terms.timing();
    let tokens = format!("{} of at most {}", plan.tokens(), plan.capacity());
    facts.push(("tokens", tokens));
    let separation = if plan.tokens() == 1 {
        "a single token has no other to be apart from".into()
    } else {
        format!(
            "{} hops (configured: {})",
            plan.true_separation(),
            plan.wanted()
        )
    };
    facts.push(("true separation", separation));
    let protocol = "moving block: no clock, needs one member of slack";
    facts.push(("protocol", protocol.into()));
    // A hop that waits for nothing still takes a message, which is not counted here.
    let turn = duration(timing.tick * plan.pace() * plan.nodes());
    let turn = format!("at least {turn} when nobody works");
    facts.push(("turn of a token", turn));
    if let Some(typical) = typical {
        let typical = format!("{} when nobody works (measured)", duration(typical));
        facts.push(("typical recovery", typical));
    }
    let bound = |work| {
        let bound = headway_node::recovery_bound(&plan, &timing, timing.tick, work);
        duration(bound)
    };
    let recovery = format!(
        "{} when nobody works, {} when every permit is used to the end (stated, not proved)",
        bound(Duration::ZERO),
        bound(timing.max_hold)
    );
    facts.push(("worst-case recovery", recovery));
    let datagram = roster.place(0, plan).datagram_bytes();
    let traffic = match idle_datagrams(&plan, &timing) {
        Some(rate) => format!(
            "at most {:.0} bytes/s per node while nothing is lost",
            rate * datagram as f64
        ),
        None => format!(
            "datagrams of {datagram} bytes as fast as they travel: set timing.tick for less"
        ),
    };
    facts.push(("idle traffic", traffic));
}

/// How many datagrams a node sends in a second at most, over a turn, while nobody works and
/// nothing is lost; `None` without a pause.
fn idle_datagrams(plan: &Plan, timing: &Timing) -> Option<f64> {
    let (tick, refresh) = (timing.tick.as_secs_f64(), timing.refresh.as_secs_f64());
    // A token is taken, passed on, and its distance is told hop by hop. The patrol stays for
    // four ticks at most.
    (tick > 0.0).then(|| {
        let visits = f64::from(plan.tokens()) / f64::from(plan.nodes()) / tick;
        visits * f64::from(plan.separation() + 2) + 0.25 / tick + 2.0 / refresh
    })
}

/// What the nodes of the first members' ring go by; none if this one asks for them.
pub fn ring(settings: &Settings) -> Vec<Config> {
    let roster = settings.first_roster();
    let plan = roster.as_ref().and_then(|roster| roster.plan().ok());
    let nodes = roster.zip(plan).map(|(roster, plan)| {
        let nodes = 0..plan.nodes();
        nodes.map(|index| roster.place(index, plan)).collect()
    });
    nodes.unwrap_or_default()
}

/// A duration as it would be written in the file, in its largest unit.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let units = [("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let unit = units.into_iter().find(|(_, size)| seconds >= *size);
    let (number, unit) = match unit {
        Some((unit, size)) => (format!("{:.2}", seconds / size), unit),
        None => (format!("{:.3}", seconds * 1e3), "ms"),
    };
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{unit}")
}
