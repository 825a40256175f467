//! Which ring a net embodies, told by its shape.

use headway_core::{Configuration, Process, Program, Ring, Separation};
use thiserror::Error;

use crate::graph::EventGraph;
use crate::net::{Marking, Net};

/// Why a net is not the net of a ring, and what would make it one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not the net of a ring: {0}")]
pub struct NotARing(String);

/// The ring and the state that a marked net embodies.
///
/// The shape decides, not the identifiers, so that a net drawn elsewhere is
/// recognised too; process 0 is the one whose place comes first in the file.
/// Where the shape leaves a choice, [`crate::net::RingNote`] decides if it fits; without
/// one, a minor ring of one place is a relay's loop, and a token is queued
/// rather than resting wherever the process before it can just have released it.
///
/// # Errors
///
/// [`NotARing`] says what is missing and where.
pub fn from_net(net: &Net, marking: &Marking) -> Result<(Ring, Configuration), NotARing> {
    let graph = EventGraph::of(net, marking).map_err(|why| NotARing(why.to_string()))?;
    let shape = Shape::of(net, &graph)?;
    let ring = shape.ring(net)?;
    let state = shape.state(net, marking, &ring)?;
    Ok((ring, state))
}

/// The transitions of the major ring of a ring's net, process 0 first.
///
/// # Errors
///
/// As [`from_net`].
pub fn major_transitions(net: &Net, marking: &Marking) -> Result<Vec<usize>, NotARing> {
    let graph = EventGraph::of(net, marking).map_err(|why| NotARing(why.to_string()))?;
    let shape = Shape::of(net, &graph)?;
    let after = |&place: &usize| graph.arc(place).to as usize;
    Ok(shape.major.iter().map(after).collect())
}

/// The major ring from its first place on, and the minor ring of each process,
/// the place that feeds the joint transition first.
struct Shape {
    major: Vec<usize>,
    minor: Vec<Vec<usize>>,
}

impl Shape {
    fn of(net: &Net, graph: &EventGraph) -> Result<Shape, NotARing> {
        let fail = |text: String| Err(NotARing(text));
        if let Some(place) = net.first_not_unit() {
            return fail(format!(
                "place {} holds tokens for {} rounds, expected 1",
                net.place_id(place),
                net.holding(place)
            ));
        }
        let mut inputs = vec![[usize::MAX; 2]; net.transitions()];
        let mut outputs = inputs.clone();
        for place in 0..net.places() {
            let arc = graph.arc(place);
            for (slots, transition) in [
                (&mut inputs, arc.to as usize),
                (&mut outputs, arc.from as usize),
            ] {
                let [first, second] = &mut slots[transition];
                if *first == usize::MAX {
                    *first = place;
                } else if *second == usize::MAX {
                    *second = place;
                } else {
                    return fail(format!(
                        "transition {} has more than two input or output places",
                        net.transition_id(transition)
                    ));
                }
            }
        }
        let joint = |transition: usize| inputs[transition][1] != usize::MAX;
        for transition in 0..net.transitions() {
            if joint(transition) != (outputs[transition][1] != usize::MAX)
                || inputs[transition][0] == usize::MAX
                || outputs[transition][0] == usize::MAX
            {
                return fail(format!(
                    "transition {} has not as many output as input places",
                    net.transition_id(transition)
                ));
            }
        }
        let Some(first_place) = (0..net.places()).next() else {
            return fail("the net has no places".to_owned());
        };
        // The circuit from an output place of a joint, back to that joint if
        // it passes no other: a minor ring, in the order of the tokens' way.
        let minor_from = |start: usize| -> Option<Vec<usize>> {
            let home = graph.arc(start).from;
            let mut way = vec![start];
            loop {
                let next = graph.arc(*way.last()?).to;
                if joint(next as usize) {
                    return (next == home).then_some(way);
                }
                way.push(outputs[next as usize][0]);
            }
        };
        let mut major = Vec::new();
        let mut minor = Vec::new();
        let mut place = first_place;
        loop {
            let transition = graph.arc(place).to as usize;
            if !joint(transition) {
                return fail(format!(
                    "transition {} has no loop and no minor ring, so it can pass several tokens \
                     in a round; give it a loop of one place with one token to make it a relay",
                    net.transition_id(transition)
                ));
            }
            let [one, other] = outputs[transition];
            // In a ring of one process both outputs come back; the place that
            // is first in the file is the major one.
            let (next, way) = if net.transitions() > 0 && one == first_place {
                (one, minor_from(other))
            } else if other == first_place {
                (other, minor_from(one))
            } else if let Some(way) = minor_from(one) {
                (other, Some(way))
            } else {
                (one, minor_from(other))
            };
            let Some(mut way) = way else {
                return fail(format!(
                    "transition {} is on no minor ring of its own",
                    net.transition_id(transition)
                ));
            };
            way.reverse();
            major.push(place);
            minor.push(way);
            place = next;
            if place == first_place {
                break;
            }
            if major.len() > net.places() {
                return fail("its circuits do not form one major ring".to_owned());
            }
        }
        let covered = major.len() + minor.iter().map(Vec::len).sum::<usize>();
        if covered != net.places() {
            return fail(format!(
                "{} places belong neither to the major ring nor to a minor one",
                net.places().abs_diff(covered)
            ));
        }
        Ok(Shape { major, minor })
    }

    fn ring(&self, net: &Net) -> Result<Ring, NotARing> {
        let note = net.ring.as_ref();
        let longest = self.minor.iter().map(Vec::len).max().unwrap_or(1);
        let hops = match note {
            // Without delays the shape does not say d; the note may.
            Some(note) if longest == 1 => note.separation.max(1) as usize,
            _ => longest,
        };
        let misfit = (0..self.minor.len())
            .find(|&process| self.minor[process].len() != 1 && self.minor[process].len() != hops);
        if let Some(process) = misfit {
            return Err(NotARing(format!(
                "minor rings differ: that of {} has {} places, another has {hops}; \
                 one separation is expected everywhere",
                net.place_id(self.major[process]),
                self.minor[process].len()
            )));
        }
        let mut programs: Vec<Program> = self
            .minor
            .iter()
            .map(|minor| {
                if minor.len() > 1 {
                    Program::Delay
                } else {
                    Program::Relay
                }
            })
            .collect();
        if let Some(note) = note.filter(|note| note.separation == 1 && hops == 1) {
            for &process in &note.delays {
                if let Some(program) = programs.get_mut(process) {
                    *program = Program::Delay;
                }
            }
        }
        let separation = u32::try_from(hops)
            .ok()
            .and_then(Separation::new)
            .ok_or_else(|| NotARing(format!("a separation of {hops} is too large")))?;
        Ring::new(separation, programs).map_err(|error| NotARing(error.to_string()))
    }

    fn state(&self, net: &Net, marking: &Marking, ring: &Ring) -> Result<Configuration, NotARing> {
        let mut state = Configuration::empty(ring, 1, 1);
        for (process, minor) in self.minor.iter().enumerate() {
            let tokens: u64 = minor.iter().map(|&place| marking.0[place]).sum();
            if tokens != 1 {
                return Err(NotARing(format!(
                    "the minor ring of {} has {tokens} tokens, expected 1",
                    net.place_id(self.major[process])
                )));
            }
            let counter = minor.iter().position(|&place| marking.0[place] == 1);
            state.processes[process].counter = counter.unwrap_or(0) as i32;
        }
        let top = ring.separation().top();
        for (process, &place) in self.major.iter().enumerate() {
            let tokens = u32::try_from(marking.0[place]).map_err(|_| {
                NotARing(format!(
                    "place {} has {} tokens, a process holds at most 2^32-1",
                    net.place_id(place),
                    marking.0[place]
                ))
            })?;
            let before = (process + ring.len() - 1) % ring.len();
            let noted = net.ring.as_ref().map(|note| {
                let found = note
                    .queued
                    .binary_search_by_key(&place, |&(place, _)| place);
                found.map_or(0, |index| note.queued[index].1)
            });
            let Process { counter, .. } = state.processes[before];
            let may_have_released = !ring.programs()[before].delays() || counter == top;
            let queued = match noted {
                Some(queued) => u32::try_from(queued).unwrap_or(u32::MAX).min(tokens),
                None => u32::from(tokens > 0 && may_have_released),
            };
            state.processes[before].queued = queued;
            state.processes[process].resting = tokens - queued;
        }
        ring.admits(&state)
            .map_err(|misfit| NotARing(misfit.to_string()))?;
        Ok(state)
    }
}
