//! Samples of random rings, a [sheet](super::sheet) at a time.

use std::ops::Range;

use headway_core::{Configuration, Ring};

use super::one::RingSampler;
use super::row::{LANES, Lane};
use super::settle::Settled;
use super::sheet::{Shape, Sheet};
use super::{AT_WORST, LAST_REST, LEGITIMATE_AT, OF_WORST, RECOVERY, TURNS, WIDEST_GAP, WORST};
use crate::model::{Sampler, share};

/// Sample k of a cell is lane k mod [`LANES`] of the sheet whose seed is that of the
/// cell plus k / [`LANES`].
pub(super) struct SheetSampler<T> {
    one: RingSampler,
    shape: Shape,
    sheet: Sheet<T>,
    /// Where the closed form answers what is wanted; else rings are looked at one
    /// by one.
    settled: Option<Settled<T>>,
    /// [`RingSampler::worst`] by gap.
    worst: Vec<Option<u64>>,
}

/// Samples of `one`, in sheets if they can be drawn. The measures and the engine
/// have no part in this, because what a sample is must not depend on them.
pub(super) fn sampler(one: RingSampler) -> Box<dyn Sampler> {
    let Some(shape) = shape(&one) else {
        return Box::new(one);
    };
    if shape.largest() <= i8::LARGEST {
        Box::new(SheetSampler::<i8>::new(one, shape))
    } else {
        Box::new(SheetSampler::<i16>::new(one, shape))
    }
}

/// The shape of the sheets of a cell: rings that are not large, delays at random or
/// everywhere, a random start, nothing that happens afterwards.
fn shape(one: &RingSampler) -> Option<Shape> {
    let shape = Shape {
        processes: one.processes,
        tokens: one.tokens as usize,
        separation: one.separation,
        delays: one.random_delays().filter(|&delays| delays > 0)?,
    };
    let most = Shape::MOST;
    let small =
        one.processes <= most && shape.tokens <= most && one.separation.hops() <= most as u32;
    (small && shape.largest() <= i16::LARGEST).then_some(shape)
}

impl<T: Lane> SheetSampler<T> {
    fn new(one: RingSampler, shape: Shape) -> SheetSampler<T> {
        let answered = [
            LEGITIMATE_AT,
            LAST_REST,
            RECOVERY,
            WORST,
            OF_WORST,
            AT_WORST,
            WIDEST_GAP,
            TURNS,
        ];
        let closed_form = one.by_forecast
            && one.separation.hops() >= 2
            && one.separation.fits(one.processes as u64, one.tokens.into())
            && one.wanted.iter().all(|wanted| answered.contains(wanted));
        SheetSampler {
            shape,
            sheet: Sheet::new(shape),
            settled: closed_form.then(|| Settled::new(shape)),
            worst: (0..=one.processes as u64)
                .map(|gap| one.worst(gap))
                .collect(),
            one,
        }
    }

    fn draw(&mut self, cell_seed: u64, sheet: u64) {
        let seed = cell_seed.wrapping_add(sheet);
        pulp::Arch::new().dispatch(Draw {
            seed,
            sheet: &mut self.sheet,
        });
    }

    fn one_by_one(
        &self,
        lanes: Range<usize>,
        columns: &mut [Vec<Option<i64>>],
    ) -> Result<(), (usize, String)> {
        let mut measured = vec![None; columns.len()];
        for lane in lanes {
            let ring = self.sheet.ring(lane).map_err(|error| error.to_string());
            // No fault: nothing more is drawn from a seed.
            ring.and_then(|(ring, start)| self.one.measure(&ring, start, 0, &mut measured))
                .map_err(|message| (lane, message))?;
            for (column, &value) in columns.iter_mut().zip(&measured) {
                column.push(value);
            }
        }
        Ok(())
    }

    fn closed_form(
        &self,
        settled: &Settled<T>,
        lanes: Range<usize>,
        columns: &mut [Vec<Option<i64>>],
    ) {
        let legitimate_at = |lane: usize| Some(i64::from(settled.legitimate_at.0[lane].number()));
        let last_rest = |lane: usize| u64::try_from(settled.last_rest.0[lane].number()).ok();
        let gap = |lane: usize| settled.widest_gap.0[lane].number() as usize;
        let worst = |lane: usize| self.worst[gap(lane)];
        let count = |value: Option<u64>| value.map(|value| value as i64);
        let n = self.shape.processes as u64;
        for (column, &wanted) in columns.iter_mut().zip(&self.one.wanted) {
            let lanes = lanes.clone();
            match wanted {
                LEGITIMATE_AT | RECOVERY => column.extend(lanes.map(legitimate_at)),
                LAST_REST => column.extend(lanes.map(|lane| count(last_rest(lane)))),
                WORST => column.extend(lanes.map(|lane| count(worst(lane)))),
                WIDEST_GAP => column.extend(lanes.map(|lane| Some(gap(lane) as i64))),
                OF_WORST => column.extend(lanes.map(|lane| {
                    worst(lane).and_then(|worst| share(last_rest(lane).unwrap_or(0), worst))
                })),
                AT_WORST => column
                    .extend(lanes.map(|lane| share(u64::from(last_rest(lane) == worst(lane)), 1))),
                TURNS => column.extend(
                    lanes.map(|lane| share(settled.legitimate_at.0[lane].number() as u64, n)),
                ),
                _ => column.extend(lanes.map(|_| None)),
            }
        }
    }
}

impl<T: Lane> Sampler for SheetSampler<T> {
    fn samples(
        &mut self,
        cell_seed: u64,
        numbers: Range<u64>,
        columns: &mut [Vec<Option<i64>>],
    ) -> Result<(), (u64, String)> {
        let size = LANES as u64;
        let mut next = numbers.start;
        while next < numbers.end {
            let sheet = next / size;
            let first = sheet * size;
            let end = numbers.end.min(first + size);
            let lanes = (next - first) as usize..(end - first) as usize;
            self.draw(cell_seed, sheet);
            match self.settled.take() {
                Some(mut settled) => {
                    let (shape, sheet) = (self.shape, &self.sheet);
                    let settled_ref = &mut settled;
                    pulp::Arch::new().dispatch(Settle {
                        shape,
                        sheet,
                        settled: settled_ref,
                    });
                    self.closed_form(&settled, lanes, columns);
                    self.settled = Some(settled);
                }
                None => self
                    .one_by_one(lanes, columns)
                    .map_err(|(lane, message)| (first + lane as u64, message))?,
            }
            next = end;
        }
        Ok(())
    }

    fn state(&mut self, cell_seed: u64, number: u64) -> Option<(Ring, Configuration)> {
        self.draw(cell_seed, number / LANES as u64);
        self.sheet.ring((number % LANES as u64) as usize).ok()
    }
}

struct Settle<'a, T> {
    shape: Shape,
    sheet: &'a Sheet<T>,
    settled: &'a mut Settled<T>,
}

impl<T: Lane> pulp::WithSimd for Settle<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.settled.settle(self.shape, self.sheet);
    }
}

struct Draw<'a, T> {
    seed: u64,
    sheet: &'a mut Sheet<T>,
}

impl<T: Lane> pulp::WithSimd for Draw<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.sheet.draw(self.seed);
    }
}
