//! Sentences about settings and commands, which the command line, Python and the page call
//! by other names: so they are parts here, and whoever shows them says them in its own words.

use std::fmt::{self, Display};

/// A sentence, in parts. Displayed, it is as on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(Vec<Part>);

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As they are.
    Words(String),
    /// A setting, perhaps with a value.
    Setting(Setting),
    /// Something else to ask.
    Command(Command),
}

/// A setting and what was, or is to be, given for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, with `_` between words.
    pub name: String,
    /// Nothing where the setting is named only.
    pub value: Option<SettingValue>,
}

/// What is given for a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A value.
    Given(String),
    /// What stands for one, such as `D`.
    Form(&'static str),
}

/// Something else to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Run a ring.
    Run,
    /// Forecast it.
    Forecast,
    /// Its worst case.
    Worst,
    /// Every state of a ring that measures.
    CheckMeasure,
    /// What settings a model has.
    ModelHelp,
    /// An example of a state.
    ExampleState,
}

/// How settings and commands are called.
pub trait Voice {
    /// A setting, perhaps with a value.
    fn setting(&self, name: &str, value: Option<&SettingValue>) -> String;
    /// Something else to ask.
    fn command(&self, command: Command) -> &'static str;
}

/// The command line's.
struct Flags;

/// A setting without a value.
pub fn setting(name: &str) -> Setting {
    Setting {
        name: name.replace('-', "_"),
        value: None,
    }
}

/// A setting with a value.
pub fn set(name: &str, value: impl Display) -> Setting {
    Setting {
        value: Some(SettingValue::Given(value.to_string())),
        ..setting(name)
    }
}

/// A setting with what stands for a value.
pub fn form(name: &str, value: &'static str) -> Setting {
    Setting {
        value: Some(SettingValue::Form(value)),
        ..setting(name)
    }
}

/// A sentence of words, settings and commands.
#[macro_export]
macro_rules! say {
    ($($part:expr),+ $(,)?) => {
        $crate::sentence::Sentence::from_iter([$($crate::sentence::Part::from($part)),+])
    };
}

impl Sentence {
    /// The setting that it is about: what it begins with, if that is one.
    pub fn about(&self) -> Option<&Setting> {
        match self.0.first() {
            Some(Part::Setting(setting)) => Some(setting),
            _ => None,
        }
    }

    /// As somebody says it.
    pub fn said_by(&self, voice: &impl Voice) -> String {
        let parts = self.0.iter().map(|part| match part {
            Part::Words(words) => words.clone(),
            Part::Setting(setting) => voice.setting(&setting.name, setting.value.as_ref()),
            Part::Command(command) => voice.command(*command).to_owned(),
        });
        parts.collect()
    }
}

impl Voice for Flags {
    fn setting(&self, name: &str, value: Option<&SettingValue>) -> String {
        let flag = format!("--{}", name.replace('_', "-"));
        match value {
            None => flag,
            Some(SettingValue::Given(value)) => format!("{flag} {value}"),
            Some(SettingValue::Form(value)) => format!("{flag} {value}"),
        }
    }

    fn command(&self, command: Command) -> &'static str {
        match command {
            Command::Run => "`headway run`",
            Command::Forecast => "`headway forecast`",
            Command::Worst => "`headway worst`",
            Command::CheckMeasure => "`headway check measure`",
            Command::ModelHelp => "see headway check MODEL --help",
            Command::ExampleState => "`headway worst --witness example.json` writes one to look at",
        }
    }
}

impl Display for Sentence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.said_by(&Flags))
    }
}

impl FromIterator<Part> for Sentence {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Sentence {
        Sentence(parts.into_iter().collect())
    }
}

impl From<&str> for Part {
    fn from(words: &str) -> Part {
        Part::Words(words.to_owned())
    }
}

impl From<String> for Part {
    fn from(words: String) -> Part {
        Part::Words(words)
    }
}

impl From<Setting> for Part {
    fn from(setting: Setting) -> Part {
        Part::Setting(setting)
    }
}

impl From<Command> for Part {
    fn from(command: Command) -> Part {
        Part::Command(command)
    }
}
