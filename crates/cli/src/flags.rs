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
use headway_sim::settings::{Setting, Settings};

use crate::failure::{Failure, read_text};
use crate::report::progress::Progress;

#[cfg(test)]
mod tests;
mod value;

pub(crate) use value::{
    Format, StartOrFile, TextOrJson, decimal, duration, one_of, possible_values, seed, threads,
    whole_number, whole_number_in,
};

/// Which ring, in which state.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RingFlags {
    #[command(flatten)]
    pub(crate) settings: Settings,

    /// Initial state [default: random]
    ///
    #[arg(long, value_name = "STATE", long_help = value::start_help(), help_heading = "Ring")]
    pub(crate) start: Option<StartOrFile>,
}

impl RingFlags {
    /// The settings that the flags give, except for a state file.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            start: match self.start {
                Some(StartOrFile::Start(start)) => Some(start),
                Some(StartOrFile::File(_)) | None => None,
            },
            ..self.settings.clone()
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
