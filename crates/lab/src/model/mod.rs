//! What can be swept: a model has axes and measures, and makes samples.

use std::fmt;
use std::ops::Range;

use headway_core::{Configuration, Ring};
use strum::{Display, EnumMessage, EnumString, VariantArray};

use crate::cell::Cell;

mod asynchrony;
mod definitional;
mod duty;
mod ring;
mod sensor;

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
pub trait Sampler: Send {
    /// The samples of some numbers: appends to one column per wanted measure. What
    /// a sample is depends on the cell's seed and its number only, not on which
    /// others are asked for.
    ///
    /// # Errors
    ///
    /// The number of a sample that cannot be made, and a sentence.
    fn samples(
        &mut self,
        cell_seed: u64,
        numbers: Range<u64>,
        columns: &mut [Vec<Option<i64>>],
    ) -> Result<(), (u64, String)>;

    /// The ring and the initial state of a sample, for models that have one.
    fn state(&mut self, cell_seed: u64, number: u64) -> Option<(Ring, Configuration)>;
}

/// Makes samples of one cell one by one: sample k of a cell with seed s has seed
/// s + k.
pub trait BySeed: Send {
    /// One sample: the same for the same seed, whoever asks. Fills one place per
    /// wanted measure.
    ///
    /// # Errors
    ///
    /// A sentence, when the sample cannot be made.
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Result<(), String>;

    /// As [`Sampler::state`].
    fn state(&self, _seed: u64) -> Option<(Ring, Configuration)> {
        None
    }
}

impl<T: BySeed> Sampler for T {
    fn samples(
        &mut self,
        cell_seed: u64,
        numbers: Range<u64>,
        columns: &mut [Vec<Option<i64>>],
    ) -> Result<(), (u64, String)> {
        let mut measured = vec![None; columns.len()];
        for number in numbers {
            self.sample(cell_seed.wrapping_add(number), &mut measured)
                .map_err(|message| (number, message))?;
            for (column, &value) in columns.iter_mut().zip(&measured) {
                column.push(value);
            }
        }
        Ok(())
    }

    fn state(&mut self, cell_seed: u64, number: u64) -> Option<(Ring, Configuration)> {
        BySeed::state(self, cell_seed.wrapping_add(number))
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
