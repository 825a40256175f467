//! One number for every lane, and arithmetic that the compiler turns into vector
//! instructions: all of it is loops of a fixed length without branches.

use std::ops::{Add, BitAnd, Not, Sub};

/// How many rings are worked on at once.
pub(super) const LANES: usize = 64;

/// One number for every lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Row(pub(super) [i16; LANES]);

/// Yes or no for every lane: -1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Mask(pub(super) [i16; LANES]);

#[inline(always)]
fn zip(a: &[i16; LANES], b: &[i16; LANES], f: impl Fn(i16, i16) -> i16) -> [i16; LANES] {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

impl Row {
    /// The same number in every lane.
    #[inline(always)]
    pub(super) fn of(number: i16) -> Row {
        Row([number; LANES])
    }

    #[inline(always)]
    pub(super) fn max(self, other: Row) -> Row {
        Row(zip(&self.0, &other.0, |a, b| if a > b { a } else { b }))
    }

    #[inline(always)]
    pub(super) fn times(self, factor: i16) -> Row {
        Row(zip(&self.0, &[factor; LANES], i16::wrapping_mul))
    }

    /// High and low half of the product, all numbers unsigned.
    #[inline(always)]
    pub(super) fn times_wide(self, factor: u16) -> (Row, Row) {
        let high = |a: i16, _| ((u32::from(a as u16) * u32::from(factor)) >> 16) as i16;
        let low = |a: i16, _| (a as u16).wrapping_mul(factor) as i16;
        (Row(zip(&self.0, &self.0, high)), Row(zip(&self.0, &self.0, low)))
    }

    /// Where this, unsigned, is below a number.
    #[inline(always)]
    pub(super) fn below_unsigned(self, number: u16) -> Mask {
        Mask(zip(&self.0, &self.0, |a, _| -i16::from((a as u16) < number)))
    }

    /// With some bits cleared.
    #[inline(always)]
    pub(super) fn without(self, bits: i16) -> Row {
        Row(zip(&self.0, &self.0, |a, _| a & !bits))
    }

    /// Where this is larger.
    #[inline(always)]
    pub(super) fn above(self, other: Row) -> Mask {
        Mask(zip(&self.0, &other.0, |a, b| -i16::from(a > b)))
    }

    /// Where both are equal.
    #[inline(always)]
    pub(super) fn is(self, other: Row) -> Mask {
        Mask(zip(&self.0, &other.0, |a, b| -i16::from(a == b)))
    }

    /// The smallest of all lanes.
    #[inline(always)]
    pub(super) fn min(self) -> i16 {
        self.0.iter().fold(i16::MAX, |a, &b| if a < b { a } else { b })
    }
}

impl Add for Row {
    type Output = Row;

    #[inline(always)]
    fn add(self, other: Row) -> Row {
        Row(zip(&self.0, &other.0, i16::wrapping_add))
    }
}

impl Sub for Row {
    type Output = Row;

    #[inline(always)]
    fn sub(self, other: Row) -> Row {
        Row(zip(&self.0, &other.0, i16::wrapping_sub))
    }
}

impl Mask {
    /// `yes` where this is set, else `no`.
    #[inline(always)]
    pub(super) fn choose(self, yes: Row, no: Row) -> Row {
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = (yes.0[lane] & self.0[lane]) | (no.0[lane] & !self.0[lane]);
        }
        Row(out)
    }
}

impl Mask {
    /// Whether it is set anywhere.
    #[inline(always)]
    pub(super) fn any(self) -> bool {
        self.0.iter().fold(0, |a, &b| a | b) != 0
    }
}

impl BitAnd for Mask {
    type Output = Mask;

    #[inline(always)]
    fn bitand(self, other: Mask) -> Mask {
        Mask(zip(&self.0, &other.0, |a, b| a & b))
    }
}

impl Not for Mask {
    type Output = Mask;

    #[inline(always)]
    fn not(self) -> Mask {
        Mask(zip(&self.0, &self.0, |a, _| !a))
    }
}
