//! A variable of a node: where it is, and its domain.

use super::Stage;
use crate::wire::{NO_TOKEN, Released};

/// A variable and what it may be.
#[derive(Debug)]
pub enum Variable<'v> {
    /// Either.
    Flag(&'v mut bool),
    /// A phase of the clock.
    Phase(&'v mut i32),
    /// Less than the limit.
    Below(&'v mut u32, u32),
    /// From 0 to the limit.
    Counter(&'v mut i32, i32),
    /// At most the limit.
    Limited(&'v mut u32, u32),
    /// A token of the ring and one of its values, or nothing.
    Released(&'v mut Option<Released>),
    /// Any number of rounds or hops.
    Rounds(&'v mut u32),
    /// Any stage.
    Stage(&'v mut Stage),
    /// At least [`Config::fence_floor`](crate::Config::fence_floor).
    Fence(&'v mut u64),
    /// Not in the future.
    Moment(&'v mut u64),
    /// Any number.
    Number(&'v mut u64),
    /// A statistic, on which nothing depends.
    Total(&'v mut u64),
    /// Anything.
    Bytes(&'v mut [u8]),
}

impl Variable<'_> {
    /// How many bytes of a saved state it takes.
    pub const fn bytes(&self) -> usize {
        match self {
            Variable::Flag(_) | Variable::Stage(_) => 1,
            Variable::Phase(_)
            | Variable::Below(..)
            | Variable::Counter(..)
            | Variable::Limited(..)
            | Variable::Rounds(_) => 4,
            Variable::Released(_) => 6,
            Variable::Fence(_) | Variable::Moment(_) | Variable::Number(_) | Variable::Total(_) => {
                8
            }
            Variable::Bytes(bytes) => bytes.len(),
        }
    }

    /// Its value as a number; 0 for bytes.
    pub fn get(&self) -> u64 {
        match self {
            Variable::Flag(flag) => u64::from(**flag),
            Variable::Stage(stage) => **stage as u64,
            Variable::Phase(number) | Variable::Counter(number, _) => u64::from(**number as u32),
            Variable::Below(number, _)
            | Variable::Limited(number, _)
            | Variable::Rounds(number) => u64::from(**number),
            Variable::Released(released) => match released {
                Some(released) => u64::from(released.token) << 32 | u64::from(released.previous),
                None => u64::from(NO_TOKEN) << 32,
            },
            Variable::Fence(number)
            | Variable::Moment(number)
            | Variable::Number(number)
            | Variable::Total(number) => **number,
            Variable::Bytes(_) => 0,
        }
    }

    /// Gives it the value that [`Variable::get`] has said, in its domain or not. `false` if
    /// there is no such value.
    pub fn set(self, value: u64) -> bool {
        match self {
            Variable::Flag(flag) => *flag = value != 0,
            Variable::Stage(stage) => match Stage::ALL.get(value as usize) {
                Some(known) => *stage = *known,
                None => return false,
            },
            Variable::Phase(number) | Variable::Counter(number, _) => *number = value as i32,
            Variable::Below(number, _)
            | Variable::Limited(number, _)
            | Variable::Rounds(number) => *number = value as u32,
            Variable::Released(released) => {
                let (token, previous) = ((value >> 32) as u16, value as u32);
                *released = (token != NO_TOKEN).then_some(Released { token, previous });
            }
            Variable::Fence(number)
            | Variable::Moment(number)
            | Variable::Number(number)
            | Variable::Total(number) => *number = value,
            Variable::Bytes(_) => return false,
        }
        true
    }
}
