//! One number for every lane, and arithmetic on it: loops of a fixed length without
//! branches, which the compiler turns into vector instructions.

use std::ops::{Add, BitAnd, Not, Sub};

/// How many rings are worked on at once.
pub(super) const LANES: usize = 64;

/// A number of a lane, as narrow as its values allow: twice as many narrow ones fit
/// into a vector.
pub(super) trait Lane: Copy + Ord + Send {
    /// Less than any number that is worked with.
    const NONE: Self;
    /// The largest number that can be worked with.
    const LARGEST: usize;

    /// Of a number that fits.
    fn of(number: i16) -> Self;
    /// Back again.
    fn number(self) -> i16;
    /// Modulo the width, like all of these.
    fn plus(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The product.
    fn times(self, other: Self) -> Self;
    /// Bit by bit.
    fn and(self, other: Self) -> Self;
    /// Bit by bit.
    fn or(self, other: Self) -> Self;
    /// Bit by bit.
    fn not(self) -> Self;
}

macro_rules! lane {
    ($type:ty) => {
        impl Lane for $type {
            const NONE: Self = <$type>::MIN;
            const LARGEST: usize = <$type>::MAX as usize;

            #[inline(always)]
            fn of(number: i16) -> Self {
                number as $type
            }
            #[inline(always)]
            fn number(self) -> i16 {
                self.into()
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }
    };
}

lane!(i8);
lane!(i16);

/// One number for every lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Row<T>(pub(super) [T; LANES]);

/// Yes or no for every lane: all bits set, or none.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Mask<T>(pub(super) [T; LANES]);

#[inline(always)]
fn map<A: Copy, B: Lane>(a: &[A; LANES], f: impl Fn(A) -> B) -> [B; LANES] {
    let mut out = [B::NONE; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
    out
}

#[inline(always)]
fn zip<T: Lane>(a: &[T; LANES], b: &[T; LANES], f: impl Fn(T, T) -> T) -> [T; LANES] {
    let mut out = [T::NONE; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

#[inline(always)]
fn all_bits<T: Lane>(set: bool) -> T {
    T::of(-i16::from(set))
}

impl<T: Lane> Row<T> {
    /// The same number in every lane.
    #[inline(always)]
    pub(super) fn of(number: i16) -> Row<T> {
        Row([T::of(number); LANES])
    }

    /// [`Lane::NONE`] in every lane.
    #[inline(always)]
    pub(super) fn none() -> Row<T> {
        Row([T::NONE; LANES])
    }

    /// Of words, each made a number.
    #[inline(always)]
    pub(super) fn from_words(words: &[u16; LANES], number: impl Fn(u16) -> i16) -> Row<T> {
        Row(map(words, |word| T::of(number(word))))
    }

    #[inline(always)]
    pub(super) fn max(self, other: Row<T>) -> Row<T> {
        Row(zip(&self.0, &other.0, T::max))
    }

    #[inline(always)]
    pub(super) fn times(self, factor: i16) -> Row<T> {
        Row(map(&self.0, |a| a.times(T::of(factor))))
    }

    /// Where this is larger.
    #[inline(always)]
    pub(super) fn above(self, other: Row<T>) -> Mask<T> {
        Mask(zip(&self.0, &other.0, |a, b| all_bits(a > b)))
    }

    /// Where both are equal.
    #[inline(always)]
    pub(super) fn is(self, other: Row<T>) -> Mask<T> {
        Mask(zip(&self.0, &other.0, |a, b| all_bits(a == b)))
    }

    /// The smallest of all lanes.
    #[inline(always)]
    pub(super) fn min(self) -> i16 {
        let smallest = self.0.iter().fold(self.0[0], |a, &b| a.min(b));
        smallest.number()
    }
}

impl<T: Lane> Add for Row<T> {
    type Output = Row<T>;

    #[inline(always)]
    fn add(self, other: Row<T>) -> Row<T> {
        Row(zip(&self.0, &other.0, T::plus))
    }
}

impl<T: Lane> Sub for Row<T> {
    type Output = Row<T>;

    #[inline(always)]
    fn sub(self, other: Row<T>) -> Row<T> {
        Row(zip(&self.0, &other.0, T::minus))
    }
}

impl<T: Lane> Mask<T> {
    /// The same in every lane.
    #[inline(always)]
    pub(super) fn of(set: bool) -> Mask<T> {
        Mask([all_bits(set); LANES])
    }

    /// Of words, each tested.
    #[inline(always)]
    pub(super) fn from_words(words: &[u16; LANES], test: impl Fn(u16) -> bool) -> Mask<T> {
        Mask(map(words, |word| all_bits(test(word))))
    }

    /// `yes` where this is set, else `no`.
    #[inline(always)]
    pub(super) fn choose(self, yes: Row<T>, no: Row<T>) -> Row<T> {
        let yes = zip(&self.0, &yes.0, T::and);
        let no = zip(&self.0, &no.0, |mask, no| mask.not().and(no));
        Row(zip(&yes, &no, T::or))
    }

    /// Whether it is set anywhere.
    #[inline(always)]
    pub(super) fn any(self) -> bool {
        self.0.iter().fold(T::of(0), |a, &b| a.or(b)) != T::of(0)
    }
}

impl<T: Lane> BitAnd for Mask<T> {
    type Output = Mask<T>;

    #[inline(always)]
    fn bitand(self, other: Mask<T>) -> Mask<T> {
        Mask(zip(&self.0, &other.0, T::and))
    }
}

impl<T: Lane> Not for Mask<T> {
    type Output = Mask<T>;

    #[inline(always)]
    fn not(self) -> Mask<T> {
        Mask(map(&self.0, T::not))
    }
}
