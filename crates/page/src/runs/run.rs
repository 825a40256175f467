//! A run that people look at.

#[cfg(feature = "watch")]
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use headway_core::Round;
use tokio::sync::{Notify, watch};

use super::change::Change;
use super::class::Class;
use super::clock::{Clock, SPEEDS};
use super::frame::{Frame, Playing};
use super::settings::RunSettings;
use super::tale::Tale;
use super::window::Window;
use crate::error::ApiError;
use crate::limits::Limits;
use crate::time::{Moment, now};

/// A run: its story, which round it is at, and who is watching.
pub struct Run {
    pub(crate) id: String,
    pub(super) limits: Limits,
    pub(super) state: Mutex<RunState>,
    /// The latest frame, as it goes over the wire; whoever is slow misses those in
    /// between. `None` when the run is no more.
    pub(super) frames: watch::Sender<Option<Bytes>>,
    /// Somebody drives the frames.
    #[cfg(feature = "watch")]
    pub(super) driven: AtomicBool,
    /// The clock was changed.
    pub(super) changed: Notify,
}

pub(crate) struct RunState {
    pub(crate) settings: RunSettings,
    pub(crate) story: Tale,
    pub(crate) version: u64,
    pub(super) class: Class,
    pub(super) clock: Clock,
    pub(super) used: Moment,
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
            #[cfg(feature = "watch")]
            driven: AtomicBool::new(false),
            changed: Notify::new(),
        };
        // Whether the round can be looked at shows now; the clock ends before that.
        run.frame(&run.lock(), Some(settings.round))?;
        Ok(run)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RunState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.used = now();
        state
    }

    pub(crate) fn viewers(&self) -> usize {
        self.frames.receiver_count()
    }

    /// When somebody last did something with it.
    pub(crate) fn used(&self) -> Moment {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.used
    }

    /// The frame of a round, by default the current one.
    pub(crate) fn frame(&self, state: &RunState, round: Option<Round>) -> Result<Frame, ApiError> {
        let round = state.round(round, &self.limits)?;
        let playing = Playing {
            run: self.id.clone(),
            version: state.version,
            playing: state.clock.playing(),
            speed: state.clock.speed(),
        };
        let frame = state.story.frame(round, playing, &self.limits)?;
        Ok(Frame {
            class: state.class.view(),
            ..frame
        })
    }

    pub(crate) fn window(&self, from: Round, rounds: u64) -> Result<Window, ApiError> {
        let state = self.lock();
        let version = state.version;
        state.story.window(version, from, rounds, &self.limits)
    }

    pub(crate) fn seek(&self, round: Round) -> Result<Frame, ApiError> {
        let mut state = self.lock();
        let frame = self.frame(&state, Some(round))?;
        state.clock.seek(round, now());
        self.announce(&mut state)?;
        Ok(frame)
    }

    pub(crate) fn step(&self, rounds: i64) -> Result<Frame, ApiError> {
        let mut state = self.lock();
        let round = state.now().saturating_add_signed(rounds);
        let mut clock = state.clock;
        clock.play(false, clock.speed(), now(), round);
        clock.seek(round, now());
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
        state.clock.play(playing, speed, now(), last);
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
        let round = round.unwrap_or_else(|| state.now());
        let mut change = Change::parse(fault, round)
            .map_err(|error| ApiError::invalid("fault", error.to_string()))?;
        change.token = change.token.or(token);
        check_round("round", change.after_round, &self.limits)?;
        let at = change.after_round;
        state.story.strike(change, &self.limits)?;
        state.version += 1;
        state.clock.seek(at, now());
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
            class: std::mem::take(&mut state.class),
            closed: state.closed,
            ..next
        };
        self.announce(&mut state)?;
        Ok(())
    }

    /// What is known of its class, changed or not; everyone is told.
    pub(crate) fn class<T>(
        &self,
        change: impl FnOnce(&mut Class) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut state = self.lock();
        let done = change(&mut state.class)?;
        self.announce(&mut state)?;
        Ok(done)
    }

    /// Whether whoever shows this key may steer it.
    pub(crate) fn admits(&self, key: Option<&str>) -> Result<(), ApiError> {
        self.lock().class.admits(key)
    }

    /// Whether somebody presents it.
    pub(crate) fn is_presented(&self) -> bool {
        self.lock().class.view().is_some()
    }

    /// Shows everyone how it is now.
    fn announce(&self, state: &mut RunState) -> Result<Frame, ApiError> {
        let frame = self.publish(state)?;
        self.changed.notify_one();
        Ok(frame)
    }

    pub(super) fn publish(&self, state: &mut RunState) -> Result<Frame, ApiError> {
        let frame = self.frame(state, None)?;
        let seen = self.viewers() > 0;
        state.sent = seen.then_some(frame.round);
        if seen && !state.closed {
            self.frames.send_replace(Some(event("frame", &frame)?));
        }
        Ok(frame)
    }

    /// The run is no more: its viewers are told.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.frames.send_replace(None);
        self.changed.notify_one();
    }
}

impl RunState {
    fn new(settings: &RunSettings, limits: &Limits) -> Result<RunState, ApiError> {
        check_round("round", settings.round, limits)?;
        let (written, mut story) = Tale::new(settings, limits)?;
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
            class: Class::default(),
            clock: Clock::standing_at(settings.round),
            used: now(),
            sent: None,
            closed: false,
        })
    }

    #[cfg(feature = "watch")]
    pub(super) fn is_news(&self, now: Moment) -> bool {
        self.sent != Some(self.clock.round(now, self.story.seekable()))
    }

    /// The round that is asked about, by default the current one.
    pub(crate) fn round(&self, asked: Option<Round>, limits: &Limits) -> Result<Round, ApiError> {
        let round = asked.unwrap_or_else(|| self.now());
        check_round("round", round, limits)?;
        Ok(round)
    }

    /// The current round.
    fn now(&self) -> Round {
        let last = self.story.seekable();
        self.clock.round(now(), last)
    }
}

/// A server-sent event with this as its data.
///
/// # Errors
///
/// What cannot be written as JSON.
pub fn event(name: &str, data: &impl serde::Serialize) -> Result<Bytes, ApiError> {
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
