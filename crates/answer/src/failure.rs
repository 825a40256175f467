//! Why there is no answer: a sentence that says what is wrong and what to do.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::say;
use crate::sentence::Sentence;

/// The command or its input is wrong (exit code 2), or it was stopped (130).
#[derive(Clone, Debug)]
pub struct Failure {
    /// What is wrong; it begins with the setting that is at fault, if one is.
    pub message: Sentence,
    /// What to do about it.
    pub help: Option<Sentence>,
    /// A line of the input with its number, and the column at fault, from 1.
    pub snippet: Option<(usize, usize, String)>,
    /// The reader of our output has gone away; there is nobody to tell.
    pub silent: bool,
    /// Of the command line.
    pub exit_code: u8,
}

impl Failure {
    /// Says what is wrong.
    pub fn new(message: impl Display) -> Failure {
        Failure::of(say![without_numbers(&message.to_string())])
    }

    /// Says what is wrong with a setting.
    pub fn of(message: Sentence) -> Failure {
        Failure {
            message,
            help: None,
            snippet: None,
            silent: false,
            exit_code: 2,
        }
    }

    /// Says what is known although Ctrl-C stopped the command: exit code 130.
    pub fn interrupted(message: impl Display) -> Failure {
        Failure {
            exit_code: 130,
            ..Failure::new(message)
        }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(self, help: impl Display) -> Failure {
        self.advice(say![help.to_string()])
    }

    /// Says what to do about it, with settings.
    #[must_use]
    pub fn advice(mut self, help: Sentence) -> Failure {
        self.help = Some(help);
        self
    }

    /// Something is wrong inside a file: shows the place.
    pub fn in_text(
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
    pub fn reading(path: &Path, error: &io::Error) -> Failure {
        Failure::new(format!("cannot read {}: {}", path.display(), plain(error)))
            .help(file_help(error))
    }

    /// A file could not be written.
    pub fn writing(path: &Path, error: &io::Error) -> Failure {
        let help = match error.kind() {
            io::ErrorKind::NotFound => "create the folder first",
            io::ErrorKind::AlreadyExists => {
                "it is left as it was; give another path, or remove it yourself"
            }
            _ => file_help(error),
        };
        Failure::new(format!("cannot write {}: {}", path.display(), plain(error))).help(help)
    }
}

/// What to do about a file that cannot be used.
pub fn file_help(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and its folder",
        io::ErrorKind::StorageFull => "free some space, then run the command again",
        io::ErrorKind::IsADirectory => "give a file, not a folder",
        _ => "check the path and try again",
    }
}

/// What went wrong with a file, without the number of the error.
pub fn plain(error: &io::Error) -> String {
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

impl Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.message.fmt(formatter)
    }
}

impl From<io::Error> for Failure {
    /// Writing to standard output failed. When nobody reads it any more (`headway
    /// run | head`) that is no fault of anyone's, and nothing is said.
    fn from(error: io::Error) -> Failure {
        Failure {
            silent: error.kind() == io::ErrorKind::BrokenPipe,
            ..Failure::new(format!("cannot write the output: {}", plain(&error)))
        }
    }
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
