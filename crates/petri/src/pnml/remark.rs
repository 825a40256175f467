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

/// Whether what is lost matters to what the net does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    Looks,
    Behaviour,
}

/// Remarks by kind, each with the byte of its first occurrence.
#[derive(Clone, Debug, Default)]
pub(super) struct Remarks(Vec<(usize, Remark)>);

impl Remarks {
    pub(super) fn note(&mut self, loss: Loss, what: impl Into<String> + AsRef<str>, at: usize) {
        let mut all = self.0.iter_mut();
        match all.find(|(_, known)| known.what == what.as_ref()) {
            Some((first, known)) => {
                *first = at.min(*first);
                known.count += 1;
            }
            None => {
                let remark = Remark {
                    what: what.into(),
                    first_line: 0,
                    count: 1,
                    only_looks: loss == Loss::Looks,
                };
                self.0.push((at, remark));
            }
        }
    }

    /// All remarks, in the order of first occurrence.
    pub(super) fn finish(mut self, line_of: impl Fn(usize) -> usize) -> Vec<Remark> {
        self.0.sort_by_key(|(at, _)| *at);
        let placed = |(at, remark)| Remark {
            first_line: line_of(at),
            ..remark
        };
        self.0.into_iter().map(placed).collect()
    }
}
