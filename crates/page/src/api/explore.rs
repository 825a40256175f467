//! Many rings at once, each by forecast: flow against density, and time to settle
//! against the number of delays.

use headway_core::{Configuration, Ring};
use headway_sim::forecast::Forecast;
use headway_sim::placement::Delays;
use headway_sim::seed::{DEFAULT_SEED, Purpose, Random};
use headway_sim::settings::Settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;

/// Rings up to this size are explored.
const MAX_PROCESSES: u64 = 5_000;
/// Points of a curve of flows.
const FLOW_POINTS: u64 = 200;
/// Points of a curve of settling times.
const SETTLING_POINTS: u64 = 24;
/// Processes of all samples together.
const SAMPLED_PROCESSES: u64 = 20_000_000;

/// Which rings.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FlowParams {
    /// n.
    processes: u64,
    /// d.
    separation: u64,
    /// Which processes delay, as for a run.
    #[schemars(with = "String")]
    delays: Delays,
    /// The seed of every random choice.
    seed: u64,
}

impl Default for FlowParams {
    fn default() -> FlowParams {
        FlowParams {
            processes: 100,
            separation: 5,
            delays: Delays::All,
            seed: DEFAULT_SEED,
        }
    }
}

/// Flow against density.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Flow {
    /// n.
    processes: u64,
    /// d.
    separation: u64,
    /// The most tokens without a jam: ⌊n/d⌋.
    threshold: u64,
    /// At most 200 numbers of tokens, up to 2n/d.
    points: Vec<FlowPoint>,
}

/// The flow with this many tokens.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FlowPoint {
    /// m.
    tokens: u64,
    /// Tokens per process.
    density: f64,
    /// Tokens that pass a process per round, counted over the forecast from a random start.
    flow: f64,
    /// min(m/n, 1/d).
    theory: f64,
}

/// Flow against density: the traffic jam at m·d = n
pub(crate) fn flow(asked: &FlowParams) -> Result<Flow, ApiError> {
    check_processes(asked.processes)?;
    if asked.separation == 0 || asked.separation > asked.processes {
        return Err(ApiError::invalid(
            "separation",
            format!(
                "separation {}: expected 1 to the number of processes",
                asked.separation
            ),
        ));
    }
    let most = (2 * asked.processes / asked.separation).clamp(1, asked.processes);
    let step = most.div_ceil(FLOW_POINTS);
    let (n, d) = (asked.processes as f64, asked.separation as f64);
    let point = |tokens: u64| {
        let (ring, state) = built(&Settings {
            processes: Some(asked.processes),
            tokens: Some(tokens),
            separation: Some(asked.separation),
            delays: Some(asked.delays.clone()),
            seed: Some(asked.seed),
            ..Settings::default()
        })?;
        let density = tokens as f64 / n;
        Ok(FlowPoint {
            tokens,
            density,
            flow: counted_flow(&ring, &state)?,
            theory: density.min(1.0 / d),
        })
    };
    Ok(Flow {
        processes: asked.processes,
        separation: asked.separation,
        threshold: asked.processes / asked.separation,
        points: (1..=most)
            .step_by(step as usize)
            .map(point)
            .collect::<Result<_, ApiError>>()?,
    })
}

/// Counts the hops of all tokens over one turn, once the ring has come to a regime:
/// a turn takes n rounds, or m·d in a jam, and then everything repeats.
fn counted_flow(ring: &Ring, start: &Configuration) -> Result<f64, ApiError> {
    let forecast = Forecast::of(ring, start).map_err(|_| ApiError::internal())?;
    let timeline = forecast.timeline();
    let (n, m) = (ring.len() as u64, forecast.tokens());
    let (from, turn) = match timeline.jam() {
        Some(jam) => (jam.from, m * jam.period),
        None => (forecast.last_rest().map_or(0, |round| round + 1), n),
    };
    let regime = timeline.configuration_at(from);
    let forecast = Forecast::of(ring, &regime).map_err(|_| ApiError::internal())?;
    let timeline = forecast.timeline();
    let last = turn - 1;
    let waits = timeline.waits(last);
    let rested: u64 = waits.map(|wait| wait.to.min(last) - wait.from + 1).sum();
    Ok((m * turn - rested) as f64 / (n * turn) as f64)
}

/// Which rings.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SettlingParams {
    /// n.
    processes: u64,
    /// m.
    tokens: u64,
    /// d.
    separation: u64,
    /// Starts for each number of delays.
    samples: u64,
    /// The seed of every random choice.
    seed: u64,
}

impl Default for SettlingParams {
    fn default() -> SettlingParams {
        SettlingParams {
            processes: 100,
            tokens: 10,
            separation: 5,
            samples: 200,
            seed: DEFAULT_SEED,
        }
    }
}

/// Time to settle against the number of delays.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Settling {
    /// Starts for each number of delays.
    samples: u64,
    /// The seed of every random choice.
    seed: u64,
    /// About 24 numbers of delays, from 1 to n, at random places.
    points: Vec<SettlingPoint>,
}

/// Rounds until legitimate with this many delays.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SettlingPoint {
    /// How many delay.
    delays: u64,
    /// The fewest.
    least: u64,
    /// A twentieth took no more.
    p5: u64,
    /// Half took no more.
    median: u64,
    /// On average.
    mean: f64,
    /// A twentieth took more.
    p95: u64,
    /// The most.
    most: u64,
    /// The largest proved worst case of the placements sampled.
    worst: u64,
}

/// Rounds until legitimate against the number of delays
pub(crate) fn stabilization(asked: &SettlingParams) -> Result<Settling, ApiError> {
    check_processes(asked.processes)?;
    let all = asked.samples.saturating_mul(asked.processes) * SETTLING_POINTS;
    if asked.samples == 0 || all > SAMPLED_PROCESSES {
        let most = SAMPLED_PROCESSES / SETTLING_POINTS / asked.processes;
        let message = format!("samples {}: expected 1 to {most}", asked.samples);
        return Err(ApiError::too_large("samples", message));
    }
    if asked.tokens.saturating_mul(asked.separation) > asked.processes {
        let message = "tokens times separation is more than the processes: it never settles";
        return Err(ApiError::invalid("separation", message));
    }
    Ok(Settling {
        samples: asked.samples,
        seed: asked.seed,
        points: numbers_of_delays(asked.processes)
            .into_iter()
            .map(|delays| settling_point(asked, delays))
            .collect::<Result<_, _>>()?,
    })
}

fn settling_point(asked: &SettlingParams, delays: u64) -> Result<SettlingPoint, ApiError> {
    let mut seeds = Random::new(asked.seed, Purpose::Other(delays as u32));
    let mut worst = 0;
    let mut rounds = Vec::with_capacity(asked.samples as usize);
    for _ in 0..asked.samples {
        let (ring, state) = built(&Settings {
            processes: Some(asked.processes),
            tokens: Some(asked.tokens),
            separation: Some(asked.separation),
            delays: Some(Delays::Count(delays as usize)),
            seed: Some(seeds.below(u64::MAX)),
            ..Settings::default()
        })?;
        let forecast = Forecast::of(&ring, &state).map_err(|_| ApiError::internal())?;
        rounds.push(forecast.legitimate_at().ok_or_else(ApiError::internal)?);
        let worst_here = ring.worst_case(asked.tokens);
        worst = worst.max(worst_here.map_or(0, |worst| worst.legitimate_at));
    }
    rounds.sort_unstable();
    let last = rounds.len() - 1;
    let percentile = |percent: usize| rounds[last * percent / 100];
    Ok(SettlingPoint {
        delays,
        least: rounds[0],
        p5: percentile(5),
        median: percentile(50),
        mean: rounds.iter().sum::<u64>() as f64 / rounds.len() as f64,
        p95: percentile(95),
        most: rounds[last],
        worst,
    })
}

/// About [`SETTLING_POINTS`] numbers from 1 to n, closer together at first.
fn numbers_of_delays(processes: u64) -> Vec<u64> {
    let steps = (SETTLING_POINTS - 1) as f64;
    let mut numbers: Vec<u64> = (0..SETTLING_POINTS)
        .map(|step| (processes as f64).powf(step as f64 / steps).round() as u64)
        .collect();
    numbers.dedup();
    numbers
}

fn check_processes(processes: u64) -> Result<(), ApiError> {
    if (1..=MAX_PROCESSES).contains(&processes) {
        return Ok(());
    }
    let message = format!("processes {processes}: expected 1 to {MAX_PROCESSES}");
    Err(ApiError::too_large("processes", message))
}

fn built(settings: &Settings) -> Result<(Ring, Configuration), ApiError> {
    settings.build().map_err(|error| {
        let field = error.setting().to_string();
        ApiError::invalid(&field, format!("{field}: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted against the tent, exactly, on both sides of the threshold, with few
    /// and many delays.
    #[test]
    fn the_flow_is_a_tent() {
        for (processes, separation, delays) in [(60, 4, "all"), (60, 7, "1"), (41, 3, "5")] {
            let flow = flow(&FlowParams {
                processes,
                separation,
                delays: delays.parse().unwrap(),
                seed: 3,
            })
            .unwrap();
            assert_eq!(flow.points.len() as u64, 2 * processes / separation);
            for point in flow.points {
                assert!((point.flow - point.theory).abs() < 1e-12, "{point:?}");
            }
        }
    }

    #[test]
    fn settling_stays_below_the_proved_worst_case() {
        let settling = stabilization(&SettlingParams {
            samples: 50,
            ..SettlingParams::default()
        })
        .unwrap();
        assert_eq!(settling.points.first().map(|point| point.delays), Some(1));
        assert_eq!(settling.points.last().map(|point| point.delays), Some(100));
        for point in &settling.points {
            assert!(
                point.least <= point.p5 && point.p5 <= point.median,
                "{point:?}"
            );
            assert!(
                point.median <= point.p95 && point.p95 <= point.most,
                "{point:?}"
            );
            assert!(point.most <= point.worst, "{point:?}");
        }
        // All delays: (m-1)·d + d - 1, and d - 2 for a counter left behind.
        assert_eq!(settling.points.last().map(|point| point.worst), Some(52));
    }
}
