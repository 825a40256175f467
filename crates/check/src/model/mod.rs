//! The models that ship, each in a file with its settings and a `check` that takes them, and
//! the list of those that have a name.

use headway_core::Program;

use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::protocol::Protocol;
use crate::protocol::built_in::AsFile;
use crate::report::Report;
use crate::settings::{Given, Setting, Settings, read};

pub mod asynchronous;
pub mod definitional;
pub mod delay_relay;
pub mod handover;
pub mod k_state;
pub mod measure;
pub mod monitor;
pub mod moving_block;
pub mod patrol;
pub mod phase_clock;
pub mod stations;
pub mod unknown_size;

/// A model and what it is called.
pub struct NamedModel {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub help: &'static str,
    /// Its settings but for those of `without`.
    list: fn() -> Vec<Setting>,
    without: &'static [&'static str],
    check: fn(&Given, &Control) -> Result<Report>,
    file: Option<fn(&Given) -> Result<AsFile>>,
}

/// Name, help, settings and `check` of every model, and which protocol file it is where there
/// is one.
macro_rules! models {
    ($($name:literal, $help:literal: $settings:ty $([without $($left_out:ident),+])? => $check:expr
        $(, file $file:expr)?;)*) => {
        &[$(NamedModel {
            name: $name,
            help: $help,
            list: <$settings>::list,
            without: &[$($(stringify!($left_out)),+)?],
            check: |given, control| {
                let check: fn(&$settings, &Control) -> Result<Report> = $check;
                check(&read(given)?, control)
            },
            file: models!(@ $settings $(, $file)?),
        },)*]
    };
    (@ $settings:ty) => { None };
    (@ $settings:ty, $file:expr) => { Some(|given| $file(&read::<$settings>(given)?)) };
}

/// All models that have a name.
pub const MODELS: &[NamedModel] = models! {
    "delay-relay", "Delay and relay with a known separation: the paper's first protocol":
        delay_relay::Settings => delay_relay::check, file delay_relay::file;
    "measure", "One process measures the ring, corrected":
        measure::Settings => measure::check, file measure::file;
    "shortest-lap", "Unknown ring size: the shortest lap, until tokens come too close":
        unknown_size::Settings [without horizon]
        => |ring, control| unknown_size::check(Program::ShortestLap, ring, control);
    "shortest-lap-epochs",
    "Unknown ring size: the shortest lap of this epoch and the one before":
        unknown_size::Settings
        => |ring, control| unknown_size::check(Program::ShortestLapEpochs, ring, control);
    "hop-count", "Unknown ring size: tokens count their hops":
        unknown_size::Settings [without horizon]
        => |ring, control| unknown_size::check(Program::HopCount, ring, control);
    "measure-as-printed", "One process measures the ring, as the paper prints it":
        measure::Settings [without delays] => measure::check_as_printed;
    "k-state", "Dijkstra's K-state token ring":
        k_state::Settings => k_state::check, file k_state::file;
    "definitional", "Tokens that cannot be lost: M K-state rings under the delay/relay rule":
        definitional::Settings => definitional::check;
    "phase-clock", "The phase clock (unison) on a ring":
        phase_clock::Settings => phase_clock::check, file phase_clock::file;
    "asynchronous", "Delay/relay driven by a phase clock":
        asynchronous::Settings => asynchronous::check;
    "handover", "A token handed over by an acknowledged message":
        handover::Settings => handover::check;
    "monitor", "A distinguished process counts tokens and corrects their number":
        monitor::Settings => monitor::check;
    "moving-block", "The moving block by messages: separation without a clock":
        moving_block::Settings => moving_block::check;
    "patrol",
    "The moving block with tokens that cannot be lost, and the patrol that ends a standstill":
        patrol::Settings => patrol::check;
    "stations", "Stations by messages: a token lets a whole group work at once":
        stations::Settings => stations::check;
};

impl NamedModel {
    /// The model of a name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn of(name: &str) -> Result<&'static NamedModel> {
        let found = MODELS.iter().find(|model| model.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
            CheckError::settings(format!(
                "there is no model '{name}'; expected {}, or a protocol file (with a dot or a \
                 slash in its name)",
                names.join(", ")
            ))
        })
    }

    /// What can be set.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = (self.list)();
        settings.retain(|setting| !self.without.contains(&setting.name));
        settings
    }

    /// Checks it.
    ///
    /// # Errors
    ///
    /// A setting that it does not have or cannot take, or why there is no answer.
    pub fn check(&self, given: &Given, control: &Control) -> Result<Report> {
        self.admit(given)?;
        (self.check)(given, control)
    }

    /// Whether it is a protocol file too.
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// The same instance as a protocol.
    ///
    /// # Errors
    ///
    /// As [`NamedModel::check`]; what only the model in Rust can do, or when it
    /// [has no file](NamedModel::has_file).
    pub fn protocol(&self, given: &Given) -> Result<Protocol> {
        self.admit(given)?;
        let none = || CheckError::settings(format!("{} is no protocol file", self.name));
        self.file.ok_or_else(none)?(given)?.protocol()
    }

    fn admit(&self, given: &Given) -> Result<()> {
        let settings = self.settings();
        let known = |name: &&String| settings.iter().any(|setting| setting.name == **name);
        match given.keys().find(|name| !known(name)) {
            None => Ok(()),
            Some(name) => {
                let why = format!("has no meaning for the model {}", self.name);
                Err(CheckError::meaningless(name, why))
            }
        }
    }
}
