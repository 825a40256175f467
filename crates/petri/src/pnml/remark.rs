//! What an import says about things that a net cannot hold.

use std::fmt;

/// Something that was in the file but is not in the net, or is there in another
/// form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What, in a few words.
    pub what: String,
    /// Where it first occurred, from 1.
    pub first_line: usize,
    /// How often.
    pub count: u64,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.first_line, self.what)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

/// Remarks by kind, in the order of first occurrence.
#[derive(Clone, Debug, Default)]
pub(super) struct Remarks {
    found: Vec<(String, usize, u64)>,
}

impl Remarks {
    /// Notes one occurrence at a byte of the text.
    pub(super) fn note(&mut self, what: impl Into<String> + AsRef<str>, at: usize) {
        match self
            .found
            .iter_mut()
            .find(|(known, ..)| known == what.as_ref())
        {
            Some((.., count)) => *count += 1,
            None => self.found.push((what.into(), at, 1)),
        }
    }

    pub(super) fn finish(self, line_of: impl Fn(usize) -> usize) -> Vec<Remark> {
        let remark = |(what, at, count)| Remark {
            what,
            first_line: line_of(at),
            count,
        };
        self.found.into_iter().map(remark).collect()
    }
}
