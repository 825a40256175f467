//! A run that people look at.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use headway_core::Round;
use tokio::sync::{Notify, watch};

use super::change::Change;
use super::clock::{Clock, SPEEDS};
use super::frame::{Frame, Playing};
use super::settings::RunSettings;
use super::story::Story;
use super::window::Window;
use crate::error::ApiError;
use crate::limits::Limits;

/// What the frames of a run that plays come to at most, for each viewer.
const BYTES_PER_SECOND: f64 = 4e6;

/// A run: its story, which round it is at, and who is watching.
pub(crate) struct Run {
    pub(crate) id: String,
    limits: Limits,
    state: Mutex<RunState>,
    /// The latest frame, as it goes over the wire; whoever is slow misses those in
    /// between. `None` when the run is no more.
    frames: watch::Sender<Option<Bytes>>,
    /// Somebody drives the frames.
    driven: AtomicBool,
    /// The clock was changed.
    changed: Notify,
}

pub(crate) struct RunState {
    pub(crate) settings: RunSettings,
    pub(crate) story: Story,
    pub(crate) version: u64,
    clock: Clock,
    used: Instant,
    /// The round of the frame sent last; everything else in it is sent as soon as it
    /// changes.
    sent: Option<Round>,
    closed: bool,
}

impl Run {
    pub(crate) fn new(
        id: String,
        settings: &RunSettings,
        limits: &Limits,
    ) -> Result<Run, ApiError> {
        let state = RunState::new(settings, limits)?;
        let run = Run {
            id,
            limits: limits.clone(),
            state: Mutex::new(state),
            frames: watch::Sender::new(None),
            driven: AtomicBool::new(false),
            changed: Notify::new(),
        };
        {
            let mut state = run.lock();
            // Whether the round can be looked at shows now; the clock ends before that.
            run.frame(&state, Some(settings.round))?;
            run.publish(&mut state)?;
        }
        Ok(run)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RunState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.used = Instant::now();
        state
    }

    pub(crate) fn viewers(&self) -> usize {
        self.frames.receiver_count()
    }

    /// When somebody last did something with it.
    pub(crate) fn used(&self) -> Instant {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.used
    }

    /// The frame of a round, by default the current one.
    pub(crate) fn frame(&self, state: &RunState, round: Option<Round>) -> Result<Frame, ApiError> {
        let round = round.unwrap_or_else(|| state.now());
        check_round("round", round, &self.limits)?;
        let playing = Playing {
            run: self.id.clone(),
            version: state.version,
            playing: state.clock.playing(),
            speed: state.clock.speed(),
        };
        Frame::new(&state.story, round, playing, &self.limits)
    }

    pub(crate) fn window(&self, from: Round, rounds: u64) -> Result<Window, ApiError> {
        let state = self.lock();
        Window::new(&state.story, state.version, from, rounds, &self.limits)
    }

    pub(crate) fn seek(&self, round: Round) -> Result<Frame, ApiError> {
        let mut state = self.lock();
        let frame = self.frame(&state, Some(round))?;
        state.clock.seek(round, Instant::now());
        self.announce(&mut state)?;
        Ok(frame)
    }

    pub(crate) fn step(&self, rounds: i64) -> Result<Frame, ApiError> {
        let mut state = self.lock();
        let round = state.now().saturating_add_signed(rounds);
        let mut clock = state.clock;
        clock.play(false, clock.speed(), Instant::now(), round);
        clock.seek(round, Instant::now());
        // Looked at first: an error leaves the clock as it was.
        self.frame(&state, Some(round))?;
        state.clock = clock;
        self.announce(&mut state)
    }

    pub(crate) fn play(
        &self,
        playing: Option<bool>,
        speed: Option<f64>,
    ) -> Result<Frame, ApiError> {
        if let Some(speed) = speed.filter(|speed| !SPEEDS.contains(speed)) {
            let message = format!("speed {speed}: expected 0.1 to 1e12 rounds a second");
            return Err(ApiError::invalid("speed", message));
        }
        let mut state = self.lock();
        let playing = playing.unwrap_or(state.clock.playing());
        let speed = speed.unwrap_or(state.clock.speed());
        let last = state.story.seekable();
        state.clock.play(playing, speed, Instant::now(), last);
        self.announce(&mut state)
    }

    /// A fault strikes now or in another round; the run stands there then.
    pub(crate) fn strike(
        &self,
        fault: &str,
        token: Option<u32>,
        round: Option<Round>,
    ) -> Result<(), ApiError> {
        let mut state = self.lock();
        let now = round.unwrap_or_else(|| state.now());
        let mut change = Change::parse(fault, now)
            .map_err(|error| ApiError::invalid("fault", error.to_string()))?;
        change.token = change.token.or(token);
        check_round("round", change.after_round, &self.limits)?;
        let at = change.after_round;
        state.story.strike(change, &self.limits)?;
        state.version += 1;
        state.clock.seek(at, Instant::now());
        self.announce(&mut state)?;
        Ok(())
    }

    /// Another ring in its place: whoever watches sees that one from now on.
    pub(crate) fn replace(&self, settings: &RunSettings) -> Result<(), ApiError> {
        let next = RunState::new(settings, &self.limits)?;
        self.frame(&next, Some(settings.round))?;
        let mut state = self.lock();
        *state = RunState {
            version: state.version + 1,
            closed: state.closed,
            ..next
        };
        self.announce(&mut state)?;
        Ok(())
    }

    /// Shows everyone how it is now.
    fn announce(&self, state: &mut RunState) -> Result<Frame, ApiError> {
        let frame = self.publish(state)?;
        self.changed.notify_one();
        Ok(frame)
    }

    fn publish(&self, state: &mut RunState) -> Result<Frame, ApiError> {
        let frame = self.frame(state, None)?;
        state.sent = Some(frame.round);
        let event = event("frame", &frame)?;
        if !state.closed {
            self.frames.send_replace(Some(event));
        }
        Ok(frame)
    }

    /// The run is no more: its viewers are told.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.frames.send_replace(None);
        self.changed.notify_one();
    }

    /// A receiver of the latest frame; it also sees to it that there are new ones.
    pub(crate) fn watch(self: &Arc<Run>) -> Result<watch::Receiver<Option<Bytes>>, ApiError> {
        let receiver = self.frames.subscribe();
        let mut state = self.lock();
        if state.is_news(Instant::now()) {
            self.publish(&mut state)?;
        }
        drop(state);
        if !self.driven.swap(true, Ordering::AcqRel) {
            tokio::spawn(drive(Arc::downgrade(self)));
        }
        Ok(receiver)
    }

    /// How far apart frames are at least; large ones further.
    fn apart(&self) -> Duration {
        let shortest = Duration::from_secs(1) / self.limits.frames_per_second.max(1);
        let bytes = self.frames.borrow().as_ref().map_or(0, Bytes::len);
        shortest.max(Duration::from_secs_f64(bytes as f64 / BYTES_PER_SECOND))
    }

    /// Publishes a frame if there is something new; when to look again.
    fn tick(&self) -> Option<Instant> {
        let now = Instant::now();
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

impl RunState {
    fn new(settings: &RunSettings, limits: &Limits) -> Result<RunState, ApiError> {
        check_round("round", settings.round, limits)?;
        let (ring, start) = settings.build(limits)?;
        let written = settings.written_out(&ring, &start);
        let mut story = Story::new(ring, start, settings.seed(), limits)?;
        let mut latest = 0;
        for (index, fault) in settings.faults.iter().enumerate() {
            let field = format!("faults[{index}]");
            let change = Change::parse(fault, latest)
                .map_err(|error| ApiError::invalid(&field, error.to_string()))?;
            if change.after_round < latest {
                let message = format!("{fault} strikes before the fault ahead of it");
                return Err(ApiError::invalid(&field, message));
            }
            check_round(&field, change.after_round, limits)?;
            latest = change.after_round;
            story
                .strike(change, limits)
                .map_err(|error| error.at(&field))?;
        }
        Ok(RunState {
            settings: written,
            story,
            version: 1,
            clock: Clock::standing_at(settings.round),
            used: Instant::now(),
            sent: None,
            closed: false,
        })
    }

    fn is_news(&self, now: Instant) -> bool {
        self.sent != Some(self.clock.round(now, self.story.seekable()))
    }

    /// The current round.
    pub(crate) fn now(&self) -> Round {
        let last = self.story.seekable();
        self.clock.round(Instant::now(), last)
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
                () = tokio::time::sleep_until(due.into()) => {}
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

/// A server-sent event with this as its data.
pub(crate) fn event(name: &str, data: &impl serde::Serialize) -> Result<Bytes, ApiError> {
    let json = serde_json::to_string(data).map_err(|_| ApiError::internal())?;
    Ok(Bytes::from(format!("event: {name}\ndata: {json}\n\n")))
}

pub(crate) fn check_round(field: &str, round: Round, limits: &Limits) -> Result<(), ApiError> {
    if round <= limits.largest_round {
        return Ok(());
    }
    let message = format!("round {round}: at most {}", limits.largest_round);
    Err(ApiError::invalid(field, message))
}
