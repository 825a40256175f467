//! A number for every state that several threads may write, always the same value.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};

/// Numbers of one, two or four bytes. Not a type parameter of the exploration, which
/// would be compiled three times for every model.
pub(super) enum Cells {
    Bytes(Vec<AtomicU8>),
    Pairs(Vec<AtomicU16>),
    Words(Vec<AtomicU32>),
}

/// Nothing was written yet.
pub(super) const UNKNOWN: u32 = 0;

impl Cells {
    /// A cell of so many bytes for every state.
    pub(super) fn new(states: u64, bytes: u64) -> Cells {
        let states = states as usize;
        // Zeros come from the system as they are needed, and stay where they are.
        match bytes {
            1 => Cells::Bytes(vec![0; states].into_iter().map(AtomicU8::new).collect()),
            2 => Cells::Pairs(vec![0; states].into_iter().map(AtomicU16::new).collect()),
            _ => Cells::Words(vec![0; states].into_iter().map(AtomicU32::new).collect()),
        }
    }

    /// The largest number that fits: never legitimate.
    pub(super) fn never(&self) -> u32 {
        match self {
            Cells::Bytes(_) => u8::MAX.into(),
            Cells::Pairs(_) => u16::MAX.into(),
            Cells::Words(_) => u32::MAX,
        }
    }

    pub(super) fn get(&self, rank: u64) -> u32 {
        let rank = rank as usize;
        match self {
            Cells::Bytes(cells) => cells[rank].load(Ordering::Relaxed).into(),
            Cells::Pairs(cells) => cells[rank].load(Ordering::Relaxed).into(),
            Cells::Words(cells) => cells[rank].load(Ordering::Relaxed),
        }
    }

    /// Writes a value that is at most [`Cells::never`].
    pub(super) fn set(&self, rank: u64, value: u32) {
        let rank = rank as usize;
        match self {
            Cells::Bytes(cells) => cells[rank].store(value as u8, Ordering::Relaxed),
            Cells::Pairs(cells) => cells[rank].store(value as u16, Ordering::Relaxed),
            Cells::Words(cells) => cells[rank].store(value, Ordering::Relaxed),
        }
    }
}
