//! A net while it is being read.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Context;
use crate::net::{Direction, Net, Owner, Position, RingNote};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Net,
    Page,
    Place,
    Transition,
    ReferencePlace,
    ReferenceTransition,
    Arc,
}

/// Every id of the document: where, in which net, of what, which number.
pub(super) type Ids<'t> = HashMap<Cow<'t, str>, (usize, u32, Kind, u32)>;

#[derive(Default)]
pub(super) struct Building<'t> {
    pub(super) net: Net,
    pub(super) tokens: Vec<u64>,
    pub(super) pages: usize,
    /// Which net of the document it is, from 0.
    number: u32,
    references: Vec<Reference<'t>>,
    arcs: Vec<Arc<'t>>,
    /// The node or arc that is open, or was last.
    latest: Option<Kind>,
    queued: Vec<(usize, u64)>,
}

struct Reference<'t> {
    kind: Kind,
    target: Cow<'t, str>,
    at: usize,
}

struct Arc<'t> {
    id: Cow<'t, str>,
    source: Cow<'t, str>,
    target: Cow<'t, str>,
    weight: u64,
    at: usize,
}

impl<'t> Building<'t> {
    pub(super) fn new(id: &str, number: u32) -> Building<'t> {
        Building {
            net: Net::new(id),
            number,
            ..Building::default()
        }
    }

    /// Begins a place, which holds tokens for one round unless it says otherwise.
    pub(super) fn begin_place(&mut self, id: &str) -> u32 {
        self.latest = Some(Kind::Place);
        self.tokens.push(0);
        self.net.add_place(id, 1) as u32
    }

    pub(super) fn begin_transition(&mut self, id: &str) -> u32 {
        self.latest = Some(Kind::Transition);
        self.net.add_transition(id) as u32
    }

    pub(super) fn begin_reference(&mut self, kind: Kind, target: Cow<'t, str>, at: usize) -> u32 {
        self.latest = Some(kind);
        self.references.push(Reference { kind, target, at });
        self.references.len() as u32 - 1
    }

    pub(super) fn begin_arc(
        &mut self,
        id: Cow<'t, str>,
        source: Cow<'t, str>,
        target: Cow<'t, str>,
        at: usize,
    ) -> u32 {
        self.latest = Some(Kind::Arc);
        self.arcs.push(Arc {
            id,
            source,
            target,
            weight: 1,
            at,
        });
        self.arcs.len() as u32 - 1
    }

    pub(super) fn owner(&self) -> Option<Owner> {
        Some(match self.latest? {
            Kind::Place => Owner::Place(self.net.places() - 1),
            Kind::Transition => Owner::Transition(self.net.transitions() - 1),
            Kind::Arc => Owner::Arc(self.arcs.len() - 1),
            _ => return None,
        })
    }

    /// Gives a name to what is open; `false` when names of such are not kept.
    pub(super) fn name(&mut self, owner: Context, name: &str) -> bool {
        match owner {
            Context::Net => self.net.name = name.to_owned(),
            Context::Place if name != self.net.place_id(self.net.places() - 1) => {
                self.net.name_last_place(name);
            }
            Context::Transition if name != self.net.transition_id(self.net.transitions() - 1) => {
                self.net.name_last_transition(name);
            }
            Context::Place | Context::Transition => {}
            _ => return name.is_empty(),
        }
        true
    }

    pub(super) fn place_at(&mut self, position: Position) {
        match self.latest {
            Some(Kind::Place) => {
                self.net
                    .set_place_position(self.net.places() - 1, Some(position));
            }
            Some(Kind::Transition) => {
                let latest = self.net.transitions() - 1;
                self.net.set_transition_position(latest, Some(position));
            }
            _ => {}
        }
    }

    pub(super) fn mark(&mut self, tokens: u64) {
        if let Some(latest) = self.tokens.last_mut() {
            *latest = tokens;
        }
    }

    pub(super) fn weigh(&mut self, weight: u64) {
        if let Some(latest) = self.arcs.last_mut() {
            latest.weight = weight;
        }
    }

    pub(super) fn holding(&mut self, rounds: u64) {
        if self.latest == Some(Kind::Place) {
            self.net.set_holding(self.net.places() - 1, rounds);
        }
    }

    pub(super) fn queued(&mut self, tokens: u64) {
        if self.latest == Some(Kind::Place) && tokens > 0 {
            self.queued.push((self.net.places() - 1, tokens));
        }
    }

    pub(super) fn ring(&mut self, separation: u64, delays: &str) -> Result<(), String> {
        let delays: Result<Vec<usize>, _> = delays.split_whitespace().map(str::parse).collect();
        self.net.ring = Some(RingNote {
            separation: u32::try_from(separation)
                .map_err(|_| format!("separation is {separation}, at most 2^31 is possible"))?,
            delays: delays.map_err(|_| "delays: expected process numbers".to_owned())?,
            queued: Vec::new(),
        });
        Ok(())
    }

    /// Follows references and puts the arcs in. Errors come with their place.
    pub(super) fn resolve(&mut self, ids: &Ids<'t>) -> Result<(), (usize, String)> {
        if let Some(note) = &mut self.net.ring {
            note.queued = std::mem::take(&mut self.queued);
        }
        let mut resolved: Vec<Option<u32>> = vec![None; self.references.len()];
        for index in 0..self.references.len() {
            self.follow(index, ids, &mut resolved)?;
        }
        for arc in std::mem::take(&mut self.arcs) {
            let end = |name: &str, id: &str| {
                self.node(id, ids, &resolved)
                    .ok_or_else(|| (arc.at, format!("{name} {id:?} is not the id of a node")))
            };
            let (source, target) = (end("source", &arc.source)?, end("target", &arc.target)?);
            let (place, transition, direction) = match (source, target) {
                ((Kind::Place, place), (Kind::Transition, transition)) => {
                    (place, transition, Direction::PlaceToTransition)
                }
                ((Kind::Transition, transition), (Kind::Place, place)) => {
                    (place, transition, Direction::TransitionToPlace)
                }
                ((kind, _), _) => {
                    let both = if kind == Kind::Place {
                        "places"
                    } else {
                        "transitions"
                    };
                    let what = format!("joins two {both}; an arc joins a place and a transition");
                    return Err((arc.at, what));
                }
            };
            let (place, transition) = (place as usize, transition as usize);
            // Ids that the writer makes up need not be remembered.
            if is_made_up(&arc.id, self.net.arcs().len()) {
                self.net.add_arc(place, transition, direction, arc.weight);
            } else {
                let weight = arc.weight;
                self.net
                    .add_named_arc(&arc.id, place, transition, direction, weight);
            }
        }
        Ok(())
    }

    fn node(&self, id: &str, ids: &Ids<'t>, resolved: &[Option<u32>]) -> Option<(Kind, u32)> {
        let &(_, net, kind, index) = ids.get(id)?;
        match kind {
            _ if net != self.number => None,
            Kind::Place | Kind::Transition => Some((kind, index)),
            Kind::ReferencePlace => Some((Kind::Place, resolved[index as usize]?)),
            Kind::ReferenceTransition => Some((Kind::Transition, resolved[index as usize]?)),
            _ => None,
        }
    }

    fn follow(
        &self,
        start: usize,
        ids: &Ids<'t>,
        resolved: &mut [Option<u32>],
    ) -> Result<(), (usize, String)> {
        let kind = self.references[start].kind;
        let goal = if kind == Kind::ReferencePlace {
            Kind::Place
        } else {
            Kind::Transition
        };
        let mut way = Vec::new();
        let mut met = std::collections::HashSet::new();
        let mut index = start;
        let found = loop {
            if let Some(found) = resolved[index] {
                break found;
            }
            let reference = &self.references[index];
            if !met.insert(index) {
                return Err((
                    reference.at,
                    "refers to itself, by way of others or not".to_owned(),
                ));
            }
            way.push(index);
            match ids.get(&reference.target) {
                Some(&(_, net, target, number)) if net == self.number && target == goal => {
                    break number;
                }
                Some(&(_, net, target, number)) if net == self.number && target == kind => {
                    index = number as usize;
                }
                Some(_) => {
                    let wanted = if goal == Kind::Place {
                        "place"
                    } else {
                        "transition"
                    };
                    let what = format!("ref {:?} is not a {wanted} of this net", reference.target);
                    return Err((reference.at, what));
                }
                None => {
                    let what = format!("ref {:?} is not the id of a node", reference.target);
                    return Err((reference.at, what));
                }
            }
        };
        for index in way {
            resolved[index] = Some(found);
        }
        Ok(())
    }
}

/// Whether an arc's id is the one that the writer gives to an arc without one.
fn is_made_up(id: &str, index: usize) -> bool {
    id.strip_prefix('a')
        .is_some_and(|number| !number.starts_with('0') || number == "0")
        && id[1..].parse() == Ok(index)
}
