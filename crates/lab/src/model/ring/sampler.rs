//! One ring at a time, by forecast or by lock-step.

use std::num::NonZeroU32;
use std::ops::ControlFlow;

use headway_core::bound;
use headway_core::{Configuration, Ring, Separation};
use headway_sim::beliefs::Beliefs;
use headway_sim::engine::{Dense, Engine as _};
use headway_sim::fault::{Fault, FaultKind};
use headway_sim::forecast::Forecast;
use headway_sim::placement::Delays;
use headway_sim::run::EngineChoice;
use headway_sim::seed::{Purpose, Random};
use headway_sim::settings::{RingProgram, Start};
use headway_sim::start::Clocks;
use headway_sim::{Run, run};

use super::Measured;
use crate::cell::Cell;
use crate::model::{CellError, Engine, Sampled, Sampler, share, share_of};

pub(super) struct RingSampler {
    processes: usize,
    tokens: u32,
    separation: Separation,
    delays: Delays,
    program: RingProgram,
    start: Start,
    clocks: Clocks,
    /// The round after which beliefs are looked at.
    look: u64,
    faults: Vec<Fault>,
    wanted: Vec<Measured>,
    by_forecast: bool,
    /// The ring, when it is the same for every seed.
    fixed_ring: Option<Ring>,
}

/// What one run shows, by whichever way.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    legitimate_at: Option<u64>,
    last_rest: Option<u64>,
    recovery: Option<u64>,
    waits: Option<u64>,
    closest_before: Option<u64>,
    closest_after: Option<u64>,
    visits: Option<(u64, u64)>,
    all_believe_at: Option<u64>,
    believed: Option<(u32, u32)>,
}

impl RingSampler {
    pub(super) fn new(
        cell: &Cell,
        wanted: Vec<Measured>,
        engine: Engine,
    ) -> Result<RingSampler, CellError> {
        let processes = cell.number("processes") as usize;
        // The axis allows no more than 2^31.
        let separation = Separation::new(cell.number("separation") as u32)
            .ok_or_else(|| CellError::new("separation", "expected 1 or more"))?;
        let program: RingProgram = cell.parsed("program")?;
        let start: Start = cell.parsed("start")?;
        let delays = match cell.parsed("delays")? {
            Delays::All => program.default_delays(),
            other => other,
        };
        let faults = parse_faults(&cell.text("fault"))?;
        let clocks = Clocks {
            limit: cell.number("limit") as u32,
            horizon: parse_horizon(&cell.text("horizon"), program)?,
        };
        let mut sampler = RingSampler {
            processes,
            tokens: cell.number("tokens") as u32,
            separation,
            delays,
            program,
            start,
            clocks,
            look: cell.number("look") as u64,
            wanted,
            by_forecast: false,
            fixed_ring: None,
            faults,
        };
        let ring = sampler
            .ring(0)
            .map_err(|error| CellError::new("delays", error))?;
        for fault in &sampler.faults {
            fault
                .fits(&ring)
                .map_err(|error| CellError::new("fault", error))?;
            if !matches!(fault.kind, FaultKind::Scramble(_) | FaultKind::Pile(_)) {
                let why = "only scramble and pile can strike any state; this one depends on it";
                return Err(CellError::new("fault", why));
            }
        }
        if start == Start::Worst {
            let worst = start.state(&ring, sampler.tokens, 0);
            worst.map_err(|error| CellError::new("start", error))?;
        }
        if !matches!(sampler.delays, Delays::Count(_)) {
            sampler.fixed_ring = Some(ring);
        }
        sampler.by_forecast = engine == Engine::Auto && sampler.forecast_suffices();
        Ok(sampler)
    }

    /// The forecast knows delays and relays, and faults to the initial state only. It
    /// does not see the state before such a fault, so nothing wanted may depend on it.
    fn forecast_suffices(&self) -> bool {
        let struck = [
            Measured::LegitimateAt,
            Measured::LastRest,
            Measured::Recovery,
            Measured::Worst,
            Measured::WidestGap,
        ];
        !self.program.measures()
            && self.faults.iter().all(|fault| fault.after_round == 0)
            && (self.faults.is_empty() || self.wanted.iter().all(|w| struck.contains(w)))
    }

    fn ring(&self, seed: u64) -> Sampled<Ring> {
        if let Some(ring) = &self.fixed_ring {
            return Ok(ring.clone());
        }
        let (n, delays) = (self.processes, &self.delays);
        Ok(self.program.ring(self.separation, n, delays, seed)?)
    }

    fn start(&self, ring: &Ring, seed: u64) -> Sampled<Configuration> {
        let (tokens, clocks) = (self.tokens, &self.clocks);
        Ok(self.start.state_with(ring, tokens, clocks, seed)?)
    }

    fn wants(&self, any_of: &[Measured]) -> bool {
        self.wanted.iter().any(|wanted| any_of.contains(wanted))
    }

    fn forecast(&self, ring: &Ring, start: Configuration, seed: u64) -> Sampled<Seen> {
        let mut seen = Seen::default();
        let mut state = start;
        for (index, fault) in self.faults.iter().enumerate() {
            // The state before a fault is seen too.
            if ring.legitimate(&state, u64::from(self.tokens)).is_ok() {
                seen.legitimate_at = Some(0);
            }
            seen.last_rest = seen.last_rest.max((state.resting() > 0).then_some(0));
            let mut random = Random::new(seed, Purpose::Fault(index as u32));
            fault.strike(ring, &mut state, &mut random)?;
        }
        let forecast = Forecast::of(ring, &state)?;
        let legitimate_at = forecast.legitimate_at();
        seen.legitimate_at = seen.legitimate_at.or(legitimate_at);
        seen.last_rest = seen.last_rest.max(forecast.last_rest());
        seen.recovery = legitimate_at;
        let Some(legitimate_at) = legitimate_at else {
            seen.last_rest = None;
            return Ok(seen);
        };
        if self.wants(&[
            Measured::Waits,
            Measured::ClosestBefore,
            Measured::ClosestAfter,
        ]) {
            let timeline = forecast.timeline();
            let waits = timeline.waits(u64::MAX >> 1);
            seen.waits = Some(waits.map(|wait| wait.to - wait.from + 1).sum());
            seen.closest_before = legitimate_at
                .checked_sub(1)
                .and_then(|last| timeline.min_distance(0..=last));
            let turn = legitimate_at..=legitimate_at + self.processes as u64;
            seen.closest_after = timeline.min_distance(turn);
        }
        if self.wants(&[Measured::VisitsFewest, Measured::VisitsMost]) {
            seen.visits = forecast.visits(self.processes as u64);
        }
        Ok(seen)
    }

    fn lock_step(&self, ring: &Ring, start: Configuration, seed: u64) -> Sampled<Seen> {
        let run = Run {
            faults: self.faults.clone(),
            seed,
            // `measure` asks for the predicate, and so the whole state, in every
            // round after legitimacy; dense it is at hand.
            engine: EngineChoice::Dense,
            ..Run::new(ring.clone(), start)
        };
        let (mut waits, mut latest) = (0, 0);
        let believing = [Measured::AllBelieve, Measured::Least, Measured::Most];
        let believing = ring.measures() && self.wants(&believing);
        let mut beliefs = believing.then(|| Beliefs::new(ring));
        let mut believed = None;
        let outcome = self::run(&run, |frame| {
            if frame.fault.is_none() {
                waits += latest;
            }
            let resting = frame.tokens.places().iter().filter(|place| place.resting);
            latest = resting.count() as u64;
            if let Some(beliefs) = &mut beliefs {
                beliefs.observe(frame.round, &frame.configuration());
                // What is believed when a run ends is believed from then on.
                if frame.round <= self.look {
                    believed = beliefs.range();
                }
            }
            ControlFlow::Continue(())
        })?;
        let settled = outcome.legitimate;
        Ok(Seen {
            legitimate_at: outcome.legitimate_at,
            last_rest: outcome.last_rest.filter(|_| settled),
            recovery: outcome.recoveries.last().and_then(|last| last.rounds()),
            waits: settled.then_some(waits + latest),
            closest_before: outcome.min_distance_before.filter(|_| settled),
            closest_after: outcome.min_distance_after,
            visits: outcome.visits,
            all_believe_at: beliefs.and_then(|beliefs| beliefs.all_since()),
            believed,
        })
    }

    /// Moves per process and round once the flow is steady.
    fn flow(&self, ring: &Ring, start: Configuration) -> Sampled<Option<(u64, u64)>> {
        let n = self.processes as u64;
        if self.by_forecast {
            let forecast = Forecast::of(ring, &start)?;
            let cycle = forecast.cycle_time();
            return Ok(cycle.map(|(rounds, releases)| (releases, rounds)));
        }
        let d = u64::from(self.separation.hops());
        let moved = |engine: &Dense| -> u64 {
            let places = engine.tokens().places().iter();
            places.map(|place| place.lifted).sum()
        };
        let mut engine = Dense::new(ring.clone(), start);
        let settle = 4 * n + 2 * u64::from(self.tokens) * d;
        (0..settle).for_each(|_| engine.round());
        let before = moved(&engine);
        // Whole turns and whole periods of a jam.
        (0..n * d).for_each(|_| engine.round());
        Ok(Some((moved(&engine) - before, n * n * d)))
    }
}

impl Sampler for RingSampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Sampled {
        let owned;
        let ring = match &self.fixed_ring {
            Some(ring) => ring,
            None => {
                owned = self.ring(seed)?;
                &owned
            }
        };
        let start = self.start(ring, seed)?;
        self.measure(ring, start, seed, out)
    }

    fn state(&self, seed: u64) -> Option<(Ring, Configuration)> {
        let ring = self.ring(seed).ok()?;
        let start = self.start(&ring, seed).ok()?;
        Some((ring, start))
    }
}

impl RingSampler {
    /// The proved worst case of `last_rest` with this largest gap between delays.
    fn worst(&self, gap: u64) -> Option<u64> {
        let (n, m) = (self.processes as u64, u64::from(self.tokens));
        let applies = self.separation.fits(n, m) && !self.program.measures();
        applies
            .then(|| bound::worst_last_rest(m, self.separation.hops(), gap))
            .flatten()
    }

    /// Runs a ring from a start and fills in the wanted measures.
    fn measure(
        &self,
        ring: &Ring,
        start: Configuration,
        seed: u64,
        out: &mut [Option<i64>],
    ) -> Sampled {
        let flow = if self.wants(&[Measured::Flow, Measured::Speed]) {
            self.flow(ring, start.clone())?
        } else {
            None
        };
        let only_flow = self
            .wanted
            .iter()
            .all(|w| [Measured::Flow, Measured::Density, Measured::Speed].contains(w));
        let seen = if only_flow {
            Seen::default()
        } else if self.by_forecast {
            self.forecast(ring, start, seed)?
        } else {
            self.lock_step(ring, start, seed)?
        };
        let (n, m) = (self.processes as u64, u64::from(self.tokens));
        let (gap, worst) = if self.wants(&[
            Measured::Worst,
            Measured::OfWorst,
            Measured::AtWorst,
            Measured::WidestGap,
        ]) {
            let gap = ring.widest_gap();
            (gap, gap.and_then(|gap| self.worst(gap)))
        } else {
            (None, None)
        };
        let count = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                Measured::LegitimateAt => count(seen.legitimate_at),
                Measured::LastRest => count(seen.last_rest),
                Measured::Recovery => count(seen.recovery),
                Measured::Waits => count(seen.waits),
                Measured::ClosestBefore => count(seen.closest_before),
                Measured::ClosestAfter => count(seen.closest_after),
                Measured::VisitsFewest => count(seen.visits.map(|visits| visits.0)),
                Measured::VisitsMost => count(seen.visits.map(|visits| visits.1)),
                Measured::Worst => count(worst),
                // A ring in which nothing ever rests has used none of its time.
                Measured::OfWorst => seen
                    .legitimate_at
                    .zip(worst)
                    .and_then(|(_, worst)| share(seen.last_rest.unwrap_or(0), worst)),
                Measured::AtWorst => seen
                    .legitimate_at
                    .and_then(|_| share(u64::from(seen.last_rest == worst), 1)),
                Measured::Flow => flow.and_then(|(moves, rounds)| share(moves, rounds)),
                Measured::Density => share(m, n),
                Measured::Speed => flow.and_then(|(moves, rounds)| {
                    let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
                    share_of((product(moves, n), product(rounds, m)))
                }),
                Measured::WidestGap => count(gap),
                Measured::Settled => share(u64::from(seen.recovery.is_some()), 1),
                Measured::PerSquare => seen.legitimate_at.and_then(|rounds| share(rounds, n * n)),
                Measured::AllBelieve => count(seen.all_believe_at),
                Measured::Least => count(seen.believed.map(|(least, _)| least.into())),
                Measured::Most => count(seen.believed.map(|(_, most)| most.into())),
                Measured::Turns => seen.legitimate_at.and_then(|rounds| share(rounds, n)),
            };
        }
        Ok(())
    }
}

fn parse_horizon(text: &str, program: RingProgram) -> Result<Option<NonZeroU32>, CellError> {
    match text {
        "proved" => Ok(None),
        _ if program != RingProgram::ShortestLapEpochs => {
            let why = format!("only {} has one", RingProgram::ShortestLapEpochs);
            Err(CellError::new("horizon", why))
        }
        number => number.parse().map(Some).map_err(|_| {
            CellError::new("horizon", "expected `proved` or a whole number, 1 or more")
        }),
    }
}

fn parse_faults(text: &str) -> Result<Vec<Fault>, CellError> {
    if text == "none" {
        return Ok(Vec::new());
    }
    text.split(" + ")
        .map(|fault| {
            fault
                .trim()
                .parse()
                .map_err(|error| CellError::new("fault", error))
        })
        .collect()
}
