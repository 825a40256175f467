//! The types that keys have, and how their values are read: by serde, from TOML or from the
//! text of a variable.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::Error as _;
use serde::de::value::{Error, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::{Deserialize, Deserializer};
use toml::de::ValueDeserializer;

use crate::identity::SignerKey;
use crate::membership::roster::Member;

/// The type of a key.
pub(super) trait Setting: Sized {
    /// What a value has to be, for whoever gave another.
    const EXPECTED: &'static str;

    /// Reads a value.
    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;

    /// The value of an optional key that nobody gives.
    fn absent() -> Option<Self> {
        None
    }
}

/// When the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// At every permit.
    Every,
    /// At the next permit after a request.
    Requested,
}

/// What the ring does about a silent member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bypass {
    /// It closes without it as soon as no permit can be in use there.
    Auto,
    /// It waits.
    Never,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

macro_rules! read_by_serde {
    ($($type:ty, $expected:literal $(, $absent:expr)?;)+) => {$(
        impl Setting for $type {
                    const EXPECTED: &'static str = $expected;

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Deserialize::deserialize(from)
            }

            $( fn absent() -> Option<Self> { Some($absent) } )?
        }
    )+};
}

read_by_serde! {
    String, "a text in quotes";
    PathBuf, "a path in quotes";
    NonZeroU32, "a whole number from 1 to 4294967295";
    bool, "true or false";
    When, "\"requested\" or \"every\"";
    Bypass, "\"auto\" or \"never\"";
    LogFormat, "\"text\" or \"json\"";
    Vec<String>, "a list of texts: [\"…\", \"…\"]", Vec::new();
    BTreeMap<String, String>, "names with texts: { NAME = \"…\" }",
        BTreeMap::new();
    Vec<Member>, "a list of members, each with `name` and `address`", Vec::new();
}

impl Setting for SignerKey {
    const EXPECTED: &'static str =
        "what `headway node identity --recovery-key` prints, in quotes: \"hwo1…\"";

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(from)
    }
}

impl Setting for Duration {
    const EXPECTED: &'static str =
        "a length of time in quotes, such as \"20ms\", \"1.5s\", \"5m\", \"2h\" or \"1d\"";

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        parse_duration(&text).ok_or_else(|| D::Error::custom("not a length of time"))
    }
}

impl Setting for BTreeMap<String, NonZeroU32> {
    const EXPECTED: &'static str = "names with whole numbers from 1 on: { NAME = 2 }";

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // In a variable, numbers are texts.
        let number = |(name, number): (String, toml::Value)| {
            let plain = number.as_integer().map(|number| number.to_string());
            let text = plain.or_else(|| number.as_str().map(str::to_owned));
            let number = text.unwrap_or_default().parse().map_err(D::Error::custom)?;
            Ok((name, number))
        };
        let numbers = BTreeMap::<String, toml::Value>::deserialize(from)?;
        numbers.into_iter().map(number).collect()
    }

    fn absent() -> Option<Self> {
        Some(BTreeMap::new())
    }
}

impl Setting for tracing::Level {
    const EXPECTED: &'static str = "\"error\", \"warn\", \"info\", \"debug\" or \"trace\"";

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl<T: Setting> Setting for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::read(from).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// Reads the text of a variable: the first of its meanings that fits the type.
pub(super) fn from_text<T: Setting>(text: &str) -> Option<T> {
    let plain = T::read(StrDeserializer::<Error>::new(text));
    let toml = |text| T::read(ValueDeserializer::parse(text).ok()?).ok();
    let text = text.trim();
    // Numbers, and lists as in the file.
    if let Some(value) = plain.ok().or_else(|| toml(text)) {
        return Some(value);
    }
    match text {
        "yes" | "1" => return toml("true"),
        "no" | "0" => return toml("false"),
        _ if text.starts_with(['[', '{']) => return None,
        _ => {}
    }
    let items = || {
        text.split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
    };
    let list = T::read(SeqDeserializer::<_, Error>::new(items()));
    let pair = |item: &'_ str| {
        item.split_once('=')
            .map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned()))
    };
    let pairs = || items().map(pair).collect::<Option<Vec<_>>>();
    let map = || T::read(MapDeserializer::<_, Error>::new(pairs()?.into_iter())).ok();
    let members = || {
        let member = |(name, rest): (String, String)| {
            let (address, key) = rest.split_once('=').unwrap_or((&rest, ""));
            let key = if key.is_empty() {
                String::new()
            } else {
                format!(", key = {key:?}")
            };
            format!("{{ name = {name:?}, address = {address:?}{key} }}")
        };
        let list: Vec<String> = pairs()?.into_iter().map(member).collect();
        let list = format!("[{}]", list.join(", "));
        T::read(ValueDeserializer::parse(&list).ok()?).ok()
    };
    list.ok().or_else(map).or_else(members)
}

/// `20ms`, `1.5s`, `5m`, `2h`, `1d`; at most ten years.
pub fn parse_duration(text: &str) -> Option<Duration> {
    const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);
    let duration = humantime::parse_duration(text.trim()).ok()?;
    (duration <= LONGEST).then_some(duration)
}
