//! Tool-specific elements, and attributes and elements that the standard does
//! not know.

use super::dialect::{self, Meaning};
use super::object::{self, Labels, UNKEPT_TOOLSPECIFIC};
use super::resolve::Building;
use super::{Element, PnmlError, Reading, numbers};
use crate::net::{Owner, RingNote, ToolSpecific};
use crate::pnml::NAMESPACE;

const UNKNOWN: &str = "is unknown, and may change what the net does";
const NOT_A_NAME: &str = "not well-formed XML: a name that XML does not allow";

impl<'a> Reading<'a> {
    /// Says what becomes of attributes other than the known ones.
    pub(super) fn attributes(
        &mut self,
        node: Element<'a>,
        known: &[&str],
    ) -> Result<(), PnmlError> {
        for attribute in node.attributes() {
            let name = attribute.name();
            if attribute.namespace().is_none() && known.contains(&name) {
                continue;
            }
            let element = node.tag_name().name();
            let meaning = dialect::attribute(self.older, element, attribute);
            let what = || format!("attribute {name} of <{element}> not kept");
            let unknown = || format!("attribute {name} {UNKNOWN}");
            self.judge([node, node], meaning, what, unknown)?;
        }
        Ok(())
    }

    /// An element that has no place in a standard file.
    pub(super) fn stranger(&mut self, node: Element<'a>) -> Result<(), PnmlError> {
        let parent = node.parent_element().unwrap_or(node);
        let inside = parent.tag_name().name();
        let element = node.tag_name().name();
        if self.older {
            let meaning = dialect::element(inside, node);
            let what = || format!("<{element}> in <{inside}> is not part of PNML and not kept");
            let unknown = || format!("in <{inside}> {UNKNOWN}");
            // What is wrong with a place, a transition or an arc is said of it; a net is long.
            let short = !matches!(inside, "pnml" | "net" | "page");
            let blamed = if short { parent } else { node };
            return self.judge([node, blamed], meaning, what, unknown);
        }
        let expected = object::expected(inside);
        let stranger = if self.name_of(node).is_empty() {
            " (elements of other namespaces belong inside <toolspecific>)"
        } else {
            ""
        };
        let what = format!("not allowed inside <{inside}>; expected {expected}{stranger}");
        Err(self.fail(node, what))
    }

    fn judge(
        &mut self,
        [node, blamed]: [Element<'a>; 2],
        meaning: Meaning,
        what: impl Fn() -> String,
        unknown: impl Fn() -> String,
    ) -> Result<(), PnmlError> {
        match meaning {
            Meaning::Understood => {}
            Meaning::Looks => self.looks(what(), node),
            Meaning::Lost(why) => self.lost(why.map_or_else(what, str::to_owned), node),
            Meaning::Refused(why) => return Err(self.fail(blamed, why)),
            Meaning::Unknown => return Err(self.fail(node, unknown())),
        }
        Ok(())
    }

    /// This tool's own element is read; another tool's is kept as it is written.
    pub(super) fn toolspecific(
        &mut self,
        node: Element<'a>,
        owner: Option<Owner>,
        net: &mut Building<'a>,
        labels: &mut Labels<'a>,
    ) -> Result<(), PnmlError> {
        if node.attribute("tool") == Some("headway") {
            for child in node.children().filter(Element::is_element) {
                self.own(child, owner, labels)?;
            }
            return Ok(());
        }
        self.check_tool(node)?;
        let Some(owner) = owner else {
            self.looks(UNKEPT_TOOLSPECIFIC, node);
            return Ok(());
        };
        if node.parent_element().map(|it| self.name_of(it)) == Some("page") {
            self.looks("<toolspecific> of a page kept with the net", node);
        }
        let text = self.document.input_text();
        let content = content(&text[node.range()]);
        for inner in node.descendants() {
            self.check_names(inner)?;
        }
        if content.contains("</:") {
            return Err(self.fail(node, NOT_A_NAME));
        }
        let further: Vec<&str> = node
            .attributes()
            .filter(|it| it.namespace().is_some() || !matches!(it.name(), "tool" | "version"))
            .map(|it| &text[it.range()])
            .collect();
        let attributes = further.join(" ");
        let used = |prefix: &str| {
            let tag = format!("{prefix}:");
            prefix.is_empty() || content.contains(&tag) || attributes.contains(&tag)
        };
        let mut namespaces: Vec<(String, String)> = node
            .namespaces()
            .map(|it| (it.name().unwrap_or("").to_owned(), it.uri().to_owned()))
            .filter(|(prefix, _)| prefix != "xml" && used(prefix))
            .collect();
        if self.namespace.is_none() {
            // A file without namespace is written again with one.
            namespaces.push((String::new(), NAMESPACE.to_owned()));
        }
        net.net.kept.push(ToolSpecific {
            owner,
            tool: node.attribute("tool").unwrap_or("").to_owned(),
            version: node.attribute("version").unwrap_or("").to_owned(),
            attributes,
            content: content.to_owned(),
            namespaces,
        });
        Ok(())
    }

    /// Refuses the two things that the parser lets pass although XML does not:
    /// names that begin with a colon, and malformed processing instructions.
    pub(super) fn check_names(&self, node: Element<'a>) -> Result<(), PnmlError> {
        let text = self.document.input_text();
        let colon = |at: usize| text.as_bytes().get(at) == Some(&b':');
        let odd = match node.pi() {
            Some(instruction) => {
                let target = instruction.target;
                let after = &text[node.range()][2 + target.len()..];
                target.eq_ignore_ascii_case("xml")
                    || target.contains(':')
                    || !(after.starts_with("?>") || after.starts_with(char::is_whitespace))
            }
            None => {
                node.is_element()
                    && (colon(node.range().start + 1)
                        || node.attributes().any(|it| colon(it.range().start)))
            }
        };
        if odd {
            return Err(self.fail(node, NOT_A_NAME));
        }
        Ok(())
    }

    pub(super) fn check_tool(&self, node: Element<'a>) -> Result<(), PnmlError> {
        if self.older || (node.has_attribute("tool") && node.has_attribute("version")) {
            return Ok(());
        }
        Err(self.fail(node, "attributes tool and version are required"))
    }

    /// An element of this tool: holding time, queued tokens or ring.
    fn own(
        &mut self,
        node: Element<'a>,
        owner: Option<Owner>,
        labels: &mut Labels<'a>,
    ) -> Result<(), PnmlError> {
        let number = |name: &str| {
            let value = node.attribute(name).unwrap_or("");
            let read = numbers::natural(value);
            read.map_err(|why| self.fail(node, format!("{name} is {value:?}, {why}")))
        };
        match (node.tag_name().name(), owner) {
            ("holding", Some(Owner::Place(_))) => labels.holding = Some(number("rounds")?),
            ("queued", Some(Owner::Place(_))) => labels.queued = Some(number("tokens")?),
            ("ring", Some(Owner::Net)) => {
                let separation = number("separation")?;
                let delays = node.attribute("delays").unwrap_or("").split_whitespace();
                let delays: Result<_, _> = delays.map(str::parse).collect();
                labels.ring = Some(RingNote {
                    separation: u32::try_from(separation).map_err(|_| {
                        let what = format!("separation is {separation}, at most 2^31 is possible");
                        self.fail(node, what)
                    })?,
                    delays: delays
                        .map_err(|_| self.fail(node, "delays: expected process numbers"))?,
                    queued: Vec::new(),
                });
            }
            (element, _) => {
                let what = format!("<{element}> of tool headway is unknown here and not kept");
                self.lost(what, node);
            }
        }
        Ok(())
    }
}

/// What stands between the tags of an element, as written. The tree has
/// no bytes for it: text with references or character data sections spans several.
fn content(element: &str) -> &str {
    let mut quote = None;
    let opened = element.bytes().position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    });
    let from = opened.map_or(element.len(), |at| at + 1);
    let to = element.rfind("</").unwrap_or(from);
    element.get(from..to).unwrap_or("")
}
