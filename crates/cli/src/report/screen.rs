//! A terminal that is drawn on as a whole: frames of styled lines, and keys as they are
//! pressed.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{self, SetArg, Termios};

use super::style;

/// Another screen, no cursor, and lines that end where the terminal ends; and the opposite.
const TAKE: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const GIVE_BACK: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// How the terminal was before, while it is drawn on.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// A key that somebody pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    Backspace,
    Escape,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C, or the terminal was closed.
    Interrupt,
}

/// The terminal, which is as it was before when this is dropped.
pub(crate) struct Screen {
    keys: VecDeque<Key>,
    shown: Vec<String>,
}

impl Screen {
    pub(crate) fn open() -> io::Result<Screen> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let told = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                close();
                told(panic);
            }));
        });
        let before = termios::tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        termios::cfmakeraw(&mut raw);
        termios::tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &raw)?;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let screen = Screen {
            keys: VecDeque::new(),
            shown: Vec::new(),
        };
        send(TAKE)?;
        Ok(screen)
    }

    /// Shows the lines that `draw` makes for so many columns and rows.
    pub(crate) fn show(
        &mut self,
        draw: impl FnOnce(usize, usize) -> Vec<String>,
    ) -> io::Result<()> {
        let (columns, rows) = style::screen();
        let mut text = String::new();
        if self.shown.len() != rows {
            text.push_str("\x1b[2J");
            self.shown.clear();
        }
        let mut lines = draw(columns, rows);
        lines.resize(rows, String::new());
        let plain = AutoStream::choice(&io::stdout()) == ColorChoice::Never;
        for (row, line) in lines.iter_mut().enumerate() {
            *line = clip(line, columns);
            if plain {
                *line = strip_str(line).to_string();
            }
            // Cleared first, because the last column is not left by writing on it.
            if self.shown.get(row) != Some(line) {
                text.push_str(&format!("\x1b[{};1H\x1b[0m\x1b[2K{line}", row + 1));
            }
        }
        self.shown = lines;
        send(&text)
    }

    /// The next key, if one is pressed in this time.
    pub(crate) fn key(&mut self, wait: Duration) -> io::Result<Option<Key>> {
        if self.keys.is_empty() {
            let stdin = io::stdin();
            let wait = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
            match poll(&mut [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)], wait) {
                Ok(0) | Err(Errno::EINTR) => return Ok(None),
                ready => ready?,
            };
            let mut bytes = [0; 4096];
            match nix::unistd::read(&stdin, &mut bytes) {
                Ok(0) | Err(_) => return Ok(Some(Key::Interrupt)),
                Ok(read) => self.keys = keys(&String::from_utf8_lossy(&bytes[..read])),
            }
        }
        Ok(self.keys.pop_front())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        close();
    }
}

/// Makes the terminal what it was before, if it is drawn on: the program may end.
pub(crate) fn close() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        // Nothing more can be done about a terminal that is gone.
        let _ = send(GIVE_BACK);
        let _ = termios::tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &before);
    }
}

fn send(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// What a terminal sends when keys are pressed; keys that nothing is done with are left out.
fn keys(text: &str) -> VecDeque<Key> {
    let mut keys = VecDeque::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let key = match character {
            '\x1b' if rest.next_if(|&c| c == '[' || c == 'O').is_some() => {
                let mut number = String::new();
                while let Some(part) = rest.next_if(|&c| c.is_ascii_digit() || c == ';') {
                    number.push(part);
                }
                match (rest.next(), number.as_str()) {
                    (Some('C'), _) => Key::Right,
                    (Some('D'), _) => Key::Left,
                    (Some('H'), _) | (Some('~'), "1" | "7") => Key::Home,
                    (Some('F'), _) | (Some('~'), "4" | "8") => Key::End,
                    (Some('~'), "5") => Key::PageUp,
                    (Some('~'), "6") => Key::PageDown,
                    _ => continue,
                }
            }
            '\x1b' => Key::Escape,
            '\x03' => Key::Interrupt,
            '\r' | '\n' => Key::Enter,
            '\x08' | '\x7f' => Key::Backspace,
            control if control.is_control() => continue,
            letter => Key::Char(letter),
        };
        keys.push_back(key);
    }
    keys
}

/// The first so many characters of a styled line, and all of its styles.
pub(crate) fn clip(line: &str, columns: usize) -> String {
    let (mut room, mut in_style) = (columns, false);
    let is_kept = |character: &char| {
        in_style |= *character == '\x1b';
        if in_style {
            in_style = *character != 'm';
            return true;
        }
        let fits = room > 0 && !character.is_control();
        room -= usize::from(fits);
        fits
    };
    line.chars().filter(is_kept).collect()
}

/// A text on lines of at most so many characters, unless a word is longer.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= columns {
            line.extend([" ", word]);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_terminals_send_for_them() {
        use Key::*;
        for (sent, pressed) in [
            ("q", vec![Char('q')]),
            ("é\r", vec![Char('é'), Enter]),
            ("\x1b", vec![Escape]),
            ("\x1b[C\x1bOD", vec![Right, Left]),
            ("\x1b[5~\x1b[6~", vec![PageUp, PageDown]),
            ("\x1b[H\x1b[1~\x1b[F\x1bOF", vec![Home, Home, End, End]),
            ("\x1b[1;2C\x1b[A\x1b[3~x", vec![Right, Char('x')]),
            ("\x7f\x08\x01\x03", vec![Backspace, Backspace, Interrupt]),
        ] {
            assert_eq!(keys(sent), pressed, "{sent:?}");
        }
    }

    #[test]
    fn a_line_is_cut_at_the_edge_with_its_styles_whole() {
        assert_eq!(clip("\x1b[1mround\x1b[0m 7", 3), "\x1b[1mrou\x1b[0m");
        assert_eq!(clip("· · é", 4), "· · ");
        assert_eq!(clip("a\nb\u{7}c", 9), "abc");
    }

    #[test]
    fn a_long_text_is_wrapped_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("immovable", 3), ["immovable"]);
        assert_eq!(wrap("", 3), [""]);
    }
}
