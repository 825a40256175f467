//! What tools write beyond the standard, or instead of it.
//!
//! | tool | how it differs |
//! |---|---|
//! | WoPeD | no namespace, nodes directly in `<net>`, a subprocess as `<page><net>` |
//! | PIPE | no namespace, nodes directly in `<net>`, `<value>` for `<text>`, numbers with the class of the tokens (`Default,1`) |
//! | TAPAAL | a namespace of its own, labels as attributes, intervals and invariants |
//! | ePNK | nets, pages and arcs without id |
//! | SNAKES | no namespace, no net type, nodes directly in `<net>`, markings as multisets |
//! | editors in browsers | a `<net>` that leaves the namespace of `<pnml>` |
//!
//! One rule for all: what stands in the tables of [`attribute`] and [`element`] is known, and
//! says nothing (a capacity that cannot be exceeded, an age of `[0,inf)`, one priority for
//! all), or only how the net looks. Everything else is refused where it stands: nobody knows
//! what it does to the net.

use std::borrow::Cow;
use std::collections::HashMap;

use roxmltree::Attribute;

use super::object::{self, Kind, Labels};
use super::resolve::Building;
use super::{Element, PnmlError, Reading, attribute as given, numbers};
use crate::net::Marking;
use crate::semiflow;

/// What an addition to the standard means for a place/transition net.
pub(super) enum Meaning {
    /// It is read elsewhere, or says nothing.
    Understood,
    /// It is not kept and concerns only how the net looks in its tool.
    Looks,
    /// It is not kept, and known to leave the rounds of the net as they are; perhaps for a
    /// reason of its own.
    Lost(Option<&'static str>),
    /// With it, the net is of another kind.
    Refused(String),
    /// It stands in no table.
    Unknown,
}

use Meaning::{Looks, Lost, Refused, Understood, Unknown};

/// Whether an older tool writes this namespace, or none.
pub(super) fn is_known(namespace: Option<&str>) -> bool {
    namespace.is_none_or(|address| {
        address.starts_with("http://www.informatik.hu-berlin.de/top/pnml")
            || address == "pnml.woped.org"
    })
}

/// What the standard calls an element.
pub(super) fn standard_name(element: &str) -> &str {
    match element {
        "inputArc" | "outputArc" => "arc",
        "value" => "text",
        other => other,
    }
}

/// Whether a type of nets may be that of nets of plain tokens.
pub(super) fn may_be_plain(net_type: &str) -> bool {
    let lower = net_type.to_ascii_lowercase();
    !["hlpn", "high", "symmetric", "colo", "stochastic", "timed"]
        .iter()
        .any(|word| lower.contains(word))
}

/// An attribute that the standard does not know.
pub(super) fn attribute(older: bool, element: &str, given: Attribute<'_, '_>) -> Meaning {
    let value = given.value();
    let element = if older {
        standard_name(element)
    } else {
        element
    };
    match (element, given.name()) {
        _ if given.namespace().is_some_and(is_of_xml_itself) => Looks,
        _ if given.namespace().is_some() => Unknown,
        ("arc", "type") => arc_type(value),
        _ if !older => Unknown,
        ("place" | "transition", "name" | "positionX" | "positionY")
        | ("place", "initialMarking" | "capacity")
        | ("transition", "priority")
        | ("arc", "weight") => Understood,
        ("place", "invariant") if matches!(plain(value).as_str(), "" | "<inf" | "<=inf") => {
            Understood
        }
        ("place", "invariant") => Refused(format!(
            "tokens must be of age {value}; timed nets are not understood"
        )),
        ("arc", "inscription")
            if matches!(plain(value).as_str(), "" | "[0,inf)")
                || numbers::natural(value).is_ok() =>
        {
            Understood
        }
        ("arc", "inscription") => {
            let what = format!("takes tokens of age {value} only; timed nets are not understood");
            Refused(what)
        }
        ("net", "netMode") if value == "pt" => Understood,
        ("net", "netMode") => Refused(format!(
            "its mode is {value:?}; only place/transition nets are understood"
        )),
        ("transition", "urgent") if value == "true" => {
            Refused("it is urgent; timed nets are not understood".to_owned())
        }
        ("transition", "guard") if value == "true" => Understood,
        (_, "urgent" | "infiniteServer") if value == "false" => Understood,
        (_, "player") if value == "0" => Understood,
        (_, "player") => Refused(of_a_player(value)),
        // TAPAAL has it from PIPE, and time in intervals and ages only.
        ("transition", "timed") => Lost(None),
        (
            _,
            "displayName" | "nameOffsetX" | "nameOffsetY" | "markingOffsetX" | "markingOffsetY"
            | "angle" | "active",
        ) => Looks,
        _ => Unknown,
    }
}

/// Of the namespaces `xml` and `xsi`: a language, or where a schema is.
fn is_of_xml_itself(address: &str) -> bool {
    address == roxmltree::NS_XML_URI || address == "http://www.w3.org/2001/XMLSchema-instance"
}

/// Without the white space that tools put into intervals.
fn plain(value: &str) -> String {
    value.split_whitespace().collect()
}

/// An element that the standard does not know.
pub(super) fn element(parent: &str, node: Element<'_>) -> Meaning {
    match (
        standard_name(parent),
        node.tag_name().name(),
        said(node).trim(),
    ) {
        ("net" | "page", "inhibitorArc" | "transportArc", _) => {
            Refused("only ordinary arcs are understood".to_owned())
        }
        ("arc", "type" | "arctype", kind) => arc_type(kind),
        // What is on a place of SNAKES' universal type is said by its marking.
        ("place", "type", kind) if !matches!(kind, "dot" | "universal") => Refused(format!(
            "its tokens are of type {kind:?}; only nets of plain tokens are understood"
        )),
        (
            _,
            "declaration" | "hlinitialMarking" | "hlinscription" | "condition" | "conditions"
            | "assignments",
            _,
        ) => Refused("it is of coloured nets, which are not understood".to_owned()),
        ("place" | "transition" | "arc", name @ ("valueTokens" | "guard" | "binding"), value)
            if !value.is_empty() =>
        {
            Refused(format!(
                "<{name}> is of nets whose tokens have values, which are not understood"
            ))
        }
        ("place", "initialMarkingAge", _) => {
            Refused("its tokens have an age; timed nets are not understood".to_owned())
        }
        ("pnml", "shared-place" | "shared-transition", _) => Refused(
            "components that share nodes are not joined here; write the composed net".to_owned(),
        ),
        ("page", "object", _) => {
            Refused("an <object> instead of an element of its kind is not understood".to_owned())
        }
        ("text", name, _) => Refused(format!(
            "<{name}> instead of a number; only nets of plain tokens are understood"
        )),
        ("transition", "timed", "true") => {
            Refused("it takes a random time to fire; timed nets are not understood".to_owned())
        }
        ("transition", "player", value) if value != "0" => Refused(of_a_player(value)),
        ("transition", "timed" | "infiniteServer", "false")
        | ("transition", "player", _)
        | ("place" | "transition" | "arc", "valueTokens" | "guard" | "binding", _)
        | ("place" | "arc", "tagged", "false")
        | ("place", "type", _)
        | ("pnml", "constant", _)
        | (_, "placeHolder" | "token", "") => Understood,
        // How likely a transition of PIPE is; where pm4py says that a net has ended.
        ("transition", "rate", _) | ("net", "finalmarkings", _) => Lost(None),
        ("page", "net", _) => Lost(Some(
            "the net inside a <page> (a subprocess) is not kept; the transition of that name stands \
             for it",
        )),
        (
            _,
            "arcpath" | "orientation" | "labels" | "query" | "queries" | "k-bound" | "feature"
            | "definition" | "stategroup",
            _,
        )
        | ("graphics", "offset" | "font", _) => Looks,
        _ => Unknown,
    }
}

/// What an element says: in an attribute, or as text however deep inside.
fn said(node: Element<'_>) -> String {
    let value = node.attribute("value").or(node.attribute("domain"));
    let text = || node.descendants().filter(Element::is_text);
    value.map_or_else(
        || text().filter_map(|it| it.text()).collect(),
        str::to_owned,
    )
}

/// The capacity of a place or the priority of a transition, if it says any.
pub(super) fn limit(node: Element<'_>) -> Result<Option<u64>, String> {
    let said = said(node);
    match said.trim() {
        "" => Ok(None),
        number => numbers::natural(number)
            .map(Some)
            .map_err(|why| format!("found {number:?}, {why}")),
    }
}

fn of_a_player(player: &str) -> String {
    format!("it belongs to player {player}; games are not understood")
}

/// `timed` is TAPAAL's word for an arc with an interval, which is looked at
/// separately.
fn arc_type(value: &str) -> Meaning {
    match value {
        "" | "normal" | "timed" => Understood,
        other => Refused(format!(
            "an arc of type {other:?}; only ordinary arcs are understood"
        )),
    }
}

/// A number without the class of the tokens that PIPE puts before it: `3` of
/// `Default,3`. All tokens of a net must be of one class.
pub(super) fn without_class<'t>(
    text: &'t str,
    known: &mut Option<String>,
) -> Result<&'t str, String> {
    if !text.contains(',') {
        return Ok(text);
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let mut count = "0";
    for pair in parts.chunks(2) {
        let [class, number] = pair else {
            return Err(format!("found {:?}, expected CLASS,NUMBER", text.trim()));
        };
        if numbers::natural(number) == Ok(0) {
            continue;
        }
        let first = known.get_or_insert_with(|| (*class).to_owned());
        if first != class {
            return Err(format!(
                "tokens of classes {first:?} and {class:?}; coloured nets are not understood"
            ));
        }
        count = number;
    }
    Ok(count)
}

/// The plain tokens of a marking of SNAKES: items, each of a value and how often.
pub(super) fn plain_tokens(multiset: Element<'_>) -> Result<u64, String> {
    let mut sum = 0_u64;
    for item in multiset.children().filter(Element::is_element) {
        let inside = |name| item.children().find(|child| child.has_tag_name(name));
        let mut values = inside("value").into_iter().flat_map(|it| it.children());
        if !values.any(|value| value.has_tag_name("token")) {
            return Err(
                "tokens that are Python objects; only nets of plain tokens are understood"
                    .to_owned(),
            );
        }
        let times = inside("multiplicity")
            .and_then(|it| it.text())
            .unwrap_or("");
        let times = numbers::natural(times)
            .map_err(|why| format!("<multiplicity> is {:?}, {why}", times.trim()))?;
        sum = sum
            .checked_add(times)
            .ok_or("at most 2^64-1 tokens can be represented")?;
    }
    Ok(sum)
}

impl<'a> Building<'a> {
    /// Where the priorities of transitions differ, not everything that has its tokens
    /// can fire. Nothing said is 1 in PIPE and 0 in TAPAAL.
    pub(super) fn same_priority(&mut self, given: Option<u64>) -> Result<(), String> {
        let first = *self.priority.get_or_insert(given);
        let same = match (first, given) {
            (Some(one), Some(other)) => one == other,
            (one, other) => one.or(other).is_none_or(|given| given <= 1),
        };
        self.priority = Some(first.or(given));
        if same {
            return Ok(());
        }
        let shown = |given: Option<u64>| given.map_or("none".to_owned(), |it| it.to_string());
        Err(format!(
            "its priority is {}, that of others {}; nets with priorities are not understood",
            shown(given),
            shown(first)
        ))
    }

    /// Refuses a capacity unless P-invariants, or that nothing comes to the place, show
    /// that there are never more tokens.
    pub(super) fn never_full(
        &self,
        marking: &Marking,
        reading: &Reading<'a>,
    ) -> Result<(), PnmlError> {
        if self.capacities.is_empty() {
            return Ok(());
        }
        let adjacency = self.net.adjacency();
        let flows = semiflow::of_places(&self.net).unwrap_or_default();
        let bounds = semiflow::place_bounds(&flows, marking);
        for &(place, capacity, node) in &self.capacities {
            let fed = !adjacency.producers(place).is_empty();
            let most = if fed {
                bounds[place]
            } else {
                Some(marking.0[place])
            };
            if most.is_none_or(|most| most > capacity) {
                let what = format!(
                    "its capacity is {capacity}, and more tokens could come to it; capacities are \
                     not understood, draw a complementary place instead"
                );
                return Err(reading.fail(node, what));
            }
        }
        Ok(())
    }
}

impl<'a> Reading<'a> {
    /// TAPAAL writes labels as attributes.
    pub(super) fn labels_in_attributes(
        &self,
        node: Element<'a>,
        kind: Kind,
    ) -> Result<Labels<'a>, PnmlError> {
        let mut labels = Labels::default();
        let count = |name: &str| {
            let Some(value) = given(node, name) else {
                return Ok(None);
            };
            let count = numbers::natural(value).or_else(|why| {
                // TAPAAL's constants.
                let named = self.constants.get(value).filter(|_| kind == Kind::Arc);
                named.copied().ok_or(why)
            });
            let count = count.map_err(|why| format!("{name} is {value:?}, {why}"));
            count.map(Some).map_err(|what| self.fail(node, what))
        };
        labels.number = match kind {
            Kind::Place => count("initialMarking")?,
            Kind::Arc => self.weight(node, count("weight")?)?,
            _ => None,
        };
        labels.limit = match kind {
            Kind::Place => count("capacity")?,
            Kind::Transition => count("priority")?,
            _ => None,
        };
        if matches!(kind, Kind::Place | Kind::Transition) {
            labels.name = given(node, "name").map(Cow::Borrowed);
            if node.has_attribute("positionX") {
                labels.position = Some(self.position(node, ["positionX", "positionY"])?);
            }
        }
        Ok(labels)
    }

    /// The weight of an arc, which TAPAAL has in one attribute or another. An inscription of 1
    /// stands beside every weight; one that is an interval says nothing.
    fn weight(&self, node: Element<'a>, weight: Option<u64>) -> Result<Option<u64>, PnmlError> {
        let inscription = given(node, "inscription").and_then(|text| numbers::natural(text).ok());
        let inscription = inscription.filter(|&number| number != 1);
        if let (Some(weight), Some(inscription)) = (weight, inscription)
            && weight != inscription
        {
            let what = format!("weight is {weight}, and inscription {inscription}");
            return Err(self.fail(node, what));
        }
        let weight = weight.or(inscription);
        if let Some(weight) = weight {
            object::check_weight(weight).map_err(|what| self.fail(node, what))?;
        }
        Ok(weight)
    }

    /// The numbers that a file of TAPAAL gives names.
    pub(super) fn constants_of(root: Element<'a>) -> HashMap<&'a str, u64> {
        let constants = root
            .children()
            .filter(|child| child.tag_name().name() == "constant");
        let named = constants.filter_map(|constant| {
            let value = numbers::natural(given(constant, "value")?).ok()?;
            Some((given(constant, "name")?, value))
        });
        named.collect()
    }
}
