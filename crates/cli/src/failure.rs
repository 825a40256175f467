//! How a command ends: with an answer, or with a sentence that says what is
//! wrong and what to do.

use std::fmt::Display;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};

/// What a command that ran to its end says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Fine: exit code 0.
    Yes,
    /// It is not so (not legitimate, a property fails): exit code 1.
    No,
    /// Ctrl-C came first, and what was known by then was shown: exit code 130.
    Interrupted,
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
        }
    }
}

/// The command or its input is wrong (exit code 2), or it was stopped (130).
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
    /// A line of the input and the column at fault, from 1.
    snippet: Option<(usize, usize, String)>,
    /// The reader of our output has gone away; there is nobody to tell.
    silent: bool,
    exit_code: u8,
}

impl Failure {
    /// Says what is wrong.
    pub(crate) fn new(message: impl Display) -> Failure {
        Failure {
            message: without_numbers(&message.to_string()),
            help: None,
            snippet: None,
            silent: false,
            exit_code: 2,
        }
    }

    /// Says what is known although Ctrl-C stopped the command: exit code 130.
    pub(crate) fn interrupted(message: impl Display) -> Failure {
        Failure {
            exit_code: 130,
            ..Failure::new(message)
        }
    }

    /// Says what to do about it.
    pub(crate) fn help(mut self, help: impl Display) -> Failure {
        self.help = Some(help.to_string());
        self
    }

    /// Something is wrong inside a file: shows the place.
    pub(crate) fn in_text(
        path: &Path,
        text: &str,
        line: usize,
        column: usize,
        message: impl Display,
    ) -> Failure {
        let mut failure = Failure::new(format!("{}:{line}:{column}: {message}", path.display()));
        if let Some(shown) = text.lines().nth(line.saturating_sub(1)) {
            failure.snippet = Some((line, column, shown.to_owned()));
        }
        failure
    }

    /// A file could not be read.
    pub(crate) fn reading(path: &Path, error: &io::Error) -> Failure {
        Failure::new(format!("cannot read {}: {}", path.display(), plain(error)))
            .help(file_help(error))
    }

    /// A file could not be written.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> Failure {
        let help = match error.kind() {
            io::ErrorKind::NotFound => "create the folder first",
            io::ErrorKind::AlreadyExists => {
                "it is left as it was; give another path, or remove it yourself"
            }
            _ => file_help(error),
        };
        Failure::new(format!("cannot write {}: {}", path.display(), plain(error))).help(help)
    }

    /// Prints the failure on standard error.
    pub(crate) fn report(self) -> ExitCode {
        if self.silent {
            return ExitCode::SUCCESS;
        }
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        let mut out = anstream::stderr().lock();
        // If standard error is gone as well, only the exit code is left to tell.
        let _ = writeln!(out, "{red}error:{red:#} {}", self.message);
        if let Some((line, column, text)) = self.snippet {
            let (shown, column) = excerpt(&text, column);
            let _ = writeln!(out, "{line:>6} | {shown}");
            let _ = writeln!(out, "       | {:>column$}", "^");
        }
        if let Some(help) = self.help {
            let _ = writeln!(out, "{cyan}help:{cyan:#} {help}");
        }
        ExitCode::from(self.exit_code)
    }
}

/// What to do about a file that cannot be used.
pub(crate) fn file_help(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and its folder",
        io::ErrorKind::StorageFull => "free some space; what was there before is unchanged",
        io::ErrorKind::IsADirectory => "give a file, not a folder",
        _ => "check the path and try again",
    }
}

/// What went wrong with a file, without the number of the error.
pub(crate) fn plain(error: &io::Error) -> String {
    without_numbers(&error.to_string()).to_lowercase()
}

/// A message without the numbers that the system gives its errors.
fn without_numbers(message: &str) -> String {
    let mut pieces = message.split(" (os error ");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(piece.split_once(')').map_or("", |(_, rest)| rest));
    }
    text
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

/// Reads a file, or standard input if the path is `-`.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    if !is_stdin(path) {
        return std::fs::read(path).map_err(|error| Failure::reading(path, &error));
    }
    // It can be read once only, and some look at a file twice.
    static READ: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bytes) = READ.get() {
        return Ok(bytes.clone());
    }
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map(|_| READ.get_or_init(|| bytes).clone())
        .map_err(|error| Failure::new(format!("cannot read standard input: {}", plain(&error))))
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

/// Writes a whole file.
pub(crate) fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Failure> {
    std::fs::write(path, contents).map_err(|error| Failure::writing(path, &error))
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// At most 100 characters of a line around a column.
fn excerpt(text: &str, column: usize) -> (String, usize) {
    let skip = column.saturating_sub(60);
    let shown: String = text.chars().skip(skip).take(100).collect();
    (shown.replace('\t', " "), (column - skip).max(1))
}

impl From<io::Error> for Failure {
    /// Writing to standard output failed. When nobody reads it any more (`headway
    /// run | head`) that is no fault of anyone's.
    fn from(error: io::Error) -> Failure {
        Failure {
            silent: error.kind() == io::ErrorKind::BrokenPipe,
            ..Failure::new(format!("cannot write the output: {}", plain(&error)))
        }
    }
}

/// A remark that does not stop the command, on standard error.
pub(crate) fn warn(message: impl Display) {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    let _ = writeln!(anstream::stderr(), "{yellow}warning:{yellow:#} {message}");
}

#[cfg(test)]
mod tests {
    use super::without_numbers;

    #[test]
    fn numbers_of_errors_are_left_out() {
        let said =
            "no node answers at /a: No such file (os error 2); nor at /b: gone (os error 111)";
        let plain = "no node answers at /a: No such file; nor at /b: gone";
        assert_eq!(without_numbers(said), plain);
        assert_eq!(without_numbers("a (b) c"), "a (b) c");
    }
}
