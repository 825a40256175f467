//! `headway run --watch`: the run as a film in the terminal.
//!
//! The run is done first (it is quick) and its states kept, so that one can go
//! back and forth. [`Film`] draws lines of text and knows no terminal.

use std::io::Write;
use std::time::{Duration, Instant};

use headway_sim::Run;

use super::text;
use crate::failure::{Answer, Failure};
use crate::flags::Instance;
use crate::report::screen::{Key, Screen};
use crate::report::style::{self, HEADING};

mod film;

pub(super) use film::{Film, Scene};

/// Shows the run; the answer is the run's.
pub(super) fn run(instance: &Instance, run: &Run) -> Result<Answer, Failure> {
    let (mut film, outcome) = Film::record(instance, run)?;
    let interrupted = screen(&mut film)?;
    // The film leaves nothing on the screen.
    let mut out = anstream::stdout().lock();
    writeln!(out, "{HEADING}{}{HEADING:#}", film.title)?;
    text::settling(&mut out, instance, &outcome)?;
    text::distances(&mut out, instance.separation(), &outcome)?;
    film.write_length(&mut out)?;
    Ok(interrupted.unwrap_or(outcome.legitimate.into()))
}

/// Refuses what cannot show a film.
pub(super) fn check_terminal() -> Result<(), Failure> {
    if !style::is_watched() {
        return Err(Failure::new("--watch needs a terminal")
            .help("drop --watch when the output goes to a file or another program"));
    }
    if style::is_dumb() {
        return Err(
            Failure::new("--watch: this terminal (TERM=dumb) cannot be drawn on")
                .help("drop --watch, or set TERM"),
        );
    }
    Ok(())
}

/// The screen is drawn at least this often, so that it follows when the terminal changes its
/// size.
const DRAW: Duration = Duration::from_millis(100);

/// Shows a film until its viewer quits; an answer if that was by Ctrl-C.
pub(super) fn screen(film: &mut Film) -> Result<Option<Answer>, Failure> {
    let mut screen = Screen::open().map_err(|error| {
        Failure::new(format!("cannot use the terminal: {error}")).help("drop --watch")
    })?;
    let mut due = Instant::now() + film.pause();
    loop {
        screen.show(|columns, rows| film.draw(columns, rows))?;
        match screen.key(due.saturating_duration_since(Instant::now()).min(DRAW))? {
            Some(Key::Interrupt) => return Ok(Some(Answer::Interrupted)),
            Some(key) if film.press(key).is_break() => return Ok(None),
            _ => {}
        }
        if Instant::now() >= due {
            film.tick();
            due = Instant::now() + film.pause();
        }
    }
}
