//! A run that others watch: its frames, as they come.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;

use super::run::Run;
use crate::error::ApiError;
use crate::time::{Moment, now};

/// What the frames of a run that plays come to at most, for each viewer.
const BYTES_PER_SECOND: f64 = 4e6;

impl Run {
    /// A receiver of the latest frame; it also sees to it that there are new ones. Whoever
    /// shows the presenter's key is missed by the others when its watch ends.
    ///
    /// # Errors
    ///
    /// A frame that cannot be made.
    pub fn watch(self: &Arc<Run>, key: Option<&str>) -> Result<Watch, ApiError> {
        let frames = self.frames.subscribe();
        let mut state = self.lock();
        let presents = state.class.come(key);
        let presenter = presents.then(|| Presenter(Arc::clone(self)));
        if presents || state.is_news(now()) {
            self.publish(&mut state)?;
        }
        drop(state);
        if !self.driven.swap(true, Ordering::AcqRel) {
            tokio::spawn(drive(Arc::downgrade(self)));
        }
        Ok(Watch { frames, presenter })
    }

    /// How far apart frames are at least; large ones further.
    fn apart(&self) -> Duration {
        let shortest = Duration::from_secs(1) / self.limits.frames_per_second.max(1);
        let bytes = self.frames.borrow().as_ref().map_or(0, Bytes::len);
        shortest.max(Duration::from_secs_f64(bytes as f64 / BYTES_PER_SECOND))
    }

    /// Publishes a frame if there is something new; when to look again.
    fn tick(&self) -> Option<Moment> {
        let now = now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let last = state.story.seekable();
        if state.is_news(now) {
            state.used = now;
            // A frame that cannot be made is not sent; the clock ends before that.
            let _ = self.publish(&mut state);
        }
        state.clock.next(now, last, self.apart())
    }
}

/// Somebody who watches a run.
pub struct Watch {
    /// The latest frame.
    pub frames: watch::Receiver<Option<Bytes>>,
    /// Of the presenter: to be kept for as long as the page is there.
    pub presenter: Option<Presenter>,
}

/// A page of whoever presents a run.
pub struct Presenter(Arc<Run>);

impl Drop for Presenter {
    fn drop(&mut self) {
        // Of a run that is no more nobody is told.
        let _ = self.0.class(|class| {
            class.go();
            Ok(())
        });
    }
}

/// Makes frames while a run plays and somebody is watching.
async fn drive(run: Weak<Run>) {
    loop {
        let Some(run) = run.upgrade() else { return };
        if run.frames.borrow().is_none() {
            return;
        }
        if run.viewers() == 0 {
            run.driven.store(false, Ordering::Release);
            // Somebody may have come in between and found it driven.
            if run.viewers() == 0 || run.driven.swap(true, Ordering::AcqRel) {
                return;
            }
        }
        let ticked = Arc::clone(&run);
        let Ok(next) = tokio::task::spawn_blocking(move || ticked.tick()).await else {
            return;
        };
        let nobody = run.frames.closed();
        let changed = run.changed.notified();
        // A run must be able to end while its driver sleeps.
        match next {
            Some(due) => tokio::select! {
                () = tokio::time::sleep(due.saturating_sub(now())) => {}
                () = changed => {}
                () = nobody => {}
            },
            None => tokio::select! {
                () = changed => {}
                () = nobody => {}
                () = tokio::time::sleep(Duration::from_secs(5)) => {}
            },
        }
    }
}
