//! The construction of both kinds of control.

use std::collections::HashSet;
use std::f64::consts::TAU;

use headway_core::bound;

use super::{Method, NoBound, NotSeparable, Request, Separated};
use crate::net::{Adjacency, Direction, Marking, Net, Position};
use crate::ring::{add_minor_ring, layout::minor_ring};

/// Adds control to a net.
///
/// # Errors
///
/// [`NotSeparable`] when there is no room for the tokens, or the request does
/// not fit the net.
///
/// ```
/// use headway_petri::circuit::Circuit;
/// use headway_petri::net::{Direction::*, Marking, Net};
/// use headway_petri::separate::{add, observe, Method, Request};
/// // Six places in a circle, two tokens on one of them.
/// let mut plant = Net::new("plant");
/// for k in 0..6 { plant.add_place(&format!("p{k}"), 1); }
/// for k in 0..6 {
///     plant.add_transition(&format!("t{k}"));
///     plant.add_arc(k, k, PlaceToTransition, 1);
///     plant.add_arc((k + 1) % 6, k, TransitionToPlace, 1);
/// }
/// let start = Marking(vec![2, 0, 0, 0, 0, 0]);
/// let circuit = Circuit::named(&plant, &["p0", "p1", "p2", "p3", "p4", "p5"]).unwrap();
/// let request = Request { circuit: circuit.clone(), separation: 3, at: None, method: Method::MinorRing };
/// let done = add(&plant, &start, &request).unwrap();
/// let after = observe(&done.net, &done.marking, &circuit, 3, 1_000).unwrap();
/// assert_eq!(after.separation, Some(3));
/// assert!(after.separated_from.unwrap() <= done.bound.unwrap());
/// ```
pub fn add(plant: &Net, marking: &Marking, request: &Request) -> Result<Separated, NotSeparable> {
    let adjacency = plant.adjacency();
    let at = check(plant, marking, &adjacency, request)?;
    let hops = request.separation as usize;
    let illegal = illegal_rows(marking, request);
    let bound = closed_form(plant, marking, &adjacency, request, &at);
    let mut net = plant.clone();
    net.ring = None;
    let mut tokens = marking.0.clone();
    let mut ids = FreshIds::of(plant);
    let (places_before, transitions_before) = (net.places(), net.transitions());
    match request.method {
        Method::MinorRing => {
            for &position in &at {
                let transition = request.circuit.transitions[position];
                let prefix = ids.fresh(&format!("minor_{}", plant.transition_id(transition)));
                let first_inner = net.transitions();
                let first = add_minor_ring(&mut net, transition, hops, &prefix);
                tokens.resize(first + hops, 0);
                tokens[first] = 1;
                draw_minor_ring(&mut net, plant, request, position, first, first_inner);
            }
        }
        Method::Monitor => {
            for position in 0..request.circuit.places.len() {
                add_monitor(&mut net, &mut tokens, &mut ids, plant, request, position);
            }
        }
    }
    Ok(Separated {
        places_added: (places_before..net.places()).collect(),
        transitions_added: (transitions_before..net.transitions()).collect(),
        net,
        marking: Marking(tokens),
        at,
        illegal,
        bound,
    })
}

/// Checks the request; returns the positions of minor rings.
fn check(
    plant: &Net,
    marking: &Marking,
    adjacency: &Adjacency,
    request: &Request,
) -> Result<Vec<usize>, NotSeparable> {
    let places = request.circuit.places.len();
    let tokens = request.circuit.tokens(marking);
    let separation = request.separation;
    if separation == 0 {
        return Err(NotSeparable::Nothing);
    }
    if u128::from(tokens) * u128::from(separation) > places as u128 {
        return Err(NotSeparable::NoRoom {
            tokens,
            separation,
            places,
        });
    }
    for (position, &place) in request.circuit.places.iter().enumerate() {
        let after = request.circuit.transitions[position];
        let before = request.circuit.transitions[(position + places - 1) % places];
        let of = |arcs: &[(u32, u64)], end: usize| {
            arcs.iter()
                .find(|&&(other, _)| other as usize == end)
                .map_or(1, |&(_, weight)| weight)
        };
        for weight in [
            of(adjacency.consumers(place), after),
            of(adjacency.producers(place), before),
        ] {
            if weight != 1 {
                let place = plant.place_id(place).to_owned();
                return Err(NotSeparable::Weight { place, weight });
            }
        }
    }
    let mut at = match &request.at {
        Some(positions) => positions.clone(),
        None => (0..places).step_by(separation as usize).collect(),
    };
    at.sort_unstable();
    at.dedup();
    if let Some(&position) = at.iter().find(|&&position| position >= places) {
        return Err(NotSeparable::NotThere { position, places });
    }
    match request.method {
        Method::MinorRing if at.is_empty() => Err(NotSeparable::NoTransition),
        Method::MinorRing => Ok(at),
        Method::Monitor => Ok(Vec::new()),
    }
}

/// The places of the row of D that begins at a position.
fn row(request: &Request, position: usize) -> impl Iterator<Item = usize> + '_ {
    let places = &request.circuit.places;
    let hops = (request.separation as usize).min(places.len());
    (position..position + hops).map(move |step| places[step % places.len()])
}

fn illegal_rows(marking: &Marking, request: &Request) -> Vec<usize> {
    let tokens = |position: &usize| {
        row(request, *position)
            .map(|place| marking.0[place])
            .sum::<u64>()
    };
    let positions = 0..request.circuit.places.len();
    positions.filter(|position| tokens(position) > 1).collect()
}

/// One place that a token's way into a row of D needs and its way out gives back.
fn add_monitor(
    net: &mut Net,
    tokens: &mut Vec<u64>,
    ids: &mut FreshIds,
    plant: &Net,
    request: &Request,
    position: usize,
) {
    let length = request.circuit.places.len();
    let hops = request.separation as usize;
    let first = request.circuit.places[position];
    let id = ids.fresh(&format!("monitor_{}", plant.place_id(first)));
    let monitor = net.add_place(&id, 1);
    let inside: u64 = row(request, position).map(|place| tokens[place]).sum();
    tokens.push(1_u64.saturating_sub(inside));
    let entry = request.circuit.transitions[(position + length - 1) % length];
    let exit = request.circuit.transitions[(position + hops - 1) % length];
    // With D as long as the circuit, entry and exit are one transition: a loop.
    net.add_arc(monitor, entry, Direction::PlaceToTransition, 1);
    net.add_arc(monitor, exit, Direction::TransitionToPlace, 1);
    let middle = centre(plant, request);
    if let (Some(middle), Some(at)) = (middle, plant.place_position(first)) {
        let towards = |from: f64, to: f64| from + (to - from) * 0.35;
        let position = Position {
            x: towards(at.x, middle.x),
            y: towards(at.y, middle.y),
        };
        net.set_place_position(monitor, Some(position));
    }
}

/// The closed form of [`headway_core::bound`], where it applies: the circuit
/// with loops of one token is all there is to its transitions. It is the last
/// round after which a token can rest; that token then has its place D behind the
/// next one already, since the one ahead has moved on for D - 1 rounds.
fn closed_form(
    plant: &Net,
    marking: &Marking,
    adjacency: &Adjacency,
    request: &Request,
    at: &[usize],
) -> Result<u64, NoBound> {
    if request.method == Method::Monitor {
        return Err(NoBound::Monitor);
    }
    let circuit = &request.circuit;
    for (position, &place) in circuit.places.iter().enumerate() {
        if plant.holding(place) != 1 {
            return Err(NoBound::Holding {
                place: plant.place_id(place).to_owned(),
                rounds: plant.holding(place),
            });
        }
        let transition = circuit.transitions[position];
        let harmless = |&(input, weight): &(u32, u64)| {
            let input = input as usize;
            let sole = |ends: &[(u32, u64)]| ends == [(transition as u32, 1)];
            let loop_of_one = sole(adjacency.producers(input))
                && sole(adjacency.consumers(input))
                && plant.holding(input) == 1
                && marking.0[input] == 1;
            weight == 1 && (input == place || loop_of_one)
        };
        if adjacency.consumers(place).len() != 1 || adjacency.producers(place).len() != 1 {
            let place = plant.place_id(place).to_owned();
            return Err(NoBound::Shared { place });
        }
        if !adjacency.inputs(transition).iter().all(harmless) {
            return Err(NoBound::Entangled {
                transition: plant.transition_id(transition).to_owned(),
            });
        }
    }
    let processes = circuit.places.len() as u64;
    let gap = bound::widest_gap(at.iter().map(|&position| position as u64), processes);
    let gap = gap.unwrap_or(processes);
    let tokens = circuit.tokens(marking);
    let mut last_rest = bound::worst_last_rest(tokens, request.separation, gap);
    if request.separation == 1 && tokens > 1 {
        // There the closed form counts on relays that pass one token a round. A
        // transition without a loop passes all, so that a pile stays one until
        // it comes to a minor ring.
        last_rest = last_rest.and_then(|round| round.checked_add(gap - 1));
    }
    last_rest.ok_or(NoBound::Empty)
}

fn centre(plant: &Net, request: &Request) -> Option<Position> {
    let places = &request.circuit.places;
    let mut sum = Position::default();
    for &place in places {
        let at = plant.place_position(place)?;
        sum.x += at.x;
        sum.y += at.y;
    }
    let count = places.len() as f64;
    Some(Position {
        x: sum.x / count,
        y: sum.y / count,
    })
}

/// Outwards from the circuit's centre, as a circle through the transition.
fn draw_minor_ring(
    net: &mut Net,
    plant: &Net,
    request: &Request,
    position: usize,
    first: usize,
    first_inner: usize,
) {
    let transition = request.circuit.transitions[position];
    let (Some(middle), Some(joint)) = (
        centre(plant, request),
        plant.transition_position(transition),
    ) else {
        return;
    };
    let hops = request.separation as usize;
    let radius = (2 * hops).max(3) as f64 * 36.0 / TAU;
    let angle = (joint.y - middle.y).atan2(joint.x - middle.x);
    let hub = Position {
        x: joint.x + (radius + 24.0) * angle.cos(),
        y: joint.y + (radius + 24.0) * angle.sin(),
    };
    minor_ring(
        net,
        hops,
        (first, first_inner),
        hub,
        radius,
        angle + TAU / 2.0,
    );
}

/// Ids that begin with nothing that the plant has.
struct FreshIds {
    taken: HashSet<String>,
}

impl FreshIds {
    fn of(plant: &Net) -> FreshIds {
        let places = (0..plant.places()).map(|place| plant.place_id(place).to_owned());
        let transitions = (0..plant.transitions()).map(|t| plant.transition_id(t).to_owned());
        FreshIds {
            taken: places.chain(transitions).collect(),
        }
    }

    /// An id with which none that is taken begins, so that numbers may follow.
    fn fresh(&mut self, wish: &str) -> String {
        let mut id = wish.to_owned();
        while self.taken.iter().any(|taken| taken.starts_with(&id)) {
            id.push('_');
        }
        self.taken.insert(id.clone());
        id
    }
}
