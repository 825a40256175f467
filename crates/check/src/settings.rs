//! Settings of models. Each stands in one place, a field of a struct made by `settings!`, with
//! its help and its default; flags of a command line and arguments of a program are read by it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use headway_sim::number::whole_number;
use headway_sim::placement::Delays;

use crate::Scheduler;
use crate::error::{CheckError, Result};
use crate::model::stations::Ingredient;

/// A setting as it is asked for: a flag `--name`, with `-` for `_`.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The field's name.
    pub name: &'static str,
    /// A letter or word for its value; empty for a switch.
    pub value: &'static str,
    /// What it is, and its default.
    pub help: String,
    /// Whether it is a list, with commas between.
    pub is_list: bool,
    /// Switches and settings that cannot be given with it.
    pub excludes: &'static [&'static str],
    /// Whether a text is a value of it, or why not.
    pub accepts: fn(&str) -> Result<(), String>,
}

/// Values as texts by name of their setting. A switch that is on has the value `true`.
pub type Given = BTreeMap<String, String>;

/// The settings of a model.
pub trait Settings: Default {
    /// All of them, in the order of the help.
    fn list() -> Vec<Setting>;

    /// Changes one, or says why the text is no value of it; `None` if there is none of the name.
    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), String>>;
}

/// The settings that are given, and the default of all others.
pub(crate) fn read<S: Settings>(given: &Given) -> Result<S> {
    let mut settings = S::default();
    for (name, text) in given {
        if let Some(Err(why)) = settings.set(name, text) {
            return Err(wrong(name, text, &why));
        }
    }
    for Setting { name, excludes, .. } in S::list() {
        let other = excludes.iter().find(|other| given.contains_key(**other));
        if let (true, Some(other)) = (given.contains_key(name), other) {
            let why = format!("cannot be used with {}", other.replace('_', "-"));
            return Err(CheckError::meaningless(name, why));
        }
    }
    Ok(settings)
}

pub(crate) fn wrong(name: &str, value: impl Display, why: &str) -> CheckError {
    CheckError::Setting {
        name: name.to_owned(),
        given: Some(value.to_string()),
        why: why.to_owned(),
    }
}

/// A struct of settings. A field has its help, its name, type and default, a letter or word for
/// its value (none for a switch), and the settings that cannot be given with it.
macro_rules! settings {
    ($(#[doc = $about:literal])+ $settings:ident {
        $($(#[doc = $help:literal])+
        $name:ident: $type:ty = $default:expr, $value:literal $(, not $($excluded:ident),+)?;)*
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $settings {
            $($(#[doc = $help])+ pub $name: $type,)*
        }

        impl Default for $settings {
            fn default() -> $settings {
                $settings { $($name: $default,)* }
            }
        }

        impl $crate::settings::Settings for $settings {
            fn list() -> Vec<$crate::settings::Setting> {
                use $crate::settings::{Setting, Value, help};
                let default = $settings::default();
                vec![$(Setting {
                    name: stringify!($name),
                    value: $value,
                    help: help(concat!($($help),+), default.$name.shown()),
                    is_list: <$type as Value>::IS_LIST,
                    excludes: &[$($(stringify!($excluded)),+)?],
                    accepts: |text| <$type as Value>::read(text).map(|_| ()),
                },)*]
            }

            fn set(&mut self, name: &str, text: &str) -> Option<Result<(), String>> {
                match name {
                    $(stringify!($name) => Some(
                        $crate::settings::Value::read(text).map(|value| self.$name = value)
                    ),)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use settings;

/// What is documented, as the help of a flag.
pub(crate) fn help(documented: &str, default: Option<String>) -> String {
    let help = documented.trim().trim_end_matches('.');
    match default {
        Some(default) => format!("{help} [default: {default}]"),
        None => help.to_owned(),
    }
}

/// What settings can be.
pub(crate) trait Value: Sized {
    const IS_LIST: bool = false;

    fn read(text: &str) -> Result<Self, String>;

    /// As a default, if there is something to show.
    fn shown(&self) -> Option<String>;
}

/// A switch.
impl Value for bool {
    fn read(text: &str) -> Result<bool, String> {
        text.parse()
            .map_err(|_| "expected true or false".to_owned())
    }
    fn shown(&self) -> Option<String> {
        None
    }
}

impl Value for Vec<usize> {
    const IS_LIST: bool = true;

    fn read(text: &str) -> Result<Vec<usize>, String> {
        text.split(',').map(whole_number).collect()
    }
    fn shown(&self) -> Option<String> {
        Some(
            self.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(","),
        )
    }
}

macro_rules! shown_as_read {
    ($($type:ty: $read:expr;)*) => {
        $(impl Value for $type {
            fn read(text: &str) -> Result<$type, String> {
                $read(text)
            }
            fn shown(&self) -> Option<String> {
                Some(self.to_string())
            }
        })*
    };
}
shown_as_read! {
    usize: whole_number;
    u32: whole_number;
    Scheduler: parsed;
    Delays: parsed;
    Ingredient: parsed;
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// One whose default follows from others; the help says how.
impl<T: Value> Value for Option<T> {
    fn read(text: &str) -> Result<Option<T>, String> {
        T::read(text).map(Some)
    }
    fn shown(&self) -> Option<String> {
        self.as_ref().and_then(T::shown)
    }
}

/// A number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// So many.
    Exactly(usize),
    /// So many, or one a process where there are fewer processes.
    UpTo(usize),
}

impl Tokens {
    /// How many they are on a ring of so many processes.
    pub fn on(self, processes: usize) -> usize {
        match self {
            Tokens::Exactly(tokens) => tokens,
            Tokens::UpTo(most) => most.min(processes.max(1)),
        }
    }
}

impl From<usize> for Tokens {
    fn from(tokens: usize) -> Tokens {
        Tokens::Exactly(tokens)
    }
}

impl Value for Tokens {
    fn read(text: &str) -> Result<Tokens, String> {
        whole_number(text).map(Tokens::Exactly)
    }
    fn shown(&self) -> Option<String> {
        let (Tokens::Exactly(tokens) | Tokens::UpTo(tokens)) = self;
        Some(tokens.to_string())
    }
}

/// The separation given, or the largest with which `processes` have room for all tokens.
pub(crate) fn separation(given: Option<u32>, processes: usize, tokens: usize) -> u32 {
    let largest = (processes / tokens.max(1)).max(1);
    given.unwrap_or_else(|| u32::try_from(largest).unwrap_or(u32::MAX))
}

/// Which processes delay, where chance does not choose.
pub(crate) fn places(delays: &Delays, processes: usize) -> Result<Vec<usize>> {
    if let Delays::Count(_) = delays {
        let why = "which ones? give all, every:K or at:0,5,9";
        return Err(wrong("delays", delays, why));
    }
    let places = delays.choose(processes, 0);
    places.map_err(|error| wrong("delays", delays, &error.to_string()))
}
