//! Reading a file that has nothing wrong, in one pass and without places. What only the
//! programs for unknown ring size have is left to the careful reader.

use std::fmt;

use headway_core::{Configuration, Measuring, Process, Program, Ring, Separation};
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

use super::StateFile;

/// The ring and its state; `None` when anything is wrong, and then the careful reader
/// says what.
pub(super) fn parse(text: &str) -> Option<StateFile> {
    let File {
        separation,
        processes: lines,
    } = serde_json::from_str(text).ok()?;
    let default_limit = Measuring::default_limit(lines.programs.len());
    let ring = Ring::new(Separation::new(separation)?, lines.programs).ok()?;
    let mut configuration = Configuration::from(lines.processes);
    for (index, line) in lines.measuring {
        let variables = line.measuring(default_limit)?;
        configuration.measuring.insert(index, variables);
    }
    ring.admits(&configuration).ok()?;
    Some(StateFile {
        ring,
        configuration,
    })
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    separation: u32,
    #[serde(borrow)]
    processes: Lines<'a>,
}

macro_rules! line {
    ($($name:ident: $type:ty),*) => {
        /// A process as it stands in the file.
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line<'a> {
            program: &'a str,
            #[serde(default)]
            queued: u32,
            #[serde(default)]
            resting: u32,
            $(#[serde(default, deserialize_with = "given")] $name: Option<$type>,)*
        }
    };
}

line! {
    counter: i32, tokens: u32, limit: u32, timing: bool, elapsed: u32, ignore: i32, base: i32
}

/// A value that is there, and not null.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

impl Line<'_> {
    /// What it runs, if it has no fields that its program does not have.
    fn program(&self) -> Option<Program> {
        let program: Program = self.program.parse().ok()?;
        let measured = [self.tokens, self.limit, self.elapsed] != [None; 3]
            || (self.ignore, self.base, self.timing) != (None, None, None);
        let fits =
            (program.delays() || self.counter.is_none()) && (program.measures() || !measured);
        fits.then_some(program)
    }

    fn measuring(&self, default_limit: u32) -> Option<Measuring> {
        let elapsed = self.elapsed.unwrap_or(0);
        let limit = self.limit.unwrap_or(default_limit.max(elapsed));
        Some(Measuring {
            timing: self.timing.unwrap_or(false),
            elapsed,
            ignore: self.ignore.unwrap_or(0),
            base: self.base.unwrap_or(0),
            ..Measuring::new(self.tokens?, limit)
        })
    }
}

/// The list of processes, each taken apart as it comes.
#[derive(Default)]
struct Lines<'a> {
    programs: Vec<Program>,
    processes: Vec<Process>,
    measuring: Vec<(usize, Line<'a>)>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Lines<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(TakeApart)
    }
}

struct TakeApart;

impl<'de> Visitor<'de> for TakeApart {
    type Value = Lines<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of processes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Lines<'de>, A::Error> {
        let mut lines = Lines::default();
        while let Some(line) = list.next_element::<Line<'de>>()? {
            let wrong = || serde::de::Error::custom("not a process");
            let program = line.program().ok_or_else(wrong)?;
            lines.processes.push(Process {
                queued: line.queued,
                resting: line.resting,
                counter: line.counter.unwrap_or(0),
            });
            if program.measures() {
                lines.measuring.push((lines.programs.len(), line));
            }
            lines.programs.push(program);
        }
        Ok(lines)
    }
}
