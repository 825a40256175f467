//! A net while it is being read; references and arcs are resolved at its end.

use super::object::{Kind, Labels};
use super::{Element, Known, PnmlError, Reading, attribute};
use crate::net::{Direction, Marking, Net};

#[derive(Default)]
pub(super) struct Building<'a> {
    pub(super) net: Net,
    /// Which net of the document it is, from 0.
    pub(super) number: u32,
    pub(super) references: Vec<(Element<'a>, Kind)>,
    arcs: Vec<OpenArc<'a>>,
    /// The class of its tokens, where a dialect has several.
    pub(super) token_class: Option<String>,
    /// Places that a dialect gives a capacity, and where.
    pub(super) capacities: Vec<(usize, u64, Element<'a>)>,
    /// That of the transitions so far, once there is one, if they say any.
    pub(super) priority: Option<Option<u64>>,
    tokens: Vec<u64>,
    queued: Vec<(usize, u64)>,
}

/// An arc whose ends are names so far.
pub(super) struct OpenArc<'a> {
    pub(super) node: Element<'a>,
    pub(super) id: Option<&'a str>,
    /// Source and target.
    pub(super) ends: [&'a str; 2],
    pub(super) weight: u64,
}

impl<'a> Building<'a> {
    pub(super) fn new(id: &str, number: u32) -> Building<'a> {
        Building {
            net: Net::new(id),
            number,
            ..Building::default()
        }
    }

    /// How many of a kind there are so far.
    pub(super) fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Place => self.net.places(),
            Kind::Transition => self.net.transitions(),
            Kind::Arc => self.net.arcs().len() + self.arcs.len(),
            Kind::ReferencePlace | Kind::ReferenceTransition => self.references.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.net.places() + self.net.transitions() + self.references.len() == 0
            && self.count(Kind::Arc) == 0
    }

    /// Adds a place, which holds tokens for one round unless it says otherwise.
    pub(super) fn add_place(&mut self, id: &str, labels: Labels<'a>) {
        let place = self.net.add_place(id, labels.holding.unwrap_or(1));
        self.tokens.push(labels.number.unwrap_or(0));
        if let Some(name) = labels.name.filter(|name| name != id) {
            self.net.name_last_place(&name);
        }
        self.net.set_place_position(place, labels.position);
        if let Some(tokens) = labels.queued.filter(|&tokens| tokens > 0) {
            self.queued.push((place, tokens));
        }
    }

    pub(super) fn add_transition(&mut self, id: &str, labels: &Labels<'a>) {
        let transition = self.net.add_transition(id);
        if let Some(name) = labels.name.as_ref().filter(|name| *name != id) {
            self.net.name_last_transition(name);
        }
        self.net
            .set_transition_position(transition, labels.position);
    }

    /// Follows references and puts the arcs in.
    pub(super) fn finish(
        mut self,
        labels: Labels<'a>,
        reading: &Reading<'a>,
    ) -> Result<(Net, Marking), PnmlError> {
        self.net.name = labels.name.unwrap_or_default().into_owned();
        self.net.ring = labels.ring;
        if let Some(note) = &mut self.net.ring {
            note.queued = std::mem::take(&mut self.queued);
        }
        let resolved = self.resolve(reading)?;
        for arc in std::mem::take(&mut self.arcs) {
            let end = |name: &str, id: &str| {
                let found = self.end(id, reading, Some(&resolved));
                found.ok_or_else(|| {
                    let what = format!("{name} {id:?} is not the id of a node");
                    reading.fail(arc.node, what)
                })
            };
            let ends = (end("source", arc.ends[0])?, end("target", arc.ends[1])?);
            if !self.put_in(&arc, ends) {
                let places = ends.0.0 == Kind::Place;
                let both = if places { "places" } else { "transitions" };
                let what = format!("joins two {both}; an arc joins a place and a transition");
                return Err(reading.fail(arc.node, what));
            }
        }
        let marking = Marking(std::mem::take(&mut self.tokens));
        self.never_full(&marking, reading)?;
        Ok((self.net, marking))
    }

    /// Puts an arc in at once if its ends are there already, as they mostly are; but
    /// not before one that has to wait.
    pub(super) fn add_arc(&mut self, arc: OpenArc<'a>, reading: &Reading<'a>) {
        let end = |id| self.end(id, reading, None);
        let known = end(arc.ends[0]).zip(end(arc.ends[1]));
        let put_in = self.arcs.is_empty() && known.is_some_and(|ends| self.put_in(&arc, ends));
        if !put_in {
            self.arcs.push(arc);
        }
    }

    /// The node at the end of an arc; one that is referred to, once that is resolved.
    fn end(
        &self,
        id: &str,
        reading: &Reading<'a>,
        resolved: Option<&[u32]>,
    ) -> Option<(Kind, usize)> {
        let known = self.known(id, reading)?;
        let followed = || Some(*resolved?.get(known.index as usize)? as usize);
        Some(match known.kind? {
            Kind::Place => (Kind::Place, known.index as usize),
            Kind::Transition => (Kind::Transition, known.index as usize),
            Kind::ReferencePlace => (Kind::Place, followed()?),
            Kind::ReferenceTransition => (Kind::Transition, followed()?),
            Kind::Arc => return None,
        })
    }

    /// Whether the ends are a place and a transition, which are then joined.
    fn put_in(&mut self, arc: &OpenArc<'a>, ends: ((Kind, usize), (Kind, usize))) -> bool {
        let (place, transition, direction) = match ends {
            ((Kind::Place, place), (Kind::Transition, transition)) => {
                (place, transition, Direction::PlaceToTransition)
            }
            ((Kind::Transition, transition), (Kind::Place, place)) => {
                (place, transition, Direction::TransitionToPlace)
            }
            _ => return false,
        };
        let index = self.net.arcs().len();
        match arc.id.filter(|id| !is_made_up(id, index)) {
            None => self.net.add_arc(place, transition, direction, arc.weight),
            Some(id) => {
                let net = &mut self.net;
                net.add_named_arc(id, place, transition, direction, arc.weight)
            }
        };
        true
    }

    fn known(&self, id: &str, reading: &Reading<'a>) -> Option<Known> {
        let known = reading.ids.get(id).copied();
        known.filter(|known| u32::from(known.net) == self.number)
    }

    /// The node that each reference stands for in the end.
    fn resolve(&self, reading: &Reading<'a>) -> Result<Vec<u32>, PnmlError> {
        const OPEN: u32 = u32::MAX;
        let mut resolved = vec![OPEN; self.references.len()];
        let mut way = Vec::new();
        for start in 0..self.references.len() {
            let mut at = start;
            let found = loop {
                if resolved[at] != OPEN {
                    break resolved[at];
                }
                let (node, kind) = self.references[at];
                if way.len() == self.references.len() {
                    let what = "refers to itself, by way of others or not".to_owned();
                    return Err(reading.fail(self.references[start].0, what));
                }
                way.push(at);
                let (goal, wanted) = if kind == Kind::ReferencePlace {
                    (Kind::Place, "place")
                } else {
                    (Kind::Transition, "transition")
                };
                let target = attribute(node, "ref").unwrap_or("");
                match self.known(target, reading) {
                    Some(known) if known.kind == Some(goal) => break known.index,
                    Some(known) if known.kind == Some(kind) => at = known.index as usize,
                    _ => {
                        let what = if reading.ids.contains_key(target) {
                            format!("ref {target:?} is not a {wanted} of this net")
                        } else {
                            format!("ref {target:?} is not the id of a node")
                        };
                        return Err(reading.fail(node, what));
                    }
                }
            };
            way.drain(..).for_each(|at| resolved[at] = found);
        }
        Ok(resolved)
    }
}

/// Whether an arc's id is the one that the writer gives to an arc without one,
/// which need not be remembered.
fn is_made_up(id: &str, index: usize) -> bool {
    id.strip_prefix('a').is_some_and(|number| {
        let plain = number == "0" || number.starts_with(|first| matches!(first, '1'..='9'));
        plain && number.parse() == Ok(index)
    })
}
