//! A ring and its initial state from a few numbers and words, with defaults: what
//! the command line and the web page ask for.

use headway_core::{Configuration, Measuring, Misfit, Program, Ring, Separation};
use thiserror::Error;

use crate::placement::{Delays, DelaysError};
use crate::start;

/// Which ring, in which state. What is left out has a default.
///
/// ```
/// use headway_sim::settings::Settings;
/// let (ring, state) = Settings { processes: Some(12), ..Settings::default() }.build().unwrap();
/// assert_eq!((ring.len(), state.tokens(), ring.separation().hops()), (12, 4, 3));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// n; 24 by default.
    pub processes: Option<u64>,
    /// m; 4 by default, or n if that is less.
    pub tokens: Option<u64>,
    /// d; 5 by default, or n/m if that is less.
    pub separation: Option<u64>,
    /// What the delaying processes run.
    pub kind: Kind,
    /// Which processes delay; all by default, process 0 if it measures.
    pub delays: Option<Delays>,
    /// The initial state.
    pub start: Start,
    /// The seed of every random choice.
    pub seed: u64,
    /// Where the clock of a measuring process saturates; 2n by default.
    pub limit: Option<u32>,
}

/// What the delaying processes run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// They know the separation.
    #[default]
    Fixed,
    /// They measure the ring.
    Measure,
    /// The same with the paper's two errors.
    MeasureAsPrinted,
}

/// An initial state, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Everything scrambled by the seed.
    #[default]
    Random,
    /// All tokens rest at process 0.
    Piled,
    /// Legitimate.
    Spaced,
    /// The one that takes longest of all to settle.
    Worst,
}

/// Why there is no such ring or state.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingsError {
    /// n = 0.
    #[error("a ring needs at least one process")]
    NoProcesses,
    /// n > 2^32.
    #[error("a ring has at most 4294967296 processes")]
    TooManyProcesses,
    /// m = 0.
    #[error("there are no tokens, so nothing would ever move")]
    NoTokens,
    /// m ≥ 2^32.
    #[error("at most 4294967295 tokens can be represented")]
    TooManyTokens,
    /// d is 0 or too large.
    #[error("expected 1 to {}", Separation::MAX)]
    Separation,
    /// A separation was given to a program that measures it.
    #[error("contradicts a program that measures the separation by itself")]
    SeparationIsMeasured,
    /// A limit was given to a program that measures nothing.
    #[error("only has a meaning for a program that measures")]
    NothingMeasured,
    /// No such choice of delays.
    #[error("{0}")]
    Delays(#[from] DelaysError),
    /// m·d > n has no worst start.
    #[error(
        "with {tokens} tokens {separation} apart on {processes} processes there is no worst start, \
         because none of them settles"
    )]
    NoWorst {
        /// m.
        tokens: u32,
        /// d.
        separation: Separation,
        /// n.
        processes: usize,
    },
    /// No closed form.
    #[error("the worst start of a measuring ring is not known in closed form")]
    WorstUnknown,
    /// A limit that the ring cannot have.
    #[error("{0}")]
    Misfit(Misfit),
}

impl SettingsError {
    /// Which of the [`Settings`] is to blame.
    pub fn field(&self) -> &'static str {
        match self {
            SettingsError::NoProcesses | SettingsError::TooManyProcesses => "processes",
            SettingsError::NoTokens | SettingsError::TooManyTokens => "tokens",
            SettingsError::Separation | SettingsError::SeparationIsMeasured => "separation",
            SettingsError::NothingMeasured | SettingsError::Misfit(_) => "limit",
            SettingsError::Delays(_) => "delays",
            SettingsError::NoWorst { .. } | SettingsError::WorstUnknown => "start",
        }
    }
}

impl Kind {
    /// The program of a process that delays.
    pub fn program(self) -> Program {
        match self {
            Kind::Fixed => Program::Delay,
            Kind::Measure => Program::Measure,
            Kind::MeasureAsPrinted => Program::MeasureAsPrinted,
        }
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

    /// Which processes delay, as given or by default.
    pub fn delays(&self) -> Delays {
        self.delays.clone().unwrap_or(match self.kind {
            Kind::Fixed => Delays::All,
            Kind::Measure | Kind::MeasureAsPrinted => Delays::At(vec![0]),
        })
    }

    /// The ring and its state. O(n) time and memory.
    ///
    /// # Errors
    ///
    /// The first setting that is wrong.
    pub fn build(&self) -> Result<(Ring, Configuration), SettingsError> {
        let processes = self.processes_checked()?;
        let tokens = self.tokens_checked()?;
        let separation = self.separation_checked(processes, tokens)?;
        if self.kind == Kind::Fixed && self.limit.is_some() {
            return Err(SettingsError::NothingMeasured);
        }
        let mut programs = vec![Program::Relay; processes];
        for place in self.delays().choose(processes, self.seed)? {
            programs[place] = self.kind.program();
        }
        let ring = Ring::new(separation, programs).map_err(|_| SettingsError::NoProcesses)?;
        let mut state = match self.start {
            Start::Random => start::random(&ring, tokens, self.seed),
            Start::Piled => start::piled(&ring, tokens, 0),
            Start::Spaced => start::spaced(&ring, tokens),
            Start::Worst => start::worst(&ring, tokens).ok_or_else(|| no_worst(&ring, tokens))?,
        };
        let limit = self
            .limit
            .unwrap_or_else(|| Measuring::default_limit(processes));
        for variables in &mut state.measuring {
            variables.limit = limit;
            variables.elapsed = variables.elapsed.min(limit);
            variables.base = variables.base.min(variables.largest_base());
        }
        for (&at, variables) in ring.measurers().iter().zip(&state.measuring) {
            let counter = &mut state.processes[at].counter;
            *counter = (*counter).min(variables.largest_base());
        }
        ring.admits(&state).map_err(SettingsError::Misfit)?;
        Ok((ring, state))
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
        let hops = match (self.separation, self.kind) {
            (Some(hops), Kind::Fixed) => hops,
            (None, Kind::Fixed) => largest.min(5),
            (None, _) => largest.min(u64::from(Separation::MAX.hops())),
            (Some(_), _) => return Err(SettingsError::SeparationIsMeasured),
        };
        let hops = u32::try_from(hops).ok();
        hops.and_then(Separation::new)
            .ok_or(SettingsError::Separation)
    }
}

fn no_worst(ring: &Ring, tokens: u32) -> SettingsError {
    if ring.measurers().is_empty() {
        SettingsError::NoWorst {
            tokens,
            separation: ring.separation(),
            processes: ring.len(),
        }
    } else {
        SettingsError::WorstUnknown
    }
}
