//! What is neither place, transition nor arc: positions, this tool's elements,
//! other tools' elements, strangers.

use quick_xml::events::{BytesStart, Event};

use super::attributes::Attributes;
use super::building::Building;
use super::context::Context;
use super::{Reading, numbers, wellformed};
use crate::net::{Owner, Position, ToolSpecific};
use crate::pnml::{NAMESPACE, PnmlError};

impl Reading<'_> {
    /// Elements inside `graphics` and `toolspecific`, and strangers.
    pub(super) fn unexpected(
        &mut self,
        start: &BytesStart<'_>,
        element: &str,
        at: usize,
        empty: bool,
        ours: bool,
    ) -> Result<(), PnmlError> {
        // Where attributes are asked for, they are checked then.
        let asked_for = matches!(
            (self.context(), element),
            (Context::Graphics, "position") | (Context::Own, _)
        );
        let checked = if asked_for {
            check_name(start)
        } else {
            check_tag(self.text, start)
        };
        checked.map_err(|what| self.fail_in(at, element, what))?;
        match self.context() {
            Context::Graphics if ours && element == "position" => {
                let mut attributes = Attributes::of(self.text, start)
                    .map_err(|what| self.fail_in(at, element, what))?;
                let mut coordinate = |name| {
                    let value = attributes.take(name)?.unwrap_or_default();
                    numbers::decimal(&value)
                        .ok_or_else(|| format!("{name} is {value:?}, expected a decimal number"))
                };
                let position = coordinate("x").and_then(|x| {
                    Ok(Position {
                        x,
                        y: coordinate("y")?,
                    })
                });
                let position = position.map_err(|what| self.fail_in(at, element, what))?;
                if let Some(net) = &mut self.net {
                    net.place_at(position);
                }
                self.skip(start, empty)
            }
            Context::Graphics if ours && matches!(element, "dimension" | "fill" | "line") => {
                self.remarks
                    .note_looks(format!("<{element}> of nodes not kept"), at);
                self.skip(start, empty)
            }
            Context::Own => {
                self.own(start, element, at)?;
                self.skip(start, empty)
            }
            context if self.generous && context != Context::Document => {
                if context == Context::Arc && matches!(element, "type" | "arctype") {
                    let what = self.arc_type(start, empty)?;
                    if !what.is_empty() && what != "normal" {
                        let what =
                            format!("an arc of type {what:?}; only ordinary arcs are understood");
                        return Err(self.fail_in(at, "arc", what));
                    }
                    return Ok(());
                }
                let inside = self.frames.last().map_or("", |frame| frame.element);
                let what = format!("<{element}> in <{inside}> is not part of PNML and not kept");
                self.remarks.note(what, at);
                self.skip(start, empty)
            }
            context => {
                let stranger = if ours || context == Context::Document {
                    String::new()
                } else {
                    " (elements of other namespaces belong inside <toolspecific>)".to_owned()
                };
                let what = match self.frames.last() {
                    Some(frame) => format!(
                        "not allowed inside <{}>; expected {}{stranger}",
                        frame.element,
                        context.expected()
                    ),
                    None => format!("the file does not begin with <pnml> in namespace {NAMESPACE}"),
                };
                Err(self.fail_in(at, element, what))
            }
        }
    }

    /// The text of an arc type, wherever a tool puts it.
    pub(super) fn arc_type(
        &mut self,
        start: &BytesStart<'_>,
        empty: bool,
    ) -> Result<String, PnmlError> {
        let mut attributes = Attributes::of(self.text, start).unwrap_or_default();
        if let Ok(Some(value)) = attributes.take("value") {
            self.skip(start, empty)?;
            return Ok(value.into_owned());
        }
        let from = self.reader.buffer_position() as usize;
        self.skip(start, empty)?;
        if empty {
            return Ok(String::new());
        }
        let to = self.reader.buffer_position() as usize;
        let content = &self.text[from..to];
        let mut plain = String::new();
        let mut inside = false;
        for character in content.chars() {
            match character {
                '<' => inside = true,
                '>' => inside = false,
                other if !inside => plain.push(other),
                _ => {}
            }
        }
        Ok(plain.trim().to_owned())
    }

    /// An element of this tool: holding time, queued tokens or ring.
    pub(super) fn own(
        &mut self,
        start: &BytesStart<'_>,
        element: &str,
        at: usize,
    ) -> Result<(), PnmlError> {
        let mut attributes =
            Attributes::of(self.text, start).map_err(|what| self.fail_in(at, element, what))?;
        let mut number = |name: &str| {
            let value = attributes.take(name)?.unwrap_or_default();
            numbers::natural(&value).map_err(|why| format!("{name} is {value:?}, {why}"))
        };
        let result = match (&mut self.net, element) {
            (Some(net), "holding") => number("rounds").map(|rounds| net.holding(rounds)),
            (Some(net), "queued") => number("tokens").map(|tokens| net.queued(tokens)),
            (Some(net), "ring") => number("separation").and_then(|separation| {
                let delays = attributes.take("delays")?.unwrap_or_default();
                net.ring(separation, &delays)
            }),
            _ => {
                let what = format!("<{element}> of tool headway is unknown and not kept");
                self.remarks.note(what, at);
                Ok(())
            }
        };
        result.map_err(|what| self.fail_in(at, element, what))
    }

    /// Another tool's element is kept as it is written.
    pub(super) fn keep(
        &mut self,
        start: &BytesStart<'_>,
        tool: Option<String>,
        attributes: &mut Attributes<'_>,
        at: usize,
        empty: bool,
    ) -> Result<(), PnmlError> {
        let version = attributes.take("version");
        let version = version.map_err(|what| self.fail_in(at, "toolspecific", what))?;
        if !self.generous && (tool.is_none() || version.is_none()) {
            let what = "attributes tool and version are required".to_owned();
            return Err(self.fail_in(at, "toolspecific", what));
        }
        let from = self.reader.buffer_position() as usize;
        let prefix = |declared: quick_xml::name::PrefixDeclaration<'_>| match declared {
            quick_xml::name::PrefixDeclaration::Default => String::new(),
            quick_xml::name::PrefixDeclaration::Named(name) => name.to_owned(),
        };
        let mut namespaces: Vec<(String, String)> = self
            .scopes
            .bindings()
            .map(|(declared, namespace)| (prefix(declared), namespace.into_inner().to_owned()))
            .collect();
        let to = self.skip_to(start, empty)?;
        let content = if empty { "" } else { &self.text[from..to] };
        let further = attributes.rest();
        let used = |prefix: &str| {
            let tag = format!("{prefix}:");
            content.contains(&tag) || further.contains(&tag)
        };
        namespaces.retain(|(name, _)| name.is_empty() || (name != "xml" && used(name)));
        if self.generous {
            // A file without namespace is written again with one.
            namespaces.push((String::new(), NAMESPACE.to_owned()));
        }
        let owner = match self.context() {
            Context::Net => Some(Owner::Net),
            Context::Place | Context::Transition | Context::Arc => {
                self.net.as_ref().and_then(Building::owner)
            }
            Context::Page => {
                self.remarks
                    .note_looks("<toolspecific> of a page kept with the net", at);
                Some(Owner::Net)
            }
            _ => None,
        };
        let Some(owner) = owner else {
            self.remarks
                .note_looks("<toolspecific> of labels and references not kept", at);
            return Ok(());
        };
        if let Some(net) = &mut self.net {
            net.net.kept.push(ToolSpecific {
                owner,
                tool: tool.unwrap_or_default(),
                version: version.unwrap_or_default().into_owned(),
                attributes: further,
                content: content.to_owned(),
                namespaces,
            });
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, start: &BytesStart<'_>, empty: bool) -> Result<(), PnmlError> {
        self.skip_to(start, empty).map(|_| ())
    }

    /// Skips to the end of an element; returns where its content ends.
    pub(super) fn skip_to(
        &mut self,
        start: &BytesStart<'_>,
        empty: bool,
    ) -> Result<usize, PnmlError> {
        if empty {
            return Ok(self.reader.buffer_position() as usize);
        }
        // The tokenizer sees to it that end tags match.
        let mut depth = 1;
        loop {
            let at = self.reader.buffer_position() as usize;
            let event = self.reader.read_event().map_err(|error| {
                let at = self.reader.error_position() as usize;
                self.fail_at(at, format!("not well-formed XML: {error}"))
            })?;
            let checked = match event {
                Event::Start(inner) => {
                    depth += 1;
                    check_tag(self.text, &inner)
                }
                Event::Empty(inner) => check_tag(self.text, &inner),
                Event::End(_) => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(at);
                    }
                    Ok(())
                }
                Event::Text(text) => wellformed::check_text(&text.xml10_content()),
                Event::GeneralRef(reference) => {
                    wellformed::check_reference(&reference.xml10_content())
                }
                Event::PI(instruction) => wellformed::check_instruction(instruction.target()),
                Event::Eof | Event::Decl(_) | Event::DocType(_) => {
                    let element = start.local_name().into_inner();
                    Err(format!("not well-formed XML: <{element}> does not end"))
                }
                Event::CData(_) | Event::Comment(_) => Ok(()),
            };
            checked.map_err(|what| self.fail_at(at, what))?;
        }
    }
}

/// Names and attributes of an element that is not looked into.
fn check_tag(text: &str, start: &BytesStart<'_>) -> Result<(), String> {
    check_name(start)?;
    Attributes::of(text, start).map(|_| ())
}

fn check_name(start: &BytesStart<'_>) -> Result<(), String> {
    let name = start.name().into_inner();
    if wellformed::is_qualified_name(name) {
        Ok(())
    } else {
        Err(format!("not well-formed XML: {name:?} is not a name"))
    }
}
