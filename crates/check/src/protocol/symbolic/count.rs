//! Exact numbers for OxiDD to count with.

use std::ops::{Add, Shl, Shr};

use num_bigint::BigUint;
use oxidd::util::IsFloatingPoint;

/// A number of any size.
#[derive(Clone)]
pub(super) struct Exact(pub(super) BigUint);

impl From<u32> for Exact {
    fn from(number: u32) -> Exact {
        Exact(number.into())
    }
}

impl Add for Exact {
    type Output = Exact;

    fn add(self, other: Exact) -> Exact {
        Exact(self.0 + other.0)
    }
}

impl Shl<u32> for Exact {
    type Output = Exact;

    fn shl(self, bits: u32) -> Exact {
        Exact(self.0 << bits)
    }
}

impl Shr<u32> for Exact {
    type Output = Exact;

    fn shr(self, bits: u32) -> Exact {
        Exact(self.0 >> bits)
    }
}

impl IsFloatingPoint for Exact {
    const FLOATING_POINT: bool = false;
    const MIN_EXP: i32 = 0;
}
