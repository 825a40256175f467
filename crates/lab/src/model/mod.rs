//! What can be swept: a model has axes and measures, and makes samples.

use std::fmt;

use crate::cell::Cell;

pub mod asynchrony;
pub mod definitional;
pub mod duty;
pub mod ring;
pub mod sensor;

/// A model: a family of experiments, one for every choice of values on its axes.
pub trait Model: Sync {
    /// The name in a sweep file.
    fn name(&self) -> &'static str;

    /// The axes, in the order in which formulas can refer to earlier ones.
    fn axes(&self) -> &'static [Axis];

    /// What can be measured.
    fn measures(&self) -> &'static [Measure];

    /// What makes samples for a cell. `wanted` are indices into the measures.
    ///
    /// # Errors
    ///
    /// When the cell makes no sense: which axis, and why.
    fn sampler(
        &self,
        cell: &Cell,
        wanted: &[usize],
        engine: Engine,
    ) -> Result<Box<dyn Sampler>, Problem>;
}

/// Makes samples of one cell.
pub trait Sampler: Send + Sync {
    /// One sample: the same for the same seed, whoever asks. Fills one place per
    /// wanted measure.
    ///
    /// # Errors
    ///
    /// A sentence, when the sample cannot be made.
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Result<(), String>;
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
pub const MILLIONTHS: i64 = 1_000_000;

impl Measure {
    /// A measure in whole units.
    pub(crate) const fn count(name: &'static str, about: &'static str) -> Measure {
        Measure {
            name,
            scale: 1,
            about,
        }
    }

    /// A measure counted in millionths.
    pub(crate) const fn share(name: &'static str, about: &'static str) -> Measure {
        Measure {
            name,
            scale: MILLIONTHS,
            about,
        }
    }
}

/// `part`/`whole` in millionths, rounded down.
pub(crate) fn share(part: u64, whole: u64) -> Option<i64> {
    let millionths = u128::from(part) * MILLIONTHS as u128;
    i64::try_from(millionths.checked_div(u128::from(whole))?).ok()
}

/// How ring samples are made; the samples are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The forecast where it applies, else lock-step.
    #[default]
    Auto,
    /// Every process, every round.
    LockStep,
}

/// A cell that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The axis to change.
    pub axis: &'static str,
    /// Why.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(axis: &'static str, message: impl fmt::Display) -> Problem {
        Problem {
            axis,
            message: message.to_string(),
        }
    }
}

/// All models.
pub const MODELS: [&dyn Model; 5] = [
    &ring::RingModel,
    &asynchrony::AsynchronyModel,
    &definitional::DefinitionalModel,
    &sensor::SensorModel,
    &duty::DutyModel,
];

/// The model of a name.
pub fn named(name: &str) -> Option<&'static dyn Model> {
    MODELS.into_iter().find(|model| model.name() == name)
}
