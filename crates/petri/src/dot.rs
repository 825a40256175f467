//! Graphviz DOT.

use std::fmt::Write as _;

use headway_draw::escape::dot;

use crate::net::{Direction, Marking, Net};

/// A net and its marking as a DOT graph: places are circles with their tokens,
/// transitions bars. Positions are given where the net has them (`neato -n`
/// uses them; `dot` finds its own).
///
/// ```
/// use headway_core::{Configuration, Ring, Separation};
/// use headway_petri::{dot, ring};
/// let ring = Ring::with_delays(Separation::new(2).unwrap(), 2, [0]).unwrap();
/// let (net, marking) = ring::to_net(&ring, &Configuration::piled(&ring, 1, 1)).unwrap();
/// assert!(dot::to_string(&net, &marking).contains("\"p0\" -> \"t0\""));
/// ```
pub fn to_string(net: &Net, marking: &Marking) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "digraph {} {{", dot(&net.id));
    text.push_str("  node [fontname=\"Helvetica\", fontsize=10];\n  edge [arrowsize=0.6];\n");
    let at = |position: Option<crate::net::Position>| {
        // DOT counts y upwards.
        position.map_or_else(String::new, |p| format!(", pos=\"{},{}\"", p.x, -p.y))
    };
    let label = |id: &str, name: &str| {
        if name.is_empty() {
            id.to_owned()
        } else {
            name.to_owned()
        }
    };
    for place in 0..net.places() {
        let id = net.place_id(place);
        let tokens = match marking.0[place] {
            0 => String::new(),
            few @ 1..=4 => "•".repeat(few as usize),
            many => many.to_string(),
        };
        let holding = match net.holding(place) {
            1 => String::new(),
            rounds => format!(" ({rounds})"),
        };
        let _ = writeln!(
            text,
            "  {} [shape=circle, fixedsize=true, width=0.35, label={}, xlabel={}{}];",
            dot(id),
            dot(&tokens),
            dot(&format!("{}{holding}", label(id, net.place_name(place)))),
            at(net.place_position(place))
        );
    }
    for transition in 0..net.transitions() {
        let id = net.transition_id(transition);
        let _ = writeln!(
            text,
            "  {} [shape=box, style=filled, fillcolor=black, fixedsize=true, width=0.28, \
             height=0.08, label=\"\", xlabel={}{}];",
            dot(&as_transition(net, id)),
            dot(&label(id, net.transition_name(transition))),
            at(net.transition_position(transition))
        );
    }
    for arc in net.arcs() {
        let place = dot(net.place_id(arc.place as usize));
        let transition = dot(&as_transition(
            net,
            net.transition_id(arc.transition as usize),
        ));
        let (from, to) = match arc.direction {
            Direction::PlaceToTransition => (place, transition),
            Direction::TransitionToPlace => (transition, place),
        };
        let weight = match arc.weight {
            1 => String::new(),
            weight => format!(" [label=\"{weight}\"]"),
        };
        let _ = writeln!(text, "  {from} -> {to}{weight};");
    }
    text.push_str("}\n");
    text
}

/// Ids are unique in PNML; nets built by hand may use one for two nodes.
fn as_transition(net: &Net, id: &str) -> String {
    if net.places() < 1000 && net.find_place(id).is_some() {
        format!("{id} (transition)")
    } else {
        id.to_owned()
    }
}
