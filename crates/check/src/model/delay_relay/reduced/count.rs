//! Numbers of states.

use std::ops::{AddAssign, Mul, Sub};

use num_bigint::BigUint;

/// A number of states: 128 bits where all states of the instance fit, any size otherwise.
pub(in crate::model::delay_relay) trait Count:
    Clone
    + Default
    + PartialEq
    + Send
    + Sync
    + From<u64>
    + for<'a> AddAssign<&'a Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Into<BigUint>
{
}

impl Count for u128 {}
impl Count for BigUint {}
