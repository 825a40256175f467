//! `headway check`: every initial state, every schedule, exact answers.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args as ClapArgs, ValueEnum};
use headway_check::model::{
    asynchronous, definitional, delay_relay, handover, k_state, measure, monitor, phase_clock,
};
use headway_check::{CheckError, Control, Limits, Report, Scheduler, Trace};
use headway_core::Measuring;
use headway_core::phase_clock::PhaseClock;
use headway_sim::state_file;

use crate::failure::{Answer, Failure, write_file};
use crate::flags::{TextOrJson, whole_number};
use crate::memory::available_memory_bytes;

mod instance;
mod json;
mod text;

pub(crate) use instance::InstanceFlags;

/// Flags of `headway check`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway check delay-relay                        4.4·10^10 states, the default
  headway check delay-relay --processes 5 --tokens 2 --separation 3
  headway check delay-relay --processes 8 --tokens 2 --separation 3 --all-placements
  headway check delay-relay --delays at:0 --witness slow.json
  headway check measure-as-printed --processes 6 --tokens 2
  headway check k-state --processes 5 --values 4 --scheduler distributed
  headway check asynchronous --pace 3
  headway check monitor --monitors 0,3

Exit codes: 0 every property holds, 1 one does not, 2 the command is wrong, the
instance is too large, or it was stopped.")]
pub(crate) struct Args {
    /// What to check
    #[arg(value_enum)]
    model: ModelName,

    #[command(flatten)]
    instance: InstanceFlags,

    /// Check every placement of delays, one per rotation (delay-relay)
    #[arg(long, conflicts_with = "delays", help_heading = "Instance")]
    all_placements: bool,

    /// Visit every single state, without the reductions (delay-relay, definitional)
    #[arg(long, help_heading = "Instance")]
    unreduced: bool,

    /// Who moves in a step (k-state, phase-clock, asynchronous) [default: distributed]
    #[arg(long, value_name = "WHO", help_heading = "Instance")]
    pub(crate) scheduler: Option<Scheduler>,

    /// Phases below 0, for recovery (phase-clock) [default: N-2]
    #[arg(long, value_name = "K", value_parser = whole_number::<u32>, help_heading = "Instance")]
    tail: Option<u32>,

    /// A round every P-th tick (asynchronous) [default: 1]
    #[arg(long, value_name = "P", value_parser = whole_number::<u32>, help_heading = "Instance")]
    pace: Option<u32>,

    /// Start from every state, not only the legitimate ones (asynchronous)
    #[arg(long, help_heading = "Instance")]
    every_start: bool,

    /// Do not publish the previous state: shows why it is needed (asynchronous)
    #[arg(long, help_heading = "Instance")]
    without_previous: bool,

    /// Messages that fit a channel (handover) [default: 2]
    #[arg(long, value_name = "K", value_parser = whole_number::<usize>, help_heading = "Instance")]
    capacity: Option<usize>,

    /// Tokens on the ring and in the store together (monitor) [default: M+2]
    #[arg(long, value_name = "K", value_parser = whole_number::<usize>, help_heading = "Instance")]
    supply: Option<usize>,

    /// Where the monitors are, one or two (monitor) [default: 0]
    #[arg(
        long,
        value_name = "I,J",
        value_delimiter = ',',
        help_heading = "Instance"
    )]
    monitors: Option<Vec<usize>>,

    /// Where the measuring clock saturates (measure) [default: 2N]
    #[arg(long, value_name = "ROUNDS", value_parser = whole_number::<u32>, help_heading = "Instance")]
    limit: Option<u32>,

    /// Write the slowest start, or the counterexample's, to this file
    #[arg(long, value_name = "FILE.json")]
    witness: Option<PathBuf>,

    /// Threads to use; the answer is the same [default: one per core]
    #[arg(long, value_name = "T")]
    threads: Option<NonZeroUsize>,

    /// Memory for tables, in MiB [default: three quarters of what is free]
    #[arg(long, value_name = "MIB", value_parser = whole_number::<u64>)]
    memory: Option<u64>,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
}

/// The models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelName {
    /// Delay and relay with a known separation: the paper's first protocol
    DelayRelay,
    /// One process measures the ring, corrected
    Measure,
    /// One process measures the ring, as the paper prints it
    MeasureAsPrinted,
    /// Dijkstra's K-state token ring
    KState,
    /// Tokens that cannot be lost: M K-state rings under the delay/relay rule
    Definitional,
    /// The phase clock (unison) on a ring
    PhaseClock,
    /// Delay/relay driven by a phase clock
    Asynchronous,
    /// A token handed over by an acknowledged message
    Handover,
    /// A distinguished process counts tokens and corrects their number
    Monitor,
}

impl ModelName {
    pub(crate) fn name(self) -> String {
        self.to_possible_value()
            .map_or(String::new(), |value| value.get_name().to_owned())
    }
}

/// Checks and reports.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    args.only_meaningful_flags()?;
    let limits = limits(args.memory);
    // 0 stands for as many as there are cores.
    let threads = args.threads.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Failure::new(format!("--threads {threads}: {error}")))?;
    let control = Arc::new(Control::default());
    let stop = Arc::clone(&control);
    // A second handler in one process is an error; there is only this one.
    let _ = ctrlc::set_handler(move || stop.stop());
    let since = Instant::now();
    let report = watched(&control, || pool.install(|| args.check(limits, &control)))
        .map_err(|error| failure(args.model, error))?;
    let elapsed = since.elapsed();
    let witness = witness_of(&report);
    if let Some(path) = &args.witness {
        let witness = witness.ok_or_else(|| {
            Failure::new(format!(
                "--witness: the model {} has no single slowest run",
                report.model
            ))
            .help("drop --witness")
        })?;
        write_witness(path, witness, &report)?;
    }
    let mut out = anstream::stdout().lock();
    match args.format {
        TextOrJson::Text => text::write(&mut out, &report, elapsed, args.witness.as_deref())?,
        TextOrJson::Json => json::write(&mut out, &report)?,
    }
    Ok(report.all_hold().into())
}

/// The run worth keeping: a counterexample if a property fails, else the slowest.
fn witness_of(report: &Report) -> Option<&Trace> {
    let failed = report.properties.iter().filter(|property| !property.holds);
    failed
        .filter_map(|property| property.counterexample.as_ref())
        .max_by_key(|trace| trace.repeats_from.is_some())
        .or(report.witness.as_ref())
}

fn write_witness(path: &Path, witness: &Trace, report: &Report) -> Result<(), Failure> {
    let text = match &witness.start {
        Some((ring, state)) => state_file::render(ring, state),
        None => format!("{:#}\n", json::trace(report.model, witness)),
    };
    write_file(path, text)
}

/// Runs `work` while a progress bar follows it.
fn watched<T: Send>(control: &Control, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        let bar = indicatif::ProgressBar::new(0);
        bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
        let since = Instant::now();
        let mut shown = false;
        while !worker.is_finished() {
            std::thread::sleep(Duration::from_millis(if shown { 100 } else { 5 }));
            if !shown && since.elapsed() > Duration::from_millis(400) {
                shown = true;
                bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
                bar.set_style(progress_style());
            }
            let (done, total) = control.progress();
            bar.set_length(total.max(done));
            bar.set_position(done);
        }
        bar.finish_and_clear();
        match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn progress_style() -> indicatif::ProgressStyle {
    let template = "{bar:30} {percent}% of {human_len}, {rate}, {eta} left";
    indicatif::ProgressStyle::with_template(template)
        .unwrap_or_else(|_| indicatif::ProgressStyle::default_bar())
        .with_key(
            "rate",
            |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
                // Writing to the bar's own buffer does not fail.
                let _ = write!(out, "{:.2} million/s", state.per_sec() / 1e6);
            },
        )
}

fn limits(memory_mib: Option<u64>) -> Limits {
    let default = Limits::default();
    let free = available_memory_bytes().map(|bytes| bytes / 4 * 3);
    Limits {
        memory_bytes: memory_mib
            .map(|mib| mib.saturating_mul(1 << 20))
            .or(free)
            .unwrap_or(default.memory_bytes),
        ..default
    }
}

fn failure(model: ModelName, error: CheckError) -> Failure {
    let help = match &error {
        CheckError::Instance(_) => "see headway check --help",
        CheckError::TooLarge { need, .. } if need.contains("bytes") => {
            "give more --memory, or make the ring, the tokens, the separation or the values smaller"
        }
        CheckError::TooLarge { .. } if model == ModelName::DelayRelay => {
            "make it smaller; `headway worst` tells the worst case of rings of any size"
        }
        CheckError::TooLarge { .. } => {
            "make the ring, the tokens, the separation or the values smaller"
        }
        CheckError::Interrupted { .. } => "run it again without stopping it for the whole answer",
    };
    Failure::new(error).help(help)
}

impl Args {
    fn check(&self, limits: Limits, control: &Control) -> Result<Report, CheckError> {
        let flags = &self.instance;
        let scheduler = self.scheduler.unwrap_or(Scheduler::Distributed);
        match self.model {
            ModelName::DelayRelay if self.all_placements => {
                let (n, m) = flags.processes_and_tokens(12, 3);
                let d = flags.separation_for(n, m);
                delay_relay::all_placements(n, m, d, self.unreduced, limits, control)
            }
            ModelName::DelayRelay => {
                let instance = flags.ring_instance(12, 3)?;
                delay_relay::check(&instance, self.unreduced, limits, control)
            }
            ModelName::Measure | ModelName::MeasureAsPrinted => {
                let (n, m) = flags.processes_and_tokens(6, 2);
                let limit = self.limit.unwrap_or_else(|| Measuring::default_limit(n));
                let printed = self.model == ModelName::MeasureAsPrinted;
                measure::check(n, m, limit, printed, limits, control)
            }
            ModelName::KState => {
                let n = flags.processes.unwrap_or(5);
                let values = flags.values.unwrap_or(n as u32);
                k_state::check(n, values, scheduler, limits, control)
            }
            ModelName::Definitional => {
                let instance = flags.ring_instance(4, 2)?;
                let values = flags.values.unwrap_or(instance.processes() as u32 + 1);
                let (ring, m) = (instance.ring().clone(), instance.tokens());
                definitional::check(ring, m, values, !self.unreduced, limits, control)
            }
            ModelName::PhaseClock => {
                let n = flags.processes.unwrap_or(5);
                let default = PhaseClock::for_ring(i32::try_from(n).unwrap_or(i32::MAX));
                let number = |given: Option<u32>, default: i32| {
                    given.map_or(default, |value| i32::try_from(value).unwrap_or(i32::MAX))
                };
                let clock = PhaseClock {
                    modulus: number(flags.values, default.modulus),
                    tail: number(self.tail, default.tail),
                };
                phase_clock::check(n, clock, scheduler, limits, control)
            }
            ModelName::Asynchronous => {
                let instance = flags.ring_instance(6, 2)?;
                let pace = self.pace.unwrap_or(1);
                let default = asynchronous::Clocking::for_ring(instance.processes(), pace);
                let clocking = asynchronous::Clocking {
                    modulus: flags.values.unwrap_or(default.modulus),
                    previous: !self.without_previous,
                    every_start: self.every_start,
                    ..default
                };
                // Distributed steps reach no further states, only more steps.
                let scheduler = self.scheduler.unwrap_or(Scheduler::Central);
                asynchronous::check(&instance, clocking, scheduler, limits, control)
            }
            ModelName::Handover => {
                let capacity = self.capacity.unwrap_or(2);
                let enough = u32::try_from(2 * capacity).unwrap_or(u32::MAX);
                handover::check(flags.values.unwrap_or(enough), capacity, limits, control)
            }
            ModelName::Monitor => {
                let (n, m) = flags.processes_and_tokens(6, 2);
                let d = flags.separation_for(n, m);
                let supply = self.supply.unwrap_or(m + 2);
                let default = vec![0];
                let monitors = self.monitors.as_ref().unwrap_or(&default);
                monitor::check(n, m, d, supply, monitors, limits, control)
            }
        }
    }

    /// Refuses flags that the model would ignore.
    fn only_meaningful_flags(&self) -> Result<(), Failure> {
        use ModelName as Name;
        let flags = &self.instance;
        let ring: &[Name] = &[Name::DelayRelay, Name::Definitional, Name::Asynchronous];
        let scheduled: &[Name] = &[Name::KState, Name::PhaseClock, Name::Asynchronous];
        let measuring: &[Name] = &[Name::Measure, Name::MeasureAsPrinted];
        let with_tokens = [ring, measuring, &[Name::Monitor]].concat();
        let with_separation = [ring, &[Name::Monitor]].concat();
        let with_values = [scheduled, &[Name::Definitional, Name::Handover]].concat();
        let with_processes = [&with_tokens[..], &[Name::KState, Name::PhaseClock]].concat();
        let given: &[(&str, bool, &[Name])] = &[
            ("--processes", flags.processes.is_some(), &with_processes),
            ("--tokens", flags.tokens.is_some(), &with_tokens),
            ("--separation", flags.separation.is_some(), &with_separation),
            ("--delays", flags.delays.is_some(), ring),
            ("--values", flags.values.is_some(), &with_values),
            ("--all-placements", self.all_placements, &[Name::DelayRelay]),
            (
                "--unreduced",
                self.unreduced,
                &[Name::DelayRelay, Name::Definitional],
            ),
            ("--scheduler", self.scheduler.is_some(), scheduled),
            ("--tail", self.tail.is_some(), &[Name::PhaseClock]),
            ("--pace", self.pace.is_some(), &[Name::Asynchronous]),
            ("--every-start", self.every_start, &[Name::Asynchronous]),
            (
                "--without-previous",
                self.without_previous,
                &[Name::Asynchronous],
            ),
            ("--capacity", self.capacity.is_some(), &[Name::Handover]),
            ("--supply", self.supply.is_some(), &[Name::Monitor]),
            ("--monitors", self.monitors.is_some(), &[Name::Monitor]),
            ("--limit", self.limit.is_some(), measuring),
        ];
        let stray = given
            .iter()
            .find(|(_, given, models)| *given && !models.contains(&self.model));
        match stray {
            None => Ok(()),
            Some((flag, _, models)) => {
                let models: Vec<String> = models.iter().map(|model| model.name()).collect();
                Err(
                    Failure::new(format!("{flag} has no meaning for {}", self.model.name()))
                        .help(format!("drop it; it is for {}", models.join(", "))),
                )
            }
        }
    }
}
