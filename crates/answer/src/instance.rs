//! A ring in a state.

use std::path::Path;

use headway_core::bound::WorstCase;
use headway_core::{Configuration, Ring};
use headway_sim::StateFile;
use headway_sim::placement::DelaysError;
use headway_sim::settings::{Settings, SettingsError};

use crate::memory::available_memory_bytes;
use crate::{Failure, count};

/// A ring with its initial state, and how it was described.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Programs and separation.
    pub ring: Ring,
    /// The initial state.
    pub start: Configuration,
    /// Counted once, because that takes a while on a large ring.
    tokens: u64,
    /// Of every random choice.
    pub seed: u64,
    /// In words: "random start" or the file's name.
    pub start_name: String,
    /// The flags that described it, in order: name and value.
    pub given: Vec<(String, String)>,
}

impl Instance {
    /// A ring and its state, described by nothing.
    pub fn new(ring: Ring, start: Configuration, seed: u64, start_name: String) -> Instance {
        Instance {
            tokens: start.tokens(),
            ring,
            start,
            seed,
            start_name,
            given: Vec::new(),
        }
    }

    /// The ring and state of the state file at a path, whose text this is.
    ///
    /// # Errors
    ///
    /// The line or the flag that is wrong.
    pub fn of_state_file(
        settings: &Settings,
        path: &Path,
        text: &str,
    ) -> Result<Instance, Failure> {
        if let Some(flag) = settings.contradicts_state_file() {
            return Err(Failure::new(format!(
                "--{flag} contradicts the state file {}, which describes the whole ring",
                path.display()
            ))
            .help(format!(
                "drop --{flag}, or drop the file and describe the ring by flags"
            )));
        }
        let StateFile {
            ring,
            configuration,
        } = parse_state_file(path, text)?;
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
        let start_name = match path == Path::new("-") {
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

    /// The ring and state that settings describe.
    ///
    /// # Errors
    ///
    /// The flag to change.
    pub fn of_settings(settings: &Settings) -> Result<Instance, Failure> {
        // Larger numbers are refused for what they are.
        let (processes, tokens) = (settings.processes(), settings.tokens());
        if processes <= 1 << 32 && tokens < 1 << 32 {
            check_memory("processes", processes, BYTES_PER_PROCESS)?;
            check_memory("tokens", tokens, BYTES_PER_TOKEN)?;
        }
        let (ring, start) = settings
            .build()
            .map_err(|error| wrong_flag(settings, &error))?;
        let start_name = format!("{} start", settings.start.unwrap_or_default());
        Ok(Instance::new(ring, start, settings.seed(), start_name))
    }

    /// A command about this ring, with these flags instead of or after the given ones.
    pub fn command(&self, name: &str, changed: &[(&str, &str)]) -> String {
        self.command_of(name, "", changed)
    }

    /// A command about this ring without one of the given flags.
    pub fn command_without(&self, name: &str, flag: &str) -> String {
        self.command_of(name, flag, &[])
    }

    fn command_of(&self, name: &str, without: &str, changed: &[(&str, &str)]) -> String {
        let mut flags: Vec<(&str, &str)> = Vec::new();
        let given = self.given.iter().map(|(name, value)| (&**name, &**value));
        let given = given.filter(|(flag, _)| *flag != without);
        for (flag, value) in given.chain(changed.iter().copied()) {
            match flags.iter_mut().find(|(earlier, _)| *earlier == flag) {
                Some(earlier) => earlier.1 = value,
                None => flags.push((flag, value)),
            }
        }
        let mut command = format!("headway {name}");
        for (flag, value) in flags {
            command += &format!(" --{flag}");
            if value.contains(|c: char| c.is_whitespace() || "'\"\\$&|;<>()*?[]#~!`".contains(c)) {
                command += &format!(" '{}'", value.replace('\'', r"'\''"));
            } else if !value.is_empty() {
                command += &format!(" {value}");
            }
        }
        command
    }

    /// The ring and its start in words.
    pub fn title(&self) -> String {
        let delays = self.ring.delay_count();
        let who = if delays == self.ring.len() {
            "all delay".to_owned()
        } else {
            format!("{delays} of them delay")
        };
        format!(
            "{}, {who}; {}, {} apart; {}, seed {}",
            count(self.processes(), "process"),
            count(self.tokens(), "token"),
            self.separation(),
            self.start_name,
            self.seed
        )
    }

    /// Whether a state file, not flags, describes the ring.
    pub fn is_of_file(&self) -> bool {
        self.start_name.starts_with("start from")
    }

    /// n.
    pub fn processes(&self) -> u64 {
        self.ring.len() as u64
    }

    /// m.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// d, in hops.
    pub fn separation(&self) -> u32 {
        self.ring.separation().hops()
    }

    /// m·d ≤ n.
    pub fn feasible(&self) -> bool {
        self.ring.fits(self.tokens())
    }

    /// The proved worst case from any state, where there is one.
    pub fn worst_case(&self) -> Option<WorstCase> {
        self.ring.worst_case(self.tokens())
    }
}

/// A run holds the ring, its state twice over, release times and visits.
pub const BYTES_PER_PROCESS: u64 = 48;
/// And the place of every token; a forecast holds its waits as well.
pub const BYTES_PER_TOKEN: u64 = 80;

/// Refuses a number that needs more memory than there is.
///
/// # Errors
///
/// How much it needs, and how many would fit.
pub fn check_memory(flag: &str, number: u64, bytes_each: u64) -> Result<(), Failure> {
    let Some(missing) = missing_memory(number, bytes_each) else {
        return Ok(());
    };
    let failure = Failure::new(format!("--{flag} {number} {missing}"));
    let most = available_memory_bytes().unwrap_or_default() / bytes_each;
    Err(failure.help(format!("give at most --{flag} {most}")))
}

/// What to say if there is not enough memory for so many things.
pub fn missing_memory(number: u64, bytes_each: u64) -> Option<String> {
    let needed = u128::from(number) * u128::from(bytes_each);
    let available = available_memory_bytes().filter(|&bytes| needed > bytes.into())?;
    Some(format!(
        "needs about {} MB of memory, and {} MB are free",
        needed >> 20,
        available >> 20
    ))
}

/// Which flag to change.
pub fn wrong_flag(settings: &Settings, error: &SettingsError) -> Failure {
    let say = |flag: String| Failure::new(format!("{flag}: {error}"));
    match error {
        SettingsError::NoProcesses => {
            say("--processes 0".to_owned()).help("give --processes 1 or more")
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
        SettingsError::NoLockStep => {
            Failure::new(format!("--program {error}")).help("`headway run` runs it, without --walk")
        }
        SettingsError::Meaningless { setting, .. } => {
            Failure::new(format!("--{setting} {error}")).help(format!("drop --{setting}"))
        }
        SettingsError::Size { setting, .. } => Failure::new(format!("--{setting} {error}")),
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

/// The state file at a path, whose text this is; errors show the place.
///
/// # Errors
///
/// The first thing wrong with it.
pub(crate) fn parse_state_file(path: &Path, text: &str) -> Result<StateFile, Failure> {
    StateFile::parse(text).map_err(|error| {
        let message = if error.field.is_empty() {
            error.problem.clone()
        } else {
            format!("{}: {}", error.field, error.problem)
        };
        let failure = Failure::in_text(path, text, error.line, error.column, message);
        let example = "expected a ring and its state in JSON; \
                       `headway worst --witness example.json` writes one to look at";
        match text.trim().is_empty() {
            true if path == Path::new("-") => Failure::new("standard input is empty").help(example),
            true => Failure::new(format!("{} is empty", path.display())).help(example),
            false if error.field.is_empty() => failure.help(example),
            false => failure,
        }
    })
}
