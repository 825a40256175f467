//! Exact numbers for OxiDD to count with.

use std::ops::{AddAssign, ShlAssign, ShrAssign, SubAssign};

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

impl<'a> AddAssign<&'a Exact> for Exact {
    fn add_assign(&mut self, other: &'a Exact) {
        self.0 += &other.0;
    }
}

impl<'a> SubAssign<&'a Exact> for Exact {
    fn sub_assign(&mut self, other: &'a Exact) {
        self.0 -= &other.0;
    }
}

impl ShlAssign<u32> for Exact {
    fn shl_assign(&mut self, bits: u32) {
        self.0 <<= bits;
    }
}

impl ShrAssign<u32> for Exact {
    fn shr_assign(&mut self, bits: u32) {
        self.0 >>= bits;
    }
}

impl IsFloatingPoint for Exact {
    const FLOATING_POINT: bool = false;
    const MIN_EXP: i32 = 0;
}
