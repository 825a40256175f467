//! Nets, pages, nodes, arcs and their labels: what happens when one begins or
//! ends.

use super::attributes::Attributes;
use super::building::{Building, Kind};
use super::context::{Context, Label};
use super::error::{error_at, line_of};
use super::{Reading, numbers};
use crate::pnml::{NET_TYPE, PnmlError, write};

impl<'t> Reading<'t> {
    /// An element that means something begins; its frame is on the stack.
    pub(super) fn begin(
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
        if !write::is_xml_name(&id) {
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

    pub(super) fn check_type(
        &mut self,
        attributes: &mut Attributes<'t>,
        at: usize,
    ) -> Result<(), PnmlError> {
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
    pub(super) fn close(&mut self) -> Result<(), PnmlError> {
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
}
