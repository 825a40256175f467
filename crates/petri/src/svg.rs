//! A net as a picture.
//!
//! Nodes are drawn where the net says; a net without positions is laid out on
//! one circle, each transition after the place that feeds it. The picture
//! follows the viewer's light or dark setting.

use std::f64::consts::TAU;

use headway_draw::{Path, Point, Svg, Theme};

use crate::net::{Arc, Direction, Marking, Net, Position};

/// What to point out.
#[derive(Clone, Debug, Default)]
pub struct Highlight {
    /// Places in the colour of the critical part.
    pub places: Vec<usize>,
    /// Places in the colour of what was added.
    pub added: Vec<usize>,
    /// A line of text below the picture.
    pub caption: String,
}

/// Labels are left out above this many nodes: they would cover the picture.
const LABELLED: usize = 160;

const PLACE_RADIUS: f64 = 13.0;
const BAR: (f64, f64) = (20.0, 7.0);

const RULES: &str = "\
text { font-size: 9px; dominant-baseline: central }
.count { font-size: 11px; font-weight: 600 }
.caption { font-size: 13px }
.label { fill: $muted }
.place { fill: $raised; stroke: $ink; stroke-width: 1.4 }
.bar, .token { fill: $ink }
.arc { stroke: $relay; stroke-width: 1.1; fill: none; marker-end: url(#head) }
.head { fill: $relay }
.critical { stroke: $bad; stroke-width: 2.2 }
.arc.critical { marker-end: url(#hot) }
.hot { fill: $bad }
.added { stroke: $good }
.place.added { stroke-width: 2; stroke-dasharray: 4 2 }
";

/// Heads of arrows.
const HEADS: &str = "\
<defs>
<marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path class=\"head\" d=\"M0 0.8 8 4 0 7.2z\"/></marker>
<marker id=\"hot\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"5\" markerHeight=\"5\" orient=\"auto\"><path class=\"hot\" d=\"M0 0.8 8 4 0 7.2z\"/></marker>
</defs>
";

/// A net and its marking as an SVG file.
///
/// ```
/// use headway_core::{Configuration, Ring, Separation};
/// use headway_petri::{ring, svg};
/// let ring = Ring::with_delays(Separation::new(3).unwrap(), 6, [0]).unwrap();
/// let (net, marking) = ring::to_net(&ring, &Configuration::piled(&ring, 2, 2)).unwrap();
/// let picture = svg::draw(&net, &marking, &svg::Highlight::default());
/// assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
/// ```
pub fn draw(net: &Net, marking: &Marking, highlight: &Highlight) -> String {
    let at = Layout::of(net);
    let name = match net.name.as_str() {
        "" => &net.id,
        name => name,
    };
    let (corner, mut size) = at.frame();
    let below = (corner.0 + size.0 / 2.0, corner.1 + size.1 + 14.0);
    if !highlight.caption.is_empty() {
        size.1 += 30.0;
    }
    let title = format!("Petri net: {name}");
    let mut picture = Svg::new(corner, size, &title, Theme::Auto, RULES);
    picture.raw(HEADS);
    let mut class = vec![""; net.places()];
    for &place in &highlight.added {
        class[place] = "added";
    }
    for &place in &highlight.places {
        class[place] = "critical";
    }
    arcs(&mut picture, net, &at, &class);
    let mut labels = Labels::default();
    let labelled = net.places() + net.transitions() <= LABELLED;
    for (transition, inner) in inner_transitions(net, &class).into_iter().enumerate() {
        let Position { x, y } = at.transitions[transition];
        let turn = format!("rotate({:.0} {x:.1} {y:.1})", at.bar_angle(net, transition));
        let corner = (x - BAR.0 / 2.0, y - BAR.1 / 2.0);
        let bar = picture.rect("bar", corner, BAR).number("rx", 1.5);
        bar.set("transform", &turn);
        if labelled && !inner {
            let of = |arc: &&Arc| arc.transition as usize == transition;
            let others = net.arcs().iter().filter(of);
            let others = others.map(|arc| at.places[arc.place as usize]);
            let name = net.transition_id(transition);
            labels.add(&mut picture, at.transitions[transition], others, name);
        }
    }
    for (place, &class) in class.iter().enumerate() {
        let Position { x, y } = at.places[place];
        picture.circle(&format!("place {class}"), (x, y), PLACE_RADIUS);
        tokens(&mut picture, at.places[place], marking.0[place]);
        if labelled && class != "added" {
            let id = net.place_id(place);
            let name = match net.holding(place) {
                1 => id.to_owned(),
                rounds => format!("{id} ({rounds})"),
            };
            let of = |arc: &&Arc| arc.place as usize == place;
            let others = net.arcs().iter().filter(of);
            let others = others.map(|arc| at.transitions[arc.transition as usize]);
            labels.add(&mut picture, at.places[place], others, &name);
        }
    }
    if !highlight.caption.is_empty() {
        picture.text("caption middle", below, &highlight.caption);
    }
    picture.finish()
}

/// Transitions between added places only; like those they go without a label.
fn inner_transitions(net: &Net, class: &[&str]) -> Vec<bool> {
    let mut inner = vec![true; net.transitions()];
    for arc in net.arcs() {
        inner[arc.transition as usize] &= class[arc.place as usize] == "added";
    }
    inner
}

struct Layout {
    places: Vec<Position>,
    transitions: Vec<Position>,
}

impl Layout {
    fn of(net: &Net) -> Layout {
        let places: Option<Vec<_>> = (0..net.places()).map(|p| net.place_position(p)).collect();
        let transitions = (0..net.transitions()).map(|t| net.transition_position(t));
        let transitions: Option<Vec<_>> = transitions.collect();
        match (places, transitions) {
            (Some(places), Some(transitions)) => Layout {
                places,
                transitions,
            },
            _ => Layout::circle(net),
        }
    }

    /// Depth-first along the arcs, so that a circuit comes out as one.
    fn circle(net: &Net) -> Layout {
        let adjacency = net.adjacency();
        let places = net.places();
        let nodes = places + net.transitions();
        let mut met = vec![false; nodes];
        let mut order = Vec::with_capacity(nodes);
        for root in 0..nodes {
            let mut open = vec![root];
            while let Some(node) = open.pop() {
                if std::mem::replace(&mut met[node], true) {
                    continue;
                }
                order.push(node);
                let next = if node < places {
                    adjacency.consumers(node)
                } else {
                    adjacency.outputs(node - places)
                };
                let shift = if node < places { places } else { 0 };
                open.extend(next.iter().rev().map(|&(other, _)| other as usize + shift));
            }
        }
        let radius = (nodes as f64 * 46.0 / TAU).max(60.0);
        let mut at = vec![Position::default(); nodes];
        for (step, &node) in order.iter().enumerate() {
            let angle = TAU * step as f64 / nodes as f64 - TAU / 4.0;
            at[node] = Position {
                x: radius * angle.cos(),
                y: radius * angle.sin(),
            };
        }
        Layout {
            transitions: at.split_off(places),
            places: at,
        }
    }

    /// Corner and size of everything, with a margin.
    fn frame(&self) -> (Point, Point) {
        let all = || self.places.iter().chain(&self.transitions);
        if all().next().is_none() {
            return ((0.0, 0.0), (240.0, 60.0));
        }
        let min = |of: fn(&Position) -> f64| all().map(of).fold(f64::INFINITY, f64::min);
        let max = |of: fn(&Position) -> f64| all().map(of).fold(f64::NEG_INFINITY, f64::max);
        let (left, top) = (min(|p| p.x) - 45.0, min(|p| p.y) - 35.0);
        let (right, bottom) = (max(|p| p.x) + 45.0, max(|p| p.y) + 40.0);
        ((left, top), (right - left, bottom - top))
    }

    /// A bar lies across the way from its input places to its output places.
    fn bar_angle(&self, net: &Net, transition: usize) -> f64 {
        if net.arcs().len() > 4 * LABELLED {
            return 0.0;
        }
        let own = self.transitions[transition];
        let (mut dx, mut dy) = (0.0, 0.0);
        for arc in net
            .arcs()
            .iter()
            .filter(|arc| arc.transition as usize == transition)
        {
            let place = self.places[arc.place as usize];
            let sign = match arc.direction {
                Direction::TransitionToPlace => 1.0,
                Direction::PlaceToTransition => -1.0,
            };
            dx += sign * (place.x - own.x);
            dy += sign * (place.y - own.y);
        }
        dy.atan2(dx).to_degrees() + 90.0
    }
}

fn arcs(picture: &mut Svg, net: &Net, at: &Layout, class: &[&str]) {
    for arc in net.arcs() {
        let place = at.places[arc.place as usize];
        let transition = at.transitions[arc.transition as usize];
        let (from, to, trim_from, trim_to) = match arc.direction {
            Direction::PlaceToTransition => (place, transition, PLACE_RADIUS, 5.0),
            Direction::TransitionToPlace => (transition, place, 4.0, PLACE_RADIUS + 1.0),
        };
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let length = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        let start = (from.x + ux * trim_from, from.y + uy * trim_from);
        let end = (to.x - ux * trim_to, to.y - uy * trim_to);
        let both_ways = net.arcs().len() <= 4 * LABELLED
            && net.arcs().iter().any(|other| {
                other.place == arc.place
                    && other.transition == arc.transition
                    && other.direction != arc.direction
            });
        let bend = if both_ways { 9.0 } else { 0.0 };
        let middle = (
            (start.0 + end.0) / 2.0 - uy * bend,
            (start.1 + end.1) / 2.0 + ux * bend,
        );
        let class = format!("arc {}", class[arc.place as usize]);
        let mut path = Path::default();
        path.to('M', &[start]).to('Q', &[middle, end]);
        picture.path(&class, &path);
        if arc.weight > 1 {
            let beside = (middle.0 - uy * 8.0, middle.1 + ux * 8.0);
            let weight = arc.weight.to_string();
            picture.text("count middle", beside, &weight);
        }
    }
}

fn tokens(picture: &mut Svg, at: Position, count: u64) {
    let spots: &[(f64, f64)] = match count {
        0 => return,
        1 => &[(0.0, 0.0)],
        2 => &[(-4.5, 0.0), (4.5, 0.0)],
        3 => &[(0.0, -4.5), (-4.5, 3.5), (4.5, 3.5)],
        4 => &[(-4.0, -4.0), (4.0, -4.0), (-4.0, 4.0), (4.0, 4.0)],
        _ => {
            picture.text("count middle", (at.x, at.y), &count.to_string());
            return;
        }
    };
    for (dx, dy) in spots {
        picture.circle("token", (at.x + dx, at.y + dy), 3.0);
    }
}

/// Names of nodes, each below, beside or above its node: on the side furthest from the
/// arcs to others that no name has taken, and below if that is nearly as good.
#[derive(Default)]
struct Labels(Vec<(Point, Point)>);

impl Labels {
    fn add(
        &mut self,
        picture: &mut Svg,
        at: Position,
        others: impl Iterator<Item = Position>,
        name: &str,
    ) {
        let arcs: Vec<f64> = others.map(|to| (to.y - at.y).atan2(to.x - at.x)).collect();
        // As wide and as high as a name of this font is at most, from its middle.
        let half = (name.chars().count() as f64 * 2.8, 5.0);
        let (beside, below) = (PLACE_RADIUS + 4.0, PLACE_RADIUS + 8.0);
        let sides = [
            (TAU / 4.0, "middle", (0.0, below), (0.0, below)),
            (0.0, "", (beside, 0.0), (beside + half.0, 0.0)),
            (TAU / 2.0, "end", (-beside, 0.0), (-beside - half.0, 0.0)),
            (-TAU / 4.0, "middle", (0.0, -below), (0.0, -below)),
        ];
        let overlaps = |middle: Point| {
            let near = |a: f64, b: f64, both: f64| (a - b).abs() < both;
            let hit = |(other, size): &(Point, Point)| {
                near(other.0, middle.0, size.0 + half.0) && near(other.1, middle.1, size.1 + half.1)
            };
            self.0.iter().any(hit)
        };
        let room = |turn: f64| {
            let apart = arcs.iter().map(|arc| {
                let turn = (arc - turn).rem_euclid(TAU);
                turn.min(TAU - turn)
            });
            apart.fold(TAU, f64::min)
        };
        let mut best = (f64::NEG_INFINITY, "", (at.x, at.y), (at.x, at.y));
        for (which, (turn, anchor, start, middle)) in sides.into_iter().enumerate() {
            let middle = (at.x + middle.0, at.y + middle.1);
            let bonus = if which == 0 { 0.2 } else { 0.0 };
            let malus = if overlaps(middle) { TAU } else { 0.0 };
            let worth = room(turn) + bonus - malus;
            if worth > best.0 {
                best = (worth, anchor, (at.x + start.0, at.y + start.1), middle);
            }
        }
        let (_, anchor, start, middle) = best;
        picture.text(format!("label {anchor}").trim_end(), start, name);
        self.0.push((middle, half));
    }
}
