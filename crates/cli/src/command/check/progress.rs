//! How far a check is.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use headway_check::Control;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Runs `work` while a progress bar follows it and Ctrl-C stops it.
pub(super) fn watched<T: Send>(control: &Control, work: impl FnOnce() -> T + Send) -> T {
    let interrupted = crate::interrupt::stopped();
    std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::hidden());
        let since = Instant::now();
        let mut shown = false;
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
            bar.set_position(done.saturating_mul(1000).checked_div(total).unwrap_or(0));
            bar.set_message(outlook(done, total, elapsed, control.expected()));
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

/// How far it is and how long it will take, going by all that was done so far.
fn outlook(done: u64, total: u64, elapsed: Duration, expected: Option<Duration>) -> String {
    let passed = HumanDuration(elapsed);
    if total == 0 {
        return format!("{} states so far, {passed}", HumanCount(done));
    }
    let part = (done as f64 / total as f64).min(1.0);
    // Rounded down: it is not done before it is.
    let percent = (part * 100.0).floor();
    if let (true, Some(expected)) = (part < 0.05, expected) {
        let expected = HumanDuration(expected);
        return format!("{percent}%, {passed}, about {expected} in all by a sample");
    }
    if part < 0.001 {
        return format!("{percent}%, {passed}, too early to say how long");
    }
    let left = elapsed.as_secs_f64() * (1.0 - part) / part;
    let left = HumanDuration(Duration::from_secs_f64(left.ceil().min(1e9)));
    format!("{percent}%, {passed}, about {left} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outlook_goes_by_what_was_done() {
        let minute = Duration::from_secs(60);
        let told = outlook(1, 4, minute, None);
        assert_eq!(told, "25%, 60 seconds, about 3 minutes left");
        assert_eq!(
            outlook(0, 4, minute, None),
            "0%, 60 seconds, too early to say how long"
        );
        assert_eq!(
            outlook(0, 4, minute, Some(minute * 3)),
            "0%, 60 seconds, about 3 minutes in all by a sample"
        );
        assert_eq!(
            outlook(12_345, 0, minute, None),
            "12,345 states so far, 60 seconds"
        );
        assert!(outlook(999_999, 1_000_000, minute, None).starts_with("99%"));
    }
}
