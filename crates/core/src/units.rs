//! The numbers of the model.

use core::fmt;

/// The position of a process on the ring, from 0 to n-1, clockwise.
pub type ProcessIndex = usize;

/// A number of rounds since the start. Round t leads from state t-1 to state t;
/// state 0 is the initial one. Everything works up to 2^63.
pub type Round = u64;

/// The separation d: how many hops apart two successive tokens are to be kept.
///
/// At least 1 (any two tokens are then at different processes) and at most
/// 2^31, because the counter of a delay runs from d-1 down to 0 in an `i32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Separation(u32);

impl Separation {
    /// The largest separation that a counter can hold.
    pub const MAX: Separation = Separation(1 << 31);

    /// `None` when `hops` is 0 or above [`Separation::MAX`].
    ///
    /// ```
    /// use headway_core::Separation;
    /// assert_eq!(Separation::new(5).unwrap().top(), 4);
    /// assert!(Separation::new(0).is_none());
    /// assert!(Separation::new((1 << 31) + 1).is_none());
    /// ```
    pub const fn new(hops: u32) -> Option<Separation> {
        if hops == 0 || hops > Separation::MAX.0 {
            None
        } else {
            Some(Separation(hops))
        }
    }

    /// d, in hops.
    pub const fn hops(self) -> u32 {
        self.0
    }

    /// C = d - 1, the value from which a delay counts down.
    pub const fn top(self) -> i32 {
        // 1 <= d <= 2^31, so d - 1 fits.
        (self.0 - 1) as i32
    }

    /// Whether `tokens` can be kept this far apart on a ring of `processes`:
    /// m·d ≤ n, inequality (1) of the paper.
    pub const fn fits(self, processes: u64, tokens: u64) -> bool {
        tokens as u128 * self.0 as u128 <= processes as u128
    }
}

impl fmt::Display for Separation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
