//! What is asked of runs, and a run as a file.

use std::ops::ControlFlow;

use headway_sim::film::{Film, MAX_PROCESSES, MAX_SHOTS};
use headway_sim::forecast::Forecast;
use headway_sim::run::{self as sim, run as watch};
use headway_sim::state_file;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::exchange::{Picture, StateText};
use crate::limits::Limits;
use crate::runs::{Run, check_round};

/// Which round.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtRound {
    /// By default the current one.
    pub(crate) round: Option<u64>,
}

/// Where to go.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seek {
    /// The round.
    pub(crate) round: u64,
}

/// How far to go.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Rounds; backwards when negative.
    #[serde(default = "one")]
    pub(crate) rounds: i64,
}

fn one() -> i64 {
    1
}

/// How to go on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Play {
    /// Whether to go on by itself; by default as it was.
    pub(crate) playing: Option<bool>,
    /// Rounds a second, 0.1 to 1e12; by default as it was.
    pub(crate) speed: Option<f64>,
}

/// What strikes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Strike {
    /// `scramble`, `scramble:25%`, `scramble:3,5-8`, `pile`, `pile:I`, `move:FROM:TO`,
    /// `counter:I:VALUE`, `program:I:delay` or `program:I:relay`; `@ROUND` may follow.
    pub(crate) fault: String,
    /// Which token was moved, if it matters; it has to be at FROM. In `settings.faults` it is
    /// kept as in `move:3:7#2@12`.
    pub(crate) token: Option<u32>,
    /// After which round; by default the current one.
    pub(crate) round: Option<u64>,
}

/// What makes a presenter.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Presenter {
    /// From now on whatever changes the run needs it, as `?key=`.
    pub(crate) key: String,
}

/// Whether the class is asked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// Take guesses, or no more.
    pub(crate) open: bool,
}

/// A guess.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guess {
    /// A name of the guesser's own: a later guess by it takes the place of the first.
    pub(crate) who: String,
    /// How many rounds.
    pub(crate) rounds: u64,
}

/// Which stretch.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stretch {
    /// The first state.
    #[serde(default)]
    pub(crate) from: u64,
    /// How many rounds.
    #[serde(default = "hundred")]
    pub(crate) rounds: u64,
}

fn hundred() -> u64 {
    100
}

/// The state file of a round.
pub(crate) fn state(run: &Run, at: &AtRound, limits: &Limits) -> Result<StateText, ApiError> {
    let state = run.lock();
    let round = state.round(at.round, limits)?;
    let story = state.story.in_lock_step("state file")?;
    let (segment, look) = story.look(round)?;
    let ring = &story.segments()[segment].ring;
    Ok(StateText {
        name: format!("ring-round-{round}.json"),
        text: state_file::render(ring, &look.state),
    })
}

/// The ring as a picture that moves, from a state on; later faults are left out.
pub(crate) fn film(run: &Run, stretch: &Stretch, limits: &Limits) -> Result<Picture, ApiError> {
    let state = run.lock();
    check_round("from", stretch.from, limits)?;
    let story = state.story.in_lock_step("moving picture")?;
    let (segment, look) = story.look(stretch.from)?;
    let ring = &story.segments()[segment].ring;
    if ring.len() > MAX_PROCESSES || stretch.rounds >= MAX_SHOTS as u64 {
        let message = format!(
            "a moving picture of {} processes and {} rounds: at most {MAX_PROCESSES} and {}",
            ring.len(),
            stretch.rounds,
            MAX_SHOTS - 1
        );
        return Err(ApiError::too_large("rounds", message));
    }
    let title = format!(
        "{} tokens on a ring of {}, separation {}, from round {} on",
        look.state.tokens(),
        ring.len(),
        ring.separation(),
        stretch.from
    );
    let mut film = Film::new(ring, &title);
    let asked = sim::Run {
        rounds: Some(stretch.rounds),
        ..sim::Run::new(ring.clone(), look.state)
    };
    let seen = watch(&asked, |frame| {
        film.observe(frame);
        ControlFlow::Continue(())
    });
    seen.map_err(|_| ApiError::internal())?;
    Ok(Picture {
        name: "ring.svg",
        svg: film.svg(),
    })
}

/// The space-time diagram.
pub(crate) fn diagram(run: &Run, stretch: &Stretch, limits: &Limits) -> Result<Picture, ApiError> {
    let state = run.lock();
    check_round("from", stretch.from, limits)?;
    let story = state.story.in_lock_step("such diagram")?;
    let (segment, look) = story.look(stretch.from)?;
    let ring = &story.segments()[segment].ring;
    let forecast = Forecast::of(ring, &look.state)
        .map_err(|error| ApiError::invalid("id", format!("there is no such diagram: {error}")))?;
    let drawn = stretch.rounds.saturating_mul(forecast.tokens());
    if stretch.rounds == 0 || drawn > 20_000_000 {
        let message = "rounds times tokens: expected 1 to 20000000";
        return Err(ApiError::too_large("rounds", message));
    }
    let title = format!(
        "{} processes, {} tokens, separation {}, rounds from {} on",
        ring.len(),
        forecast.tokens(),
        ring.separation(),
        stretch.from
    );
    Ok(Picture {
        name: "ring.svg",
        svg: forecast.timeline().svg(stretch.rounds, &title),
    })
}
