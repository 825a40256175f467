//! The models on the command line: a subcommand each, with its own flags.

use clap::{Args as ClapArgs, Subcommand};
use headway_check::model::{
    asynchronous, definitional, delay_relay, handover, k_state, measure, monitor, phase_clock,
};
use headway_check::{CheckError, Control, Limits, Report, Scheduler, Search};

use super::ring::{RingFlags, Size};
use crate::flags::whole_number;

/// The models.
#[derive(Subcommand, Debug)]
pub(super) enum Model {
    /// Delay and relay with a known separation: the paper's first protocol
    DelayRelay(DelayRelay),
    /// One process measures the ring, corrected
    Measure(Measure),
    /// One process measures the ring, as the paper prints it
    MeasureAsPrinted(Measure),
    /// Dijkstra's K-state token ring
    KState(KState),
    /// Tokens that cannot be lost: M K-state rings under the delay/relay rule
    Definitional(Definitional),
    /// The phase clock (unison) on a ring
    PhaseClock(PhaseClock),
    /// Delay/relay driven by a phase clock
    Asynchronous(Asynchronous),
    /// A token handed over by an acknowledged message
    Handover(Handover),
    /// A distinguished process counts tokens and corrects their number
    Monitor(Monitor),
}

#[derive(ClapArgs, Debug)]
pub(super) struct DelayRelay {
    #[command(flatten)]
    ring: RingFlags<12, 3>,

    /// Check every placement of delays, one per rotation
    #[arg(long, conflicts_with = "delays")]
    all_placements: bool,

    /// Visit every single state, without the reductions
    #[arg(long)]
    unreduced: bool,
}

#[derive(ClapArgs, Debug)]
pub(super) struct Measure {
    #[command(flatten)]
    size: Size<6, 2>,

    /// Where the measuring clock saturates [default: 2N]
    #[arg(long, value_name = "ROUNDS", value_parser = whole_number::<u32>)]
    limit: Option<u32>,
}

#[derive(ClapArgs, Debug)]
pub(super) struct KState {
    /// Number of processes
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>, default_value_t = 5)]
    processes: usize,

    /// Values of each process [default: N]
    #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
    values: Option<u32>,

    /// Who moves in a step
    #[arg(long, value_name = "WHO", default_value_t = Scheduler::Distributed)]
    scheduler: Scheduler,
}

#[derive(ClapArgs, Debug)]
pub(super) struct Definitional {
    #[command(flatten)]
    ring: RingFlags<4, 2>,

    /// Values of each K-state ring [default: N+1]
    #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
    values: Option<u32>,

    /// Visit every single state, without the reduction
    #[arg(long)]
    unreduced: bool,
}

#[derive(ClapArgs, Debug)]
pub(super) struct PhaseClock {
    /// Number of processes
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>, default_value_t = 5)]
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
}

#[derive(ClapArgs, Debug)]
pub(super) struct Asynchronous {
    #[command(flatten)]
    ring: RingFlags<6, 2>,

    /// A round every P-th tick
    #[arg(long, value_name = "P", value_parser = whole_number::<u32>, default_value_t = 1)]
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
}

#[derive(ClapArgs, Debug)]
pub(super) struct Handover {
    /// Messages that a channel holds
    #[arg(long, value_name = "C", value_parser = whole_number::<usize>, default_value_t = 2)]
    capacity: usize,

    /// Message numbers [default: 2C]
    #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
    values: Option<u32>,
}

#[derive(ClapArgs, Debug)]
pub(super) struct Monitor {
    #[command(flatten)]
    size: Size<6, 2>,

    /// Hops to keep between successive tokens [default: N/M]
    #[arg(long, value_name = "D", value_parser = whole_number::<u32>)]
    separation: Option<u32>,

    /// Tokens on the ring and in the store together [default: M+2]
    #[arg(long, value_name = "K", value_parser = whole_number::<usize>)]
    supply: Option<usize>,

    /// Where the monitors are, one or two
    #[arg(long, value_name = "I,J", value_delimiter = ',', default_value = "0")]
    monitors: Vec<usize>,
}

impl Model {
    /// Checks the instance that the flags describe.
    pub(super) fn check(&self, limits: Limits, control: &Control) -> Result<Report, CheckError> {
        match self {
            Model::DelayRelay(flags) => flags.check(limits, control),
            Model::Measure(flags) => measure::check(
                &flags.settings(measure::Variant::Corrected),
                limits,
                control,
            ),
            Model::MeasureAsPrinted(flags) => measure::check(
                &flags.settings(measure::Variant::AsPrinted),
                limits,
                control,
            ),
            Model::KState(flags) => {
                let default = k_state::Settings::new(flags.processes);
                let settings = k_state::Settings {
                    values: flags.values.unwrap_or(default.values),
                    scheduler: flags.scheduler,
                    ..default
                };
                k_state::check(&settings, limits, control)
            }
            Model::Definitional(flags) => {
                let default = definitional::Settings::new(flags.ring.instance()?);
                let settings = definitional::Settings {
                    values: flags.values.unwrap_or(default.values),
                    search: search(flags.unreduced),
                    ..default
                };
                definitional::check(&settings, limits, control)
            }
            Model::PhaseClock(flags) => phase_clock::check(&flags.settings(), limits, control),
            Model::Asynchronous(flags) => {
                let default = asynchronous::Settings::new(flags.ring.instance()?, flags.pace);
                let settings = asynchronous::Settings {
                    modulus: flags.values.unwrap_or(default.modulus),
                    previous: !flags.without_previous,
                    every_start: flags.every_start,
                    scheduler: flags.scheduler,
                    ..default
                };
                asynchronous::check(&settings, limits, control)
            }
            Model::Handover(flags) => {
                let default = handover::Settings::new(flags.capacity);
                let settings = handover::Settings {
                    values: flags.values.unwrap_or(default.values),
                    ..default
                };
                handover::check(&settings, limits, control)
            }
            Model::Monitor(flags) => {
                let (n, m) = (flags.size.processes(), flags.size.tokens());
                let separation = flags.size.separation(flags.separation);
                let default = monitor::Settings::new(n, m, separation);
                let settings = monitor::Settings {
                    supply: flags.supply.unwrap_or(default.supply),
                    monitors: flags.monitors.clone(),
                    ..default
                };
                monitor::check(&settings, limits, control)
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

impl DelayRelay {
    fn check(&self, limits: Limits, control: &Control) -> Result<Report, CheckError> {
        let search = search(self.unreduced);
        if !self.all_placements {
            return delay_relay::check(&self.ring.instance()?, search, limits, control);
        }
        let size = &self.ring.size;
        let settings = delay_relay::AllPlacements {
            processes: size.processes(),
            tokens: size.tokens(),
            separation: size.separation(self.ring.separation),
            search,
        };
        delay_relay::check_all(&settings, limits, control)
    }
}

impl Measure {
    fn settings(&self, variant: measure::Variant) -> measure::Settings {
        let default = measure::Settings::new(self.size.processes(), self.size.tokens());
        measure::Settings {
            limit: self.limit.unwrap_or(default.limit),
            variant,
            ..default
        }
    }
}

impl PhaseClock {
    fn settings(&self) -> phase_clock::Settings {
        let mut settings = phase_clock::Settings::new(self.processes);
        let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        if let Some(modulus) = self.values {
            settings.clock.modulus = number(modulus);
        }
        if let Some(tail) = self.tail {
            settings.clock.tail = number(tail);
        }
        settings.scheduler = self.scheduler;
        settings
    }
}
