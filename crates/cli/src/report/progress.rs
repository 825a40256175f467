//! Progress on standard error, only on a terminal and only when work is long.

use std::io::IsTerminal;
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

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
        let unit = self.unit;
        let (bar, template) = match self.total {
            Some(total) => (
                ProgressBar::new(total),
                format!("{{bar:30}} {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left"),
            ),
            None => (
                ProgressBar::new_spinner(),
                format!("{{spinner}} {{pos}} {unit}, {{per_sec}}"),
            ),
        };
        if let Ok(style) = ProgressStyle::with_template(&template) {
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

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
