//! Flags that several subcommands share, and the ring they describe.
//!
//! [`RingFlags`] holds plain values; [`RingFlags::instance`] builds the ring and
//! its initial state, or says which flag to change.

use std::path::Path;

use clap::Args;
use headway_sim::StateFile;
use headway_sim::placement::{Delays, DelaysError};
use headway_sim::settings::{Setting, Settings, SettingsError};

use crate::failure::{Failure, is_stdin, read_text};
use crate::memory::available_memory_bytes;
use crate::report::progress::Progress;

mod instance;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use instance::Instance;
pub(crate) use value::{
    Format, ProgramChoice, Seed, StartOrFile, TextOrJson, decimal, delays, duration, one_of,
    possible_values, threads, whole_number, whole_number_in,
};

/// Which ring, in which state.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RingFlags {
    /// Number of processes on the ring [default: 24]
    #[arg(short = 'n', long, value_name = "N", value_parser = whole_number::<u64>, help_heading = "Ring")]
    pub(crate) processes: Option<u64>,

    /// Number of tokens [default: 4, or N if that is less]
    #[arg(short = 'm', long, value_name = "M", value_parser = whole_number::<u64>, help_heading = "Ring")]
    pub(crate) tokens: Option<u64>,

    /// Hops to keep between successive tokens [default: 5, or N/M if that is less]
    #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u64>, help_heading = "Ring")]
    pub(crate) separation: Option<u64>,

    /// What the delaying processes run [default: fixed]
    ///
    /// All but `fixed` and `moving-block` find the largest separation, N/M, by themselves.
    /// `measure` and `measure-as-printed` have to be the only process that delays, and are
    /// at process 0 unless --delays says otherwise.
    #[arg(long, value_parser = value::program(), help_heading = "Ring")]
    pub(crate) program: Option<ProgramChoice>,

    /// Which processes delay; the others only relay [default: all]
    ///
    /// `all`, a number K (that many, chosen by the seed), `even:K` (that many, evenly
    /// spread), `every:K` (0, K, 2K, ...), or `at:0,5,9`.
    #[arg(long, value_name = "WHICH", value_parser = delays, help_heading = "Ring")]
    pub(crate) delays: Option<Delays>,

    /// Initial state [default: random]
    ///
    #[arg(long, value_name = "STATE", long_help = value::start_help(), help_heading = "Ring")]
    pub(crate) start: Option<StartOrFile>,

    /// Seed of every random choice: a number, or `random` for a new one [default: 2009]
    #[arg(long, value_name = "S", help_heading = "Ring")]
    pub(crate) seed: Option<Seed>,

    /// Where the clock of a measuring process saturates [default: 2N]
    ///
    /// It has to be at least N: the largest ring that it can measure.
    #[arg(long, value_name = "ROUNDS", value_parser = whole_number::<u32>, help_heading = "Ring")]
    pub(crate) limit: Option<u32>,

    /// Turns of all tokens in an epoch of shortest-lap-epochs [default: 4T+4 for a
    /// shortest lap of T rounds]
    #[arg(long, value_name = "K", value_parser = whole_number::<u32>, help_heading = "Ring")]
    pub(crate) horizon: Option<u32>,
}

impl RingFlags {
    /// The settings that the flags give, except for a state file.
    fn settings(&self) -> Settings {
        Settings {
            processes: self.processes,
            tokens: self.tokens,
            separation: self.separation,
            program: self.program.and_then(ProgramChoice::in_lock_step),
            delays: self.delays.clone(),
            start: match self.start {
                Some(StartOrFile::Start(start)) => Some(start),
                Some(StartOrFile::File(_)) | None => None,
            },
            limit: self.limit,
            horizon: self.horizon,
            seed: self.seed.map(|seed| seed.0),
        }
    }

    /// The first flag that was given.
    pub(crate) fn first_given(&self) -> Option<Setting> {
        let file = self.start.is_some().then_some(Setting::Start);
        self.settings().given().next().or(file)
    }

    /// The same with a state file that was named as an argument, in place of
    /// `--start`.
    pub(crate) fn with_state_file(&self, path: &Path) -> Result<RingFlags, Failure> {
        if self.start.is_some() {
            return Err(Failure::new(format!(
                "--start contradicts the state file {}",
                path.display()
            ))
            .help("give one of them"));
        }
        Ok(RingFlags {
            start: Some(StartOrFile::File(path.to_owned())),
            ..self.clone()
        })
    }

    /// The ring and state that the flags describe.
    pub(crate) fn instance(&self) -> Result<Instance, Failure> {
        if self.program == Some(ProgramChoice::MovingBlock) {
            return Err(
                Failure::new("--program moving-block has no rounds in lock-step")
                    .help("`headway run` runs it, without --walk"),
            );
        }
        let settings = self.settings();
        let mut instance = match &self.start {
            Some(StartOrFile::File(path)) => from_file(&settings, path)?,
            _ => from_settings(&settings)?,
        };
        instance.given = self.given();
        Ok(instance)
    }

    /// The flags that were given, as they would be typed.
    pub(crate) fn given(&self) -> Vec<(String, String)> {
        let settings = self.settings();
        let text = |setting: Setting| match setting {
            Setting::Processes => settings.processes().to_string(),
            Setting::Tokens => settings.tokens().to_string(),
            Setting::Separation => settings.separation.unwrap_or_default().to_string(),
            Setting::Program => settings.program().to_string(),
            Setting::Delays => settings.delays().to_string(),
            Setting::Start => settings.start.unwrap_or_default().to_string(),
            Setting::Limit => settings.limit.unwrap_or_default().to_string(),
            Setting::Horizon => settings.horizon.unwrap_or_default().to_string(),
            Setting::Seed => settings.seed().to_string(),
        };
        let flag = |setting: Setting| (setting.to_string(), text(setting));
        let mut given: Vec<_> = settings.given().map(flag).collect();
        if let Some(StartOrFile::File(path)) = &self.start {
            given.insert(0, ("start".to_owned(), path.display().to_string()));
        }
        given
    }
}

fn from_file(settings: &Settings, path: &Path) -> Result<Instance, Failure> {
    if let Some(flag) = settings.contradicts_state_file() {
        return Err(Failure::new(format!(
            "--{flag} contradicts the state file {}, which describes the whole ring",
            path.display()
        ))
        .help(format!(
            "drop --{flag}, or drop the file and describe the ring by flags"
        )));
    }
    let progress = Progress::saying(&format!("reading {}", path.display()));
    let StateFile {
        ring,
        configuration,
    } = read_state_file(path)?;
    drop(progress);
    if ring.delays().next().is_none() {
        return Err(
            Failure::new(format!("{}: {}", path.display(), DelaysError::None))
                .help("make \"program\" of at least one process \"delay\""),
        );
    }
    if let Some(missing) = missing_memory(configuration.tokens(), BYTES_PER_TOKEN) {
        let tokens = configuration.tokens();
        return Err(
            Failure::new(format!("{}: {tokens} tokens {missing}", path.display()))
                .help("give its processes fewer tokens, or use a machine with more memory"),
        );
    }
    let start_name = match is_stdin(path) {
        true => "start from standard input".to_owned(),
        false => format!("start from {}", path.display()),
    };
    let instance = Instance::new(ring, configuration, settings.seed(), start_name);
    if instance.tokens() == 0 {
        return Err(no_tokens().help(format!(
            "give at least one process of {} a token: \"resting\": 1",
            path.display()
        )));
    }
    Ok(instance)
}

fn from_settings(settings: &Settings) -> Result<Instance, Failure> {
    // Larger numbers are refused for what they are.
    let (processes, tokens) = (settings.processes(), settings.tokens());
    if processes <= 1 << 32 && tokens < 1 << 32 {
        check_memory("processes", processes, BYTES_PER_PROCESS)?;
        check_memory("tokens", tokens, BYTES_PER_TOKEN)?;
    }
    let _progress = Progress::saying("drawing the initial state");
    let (ring, start) = settings
        .build()
        .map_err(|error| wrong_flag(settings, &error))?;
    let start_name = format!("{} start", settings.start.unwrap_or_default());
    Ok(Instance::new(ring, start, settings.seed(), start_name))
}

/// A run holds the ring, its state twice over, release times and visits.
pub(crate) const BYTES_PER_PROCESS: u64 = 48;
/// And the place of every token; a forecast holds its waits as well.
pub(crate) const BYTES_PER_TOKEN: u64 = 80;

/// Refuses a number that needs more memory than there is.
pub(crate) fn check_memory(flag: &str, number: u64, bytes_each: u64) -> Result<(), Failure> {
    let Some(missing) = missing_memory(number, bytes_each) else {
        return Ok(());
    };
    let failure = Failure::new(format!("--{flag} {number} {missing}"));
    let most = available_memory_bytes().unwrap_or_default() / bytes_each;
    Err(failure.help(format!("give at most --{flag} {most}")))
}

/// What to say if there is not enough memory for so many things.
pub(crate) fn missing_memory(number: u64, bytes_each: u64) -> Option<String> {
    let needed = u128::from(number) * u128::from(bytes_each);
    let available = available_memory_bytes().filter(|&bytes| needed > bytes.into())?;
    Some(format!(
        "needs about {} MB of memory, and {} MB are free",
        needed >> 20,
        available >> 20
    ))
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
        SettingsError::TooManyTokens | SettingsError::TooManyCounts => {
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
        SettingsError::NoEpochs => Failure::new(format!("--horizon {error}"))
            .help("drop --horizon, or add --program shortest-lap-epochs"),
        SettingsError::NoHorizon => say("--horizon 0".to_owned())
            .help("drop --horizon for one that is proved to be long enough, or give 1 or more"),
        SettingsError::Delays(_) => say(format!("--delays {}", settings.delays())),
        SettingsError::NoWorst {
            tokens,
            separation,
            processes,
        } => {
            let (n, d) = (*processes as u64, u64::from(separation.hops()));
            let mut fits = Vec::new();
            if n >= d {
                fits.push(format!("at most --tokens {}", n / d));
            }
            if n >= u64::from(*tokens) {
                fits.push(format!("at most --separation {}", n / u64::from(*tokens)));
            }
            fits.push(format!("at least --processes {}", u64::from(*tokens) * d));
            Failure::new(error).help(format!("give {}", fits.join(", or ")))
        }
        SettingsError::WorstUnknown => say("--start worst".to_owned())
            .help("use --start random, or `headway check measure` for small rings"),
        SettingsError::ShortClock(_) | SettingsError::Misfit(_) => {
            say(format!("--limit {}", settings.limit.unwrap_or_default()))
                .help(format!("give at least --limit {}", settings.processes()))
        }
    }
}

fn no_tokens() -> Failure {
    Failure::new(SettingsError::NoTokens)
}

/// Reads a state file, with errors that show the place.
pub(crate) fn read_state_file(path: &Path) -> Result<StateFile, Failure> {
    let text = read_text(path)?;
    StateFile::parse(&text).map_err(|error| {
        let message = if error.field.is_empty() {
            error.problem.clone()
        } else {
            format!("{}: {}", error.field, error.problem)
        };
        let failure = Failure::in_text(path, &text, error.line, error.column, message);
        let example = "expected a ring and its state in JSON; \
                       `headway worst --witness example.json` writes one to look at";
        match text.trim().is_empty() {
            true => Failure::new(format!("{} is empty", path.display())).help(example),
            false if error.field.is_empty() => failure.help(example),
            false => failure,
        }
    })
}
