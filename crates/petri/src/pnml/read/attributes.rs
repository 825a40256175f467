//! The attributes of an element, each to be taken once.

use std::borrow::Cow;

use quick_xml::events::BytesStart;

use super::wellformed::next_attribute;

/// Elements of PNML have four attributes at most, which need no heap.
const FEW: usize = 4;

/// Attributes other than declarations of namespaces, as written.
#[derive(Default)]
pub(super) struct Attributes<'t> {
    few: [(&'t str, &'t str); FEW],
    more: Vec<(&'t str, &'t str)>,
    count: usize,
    /// One bit for each that was taken; those beyond 64 are never asked for.
    taken: u64,
}

impl<'t> Attributes<'t> {
    pub(super) fn of(text: &'t str, start: &BytesStart<'_>) -> Result<Attributes<'t>, String> {
        let mut found = Attributes::default();
        if start.attributes_raw().is_empty() {
            return Ok(found);
        }
        let mut rest = within(text, start.attributes_raw());
        let mut declared: Vec<&str> = Vec::new();
        while let Some((name, value, further)) = next_attribute(rest)? {
            rest = further;
            if name == "xmlns" || name.starts_with("xmlns:") {
                if declared.contains(&name) {
                    return Err(format!("attribute {name} is given twice"));
                }
                declared.push(name);
                continue;
            }
            let entry = (name, value);
            if found.all().any(|(known, _)| known == entry.0) {
                return Err(format!("attribute {} is given twice", entry.0));
            }
            if found.count < FEW {
                found.few[found.count] = entry;
            } else {
                found.more.push(entry);
            }
            found.count += 1;
        }
        Ok(found)
    }

    fn all(&self) -> impl Iterator<Item = (&'t str, &'t str)> + '_ {
        let few = self.few[..self.count.min(FEW)].iter();
        few.chain(&self.more).copied()
    }

    fn left(&self) -> impl Iterator<Item = (&'t str, &'t str)> + '_ {
        let is_left = |index: usize| index >= 64 || self.taken & (1 << index) == 0;
        let all = self.all().enumerate();
        all.filter(move |(index, _)| is_left(*index))
            .map(|(_, entry)| entry)
    }

    /// A value with references and white space resolved as XML has it.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<Cow<'t, str>>, String> {
        let found = self
            .all()
            .enumerate()
            .find(|(_, (known, _))| *known == name);
        let Some((index, (_, raw))) = found else {
            return Ok(None);
        };
        if index < 64 {
            self.taken |= 1 << index;
        }
        if !raw.contains(['&', '\t', '\n', '\r']) {
            return Ok(Some(Cow::Borrowed(raw)));
        }
        let spaced = raw.replace(['\t', '\n', '\r'], " ");
        let value = quick_xml::escape::unescape(&spaced)
            .map_err(|error| format!("attribute {name}: {error}"))?;
        Ok(Some(Cow::Owned(value.into_owned())))
    }

    /// Ids and references have white space around them removed.
    pub(super) fn take_trimmed(&mut self, name: &str) -> Result<Option<Cow<'t, str>>, String> {
        Ok(self.take(name)?.map(|value| match value {
            Cow::Borrowed(value) => Cow::Borrowed(value.trim_matches(' ')),
            Cow::Owned(value) => Cow::Owned(value.trim_matches(' ').to_owned()),
        }))
    }

    /// Names with a prefix.
    pub(super) fn prefixed(&self) -> impl Iterator<Item = &'t str> + '_ {
        self.all()
            .map(|(name, _)| name)
            .filter(|name| name.contains(':'))
    }

    /// The name of one that nobody took.
    pub(super) fn unused(&self) -> Option<&'t str> {
        self.left().next().map(|(name, _)| name)
    }

    /// Those that nobody took, as written.
    pub(super) fn rest(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.left() {
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
        .filter(|found| found.as_ptr() == part.as_ptr())
        .expect("the reader borrows from the text")
}
