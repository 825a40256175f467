//! The variables of programs that measure: one row each, from which state files are
//! written, read and refused, and random states drawn.

use core::num::NonZeroU32;
use core::ops::RangeInclusive;

use super::{Measuring, Program};

/// What a variable holds, as a number, if it holds anything: 0 or 1 for a truth.
trait Held: Copy {
    fn number(self) -> Option<i64>;
    /// Of a number in the variable's domain.
    fn of(number: i64) -> Self;
}

macro_rules! held {
    ($($kind:ty: $held:ident => $number:expr, $given:ident => $of:expr;)*) => {
        $(impl Held for $kind {
            fn number(self) -> Option<i64> {
                let $held = self;
                $number
            }

            fn of($given: i64) -> Self {
                $of
            }
        })*
    };
}

held! {
    u32: held => Some(held.into()), number => number as u32;
    i32: held => Some(held.into()), number => number as i32;
    u64: held => Some(held.min(i64::MAX as u64) as i64), number => number as u64;
    bool: held => Some(held.into()), number => number != 0;
    Option<NonZeroU32>: held => Some(held?.get().into()), number => NonZeroU32::new(number as u32);
}

/// Name in state files, place in [`Measuring`], and domain given the other variables and
/// the program.
macro_rules! variables {
    (|$of:ident, $program:ident| $($variable:ident $name:literal $($place:ident).+ in $domain:expr;)*) => {
        /// A variable or parameter of a measuring process: see [`Measuring`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "documented as fields of Measuring")]
        pub enum Variable {
            $($variable,)*
        }

        impl Variable {
            /// All of them.
            pub const ALL: &[Variable] = &[$(Variable::$variable),*];

            /// The name in the state file.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Variable::$variable => $name,)*
                }
            }

            /// Its value; `None` of a parameter that is left to the program.
            pub fn get(self, $of: &Measuring) -> Option<i64> {
                match self {
                    $(Variable::$variable => $of.$($place).+.number(),)*
                }
            }

            /// Gives it a value of its domain.
            pub fn set(self, $of: &mut Measuring, value: i64) {
                match self {
                    $(Variable::$variable => $of.$($place).+ = Held::of(value),)*
                }
            }

            /// The values that it may have in a program, given the parameters.
            pub fn domain(self, $program: Program, $of: &Measuring) -> RangeInclusive<i64> {
                match self {
                    $(Variable::$variable => $domain,)*
                }
            }
        }
    };
}

const MAX: i64 = i32::MAX as i64;

variables! {
    |of, program|
    Tokens "tokens" tokens in 1..=u32::MAX.into();
    Timing "timing" timing in 0..=1;
    Elapsed "elapsed" elapsed in 0..=of.limit.into();
    Ignore "ignore" ignore in program.least_ignored()..=(i64::from(of.tokens) - 1).min(MAX);
    Base "base" base in program.least_base().into()..=of.largest_base().into();
    Limit "limit" limit in 1..=MAX;
    Previous "previous" gaps.previous in 0..=of.limit.into();
    Arrived "arrived" gaps.arrived in 0..=of.limit.into();
    Shortest "shortest" gaps.shortest in 0..=of.limit.into();
    Best "best" laps.best in 1..=of.limit.into();
    Last "last" laps.last in 1..=of.limit.into();
    Seen "seen" laps.seen in 0..=i64::MAX;
    Horizon "horizon" laps.horizon in 1..=MAX;
    Mark "mark" mark in 0..=u32::MAX.into();
}

impl Variable {
    /// Whether it is a parameter, which no round and no fault changes.
    pub const fn is_parameter(self) -> bool {
        matches!(self, Variable::Tokens | Variable::Limit | Variable::Horizon)
    }
}

impl Program {
    /// The variables that the program has beside those of every process, in the order of
    /// the state file.
    pub const fn variables(self) -> &'static [Variable] {
        use Variable::*;
        match self {
            Program::Delay | Program::Relay => &[],
            Program::Measure | Program::MeasureAsPrinted => {
                &[Tokens, Timing, Elapsed, Ignore, Base, Limit]
            }
            Program::ShortestLap => &[
                Tokens, Timing, Elapsed, Ignore, Base, Limit, Previous, Arrived, Shortest,
            ],
            Program::ShortestLapEpochs => &[
                Tokens, Timing, Elapsed, Ignore, Base, Limit, Best, Last, Seen, Horizon,
            ],
            Program::HopCount => &[Tokens, Timing, Elapsed, Ignore, Base, Limit, Mark],
        }
    }

    /// The printed program reaches -1 by itself; no other program can.
    pub(crate) const fn least_base(self) -> i32 {
        -(matches!(self, Program::MeasureAsPrinted) as i32)
    }

    const fn least_ignored(self) -> i64 {
        match self {
            Program::MeasureAsPrinted => i32::MIN as i64,
            _ => 0,
        }
    }
}
