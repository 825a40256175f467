//! What a configuration means: capacity, distance, times.

use std::time::Duration;

use super::{Settings, When};
use crate::membership::roster::Roster;

/// What `headway node check-config` prints.
pub fn explain(settings: &Settings) -> String {
    let (node, timing) = (&settings.node, &settings.timing);
    let mut facts = vec![("node", format!("{} at {}", node.name, node.listen))];
    let transport = node.transport.explained(settings.zenoh.tls().is_some());
    facts.push(("transport", transport.into()));
    facts.push(("ring", settings.ring.name.clone()));
    match settings.first_roster() {
        None => facts.push((
            "members",
            format!("asked for at {}", settings.ring.seeds.join(", ")),
        )),
        Some(roster) => about_ring(settings, &roster, &mut facts),
    }
    let permit = format!(
        "at most {}, then {} to stop",
        duration(timing.dwell_most),
        duration(timing.grace)
    );
    facts.push(("permit", permit));
    facts.push((
        "silent neighbour",
        format!("after {}", duration(timing.silence)),
    ));
    let bypass = if settings.membership.bypass {
        let after = duration(settings.membership.bypass_after);
        format!("after {after} of silence, with a majority")
    } else {
        "never: a dead member stops the ring until it is back or removed".into()
    };
    facts.push(("bypass", bypass));
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
    let command = settings.hook.command.as_ref().map(|command| {
        let when = match settings.hook.when {
            When::Every => "at every permit",
            When::Asked => "when asked",
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
fn about_ring(settings: &Settings, roster: &Roster, facts: &mut Vec<(&'static str, String)>) {
    let nodes = roster.active().count();
    facts.push(("members", nodes.to_string()));
    let Ok(plan) = settings.plan(nodes) else {
        return;
    };
    if settings.is_fixed() {
        let config = settings.machine(roster, 0, plan);
        let identity = hex::encode(config.ring.0);
        facts.push((
            "for boards",
            format!("ring {identity}, fences from {}", config.fence_floor),
        ));
    }
    let timing = settings.timing.timing();
    let tokens = format!("{} of at most {}", plan.tokens(), plan.capacity());
    facts.push(("tokens", tokens));
    let separation = if plan.tokens() == 1 {
        "a single token has no other to be apart from".into()
    } else {
        format!(
            "{} hops (asked for {})",
            plan.true_separation(),
            plan.wanted()
        )
    };
    facts.push(("true separation", separation));
    let protocol = format!(
        "separation {} in logical time, a round every {} ticks",
        plan.separation(),
        plan.pace()
    );
    facts.push(("protocol", protocol));
    // A tick that waits for nothing still takes a message, which is not counted here.
    let round = timing.tick * plan.pace();
    for (name, time) in [("round", round), ("turn of a token", round * plan.nodes())] {
        let time = format!("at least {} when nobody works", duration(time));
        facts.push((name, time));
    }
    let bound = |work| {
        let bound = headway_node::recovery_bound(&plan, &timing, timing.tick, work);
        duration(bound)
    };
    let recovery = format!(
        "{} rounds: {} when nobody works, {} when every permit is used to the end",
        headway_node::recovery_rounds(&plan),
        bound(Duration::ZERO),
        bound(timing.dwell_most)
    );
    facts.push(("worst-case recovery", recovery));
    let datagram = settings.machine(roster, 0, plan).datagram_bytes();
    // A tick is told to both neighbours, and so is a state that does not change.
    let pause = timing.refresh.min(timing.tick).as_secs_f64();
    let traffic = if pause > 0.0 {
        let rate = 2.0 / pause * datagram as f64;
        format!("at most {rate:.0} bytes/s per node, whatever the ring's size")
    } else {
        format!("datagrams of {datagram} bytes as fast as they travel: set timing.tick for less")
    };
    facts.push(("idle traffic", traffic));
}

/// A duration as it would be written in the file, in its largest unit.
pub(super) fn duration(duration: Duration) -> String {
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
