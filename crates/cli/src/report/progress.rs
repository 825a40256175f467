//! Progress on standard error, only on a terminal and only when work is long.

use std::io::IsTerminal;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that appears after a moment.
pub(crate) struct Progress {
    since: Instant,
    bar: Option<ProgressBar>,
    total: Option<u64>,
    unit: &'static str,
    terminal: bool,
}

impl Progress {
    /// Work of `total` units, if that is known.
    pub(crate) fn new(total: Option<u64>, unit: &'static str) -> Progress {
        Progress {
            since: Instant::now(),
            bar: None,
            total,
            unit,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// `done` units are done. Cheap enough to be called often, not every time.
    pub(crate) fn at(&mut self, done: u64) {
        if !self.terminal {
            return;
        }
        if self.bar.is_none() && self.since.elapsed() > Duration::from_millis(400) {
            self.bar = Some(self.new_bar());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            let elapsed = self.since.elapsed();
            let count = HumanCount(done);
            bar.set_message(match self.total {
                Some(total) => {
                    let total_count = HumanCount(total);
                    let outlook = outlook(done, total, elapsed);
                    format!("{outlook}; {count} of {total_count} {}", self.unit)
                }
                None => format!("{count} {}, {}", self.unit, HumanDuration(elapsed)),
            });
        }
    }

    /// One step of unknown length; it is named on the screen when it takes longer than
    /// a second.
    pub(crate) fn saying(what: &str) -> Progress {
        let mut progress = Progress::new(None, "");
        if progress.terminal {
            let bar = spinner(ProgressDrawTarget::hidden());
            bar.set_message(what.to_owned());
            progress.bar = Some(bar.clone());
            thread::spawn(move || {
                thread::sleep(Duration::from_secs(1));
                if !bar.is_finished() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
            });
        }
        progress
    }

    /// Says what is being done, for work in steps of unknown length.
    pub(crate) fn say(&mut self, what: &str) {
        if !self.terminal {
            return;
        }
        let visible = || spinner(ProgressDrawTarget::stderr());
        let bar = self.bar.get_or_insert_with(visible);
        bar.set_message(what.to_owned());
    }

    fn new_bar(&self) -> ProgressBar {
        let (bar, template) = match self.total {
            Some(total) => (ProgressBar::new(total), "{bar:20} {msg}"),
            None => (ProgressBar::new_spinner(), "{spinner} {msg}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar
    }
}

fn spinner(target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} … {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// How far it is and how long it will take, going by all that was done so far.
pub(crate) fn outlook(done: u64, total: u64, elapsed: Duration) -> String {
    let passed = HumanDuration(elapsed);
    let part = (done as f64 / total.max(1) as f64).min(1.0);
    // Rounded down: it is not done before it is.
    let percent = (part * 100.0).floor();
    if part < 0.001 {
        return format!("{percent}%, {passed}, too early to say how long");
    }
    let left = elapsed.as_secs_f64() * (1.0 - part) / part;
    let left = HumanDuration(Duration::from_secs_f64(left.ceil().min(1e9)));
    format!("{percent}%, {passed}, about {left} left")
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outlook_goes_by_what_was_done() {
        let minute = Duration::from_secs(60);
        let told = outlook(1, 4, minute);
        assert_eq!(told, "25%, 60 seconds, about 3 minutes left");
        let early = outlook(0, 4, minute);
        assert_eq!(early, "0%, 60 seconds, too early to say how long");
        assert!(outlook(999_999, 1_000_000, minute).starts_with("99%"));
    }
}
