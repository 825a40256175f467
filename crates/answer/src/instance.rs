//! A ring in a state.

use std::path::Path;

use headway_core::bound::WorstCase;
use headway_core::{Configuration, Ring};
use headway_sim::StateFile;
use headway_sim::placement::DelaysError;
use headway_sim::settings::{Settings, SettingsError};

use crate::memory::available_memory_bytes;
use crate::sentence::{Command, Part, set, setting};
use crate::{Failure, count, say};

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
            let flag = setting(&flag.to_string());
            let file = path.display();
            return Err(Failure::of(say![
                flag.clone(),
                format!(" contradicts the state file {file}, which describes the whole ring"),
            ])
            .advice(say![
                "drop ",
                flag,
                ", or drop the file and describe the ring by flags",
            ]));
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
            .map_err(|error| wrong_setting(settings, &error))?;
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
    let most = available_memory_bytes().unwrap_or_default() / bytes_each;
    let failure = Failure::of(say![set(flag, number), format!(" {missing}")]);
    Err(failure.advice(say!["give at most ", set(flag, most)]))
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

/// Which setting to change.
pub fn wrong_setting(settings: &Settings, error: &SettingsError) -> Failure {
    let name = error.setting().to_string();
    let said = |value: String| Failure::of(say![set(&name, value), format!(": {error}")]);
    let clause = || Failure::of(say![setting(&name), format!(" {error}")]);
    match error {
        SettingsError::NoProcesses => {
            said("0".to_owned()).advice(say!["give ", set(&name, 1), " or more"])
        }
        SettingsError::TooManyProcesses => {
            said(settings.processes().to_string()).advice(say!["give a smaller ", setting(&name)])
        }
        SettingsError::NoTokens => no_tokens().advice(say!["give ", set(&name, 1), " or more"]),
        SettingsError::TooManyTokens | SettingsError::TooManyCounts => {
            said(settings.tokens().to_string()).advice(say!["give a smaller ", setting(&name)])
        }
        SettingsError::Separation => said(settings.separation.unwrap_or(0).to_string())
            .help("tokens at least 1 hop apart are at different processes"),
        SettingsError::NoLockStep => {
            clause().advice(say![Command::Run, " runs it, without ", setting("walk")])
        }
        SettingsError::Meaningless { .. } => clause().advice(say!["drop ", setting(&name)]),
        SettingsError::Size { .. } => clause(),
        SettingsError::SeparationIsMeasured => clause().advice(say![
            "drop ",
            setting(&name),
            ", or use ",
            set("program", "fixed"),
        ]),
        SettingsError::NothingMeasured => clause().advice(say![
            "drop ",
            setting(&name),
            ", or add ",
            set("program", "measure"),
        ]),
        SettingsError::NoEpochs => clause().advice(say![
            "drop ",
            setting(&name),
            ", or add ",
            set("program", "shortest-lap-epochs"),
        ]),
        SettingsError::NoHorizon => said("0".to_owned()).advice(say![
            "drop ",
            setting(&name),
            " for one that is proved to be long enough, or give 1 or more",
        ]),
        SettingsError::Delays(_) => said(settings.delays().to_string()),
        SettingsError::NoWorst {
            tokens,
            separation,
            processes,
        } => {
            let (n, m, d) = (
                *processes as u64,
                u64::from(*tokens),
                separation.hops().into(),
            );
            let fits = [
                ("at most ", "tokens", (n >= d).then(|| n / d)),
                ("at most ", "separation", (n >= m).then(|| n / m)),
                ("at least ", "processes", Some(m * d)),
            ];
            let mut advice = vec![Part::from("give ")];
            for (bound, name, value) in fits {
                let Some(value) = value else { continue };
                if advice.len() > 1 {
                    advice.push(", or ".into());
                }
                advice.extend([bound.into(), set(name, value).into()]);
            }
            Failure::new(error).advice(advice.into_iter().collect())
        }
        SettingsError::WorstUnknown => said("worst".to_owned()).advice(say![
            "use ",
            set("start", "random"),
            ", or ",
            Command::CheckMeasure,
            " for small rings",
        ]),
        SettingsError::ShortClock(_) | SettingsError::Misfit(_) => {
            said(settings.limit.unwrap_or_default().to_string())
                .advice(say!["give at least ", set(&name, settings.processes())])
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
        let example = say![
            "expected a ring and its state in JSON; ",
            Command::ExampleState,
        ];
        match text.trim().is_empty() {
            true if path == Path::new("-") => {
                Failure::new("standard input is empty").advice(example)
            }
            true => Failure::new(format!("{} is empty", path.display())).advice(example),
            false if error.field.is_empty() => failure.advice(example),
            false => failure,
        }
    })
}
