//! What tools write beyond the standard, or instead of it.
//!
//! | tool | how it differs |
//! |---|---|
//! | WoPeD | no namespace, nodes directly in `<net>`, a subprocess as `<page><net>` |
//! | PIPE | no namespace, nodes directly in `<net>`, `<value>` for `<text>`, numbers with the class of the tokens (`Default,1`) |
//! | TAPAAL | a namespace of its own, labels as attributes, intervals and invariants |
//! | ePNK | nets, pages and arcs without id |
//! | SNAKES | no namespace, no net type, nodes directly in `<net>` |
//! | editors in browsers | a `<net>` that leaves the namespace of `<pnml>` |
//!
//! One rule for all: where an addition says nothing (a capacity of 0, an age of
//! `[0,inf)`), it is understood; where it makes another kind of net, it is
//! refused; anything else gets a remark.

use std::borrow::Cow;

use super::object::{Kind, Labels};
use super::{Element, PnmlError, Reading, attribute as given, numbers};

/// What an addition to the standard means for a place/transition net.
pub(super) enum Meaning {
    /// It is read elsewhere, or says nothing.
    Understood,
    /// It is not kept and concerns only how the net looks in its tool.
    Looks,
    /// It is not kept.
    Lost,
    /// With it, the net is of another kind.
    Refused(String),
}

use Meaning::{Looks, Lost, Refused, Understood};

/// Whether an older tool writes this namespace, or none.
pub(super) fn is_known(namespace: Option<&str>) -> bool {
    namespace.is_none_or(|address| {
        address.starts_with("http://www.informatik.hu-berlin.de/top/pnml")
            || address == "pnml.woped.org"
    })
}

/// An attribute that the standard does not know.
pub(super) fn attribute(older: bool, element: &str, name: &str, value: &str) -> Meaning {
    match (element, name) {
        ("arc", "type") => arc_type(value),
        _ if !older => Lost,
        ("place" | "transition", "name" | "positionX" | "positionY")
        | ("place", "initialMarking")
        | ("arc", "weight") => Understood,
        ("place", "invariant") if matches!(value, "< inf" | "<= inf") => Understood,
        ("place", "invariant") => Refused(format!(
            "tokens must be of age {value}; timed nets are not understood"
        )),
        ("arc", "inscription") if value == "[0,inf)" || numbers::natural(value).is_ok() => {
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
        (_, "urgent" | "infiniteServer") if value == "false" => Understood,
        (_, "player" | "priority") if value == "0" => Understood,
        (_, "displayName" | "nameOffsetX" | "nameOffsetY" | "angle" | "active") => Looks,
        _ => Lost,
    }
}

/// An element that the standard does not know.
pub(super) fn element(parent: &str, node: Element<'_>) -> Meaning {
    let value = node.attribute("value").or(node.attribute("domain"));
    let text = || node.descendants().filter(Element::is_text);
    let value = value.map_or_else(
        || text().filter_map(|it| it.text()).collect::<String>(),
        str::to_owned,
    );
    match (parent, node.tag_name().name(), value.trim()) {
        ("arc", "type" | "arctype", kind) => arc_type(kind),
        ("place", "type", kind) if kind != "dot" => Refused(format!(
            "its tokens are of type {kind:?}; only nets of plain tokens are understood"
        )),
        ("place" | "transition" | "arc", name @ ("valueTokens" | "guard" | "binding"), value)
            if !value.is_empty() =>
        {
            Refused(format!(
                "<{name}> is of nets whose tokens have values, which are not understood"
            ))
        }
        ("pnml", "shared-place" | "shared-transition", _) => Refused(
            "its components share nodes and are not joined here; write the composed net".to_owned(),
        ),
        ("page", "object", _) => {
            Refused("an <object> instead of an element of its kind is not understood".to_owned())
        }
        ("place", "capacity", "0")
        | ("transition", "timed" | "infiniteServer", "false")
        | ("transition", "priority" | "player", "0")
        | ("place" | "arc", "tagged", "false")
        | ("place", "type", _)
        | (_, "placeHolder" | "token", "") => Understood,
        (_, "arcpath" | "orientation" | "labels" | "query" | "k-bound" | "feature", _)
        | ("graphics", "offset" | "font", _) => Looks,
        _ => Lost,
    }
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

impl<'a> Reading<'a> {
    /// TAPAAL writes labels as attributes.
    pub(super) fn labels_in_attributes(
        &self,
        node: Element<'a>,
        kind: Kind,
    ) -> Result<Labels<'a>, PnmlError> {
        let mut labels = Labels::default();
        let number = match kind {
            Kind::Place => "initialMarking",
            Kind::Arc => "weight",
            _ => "",
        };
        if let Some(value) = given(node, number) {
            let count = numbers::natural(value).and_then(|count| match (kind, count) {
                (Kind::Arc, 0) => Err("expected a number from 1 on"),
                _ => Ok(count),
            });
            labels.number = Some(
                count.map_err(|why| self.fail(node, format!("{number} is {value:?}, {why}")))?,
            );
        }
        if matches!(kind, Kind::Place | Kind::Transition) {
            labels.name = given(node, "name").map(Cow::Borrowed);
            if node.has_attribute("positionX") {
                labels.position = Some(self.position(node, ["positionX", "positionY"])?);
            }
        }
        Ok(labels)
    }
}
