//! How keepers speak: questions with a number, and answers with the same number, in as many
//! letters as they need. Whoever carries them may lose, repeat and delay them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[cfg(feature = "keepers")]
use openraft::raft::{AppendEntriesRequest, InstallSnapshotRequest, VoteRequest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

#[cfg(feature = "keepers")]
use super::engine::Types;
use super::{Change, Decision, Letter, Request, Tell};
use crate::membership::control::CHUNK_BYTES;

/// Everything that is asked.
#[derive(Serialize, Deserialize)]
pub(super) enum Question {
    /// By which number the log knows the keeper.
    Who,
    /// A change is wanted: an [`Answer`].
    Propose(Change),
    /// The log of the keeper with this number has this age: how old it was by all that is known.
    Age(u64, u64),
    /// Whether the log goes on without the keeper with this number since that entry.
    Without(u64, u64),
    /// What openraft asks of the keeper with that number, and of no other.
    #[cfg(feature = "keepers")]
    Raft(u64, Raft),
}

/// A decision, or the address of the keeper that leads, if that is known.
pub(super) type Answer = Result<Decision, Option<String>>;

/// What openraft asks.
#[cfg(feature = "keepers")]
#[derive(Serialize, Deserialize)]
pub(super) enum Raft {
    Append(AppendEntriesRequest<Types>),
    Vote(VoteRequest<u64>),
    Snapshot(InstallSnapshotRequest<Types>),
}

/// Letters of which not all parts have come, at most.
const MAX_PARTIAL: usize = 64;

/// Sends letters, and knows who waits for an answer.
#[derive(Clone)]
pub(super) struct Post {
    log: u64,
    tell: Tell,
    /// Never the same again after a restart, so that no old answer fits.
    next: Arc<AtomicU64>,
    open: Arc<Mutex<Open>>,
}

/// Parts of a letter.
type Parts = Vec<Option<Vec<u8>>>;

#[derive(Default)]
struct Open {
    /// Who waits for an answer, by the number of the question, and from whom.
    waiting: BTreeMap<u64, (String, oneshot::Sender<Vec<u8>>)>,
    /// By who sent it, its number, and whether it is an answer.
    partial: BTreeMap<(String, u64, bool), Parts>,
}

impl Post {
    pub(super) fn new(log: u64, tell: Tell, next: u64) -> Post {
        Post {
            log,
            tell,
            next: Arc::new(next.into()),
            open: Arc::default(),
        }
    }

    pub(super) const fn log(&self) -> u64 {
        self.log
    }

    fn open<R>(&self, with: impl FnOnce(&mut Open) -> R) -> R {
        with(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks, and waits for the answer; nothing if none comes in time that can be read.
    pub(super) async fn ask<A: DeserializeOwned>(
        &self,
        to: &str,
        question: Question,
        longest: Duration,
    ) -> Option<A> {
        let bytes = serde_json::to_vec(&question).ok()?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = oneshot::channel();
        self.open(|open| open.waiting.insert(number, (to.to_owned(), answered)));
        self.send(to, number, false, &bytes);
        let bytes = tokio::time::timeout(longest, answer).await;
        self.open(|open| open.waiting.remove(&number));
        serde_json::from_slice(&bytes.ok()?.ok()?).ok()
    }

    pub(super) fn answer(&self, to: &str, number: u64, bytes: &[u8]) {
        self.send(to, number, true, bytes);
    }

    fn send(&self, to: &str, number: u64, is_answer: bool, bytes: &[u8]) {
        let parts = bytes.chunks(CHUNK_BYTES);
        let Ok(all) = u8::try_from(parts.len()) else {
            return tracing::warn!(bytes = bytes.len(), "too long for a letter");
        };
        for (part, bytes) in (0..).zip(parts) {
            let letter = Letter {
                log: self.log,
                number,
                is_answer,
                part,
                parts: all,
                bytes: bytes.to_vec(),
            };
            let address = to.to_owned();
            let _ = self.tell.send(Request::Letter { address, letter });
        }
    }

    /// A letter has come. A question, if it is one and is whole.
    pub(super) fn receive(&self, from: &str, letter: Letter) -> Option<(u64, Question)> {
        if letter.log != self.log {
            return None;
        }
        let (number, is_answer) = (letter.number, letter.is_answer);
        let bytes = self.join(from, letter)?;
        if is_answer {
            // Numbers can be guessed, so nobody else answers.
            let asked = |(to, _): &mut (String, _)| to == from;
            let waiting = self.open(|open| {
                let waiting = open.waiting.get_mut(&number).is_some_and(asked);
                waiting.then(|| open.waiting.remove(&number)).flatten()
            });
            let _ = waiting?.1.send(bytes);
            return None;
        }
        // What cannot be read was not written by a keeper of this version.
        Some((number, serde_json::from_slice(&bytes).ok()?))
    }

    /// The whole, when its last part has come.
    fn join(&self, from: &str, letter: Letter) -> Option<Vec<u8>> {
        let (part, parts) = (usize::from(letter.part), usize::from(letter.parts));
        if parts == 1 {
            return Some(letter.bytes);
        }
        let key = (from.to_owned(), letter.number, letter.is_answer);
        self.open(|open| {
            if open.partial.len() >= MAX_PARTIAL && !open.partial.contains_key(&key) {
                // They are asked for again.
                open.partial.clear();
            }
            let partial = open.partial.entry(key.clone());
            let partial = partial.or_insert_with(|| vec![None; parts]);
            *partial.get_mut(part)? = Some(letter.bytes);
            if partial.iter().any(Option::is_none) {
                return None;
            }
            let whole = open.partial.remove(&key)?;
            Some(whole.into_iter().flatten().flatten().collect())
        })
    }
}
