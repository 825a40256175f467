//! How far a check is.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use headway_check::Control;

use crate::report::progress::{Progress, outlook};
use crate::report::{about, grouped};

/// Runs `work` while a line of progress follows it and Ctrl-C stops it.
pub(super) fn watched<T: Send>(control: &Control, work: impl FnOnce() -> T + Send) -> T {
    let interrupted = crate::interrupt::stopped();
    std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        let since = Instant::now();
        let mut progress = Progress::new(None, "");
        while !worker.is_finished() {
            std::thread::sleep(Duration::from_millis(5));
            if interrupted.load(Ordering::Relaxed) {
                control.stop();
            }
            let elapsed = since.elapsed();
            let (done, total) = control.progress();
            let part = done as f64 / total.max(1) as f64;
            progress.show(done, total, || match (total, control.expected()) {
                (0, _) => {
                    let (done, passed) = (grouped(&done), about(elapsed));
                    format!("{done} {} so far, {passed}", control.unit())
                }
                // Too early to go by what was done.
                (_, Some(expected)) if part < 0.05 => format!(
                    "{:.0}%, {}, about {} in all by a sample",
                    (part * 100.0).floor(),
                    about(elapsed),
                    about(expected)
                ),
                _ => outlook(done, total, elapsed),
            });
        }
        drop(progress);
        match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
