//! One description of a ring and its initial state, for the command line, the web
//! page, sweeps and nets.
//!
//! To add a start or a program, add a variant to [`Start`] or [`RingProgram`] and
//! what it does to [`Start::state`] or [`RingProgram::program`]: flags, requests,
//! sweep files and their help all take their words from here.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use headway_core::{Configuration, MAX_COUNTED_TOKENS, Program, Ring, Separation, Variable};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, EnumString, VariantArray, VariantNames};

#[cfg(feature = "clap")]
use crate::flags;
use crate::moving_block::MovingBlockRun;
use crate::placement::Delays;
use crate::seed::DEFAULT_SEED;
use crate::start::{self, Clocks};

mod error;

pub use error::SettingsError;

/// Which ring, in which state. Everything left out has a default.
///
/// ```
/// use headway_sim::settings::Settings;
/// let settings: Settings = serde_json::from_str(r#"{ "processes": 12, "start": "piled" }"#)?;
/// let (ring, state) = settings.build()?;
/// assert_eq!((ring.len(), state.tokens(), ring.separation().hops()), (12, 4, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Number of processes on the ring [default: 24]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "N", value_parser = flags::whole_number::<u64>, help_heading = "Ring"))]
    pub processes: Option<u64>,
    /// Number of tokens [default: 4, or N if that is less]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(short = 'm', long, value_name = "M", value_parser = flags::whole_number::<u64>, help_heading = "Ring"))]
    pub tokens: Option<u64>,
    /// Hops to keep between successive tokens [default: 5, or N/M if that is less]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(short = 'd', long, value_name = "D", value_parser = flags::whole_number::<u64>, help_heading = "Ring"))]
    pub separation: Option<u64>,
    /// What the delaying processes run [default: fixed]
    ///
    /// All but `fixed` and `moving-block` find the largest separation, N/M, by themselves.
    /// `measure` and `measure-as-printed` have to be the only process that delays, and are
    /// at process 0 unless --delays says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_parser = flags::one_of::<RingProgram>(), help_heading = "Ring"))]
    pub program: Option<RingProgram>,
    /// Which processes delay; the others only relay [default: all]
    ///
    /// `all`, a number K (that many, chosen by the seed), `even:K` (that many, evenly
    /// spread), `every:K` (0, K, 2K, ...), or `at:0,5,9`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "WHICH", help_heading = "Ring")
    )]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<String>"))]
    pub delays: Option<Delays>,
    /// The initial state [default: random]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub start: Option<Start>,
    /// Where the clock of a measuring process saturates [default: 2N]
    ///
    /// It has to be at least N: the largest ring that it can measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ROUNDS", value_parser = flags::whole_number::<u32>, help_heading = "Ring"))]
    pub limit: Option<u32>,
    /// Turns of all tokens in an epoch of shortest-lap-epochs [default: 4T+4 for a
    /// shortest lap of T rounds]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", value_parser = flags::whole_number::<u32>, help_heading = "Ring"))]
    pub horizon: Option<u32>,
    /// Seed of every random choice: a number, or `random` for a new one [default: 2009]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", value_parser = flags::seed, help_heading = "Ring"))]
    pub seed: Option<u64>,
}

/// Words that flags, requests and files share.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$says:meta])* $word:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[derive(Display, EnumMessage, EnumString, VariantArray, VariantNames)]
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum $name { $($(#[$says])* $word,)* }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = <$name as VariantArray>::VARIANTS;
        }
    };
}

words! {
    /// What the delaying processes run, or all of a moving block.
    RingProgram {
        /// Known separation.
        #[default]
        Fixed,
        /// Measures the ring and finds the largest separation.
        Measure,
        /// Measures the ring as the paper prints it, with its two errors.
        MeasureAsPrinted,
        /// Uses the shortest lap timed until tokens come too close; any number of processes.
        ShortestLap,
        /// Uses the shortest recent lap; any number of processes.
        ShortestLapEpochs,
        /// Reads the ring's size from tokens that count their hops; any number of processes.
        HopCount,
        /// No rounds: a token goes on when the way ahead is free; at random, `headway run` only.
        MovingBlock,
    }
}

words! {
    /// An initial state, by name.
    Start {
        /// Everything scrambled by the seed.
        #[default]
        Random,
        /// All tokens rest at process 0.
        Piled,
        /// Legitimate.
        Spaced,
        /// The state that is legitimate last of all.
        Worst,
    }
}

/// One of the [`Settings`], by its name in flags and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "documented as fields of Settings")]
pub enum Setting {
    Processes,
    Tokens,
    Separation,
    Program,
    Delays,
    Start,
    Limit,
    Horizon,
    Seed,
}

impl RingProgram {
    /// The names of those that run in lock-step.
    pub const LOCK_STEP: &[&str] = match <RingProgram as VariantNames>::VARIANTS {
        [lock_step @ .., _moving_block] => lock_step,
        [] => &[],
    };

    /// The program of a process that delays; `None` without lock-step.
    pub fn program(self) -> Option<Program> {
        Some(match self {
            RingProgram::Fixed => Program::Delay,
            RingProgram::Measure => Program::Measure,
            RingProgram::MeasureAsPrinted => Program::MeasureAsPrinted,
            RingProgram::ShortestLap => Program::ShortestLap,
            RingProgram::ShortestLapEpochs => Program::ShortestLapEpochs,
            RingProgram::HopCount => Program::HopCount,
            RingProgram::MovingBlock => return None,
        })
    }

    /// Whether the separation is found by measuring, rather than given.
    pub fn measures(self) -> bool {
        self.program().is_some_and(Program::measures)
    }

    /// Which processes delay by default: a process that adopts every lap it
    /// measures has to be the only one.
    pub fn default_delays(self) -> Delays {
        match self {
            RingProgram::Measure | RingProgram::MeasureAsPrinted => Delays::At(vec![0]),
            RingProgram::Fixed
            | RingProgram::ShortestLap
            | RingProgram::ShortestLapEpochs
            | RingProgram::HopCount
            | RingProgram::MovingBlock => Delays::All,
        }
    }

    /// A ring whose chosen processes run this program, and all others relay.
    ///
    /// # Errors
    ///
    /// When no such choice can be made on a ring of this size.
    pub fn ring(
        self,
        separation: Separation,
        processes: usize,
        delays: &Delays,
        seed: u64,
    ) -> Result<Ring, SettingsError> {
        let program = self.program().ok_or(SettingsError::NoLockStep)?;
        let mut programs = vec![Program::Relay; processes];
        // Without a list of all of them, which would be larger than the ring.
        if *delays == Delays::All {
            programs.fill(program);
        } else {
            for place in delays.choose(processes, seed)? {
                programs[place] = program;
            }
        }
        Ring::new(separation, programs).map_err(|_| SettingsError::NoProcesses)
    }
}

impl Start {
    /// This initial state of a ring.
    ///
    /// # Errors
    ///
    /// When the ring has no worst start, or none that is known.
    pub fn state(
        self,
        ring: &Ring,
        tokens: u32,
        seed: u64,
    ) -> Result<Configuration, SettingsError> {
        self.state_with(ring, tokens, &Clocks::new(ring.len()), seed)
    }

    /// The same with clocks of any size.
    ///
    /// # Errors
    ///
    /// As [`Start::state`].
    pub fn state_with(
        self,
        ring: &Ring,
        tokens: u32,
        clocks: &Clocks,
        seed: u64,
    ) -> Result<Configuration, SettingsError> {
        let mut state = match self {
            Start::Random => return Ok(start::random_with(ring, tokens, clocks, seed)),
            Start::Piled => start::piled(ring, tokens, 0),
            Start::Spaced => start::spaced(ring, tokens),
            Start::Worst if ring.measures() => return Err(SettingsError::WorstUnknown),
            Start::Worst => start::worst(ring, tokens).ok_or(SettingsError::NoWorst {
                tokens,
                separation: ring.separation(),
                processes: ring.len(),
            })?,
        };
        for (&at, variables) in &mut state.measuring {
            variables.limit = clocks.limit;
            variables.laps.horizon = clocks.horizon;
            let program = ring.programs()[at];
            for variable in Variable::ALL {
                let domain = variable.domain(program, variables);
                if let Some(value) = variable.get(variables) {
                    variable.set(variables, value.min(*domain.end()).max(*domain.start()));
                }
            }
            let counter = &mut state.processes[at].counter;
            *counter = (*counter).min(variables.largest_base());
        }
        Ok(state)
    }
}

impl Settings {
    /// n, as given or by default.
    pub fn processes(&self) -> u64 {
        self.processes.unwrap_or(24)
    }

    /// m, as given or by default.
    pub fn tokens(&self) -> u64 {
        self.tokens.unwrap_or(self.processes().min(4))
    }

    /// What the delaying processes run, as given or by default.
    pub fn program(&self) -> RingProgram {
        self.program.unwrap_or_default()
    }

    /// Which processes delay, as given or by default.
    pub fn delays(&self) -> Delays {
        let default = || self.program().default_delays();
        self.delays.clone().unwrap_or_else(default)
    }

    /// The seed, as given or by default.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// The settings that were given, in order.
    pub fn given(&self) -> impl Iterator<Item = Setting> + use<> {
        [
            (Setting::Processes, self.processes.is_some()),
            (Setting::Tokens, self.tokens.is_some()),
            (Setting::Separation, self.separation.is_some()),
            (Setting::Program, self.program.is_some()),
            (Setting::Delays, self.delays.is_some()),
            (Setting::Start, self.start.is_some()),
            (Setting::Limit, self.limit.is_some()),
            (Setting::Horizon, self.horizon.is_some()),
            (Setting::Seed, self.seed.is_some()),
        ]
        .into_iter()
        .filter_map(|(setting, given)| given.then_some(setting))
    }

    /// The first setting that contradicts a state file, which describes the whole
    /// ring and leaves only the seed to be chosen.
    pub fn contradicts_state_file(&self) -> Option<Setting> {
        self.given().find(|&setting| setting != Setting::Seed)
    }

    /// The same with the defaults written out, for the ring and state that these
    /// settings have built.
    pub fn written_out(&self, ring: &Ring, state: &Configuration) -> Settings {
        let program = self.program();
        Settings {
            processes: Some(ring.len() as u64),
            tokens: Some(state.tokens()),
            separation: (!program.measures()).then(|| ring.separation().hops().into()),
            program: Some(program),
            delays: Some(self.delays()),
            start: Some(self.start.unwrap_or_default()),
            limit: self.limit,
            horizon: self.horizon,
            seed: Some(self.seed()),
        }
    }

    /// The ring and its state. O(n) time and memory.
    ///
    /// # Errors
    ///
    /// The first setting that is wrong.
    pub fn build(&self) -> Result<(Ring, Configuration), SettingsError> {
        let (program, seed) = (self.program(), self.seed());
        if program.program().is_none() {
            return Err(SettingsError::NoLockStep);
        }
        let processes = self.processes_checked()?;
        let tokens = self.tokens_checked()?;
        let separation = self.separation_checked(processes, tokens)?;
        if self.limit.is_some() && !program.measures() {
            return Err(SettingsError::NothingMeasured);
        }
        let horizon = match self.horizon {
            None => None,
            Some(_) if program != RingProgram::ShortestLapEpochs => {
                return Err(SettingsError::NoEpochs);
            }
            Some(turns) => Some(NonZeroU32::new(turns).ok_or(SettingsError::NoHorizon)?),
        };
        if self
            .limit
            .is_some_and(|limit| u64::from(limit) < processes as u64)
        {
            return Err(SettingsError::ShortClock(processes as u64));
        }
        let ring = program.ring(separation, processes, &self.delays(), seed)?;
        if ring.reads_counts() && u64::from(tokens) > MAX_COUNTED_TOKENS {
            return Err(SettingsError::TooManyCounts);
        }
        let mut clocks = Clocks::new(processes);
        clocks.limit = self.limit.unwrap_or(clocks.limit);
        clocks.horizon = horizon;
        let start = self.start.unwrap_or_default();
        let state = start.state_with(&ring, tokens, &clocks, seed)?;
        if program.measures() {
            ring.admits(&state).map_err(SettingsError::Misfit)?;
        }
        Ok((ring, state))
    }

    /// The run of a moving block that these settings describe, with sizes within limits.
    ///
    /// # Errors
    ///
    /// The first setting that is wrong.
    pub fn moving_block(
        &self,
        processes: RangeInclusive<u64>,
        tokens: RangeInclusive<u64>,
    ) -> Result<MovingBlockRun, SettingsError> {
        let contradiction = self.given().find_map(|setting| {
            let why = match setting {
                Setting::Delays => "every process runs the same program",
                Setting::Limit | Setting::Horizon => "nothing is measured",
                _ => return None,
            };
            Some(SettingsError::Meaningless { setting, why })
        });
        contradiction.map_or(Ok(()), Err)?;
        let (n, m) = (self.processes(), self.tokens());
        let fits = || (n.max(1) - 1).checked_div(m).unwrap_or(1).clamp(1, 5);
        let d = self.separation.unwrap_or_else(fits);
        let separations = 1..=*processes.end();
        for (setting, given, allowed) in [
            (Setting::Processes, n, processes),
            (Setting::Tokens, m, tokens),
            (Setting::Separation, d, separations),
        ] {
            if !allowed.contains(&given) {
                let (least, most) = allowed.into_inner();
                return Err(SettingsError::Size {
                    setting,
                    given,
                    least,
                    most,
                });
            }
        }
        Ok(MovingBlockRun {
            start: self.start.unwrap_or_default(),
            seed: self.seed(),
            ..MovingBlockRun::new(n as usize, m as usize, d as u32)
        })
    }

    fn processes_checked(&self) -> Result<usize, SettingsError> {
        match self.processes() {
            0 => Err(SettingsError::NoProcesses),
            processes if processes > 1 << 32 => Err(SettingsError::TooManyProcesses),
            processes => usize::try_from(processes).map_err(|_| SettingsError::TooManyProcesses),
        }
    }

    fn tokens_checked(&self) -> Result<u32, SettingsError> {
        match u32::try_from(self.tokens()) {
            Ok(0) => Err(SettingsError::NoTokens),
            Ok(tokens) => Ok(tokens),
            Err(_) => Err(SettingsError::TooManyTokens),
        }
    }

    fn separation_checked(
        &self,
        processes: usize,
        tokens: u32,
    ) -> Result<Separation, SettingsError> {
        let largest = (processes as u64 / u64::from(tokens)).max(1);
        let hops = match (self.separation, self.program().measures()) {
            (Some(_), true) => return Err(SettingsError::SeparationIsMeasured),
            (Some(hops), false) => hops,
            (None, true) => largest.min(Separation::MAX.hops().into()),
            (None, false) => largest.min(5),
        };
        let hops = u32::try_from(hops).ok();
        hops.and_then(Separation::new)
            .ok_or(SettingsError::Separation)
    }
}
