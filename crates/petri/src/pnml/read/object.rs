//! Places, transitions, arcs and references, with their labels.

use std::borrow::Cow;

use roxmltree::NodeType;

use super::resolve::{Building, OpenArc};
use super::{Element, PnmlError, Reading, dialect, numbers};
use crate::net::{Owner, Position, RingNote};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Place,
    Transition,
    ReferencePlace,
    ReferenceTransition,
    Arc,
}

impl Kind {
    pub(super) fn of(element: &str) -> Option<Kind> {
        Some(match element {
            "place" => Kind::Place,
            "transition" => Kind::Transition,
            "referencePlace" => Kind::ReferencePlace,
            "referenceTransition" => Kind::ReferenceTransition,
            "arc" => Kind::Arc,
            _ => return None,
        })
    }
}

/// What the children of an element say about it.
#[derive(Default)]
pub(super) struct Labels<'a> {
    pub(super) name: Option<Cow<'a, str>>,
    /// The initial marking of a place, the weight of an arc.
    pub(super) number: Option<u64>,
    /// The capacity of a place, the priority of a transition.
    pub(super) limit: Option<u64>,
    pub(super) position: Option<Position>,
    pub(super) holding: Option<u64>,
    pub(super) queued: Option<u64>,
    pub(super) ring: Option<RingNote>,
}

pub(super) const UNKEPT_GRAPHICS: &str = "graphics of arcs, labels, pages and references not kept";
pub(super) const UNKEPT_TOOLSPECIFIC: &str = "<toolspecific> of labels and references not kept";

/// Which elements the standard has inside an element.
pub(super) fn expected(element: &str) -> &'static str {
    match element {
        "pnml" => "<net>",
        "net" => "<page>, <name>, <toolspecific>",
        "page" => {
            "<place>, <transition>, <arc>, <page>, <referencePlace>, <referenceTransition>, \
             <name>, <graphics>, <toolspecific>"
        }
        "place" => "<initialMarking>, <name>, <graphics>, <toolspecific>",
        "arc" => "<inscription>, <name>, <graphics>, <toolspecific>",
        "name" | "initialMarking" | "inscription" => "<text>, <graphics>, <toolspecific>",
        "graphics" => "<position>, <dimension>, <fill>, <line>",
        "text" => "text",
        _ => "<name>, <graphics>, <toolspecific>",
    }
}

/// What an arc can move. Of parallel arcs there are fewer than 2^32, so their sum fits in 64
/// bits.
pub(super) fn check_weight(weight: u64) -> Result<(), String> {
    match weight {
        0 => Err("an arc moves at least one token, found 0".to_owned()),
        1..=0xffff_ffff => Ok(()),
        _ => Err(format!(
            "an arc moves at most 4294967295 tokens, found {weight}"
        )),
    }
}

impl<'a> Reading<'a> {
    pub(super) fn object(
        &mut self,
        node: Element<'a>,
        kind: Kind,
        net: &mut Building<'a>,
    ) -> Result<(), PnmlError> {
        let index = net.count(kind);
        let number = net.number;
        let (known, owner): (&[&str], _) = match kind {
            Kind::Place => (&["id"], Some(Owner::Place(index))),
            Kind::Transition => (&["id"], Some(Owner::Transition(index))),
            Kind::Arc => (&["id", "source", "target"], Some(Owner::Arc(index))),
            Kind::ReferencePlace | Kind::ReferenceTransition => (&["id", "ref"], None),
        };
        let id = if kind == Kind::Arc {
            self.id_if_any(node, Some(kind), number, index)?
        } else {
            let id = self.required(node, "id")?;
            self.register(node, id, Some(kind), number, index)?;
            Some(id)
        };
        self.attributes(node, known)?;
        let mut labels = if self.older {
            self.labels_in_attributes(node, kind)?
        } else {
            Labels::default()
        };
        for child in node.children() {
            if !self.is_element(child)? {
                continue;
            }
            match (self.name_of(child), kind) {
                ("name", Kind::Place | Kind::Transition) => self.set_name(child, &mut labels)?,
                ("name", _) => self.unkept_name(child)?,
                ("initialMarking", Kind::Place) | ("inscription", Kind::Arc) => {
                    if let Some(count) = self.count(child, net)? {
                        self.only_one(child, labels.number.replace(count).is_some())?;
                    }
                }
                ("capacity", Kind::Place) | ("priority", Kind::Transition) if self.older => {
                    let limit = dialect::limit(child);
                    labels.limit = limit.map_err(|what| self.fail(child, what))?;
                }
                ("graphics", Kind::Place | Kind::Transition) => {
                    self.graphics(child, &mut labels)?;
                }
                ("graphics", _) => self.looks(UNKEPT_GRAPHICS, child),
                ("toolspecific", _) => self.toolspecific(child, owner, net, &mut labels)?,
                _ => self.stranger(child)?,
            }
        }
        match kind {
            Kind::Place => {
                if let Some(capacity) = labels.limit.filter(|&capacity| capacity > 0) {
                    let what = "capacities not kept, which the marking of the file never reaches";
                    self.lost(what, node);
                    net.capacities.push((index, capacity, node));
                }
                net.add_place(id.unwrap_or_default(), labels);
            }
            Kind::Transition => {
                let same = net.same_priority(labels.limit);
                same.map_err(|what| self.fail(node, what))?;
                net.add_transition(id.unwrap_or_default(), &labels);
            }
            Kind::Arc => {
                let ends = [
                    self.required(node, "source")?,
                    self.required(node, "target")?,
                ];
                let weight = labels.number.unwrap_or(1);
                let arc = OpenArc {
                    node,
                    id,
                    ends,
                    weight,
                };
                net.add_arc(arc, self);
            }
            Kind::ReferencePlace | Kind::ReferenceTransition => {
                self.looks("reference nodes replaced by what they refer to", node);
                self.required(node, "ref")?;
                net.references.push((node, kind));
            }
        }
        Ok(())
    }

    pub(super) fn set_name(
        &mut self,
        node: Element<'a>,
        labels: &mut Labels<'a>,
    ) -> Result<(), PnmlError> {
        let name = self.label(node)?.unwrap_or_default();
        let trimmed = match name {
            Cow::Borrowed(name) => Cow::Borrowed(name.trim()),
            Cow::Owned(name) => Cow::Owned(name.trim().to_owned()),
        };
        self.only_one(node, labels.name.replace(trimmed).is_some())
    }

    pub(super) fn unkept_name(&mut self, node: Element<'a>) -> Result<(), PnmlError> {
        if !self.label(node)?.unwrap_or_default().trim().is_empty() {
            let what = "names of pages, references and arcs not kept";
            self.looks(what, node);
        }
        Ok(())
    }

    fn only_one(&self, node: Element<'a>, second: bool) -> Result<(), PnmlError> {
        if !second {
            return Ok(());
        }
        let parent = node.parent_element().map_or("", |it| it.tag_name().name());
        let element = node.tag_name().name();
        Err(self.fail(node, format!("a second <{element}> in <{parent}>")))
    }

    /// The number of an initial marking or an inscription. PIPE writes an empty one
    /// for none.
    fn count(
        &mut self,
        node: Element<'a>,
        net: &mut Building<'a>,
    ) -> Result<Option<u64>, PnmlError> {
        let Some(text) = self.label(node)? else {
            return Err(self.fail(node, "<text> with a number is required"));
        };
        let mut digits = text.as_ref();
        if self.older {
            if digits.trim().is_empty() {
                return Ok(None);
            }
            let plain = dialect::without_class(digits, &mut net.token_class);
            digits = plain.map_err(|what| self.fail(node, what))?;
        }
        let count = numbers::natural(digits)
            .map_err(|why| self.fail(node, format!("found {:?}, {why}", text.trim())))?;
        if node.tag_name().name() == "inscription" {
            check_weight(count).map_err(|what| self.fail(node, what))?;
        }
        Ok(Some(count))
    }

    /// The text of a label, if it has any.
    fn label(&mut self, node: Element<'a>) -> Result<Option<Cow<'a, str>>, PnmlError> {
        self.attributes(node, &[])?;
        let mut found = None;
        for child in node.children() {
            if !self.is_element(child)? {
                continue;
            }
            match self.name_of(child) {
                "text" => self.add_text(child, &mut found)?,
                "multiset" if self.older => {
                    let tokens = dialect::plain_tokens(child);
                    let tokens = tokens.map_err(|what| self.fail(node, what))?;
                    found = Some(Cow::Owned(tokens.to_string()));
                }
                "graphics" => self.looks(UNKEPT_GRAPHICS, child),
                "toolspecific" => {
                    self.check_tool(child)?;
                    self.looks(UNKEPT_TOOLSPECIFIC, child);
                }
                _ => self.stranger(child)?,
            }
        }
        Ok(found)
    }

    fn add_text(
        &mut self,
        node: Element<'a>,
        found: &mut Option<Cow<'a, str>>,
    ) -> Result<(), PnmlError> {
        if found.is_some() {
            return Err(self.fail(node, "a second <text> in one label"));
        }
        self.attributes(node, &[])?;
        let text = found.insert(Cow::Borrowed(""));
        for child in node.children() {
            match (child.node_type(), child.text()) {
                (NodeType::Text, Some(part)) if text.is_empty() => *text = Cow::Borrowed(part),
                (NodeType::Text, Some(part)) => text.to_mut().push_str(part),
                _ if self.is_element(child)? => self.stranger(child)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Where a node is drawn.
    fn graphics(&mut self, node: Element<'a>, labels: &mut Labels<'a>) -> Result<(), PnmlError> {
        self.attributes(node, &[])?;
        for child in node.children() {
            if !self.is_element(child)? {
                continue;
            }
            match self.name_of(child) {
                "position" => labels.position = Some(self.position(child, ["x", "y"])?),
                element @ ("dimension" | "fill" | "line") => {
                    let what = format!("<{element}> of nodes not kept");
                    self.looks(what, child);
                }
                _ => self.stranger(child)?,
            }
        }
        Ok(())
    }

    pub(super) fn position(
        &self,
        node: Element<'a>,
        names: [&str; 2],
    ) -> Result<Position, PnmlError> {
        let coordinate = |name: &str| {
            let value = node.attribute(name).unwrap_or("");
            numbers::decimal(value).ok_or_else(|| {
                let what = format!("{name} is {value:?}, expected a decimal number");
                self.fail(node, what)
            })
        };
        Ok(Position {
            x: coordinate(names[0])?,
            y: coordinate(names[1])?,
        })
    }
}
