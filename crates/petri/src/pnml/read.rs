//! PNML as nets: one pass over the text, then references and arcs are resolved.

mod attributes;
mod building;
mod numbers;

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{NamespaceResolver, ResolveResult};
use quick_xml::reader::Reader;

use self::attributes::Attributes;
use self::building::{Building, Kind};
use super::encoding::decode;
use super::remark::Remarks;
use super::{Imported, NAMESPACE, NET_TYPE, PnmlError};
use crate::net::{Owner, Position, ToolSpecific};

/// Reads all nets of a PNML file.
///
/// # Errors
///
/// [`PnmlError`] with line and element when the file is not XML, not PNML, or
/// not of place/transition nets.
///
/// ```
/// use headway_petri::pnml;
/// let text = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
///   <net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
///     <arc id="a" source="p" target="t"/>
///     <transition id="t"/>
///     <place id="p"><initialMarking><text> 4294967296 </text></initialMarking></place>
///   </page></net></pnml>"#;
/// let net = &pnml::read(text.as_bytes()).unwrap()[0];
/// assert_eq!(net.marking.0, [1 << 32]);
///
/// let error = pnml::read(text.replace("target=\"t\"", "target=\"x\"").as_bytes()).unwrap_err();
/// assert_eq!(error.to_string(), "line 3, <arc id=\"a\">: target \"x\" is not the id of a node");
/// ```
pub fn read(bytes: &[u8]) -> Result<Vec<Imported>, PnmlError> {
    let text = decode(bytes)?;
    let mut reading = Reading::new(&text);
    reading.run()?;
    reading.finish()
}

/// Where in the document the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    Document,
    Pnml,
    Net,
    Page,
    Place,
    Transition,
    Reference,
    Arc,
    /// `name`, `initialMarking` or `inscription`.
    Label(Label),
    /// The `text` of a label.
    Text,
    /// `graphics` of a place or transition.
    Graphics,
    /// A `toolspecific` element of this tool.
    Own,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Name,
    InitialMarking,
    Inscription,
}

impl Context {
    fn expected(self) -> &'static str {
        match self {
            Context::Document => "<pnml>",
            Context::Pnml => "<net>",
            Context::Net => "<page>, <name>, <toolspecific>",
            Context::Page => {
                "<place>, <transition>, <arc>, <page>, <referencePlace>, <referenceTransition>, \
                 <name>, <graphics>, <toolspecific>"
            }
            Context::Place => "<initialMarking>, <name>, <graphics>, <toolspecific>",
            Context::Transition | Context::Reference => "<name>, <graphics>, <toolspecific>",
            Context::Arc => "<inscription>, <name>, <graphics>, <toolspecific>",
            Context::Label(_) => "<text>, <graphics>, <toolspecific>",
            Context::Graphics => "<position>, <dimension>, <fill>, <line>",
            Context::Text | Context::Own => "text",
        }
    }
}

/// Deeper documents are refused: no net needs it, and scopes are counted in 16 bits.
const DEEPEST: usize = 10_000;

/// An element that is open.
struct Frame {
    context: Context,
    /// The byte where it begins.
    at: usize,
    /// Its local name.
    element: &'static str,
    /// Which labels it has had, one bit each.
    seen: u8,
    /// It declares namespaces.
    scoped: bool,
}

struct Reading<'t> {
    text: &'t str,
    reader: Reader<&'t [u8]>,
    /// Knows the declarations of the open elements that have any.
    scopes: NamespaceResolver,
    /// Whether an element without prefix is one of PNML, as long as no element
    /// with declarations begins or ends.
    unprefixed_is_ours: Option<bool>,
    frames: Vec<Frame>,
    /// No namespace at all: read generously.
    generous: bool,
    label_text: String,
    label_has_text: bool,
    net: Option<Building<'t>>,
    done: Vec<Building<'t>>,
    /// Ids are unique in a document.
    ids: building::Ids<'t>,
    remarks: Remarks,
    saw_root: bool,
}

impl<'t> Reading<'t> {
    fn new(text: &'t str) -> Reading<'t> {
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_comments = true;
        Reading {
            text,
            reader,
            scopes: NamespaceResolver::default(),
            unprefixed_is_ours: None,
            frames: Vec::new(),
            generous: false,
            label_text: String::new(),
            label_has_text: false,
            net: None,
            done: Vec::new(),
            // An id takes a hundred bytes of text or more, elements considered.
            ids: building::Ids::with_capacity(text.len() / 100),
            remarks: Remarks::default(),
            saw_root: false,
        }
    }

    fn run(&mut self) -> Result<(), PnmlError> {
        loop {
            let at = self.reader.buffer_position() as usize;
            let event = self.reader.read_event().map_err(|error| {
                let at = self.reader.error_position() as usize;
                self.fail_at(at, format!("not well-formed XML: {error}"))
            })?;
            match event {
                Event::Start(start) => self.open(&start, at, false)?,
                Event::Empty(start) => self.open(&start, at, true)?,
                Event::End(_) => self.close()?,
                Event::Text(text) => self.characters(&text.xml10_content(), at)?,
                Event::CData(data) => self.characters(&data.xml10_content(), at)?,
                Event::GeneralRef(reference) => {
                    let resolved = match reference.resolve_char_ref() {
                        Ok(Some(character)) => character.to_string(),
                        Ok(None) => {
                            let name = reference.xml10_content();
                            quick_xml::escape::resolve_predefined_entity(&name)
                                .ok_or_else(|| {
                                    self.fail_at(at, format!("entity &{name}; is not defined"))
                                })?
                                .to_owned()
                        }
                        Err(error) => return Err(self.fail_at(at, error.to_string())),
                    };
                    self.characters(&resolved, at)?;
                }
                Event::DocType(doctype) => {
                    if doctype.contains('[') {
                        let what = "a document type with declarations of its own is not accepted; \
                                    PNML has none, remove the <!DOCTYPE ...>";
                        return Err(self.fail_at(at, what.to_owned()));
                    }
                    self.remarks.note_looks("<!DOCTYPE> not kept", at);
                }
                Event::Comment(_) => self.remarks.note_looks("comments not kept", at),
                Event::PI(_) => self
                    .remarks
                    .note_looks("processing instructions not kept", at),
                Event::Decl(_) => {}
                Event::Eof => break,
            }
        }
        if let Some(frame) = self.frames.last() {
            let what = "the file ends before this element does".to_owned();
            return Err(self.fail_in(frame.at, frame.element, what));
        }
        if !self.saw_root {
            let what = "there is no element at all; expected <pnml>".to_owned();
            return Err(self.fail_in(self.text.len(), "pnml", what));
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<Imported>, PnmlError> {
        let text = self.text;
        let line_of = |at: usize| line_of(text, at);
        let mut shared = Some(self.remarks);
        let mut nets = Vec::with_capacity(self.done.len());
        for mut building in self.done {
            // What was said outside of any net is told with the first.
            let remarks = shared.take().unwrap_or_default();
            let resolved = building.resolve(&self.ids);
            resolved.map_err(|(at, what)| error_at(text, at, None, what))?;
            nets.push(Imported {
                net: building.net,
                marking: crate::net::Marking(building.tokens),
                remarks: remarks.finish(line_of),
            });
        }
        if nets.is_empty() {
            return Err(error_at(
                text,
                0,
                Some("pnml"),
                "there is no <net> in it".to_owned(),
            ));
        }
        Ok(nets)
    }

    fn context(&self) -> Context {
        self.frames
            .last()
            .map_or(Context::Document, |frame| frame.context)
    }

    /// An element begins. Its declarations are in scope while it is open.
    fn open(&mut self, start: &BytesStart<'_>, at: usize, empty: bool) -> Result<(), PnmlError> {
        let declares = |raw: &str| !raw.is_empty() && raw.contains("xmlns");
        let scoped = declares(start.attributes_raw());
        if scoped {
            self.unprefixed_is_ours = None;
            let pushed = self.scopes.push(start);
            pushed.map_err(|error| self.fail_at(at, format!("not well-formed XML: {error}")))?;
        }
        let depth = self.frames.len();
        self.open_in_scope(start, at, empty)?;
        if scoped {
            match self.frames.get_mut(depth) {
                Some(frame) => frame.scoped = true,
                None => {
                    self.scopes.pop();
                    self.unprefixed_is_ours = None;
                }
            }
        }
        Ok(())
    }

    fn open_in_scope(
        &mut self,
        start: &BytesStart<'_>,
        at: usize,
        empty: bool,
    ) -> Result<(), PnmlError> {
        let name = start.name();
        let (element, ours) = match self.unprefixed_is_ours {
            Some(ours) if !name.into_inner().contains(':') => (name.into_inner(), ours),
            _ => {
                let element = name.local_name().into_inner();
                let ours = match self.scopes.resolve_element(name).0 {
                    ResolveResult::Bound(namespace) => namespace.into_inner() == NAMESPACE,
                    ResolveResult::Unbound => self.generous || self.frames.is_empty(),
                    ResolveResult::Unknown(prefix) => {
                        let what = format!("the prefix {prefix:?} is not declared");
                        return Err(self.fail_in(at, element, what));
                    }
                };
                if !self.frames.is_empty() && name.prefix().is_none() {
                    self.unprefixed_is_ours = Some(ours);
                }
                (element, ours)
            }
        };
        let next = if ours {
            self.next_context(element)
        } else {
            None
        };
        let Some((context, element)) = next else {
            return self.unexpected(start, element, at, empty, ours);
        };
        if context == Context::Pnml {
            if self.saw_root {
                return Err(self.fail_in(at, element, "a second root element".to_owned()));
            }
            self.saw_root = true;
            let (namespace, _) = self.scopes.resolve_element(start.name());
            if namespace == ResolveResult::Unbound {
                self.generous = true;
                let what = "no namespace; read as if it were that of PNML 2009";
                self.remarks.note(what, at);
            }
        }
        if self.frames.len() >= DEEPEST {
            return Err(self.fail_in(at, element, format!("nested deeper than {DEEPEST}")));
        }
        let mut attributes =
            Attributes::of(self.text, start).map_err(|what| self.fail_in(at, element, what))?;
        if element == "toolspecific" {
            let tool = attributes
                .take("tool")
                .map_err(|what| self.fail_in(at, element, what))?;
            if tool.as_deref() != Some("headway") {
                return self.keep(start, tool.map(Into::into), &mut attributes, at, empty);
            }
            let _version = attributes.take("version");
        }
        if let Context::Graphics = context
            && !matches!(self.context(), Context::Place | Context::Transition)
        {
            self.remarks.note_looks(
                "graphics of arcs, labels, pages and references not kept",
                at,
            );
            return self.skip(start, empty);
        }
        self.frames.push(Frame {
            context,
            at,
            element,
            seen: 0,
            scoped: false,
        });
        self.begin(context, element, &mut attributes, at)?;
        if let Some(name) = attributes.unused() {
            self.remarks
                .note(format!("attribute {name} of <{element}> not kept"), at);
        }
        if empty {
            self.close()?;
        }
        Ok(())
    }

    /// What an element means here; `None` when it has no place here.
    fn next_context(&mut self, element: &str) -> Option<(Context, &'static str)> {
        use Context as C;
        let node = |context| {
            matches!(
                context,
                C::Place | C::Transition | C::Reference | C::Arc | C::Page
            )
        };
        Some(match (self.context(), element) {
            (C::Document, "pnml") => (C::Pnml, "pnml"),
            (C::Pnml, "net") => (C::Net, "net"),
            (C::Net | C::Page, "page") => (C::Page, "page"),
            (C::Page, "place") => (C::Place, "place"),
            (C::Page, "transition") => (C::Transition, "transition"),
            (C::Page, "referencePlace") => (C::Reference, "referencePlace"),
            (C::Page, "referenceTransition") => (C::Reference, "referenceTransition"),
            (C::Page, "arc") => (C::Arc, "arc"),
            (context, "name") if node(context) || context == C::Net => {
                (C::Label(Label::Name), "name")
            }
            (C::Place, "initialMarking") => (C::Label(Label::InitialMarking), "initialMarking"),
            (C::Arc, "inscription") => (C::Label(Label::Inscription), "inscription"),
            (C::Label(_), "text") => (C::Text, "text"),
            (context, "graphics") if node(context) || matches!(context, C::Label(_)) => {
                (C::Graphics, "graphics")
            }
            (context, "toolspecific")
                if node(context) || matches!(context, C::Label(_) | C::Net) =>
            {
                (C::Own, "toolspecific")
            }
            _ => return None,
        })
    }

    /// Elements inside `graphics` and `toolspecific`, and strangers.
    fn unexpected(
        &mut self,
        start: &BytesStart<'_>,
        element: &str,
        at: usize,
        empty: bool,
        ours: bool,
    ) -> Result<(), PnmlError> {
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
    fn arc_type(&mut self, start: &BytesStart<'_>, empty: bool) -> Result<String, PnmlError> {
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
    fn own(&mut self, start: &BytesStart<'_>, element: &str, at: usize) -> Result<(), PnmlError> {
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
    fn keep(
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

    fn skip(&mut self, start: &BytesStart<'_>, empty: bool) -> Result<(), PnmlError> {
        self.skip_to(start, empty).map(|_| ())
    }

    /// Skips to the end of an element; returns where its content ends.
    fn skip_to(&mut self, start: &BytesStart<'_>, empty: bool) -> Result<usize, PnmlError> {
        if empty {
            return Ok(self.reader.buffer_position() as usize);
        }
        let span = self.reader.read_to_end(start.name()).map_err(|error| {
            let at = self.reader.error_position() as usize;
            self.fail_at(at, format!("not well-formed XML: {error}"))
        })?;
        Ok(span.end as usize)
    }

    /// An element that means something begins; its frame is on the stack.
    fn begin(
        &mut self,
        context: Context,
        element: &'static str,
        attributes: &mut Attributes<'t>,
        at: usize,
    ) -> Result<(), PnmlError> {
        let fail = |what: String| error_at(self.text, at, Some(element), what);
        type Value<'t> = Result<Option<std::borrow::Cow<'t, str>>, String>;
        let required = |name: &str, value: Value<'t>| {
            value
                .map_err(&fail)?
                .filter(|value| !value.is_empty())
                .ok_or_else(|| fail(format!("attribute {name} is required")))
        };
        if let Context::Label(label) = context {
            let bit = 1 << label as u8;
            let parent = self.frames.len().checked_sub(2);
            if let Some(parent) = parent.and_then(|index| self.frames.get_mut(index)) {
                if parent.seen & bit != 0 {
                    return Err(fail(format!(
                        "a second <{element}> in <{}>",
                        parent.element
                    )));
                }
                parent.seen |= bit;
            }
            self.label_text.clear();
            self.label_has_text = false;
            return Ok(());
        }
        let kind = match context {
            Context::Net => Kind::Net,
            Context::Page => Kind::Page,
            Context::Place => Kind::Place,
            Context::Transition => Kind::Transition,
            Context::Reference if element == "referencePlace" => Kind::ReferencePlace,
            Context::Reference => Kind::ReferenceTransition,
            Context::Arc => Kind::Arc,
            Context::Text => {
                if std::mem::replace(&mut self.label_has_text, true) {
                    return Err(fail("a second <text> in one label".to_owned()));
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        let id = required("id", attributes.take_trimmed("id"))?;
        if !super::write::is_xml_name(&id) {
            self.remarks.note_looks(
                "ids that are not XML names are changed when written again",
                at,
            );
        }
        if kind == Kind::Net {
            self.check_type(attributes, at)?;
            self.net = Some(Building::new(&id, self.done.len() as u32));
        }
        let Some(net) = &mut self.net else {
            return Ok(());
        };
        let begun = match kind {
            Kind::Net => Ok(0),
            Kind::Page => {
                net.pages += 1;
                if net.pages == 2 {
                    self.remarks
                        .note_looks("several pages, put together on one", at);
                }
                Ok(0)
            }
            Kind::Place => Ok(net.begin_place(&id)),
            Kind::Transition => Ok(net.begin_transition(&id)),
            Kind::ReferencePlace | Kind::ReferenceTransition => {
                self.remarks
                    .note_looks("reference nodes replaced by what they refer to", at);
                let target = required("ref", attributes.take_trimmed("ref"))?;
                Ok(net.begin_reference(kind, target, at))
            }
            Kind::Arc => {
                let source = required("source", attributes.take_trimmed("source"))?;
                let target = required("target", attributes.take_trimmed("target"))?;
                Ok(net.begin_arc(id.clone(), source, target, at))
            }
        };
        let index = begun.map_err(fail)?;
        let number = self.done.len() as u32;
        if let Some((first, ..)) = self.ids.insert(id.clone(), (at, number, kind, index)) {
            let what = format!(
                "id {id:?} is already used in line {}; ids are unique in a file",
                line_of(self.text, first)
            );
            return Err(fail(what));
        }
        Ok(())
    }

    fn check_type(&mut self, attributes: &mut Attributes<'t>, at: usize) -> Result<(), PnmlError> {
        let found = attributes.take_trimmed("type");
        let found = found
            .map_err(|what| self.fail_in(at, "net", what))?
            .unwrap_or_default();
        if found == NET_TYPE {
            return Ok(());
        }
        let core_model = found == "http://www.pnml.org/version-2009/grammar/pnmlcoremodel";
        let lower = found.to_ascii_lowercase();
        let other_kind = ["hlpn", "high", "symmetric", "colo", "stochastic", "timed"]
            .iter()
            .any(|word| lower.contains(word));
        if core_model || (self.generous && !other_kind) {
            let what = format!("net type {found:?} read as a place/transition net");
            self.remarks.note(what, at);
            return Ok(());
        }
        let what =
            format!("net type {found:?} is not that of a place/transition net, {NET_TYPE:?}");
        Err(self.fail_in(at, "net", what))
    }

    /// An element ends.
    fn close(&mut self) -> Result<(), PnmlError> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        if frame.scoped {
            self.unprefixed_is_ours = None;
            self.scopes.pop();
        }
        let fail = |what: String| error_at(self.text, frame.at, Some(frame.element), what);
        match frame.context {
            Context::Label(label) => {
                let owner = self.context();
                let Some(net) = &mut self.net else {
                    return Ok(());
                };
                let number = || {
                    if !self.label_has_text {
                        return Err(fail("<text> with a number is required".to_owned()));
                    }
                    numbers::natural(&self.label_text)
                        .map_err(|why| fail(format!("found {:?}, {why}", self.label_text.trim())))
                };
                match label {
                    Label::Name => {
                        if !net.name(owner, self.label_text.trim()) {
                            let what = "names of pages, references and arcs not kept";
                            self.remarks.note_looks(what, frame.at);
                        }
                    }
                    Label::InitialMarking => net.mark(number()?),
                    Label::Inscription => {
                        let weight = number()?;
                        if weight == 0 {
                            return Err(fail(
                                "an arc moves at least one token, found 0".to_owned(),
                            ));
                        }
                        net.weigh(weight);
                    }
                }
            }
            Context::Net => {
                if let Some(net) = self.net.take() {
                    if net.pages == 0 {
                        return Err(fail("a net has at least one <page>".to_owned()));
                    }
                    self.done.push(net);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn characters(&mut self, text: &str, at: usize) -> Result<(), PnmlError> {
        match self.context() {
            Context::Text => self.label_text.push_str(text),
            Context::Own => {}
            _ if text.bytes().all(|byte| byte.is_ascii_whitespace()) => {}
            context => {
                let shown: String = text.trim().chars().take(20).collect();
                let what = format!(
                    "text {shown:?} is not allowed here; expected {}",
                    context.expected()
                );
                return Err(self.fail_at(at, what));
            }
        }
        Ok(())
    }

    fn fail_at(&self, at: usize, what: String) -> PnmlError {
        match self.frames.last() {
            Some(frame) => {
                let mut error = error_at(self.text, frame.at, Some(frame.element), what);
                error.line = line_of(self.text, at);
                error
            }
            None => error_at(self.text, at, Some("pnml"), what),
        }
    }

    fn fail_in(&self, at: usize, element: &str, what: String) -> PnmlError {
        error_at(self.text, at, Some(element), what)
    }
}

/// An error at the element that begins at a byte; its name is read off the text
/// if not given, its id always.
fn error_at(text: &str, at: usize, element: Option<&str>, what: String) -> PnmlError {
    let tag = text
        .get(at..)
        .unwrap_or("")
        .split(['>'])
        .next()
        .unwrap_or("");
    let own = tag
        .trim_start_matches('<')
        .split(|c: char| c.is_whitespace() || c == '/')
        .next();
    let local = own.unwrap_or("").rsplit(':').next().unwrap_or("");
    let element = element.unwrap_or(local);
    let id = tag
        .split_once(" id=")
        .and_then(|(_, after)| {
            let quote = after.chars().next()?;
            after.get(1..)?.split(quote).next()
        })
        .map_or_else(String::new, |id| format!(" id=\"{id}\""));
    PnmlError {
        line: line_of(text, at),
        element: format!("{element}{id}"),
        what,
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
}
