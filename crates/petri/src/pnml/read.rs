//! PNML as nets: one pass over the text, then references and arcs are resolved.

mod attributes;
mod building;
mod context;
mod error;
mod extras;
mod numbers;
mod objects;
mod wellformed;

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{NamespaceResolver, ResolveResult};
use quick_xml::reader::Reader;

use self::attributes::Attributes;
use self::building::Building;
use self::context::Context;
use self::error::{error_at, line_of};
use super::encoding::decode;
use super::remark::Remarks;
use super::{Imported, NAMESPACE, PnmlError};

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
    if let Some(at) = wellformed::forbidden_character(&text) {
        let what = "not well-formed XML: a character that XML does not allow".to_owned();
        return Err(error_at(&text, at, Some("pnml"), what));
    }
    let mut reading = Reading::new(&text);
    reading.run()?;
    reading.finish()
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
                Event::Text(text) => {
                    let text = text.xml10_content();
                    wellformed::check_text(&text).map_err(|what| self.fail_at(at, what))?;
                    self.characters(&text, at)?;
                }
                Event::CData(data) => self.characters(&data.xml10_content(), at)?,
                Event::GeneralRef(reference) => {
                    let checked = wellformed::check_reference(&reference.xml10_content());
                    checked.map_err(|what| self.fail_at(at, what))?;
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
                Event::PI(instruction) => {
                    let checked = wellformed::check_instruction(instruction.target());
                    checked.map_err(|what| self.fail_at(at, what))?;
                    self.remarks
                        .note_looks("processing instructions not kept", at);
                }
                Event::Decl(_) if at == 0 => {
                    let end = self.reader.buffer_position() as usize;
                    let checked = wellformed::check_declaration(&self.text[2..end - 2]);
                    checked.map_err(|what| self.fail_at(at, what))?;
                }
                Event::Decl(_) => {
                    let what = "not well-formed XML: an XML declaration that is not at the start";
                    return Err(self.fail_at(at, what.to_owned()));
                }
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
            self.context().next(element)
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
        for name in attributes.prefixed() {
            let (resolved, _) = self.scopes.resolve_attribute(quick_xml::name::QName(name));
            if let ResolveResult::Unknown(prefix) = resolved {
                let what = format!("the prefix {prefix:?} is not declared");
                return Err(self.fail_in(at, element, what));
            }
        }
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
