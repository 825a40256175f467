//! How far a check is.

use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use headway_check::Control;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::remark;
use crate::report::progress::outlook;

/// Runs `work` while a progress bar follows it and Ctrl-C stops it.
pub(super) fn watched<T: Send>(control: &Control, work: impl FnOnce() -> T + Send) -> T {
    let interrupted = crate::interrupt::stopped();
    std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::hidden());
        let since = Instant::now();
        let mut shown = false;
        // Where no bar is seen, a line a minute.
        let lines = !std::io::stderr().is_terminal();
        let mut told = since;
        while !worker.is_finished() {
            std::thread::sleep(Duration::from_millis(if shown { 100 } else { 5 }));
            if interrupted.load(Ordering::Relaxed) {
                control.stop();
            }
            let elapsed = since.elapsed();
            if !shown && elapsed > Duration::from_millis(400) {
                shown = true;
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.set_style(style());
            }
            let (done, total) = control.progress();
            let thousandths = u128::from(done) * 1000 / u128::from(total.max(1));
            bar.set_position(thousandths.min(1000) as u64);
            let message = match (total, control.expected()) {
                (0, _) => format!(
                    "{} {} so far, {}",
                    HumanCount(done),
                    control.unit(),
                    HumanDuration(elapsed)
                ),
                // Too early to go by what was done.
                (_, Some(expected)) if thousandths < 50 => format!(
                    "{}%, {}, about {} in all by a sample",
                    thousandths / 10,
                    HumanDuration(elapsed),
                    HumanDuration(expected)
                ),
                _ => outlook(done, total, elapsed),
            };
            if lines && told.elapsed() >= Duration::from_secs(60) {
                told = Instant::now();
                remark(&message);
            }
            bar.set_message(message);
        }
        bar.finish_and_clear();
        match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:30} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar())
}
