//! Progress of long work on standard error: a line that is drawn again on a terminal, a line a
//! minute elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use terminal_size::terminal_size_of;

use super::screen::clip;
use super::{about, grouped, style};
use crate::failure::remark;

/// Before this, nothing is shown.
const PATIENCE: Duration = Duration::from_millis(400);
/// The line is drawn again this often at most.
const DRAW: Duration = Duration::from_millis(100);
/// And where there is no terminal, another one is printed.
const PRINT: Duration = Duration::from_secs(60);
const BAR: usize = 20;

/// A line that appears after a moment and goes when this is dropped.
pub(crate) struct Progress {
    since: Instant,
    drawn: Option<Instant>,
    total: Option<u64>,
    unit: &'static str,
    terminal: bool,
    /// What is being done, if that is told by a thread; none when it is over.
    said: Option<Arc<Mutex<Option<String>>>>,
}

impl Progress {
    /// Work of `total` units, if that is known.
    pub(crate) fn new(total: Option<u64>, unit: &'static str) -> Progress {
        Progress {
            since: Instant::now(),
            drawn: None,
            total,
            unit,
            terminal: std::io::stderr().is_terminal() && !style::is_dumb(),
            said: None,
        }
    }

    /// `done` units are done. Cheap enough to be called often, not every time.
    pub(crate) fn at(&mut self, done: u64) {
        let (unit, elapsed, count) = (self.unit, self.since.elapsed(), grouped(&done));
        match self.total {
            Some(total) => self.show(done, total, || {
                let outlook = outlook(done, total, elapsed);
                format!("{outlook}; {count} of {} {unit}", grouped(&total))
            }),
            None => self.show(done, 0, || format!("{count} {unit}, {}", about(elapsed))),
        }
    }

    /// Shows a text beside a bar, if the total is known.
    pub(crate) fn show(&mut self, done: u64, total: u64, text: impl FnOnce() -> String) {
        let (first, next) = match self.terminal {
            true => (PATIENCE, DRAW),
            false => (PRINT, PRINT),
        };
        let is_due = match self.drawn {
            Some(drawn) => drawn.elapsed() >= next,
            None => self.since.elapsed() >= first,
        };
        if is_due {
            self.drawn = Some(Instant::now());
            if !self.terminal {
                return remark(text());
            }
            draw(&match total {
                0 => text(),
                total => {
                    let part = (done as f64 / total as f64).min(1.0);
                    let full = (part * BAR as f64) as usize;
                    format!("{}{} {}", "█".repeat(full), "░".repeat(BAR - full), text())
                }
            });
        }
    }

    /// One step of unknown length; it is named on the screen when it takes longer than
    /// a second.
    pub(crate) fn saying(what: &str) -> Progress {
        let mut progress = Progress::new(None, "");
        progress.say(what);
        progress
    }

    /// Says what is being done, for work in steps of unknown length.
    pub(crate) fn say(&mut self, what: &str) {
        if !self.terminal {
            return;
        }
        let said = self.said.get_or_insert_with(|| {
            let (said, since) = (Arc::new(Mutex::new(None)), self.since);
            let told = Arc::clone(&said);
            thread::spawn(move || {
                thread::sleep(Duration::from_secs(1));
                loop {
                    // Drawn while it is locked, so that nothing is drawn when it is over.
                    match &*lock(&told) {
                        Some(what) => draw(&format!("{what} … {}", about(since.elapsed()))),
                        None => return,
                    }
                    thread::sleep(DRAW);
                }
            });
            said
        });
        *lock(said) = Some(what.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let said = self.said.take().map(|said| lock(&said).take());
        if self.terminal && (self.drawn.is_some() || said.is_some()) {
            draw("");
        }
    }
}

fn lock(said: &Mutex<Option<String>>) -> MutexGuard<'_, Option<String>> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(text: &str) {
    let mut screen = std::io::stderr().lock();
    let size = terminal_size_of(&screen);
    let text = clip(text, size.map_or(80, |(columns, _)| usize::from(columns.0)));
    // Nobody has to see it.
    let _ = write!(screen, "\r\x1b[2K{text}");
}

/// How far it is and how long it will take, going by all that was done so far.
pub(crate) fn outlook(done: u64, total: u64, elapsed: Duration) -> String {
    let passed = about(elapsed);
    let part = (done as f64 / total.max(1) as f64).min(1.0);
    // Rounded down: it is not done before it is.
    let percent = (part * 100.0).floor();
    if part < 0.001 {
        return format!("{percent}%, {passed}, too early to say how long");
    }
    let left = elapsed.as_secs_f64() * (1.0 - part) / part;
    let left = about(Duration::from_secs_f64(left.ceil().min(1e9)));
    format!("{percent}%, {passed}, about {left} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outlook_goes_by_what_was_done() {
        let minute = Duration::from_secs(60);
        let told = outlook(1, 4, minute);
        assert_eq!(told, "25%, 60 s, about 3 min left");
        let early = outlook(0, 4, minute);
        assert_eq!(early, "0%, 60 s, too early to say how long");
        assert!(outlook(999_999, 1_000_000, minute).starts_with("99%"));
    }
}
