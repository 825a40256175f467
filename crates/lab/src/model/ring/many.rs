//! Samples of random rings, a [sheet](super::sheet) at a time.

use std::ops::Range;

use headway_core::{Configuration, Ring};

use super::one::RingSampler;
use super::settle::Settled;
use super::row::LANES;
use super::sheet::{Shape, Sheet};
use super::{AT_WORST, LAST_REST, LEGITIMATE_AT, OF_WORST, RECOVERY, TURNS, WIDEST_GAP, WORST};
use crate::model::{Sampler, share};

/// Sample k of a cell is lane k mod [`LANES`] of the sheet whose seed is that of the
/// cell plus k / [`LANES`].
pub(super) struct SheetSampler {
    one: RingSampler,
    shape: Shape,
    sheet: Sheet,
    /// Where the closed form answers what is wanted; else rings are looked at one
    /// by one.
    settled: Option<Settled>,
    /// [`RingSampler::worst`] by gap.
    worst: Vec<Option<u64>>,
}

impl SheetSampler {
    /// Takes over from `one` if its samples are such that sheets can be drawn; else
    /// gives it back. The measures and the engine have no part in this, because what
    /// a sample is must not depend on them.
    pub(super) fn new(one: RingSampler) -> Result<SheetSampler, Box<RingSampler>> {
        let most = Shape::MOST_PROCESSES;
        let (tokens, separation) = (one.tokens as usize, one.separation.hops() as usize);
        let small = one.processes <= most && tokens <= most && separation <= most;
        let Some(delays) = one.random_delays().filter(|&delays| small && delays > 0) else {
            return Err(Box::new(one));
        };
        let shape = Shape {
            processes: one.processes,
            tokens,
            separation: one.separation,
            delays,
        };
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
            && separation >= 2
            && tokens * separation <= one.processes
            && one.wanted.iter().all(|wanted| answered.contains(wanted));
        Ok(SheetSampler {
            shape,
            sheet: Sheet::new(shape),
            settled: closed_form.then(|| Settled::new(shape)),
            worst: (0..=one.processes as u64).map(|gap| one.worst(gap)).collect(),
            one,
        })
    }

    fn draw(&mut self, cell_seed: u64, sheet: u64) {
        let seed = cell_seed.wrapping_add(sheet);
        pulp::Arch::new().dispatch(Draw { seed, sheet: &mut self.sheet });
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
        settled: &Settled,
        lanes: Range<usize>,
        columns: &mut [Vec<Option<i64>>],
    ) {
        let legitimate_at = |lane: usize| Some(i64::from(settled.legitimate_at.0[lane]));
        let last_rest = |lane: usize| u64::try_from(settled.last_rest.0[lane]).ok();
        let gap = |lane: usize| settled.widest_gap.0[lane] as usize;
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
                AT_WORST => column.extend(
                    lanes.map(|lane| share(u64::from(last_rest(lane) == worst(lane)), 1)),
                ),
                TURNS => column.extend(
                    lanes.map(|lane| share(settled.legitimate_at.0[lane] as u64, n)),
                ),
                _ => column.extend(lanes.map(|_| None)),
            }
        }
    }
}

impl Sampler for SheetSampler {
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
                    pulp::Arch::new().dispatch(Settle { shape, sheet, settled: settled_ref });
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

struct Settle<'a> {
    shape: Shape,
    sheet: &'a Sheet,
    settled: &'a mut Settled,
}

impl pulp::WithSimd for Settle<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.settled.settle(self.shape, self.sheet);
    }
}

struct Draw<'a> {
    seed: u64,
    sheet: &'a mut Sheet,
}

impl pulp::WithSimd for Draw<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.sheet.draw(self.seed);
    }
}
