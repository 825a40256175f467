//! How a command ends: with an answer, or with a sentence that says what is
//! wrong and what to do.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
pub(crate) use headway_answer::failure::{Failure, file_help, plain};

use crate::partial;

/// What a command that ran to its end says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Fine: exit code 0.
    Yes,
    /// It is not so (not legitimate, a property fails): exit code 1.
    No,
    /// Ctrl-C came first, and what was known by then was shown: exit code 130.
    Interrupted,
    /// The exit code of a command that was run for somebody.
    Code(u8),
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Answer {
        if yes { Answer::Yes } else { Answer::No }
    }
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> ExitCode {
        match answer {
            Answer::Yes => ExitCode::SUCCESS,
            Answer::No => ExitCode::from(1),
            Answer::Interrupted => ExitCode::from(130),
            Answer::Code(code) => ExitCode::from(code),
        }
    }
}

/// Prints a failure on standard error.
pub(crate) fn report(failure: Failure) -> ExitCode {
    if failure.silent {
        // As if the signal had ended it; not 0, because the answer may have been no.
        return ExitCode::from(141);
    }
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
    let mut out = anstream::stderr().lock();
    // If standard error is gone as well, only the exit code is left to tell.
    let _ = writeln!(out, "{red}error:{red:#} {}", failure.message);
    if let Some((line, column, text)) = failure.snippet {
        let (shown, column) = excerpt(&text, column);
        let _ = writeln!(out, "{line:>6} | {shown}");
        let _ = writeln!(out, "       | {:>column$}", "^");
    }
    if let Some(help) = failure.help {
        let _ = writeln!(out, "{cyan}help:{cyan:#} {help}");
    }
    ExitCode::from(failure.exit_code)
}

/// Whether the path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a file as text.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Failure::new(format!(
            "{}:{line}: this is not text in UTF-8",
            path.display()
        ))
        .help("give a text file, or convert it to UTF-8")
    })
}

/// The largest input: some gigabytes, for rings of tens of millions of processes.
const MAX_INPUT: u64 = 4 << 30;

/// Reads a file, or standard input if the path is `-`.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    if !is_stdin(path) {
        let failed = |error: io::Error| Failure::reading(path, &error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let kind = metadata.file_type();
        // Many devices never end. A terminal does.
        if (kind.is_char_device() || kind.is_block_device()) && !file.is_terminal() {
            let message = format!("{} is a device, not a file", path.display());
            return Err(Failure::new(message).help("give a file, or - for standard input"));
        }
        return read_whole(file, metadata.len()).map_err(failed);
    }
    // It can be read once only, and some look at a file twice.
    static READ: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bytes) = READ.get() {
        return Ok(bytes.clone());
    }
    let read = read_whole(io::stdin().lock(), 0);
    read.map(|bytes| READ.get_or_init(|| bytes).clone())
        .map_err(|error| Failure::new(format!("cannot read standard input: {}", plain(&error))))
}

fn read_whole(input: impl Read, expected: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(expected.min(MAX_INPUT) as usize);
    input.take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(io::Error::other("more than 4 GiB"));
    }
    Ok(bytes)
}

/// Refuses a file whose ending promises another format than it would have.
pub(crate) fn expect_ending(path: &Path, ending: &str) -> Result<(), Failure> {
    match path.extension() {
        Some(other) if !other.eq_ignore_ascii_case(ending) => Err(Failure::new(format!(
            "{}: expected a name that ends in .{ending}, because that is what is written",
            path.display()
        ))
        .help(format!("give {}", path.with_extension(ending).display()))),
        _ => Ok(()),
    }
}

/// Refuses names of pictures, as SVG and as TikZ, that end in something else.
pub(crate) fn expect_endings(svg: Option<&Path>, tikz: Option<&Path>) -> Result<(), Failure> {
    svg.map_or(Ok(()), |path| expect_ending(path, "svg"))?;
    tikz.map_or(Ok(()), |path| expect_ending(path, "tex"))
}

/// Writes a whole file.
pub(crate) fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    let write = |out: &mut dyn Write| out.write_all(contents.as_ref());
    partial::write(path, write).map_err(|error| Failure::writing(path, &error))
}

/// Writes a whole file, if one is wanted.
pub(crate) fn write_wanted<C: AsRef<[u8]>>(
    path: Option<&PathBuf>,
    contents: impl FnOnce() -> C,
) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| write_file(path, contents()))
}

/// Writes to a file, or to standard output without one or for `-`.
pub(crate) fn write_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match path.filter(|path| !is_stdin(path)) {
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(&mut out)?;
            out.flush()?;
        }
        Some(path) => {
            partial::write(path, write).map_err(|error| Failure::writing(path, &error))?;
        }
    }
    Ok(())
}

/// At most 100 characters of a line around a column.
fn excerpt(text: &str, column: usize) -> (String, usize) {
    let skip = column.saturating_sub(60);
    let shown: String = text.chars().skip(skip).take(100).collect();
    (shown.replace('\t', " "), (column - skip).max(1))
}

/// A line on standard output. `println!` would panic where nobody reads or the disk is full.
pub(crate) fn say(line: impl Display) -> Result<(), Failure> {
    Ok(writeln!(anstream::stdout(), "{line}")?)
}

/// A line on standard error. If that is gone, only the exit code is left to tell.
pub(crate) fn remark(line: impl Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// A remark that does not stop the command, on standard error.
pub(crate) fn warn(message: impl Display) {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    remark(format_args!("{yellow}warning:{yellow:#} {message}"));
}
