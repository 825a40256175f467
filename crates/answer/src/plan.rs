//! Stations, and the order of a ring, from the members that may not be down together.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use headway_node::{MAX_TOKENS, Plan as Capacity};
use headway_walk::plan::conflicts::{Conflicts, Input, ReadError, Spread};
use headway_walk::plan::stations::{self, Stations};
use headway_walk::plan::svg::{self, Picture};
use headway_walk::plan::{self, Found, Request};
use headway_walk::walk::svg::Theme;
use serde::Serialize;

use crate::sentence::setting;
use crate::{Failure, count, say};

/// Who is at each place with several members, by its name.
pub type Places = BTreeMap<String, Vec<String>>;

/// Stations and an order, and what they allow.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Of members, or of places.
    pub conflicts: Conflicts,
    /// Members that go together, if any do.
    pub places: Option<Places>,
    /// The order.
    pub found: Found,
    /// The stations.
    pub stations: Stations,
    /// How it was looked for.
    pub request: Request,
}

/// The most tokens that a fleet of so many members has room for.
pub(crate) fn most_tokens(members: usize, separation: u32) -> u32 {
    let members = u32::try_from(members).unwrap_or(u32::MAX);
    let plan = Capacity::of_fleet(members, 1, separation);
    plan.map_or(1, |plan| plan.capacity().min(MAX_TOKENS))
}

/// What is wrong with the conflicts at a path, whose text this is.
pub fn read_failure(path: &Path, text: &str, input: Input, error: &ReadError) -> Failure {
    let failure = match error {
        ReadError::At { line, message } => Failure::in_text(path, text, *line, 1, message),
        other => Failure::new(format!("{}: {other}", path.display())),
    };
    match error {
        ReadError::Content(_) => failure,
        _ => failure.advice(say![
            format!("it was read as {input}; if it is something else, say so with "),
            setting("input"),
        ]),
    }
}

impl Plan {
    /// Looks for the best order and the fewest stations; soon after `stop` becomes true, the
    /// best so far.
    ///
    /// # Errors
    ///
    /// When members of one place may not be down together.
    pub fn new(
        conflicts: Conflicts,
        places: Option<Places>,
        request: Request,
        progress: &mut dyn FnMut(&str),
        stop: &AtomicBool,
    ) -> Result<Plan, Failure> {
        let conflicts = match &places {
            None => conflicts,
            Some(places) => conflicts.together(places).map_err(|error| {
                Failure::of(say![setting("together"), format!(": {error}")]).advice(say![
                    "take one of them out of that place, or plan without ",
                    setting("together"),
                ])
            })?,
        };
        Ok(Plan {
            found: plan::best(&conflicts, request, progress, stop),
            stations: stations::fewest(&conflicts, request, progress, stop),
            conflicts,
            places,
            request,
        })
    }

    /// m: as many may hold permits together.
    pub fn tokens(&self) -> u32 {
        most_tokens(self.conflicts.len(), self.found.separation)
    }

    /// What no order exceeds.
    pub fn tokens_at_most(&self) -> u32 {
        most_tokens(self.conflicts.len(), self.found.bound.separation)
    }

    /// The names in the order of the ring.
    pub fn order(&self) -> Vec<&str> {
        let order = self.found.order.iter();
        order.map(|&member| self.conflicts.name(member)).collect()
    }

    /// Why there is only one token, if there is.
    pub fn why_one(&self) -> Option<String> {
        let Found {
            separation, bound, ..
        } = &self.found;
        let hops = |hops: u32| count(u64::from(hops), "hop");
        let ring = count(self.conflicts.len() as u64, "member");
        match (self.tokens(), self.tokens_at_most()) {
            (2.., _) => None,
            (_, 1) => Some(format!(
                "no order allows more than one at a time: {}, so some two of them are {} apart in \
                 any order, and two tokens {} apart do not fit a ring of {ring}",
                bound.reason,
                hops(bound.separation - 1),
                hops(bound.separation),
            )),
            _ => Some(format!(
                "no order was found that allows more than one at a time, nor excluded: two tokens \
                 {} apart, as the best order needs, do not fit a ring of {ring}",
                hops(*separation),
            )),
        }
    }

    /// The names of each station's members.
    pub fn stations(&self) -> Vec<Vec<&str>> {
        let name = |member: &u32| self.conflicts.name(*member);
        let names = |station: &Vec<u32>| station.iter().map(name).collect();
        self.stations.stations.iter().map(names).collect()
    }

    /// Works one after another until every member has had its turn, if all take as long: of
    /// the stations, and in the order of the ring.
    pub fn passes(&self) -> (usize, usize) {
        let by_order = self.conflicts.len().div_ceil(self.tokens() as usize);
        (self.stations.stations.len(), by_order)
    }

    /// What is proposed, and why.
    pub fn proposed(&self) -> (Proposal, String) {
        let (by_stations, by_order) = self.passes();
        let works = |works: usize| count(works as u64, "work");
        if by_stations < by_order {
            let why = format!(
                "a whole pass takes {} one after another, in the order of the ring {by_order}",
                works(by_stations)
            );
            return (Proposal::Stations, why);
        }
        let why = format!(
            "a whole pass takes {} one after another, by stations {by_stations}, and a long one \
             holds up only the members behind",
            works(by_order)
        );
        (Proposal::Order, why)
    }

    /// Whether more than one member at a time is allowed.
    pub fn is_parallel(&self) -> bool {
        self.tokens() > 1 || self.stations.stations.len() < self.conflicts.len()
    }

    /// What `headway plan` prints.
    pub fn json(&self, interrupted: bool) -> PlanJson<'_> {
        let (works_by_stations, works_by_order) = self.passes();
        let (proposed, proposed_because) = self.proposed();
        PlanJson {
            members: self.conflicts.len(),
            conflicting_pairs: self.conflicts.pairs(),
            order: self.order(),
            separation: self.found.separation,
            tokens: self.tokens(),
            lower_bound: self.found.bound.separation,
            lower_bound_because: self.found.bound.reason.to_string(),
            optimal: self.found.is_optimal(),
            tokens_at_most: self.tokens_at_most(),
            because: self.why_one(),
            stations: self.stations(),
            stations_at_least: self.stations.at_least,
            stations_because: self.stations.because(&self.conflicts),
            works_by_stations,
            works_by_order,
            proposed: match proposed {
                Proposal::Stations => "stations",
                Proposal::Order => "order",
            },
            proposed_because,
            members_by_place: self.places.as_ref(),
            seed: self.request.seed,
            effort: self.request.effort,
            interrupted,
        }
    }

    /// What is proposed as a ring, with conflicts as chords.
    pub fn svg(&self, theme: Theme) -> String {
        let by_stations = self.proposed().0 == Proposal::Stations;
        svg::draw(&Picture {
            conflicts: &self.conflicts,
            found: &self.found,
            stations: by_stations.then_some(self.stations.stations.as_slice()),
            tokens: self.tokens(),
            theme,
        })
    }
}

/// How the members of a fleet take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// All of a station at once, one station after the other.
    Stations,
    /// One by one in the order of the ring, with as many tokens as there is room for.
    Order,
}

/// What `headway plan` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlanJson<'a> {
    /// How many members the ring has.
    members: usize,
    /// How many pairs may not be down together.
    conflicting_pairs: usize,
    /// Members, or places with several members, in the order of the ring.
    order: Vec<&'a str>,
    separation: u32,
    tokens: u32,
    /// The separation that no order can undercut.
    lower_bound: u32,
    /// Why not.
    lower_bound_because: String,
    /// Whether no order has a smaller separation.
    optimal: bool,
    /// The tokens that no order exceeds.
    tokens_at_most: u32,
    /// The reason.
    because: Option<String>,
    /// Groups of members without conflicts: all of one may be down together, one group after
    /// the other.
    stations: Vec<Vec<&'a str>>,
    /// Fewer stations are not enough.
    stations_at_least: usize,
    /// Why not.
    stations_because: String,
    /// Works one after another until every member has had its turn, by stations, if all take as
    /// long.
    works_by_stations: usize,
    /// The same in the order of the ring.
    works_by_order: usize,
    /// What is faster: stations, or the order of the ring; of equals the order.
    proposed: &'static str,
    /// Why.
    proposed_because: String,
    /// Who shares a place on the ring, by the name of the place.
    members_by_place: Option<&'a Places>,
    seed: u64,
    /// How hard was looked.
    effort: u32,
    /// Whether Ctrl-C stopped the search, so that this is the best so far.
    interrupted: bool,
}

/// Whether members in this order, so many hops apart, keep out of each other's way: two who
/// do not, or `None`.
///
/// # Errors
///
/// When no member of the ring is in the conflicts: then the names are probably others.
pub fn breach(
    conflicts: &Conflicts,
    ring: &[&str],
    tokens: u32,
    separation: u32,
) -> Result<Option<Spread>, Failure> {
    if !ring
        .iter()
        .any(|name| conflicts.names().iter().any(|known| known == name))
    {
        let names: Vec<u32> = (0..conflicts.len() as u32).collect();
        let has = conflicts.listed(&names);
        return Err(Failure::of(say![
            setting("conflicts"),
            format!(": none of the members of the ring is in it, which has {has}"),
        ])
        .help("ring.members have to have the names that the conflicts have"));
    }
    let widest = conflicts.widest(ring);
    Ok(widest.filter(|widest| tokens > 1 && widest.hops >= separation))
}
