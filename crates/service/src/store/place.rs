//! The two places of a state file: written in turn, each with a number, the boot of the machine
//! that wrote it, the number of the notes that it goes with, and a checksum, so that one is always
//! whole.

use sha2::{Digest as _, Sha256};

const STATE_MAGIC: &[u8; 8] = b"HWstore4";

/// What comes before the state in a place.
pub(super) const HEAD_BYTES: usize = 8 + 8 + 8 + 8 + 8 + 8;

/// A number for this boot of the machine, never 0.
pub(super) fn this_boot() -> u64 {
    let id = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digest = Sha256::digest(id);
    let (first, _) = digest.split_first_chunk().unwrap_or((&[1; 8], &[]));
    u64::from_be_bytes(*first).max(1)
}

/// A state as it is in one of the two places of its file.
pub(super) struct Place<'p> {
    pub(super) turn: u64,
    pub(super) boot: u64,
    pub(super) notes: u64,
    pub(super) state: &'p [u8],
}

pub(super) fn write_place(place: &mut Vec<u8>, numbers: [u64; 3], state: &[u8]) {
    place.clear();
    place.extend_from_slice(STATE_MAGIC);
    let [turn, boot, notes] = numbers;
    for number in [turn, boot, notes, state.len() as u64] {
        place.extend_from_slice(&number.to_be_bytes());
    }
    let sum = checksum(place, state);
    place.extend_from_slice(&sum.to_be_bytes());
    place.extend_from_slice(state);
}

/// The latest whole one of the two.
pub(super) fn latest(file: &[u8]) -> Option<Place<'_>> {
    let (one, other) = file.split_at(file.len() / 2);
    let whole = [one, other].into_iter().filter_map(read_place);
    whole.max_by_key(|place| place.turn)
}

fn read_place(place: &[u8]) -> Option<Place<'_>> {
    let (head, rest) = place.split_at_checked(HEAD_BYTES - 8)?;
    let (sum, rest) = rest.split_first_chunk()?;
    let number = |at: usize| Some(u64::from_be_bytes(*head[at..].first_chunk()?));
    let state = rest.get(..usize::try_from(number(32)?).ok()?)?;
    let whole = checksum(head, state) == u64::from_be_bytes(*sum);
    let (turn, boot, notes) = (number(8)?, number(16)?, number(24)?);
    (head.starts_with(STATE_MAGIC) && whole).then_some(Place {
        turn,
        boot,
        notes,
        state,
    })
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
