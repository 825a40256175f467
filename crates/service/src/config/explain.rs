//! What a configuration means: capacity, distance, times.

use std::fmt::Write as _;
use std::time::Duration;

use super::Settings;
use crate::roster::Roster;

/// What `headway node check-config` prints.
pub fn explain(settings: &Settings) -> String {
    let mut text = String::new();
    let timing = &settings.timing;
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<22}{value}");
    };
    line(
        "node",
        format!("{} at {}", settings.node.name, settings.node.listen),
    );
    let transport = match &settings.zenoh {
        None => "UDP, authenticated by the ring's key, not encrypted",
        Some(zenoh) if zenoh.tls.is_some() => "Zenoh, mutual TLS",
        Some(_) => "Zenoh over TCP, authenticated by the ring's key, not encrypted",
    };
    line("transport", transport.into());
    line("ring", settings.ring.name.clone());
    match settings.first_roster() {
        None => line(
            "members",
            format!("asked for at {}", settings.ring.seeds.join(", ")),
        ),
        Some(roster) => {
            for (name, value) in facts(settings, &roster) {
                line(name, value);
            }
        }
    }
    line(
        "permit",
        format!(
            "at most {}, then {} to stop",
            duration(timing.dwell_most),
            duration(timing.grace)
        ),
    );
    line(
        "silent neighbour",
        format!("after {}", duration(timing.silence)),
    );
    let membership = &settings.membership;
    line(
        "bypass",
        if membership.bypass {
            format!(
                "after {} of silence, with a majority",
                duration(membership.bypass_after)
            )
        } else {
            "never: a dead member stops the ring until it is back or removed".into()
        },
    );
    let uses = [
        settings.hook.as_ref().map(|hook| {
            let when = if hook.every {
                "at every permit"
            } else {
                "when asked"
            };
            format!("{} {when}", hook.command.join(" "))
        }),
        Some(format!("programs at {}", settings.api.socket.display())),
        settings
            .api
            .http
            .as_ref()
            .map(|address| format!("programs at http://{address}")),
        settings
            .fleetlock
            .enabled
            .then(|| format!("FleetLock groups {}", settings.fleetlock.groups.join(", "))),
    ];
    for (at, used) in uses.into_iter().flatten().enumerate() {
        line(if at == 0 { "permits are for" } else { "" }, used);
    }
    text
}

/// What follows from a roster and the settings, for people.
pub fn facts(settings: &Settings, roster: &Roster) -> Vec<(&'static str, String)> {
    let nodes = roster.active().count();
    let mut facts = vec![("members", nodes.to_string())];
    let Ok(plan) = settings.plan(nodes) else {
        return facts;
    };
    let timing = &settings.timing;
    facts.push((
        "tokens",
        format!("{} of at most {}", plan.tokens(), plan.capacity()),
    ));
    facts.push((
        "true separation",
        if plan.tokens() == 1 {
            "a single token has no other to be apart from".into()
        } else {
            format!(
                "{} hops (asked for {})",
                plan.true_separation(),
                plan.wanted()
            )
        },
    ));
    facts.push((
        "protocol",
        format!(
            "separation {} in logical time, a round every {} ticks",
            plan.separation(),
            plan.pace()
        ),
    ));
    let idle = round_time(settings, plan.pace());
    facts.push((
        "round",
        format!("at least {} when nobody works", duration(idle)),
    ));
    facts.push((
        "turn of a token",
        format!(
            "at least {} when nobody works",
            duration(idle * plan.nodes())
        ),
    ));
    let rounds = headway_node::recovery_rounds(&plan);
    let bound = |work| headway_node::recovery_bound(&plan, timing, timing.tick, work);
    facts.push((
        "worst-case recovery",
        format!(
            "{rounds} rounds: {} when nobody works, {} when every permit is used to the end",
            duration(bound(Duration::ZERO)),
            duration(bound(timing.dwell_most))
        ),
    ));
    let datagram = settings.machine(roster, 0, plan).datagram_bytes();
    // A tick is told to both neighbours, and so is a state that does not change.
    let pause = timing.refresh.min(timing.tick).as_secs_f64();
    facts.push((
        "idle traffic",
        if pause > 0.0 {
            let rate = 2.0 / pause * datagram as f64;
            format!("at most {rate:.0} bytes/s per node, whatever the ring's size")
        } else {
            format!(
                "datagrams of {datagram} bytes as fast as they travel: set timing.tick for less"
            )
        },
    ));
    facts
}

/// A round when nobody works: as many ticks as the pace, each at least `tick`. A tick
/// that waits for nothing still takes a message, which is not counted here.
fn round_time(settings: &Settings, pace: u32) -> Duration {
    settings.timing.tick * pace
}

/// A duration as it would be written in the file.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    for (unit, size) in [("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)] {
        if seconds >= size {
            let number = format!("{:.2}", seconds / size);
            let number = number.trim_end_matches('0').trim_end_matches('.');
            return format!("{number}{unit}");
        }
    }
    let milliseconds = format!("{:.3}", seconds * 1e3);
    format!(
        "{}ms",
        milliseconds.trim_end_matches('0').trim_end_matches('.')
    )
}
