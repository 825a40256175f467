//! A ring drawn as a ring: the major one in the middle, minor rings and loops
//! around it, each beside its transition.

use std::f64::consts::TAU;

use headway_core::Ring;

use crate::net::{Net, Position};

/// Between two neighbouring nodes, in the units of PNML positions (points).
const SPACING: f64 = 44.0;

/// From a joint transition to its minor ring, so that neither covers the other.
const STAND_OFF: f64 = 0.6 * SPACING;

/// Positions for the nodes of a ring's net, in the order in which they are made.
pub(super) fn draw(net: &mut Net, ring: &Ring) {
    let processes = ring.len();
    let hops = ring.separation().hops() as usize;
    let minor_radius = radius(2 * hops);
    let largest_minor = if ring.delays().next().is_some() {
        minor_radius
    } else {
        0.0
    };
    // Neighbouring minor rings must not overlap, so the major ring makes room.
    let crowd = if ring.delay_count() > 1 {
        (2.0 * largest_minor + SPACING) * processes as f64 / TAU - largest_minor - STAND_OFF
    } else {
        0.0
    };
    let major_radius = radius(2 * processes).max(crowd).max(1.2 * SPACING);
    let margin = 2.0 * largest_minor + 2.0 * SPACING + STAND_OFF;
    let centre = major_radius + margin;
    let on_major = |half_steps: usize, out: f64| {
        let angle = TAU * half_steps as f64 / (2 * processes) as f64 - TAU / 4.0;
        at(centre, centre, major_radius + out, angle)
    };
    for process in 0..processes {
        net.set_place_position(process, Some(on_major(2 * process, 0.0)));
        net.set_transition_position(process, Some(on_major(2 * process + 1, 0.0)));
    }
    let mut place = processes;
    let mut inner = processes;
    for (process, program) in ring.programs().iter().enumerate() {
        let half_step = 2 * process + 1;
        if !program.delays() || hops == 1 {
            net.set_place_position(place, Some(on_major(half_step, SPACING)));
            place += 1;
            continue;
        }
        let hub = on_major(half_step, minor_radius + STAND_OFF);
        let joint_angle = TAU * half_step as f64 / (2 * processes) as f64 + TAU / 4.0;
        minor_ring(net, hops, (place, inner), hub, minor_radius, joint_angle);
        place += hops;
        inner += hops - 1;
    }
}

/// A minor ring around its hub, from the first place and the first inner transition on; the
/// joint is at an angle. From there backwards: the place that feeds it comes first.
pub(crate) fn minor_ring(
    net: &mut Net,
    hops: usize,
    (place, inner): (usize, usize),
    hub: Position,
    radius: f64,
    joint_angle: f64,
) {
    let around = |half_steps: usize| {
        let turn = TAU * half_steps as f64 / (2 * hops) as f64;
        Some(at(hub.x, hub.y, radius, joint_angle - turn))
    };
    for step in 0..hops {
        net.set_place_position(place + step, around(2 * step + 1));
        if step > 0 {
            net.set_transition_position(inner + step - 1, around(2 * step));
        }
    }
}

/// The radius of a circle on which `nodes` nodes are a spacing apart.
fn radius(nodes: usize) -> f64 {
    nodes as f64 * SPACING / TAU
}

/// Rounded to tenths: editors need no more, and files stay small.
fn at(x: f64, y: f64, radius: f64, angle: f64) -> Position {
    let tenth = |value: f64| (value * 10.0).round() / 10.0;
    Position {
        x: tenth(x + radius * angle.cos()),
        y: tenth(y + radius * angle.sin()),
    }
}
