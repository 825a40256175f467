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
    /// It matters only when the net is written again: looks, comments, the
    /// division into pages. What the net does is all there.
    pub only_looks: bool,
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
    found: Vec<Remark>,
    /// The byte of each first occurrence.
    at: Vec<usize>,
}

impl Remarks {
    /// Notes that something at a byte of the text may matter to what the net does.
    pub(super) fn note(&mut self, what: impl Into<String> + AsRef<str>, at: usize) {
        self.add(what, at, false);
    }

    /// Notes that something at a byte of the text is not kept which is only looks.
    pub(super) fn note_looks(&mut self, what: impl Into<String> + AsRef<str>, at: usize) {
        self.add(what, at, true);
    }

    fn add(&mut self, what: impl Into<String> + AsRef<str>, at: usize, only_looks: bool) {
        match self
            .found
            .iter_mut()
            .find(|known| known.what == what.as_ref())
        {
            Some(known) => known.count += 1,
            None => {
                self.found.push(Remark {
                    what: what.into(),
                    first_line: 0,
                    count: 1,
                    only_looks,
                });
                self.at.push(at);
            }
        }
    }

    pub(super) fn finish(mut self, line_of: impl Fn(usize) -> usize) -> Vec<Remark> {
        for (remark, at) in self.found.iter_mut().zip(self.at) {
            remark.first_line = line_of(at);
        }
        self.found
    }
}
