//! The models on the command line: a subcommand each, with its own flags.

use clap::Subcommand;
use headway_check::Scheduler;
use headway_sim::placement::Delays;
use serde::Serialize;
use serde_json::{Map, Value};

use super::ring::{RingFlags, Size};
use crate::flags::{whole_number, whole_number_in};

/// The models.
#[derive(Subcommand, Debug, Serialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub(super) enum Model {
    /// Delay and relay with a known separation: the paper's first protocol
    DelayRelay {
        #[command(flatten)]
        #[serde(flatten)]
        ring: RingFlags<12, 3>,
        /// Check every placement of delays, one per rotation
        #[arg(long, conflicts_with = "delays")]
        all_placements: bool,
        /// Visit every single state, without the reductions
        #[arg(long)]
        unreduced: bool,
    },
    /// One process measures the ring, corrected
    Measure {
        #[command(flatten)]
        #[serde(flatten)]
        size: Size<6, 2>,
        /// Where the measuring clock saturates [default: 2N]
        #[arg(long, value_name = "ROUNDS", value_parser = whole_number::<u32>)]
        limit: Option<u32>,
        /// Which processes measure: all, every:K or at:0,5,9; at more than one it does
        /// not settle from every start [default: at:0]
        #[arg(long, value_name = "WHICH", value_parser = crate::flags::delays)]
        delays: Option<Delays>,
    },
    /// Nobody knows the ring's size: the shortest lap, until tokens come too close
    ShortestLap(UnknownSize),
    /// Nobody knows the ring's size: the shortest lap of this epoch and the one before
    ShortestLapEpochs {
        #[command(flatten)]
        #[serde(flatten)]
        ring: UnknownSize,
        /// Turns of all tokens in an epoch [default: 4T+4 for a shortest lap of T]
        #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
        horizon: Option<u32>,
    },
    /// Nobody knows the ring's size: tokens count their hops
    HopCount(UnknownSize),
    /// One process measures the ring, as the paper prints it
    MeasureAsPrinted {
        #[command(flatten)]
        #[serde(flatten)]
        size: Size<6, 2>,
        /// Where the measuring clock saturates [default: 2N]
        #[arg(long, value_name = "ROUNDS", value_parser = whole_number::<u32>)]
        limit: Option<u32>,
    },
    /// Dijkstra's K-state token ring
    KState {
        /// Number of processes
        #[arg(short = 'n', long, value_name = "N", value_parser = whole_number::<usize>, default_value_t = 5)]
        processes: usize,
        /// Values of each process [default: N]
        #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
        values: Option<u32>,
        /// Who moves in a step
        #[arg(long, value_name = "WHO", default_value_t)]
        #[serde(serialize_with = "by_name")]
        scheduler: Scheduler,
        /// Visit every single state, without the reduction
        #[arg(long)]
        unreduced: bool,
    },
    /// Tokens that cannot be lost: M K-state rings under the delay/relay rule
    Definitional {
        #[command(flatten)]
        #[serde(flatten)]
        ring: RingFlags<4, 2>,
        /// Values of each K-state ring [default: N+1]
        #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
        values: Option<u32>,
        /// Visit every single state, without the reduction
        #[arg(long)]
        unreduced: bool,
    },
    /// The phase clock (unison) on a ring
    PhaseClock {
        /// Number of processes
        #[arg(short = 'n', long, value_name = "N", value_parser = whole_number::<usize>, default_value_t = 5)]
        processes: usize,
        /// The clock's modulus [default: N+1]
        #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
        values: Option<u32>,
        /// Phases below 0, for recovery [default: N-2]
        #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
        tail: Option<u32>,
        /// Who moves in a step
        #[arg(long, value_name = "WHO", default_value_t)]
        #[serde(serialize_with = "by_name")]
        scheduler: Scheduler,
    },
    /// Delay/relay driven by a phase clock
    Asynchronous {
        #[command(flatten)]
        #[serde(flatten)]
        ring: RingFlags<6, 2>,
        /// A round every P-th tick
        #[arg(long, value_name = "P", value_parser = whole_number_in::<u32>(1..=250), default_value_t = 1)]
        pace: u32,
        /// The clock's modulus [default: the smallest multiple of N and P above N]
        #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
        values: Option<u32>,
        /// Start from every state, not only the legitimate ones
        #[arg(long)]
        every_start: bool,
        /// Do not publish the previous state: shows why it is needed
        #[arg(long)]
        without_previous: bool,
        /// Who ticks in a step
        #[arg(long, value_name = "WHO", default_value_t)]
        #[serde(serialize_with = "by_name")]
        scheduler: Scheduler,
    },
    /// A token handed over by an acknowledged message
    Handover {
        /// Messages that a channel holds
        #[arg(long, value_name = "C", value_parser = whole_number::<usize>, default_value_t = 2)]
        capacity: usize,
        /// Message numbers [default: 2C]
        #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
        values: Option<u32>,
    },
    /// A distinguished process counts tokens and corrects their number
    Monitor {
        #[command(flatten)]
        #[serde(flatten)]
        size: Size<6, 2>,
        /// Hops to keep between successive tokens [default: N/M]
        #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
        separation: Option<u32>,
        /// Tokens on the ring and in the store together [default: M+2]
        #[arg(long, value_name = "K", value_parser = whole_number::<usize>)]
        supply: Option<usize>,
        /// Where the monitors are, one or two
        #[arg(long, value_name = "I,J", value_delimiter = ',', default_value = "0", value_parser = whole_number::<usize>)]
        monitors: Vec<usize>,
    },
    /// The moving block by messages: separation without a clock
    MovingBlock {
        #[command(flatten)]
        #[serde(flatten)]
        size: Size<3, 2>,
        /// Hops to keep between successive tokens [default: (N-1)/M]
        #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
        separation: Option<u32>,
        /// News is heard as it is told, never late: allows larger rings
        #[arg(long)]
        prompt_news: bool,
        /// Start from tokens that are apart, and ask for safety only: allows larger rings
        #[arg(long)]
        clean_start: bool,
        /// Believe news from before a hand-over: shows why one must not
        #[arg(long, conflicts_with = "tell_old_news")]
        believe_old_news: bool,
        /// Tell news from before a hand-over: shows why one must not
        #[arg(long)]
        tell_old_news: bool,
    },
    /// The moving block with tokens that cannot be lost, and the patrol that ends a standstill
    Patrol {
        #[command(flatten)]
        #[serde(flatten)]
        size: Size<3, 2>,
        /// Hops to keep between successive tokens [default: (N-1)/M]
        #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
        separation: Option<u32>,
        /// Values of each token ring [default: N-1, at least 2]
        #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
        values: Option<u32>,
        /// The patrol opens no gate: shows what it is for
        #[arg(long, conflicts_with_all = ["ignore_ready", "ignore_moves"])]
        never_open: bool,
        /// Count a process that could release a token as calm: shows why one must not
        #[arg(long, conflicts_with = "ignore_moves")]
        ignore_ready: bool,
        /// Count a process that has released a token as calm: shows why one must not
        #[arg(long)]
        ignore_moves: bool,
    },
}

/// A ring on which several processes measure.
#[derive(clap::Args, Clone, Debug, Serialize)]
pub(super) struct UnknownSize {
    #[command(flatten)]
    #[serde(flatten)]
    size: Size<3, 2>,
    /// Where the measuring clocks saturate [default: 2N]
    #[arg(long, value_name = "ROUNDS", value_parser = whole_number::<u32>)]
    limit: Option<u32>,
    /// Which processes measure: all, every:K or at:0,5,9 [default: all]
    #[arg(long, value_name = "WHICH", value_parser = crate::flags::delays)]
    delays: Option<Delays>,
}

impl Model {
    /// The name, and the flags that were given or have defaults.
    pub(super) fn settings(&self) -> (String, Map<String, Value>) {
        let (model, settings) = match serde_json::to_value(self) {
            Ok(Value::Object(one)) => one.into_iter().next(),
            _ => None,
        }
        .unwrap_or_default();
        match settings {
            Value::Object(settings) => (model, settings),
            _ => (model, Map::new()),
        }
    }
}

fn by_name<S: serde::Serializer>(scheduler: &Scheduler, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(scheduler.name())
}
