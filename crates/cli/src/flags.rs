//! Flags that several subcommands share, and the ring they describe.
//!
//! [`RingFlags`] holds plain values; [`RingFlags::instance`] builds the ring and
//! its initial state, or says which flag to change.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use headway_core::{Configuration, Ring};
use headway_sim::StateFile;
use headway_sim::placement::{Delays, DelaysError};
use headway_sim::settings::{self, Kind, Settings, SettingsError};

use crate::failure::Failure;

/// Which ring, in which state.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RingFlags {
    /// Number of processes on the ring [default: 24]
    #[arg(long, value_name = "N", value_parser = whole_number, help_heading = "Ring")]
    pub(crate) processes: Option<u64>,

    /// Number of tokens [default: 4, or N if that is less]
    #[arg(long, value_name = "M", value_parser = whole_number, help_heading = "Ring")]
    pub(crate) tokens: Option<u64>,

    /// Hops to keep between successive tokens [default: 5, or N/M if that is less]
    #[arg(long, value_name = "D", value_parser = whole_number, help_heading = "Ring")]
    pub(crate) separation: Option<u64>,

    /// What the delaying processes run [default: fixed]
    ///
    /// `fixed` knows the separation. `measure` finds the largest one, N/M, by timing
    /// the ring; it wants to be the only process that delays, and is at process 0
    /// unless --delays says otherwise. `measure-as-printed` is the same with the
    /// paper's two errors.
    #[arg(long, value_enum, help_heading = "Ring")]
    pub(crate) program: Option<ProgramChoice>,

    /// Which processes delay; the others only relay [default: all]
    ///
    /// `all`, a number K (that many, chosen by the seed), `every:K` (0, K, 2K, ...), or
    /// `at:0,5,9`.
    #[arg(long, value_name = "WHICH", value_parser = parse_delays, help_heading = "Ring")]
    pub(crate) delays: Option<Delays>,

    /// Initial state [default: random]
    ///
    /// `random` scrambles everything, `piled` rests all tokens at process 0, `spaced`
    /// is legitimate, `worst` takes longest of all to settle. Anything else is the path
    /// of a state file, which describes the whole ring.
    #[arg(long, value_name = "STATE", help_heading = "Ring")]
    pub(crate) start: Option<Start>,

    /// Seed of every random choice: a number, or `random` for a new one [default: 2009]
    #[arg(long, value_name = "S", help_heading = "Ring")]
    pub(crate) seed: Option<Seed>,

    /// Where the clock of a measuring process saturates [default: 2N]
    ///
    /// It has to be at least N: the largest ring that it can measure.
    #[arg(long, value_name = "ROUNDS", help_heading = "Ring")]
    pub(crate) limit: Option<u32>,
}

/// A number of things; how many there may be is for the ring to say.
fn whole_number(text: &str) -> Result<u64, String> {
    let told = |_| "expected a whole number, at most 4294967296".to_owned();
    text.parse().map_err(told)
}

/// What the delaying processes run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgramChoice {
    /// Delay with a given separation
    #[default]
    Fixed,
    /// Delay that measures the ring, corrected
    Measure,
    /// Delay that measures the ring, as the paper prints it
    MeasureAsPrinted,
}

impl ProgramChoice {
    fn kind(self) -> Kind {
        match self {
            ProgramChoice::Fixed => Kind::Fixed,
            ProgramChoice::Measure => Kind::Measure,
            ProgramChoice::MeasureAsPrinted => Kind::MeasureAsPrinted,
        }
    }
}

/// An initial state: by name, or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Start {
    #[default]
    Random,
    Piled,
    Spaced,
    Worst,
    File(PathBuf),
}

impl FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Start, String> {
        Ok(match text {
            "random" => Start::Random,
            "piled" => Start::Piled,
            "spaced" => Start::Spaced,
            "worst" => Start::Worst,
            path if path.contains(['.', '/', '\\']) => Start::File(PathBuf::from(path)),
            _ => {
                return Err(
                    "expected random, piled, spaced, worst, or the path of a state file \
                     (with a dot or a slash in it)"
                        .to_owned(),
                );
            }
        })
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Start::Random => f.write_str("random"),
            Start::Piled => f.write_str("piled"),
            Start::Spaced => f.write_str("spaced"),
            Start::Worst => f.write_str("worst"),
            Start::File(path) => path.display().fmt(f),
        }
    }
}

/// A seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(pub(crate) u64);

impl Default for Seed {
    /// The year of the paper.
    fn default() -> Seed {
        Seed(2009)
    }
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Seed, String> {
        if text == "random" {
            use std::hash::{BuildHasher, RandomState};
            // The standard library's hasher keys come from the operating system.
            return Ok(Seed(RandomState::new().hash_one(0) >> 32));
        }
        text.parse().map(Seed).map_err(|_| {
            "expected a whole number from 0 to 18446744073709551615, or random".to_owned()
        })
    }
}

pub(crate) fn parse_delays(text: &str) -> Result<Delays, String> {
    text.parse::<Delays>().map_err(|error| error.to_string())
}

/// A ring with its initial state, and how it was described.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) ring: Ring,
    pub(crate) start: Configuration,
    pub(crate) seed: u64,
    /// In words: "random start" or the file's name.
    pub(crate) start_name: String,
}

impl Instance {
    pub(crate) fn processes(&self) -> u64 {
        self.ring.len() as u64
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.start.tokens()
    }

    /// d, in hops.
    pub(crate) fn separation(&self) -> u32 {
        self.ring.separation().hops()
    }

    /// m·d ≤ n.
    pub(crate) fn feasible(&self) -> bool {
        self.ring.separation().fits(self.processes(), self.tokens())
    }

    /// L: the largest distance from one delay to the next.
    pub(crate) fn widest_gap(&self) -> Option<u64> {
        let delays = self.ring.delays().map(|delay| delay as u64);
        headway_core::bound::widest_gap(delays, self.processes())
    }

    /// The proved worst case of the last round after which a token rests; `None`
    /// where there is none: infeasible rings, and rings that measure.
    pub(crate) fn worst_last_rest(&self) -> Option<u64> {
        if !self.feasible() || !self.ring.measurers().is_empty() {
            return None;
        }
        let gap = self.widest_gap()?;
        headway_core::bound::worst_last_rest(self.tokens(), self.separation(), gap)
    }
}

impl Instance {
    /// The proved worst case of the round after which the state is legitimate;
    /// `None` where [`Instance::worst_last_rest`] is.
    pub(crate) fn worst_legitimate_at(&self) -> Option<u64> {
        self.worst_last_rest()?;
        let delays: Vec<u64> = self.ring.delays().map(|delay| delay as u64).collect();
        let gaps = headway_core::bound::gaps(delays, self.processes());
        headway_core::bound::worst_legitimate_at(self.tokens(), self.separation(), gaps)
    }
}

impl RingFlags {
    /// The seed in force.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or_default().0
    }

    /// The ring and state that the flags describe.
    pub(crate) fn instance(&self) -> Result<Instance, Failure> {
        match self.start.clone().unwrap_or_default() {
            Start::File(path) => self.read_file(&path),
            start => self.build(&start),
        }
    }

    fn read_file(&self, path: &Path) -> Result<Instance, Failure> {
        let given = [
            ("--processes", self.processes.is_some()),
            ("--tokens", self.tokens.is_some()),
            ("--separation", self.separation.is_some()),
            ("--program", self.program.is_some()),
            ("--delays", self.delays.is_some()),
            ("--limit", self.limit.is_some()),
        ];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Failure::new(format!(
                "{flag} contradicts the state file {}, which describes the whole ring",
                path.display()
            ))
            .help(format!(
                "drop {flag}, or drop the file and describe the ring by flags"
            )));
        }
        let StateFile {
            ring,
            configuration,
        } = read_state_file(path)?;
        if configuration.tokens() == 0 {
            return Err(no_tokens().help(format!(
                "give at least one process of {} a token: \"resting\": 1",
                path.display()
            )));
        }
        if ring.delays().next().is_none() {
            return Err(
                Failure::new(format!("{}: {}", path.display(), DelaysError::None))
                    .help("make \"program\" of at least one process \"delay\""),
            );
        }
        Ok(Instance {
            ring,
            start: configuration,
            seed: self.seed(),
            start_name: format!("start from {}", path.display()),
        })
    }

    fn build(&self, start: &Start) -> Result<Instance, Failure> {
        let settings = Settings {
            processes: self.processes,
            tokens: self.tokens,
            separation: self.separation,
            kind: self.program.unwrap_or_default().kind(),
            delays: self.delays.clone(),
            start: match start {
                Start::Random | Start::File(_) => settings::Start::Random,
                Start::Piled => settings::Start::Piled,
                Start::Spaced => settings::Start::Spaced,
                Start::Worst => settings::Start::Worst,
            },
            seed: self.seed(),
            limit: self.limit,
        };
        check_memory(settings.processes())?;
        let (ring, state) = settings
            .build()
            .map_err(|error| wrong_flag(&settings, &error))?;
        Ok(Instance {
            ring,
            start: state,
            seed: self.seed(),
            start_name: format!("{start} start"),
        })
    }
}

/// A run holds the ring, its state twice over, release times and visits.
const BYTES_PER_PROCESS: u64 = 48;

fn check_memory(processes: u64) -> Result<(), Failure> {
    let needed = processes.saturating_mul(BYTES_PER_PROCESS);
    match available_memory_bytes() {
        Some(available) if processes <= 1 << 32 && needed > available => {
            Err(Failure::new(format!(
                "--processes {processes} needs about {} MB of memory, and {} MB are free",
                needed >> 20,
                available >> 20
            ))
            .help(format!(
                "give at most --processes {}",
                available / BYTES_PER_PROCESS
            )))
        }
        _ => Ok(()),
    }
}

/// Which flag to change.
fn wrong_flag(settings: &Settings, error: &SettingsError) -> Failure {
    let say = |flag: String| Failure::new(format!("{flag}: {error}"));
    match error {
        SettingsError::NoProcesses => {
            say("--processes 0".to_owned()).help("give --processes 2 or more")
        }
        SettingsError::TooManyProcesses => {
            say(format!("--processes {}", settings.processes())).help("give a smaller --processes")
        }
        SettingsError::NoTokens => no_tokens().help("give --tokens 1 or more"),
        SettingsError::TooManyTokens => {
            say(format!("--tokens {}", settings.tokens())).help("give a smaller --tokens")
        }
        SettingsError::Separation => {
            say(format!("--separation {}", settings.separation.unwrap_or(0)))
                .help("tokens at least 1 hop apart are at different processes")
        }
        SettingsError::SeparationIsMeasured => Failure::new(format!("--separation {error}"))
            .help("drop --separation, or use --program fixed"),
        SettingsError::NothingMeasured => {
            Failure::new(format!("--limit {error}")).help("drop --limit, or add --program measure")
        }
        SettingsError::Delays(_) => say(format!("--delays {}", settings.delays())),
        SettingsError::NoWorst { .. } => {
            say("--start worst".to_owned()).help("make tokens times separation at most processes")
        }
        SettingsError::WorstUnknown => say("--start worst".to_owned())
            .help("use --start random, or `headway check measure` for small rings"),
        SettingsError::Misfit(_) => Failure::new(error),
    }
}

fn no_tokens() -> Failure {
    Failure::new(SettingsError::NoTokens)
}

/// Reads a state file, with errors that show the place.
pub(crate) fn read_state_file(path: &Path) -> Result<StateFile, Failure> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
    StateFile::parse(&text).map_err(|error| {
        let message = if error.field.is_empty() {
            error.problem.clone()
        } else {
            format!("{}: {}", error.field, error.problem)
        };
        Failure::in_text(path, &text, error.line, error.column, message)
    })
}

/// Memory that can be had without swapping, where the system says.
pub(crate) fn available_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
    /// A table of comma-separated values
    Csv,
}

/// How results that are no table are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
}
