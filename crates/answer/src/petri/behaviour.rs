//! What markings, invariants, siphons and traps say of nets whose shape alone does not
//! say all.

use std::collections::BTreeMap;

use headway_petri::markings::{self, Markings, NoMarkings};
use headway_petri::semiflow::{self, Semiflow};
use headway_petri::{Net, siphon, structure};
use serde::Serialize;

use super::{Plant, place_ids, shortened, transition_ids};
use crate::count;

/// What was found, or why it was not.
pub type Found<T> = Result<Vec<T>, String>;

/// What was found of a net by its markings, invariants, siphons and traps.
pub struct Behaviour {
    /// Whether the net is free-choice.
    pub free_choice: bool,
    /// All markings, or why they are not known.
    pub markings: Result<Markings, NoMarkings>,
    /// Minimal P-invariants.
    pub place_flows: Found<Semiflow>,
    /// Minimal T-invariants.
    pub transition_flows: Found<Semiflow>,
    /// Minimal siphons, with their tokens.
    pub siphons: Found<(Vec<usize>, u128)>,
    /// Minimal traps, with their tokens.
    pub traps: Found<(Vec<usize>, u128)>,
    /// Whether every transition can always fire again.
    pub live: Answer,
    /// Whether no place fills up without end.
    pub bounded: Answer,
    /// Whether no place ever has two tokens.
    pub safe: Answer,
    /// Whether something can always fire.
    pub stuck: Answer,
    /// The most tokens on a place, if that is known exactly.
    pub largest_bound: Option<u64>,
}

/// Whether something holds, and why or why that is not known.
type Answer = (Option<bool>, String);

/// Markings that take a few seconds and some hundred megabytes at most.
const MAX_MARKINGS: usize = 100_000;
const MAX_CELLS: usize = 20_000_000;

impl Behaviour {
    /// Markings come last and are made as long as `go_on` says so, so that all the rest is
    /// known when it does not.
    pub(super) fn of(
        plant: &Plant,
        max_markings: Option<usize>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Behaviour {
        let (net, marking) = (&plant.net, &plant.marking);
        let limit = max_markings
            .unwrap_or_else(|| MAX_MARKINGS.min(MAX_CELLS / net.places().max(1)).max(1000));
        let with_tokens = |sets: Result<Vec<Vec<usize>>, siphon::TooManySets>| {
            let tokens = |set: &[usize]| set.iter().map(|&at| u128::from(marking.0[at])).sum();
            let sets = sets.map_err(|why| why.to_string())?;
            Ok(sets
                .into_iter()
                .map(|set| {
                    let sum = tokens(&set);
                    (set, sum)
                })
                .collect())
        };
        let mut behaviour = Behaviour {
            free_choice: siphon::is_free_choice(net),
            place_flows: semiflow::of_places(net).map_err(|why| why.to_string()),
            transition_flows: semiflow::of_transitions(net).map_err(|why| why.to_string()),
            siphons: with_tokens(siphon::siphons(net)),
            traps: with_tokens(siphon::traps(net)),
            markings: markings::explore_while(net, marking, limit, go_on),
            live: (None, String::new()),
            bounded: (None, String::new()),
            safe: (None, String::new()),
            stuck: (None, String::new()),
            largest_bound: None,
        };
        match behaviour.markings.clone() {
            Ok(all) => behaviour.of_all(net, &all),
            Err(why) => behaviour.without_all(plant, &why),
        }
        behaviour.follow(plant);
        behaviour
    }

    /// What the shape of an event graph says where this says nothing.
    pub(super) fn add_shape(&mut self, live: Option<bool>, bounded: Option<bool>, plant: &Plant) {
        let says = |holds: bool, yes: &str, no: &str| {
            (Some(holds), if holds { yes } else { no }.to_owned())
        };
        if let (Some(live), None) = (live, self.live.0) {
            let yes = "a token on every circuit";
            self.live = says(live, yes, "a circuit without token");
        }
        if let (Some(bounded), None) = (bounded, self.bounded.0) {
            let yes = "every place is on a circuit";
            self.bounded = says(bounded, yes, "a place is on no circuit");
        }
        self.follow(plant);
    }

    /// Answers that follow from the shape, the start or one another.
    fn follow(&mut self, plant: &Plant) {
        let (net, marking) = (&plant.net, &plant.marking);
        let fed = structure::never_starved(net);
        if fed.len() == net.transitions() && self.live.0.is_none() {
            let why = "everything is fed by transitions without input places";
            self.live = (Some(true), why.to_owned());
        }
        if self.stuck.0.is_none() {
            match fed.first() {
                Some(&source) => {
                    let source = net.transition_id(source);
                    self.stuck = (Some(true), format!("{source} has no input place"));
                }
                None if self.live.0 == Some(true) && net.transitions() > 0 => {
                    self.stuck = (Some(true), "live".to_owned());
                }
                None => {}
            }
        }
        let crowded = (0..net.places()).find(|&place| marking.0[place] > 1);
        if let (None, Some(place)) = (self.safe.0, crowded) {
            let (tokens, place) = (marking.0[place], net.place_id(place));
            self.safe = (Some(false), format!("{tokens} on {place} from the start"));
        }
    }

    fn of_all(&mut self, net: &Net, all: &Markings) {
        let most = all.most.iter().copied().max().unwrap_or(0);
        self.largest_bound = Some(most);
        self.bounded = (Some(true), count(all.count as u64, "marking"));
        self.safe = (Some(most <= 1), format!("at most {most} on a place"));
        self.live = match all.dying.first() {
            None => (Some(true), String::new()),
            Some((transition, after)) => {
                let (transition, after) = (net.transition_id(*transition), fired(net, after));
                let why = format!("{transition} never fires again{after}");
                (Some(false), why)
            }
        };
        self.stuck = match &all.stuck_after {
            None => (Some(true), String::new()),
            Some(after) => (
                Some(false),
                format!("nothing fires any more{}", fired(net, after)),
            ),
        };
    }

    /// By invariants, siphons and traps where the markings are not all known.
    fn without_all(&mut self, plant: &Plant, why: &NoMarkings) {
        let (net, marking) = (&plant.net, &plant.marking);
        let not_known = |more: &str| (None, format!("{why}{more}"));
        self.stuck = not_known("");
        if let NoMarkings::Unbounded {
            before,
            again,
            places,
        } = why
        {
            let places = shortened(&place_ids(net, places));
            let again = shortened(&transition_ids(net, again.iter().copied()));
            let reason = format!(
                "{places} can grow without end by {again}{}",
                fired(net, before)
            );
            self.bounded = (Some(false), reason);
            self.safe = (Some(false), String::new());
        } else {
            let flows = self.place_flows.as_deref().unwrap_or_default();
            let most = semiflow::place_bounds(flows, marking);
            let most: Option<Vec<u64>> = most.into_iter().collect();
            match most.and_then(|most| most.into_iter().max()) {
                None => {
                    let weighed = |place: usize| {
                        let mut weights = flows.iter().flat_map(|flow| &flow.weights);
                        weights.any(|&(at, _)| at == place)
                    };
                    // Its value can be too large for a number, and is a bound all the same.
                    self.bounded = if (0..net.places()).all(weighed) {
                        (Some(true), "every place is in a P-invariant".to_owned())
                    } else {
                        not_known(", and not every place is in a P-invariant")
                    };
                    self.safe = not_known("");
                }
                Some(most) => {
                    let by = format!("at most {most} on a place by P-invariants");
                    self.bounded = (Some(true), by.clone());
                    self.safe = match most {
                        0 | 1 => (Some(true), by),
                        _ => not_known(&format!("; {by}")),
                    };
                }
            }
        }
        let adjacency = net.adjacency();
        let drained = self.siphons.iter().flatten().find(|(set, tokens)| {
            *tokens == 0
                && set
                    .iter()
                    .any(|&place| !adjacency.consumers(place).is_empty())
        });
        let free_choice_live = self.siphons.as_ref().ok().map(|siphons| {
            let siphons = siphons.iter().map(|(set, _)| set.as_slice());
            siphon::free_choice_live(net, marking, siphons)
        });
        self.live = match (drained, free_choice_live) {
            (Some((set, _)), _) => {
                let places = shortened(&place_ids(net, set));
                (
                    Some(false),
                    format!("no token ever comes to the siphon {places}"),
                )
            }
            (_, Some(Some(true))) => (
                Some(true),
                "free choice, and every siphon has a marked trap".to_owned(),
            ),
            (_, Some(Some(false))) => (
                Some(false),
                "free choice, and a siphon has no marked trap".to_owned(),
            ),
            (_, None) if self.free_choice => not_known(", and too many siphons"),
            _ => not_known(", and the net is not free-choice"),
        };
    }
}

/// What markings, invariants, siphons and traps say; every key is there for every net.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct BehaviourJson<'a> {
    /// Why it is live or not, or why that is not known.
    why_live: Option<&'a str>,
    /// Why it is bounded or not, or why that is not known.
    why_bounded: Option<&'a str>,
    /// Why it is safe or not, or why that is not known.
    why_safe: Option<&'a str>,
    /// What it gets stuck by, or why that is not known.
    why_never_stuck: Option<&'a str>,
    /// Whether places with a common consumer have all of them in common; null: not asked.
    free_choice: Option<bool>,
    /// Whether something can always fire; null: not decided.
    never_stuck: Option<bool>,
    /// How many markings can be reached; null: not all were made.
    markings: Option<usize>,
    /// Minimal weighted sums of tokens that no firing changes; null: not all were found, or not
    /// asked.
    p_invariants: Option<Vec<PlaceFlow<'a>>>,
    /// Why they are not known.
    why_no_p_invariants: Option<&'a String>,
    /// Minimal numbers of firings that change no marking; null: not all were found, or not
    /// asked.
    t_invariants: Option<Vec<TransitionFlow<'a>>>,
    /// Why they are not known.
    why_no_t_invariants: Option<&'a String>,
    /// Minimal sets of places that stay empty once they are; null: not all were found, or not
    /// asked.
    siphons: Option<Vec<PlaceSet>>,
    /// Why they are not known.
    why_no_siphons: Option<&'a String>,
    /// Minimal sets of places that stay marked once they are; null: not all were found, or not
    /// asked.
    traps: Option<Vec<PlaceSet>>,
    /// Why they are not known.
    why_no_traps: Option<&'a String>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PlaceFlow<'a> {
    /// Weights of places, by id.
    weights: BTreeMap<&'a str, u64>,
    /// The weighted sum of tokens; null: it leaves 64 bits.
    value: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct TransitionFlow<'a> {
    /// How often transitions fire, by id.
    firings: BTreeMap<&'a str, u64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PlaceSet {
    place_names: Vec<String>,
    /// Whether it has a token.
    marked: bool,
}

impl<'a> BehaviourJson<'a> {
    pub(super) fn of(behaviour: Option<&'a Behaviour>, plant: &'a Plant) -> BehaviourJson<'a> {
        let net = &plant.net;
        let reason = |answer: fn(&Behaviour) -> &Answer| {
            let reason = behaviour.map(answer).map(|answer| answer.1.as_str());
            reason.filter(|reason| !reason.is_empty())
        };
        let place = |flow: &Semiflow| PlaceFlow {
            weights: weighted(flow, |at| net.place_id(at)),
            value: flow.value(&plant.marking),
        };
        let transition = |flow: &Semiflow| TransitionFlow {
            firings: weighted(flow, |at| net.transition_id(at)),
        };
        let set = |(places, tokens): &(Vec<usize>, u128)| PlaceSet {
            place_names: place_ids(net, places),
            marked: *tokens > 0,
        };
        let (p_invariants, why_no_p_invariants) = list(behaviour.map(|it| &it.place_flows), place);
        let (t_invariants, why_no_t_invariants) =
            list(behaviour.map(|it| &it.transition_flows), transition);
        let (siphons, why_no_siphons) = list(behaviour.map(|it| &it.siphons), set);
        let (traps, why_no_traps) = list(behaviour.map(|it| &it.traps), set);
        BehaviourJson {
            why_live: reason(|it| &it.live),
            why_bounded: reason(|it| &it.bounded),
            why_safe: reason(|it| &it.safe),
            why_never_stuck: reason(|it| &it.stuck),
            free_choice: behaviour.map(|it| it.free_choice),
            never_stuck: behaviour.and_then(|it| it.stuck.0),
            markings: behaviour.and_then(|it| it.markings.as_ref().ok().map(|all| all.count)),
            p_invariants,
            why_no_p_invariants,
            t_invariants,
            why_no_t_invariants,
            siphons,
            why_no_siphons,
            traps,
            why_no_traps,
        }
    }
}

fn weighted<'a>(flow: &Semiflow, id: impl Fn(usize) -> &'a str) -> BTreeMap<&'a str, u64> {
    let entry = |&(at, weight): &(usize, u64)| (id(at), weight);
    flow.weights.iter().map(entry).collect()
}

/// A list, or why there is none.
fn list<T, J>(
    found: Option<&Found<T>>,
    one: impl Fn(&T) -> J,
) -> (Option<Vec<J>>, Option<&String>) {
    match found {
        Some(Ok(items)) => (Some(items.iter().map(one).collect()), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    }
}

/// " after t1 t2", or nothing when it is so from the start.
fn fired(net: &Net, firings: &[usize]) -> String {
    match firings {
        [] => String::new(),
        _ => format!(
            " after {}",
            shortened(&transition_ids(net, firings.iter().copied()))
        ),
    }
}
