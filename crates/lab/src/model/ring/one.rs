//! One ring at a time, by forecast or by lock-step.

use std::ops::ControlFlow;

use headway_core::bound;
use headway_core::{Configuration, Ring, Separation};
use headway_sim::engine::{Dense, Engine as _};
use headway_sim::fault::{Fault, FaultKind};
use headway_sim::forecast::Forecast;
use headway_sim::placement::Delays;
use headway_sim::run::EngineChoice;
use headway_sim::seed::{Purpose, Random};
use headway_sim::settings::{DelayProgram, Start};
use headway_sim::{Run, run};

use super::{
    AT_WORST, CLOSEST_AFTER, CLOSEST_BEFORE, DENSITY, FLOW, LAST_REST, LEGITIMATE_AT, OF_WORST,
    RECOVERY, SPEED, TURNS, VISITS_FEWEST, VISITS_MOST, WAITS, WIDEST_GAP, WORST,
};
use crate::cell::Cell;
use crate::model::{BySeed, Engine, Problem, share};

pub(super) struct RingSampler {
    pub(super) processes: usize,
    pub(super) tokens: u32,
    pub(super) separation: Separation,
    delays: Delays,
    program: DelayProgram,
    start: Start,
    faults: Vec<Fault>,
    pub(super) wanted: Vec<usize>,
    pub(super) by_forecast: bool,
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
}

impl RingSampler {
    pub(super) fn new(
        cell: &Cell,
        wanted: &[usize],
        engine: Engine,
    ) -> Result<RingSampler, Problem> {
        let processes = cell.number("processes") as usize;
        // The axis allows no more than 2^31.
        let separation = Separation::new(cell.number("separation") as u32)
            .ok_or_else(|| Problem::new("separation", "expected 1 or more"))?;
        let program: DelayProgram = cell.parsed("program")?;
        let start: Start = cell.parsed("start")?;
        let delays = match cell.parsed("delays")? {
            Delays::All => program.default_delays(),
            other => other,
        };
        let faults = parse_faults(&cell.text("fault"))?;
        let mut sampler = RingSampler {
            processes,
            tokens: cell.number("tokens") as u32,
            separation,
            delays,
            program,
            start,
            wanted: wanted.to_vec(),
            by_forecast: false,
            fixed_ring: None,
            faults,
        };
        let ring = sampler
            .ring(0)
            .map_err(|error| Problem::new("delays", error))?;
        for fault in &sampler.faults {
            fault
                .fits(&ring)
                .map_err(|error| Problem::new("fault", error))?;
            if !matches!(fault.kind, FaultKind::Scramble(_) | FaultKind::Pile(_)) {
                let why = "only scramble and pile can strike any state; this one depends on it";
                return Err(Problem::new("fault", why));
            }
        }
        if start == Start::Worst {
            let worst = start.state(&ring, sampler.tokens, 0);
            worst.map_err(|error| Problem::new("start", error))?;
        }
        if !matches!(sampler.delays, Delays::Count(_)) {
            sampler.fixed_ring = Some(ring);
        }
        sampler.by_forecast = engine == Engine::Auto && sampler.forecast_suffices();
        Ok(sampler)
    }

    /// Delays and relays only, and no fault but to the initial state; what is
    /// asked about such a fault must not depend on the state before it.
    fn forecast_suffices(&self) -> bool {
        let struck = [LEGITIMATE_AT, LAST_REST, RECOVERY, WORST, WIDEST_GAP];
        !self.program.measures()
            && self.faults.iter().all(|fault| fault.after_round == 0)
            && (self.faults.is_empty() || self.wanted.iter().all(|w| struck.contains(w)))
    }

    fn ring(&self, seed: u64) -> Result<Ring, String> {
        if let Some(ring) = &self.fixed_ring {
            return Ok(ring.clone());
        }
        self.program
            .ring(self.separation, self.processes, &self.delays, seed)
            .map_err(|error| error.to_string())
    }

    fn start(&self, ring: &Ring, seed: u64) -> Result<Configuration, String> {
        let state = self.start.state(ring, self.tokens, seed);
        state.map_err(|error| error.to_string())
    }

    fn wants(&self, any_of: &[usize]) -> bool {
        self.wanted.iter().any(|wanted| any_of.contains(wanted))
    }

    fn forecast(&self, ring: &Ring, start: Configuration, seed: u64) -> Result<Seen, String> {
        let mut seen = Seen::default();
        let mut state = start;
        for (index, fault) in self.faults.iter().enumerate() {
            // The state before a fault is seen too.
            if ring.legitimate(&state, u64::from(self.tokens)).is_ok() {
                seen.legitimate_at = Some(0);
            }
            seen.last_rest = seen.last_rest.max((state.resting() > 0).then_some(0));
            let mut random = Random::new(seed, Purpose::Fault(index as u32));
            fault
                .strike(ring, &mut state, &mut random)
                .map_err(|error| error.to_string())?;
        }
        let forecast = Forecast::of(ring, &state).map_err(|error| error.to_string())?;
        let legitimate_at = forecast.legitimate_at();
        seen.legitimate_at = seen.legitimate_at.or(legitimate_at);
        seen.last_rest = seen.last_rest.max(forecast.last_rest());
        seen.recovery = legitimate_at;
        let Some(legitimate_at) = legitimate_at else {
            seen.last_rest = None;
            return Ok(seen);
        };
        if self.wants(&[WAITS, CLOSEST_BEFORE, CLOSEST_AFTER]) {
            let timeline = forecast.timeline();
            let waits = timeline.waits(u64::MAX >> 1);
            seen.waits = Some(waits.map(|wait| wait.to - wait.from + 1).sum());
            seen.closest_before = legitimate_at
                .checked_sub(1)
                .and_then(|last| timeline.min_distance(0..=last));
            let turn = legitimate_at..=legitimate_at + self.processes as u64;
            seen.closest_after = timeline.min_distance(turn);
        }
        seen.visits = forecast.visits(self.processes as u64);
        Ok(seen)
    }

    fn lock_step(&self, ring: &Ring, start: Configuration, seed: u64) -> Result<Seen, String> {
        let run = Run {
            faults: self.faults.clone(),
            seed,
            // `measure` asks for the predicate, and so the whole state, in every
            // round after legitimacy; dense it is at hand.
            engine: EngineChoice::Dense,
            ..Run::new(ring.clone(), start)
        };
        let (mut waits, mut latest) = (0, 0);
        let outcome = self::run(&run, |frame| {
            if frame.fault.is_none() {
                waits += latest;
            }
            let resting = frame.tokens.places().iter().filter(|place| place.resting);
            latest = resting.count() as u64;
            ControlFlow::Continue(())
        })
        .map_err(|error| error.to_string())?;
        let settled = outcome.legitimate;
        Ok(Seen {
            legitimate_at: outcome.legitimate_at,
            last_rest: outcome.last_rest.filter(|_| settled),
            recovery: outcome.recoveries.last().and_then(|last| last.rounds()),
            waits: settled.then_some(waits + latest),
            closest_before: outcome.min_distance_before.filter(|_| settled),
            closest_after: outcome.min_distance_after,
            visits: outcome.visits,
        })
    }

    /// Moves per process and round once the flow is steady.
    fn flow(&self, ring: &Ring, start: Configuration) -> Result<Option<i64>, String> {
        let n = self.processes as u64;
        if self.by_forecast {
            let forecast = Forecast::of(ring, &start).map_err(|error| error.to_string())?;
            let cycle = forecast.cycle_time();
            return Ok(cycle.and_then(|(rounds, releases)| share(releases, rounds)));
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
        Ok(share(moved(&engine) - before, n * n * d))
    }
}

impl BySeed for RingSampler {
    fn sample(&self, seed: u64, out: &mut [Option<i64>]) -> Result<(), String> {
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
    /// How many processes delay, if they are any at random, from a random start,
    /// and nothing happens afterwards.
    pub(super) fn random_delays(&self) -> Option<usize> {
        let plain =
            self.start == Start::Random && self.faults.is_empty() && !self.program.measures();
        match self.delays {
            Delays::All if plain => Some(self.processes),
            Delays::Count(count) if plain => Some(count),
            _ => None,
        }
    }

    /// The proved worst case of `last_rest` with this largest gap between delays.
    pub(super) fn worst(&self, gap: u64) -> Option<u64> {
        let (n, m) = (self.processes as u64, u64::from(self.tokens));
        let applies = self.separation.fits(n, m) && !self.program.measures();
        applies
            .then(|| bound::worst_last_rest(m, self.separation.hops(), gap))
            .flatten()
    }

    /// Measures what is wanted of a ring from a start.
    pub(super) fn measure(
        &self,
        ring: &Ring,
        start: Configuration,
        seed: u64,
        out: &mut [Option<i64>],
    ) -> Result<(), String> {
        let flow = if self.wants(&[FLOW, SPEED]) {
            self.flow(ring, start.clone())?
        } else {
            None
        };
        let only_flow = self
            .wanted
            .iter()
            .all(|w| [FLOW, DENSITY, SPEED].contains(w));
        let seen = if only_flow {
            Seen::default()
        } else if self.by_forecast {
            self.forecast(ring, start, seed)?
        } else {
            self.lock_step(ring, start, seed)?
        };
        let (n, m) = (self.processes as u64, u64::from(self.tokens));
        let (gap, worst) = if self.wants(&[WORST, OF_WORST, AT_WORST, WIDEST_GAP]) {
            let gap = ring.widest_gap();
            (gap, gap.and_then(|gap| self.worst(gap)))
        } else {
            (None, None)
        };
        let count = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
        for (place, &wanted) in out.iter_mut().zip(&self.wanted) {
            *place = match wanted {
                LEGITIMATE_AT => count(seen.legitimate_at),
                LAST_REST => count(seen.last_rest),
                RECOVERY => count(seen.recovery),
                WAITS => count(seen.waits),
                CLOSEST_BEFORE => count(seen.closest_before),
                CLOSEST_AFTER => count(seen.closest_after),
                VISITS_FEWEST => count(seen.visits.map(|visits| visits.0)),
                VISITS_MOST => count(seen.visits.map(|visits| visits.1)),
                WORST => count(worst),
                // A ring in which nothing ever rests has used none of its time.
                OF_WORST => seen
                    .legitimate_at
                    .zip(worst)
                    .and_then(|(_, worst)| share(seen.last_rest.unwrap_or(0), worst)),
                AT_WORST => seen
                    .legitimate_at
                    .and_then(|_| share(u64::from(seen.last_rest == worst), 1)),
                FLOW => flow,
                DENSITY => share(m, n),
                SPEED => flow.map(|flow| flow * n as i64 / m as i64),
                WIDEST_GAP => count(gap),
                TURNS => seen.legitimate_at.and_then(|rounds| share(rounds, n)),
                _ => None,
            };
        }
        Ok(())
    }
}

fn parse_faults(text: &str) -> Result<Vec<Fault>, Problem> {
    if text == "none" {
        return Ok(Vec::new());
    }
    text.split(" + ")
        .map(|fault| {
            fault
                .trim()
                .parse()
                .map_err(|error| Problem::new("fault", error))
        })
        .collect()
}
