//! What a node keeps on disk: the machine's state, written before anything is told
//! of it; the roster; and who uses or waits for a permit.
//!
//! A disk that is full or gone is an alarm, not a reason to stop: the node goes on,
//! and a restart meanwhile is a fault that the ring recovers from.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::hook::Run;
use crate::permits::Ledger;

/// A folder with a node's files.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    sync: Sync,
    /// The state file: two places, written in turn, so that one is always whole.
    state: Option<File>,
    turn: u64,
    place_bytes: u64,
    /// What goes into a place.
    place: Vec<u8>,
    /// The notes as they were last written.
    notes: Vec<u8>,
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
    /// The roster with its signature.
    pub roster: Option<Vec<u8>>,
    /// What else has to survive a restart.
    pub notes: Notes,
}

/// Something that a node keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stored {
    /// [`Kept::notes`].
    Notes,
    /// [`Kept::roster`].
    Roster,
    /// [`Kept::state`].
    State,
}

impl fmt::Display for Stored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Stored::Notes => "notes",
            Stored::Roster => "roster",
            Stored::State => "state",
        })
    }
}

/// What is remembered beside the machine's state and the roster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notes {
    /// Permits, and who waits for one.
    #[serde(rename = "desk")]
    pub permits: Ledger,
    /// Nodes that left the ring and may still use a permit, with their addresses.
    pub leaving: Vec<(String, String)>,
    /// The command that runs, or is about to.
    #[serde(rename = "hold")]
    pub run: Option<Run>,
}

const STATE_MAGIC: &[u8; 8] = b"HWstore2";
/// How long a folder that somebody uses is waited for.
const LOCKED_FOR: Duration = Duration::from_secs(2);

const HEAD_BYTES: usize = 8 + 8 + 8 + 8;

impl Store {
    /// Opens a folder, or makes it. What a killed node has left may have the folder for a
    /// moment longer than that lived, so one that is in use is waited for.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or another node uses it.
    pub fn open(folder: &Path, sync: Sync) -> io::Result<Store> {
        std::fs::create_dir_all(folder)?;
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600);
        let lock = lock(options.open(folder.join("lock"))?)?;
        Ok(Store {
            folder: folder.to_owned(),
            sync,
            state: None,
            turn: 0,
            place_bytes: 0,
            place: Vec::new(),
            notes: Vec::new(),
            _lock: lock,
        })
    }

    /// The latest whole state, if there is one.
    pub fn state(&self) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.path("state")).ok()?;
        let half = bytes.len() / 2;
        let places = [bytes.get(..half)?, bytes.get(half..)?];
        let whole = places.into_iter().filter_map(read_place);
        whole
            .max_by_key(|(turn, _)| *turn)
            .map(|(_, state)| state.to_vec())
    }

    /// All that was kept.
    pub fn kept(&self) -> Kept {
        Kept {
            state: self.state(),
            roster: self.roster(),
            notes: self.notes(),
        }
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
        write_place(&mut self.place, self.turn, state);
        file.write_all_at(&self.place, at)?;
        if self.sync == Sync::Always {
            file.sync_data()?;
        }
        Ok(())
    }

    fn new_state(&mut self, state: &[u8]) -> io::Result<()> {
        let turn = self.last_turn() + 1;
        write_place(&mut self.place, turn, state);
        let fresh = self.path("state.new");
        // Room for both places is taken now, so that a disk that fills up later does no
        // harm.
        let mut file = create(&fresh)?;
        file.write_all(&self.place)?;
        file.write_all(&vec![0; self.place.len()])?;
        file.sync_all()?;
        std::fs::rename(&fresh, self.path("state"))?;
        self.turn = turn;
        self.place_bytes = self.place.len() as u64;
        self.state = Some(file);
        Ok(())
    }

    /// Odd, so that the next is written into the second place.
    fn last_turn(&self) -> u64 {
        let Ok(bytes) = std::fs::read(self.path("state")) else {
            return 0;
        };
        let (one, other) = bytes.split_at(bytes.len() / 2);
        let turns = [one, other].into_iter().filter_map(read_place);
        let last = turns.map(|(turn, _)| turn).max().unwrap_or(0);
        last + last % 2
    }

    /// The signed roster, if one was kept.
    pub fn roster(&self) -> Option<Vec<u8>> {
        let text = std::fs::read(self.path("roster")).ok()?;
        let end = text.iter().position(|&byte| byte == b'\n')?;
        let mac = std::str::from_utf8(&text[end + 1..]).ok()?.trim();
        let mut bytes = text[..end].to_vec();
        bytes.extend(hex::decode(mac).ok()?);
        Some(bytes)
    }

    /// Keeps a signed roster: a line of JSON and a line with its signature.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub fn save_roster(&mut self, signed: &[u8]) -> io::Result<()> {
        let at = signed.len().saturating_sub(headway_node::MAC_BYTES);
        let (body, mac) = signed.split_at(at);
        let mac = hex::encode(mac);
        self.replace("roster", &[body, b"\n", mac.as_bytes(), b"\n"].concat())
    }

    /// What was noted before.
    pub fn notes(&self) -> Notes {
        let bytes = std::fs::read(self.path("notes.json")).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Keeps the notes, unless they are the same as last time.
    ///
    /// # Errors
    ///
    /// When the disk does not take them.
    pub fn save_notes(&mut self, notes: &Notes) -> io::Result<()> {
        let bytes = serde_json::to_vec(notes)?;
        if bytes != self.notes {
            self.replace("notes.json", &bytes)?;
            self.notes = bytes;
        }
        Ok(())
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let fresh = self.path(&format!("{name}.new"));
        let mut file = create(&fresh)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&fresh, self.path(name))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
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

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

fn write_place(place: &mut Vec<u8>, turn: u64, state: &[u8]) {
    place.clear();
    place.extend_from_slice(STATE_MAGIC);
    place.extend_from_slice(&turn.to_be_bytes());
    place.extend_from_slice(&(state.len() as u64).to_be_bytes());
    let sum = checksum(place, state);
    place.extend_from_slice(&sum.to_be_bytes());
    place.extend_from_slice(state);
}

fn read_place(place: &[u8]) -> Option<(u64, &[u8])> {
    let (head, rest) = place.split_at_checked(24)?;
    let (sum, rest) = rest.split_first_chunk()?;
    let turn = u64::from_be_bytes(head[8..16].try_into().ok()?);
    let length = u64::from_be_bytes(head[16..24].try_into().ok()?);
    let state = rest.get(..usize::try_from(length).ok()?)?;
    let whole = checksum(head, state) == u64::from_be_bytes(*sum);
    (head.starts_with(STATE_MAGIC) && whole).then_some((turn, state))
}

/// Tells a write that was cut from one that was not; the state has a digest of its own
/// for everything else. Eight bytes at a time, because every hop waits for it; each step
/// can be undone, so that a change of one word is never missed.
fn checksum(head: &[u8], state: &[u8]) -> u64 {
    let words = head.chunks(8).chain(state.chunks(8));
    words.fold(0xcbf2_9ce4_8422_2325, |sum, bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let mixed = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    })
}

#[cfg(test)]
mod tests;
