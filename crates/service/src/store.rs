//! What a node keeps on disk: the machine's state, written before anything is told
//! of it; the roster; and who uses or waits for a permit.
//!
//! A disk that is full or gone is an alarm, not a reason to stop: the node goes on, but grants
//! nothing that it cannot note.
//!
//! What was kept is believed only if it is whole and the latest: every file has a checksum,
//! a state that was not waited for until it was on the disk counts only within the boot
//! of the machine that wrote it, or after a clean stop, and notes only if no state was kept after
//! later ones. Everything else is a [`Doubt`],
//! never an empty beginning.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::command::Run;
use crate::membership::invite::Invitation;
use crate::permits::Ledger;
use place::{HEAD_BYTES, latest, this_boot, write_place};
use sealed::{create, sync_folder};

mod place;
pub(crate) mod sealed;

/// A folder with a node's files.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    sync: Sync,
    /// Goes with every state: this boot of the machine, or 0 if the disk is waited for.
    boot: u64,
    /// The state file: two places, written in turn, so that one is always whole.
    state: Option<File>,
    turn: u64,
    place_bytes: u64,
    /// What goes into a place.
    place: Vec<u8>,
    /// The notes as they were last written, and their number, which goes with every state.
    notes: Vec<u8>,
    noted: u64,
    /// How often the roster and what goes with it was written.
    aged: u64,
    /// Held while the node runs, so that there are never two.
    _lock: Flock<File>,
}

/// Whether every state is waited for until it is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// It survives a power cut.
    Always,
    /// It survives the end of the process.
    Never,
}

/// All that a node has kept.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The machine's state.
    pub state: Option<Vec<u8>>,
    /// The roster, with what proves it and what the node has promised about the next one.
    pub roster: Option<Vec<u8>>,
    /// What else has to survive a restart.
    pub notes: Notes,
    /// What is known of rollouts; empty if nothing was kept.
    pub rollouts: Vec<u8>,
    /// What was kept and cannot be relied on.
    pub doubts: Vec<Doubt>,
}

/// Why something that was kept is not relied on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Doubt {
    /// It is there and cannot be read.
    #[error("the kept {0} cannot be read: {1}")]
    Unreadable(Stored, String),
    /// The machine has stopped without warning since it was written.
    #[error(
        "the machine has stopped without warning, and the latest state may not have reached the \
         disk (node.sync_state)"
    )]
    PowerCut,
}

/// Something that a node keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stored {
    /// The node's key pairs.
    Identity,
    /// [`Kept::notes`].
    Notes,
    /// [`Kept::rollouts`].
    Rollouts,
    /// [`Kept::roster`].
    Roster,
    /// [`Kept::state`].
    State,
}

impl fmt::Display for Stored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Stored::Identity => "key pairs",
            Stored::Notes => "notes",
            Stored::Rollouts => "rollouts",
            Stored::Roster => "membership",
            Stored::State => "state",
        })
    }
}

/// What is remembered beside the machine's state and the roster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notes {
    /// Permits, and who waits for one.
    pub permits: Ledger,
    /// Nodes that left the ring and may still use a permit, with their addresses.
    pub leaving: Vec<(String, String)>,
    /// The command that runs, or is about to.
    pub run: Option<Run>,
    /// No token had a larger fencing number here.
    pub fence: u64,
    /// Whom this node lets in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invitations: Vec<Invitation>,
}

/// The notes as they are in their file. The number grows with every change.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Numbered {
    number: u64,
    notes: Notes,
}

/// The file with the roster and its votes, and the one with its number.
const MEMBERSHIP: &str = "membership";
const MEMBERSHIP_AGE: &str = "membership.age";

/// How long a folder that somebody uses is waited for.
const LOCKED_FOR: Duration = Duration::from_secs(2);

impl Store {
    /// Opens a folder, or makes it. What a killed node has left may have the folder for a
    /// moment longer than that lived, so one that is in use is waited for.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or another node uses it.
    pub fn open(folder: &Path, sync: Sync) -> io::Result<Store> {
        std::fs::create_dir_all(folder)?;
        if folder.join("roster").exists() {
            let old = "its file `roster` is of Headway 0.2: CHANGELOG.md says how to upgrade";
            return Err(io::Error::other(old));
        }
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600);
        let lock = lock(options.open(folder.join("lock"))?)?;
        let mut store = Store {
            folder: folder.to_owned(),
            sync,
            boot: match sync {
                Sync::Always => 0,
                Sync::Never => this_boot(),
            },
            state: None,
            turn: 0,
            place_bytes: 0,
            place: Vec::new(),
            notes: Vec::new(),
            noted: 0,
            aged: 0,
            _lock: lock,
        };
        // Whatever can be read: the next notes are later.
        let noted = store.numbered().map_or(0, |notes| notes.number);
        store.noted = noted.max(store.noted_with_state());
        let aged = [MEMBERSHIP, MEMBERSHIP_AGE].map(|name| store.unsealed(name).ok().flatten());
        store.aged = aged
            .iter()
            .flatten()
            .map(|bytes| number(bytes))
            .max()
            .unwrap_or(0);
        Ok(store)
    }

    /// The latest whole state, if there is one.
    ///
    /// # Errors
    ///
    /// Why it is not relied on.
    pub fn state(&self) -> Result<Option<Vec<u8>>, Doubt> {
        let bytes = match std::fs::read(self.path("state")) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable("state", error)),
        };
        let Some(latest) = latest(&bytes) else {
            return Err(unreadable("state", "neither of its two places is whole"));
        };
        let stopped = std::fs::read_to_string(self.path("clean"));
        let clean = stopped.is_ok_and(|turn| turn == latest.turn.to_string());
        if clean || latest.boot == 0 || latest.boot == this_boot() {
            return Ok(Some(latest.state.to_vec()));
        }
        Err(Doubt::PowerCut)
    }

    /// All that was kept. The mark of a clean stop counts once.
    pub fn kept(&self) -> Kept {
        let mut doubts = Vec::new();
        let mut kept = Kept {
            state: self.state().unwrap_or_else(|doubt| {
                doubts.push(doubt);
                None
            }),
            roster: self.roster().unwrap_or_else(|doubt| {
                doubts.push(doubt);
                None
            }),
            notes: self.notes().unwrap_or_else(|doubt| {
                doubts.push(doubt);
                Notes::default()
            }),
            // What is lost of this, the neighbours know.
            rollouts: self.unsealed("rollouts").ok().flatten().unwrap_or_default(),
            doubts: Vec::new(),
        };
        kept.doubts = doubts;
        if std::fs::remove_file(self.path("clean")).is_ok() {
            let _ = sync_folder(&self.folder);
        }
        kept
    }

    /// The node stops in good order, and its state is the latest.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub fn finish(&mut self) -> io::Result<()> {
        let Some(file) = &self.state else {
            return Ok(());
        };
        file.sync_all()?;
        sealed::replace(&self.folder, "clean", self.turn.to_string().as_bytes())
    }

    /// Keeps a state.
    ///
    /// # Errors
    ///
    /// When the disk does not take it. The next call tries with a new file.
    pub fn save_state(&mut self, state: &[u8]) -> io::Result<()> {
        let result = self.write_state(state);
        if result.is_err() {
            // Whatever is in the file is not to be trusted to be the latest.
            self.state = None;
        }
        result
    }

    fn write_state(&mut self, state: &[u8]) -> io::Result<()> {
        let bytes = (HEAD_BYTES + state.len()) as u64;
        let Some(file) = self.state.as_ref().filter(|_| self.place_bytes == bytes) else {
            return self.new_state(state);
        };
        self.turn += 1;
        let at = if self.turn.is_multiple_of(2) {
            bytes
        } else {
            0
        };
        write_place(&mut self.place, [self.turn, self.boot, self.noted], state);
        file.write_all_at(&self.place, at)?;
        if self.sync == Sync::Always {
            file.sync_data()?;
        }
        Ok(())
    }

    fn new_state(&mut self, state: &[u8]) -> io::Result<()> {
        let turn = self.last_turn() + 1;
        write_place(&mut self.place, [turn, self.boot, self.noted], state);
        let fresh = self.path("state.new");
        // Room for both places is taken now, so that a disk that fills up later does no
        // harm.
        let mut file = create(&fresh)?;
        file.write_all(&self.place)?;
        file.write_all(&vec![0; self.place.len()])?;
        file.sync_all()?;
        std::fs::rename(&fresh, self.path("state"))?;
        sync_folder(&self.folder)?;
        self.turn = turn;
        self.place_bytes = self.place.len() as u64;
        self.state = Some(file);
        Ok(())
    }

    /// Odd, so that the next is written into the second place.
    fn last_turn(&self) -> u64 {
        let bytes = std::fs::read(self.path("state")).unwrap_or_default();
        let last = latest(&bytes).map_or(0, |place| place.turn);
        last + last % 2
    }

    /// The number of the latest notes when the state was kept.
    fn noted_with_state(&self) -> u64 {
        let bytes = std::fs::read(self.path("state")).unwrap_or_default();
        latest(&bytes).map_or(0, |place| place.notes)
    }

    /// The roster and what goes with it, if it was kept. Beside it there is the number of the
    /// latest: one that was deleted or restored has a lower one.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is not the latest.
    pub fn roster(&self) -> Result<Option<Vec<u8>>, Doubt> {
        let latest = self.unsealed(MEMBERSHIP_AGE)?.map(|age| number(&age));
        let mut kept = self.unsealed(MEMBERSHIP)?;
        let age = kept.as_deref().map_or(0, number);
        if latest.is_some_and(|latest| latest > age) {
            return Err(unreadable(MEMBERSHIP, "it was deleted or restored"));
        }
        if let Some(kept) = &mut kept {
            kept.drain(..kept.len().min(8));
        }
        Ok(kept)
    }

    /// Keeps the roster and what goes with it.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub fn save_roster(&mut self, kept: &[u8]) -> io::Result<()> {
        let age = (self.aged + 1).to_be_bytes();
        sealed::write(&self.folder, MEMBERSHIP, &[&age, kept].concat())?;
        sealed::write(&self.folder, MEMBERSHIP_AGE, &age)?;
        self.aged += 1;
        Ok(())
    }

    /// What was noted before.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn notes(&self) -> Result<Notes, Doubt> {
        let Numbered { number, notes } = self.numbered()?;
        if number < self.noted_with_state() {
            return Err(unreadable("notes", "there were later ones"));
        }
        Ok(notes)
    }

    fn numbered(&self) -> Result<Numbered, Doubt> {
        let Some(bytes) = self.unsealed("notes")? else {
            return Ok(Numbered::default());
        };
        serde_json::from_slice(&bytes).map_err(|error| unreadable("notes", error))
    }

    /// Keeps the notes, unless they are the same as last time.
    ///
    /// # Errors
    ///
    /// When the disk does not take them.
    pub fn save_notes(&mut self, notes: &Notes) -> io::Result<()> {
        let bytes = serde_json::to_vec(notes)?;
        if bytes != self.notes {
            let (number, notes) = (self.noted + 1, notes.clone());
            let numbered = serde_json::to_vec(&Numbered { number, notes })?;
            sealed::write(&self.folder, "notes", &numbered)?;
            (self.notes, self.noted) = (bytes, number);
        }
        Ok(())
    }

    /// Keeps what is known of rollouts.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub fn save_rollouts(&mut self, bytes: &[u8]) -> io::Result<()> {
        sealed::write(&self.folder, "rollouts", bytes)
    }

    fn unsealed(&self, name: &str) -> Result<Option<Vec<u8>>, Doubt> {
        sealed::read(&self.folder, name).map_err(|why| unreadable(name, why))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The number that a file begins with.
fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().copied().map_or(0, u64::from_be_bytes)
}

fn lock(mut file: File) -> io::Result<Flock<File>> {
    let began = Instant::now();
    loop {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((file, _)) => file,
        };
        if began.elapsed() >= LOCKED_FOR {
            let busy = "another node uses this folder";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, busy));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn unreadable(name: &str, why: impl fmt::Display) -> Doubt {
    let what = match name {
        "state" => Stored::State,
        MEMBERSHIP | MEMBERSHIP_AGE => Stored::Roster,
        _ => Stored::Notes,
    };
    Doubt::Unreadable(what, why.to_string())
}

#[cfg(test)]
mod tests;
