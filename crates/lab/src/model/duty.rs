//! Sensors that are on while they hold a token (paper, section 1), against a
//! random and a fixed schedule of the same duty.

use headway_core::{Program, Ring, Separation};
use headway_sim::engine::{Dense, Engine as _};
use headway_sim::seed::{Purpose, Random};
use headway_sim::start;
use strum::{EnumString, VariantNames};

use super::{CellError, Engine, Model, NewSampler, Sampled, Sampler, axes, measures, share};
use crate::cell::Cell;

/// How many turns of the ring are watched, after those in which a random start
/// settles.
const TURNS: usize = 20;
const SETTLING_TURNS: usize = 2;

measures! {
    enum Measured {
        Energy share "energy" "share of rounds that a sensor is on, on average"
        EnergyMost share "energy_most" "the same for the sensor that is on most"
        Lifetime count "lifetime" "rounds until the first battery is empty"
        Uncovered share "uncovered" "share of the field that nobody sees, on average"
        LongestGap count "longest_gap" "longest time that a point stays unseen, in rounds"
    }
}

/// A field watched by sensors, a few of which are on at a time.
pub(super) const MODEL: Model = Model {
    name: "duty-cycle",
    axes: axes! {
        "processes", "n", "64", Number(2, 1 << 14),
            "sensors; a grid field is as square as their number allows";
        "tokens", "m", "4", Number(1, 1 << 14), "sensors that are on at a time";
        "separation", "d", "n/m", Number(1, 1 << 14), "hops to keep between tokens";
        "radius", "radius", "4", Number(0, 1 << 14),
            "how far a sensor sees, in steps of the field";
        "battery_rounds", "battery_rounds", "1000", Number(1, 1 << 40),
            "rounds that a sensor can be on";
        "field", "field", "line", Word(Field::VARIANTS), "sensors in a line, or in rows";
        "schedule", "schedule", "tokens", Word(Schedule::VARIANTS),
            "on while holding a token; any m in every round; always the same m";
    },
    measures: Measured::TABLE,
    sampler,
};

fn sampler(cell: &Cell, wanted: &[usize], _: Engine) -> NewSampler {
    let (n, m) = (cell.number("processes"), cell.number("tokens"));
    if m > n {
        return Err(CellError::new(
            "tokens",
            "there are more tokens than sensors",
        ));
    }
    let separation = Separation::new(cell.number("separation") as u32)
        .ok_or_else(|| CellError::new("separation", "expected 1 or more"))?;
    let places = match cell.parsed("field")? {
        Field::Line => line(n as usize),
        Field::Grid => grid(n as usize),
    };
    Ok(Box::new(DutySampler {
        tokens: m as u32,
        separation,
        battery_rounds: cell.number("battery_rounds") as u64,
        schedule: cell.parsed("schedule")?,
        seen_by: seen_by(&places, cell.number("radius")),
        wanted: Measured::at(wanted),
    }))
}

struct DutySampler {
    tokens: u32,
    separation: Separation,
    battery_rounds: u64,
    schedule: Schedule,
    /// For every sensor, the points it sees; there is a point at every sensor.
    seen_by: Vec<Vec<usize>>,
    wanted: Vec<Measured>,
}

/// How the sensors stand.
#[derive(EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum Field {
    Line,
    Grid,
}

/// Who is on.
#[derive(Clone, Copy, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
enum Schedule {
    Tokens,
    Random,
    Fixed,
}

/// Out along the even places and back along the odd ones, so that neighbours on
/// the ring are neighbours in the line, or next to.
fn line(n: usize) -> Vec<(i64, i64)> {
    let out = (0..n).step_by(2);
    let back = (0..n).skip(1).step_by(2).rev();
    out.chain(back).map(|x| (x as i64, 0)).collect()
}

/// Row by row, every other row backwards.
fn grid(n: usize) -> Vec<(i64, i64)> {
    let width = (1..).find(|width| width * width >= n).unwrap_or(1);
    (0..n)
        .map(|index| {
            let (row, column) = (index / width, index % width);
            let x = if row % 2 == 0 {
                column
            } else {
                width - 1 - column
            };
            (x as i64, row as i64)
        })
        .collect()
}

fn seen_by(places: &[(i64, i64)], radius: i64) -> Vec<Vec<usize>> {
    let sees = |from: (i64, i64), to: (i64, i64)| {
        (from.0 - to.0).pow(2) + (from.1 - to.1).pow(2) <= radius.pow(2)
    };
    places
        .iter()
        .map(|&from| {
            (0..places.len())
                .filter(|&to| sees(from, places[to]))
                .collect()
        })
        .collect()
}

impl Sampler for DutySampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Sampled {
        let n = self.seen_by.len();
        let m = self.tokens as usize;
        let mut random = Random::new(seed, Purpose::Other(0));
        let ring = Ring::new(self.separation, vec![Program::Delay; n])?;
        let start = start::random(&ring, self.tokens, seed);
        let mut engine = Dense::new(ring, start);
        (0..SETTLING_TURNS * n).for_each(|_| engine.round());
        let mut watched = Watched::new(n);
        for round in 0..TURNS * n {
            let on: Vec<usize> = match self.schedule {
                Schedule::Tokens => {
                    engine.round();
                    let places = engine.tokens().places().iter();
                    let mut on: Vec<usize> = places.map(|place| place.process()).collect();
                    on.sort_unstable();
                    on.dedup();
                    on
                }
                Schedule::Random => random.distinct(m, n),
                Schedule::Fixed => (0..m).map(|token| token * n / m).collect(),
            };
            watched.round(round as u64 + 1, &on, &self.seen_by);
        }
        let rounds = (TURNS * n) as u64;
        let most = watched.on.iter().copied().max().unwrap_or(0);
        let gap = watched.longest_gap(rounds);
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                Measured::Energy => share(watched.on.iter().sum(), rounds * n as u64),
                Measured::EnergyMost => share(most, rounds),
                Measured::Lifetime => (self.battery_rounds * rounds)
                    .checked_div(most)
                    .map(|r| r as i64),
                Measured::Uncovered => share(watched.unseen, rounds * n as u64),
                Measured::LongestGap => Some(gap as i64),
            };
        }
        Ok(())
    }
}

struct Watched {
    /// Rounds that each sensor was on.
    on: Vec<u64>,
    /// When each point was seen last.
    seen: Vec<u64>,
    longest: u64,
    unseen: u64,
}

impl Watched {
    fn new(n: usize) -> Watched {
        Watched {
            on: vec![0; n],
            seen: vec![0; n],
            longest: 0,
            unseen: 0,
        }
    }

    fn round(&mut self, round: u64, on: &[usize], seen_by: &[Vec<usize>]) {
        let mut seen = 0;
        for &sensor in on {
            self.on[sensor] += 1;
            for &point in &seen_by[sensor] {
                if self.seen[point] != round {
                    self.longest = self.longest.max(round - self.seen[point] - 1);
                    self.seen[point] = round;
                    seen += 1;
                }
            }
        }
        self.unseen += self.seen.len() as u64 - seen;
    }

    fn longest_gap(&self, rounds: u64) -> u64 {
        let open = self.seen.iter().map(|seen| rounds - seen).max();
        self.longest.max(open.unwrap_or(0))
    }
}
