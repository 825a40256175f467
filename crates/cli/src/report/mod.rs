//! What people and programs are shown.

use std::io::Write;
use std::time::Duration;

use crate::failure::warn;
use crate::flags::TextOrJson;
use style::DIM;

pub(crate) mod diagram;
pub(crate) use headway_answer::count;
pub(crate) mod progress;
pub(crate) mod screen;
pub(crate) mod style;

/// What is printed of JSON after Ctrl-C, at most: some tenths of a second.
const MOST_AFTER_CTRL_C: usize = 64 << 20;

/// One JSON value on standard output, for people to read as well. After Ctrl-C a value that takes
/// long to write is left out: half of it is of no use.
pub(crate) fn print_json(value: &impl serde::Serialize) -> std::io::Result<()> {
    // Standard output by itself would be written line by line, of which there can be millions.
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if !crate::interrupt::has_come() {
        serde_json::to_writer_pretty(&mut out, value).map_err(std::io::Error::from)?;
    } else if let Some(text) = json_within(MOST_AFTER_CTRL_C, value) {
        out.write_all(&text)?;
    } else {
        let most = MOST_AFTER_CTRL_C >> 20;
        warn(format_args!(
            "the answer is left out: it has more than {most} MiB, too much to write after Ctrl-C"
        ));
        return Ok(());
    }
    writeln!(out)?;
    out.flush()
}

/// A value as JSON, if that has at most so many bytes.
fn json_within(most: usize, value: &impl serde::Serialize) -> Option<Vec<u8>> {
    struct Within(usize, Vec<u8>);
    impl Write for Within {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let room = self.0 - self.1.len();
            self.1.extend(&bytes[..bytes.len().min(room)]);
            Ok(bytes.len().min(room))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut text = Within(most, Vec::new());
    serde_json::to_writer_pretty(&mut text, value).ok()?;
    Some(text.1)
}

/// An answer on standard output, for people or for programs.
pub(crate) fn print<T: serde::Serialize>(
    format: TextOrJson,
    json: impl FnOnce() -> T,
    text: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    match format {
        TextOrJson::Text => text(&mut anstream::stdout().lock()),
        TextOrJson::Json => print_json(&json()),
    }
}

/// Names on a few lines.
pub(crate) fn names(out: &mut dyn Write, names: &[impl AsRef<str>]) -> std::io::Result<()> {
    const LINES: usize = 5;
    let columns = style::screen().0.min(100);
    // Names with blanks would run into each other.
    let blanks = names.iter().any(|name| name.as_ref().contains(' '));
    let mut line = String::from("  ");
    let mut lines = 1;
    for (index, name) in names.iter().enumerate() {
        let name = name.as_ref();
        if line.chars().count() + name.chars().count() + 1 > columns && line.len() > 2 {
            writeln!(out, "{line}")?;
            line = String::from("  ");
            lines += 1;
            if lines > LINES {
                let left = names.len() - index;
                return writeln!(out, "  {DIM}… and {left} more (-o FILE for all){DIM:#}");
            }
        }
        line.push_str(name);
        line.push_str(if blanks && index + 1 < names.len() {
            ", "
        } else {
            " "
        });
    }
    writeln!(out, "{}", line.trim_end())
}

/// Commands to try next, each with what it shows.
pub(crate) fn try_next(
    out: &mut dyn Write,
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

/// A time, as people say it.
pub(crate) fn about(time: Duration) -> String {
    match time.as_millis().div_ceil(1000) {
        seconds @ 0..90 => format!("{seconds} s"),
        seconds @ 90..5400 => format!("{} min", seconds.div_ceil(60)),
        seconds @ 5400..172_800 => format!("{:.1} h", seconds as f64 / 3600.0),
        seconds => format!("{} days", seconds.div_ceil(86_400)),
    }
}

/// With a comma after every three digits.
pub(crate) fn grouped(number: &impl ToString) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::json_within;

    #[test]
    fn json_is_whole_or_left_out() {
        let list = [10, 20, 30];
        let text = b"[\n  10,\n  20,\n  30\n]";
        assert_eq!(json_within(text.len(), &list).as_deref(), Some(&text[..]));
        assert_eq!(json_within(text.len() - 1, &list), None);
    }
}
