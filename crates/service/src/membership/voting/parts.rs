//! What does not fit into a datagram goes in parts, which may be lost, repeated and late.

use std::collections::BTreeMap;

use crate::membership::control::{CHUNK_BYTES, Part};

/// Messages of which not all parts have come, at most.
const MAX_PARTIAL: usize = 64;

/// Numbers messages, and joins those that come.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Never the same again after a restart, so that no old part fits.
    next: u64,
    /// By who sent it, and its number.
    partial: BTreeMap<(String, u64), Vec<Option<Vec<u8>>>>,
}

impl Parts {
    pub(super) const fn new(next: u64) -> Parts {
        Parts {
            next,
            partial: BTreeMap::new(),
        }
    }

    pub(super) fn split(&mut self, bytes: &[u8]) -> Vec<Part> {
        self.next = self.next.wrapping_add(1);
        let parts = bytes.chunks(CHUNK_BYTES);
        let Ok(all) = u8::try_from(parts.len()) else {
            tracing::warn!(bytes = bytes.len(), "too long to be told");
            return Vec::new();
        };
        let part = |(part, bytes): (u8, &[u8])| Part {
            number: self.next,
            part,
            parts: all,
            bytes: bytes.to_vec(),
        };
        (0..=u8::MAX).zip(parts).map(part).collect()
    }

    /// The whole, when its last part has come.
    pub(super) fn join(&mut self, from: &str, part: &Part) -> Option<Vec<u8>> {
        let (at, all) = (usize::from(part.part), usize::from(part.parts));
        if all == 1 {
            return Some(part.bytes.clone());
        }
        let key = (from.to_owned(), part.number);
        if self.partial.len() >= MAX_PARTIAL && !self.partial.contains_key(&key) {
            // They are asked for again.
            self.partial.clear();
        }
        let partial = self.partial.entry(key.clone());
        let partial = partial.or_insert_with(|| vec![None; all]);
        *partial.get_mut(at)? = Some(part.bytes.clone());
        if partial.iter().any(Option::is_none) {
            return None;
        }
        let whole = self.partial.remove(&key)?;
        Some(whole.into_iter().flatten().flatten().collect())
    }
}
