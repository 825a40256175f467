//! The log on disk: small files with checksums, each replaced as a whole. Rosters change
//! seldom, so that this is all the speed that is needed.
//!
//! A log has an age, which grows with every change of it. Beside the folder there is a copy of
//! the age, and the other keepers are told of it: a folder that is younger than that was deleted
//! or put back.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Cursor;
use std::ops::RangeBounds;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openraft::storage::{LogFlushed, LogState, RaftLogStorage, RaftStateMachine, Snapshot};
use openraft::{
    AnyError, BasicNode, Entry, EntryPayload, ErrorSubject, ErrorVerb, LogId, RaftLogReader,
    RaftSnapshotBuilder, SnapshotMeta, StorageError, StorageIOError, StoredMembership, Vote,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, watch};

use super::engine::Types;
use crate::membership::decision::{Change, Decided, Decision};
use crate::membership::roster::Roster;
use crate::store::sealed;

type Failed = StorageError<u64>;

fn failed(verb: ErrorVerb, error: &std::io::Error) -> Failed {
    StorageError::IO {
        source: StorageIOError::new(ErrorSubject::Store, verb, AnyError::new(error)),
    }
}

fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<T>, String> {
    let bytes = sealed::read(folder, name).map_err(|why| format!("{name}: {why}"))?;
    let value = bytes
        .map(|bytes| serde_json::from_slice(&bytes))
        .transpose();
    value.map_err(|error| format!("{name}: {error}"))
}

fn write<T: Serialize>(folder: &Path, name: &str, value: &T) -> Result<(), Failed> {
    let bytes = serde_json::to_vec(value).map_err(std::io::Error::from);
    let written = bytes.and_then(|bytes| sealed::write(folder, name, &bytes));
    written.map_err(|error| failed(ErrorVerb::Write, &error))
}

/// What is in the file of the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    vote: Option<Vote<u64>>,
    committed: Option<LogId<u64>>,
    purged: Option<LogId<u64>>,
    entries: BTreeMap<u64, Entry<Types>>,
    /// How often it was changed.
    #[serde(default)]
    age: u64,
}

/// The entries, and for whom this keeper has voted.
#[derive(Clone, Debug)]
pub(super) struct Log {
    folder: PathBuf,
    kept: Arc<Mutex<Kept>>,
}

/// What a keeper has on disk: its number, the log, what that has led to, and how old the logs of
/// the other keepers are.
pub(super) struct Files {
    pub(super) own: u64,
    pub(super) log: Log,
    pub(super) rosters: Rosters,
    pub(super) others: Others,
}

/// Where the copy of a log's age is: beside its folder, under a name of another kind.
fn copy_of_age(folder: &Path) -> (&Path, String) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("age-of-{name}");
    (folder.parent().unwrap_or(folder), name)
}

/// Moves a log that is not relied on out of the way; somebody may want to look at it.
///
/// # Errors
///
/// When the disk does not take it.
pub(super) fn set_aside(folder: &Path) -> Result<(), String> {
    let aside = aside(folder);
    let _ = std::fs::remove_dir_all(&aside);
    let moved = std::fs::rename(folder, &aside);
    moved.map_err(|error| format!("cannot move {}: {error}", folder.display()))?;
    forget_age(folder);
    Ok(())
}

/// Where it is then.
pub(super) fn aside(folder: &Path) -> PathBuf {
    folder.with_extension("damaged")
}

/// Deletes the log of a keeper that is none any more.
pub(super) fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
    forget_age(folder);
}

fn forget_age(folder: &Path) {
    let (beside, name) = copy_of_age(folder);
    let _ = std::fs::remove_file(beside.join(name));
}

impl Files {
    /// Opens a keeper's files, or begins with a roster of its log and a number that is new.
    ///
    /// # Errors
    ///
    /// Which file is damaged, or cannot be written, or that the folder is not the last one.
    pub(super) fn open(
        folder: &Path,
        roster: &Roster,
        number: impl FnOnce() -> u64,
    ) -> Result<Files, String> {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let own: Option<u64> = read(folder, "number")?;
        let (log, applied) = (read(folder, "log")?, read(folder, "rosters")?);
        let others: Option<BTreeMap<u64, u64>> = read(folder, "others")?;
        let (beside, copy) = copy_of_age(folder);
        let known: Option<u64> = read(beside, &copy)?;
        let age = log.as_ref().map_or(0, |log: &Kept| log.age);
        if known.is_some_and(|known| known > age) {
            return Err("its folder was deleted or put back".into());
        }
        let begun = log.as_ref().is_some_and(|log: &Kept| log.vote.is_some());
        let (own, mut kept, applied) = match (own, log, applied) {
            (Some(own), Some(log), Some(applied)) => (own, log, applied),
            (None, ..) if !begun => {
                let own = number();
                let (kept, applied) = (Kept::default(), Applied::new(roster));
                // The number last: who has one has the others, too.
                let written = write(folder, "log", &kept)
                    .and_then(|()| write(folder, "rosters", &applied))
                    .and_then(|()| write(folder, "number", &own));
                written.map_err(|error| error.to_string())?;
                (own, kept, applied)
            }
            _ => return Err("a file is missing".into()),
        };
        // openraft would lead again at once, before anybody has said that these files are the last
        // ones, and give other entries the numbers of those that were lost. So it has to be elected.
        if let Some(vote) = &mut kept.vote {
            vote.committed &= vote.leader_id().voted_for() != Some(own);
        }
        Ok(Files {
            own,
            log: Log {
                folder: folder.to_owned(),
                kept: Arc::new(Mutex::new(kept)),
            },
            others: Others {
                folder: folder.to_owned(),
                ages: Arc::new(Mutex::new(others.unwrap_or_default())),
            },
            rosters: Rosters {
                folder: folder.to_owned(),
                news: watch::channel(applied.decided.roster.clone()).0,
                applied: Arc::new(Mutex::new(applied)),
            },
        })
    }
}

impl Log {
    /// On disk first, and only then what is known.
    async fn change(&self, change: impl FnOnce(&mut Kept)) -> Result<(), Failed> {
        let mut kept = self.kept.lock().await;
        let mut next = kept.clone();
        change(&mut next);
        next.age += 1;
        write(&self.folder, "log", &next)?;
        // Afterwards, so that it is never the older one after a crash in between.
        let (beside, copy) = copy_of_age(&self.folder);
        write(beside, &copy, &next.age)?;
        *kept = next;
        Ok(())
    }

    pub(super) async fn age(&self) -> u64 {
        self.kept.lock().await.age
    }
}

/// How old the logs of other keepers were when they last told, by their numbers.
#[derive(Clone)]
pub(super) struct Others {
    folder: PathBuf,
    ages: Arc<Mutex<BTreeMap<u64, u64>>>,
}

impl Others {
    /// A keeper tells how old its log is, or somebody who may not say so. How old it was by all
    /// that is known.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub(super) async fn hear(&self, by: u64, age: Option<u64>) -> Result<u64, Failed> {
        let mut ages = self.ages.lock().await;
        let known = ages.get(&by).copied().unwrap_or(0);
        if let Some(age) = age.filter(|age| *age > known) {
            let mut next = ages.clone();
            next.insert(by, age);
            write(&self.folder, "others", &next)?;
            *ages = next;
        }
        Ok(known)
    }
}

impl RaftLogReader<Types> for Log {
    async fn try_get_log_entries<R: RangeBounds<u64> + Clone + Debug + Send>(
        &mut self,
        range: R,
    ) -> Result<Vec<Entry<Types>>, Failed> {
        let kept = self.kept.lock().await;
        Ok(kept
            .entries
            .range(range)
            .map(|(_, entry)| entry.clone())
            .collect())
    }
}

impl RaftLogStorage<Types> for Log {
    type LogReader = Log;

    async fn get_log_state(&mut self) -> Result<LogState<Types>, Failed> {
        let kept = self.kept.lock().await;
        let last = kept.entries.values().next_back().map(|entry| entry.log_id);
        Ok(LogState {
            last_purged_log_id: kept.purged,
            last_log_id: last.or(kept.purged),
        })
    }

    async fn save_committed(&mut self, committed: Option<LogId<u64>>) -> Result<(), Failed> {
        self.change(|kept| kept.committed = committed).await
    }

    async fn read_committed(&mut self) -> Result<Option<LogId<u64>>, Failed> {
        Ok(self.kept.lock().await.committed)
    }

    async fn save_vote(&mut self, vote: &Vote<u64>) -> Result<(), Failed> {
        self.change(|kept| kept.vote = Some(*vote)).await
    }

    async fn read_vote(&mut self) -> Result<Option<Vote<u64>>, Failed> {
        Ok(self.kept.lock().await.vote)
    }

    async fn append<I>(&mut self, entries: I, flushed: LogFlushed<Types>) -> Result<(), Failed>
    where
        I: IntoIterator<Item = Entry<Types>> + Send,
        I::IntoIter: Send,
    {
        let entries: Vec<Entry<Types>> = entries.into_iter().collect();
        let entries = entries.into_iter().map(|entry| (entry.log_id.index, entry));
        self.change(|kept| kept.entries.extend(entries)).await?;
        flushed.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, from: LogId<u64>) -> Result<(), Failed> {
        self.change(|kept| drop(kept.entries.split_off(&from.index)))
            .await
    }

    async fn purge(&mut self, upto: LogId<u64>) -> Result<(), Failed> {
        self.change(|kept| {
            kept.purged = Some(upto);
            kept.entries = kept.entries.split_off(&(upto.index + 1));
        })
        .await
    }

    async fn get_log_reader(&mut self) -> Log {
        self.clone()
    }
}

/// What the log has led to, and how far it was carried out.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Applied {
    last: Option<LogId<u64>>,
    keepers: StoredMembership<u64, BasicNode>,
    decided: Decided,
}

/// The rosters that were decided.
#[derive(Clone)]
pub(super) struct Rosters {
    folder: PathBuf,
    applied: Arc<Mutex<Applied>>,
    news: watch::Sender<Roster>,
}

impl Applied {
    fn new(roster: &Roster) -> Applied {
        Applied {
            last: None,
            keepers: StoredMembership::default(),
            decided: Decided::new(roster.clone()),
        }
    }
}

impl Rosters {
    /// Tells of every roster that is decided.
    pub(super) fn news(&self) -> watch::Receiver<Roster> {
        let mut news = self.news.subscribe();
        news.mark_changed();
        news
    }

    /// Whether it is known here what has become of a change.
    pub(super) async fn knows(&self, change: &Change) -> bool {
        self.applied.lock().await.decided.knows(change)
    }

    /// What was decided about a change that was made.
    pub(super) async fn made(&self, change: &Change) -> Option<Decision> {
        self.applied.lock().await.decided.made(change.id)
    }

    /// Whether a change would remove a member. Unknown if it is about a roster that is not here.
    pub(super) async fn would_remove(&self, name: &str, change: &Change) -> Option<bool> {
        let mut decided = self.applied.lock().await.decided.clone();
        if change.version > decided.roster.version {
            return None;
        }
        decided.apply(change);
        Some(decided.roster.member(name).is_none())
    }

    /// Whether the log goes on without a keeper since that entry of it.
    pub(super) async fn is_without(&self, number: u64, since: u64) -> bool {
        let applied = self.applied.lock().await;
        let knows = applied.last.is_some_and(|last| last.index >= since);
        knows && !applied.keepers.voter_ids().any(|voter| voter == number)
    }

    /// On disk first, then known, then told.
    fn take(&self, applied: &mut Applied, next: Applied) -> Result<(), Failed> {
        write(&self.folder, "rosters", &next)?;
        *applied = next;
        self.news.send_replace(applied.decided.roster.clone());
        Ok(())
    }

    fn snapshot(applied: &Applied) -> Result<Snapshot<Types>, Failed> {
        let bytes = serde_json::to_vec(&applied.decided);
        let bytes = bytes.map_err(|error| failed(ErrorVerb::Read, &error.into()))?;
        let index = applied.last.map_or(0, |last| last.index);
        Ok(Snapshot {
            meta: SnapshotMeta {
                last_log_id: applied.last,
                last_membership: applied.keepers.clone(),
                snapshot_id: index.to_string(),
            },
            snapshot: Box::new(Cursor::new(bytes)),
        })
    }
}

impl RaftSnapshotBuilder<Types> for Rosters {
    async fn build_snapshot(&mut self) -> Result<Snapshot<Types>, Failed> {
        Rosters::snapshot(&*self.applied.lock().await)
    }
}

impl RaftStateMachine<Types> for Rosters {
    type SnapshotBuilder = Rosters;

    async fn applied_state(
        &mut self,
    ) -> Result<(Option<LogId<u64>>, StoredMembership<u64, BasicNode>), Failed> {
        let applied = self.applied.lock().await;
        Ok((applied.last, applied.keepers.clone()))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<Decision>, Failed>
    where
        I: IntoIterator<Item = Entry<Types>> + Send,
        I::IntoIter: Send,
    {
        let mut applied = self.applied.lock().await;
        let mut next = applied.clone();
        let mut decisions = Vec::new();
        for entry in entries {
            next.last = Some(entry.log_id);
            let nothing = Decision {
                version: next.decided.roster.version,
                refused: None,
            };
            decisions.push(match entry.payload {
                EntryPayload::Blank => nothing,
                EntryPayload::Normal(change) => next.decided.apply(&change),
                EntryPayload::Membership(keepers) => {
                    next.keepers = StoredMembership::new(Some(entry.log_id), keepers);
                    nothing
                }
            });
        }
        self.take(&mut applied, next)?;
        Ok(decisions)
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Cursor<Vec<u8>>>, Failed> {
        Ok(Box::default())
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta<u64, BasicNode>,
        snapshot: Box<Cursor<Vec<u8>>>,
    ) -> Result<(), Failed> {
        let decided = serde_json::from_slice(snapshot.get_ref());
        let decided = decided.map_err(|error| failed(ErrorVerb::Read, &error.into()))?;
        let next = Applied {
            last: meta.last_log_id,
            keepers: meta.last_membership.clone(),
            decided,
        };
        self.take(&mut *self.applied.lock().await, next)
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<Types>>, Failed> {
        let applied = self.applied.lock().await;
        let snapshot = applied.last.map(|_| Rosters::snapshot(&applied));
        snapshot.transpose()
    }

    async fn get_snapshot_builder(&mut self) -> Rosters {
        self.clone()
    }
}
