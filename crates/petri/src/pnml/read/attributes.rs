//! The attributes of an element, each to be taken once.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

#[derive(Default)]
pub(super) struct Attributes<'t> {
    /// Name and value; taken ones are gone. Declarations of namespaces are not
    /// among them.
    left: Vec<(&'t str, Cow<'t, str>)>,
    /// As written, for keeping.
    raw: Vec<(&'t str, &'t str)>,
}

impl<'t> Attributes<'t> {
    pub(super) fn of(text: &'t str, start: &BytesStart<'_>) -> Result<Attributes<'t>, String> {
        let mut found = Attributes::default();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| format!("not well-formed XML: {error}"))?;
            let name = attribute.key.into_inner();
            if attribute.key.as_namespace_binding().is_some() {
                continue;
            }
            let (name, raw) = (within(text, name), within(text, &attribute.value));
            let value = if raw.contains(['&', '\t', '\n', '\r']) {
                let version = quick_xml::XmlVersion::Implicit1_0;
                let value = attribute.normalized_value(version);
                let value = value.map_err(|error| format!("attribute {name}: {error}"))?;
                Cow::Owned(value.into_owned())
            } else {
                Cow::Borrowed(raw)
            };
            found.left.push((name, value));
            found.raw.push((name, raw));
        }
        Ok(found)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Cow<'t, str>> {
        let index = self.left.iter().position(|(known, _)| *known == name)?;
        Some(self.left.swap_remove(index).1)
    }

    /// Ids and references have white space around them removed.
    pub(super) fn take_trimmed(&mut self, name: &str) -> Option<Cow<'t, str>> {
        Some(match self.take(name)? {
            Cow::Borrowed(value) => Cow::Borrowed(value.trim()),
            Cow::Owned(value) => Cow::Owned(value.trim().to_owned()),
        })
    }

    /// The name of one that nobody took.
    pub(super) fn unused(&self) -> Option<&'t str> {
        self.left.first().map(|(name, _)| *name)
    }

    /// Those that nobody took, as written.
    pub(super) fn rest(&self) -> String {
        let is_left = |name: &str| self.left.iter().any(|(left, _)| *left == name);
        let mut text = String::new();
        for (name, value) in self.raw.iter().filter(|(name, _)| is_left(name)) {
            let quote = if value.contains('"') { '\'' } else { '"' };
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&format!("{name}={quote}{value}{quote}"));
        }
        text
    }
}

/// The same slice of the text, with the text's lifetime: events borrow from the
/// text but do not say so in their types.
fn within<'t>(text: &'t str, part: &str) -> &'t str {
    let from = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    text.get(from..from.wrapping_add(part.len()))
        .filter(|found| *found == part)
        .expect("the reader borrows from the text")
}
