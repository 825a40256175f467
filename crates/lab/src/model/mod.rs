//! What can be swept: a model has axes and measures, and makes samples.

use std::error::Error;
use std::fmt;

use headway_core::{Configuration, Ring};
use strum::{Display, EnumMessage, EnumString, VariantArray};

use crate::cell::Cell;

mod asynchrony;
mod definitional;
mod duty;
mod moving_block;
mod ring;
mod sensor;

/// A model: a family of experiments, one for every choice of values on its axes.
#[derive(Debug)]
pub struct Model {
    /// The name in a sweep file.
    pub name: &'static str,
    /// The axes, in the order in which formulas can refer to earlier ones.
    pub axes: &'static [Axis],
    /// What can be measured.
    pub measures: &'static [Measure],
    /// What makes samples for a cell, of the measures at the places wanted; or why the cell
    /// makes no sense.
    pub(crate) sampler: fn(&Cell, &[usize], Engine) -> NewSampler,
}

/// A sampler, or which axis is wrong.
pub(crate) type NewSampler = Result<Box<dyn Sampler>, CellError>;

/// What came out, or why a sample cannot be made.
pub(crate) type Sampled<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Makes samples of one cell: sample k of a cell with seed s has seed s + k.
pub(crate) trait Sampler: Send {
    /// Makes the sample of a seed, always the same, and fills in the wanted measures,
    /// one place each.
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Sampled;

    /// The ring and the initial state of a sample, for models that have one.
    fn state(&self, _seed: u64) -> Option<(Ring, Configuration)> {
        None
    }
}

/// An axis of a model.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The key in a grid.
    pub name: &'static str,
    /// A short name in formulas.
    pub symbol: &'static str,
    /// Its value where a grid has none, as in a sweep file.
    pub default: &'static str,
    /// What it may hold.
    pub kind: AxisKind,
    /// What it means.
    pub about: &'static str,
}

/// A table of axes: name, symbol, default, [`AxisKind`], meaning.
macro_rules! axes {
    ($($name:literal, $symbol:literal, $default:literal, $kind:expr, $about:literal;)*) => {{
        use $crate::model::AxisKind::*;
        &[$($crate::model::Axis {
            name: $name,
            symbol: $symbol,
            default: $default,
            kind: $kind,
            about: $about,
        }),*]
    }};
}
use axes;

/// What an axis may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisKind {
    /// Whole numbers between these, both included.
    Number(i64, i64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number or a word; the model says which words.
    Mixed,
}

/// Something that can be measured.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The name in sweep files and columns.
    pub name: &'static str,
    /// Samples are counted in units of 1/scale, so that they are whole numbers.
    pub scale: i64,
    /// What it means, with its unit.
    pub about: &'static str,
}

/// Millionths, for shares.
pub(crate) const MILLIONTHS: i64 = 1_000_000;

/// The measures of a model: an enum for the model's own use, and the table that
/// describes them, in the same order. A `count` is in whole units, a `share` in
/// millionths.
macro_rules! measures {
    ($(#[$doc:meta])* enum $measures:ident { $($variant:ident $unit:ident $name:literal $about:literal)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum $measures { $($variant),* }

        impl $measures {
            const TABLE: &'static [$crate::model::Measure] = &[$($crate::model::Measure::$unit($name, $about)),*];

            /// Those at these places of the table.
            fn at(places: &[usize]) -> Vec<$measures> {
                let all = [$($measures::$variant),*];
                places.iter().map(|&place| all[place]).collect()
            }
        }
    };
}
use measures;

impl Measure {
    const fn count(name: &'static str, about: &'static str) -> Measure {
        let scale = 1;
        Measure { name, scale, about }
    }

    const fn share(name: &'static str, about: &'static str) -> Measure {
        let scale = MILLIONTHS;
        Measure { name, scale, about }
    }
}

/// `part`/`whole` in millionths, to the nearest; `None` where there is no whole.
pub(crate) fn share(part: u64, whole: u64) -> Option<i64> {
    share_of((part.into(), whole.into()))
}

/// As [`share`], of products of two.
pub(crate) fn share_of((part, whole): (u128, u128)) -> Option<i64> {
    // By halves rather than by doubling, which could overflow.
    let millionths = part.checked_mul(MILLIONTHS as u128)?;
    let (down, rest) = (
        millionths.checked_div(whole)?,
        millionths.checked_rem(whole)?,
    );
    i64::try_from(down + u128::from(rest >= whole - rest)).ok()
}

#[cfg(test)]
#[test]
fn shares_are_to_the_nearest_millionth() {
    assert_eq!(share(1, 3), Some(333_333));
    assert_eq!(share(2, 3), Some(666_667));
    assert_eq!(share(24, 24), Some(MILLIONTHS));
    assert_eq!(share(1, 2_000_000), Some(1));
    assert_eq!(share(u64::MAX, u64::MAX), Some(MILLIONTHS));
    assert_eq!((share(1, 0), share(u64::MAX, 1)), (None, None));
    let most = u128::from(u64::MAX).pow(2);
    assert_eq!(share_of((most, most)), None, "too large is not told");
}

/// How ring samples are made; the samples are the same.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumMessage, EnumString, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Engine {
    /// The forecast where it applies, else lock-step.
    #[default]
    Auto,
    /// Every process, every round.
    LockStep,
}

/// A cell that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CellError {
    /// The axis to change.
    pub(crate) axis: &'static str,
    /// Why.
    pub(crate) message: String,
}

impl CellError {
    pub(crate) fn new(axis: &'static str, message: impl fmt::Display) -> CellError {
        CellError {
            axis,
            message: message.to_string(),
        }
    }
}

/// All models.
pub const MODELS: [&Model; 6] = [
    &ring::MODEL,
    &asynchrony::MODEL,
    &moving_block::MODEL,
    &definitional::MODEL,
    &sensor::MODEL,
    &duty::MODEL,
];

/// The model of a name.
pub fn named(name: &str) -> Option<&'static Model> {
    MODELS.into_iter().find(|model| model.name == name)
}
