//! A net as PNML.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;

use super::{NAMESPACE, NET_TYPE};
use crate::net::{Direction, Marking, Net, Owner, Position, ToolSpecific};

/// A net and its marking as PNML text.
///
/// ```
/// use headway_core::{Configuration, Ring, Separation};
/// use headway_petri::{pnml, ring};
/// let ring = Ring::with_delays(Separation::new(2).unwrap(), 3, [0]).unwrap();
/// let (net, marking) = ring::to_net(&ring, &Configuration::piled(&ring, 1, 0)).unwrap();
/// let text = pnml::to_string(&net, &marking);
/// let read = pnml::read(text.as_bytes()).unwrap().remove(0);
/// assert_eq!((read.net, read.marking), (net, marking));
/// assert!(read.remarks.is_empty());
/// ```
pub fn to_string(net: &Net, marking: &Marking) -> String {
    let mut text = Vec::new();
    write(net, marking, &mut text).expect("memory does not fail");
    String::from_utf8(text).expect("written as UTF-8")
}

/// Writes a net and its marking as PNML, a piece at a time.
///
/// # Errors
///
/// Those of the writer.
///
/// # Panics
///
/// When the marking is not one of this net.
pub fn write(net: &Net, marking: &Marking, to: &mut impl io::Write) -> io::Result<()> {
    assert_eq!(net.places(), marking.0.len(), "one number per place");
    let ids = Ids::of(net);
    let mut out = Pieces {
        text: String::with_capacity(PIECE + 4096),
        to,
    };
    let text = &mut out.text;
    text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<pnml xmlns=\"{NAMESPACE}\">");
    let _ = writeln!(text, "<net id=\"{}\" type=\"{NET_TYPE}\">", ids.net);
    if !net.name.is_empty() {
        label(text, "name", &net.name);
        text.push('\n');
    }
    ring_note(text, net);
    let mut kept = Kept::new(net);
    kept.write(text, Owner::Net);
    let _ = writeln!(text, "<page id=\"{}\">", ids.page);
    let mut queued = net.ring.iter().flat_map(|note| &note.queued).peekable();
    for place in 0..net.places() {
        let text = &mut out.text;
        let id = ids.place(net, place);
        let _ = write!(text, "<place id=\"{id}\">");
        label(
            text,
            "name",
            or_id(net.place_name(place), net.place_id(place)),
        );
        position(text, net.place_position(place));
        if marking.0[place] > 0 {
            let _ = write!(
                text,
                "<initialMarking><text>{}</text></initialMarking>",
                marking.0[place]
            );
        }
        let _ = write!(text, "{OWN}<holding rounds=\"{}\"/>", net.holding(place));
        if let Some((_, tokens)) = queued.next_if(|(at, _)| *at == place) {
            let _ = write!(text, "<queued tokens=\"{tokens}\"/>");
        }
        text.push_str("</toolspecific>");
        kept.write(text, Owner::Place(place));
        text.push_str("</place>\n");
        out.pass_on()?;
    }
    for transition in 0..net.transitions() {
        let text = &mut out.text;
        let id = ids.transition(net, transition);
        let _ = write!(text, "<transition id=\"{id}\">");
        let name = or_id(
            net.transition_name(transition),
            net.transition_id(transition),
        );
        label(text, "name", name);
        position(text, net.transition_position(transition));
        kept.write(text, Owner::Transition(transition));
        text.push_str("</transition>\n");
        out.pass_on()?;
    }
    for (index, arc) in net.arcs().iter().enumerate() {
        let text = &mut out.text;
        let place = ids.place(net, arc.place as usize);
        let transition = ids.transition(net, arc.transition as usize);
        let (source, target) = match arc.direction {
            Direction::PlaceToTransition => (place, transition),
            Direction::TransitionToPlace => (transition, place),
        };
        text.push_str("<arc id=\"");
        ids.arc(text, net, index);
        let _ = write!(text, "\" source=\"{source}\" target=\"{target}\"");
        let extra = kept.has(Owner::Arc(index));
        if arc.weight == 1 && !extra {
            text.push_str("/>\n");
        } else {
            text.push('>');
            if arc.weight != 1 {
                let _ = write!(
                    text,
                    "<inscription><text>{}</text></inscription>",
                    arc.weight
                );
            }
            kept.write(text, Owner::Arc(index));
            text.push_str("</arc>\n");
        }
        out.pass_on()?;
    }
    out.text.push_str("</page>\n</net>\n</pnml>\n");
    out.to.write_all(out.text.as_bytes())?;
    out.to.flush()
}

const OWN: &str = "<toolspecific tool=\"headway\" version=\"1\">";
const PIECE: usize = 1 << 16;

struct Pieces<'a, W> {
    text: String,
    to: &'a mut W,
}

impl<W: io::Write> Pieces<'_, W> {
    fn pass_on(&mut self) -> io::Result<()> {
        if self.text.len() >= PIECE {
            self.to.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }
}

fn or_id<'a>(name: &'a str, id: &'a str) -> &'a str {
    if name.is_empty() { id } else { name }
}

fn label(text: &mut String, element: &str, content: &str) {
    let _ = write!(
        text,
        "<{element}><text>{}</text></{element}>",
        escape(content)
    );
}

fn position(text: &mut String, position: Option<Position>) {
    if let Some(Position { x, y }) = position {
        let _ = write!(text, "<graphics><position x=\"{x}\" y=\"{y}\"/></graphics>");
    }
}

fn ring_note(text: &mut String, net: &Net) {
    let Some(note) = &net.ring else { return };
    let _ = write!(text, "{OWN}<ring separation=\"{}\"", note.separation);
    if !note.delays.is_empty() {
        let delays: Vec<String> = note.delays.iter().map(usize::to_string).collect();
        let _ = write!(text, " delays=\"{}\"", delays.join(" "));
    }
    text.push_str("/></toolspecific>\n");
}

/// Other tools' elements by owner, each to be written once, in order.
struct Kept<'a> {
    sorted: Vec<&'a ToolSpecific>,
}

impl<'a> Kept<'a> {
    fn new(net: &'a Net) -> Kept<'a> {
        let mut sorted: Vec<&ToolSpecific> = net.kept.iter().collect();
        sorted.sort_by_key(|kept| kept.owner);
        Kept { sorted }
    }

    fn of(&self, owner: Owner) -> &[&'a ToolSpecific] {
        let from = self.sorted.partition_point(|kept| kept.owner < owner);
        let to = self.sorted.partition_point(|kept| kept.owner <= owner);
        &self.sorted[from..to]
    }

    fn has(&self, owner: Owner) -> bool {
        !self.sorted.is_empty() && !self.of(owner).is_empty()
    }

    fn write(&mut self, text: &mut String, owner: Owner) {
        if self.sorted.is_empty() {
            return;
        }
        for kept in self.of(owner) {
            // The content was written under other declarations; repeat them.
            let default = kept.namespaces.iter().find(|(prefix, _)| prefix.is_empty());
            let same_default = default.is_some_and(|(_, address)| address == NAMESPACE);
            let element = if same_default {
                "toolspecific"
            } else {
                "_pnml:toolspecific"
            };
            let _ = write!(
                text,
                "<{element} tool=\"{}\" version=\"{}\"",
                escape(&kept.tool),
                escape(&kept.version)
            );
            if !same_default {
                let address = default.map_or("", |(_, address)| address);
                let _ = write!(
                    text,
                    " xmlns:_pnml=\"{NAMESPACE}\" xmlns=\"{}\"",
                    escape(address)
                );
            }
            for (prefix, address) in &kept.namespaces {
                if !prefix.is_empty() {
                    let _ = write!(text, " xmlns:{prefix}=\"{}\"", escape(address));
                }
            }
            if !kept.attributes.is_empty() {
                let _ = write!(text, " {}", kept.attributes);
            }
            let _ = write!(text, ">{}</{element}>", kept.content);
        }
    }
}

/// Unique XML names for everything: the net's own where they are such names,
/// made up where they are not.
struct Ids {
    net: String,
    page: String,
    arc_prefix: String,
    /// Replacements for places, transitions and arcs, unless all are fine.
    replaced: Option<Replaced>,
}

struct Replaced {
    places: Vec<String>,
    transitions: Vec<String>,
    arcs: Vec<Option<String>>,
}

impl Ids {
    fn of(net: &Net) -> Ids {
        let places = (0..net.places()).map(|place| net.place_id(place));
        let transitions = (0..net.transitions()).map(|t| net.transition_id(t));
        let arcs = (0..net.arcs().len()).filter_map(|arc| net.arc_id(arc));
        let all = || {
            places
                .clone()
                .chain(transitions.clone())
                .chain(arcs.clone())
        };
        let mut replaced = None;
        if !all().all(is_xml_name) {
            let mut taken: HashSet<String> = HashSet::new();
            let mut unique = |id: &str| {
                let mut name: String = xml_name(id).into_owned();
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
                name
            };
            replaced = Some(Replaced {
                places: places.clone().map(&mut unique).collect(),
                transitions: transitions.clone().map(&mut unique).collect(),
                arcs: (0..net.arcs().len())
                    .map(|arc| net.arc_id(arc).map(&mut unique))
                    .collect(),
            });
        }
        // A prefix that no id begins with leaves room for any number after it.
        let free = |wish: &str| {
            let mut prefix = wish.to_owned();
            while all().any(|id| xml_name(id).starts_with(&prefix)) {
                prefix.push('_');
            }
            prefix
        };
        let own = if net.id.is_empty() { "net" } else { &net.id };
        let mut id = xml_name(own).into_owned();
        while all().any(|other| xml_name(other) == id.as_str()) {
            id.push('_');
        }
        let mut page = free("page");
        while page == id {
            page.push('_');
        }
        Ids {
            net: id,
            page,
            arc_prefix: free("a"),
            replaced,
        }
    }

    fn place<'a>(&'a self, net: &'a Net, place: usize) -> &'a str {
        let replaced = self.replaced.as_ref();
        replaced.map_or_else(|| net.place_id(place), |r| &r.places[place])
    }

    fn transition<'a>(&'a self, net: &'a Net, transition: usize) -> &'a str {
        let replaced = self.replaced.as_ref();
        replaced.map_or_else(
            || net.transition_id(transition),
            |r| &r.transitions[transition],
        )
    }

    fn arc(&self, text: &mut String, net: &Net, arc: usize) {
        let replaced = self.replaced.as_ref().and_then(|r| r.arcs[arc].as_deref());
        match replaced.or_else(|| net.arc_id(arc)) {
            Some(id) => text.push_str(id),
            None => {
                let _ = write!(text, "{}{arc}", self.arc_prefix);
            }
        }
    }
}

/// Text as it is written in elements and attributes; mostly as it is.
fn escape(text: &str) -> Cow<'_, str> {
    let is_special = |character| {
        matches!(
            character,
            '<' | '>' | '&' | '"' | '\0'..' ' | '\u{fffe}' | '\u{ffff}'
        )
    };
    match text.contains(is_special) {
        true => Cow::Owned(headway_draw::escape::xml(text)),
        false => Cow::Borrowed(text),
    }
}

/// A name without a colon, as XML ids have to be. Letters beyond ASCII count as
/// letters, which is what XML means up to rare exceptions.
pub(super) fn is_xml_name(id: &str) -> bool {
    let mut characters = id.chars();
    characters
        .next()
        .is_some_and(|first| first == '_' || first.is_alphabetic())
        && characters.all(continues_xml_name)
}

fn continues_xml_name(character: char) -> bool {
    matches!(character, '_' | '-' | '.') || character.is_alphanumeric()
}

fn xml_name(id: &str) -> Cow<'_, str> {
    if is_xml_name(id) {
        return Cow::Borrowed(id);
    }
    let mut name = String::from("_");
    name.extend(
        id.chars()
            .map(|c| if continues_xml_name(c) { c } else { '_' }),
    );
    Cow::Owned(name)
}
