//! Runs: making them, looking at them, changing them.

use headway_sim::forecast::Forecast;
use headway_sim::state_file;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::limits::Limits;
use crate::runs::{Frame, Run, RunSettings, RunView, Runs, Window, check_round};

/// Make a run
pub(crate) fn create(runs: &Runs, settings: &RunSettings) -> Result<RunView, ApiError> {
    RunView::new(&*runs.create(settings)?)
}

/// A run as it is now
pub(crate) fn show(run: &Run) -> Result<RunView, ApiError> {
    RunView::new(run)
}

/// Put another ring in a run's place; its viewers see that one from now on
pub(crate) fn replace(run: &Run, settings: &RunSettings) -> Result<RunView, ApiError> {
    run.replace(settings)?;
    RunView::new(run)
}

/// Drop a run; its viewers are told
pub(crate) fn remove(runs: &Runs, id: &str) -> Result<(), ApiError> {
    runs.remove(id)
}

/// Which round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtRound {
    /// By default the current one.
    pub(super) round: Option<u64>,
}

/// The state in any round, however far; the run stays where it is
pub(crate) fn frame(run: &Run, at: &AtRound) -> Result<Frame, ApiError> {
    run.frame(&run.lock(), at.round)
}

/// Where to go.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seek {
    /// The round.
    round: u64,
}

/// Go to a round, however far
pub(crate) fn seek(run: &Run, to: &Seek) -> Result<Frame, ApiError> {
    run.seek(to.round)
}

/// How far to go.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Rounds; backwards when negative.
    #[serde(default = "one")]
    rounds: i64,
}

fn one() -> i64 {
    1
}

/// Stop playing and go some rounds on or back
pub(crate) fn step(run: &Run, by: &Step) -> Result<Frame, ApiError> {
    run.step(by.rounds)
}

/// How to go on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Play {
    /// Whether to go on by itself; by default as it was.
    playing: Option<bool>,
    /// Rounds a second, 0.1 to 1e12; by default as it was.
    speed: Option<f64>,
}

/// Go on by itself, or stop
pub(crate) fn play(run: &Run, how: &Play) -> Result<Frame, ApiError> {
    run.play(how.playing, how.speed)
}

/// What strikes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Strike {
    /// `scramble`, `scramble:25%`, `scramble:3,5-8`, `pile`, `pile:I`, `move:FROM:TO`,
    /// `counter:I:VALUE`, `program:I:delay` or `program:I:relay`.
    fault: String,
    /// Which token was moved, if it matters.
    token: Option<u32>,
    /// After which round; by default the current one.
    round: Option<u64>,
}

/// Strike with a fault; what came after that round is dropped
pub(crate) fn strike(run: &Run, with: &Strike) -> Result<RunView, ApiError> {
    run.strike(&with.fault, with.token, with.round)?;
    RunView::new(run)
}

/// What makes a presenter.
#[derive(Serialize, Deserialize)]
pub(crate) struct Presenter {
    /// From now on whatever changes the run needs it, as `?key=`.
    key: String,
}

/// Present a run: from now on only who has the key steers it
pub(crate) fn present(runs: &Runs, run: &Run) -> Result<Presenter, ApiError> {
    let key = runs.new_key();
    run.class(|class| class.present(key.clone()))?;
    Ok(Presenter { key })
}

/// Whether the class is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// Take guesses, or no more.
    open: bool,
}

/// Ask the class how many rounds it will take, or end the question
pub(crate) fn question(run: &Run, question: &Question) -> Result<Frame, ApiError> {
    run.class(|class| {
        class.ask(question.open);
        Ok(())
    })?;
    run.frame(&run.lock(), None)
}

/// A guess.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guess {
    /// A name of the page's own, so that a later guess takes the place of the first.
    who: String,
    /// How many rounds.
    rounds: u64,
}

/// Guess how many rounds it will take, while the class is asked
pub(crate) fn guess(run: &Run, guess: &Guess) -> Result<Frame, ApiError> {
    run.class(|class| class.guess(&guess.who, guess.rounds))?;
    run.frame(&run.lock(), None)
}

/// Which stretch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stretch {
    /// The first state.
    #[serde(default)]
    from: u64,
    /// How many rounds.
    #[serde(default = "hundred")]
    rounds: u64,
}

fn hundred() -> u64 {
    100
}

/// The ways of all tokens over a stretch of rounds
pub(crate) fn window(run: &Run, stretch: &Stretch) -> Result<Window, ApiError> {
    run.window(stretch.from, stretch.rounds)
}

/// The state file of a round
pub(crate) fn state(run: &Run, at: &AtRound, limits: &Limits) -> Result<File, ApiError> {
    let state = run.lock();
    let round = state.round(at.round, limits)?;
    let story = state.story.in_lock_step("state file")?;
    let (segment, look) = story.look(round)?;
    let ring = &story.segments()[segment].ring;
    Ok(File {
        kind: "application/json",
        name: format!("ring-round-{round}.json"),
        text: state_file::render(ring, &look.state),
    })
}

/// The space-time diagram as a picture (SVG)
pub(crate) fn diagram(run: &Run, stretch: &Stretch, limits: &Limits) -> Result<File, ApiError> {
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
    Ok(File {
        kind: "image/svg+xml",
        name: "ring.svg".to_owned(),
        text: forecast.timeline().svg(stretch.rounds, &title),
    })
}

/// An answer to be kept as a file.
pub(crate) struct File {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) text: String,
}
