//! Flags that several subcommands share, and the ring they describe.
//!
//! [`RingFlags`] holds plain values; [`RingFlags::instance`] builds the ring and
//! its initial state, or says which flag to change.

use std::path::Path;

use clap::Args;
pub(crate) use headway_answer::Instance;
pub(crate) use headway_answer::instance::{
    BYTES_PER_PROCESS, BYTES_PER_TOKEN, check_memory, missing_memory,
};
use headway_sim::placement::Delays;
use headway_sim::settings::{Setting, Settings};

use crate::failure::{Failure, read_text};
use crate::report::progress::Progress;

#[cfg(test)]
mod tests;
mod value;

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
            Some(StartOrFile::File(path)) => {
                let _progress = Progress::saying(&format!("reading {}", path.display()));
                Instance::of_state_file(&settings, path, &read_text(path)?)?
            }
            _ => {
                let _progress = Progress::saying("drawing the initial state");
                Instance::of_settings(&settings)?
            }
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
