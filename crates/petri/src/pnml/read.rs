//! PNML as nets: over the document's tree, then references and arcs are resolved.

mod dialect;
mod extras;
mod numbers;
mod object;
mod resolve;
mod tree;

use std::collections::HashMap;
use std::fmt;

use roxmltree::{Document, NodeType};

use self::object::{Kind, Labels};
use self::resolve::Building;
use super::encoding::decode;
use super::remark::{Loss, Remarks};
use super::write::is_xml_name;
use super::{Imported, NAMESPACE, NET_TYPE, PnmlError};
use crate::net::Owner;

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
    let document = tree::parse(&text)?;
    Reading::new(&document)?.run()
}

type Element<'a> = roxmltree::Node<'a, 'a>;

/// An id of the document: in which net, of what, which number. Small, because large
/// nets have millions.
#[derive(Clone, Copy)]
struct Known {
    net: u16,
    kind: Option<Kind>,
    index: u32,
}

struct Reading<'a> {
    document: &'a Document<'a>,
    /// That of `<pnml>`, and of every element that is PNML.
    namespace: Option<&'a str>,
    /// No namespace, or that of an older tool: `dialect` says what is understood.
    older: bool,
    /// Ids are unique in a document; in older dialects, in a net.
    ids: HashMap<&'a str, Known>,
    /// Numbers that a dialect gives a name.
    constants: HashMap<&'a str, u64>,
    remarks: Remarks,
    nets: Vec<Imported>,
}

impl<'a> Reading<'a> {
    fn new(document: &'a Document<'a>) -> Result<Reading<'a>, PnmlError> {
        let root = document.root_element();
        let namespace = namespace_of(root);
        let older = namespace != Some(NAMESPACE);
        let mut reading = Reading {
            document,
            namespace,
            older,
            // An id takes a hundred bytes of text or more, elements considered.
            ids: HashMap::with_capacity(document.input_text().len() / 100),
            constants: Reading::constants_of(root),
            remarks: Remarks::default(),
            nets: Vec::new(),
        };
        if root.tag_name().name() != "pnml" || (older && !dialect::is_known(namespace)) {
            let what = format!("the file does not begin with <pnml> in namespace {NAMESPACE}");
            return Err(reading.fail(root, what));
        }
        if older {
            let what = match namespace {
                None => "no namespace; read as if it were that of PNML 2009".to_owned(),
                Some(other) => format!("namespace {other} read as if it were that of PNML 2009"),
            };
            reading.lost(what, root);
        }
        Ok(reading)
    }

    fn run(mut self) -> Result<Vec<Imported>, PnmlError> {
        let root = self.document.root_element();
        let prolog = &self.document.input_text()[..root.range().start];
        if let Some(at) = prolog.find("<!DOCTYPE") {
            self.remarks.note(Loss::Looks, "<!DOCTYPE> not kept", at);
        }
        for child in self.document.root().children() {
            self.is_element(child)?;
        }
        self.attributes(root, &[])?;
        for child in root.children() {
            if self.is_element(child)? {
                match self.name_of(child) {
                    "net" => self.net(child)?,
                    _ if namespace_of(child).is_none() && child.has_tag_name("net") => {
                        self.without_namespace(child)?;
                    }
                    _ => self.stranger(child)?,
                }
            }
        }
        let Some(first) = self.nets.first_mut() else {
            return Err(self.fail(root, "there is no <net> in it"));
        };
        let document = self.document;
        let line_of = |at| document.text_pos_at(at).row as usize;
        first.remarks = self.remarks.finish(line_of);
        Ok(self.nets)
    }

    /// A net that leaves the namespace of `<pnml>`: as some browsers write XML.
    fn without_namespace(&mut self, node: Element<'a>) -> Result<(), PnmlError> {
        let what = "a net without namespace read as if it had that of PNML 2009";
        self.lost(what, node);
        let namespace = self.namespace.take();
        let older = std::mem::replace(&mut self.older, true);
        self.net(node)?;
        (self.namespace, self.older) = (namespace, older);
        Ok(())
    }

    fn net(&mut self, node: Element<'a>) -> Result<(), PnmlError> {
        if self.older {
            self.ids.clear();
        }
        let number = self.nets.len() as u32;
        let made_up = format!("net{}", number + 1);
        let id = self.id_if_any(node, None, number, 0)?;
        self.check_type(node)?;
        self.attributes(node, &["id", "type"])?;
        let mut net = Building::new(id.unwrap_or(&made_up), number);
        let mut labels = Labels::default();
        let mut pages = 0;
        // Pages nest; a stack of what is left of each needs no recursion.
        let mut open = vec![node.children()];
        while let Some(children) = open.last_mut() {
            let Some(child) = children.next() else {
                open.pop();
                continue;
            };
            if !self.is_element(child)? {
                continue;
            }
            let inside_page = open.len() > 1;
            match self.name_of(child) {
                "page" => {
                    self.attributes(child, &["id"])?;
                    self.id_if_any(child, None, number, 0)?;
                    pages += 1;
                    if pages == 2 {
                        self.looks("several pages, put together on one", child);
                    }
                    open.push(child.children());
                }
                "name" if inside_page => self.unkept_name(child)?,
                "name" => self.set_name(child, &mut labels)?,
                "graphics" if inside_page => self.looks(object::UNKEPT_GRAPHICS, child),
                "toolspecific" => {
                    self.toolspecific(child, Some(Owner::Net), &mut net, &mut labels)?;
                }
                name => match Kind::of(name) {
                    Some(kind) => {
                        if !inside_page {
                            self.looks("nodes outside of pages, put on one", child);
                        }
                        self.object(child, kind, &mut net)?;
                    }
                    None => self.stranger(child)?,
                },
            }
        }
        if pages == 0 && net.is_empty() {
            return Err(self.fail(node, "a net has at least one <page> or node"));
        }
        let (net, marking) = net.finish(labels, self)?;
        self.nets.push(Imported {
            net,
            marking,
            remarks: Vec::new(),
        });
        Ok(())
    }

    fn check_type(&mut self, node: Element<'a>) -> Result<(), PnmlError> {
        let found = node.attribute("type").unwrap_or("").trim_matches(' ');
        if found == NET_TYPE {
            return Ok(());
        }
        let core_model = found == "http://www.pnml.org/version-2009/grammar/pnmlcoremodel";
        if core_model || (self.older && dialect::may_be_plain(found)) {
            let what = format!("net type {found:?} read as a place/transition net");
            self.lost(what, node);
            return Ok(());
        }
        let what =
            format!("net type {found:?} is not that of a place/transition net, {NET_TYPE:?}");
        Err(self.fail(node, what))
    }

    /// Notes the id of an element that can do without, which nobody refers to.
    fn id_if_any(
        &mut self,
        node: Element<'a>,
        kind: Option<Kind>,
        net: u32,
        index: usize,
    ) -> Result<Option<&'a str>, PnmlError> {
        let Some(id) = attribute(node, "id") else {
            self.looks("missing ids made up", node);
            return Ok(None);
        };
        // Older tools use some twice: those of nets and pages do not matter, and
        // an arc gets a new one.
        if self.older && kind.is_none() {
            self.check_id(node, id);
            return Ok(Some(id));
        }
        if self.older && self.ids.contains_key(id) {
            self.looks("ids of arcs that are used twice replaced", node);
            return Ok(None);
        }
        self.register(node, id, kind, net, index)?;
        Ok(Some(id))
    }

    /// Notes an id, which must be new.
    fn register(
        &mut self,
        node: Element<'a>,
        id: &'a str,
        kind: Option<Kind>,
        net: u32,
        index: usize,
    ) -> Result<(), PnmlError> {
        self.check_id(node, id);
        let known = Known {
            net: u16::try_from(net)
                .map_err(|_| self.fail(node, "more than 65,536 nets in a file"))?,
            kind,
            index: index as u32,
        };
        match self.ids.insert(id, known) {
            None => Ok(()),
            Some(_) => {
                let mut all = self.document.descendants();
                let first = all.find(|other| attribute(*other, "id") == Some(id));
                let at = first.unwrap_or(node).range().start;
                let line = self.document.text_pos_at(at).row;
                let what =
                    format!("id {id:?} is already used in line {line}; ids are unique in a file");
                Err(self.fail(node, what))
            }
        }
    }

    fn check_id(&mut self, node: Element<'a>, id: &str) {
        if !is_xml_name(id) {
            let what = "ids that are not XML names are changed when written again";
            self.looks(what, node);
        }
    }

    /// Whether a child is an element. Comments and the like get a remark; text
    /// has no place where elements are expected.
    fn is_element(&mut self, child: Element<'a>) -> Result<bool, PnmlError> {
        self.check_names(child)?;
        match child.node_type() {
            NodeType::Element => return Ok(true),
            NodeType::Comment => self.looks("comments not kept", child),
            NodeType::PI => self.looks("processing instructions not kept", child),
            NodeType::Root => {}
            NodeType::Text => {
                let text = child.text().unwrap_or("");
                if !text.bytes().all(|byte| byte.is_ascii_whitespace()) {
                    let parent = child.parent_element().unwrap_or(child);
                    let shown: String = text.trim().chars().take(20).collect();
                    let expected = object::expected(parent.tag_name().name());
                    let what = format!("text {shown:?} is not allowed here; expected {expected}");
                    return Err(self.fail(parent, what));
                }
            }
        }
        Ok(false)
    }

    /// What the standard calls an element of PNML; nothing for any other.
    fn name_of(&self, node: Element<'a>) -> &'a str {
        match (namespace_of(node) == self.namespace, self.older) {
            (false, _) => "",
            (true, false) => node.tag_name().name(),
            (true, true) => dialect::standard_name(node.tag_name().name()),
        }
    }

    fn required(&self, node: Element<'a>, name: &str) -> Result<&'a str, PnmlError> {
        attribute(node, name)
            .ok_or_else(|| self.fail(node, format!("attribute {name} is required")))
    }

    fn looks(&mut self, what: impl Into<String> + AsRef<str>, node: Element<'a>) {
        self.remarks.note(Loss::Looks, what, node.range().start);
    }

    fn lost(&mut self, what: impl Into<String> + AsRef<str>, node: Element<'a>) {
        self.remarks.note(Loss::Behaviour, what, node.range().start);
    }

    fn fail(&self, node: Element<'a>, what: impl fmt::Display) -> PnmlError {
        let at = self.document.text_pos_at(node.range().start);
        let id = node.attribute("id");
        let id = id.map_or_else(String::new, |id| format!(" id=\"{id}\""));
        PnmlError {
            line: at.row as usize,
            column: at.col as usize,
            what: format!("<{}{id}>: {what}", node.tag_name().name()),
        }
    }
}

/// The namespace of an element; `xmlns=""` is none.
fn namespace_of(node: Element<'_>) -> Option<&str> {
    node.tag_name()
        .namespace()
        .filter(|address| !address.is_empty())
}

/// An attribute without white space around it, if it says anything.
fn attribute<'a>(node: Element<'a>, name: &str) -> Option<&'a str> {
    let value = node.attribute(name)?.trim_matches(' ');
    (!value.is_empty()).then_some(value)
}
