//! What the lessons show beside runs: the open chain, the ring without lock-step, and
//! Dijkstra's token rings.

use headway_core::Separation;
use headway_core::chain::Chain;
use headway_sim::asynchronous::{AsynchronousRing, Schedule, Scheduler, promised};
use headway_sim::open_chain::{Arrivals, ArrivalsSyntax, OpenChain};
use headway_sim::seed::{DEFAULT_SEED, Purpose, Random};
use headway_sim::token_rings::TokenRings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::exchange::word;

/// Process-rounds of one answer.
const MAX_WORK: u64 = 200_000;

/// Which chain.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ChainParams {
    /// How many processes, at least 2.
    processes: u64,
    /// d.
    separation: u32,
    /// How many rounds.
    rounds: u64,
    /// `burst:K` (all in round 1), `every:K` rounds or `random:P%` a round.
    arrivals: String,
    /// Tokens that are scattered over it at the start.
    scrambled: u32,
    /// The seed of every random choice.
    seed: u64,
}

impl Default for ChainParams {
    fn default() -> ChainParams {
        ChainParams {
            processes: 12,
            separation: 3,
            rounds: 60,
            arrivals: "burst:4".to_owned(),
            scrambled: 0,
            seed: DEFAULT_SEED,
        }
    }
}

/// A run of the open chain.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ChainRun {
    /// How many.
    processes: u64,
    /// d.
    separation: u32,
    /// How many.
    rounds: u64,
    /// The states 0 to `rounds`.
    frames: Vec<ChainFrame>,
}

/// A state of the open chain.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct ChainFrame {
    /// After which round.
    round: u64,
    /// Token, process, whether it rests; tokens are numbered as they arrive.
    at: Vec<(u64, u32, bool)>,
    /// Of the first process, the only one that delays.
    counter: i32,
    /// The smallest distance from the second process on.
    closest: Option<u64>,
    /// Tokens that have arrived.
    arrived: u64,
    /// Tokens that have left.
    left: u64,
}

/// The open chain of the paper's motivating example
pub(crate) fn chain(asked: &ChainParams) -> Result<ChainRun, ApiError> {
    let separation = separation(asked.separation)?;
    if asked.processes < 2 {
        let message = "a chain needs a second process for tokens to be apart at";
        return Err(ApiError::invalid("processes", message));
    }
    let arrivals: Arrivals = asked
        .arrivals
        .parse()
        .map_err(|error: ArrivalsSyntax| ApiError::invalid("arrivals", error.to_string()))?;
    let burst = match arrivals {
        Arrivals::Burst(tokens) => u64::from(tokens),
        Arrivals::Every(_) | Arrivals::Percent(_) => asked.rounds,
    };
    let tokens = burst.saturating_add(u64::from(asked.scrambled));
    check_work(asked.processes.max(tokens), asked.rounds, "rounds")?;
    let chain = Chain::new(separation, asked.processes as usize).ok_or_else(ApiError::internal)?;
    let mut open = OpenChain::new(chain, arrivals, asked.scrambled, asked.seed);
    let frames = (0..=asked.rounds).map(|round| {
        if round > 0 {
            open.round();
        }
        let tokens = open.tokens().into_iter();
        ChainFrame {
            round,
            at: tokens
                .map(|token| (token.number, token.process as u32, token.resting))
                .collect(),
            counter: open.chain().processes()[0].counter,
            closest: open.chain().min_distance(),
            arrived: open.arrived(),
            left: open.left(),
        }
    });
    Ok(ChainRun {
        processes: asked.processes,
        separation: asked.separation,
        rounds: asked.rounds,
        frames: frames.collect(),
    })
}

/// Which ring.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AsynchronyParams {
    /// n.
    processes: u64,
    /// g, as the protocol is set.
    separation: u32,
    /// Ticks for a round.
    pace: u64,
    /// Who is activated.
    #[schemars(schema_with = "word::<Schedule>")]
    schedule: Schedule,
    /// How many frames; n activations between two.
    steps: u64,
    /// The seed of every random choice.
    seed: u64,
}

impl Default for AsynchronyParams {
    fn default() -> AsynchronyParams {
        AsynchronyParams {
            processes: 24,
            separation: 6,
            pace: 1,
            schedule: Schedule::Random,
            steps: 400,
            seed: DEFAULT_SEED,
        }
    }
}

/// A run without lock-step.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct AsynchronyRun {
    /// n.
    processes: u64,
    /// As many as fit: n/g.
    tokens: u64,
    /// g, as the protocol is set.
    separation: u32,
    /// Ticks for a round, p.
    pace: u64,
    /// What the true distance never falls below: g - ⌊(g + p)/(p + 1)⌋.
    promised: u64,
    /// The smallest true distance at any time.
    closest: u64,
    /// One after each step of n activations.
    frames: Vec<AsynchronyFrame>,
}

/// A moment of a run without lock-step.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct AsynchronyFrame {
    /// After how many steps.
    step: u64,
    /// Of every process.
    ticks: Vec<u64>,
    /// The last holder of every token.
    at: Vec<u32>,
    /// The smallest true distance now.
    closest: u64,
}

/// The ring on phase clocks, under a schedule
pub(crate) fn asynchrony(asked: &AsynchronyParams) -> Result<AsynchronyRun, ApiError> {
    let separation = separation(asked.separation)?;
    if asked.processes < 3 || u64::from(asked.separation) > asked.processes {
        let message = format!(
            "processes {}: expected at least 3, and at least the separation",
            asked.processes
        );
        return Err(ApiError::invalid("processes", message));
    }
    if !(1..=1_000).contains(&asked.pace) {
        let message = format!("pace {}: expected 1 to 1000", asked.pace);
        return Err(ApiError::invalid("pace", message));
    }
    check_work(asked.processes, asked.steps, "steps")?;
    let n = asked.processes;
    let mut ring = AsynchronousRing::new(n as usize, separation, asked.pace)
        .map_err(|error| ApiError::invalid("processes", error.to_string()))?;
    let mut scheduler = Scheduler::new(asked.schedule, asked.seed);
    let frames: Vec<AsynchronyFrame> = (0..=asked.steps)
        .map(|step| {
            if step > 0 {
                for _ in 0..n {
                    scheduler.activate(&mut ring);
                }
            }
            AsynchronyFrame {
                step,
                ticks: ring.ticks().to_vec(),
                at: ring.tokens().iter().map(|&at| (at % n) as u32).collect(),
                closest: ring.closest(),
            }
        })
        .collect();
    Ok(AsynchronyRun {
        processes: n,
        tokens: ring.tokens().len() as u64,
        separation: asked.separation,
        pace: asked.pace,
        promised: promised(separation, asked.pace),
        closest: ring.closest_ever(),
        frames,
    })
}

/// Which rings.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TokenRingsParams {
    /// n.
    processes: u64,
    /// How many rings, each with a token.
    tokens: u64,
    /// How many rounds.
    rounds: u64,
    /// After which round every value is scrambled.
    fault: u64,
    /// The seed of every random choice.
    seed: u64,
}

impl Default for TokenRingsParams {
    fn default() -> TokenRingsParams {
        TokenRingsParams {
            processes: 24,
            tokens: 4,
            rounds: 120,
            fault: 12,
            seed: DEFAULT_SEED,
        }
    }
}

/// A run of Dijkstra's token rings.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct TokenRingsRun {
    /// n.
    processes: u64,
    /// How many rings.
    tokens: u64,
    /// The states 0 to `rounds`; that of the round of the fault is as it left it.
    frames: Vec<TokenRingsFrame>,
}

/// A state of Dijkstra's token rings.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct TokenRingsFrame {
    /// After which round.
    round: u64,
    /// Ring and process, for every token there is: after a fault, more than one of a ring.
    at: Vec<(u32, u32)>,
    /// The smallest distance between two tokens.
    closest: Option<u64>,
}

/// Dijkstra's K-state ring, one for each token, in lock-step; a fault scrambles all of it
pub(crate) fn token_rings(asked: &TokenRingsParams) -> Result<TokenRingsRun, ApiError> {
    let (n, m) = (asked.processes, asked.tokens);
    if n < 2 || !(1..=n).contains(&m) {
        let message = format!(
            "{m} tokens on {n} processes: expected 2 processes at least, and 1 token to as many as processes"
        );
        return Err(ApiError::invalid("tokens", message));
    }
    check_work(n.saturating_mul(m), asked.rounds, "rounds")?;
    let mut rings = TokenRings::spaced(n as usize, m as usize);
    let frames = (0..=asked.rounds).map(|round| {
        if round > 0 {
            rings.round();
        }
        if round == asked.fault {
            rings.scramble(&mut Random::new(asked.seed, Purpose::Fault(0)));
        }
        let at = rings.tokens();
        TokenRingsFrame {
            round,
            closest: closest(&at, n),
            at,
        }
    });
    Ok(TokenRingsRun {
        processes: n,
        tokens: m,
        frames: frames.collect(),
    })
}

/// Between neighbours on the ring.
fn closest(at: &[(u32, u32)], processes: u64) -> Option<u64> {
    let mut places: Vec<u64> = at.iter().map(|&(_, process)| process.into()).collect();
    places.sort_unstable();
    let first = *places.first()?;
    places.push(first + processes);
    let apart = places.windows(2).map(|two| two[1] - two[0]);
    apart.min().filter(|_| places.len() > 2)
}

fn separation(hops: u32) -> Result<Separation, ApiError> {
    Separation::new(hops).ok_or_else(|| {
        let message = format!("separation {hops}: expected 1 to {}", Separation::MAX);
        ApiError::invalid("separation", message)
    })
}

fn check_work(processes: u64, rounds: u64, field: &str) -> Result<(), ApiError> {
    if processes.saturating_mul(rounds.max(1)) <= MAX_WORK {
        return Ok(());
    }
    let message = format!("processes (or tokens) times {field}: at most {MAX_WORK}");
    Err(ApiError::too_large(field, message))
}
