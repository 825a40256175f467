//! What people and programs are shown.

use std::io::Write;

use style::DIM;

pub(crate) mod diagram;
pub(crate) use headway_answer::{count, json};
pub(crate) mod progress;
pub(crate) mod style;

/// One JSON value on standard output, for people to read as well.
pub(crate) fn print_json(value: &serde_json::Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value).map_err(std::io::Error::from)?;
    writeln!(out)
}

/// Commands to try next, each with what it shows.
pub(crate) fn try_next(
    out: &mut impl Write,
    commands: &[(impl AsRef<str>, &str)],
) -> std::io::Result<()> {
    writeln!(out, "\nTry next:")?;
    let longest = commands.iter().map(|(command, _)| command.as_ref().len());
    let width = longest.max().unwrap_or(0) + 4;
    let widest = commands.iter().map(|(_, what)| what.len()).max();
    let one_line = 2 + width + widest.unwrap_or(0) <= style::screen().0;
    for (command, what) in commands {
        let command = command.as_ref();
        if one_line {
            writeln!(out, "  {command:<width$}{DIM}{what}{DIM:#}")?;
        } else {
            writeln!(out, "  {command}\n      {DIM}{what}{DIM:#}")?;
        }
    }
    Ok(())
}
