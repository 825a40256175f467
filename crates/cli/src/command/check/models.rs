//! The models on the command line: a subcommand each, with its own flags.

use clap::Subcommand;
use headway_check::model::{
    asynchronous, definitional, delay_relay, handover, k_state, measure, monitor, moving_block,
    patrol, phase_clock, unknown_size,
};
use headway_check::{CheckError, Control, Limits, Report, Scheduler, Search};

use headway_core::Program;
use headway_sim::placement::Delays;

use super::ring::{RingFlags, Size};
use crate::flags::{whole_number, whole_number_in};

/// The models.
#[derive(Subcommand, Debug)]
pub(super) enum Model {
    /// Delay and relay with a known separation: the paper's first protocol
    DelayRelay {
        #[command(flatten)]
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
        #[arg(long, value_name = "WHO", default_value_t = Scheduler::Distributed)]
        scheduler: Scheduler,
        /// Visit every single state, without the reduction
        #[arg(long)]
        unreduced: bool,
    },
    /// Tokens that cannot be lost: M K-state rings under the delay/relay rule
    Definitional {
        #[command(flatten)]
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
        #[arg(long, value_name = "WHO", default_value_t = Scheduler::Distributed)]
        scheduler: Scheduler,
    },
    /// Delay/relay driven by a phase clock
    Asynchronous {
        #[command(flatten)]
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
        #[arg(long, value_name = "WHO", default_value_t = Scheduler::Central)]
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
        size: Size<6, 2>,
        /// Hops to keep between successive tokens [default: N/M]
        #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
        separation: Option<u32>,
        /// Tokens on the ring and in the store together [default: M+2]
        #[arg(long, value_name = "K", value_parser = whole_number::<usize>)]
        supply: Option<usize>,
        /// Where the monitors are, one or two
        #[arg(long, value_name = "I,J", value_delimiter = ',', default_value = "0")]
        monitors: Vec<usize>,
    },
    /// The moving block by messages: separation without a clock
    MovingBlock {
        #[command(flatten)]
        size: Size<3, 2>,
        /// Hops to keep between successive tokens [default: (N-1)/M]
        #[arg(long, value_name = "D", value_parser = whole_number::<u32>)]
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
        size: Size<3, 2>,
        /// Hops to keep between successive tokens [default: (N-1)/M]
        #[arg(long, value_name = "D", value_parser = whole_number::<u32>)]
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
#[derive(clap::Args, Clone, Debug)]
pub(super) struct UnknownSize {
    #[command(flatten)]
    size: Size<3, 2>,
    /// Where the measuring clocks saturate [default: 2N]
    #[arg(long, value_name = "ROUNDS", value_parser = whole_number::<u32>)]
    limit: Option<u32>,
    /// Which processes measure: all, every:K or at:0,5,9 [default: all]
    #[arg(long, value_name = "WHICH", value_parser = crate::flags::delays)]
    delays: Option<Delays>,
}

impl UnknownSize {
    fn settings(
        &self,
        program: Program,
        horizon: Option<u32>,
    ) -> Result<unknown_size::Settings, CheckError> {
        let (n, m) = (self.size.processes(), self.size.tokens());
        let mut settings = unknown_size::Settings::new(program, n, m);
        settings.limit = self.limit.unwrap_or(settings.limit);
        settings.horizon = horizon;
        let delays = self.delays.clone().unwrap_or_default();
        let wrong = |why: &str| CheckError::Settings(format!("--delays {delays}: {why}"));
        if let Delays::Count(_) = delays {
            return Err(wrong("which ones? give all, every:K or at:0,5,9"));
        }
        // Larger ones are refused, before their places are listed.
        if n <= 64 {
            let places = delays.choose(n, 0);
            settings.measurers = places.map_err(|error| wrong(&error.to_string()))?;
        }
        Ok(settings)
    }
}

impl Model {
    /// Checks the instance that the flags describe.
    pub(super) fn check(&self, limits: Limits, control: &Control) -> Result<Report, CheckError> {
        let measuring = |size: &Size<6, 2>, limit: Option<u32>, variant| {
            let mut settings = measure::Settings::new(size.processes(), size.tokens());
            settings.limit = limit.unwrap_or(settings.limit);
            settings.variant = variant;
            measure::check(&settings, limits, control)
        };
        let unknown = |ring: &UnknownSize, program, horizon| {
            unknown_size::check(&ring.settings(program, horizon)?, limits, control)
        };
        match self {
            Model::ShortestLap(ring) => unknown(ring, Program::ShortestLap, None),
            Model::HopCount(ring) => unknown(ring, Program::HopCount, None),
            Model::ShortestLapEpochs { ring, horizon } => {
                unknown(ring, Program::ShortestLapEpochs, *horizon)
            }
            Model::DelayRelay {
                ring,
                all_placements: false,
                unreduced,
            } => delay_relay::check(&ring.instance()?, search(*unreduced), limits, control),
            Model::DelayRelay {
                ring, unreduced, ..
            } => {
                let settings = delay_relay::AllPlacements {
                    processes: ring.size.processes(),
                    tokens: ring.size.tokens(),
                    separation: ring.size.separation(ring.separation),
                    search: search(*unreduced),
                };
                delay_relay::check_all(&settings, limits, control)
            }
            Model::Measure {
                size,
                limit,
                delays: Some(delays),
            } => {
                let ring = UnknownSize {
                    size: Size {
                        processes: Some(size.processes()),
                        tokens: Some(size.tokens()),
                    },
                    limit: *limit,
                    delays: Some(delays.clone()),
                };
                unknown(&ring, Program::Measure, None)
            }
            Model::Measure { size, limit, .. } => {
                measuring(size, *limit, measure::Variant::Corrected)
            }
            Model::MeasureAsPrinted { size, limit } => {
                measuring(size, *limit, measure::Variant::AsPrinted)
            }
            &Model::KState {
                processes,
                values,
                scheduler,
                unreduced,
            } => {
                let mut settings = k_state::Settings::new(processes);
                settings.values = values.unwrap_or(settings.values);
                settings.scheduler = scheduler;
                settings.search = search(unreduced);
                k_state::check(&settings, limits, control)
            }
            Model::Definitional {
                ring,
                values,
                unreduced,
            } => {
                let mut settings = definitional::Settings::new(ring.instance()?);
                settings.values = values.unwrap_or(settings.values);
                settings.search = search(*unreduced);
                definitional::check(&settings, limits, control)
            }
            &Model::PhaseClock {
                processes,
                values,
                tail,
                scheduler,
            } => {
                let mut settings = phase_clock::Settings::new(processes);
                // Far larger ones are refused than do not fit.
                let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
                settings.clock.modulus = values.map_or(settings.clock.modulus, number);
                settings.clock.tail = tail.map_or(settings.clock.tail, number);
                settings.scheduler = scheduler;
                phase_clock::check(&settings, limits, control)
            }
            Model::Asynchronous {
                ring,
                pace,
                values,
                every_start,
                without_previous,
                scheduler,
            } => {
                let mut settings = asynchronous::Settings::new(ring.instance()?, *pace);
                settings.modulus = values.unwrap_or(settings.modulus);
                settings.previous = !without_previous;
                settings.every_start = *every_start;
                settings.scheduler = *scheduler;
                asynchronous::check(&settings, limits, control)
            }
            &Model::Handover { capacity, values } => {
                let mut settings = handover::Settings::new(capacity);
                settings.values = values.unwrap_or(settings.values);
                handover::check(&settings, limits, control)
            }
            Model::Monitor {
                size,
                separation,
                supply,
                monitors,
            } => {
                let separation = size.separation(*separation);
                let mut settings =
                    monitor::Settings::new(size.processes(), size.tokens(), separation);
                settings.supply = supply.unwrap_or(settings.supply);
                settings.monitors.clone_from(monitors);
                monitor::check(&settings, limits, control)
            }
            Model::MovingBlock {
                size,
                separation,
                prompt_news,
                clean_start,
                believe_old_news,
                tell_old_news,
            } => {
                let mut settings = moving_block::Settings::new(
                    size.processes(),
                    u32::try_from(size.tokens()).unwrap_or(u32::MAX),
                    size.separation_with_slack(*separation),
                );
                settings.late_news = !prompt_news;
                if *clean_start {
                    settings.starts = moving_block::Starts::Clean;
                }
                settings.variant = match (believe_old_news, tell_old_news) {
                    (true, _) => moving_block::Variant::OldNews,
                    (_, true) => moving_block::Variant::NotSilent,
                    _ => moving_block::Variant::Sound,
                };
                moving_block::check(&settings, limits, control)
            }
            Model::Patrol {
                size,
                separation,
                values,
                never_open,
                ignore_ready,
                ignore_moves,
            } => {
                let mut settings = patrol::Settings::new(
                    size.processes(),
                    size.tokens(),
                    size.separation_with_slack(*separation),
                );
                settings.values = values.unwrap_or(settings.values);
                settings.variant = match (never_open, ignore_ready, ignore_moves) {
                    (true, ..) => patrol::Variant::NeverOpens,
                    (_, true, _) => patrol::Variant::IgnoresReady,
                    (.., true) => patrol::Variant::IgnoresMoves,
                    _ => patrol::Variant::Sound,
                };
                patrol::check(&settings, limits, control)
            }
        }
    }
}

fn search(unreduced: bool) -> Search {
    if unreduced {
        Search::EveryState
    } else {
        Search::Reduced
    }
}
