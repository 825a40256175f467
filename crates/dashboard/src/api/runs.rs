//! Runs: making them, looking at them, changing them.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use headway_sim::forecast::Forecast;
use headway_sim::state_file;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::extract::{Body, Params};
use super::work;
use crate::error::{ApiError, ErrorBody};
use crate::runs::{Frame, RunSettings, RunView, Window, check_round};
use crate::server::App;

/// Make a run
#[utoipa::path(post, path = "/api/runs", tag = "runs", request_body = RunSettings, responses(
    (status = 201, body = RunView),
    (status = 422, description = "a setting is wrong or too large", body = ErrorBody),
    (status = 503, description = "too many runs are being watched", body = ErrorBody),
))]
pub(super) async fn create(
    State(app): State<App>,
    Body(settings): Body<RunSettings>,
) -> Result<(StatusCode, Json<RunView>), ApiError> {
    let shared = app.clone();
    let view = work(&app, move || {
        let run = shared.runs.create(&settings)?;
        RunView::new(&run)
    });
    Ok((StatusCode::CREATED, Json(view.await?)))
}

/// A run as it is now
#[utoipa::path(get, path = "/api/runs/{id}", tag = "runs", responses(
    (status = 200, body = RunView), (status = 404, body = ErrorBody),
))]
pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<RunView>, ApiError> {
    let run = app.runs.get(&id)?;
    work(&app, move || RunView::new(&run)).await.map(Json)
}

/// Put another ring in a run's place; its viewers see that one from now on
#[utoipa::path(put, path = "/api/runs/{id}", tag = "runs", request_body = RunSettings, responses(
    (status = 200, body = RunView), (status = 404, body = ErrorBody),
    (status = 422, description = "a setting is wrong or too large; the run stays as it was", body = ErrorBody),
))]
pub(super) async fn replace(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(settings): Body<RunSettings>,
) -> Result<Json<RunView>, ApiError> {
    let run = app.runs.get(&id)?;
    let replaced = work(&app, move || {
        run.replace(&settings)?;
        RunView::new(&run)
    });
    replaced.await.map(Json)
}

/// Drop a run; its viewers are told
#[utoipa::path(delete, path = "/api/runs/{id}", tag = "runs", responses(
    (status = 204), (status = 404, body = ErrorBody),
))]
pub(super) async fn remove(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    app.runs.remove(&id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which round.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AtRound {
    /// By default the current one.
    round: Option<u64>,
}

/// The state in any round, however far; the run stays where it is
#[utoipa::path(get, path = "/api/runs/{id}/frame", tag = "runs", params(AtRound), responses(
    (status = 200, body = Frame), (status = 404, body = ErrorBody),
    (status = 422, description = "beyond what can be looked at", body = ErrorBody),
))]
pub(super) async fn frame(
    State(app): State<App>,
    Path(id): Path<String>,
    Params(at): Params<AtRound>,
) -> Result<Json<Frame>, ApiError> {
    let run = app.runs.get(&id)?;
    let frame = work(&app, move || run.frame(&run.lock(), at.round));
    frame.await.map(Json)
}

/// Where to go.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Seek {
    /// The round.
    round: u64,
}

/// Go to a round, however far
#[utoipa::path(post, path = "/api/runs/{id}/seek", tag = "runs", request_body = Seek, responses(
    (status = 200, body = Frame), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody),
))]
pub(super) async fn seek(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(to): Body<Seek>,
) -> Result<Json<Frame>, ApiError> {
    let run = app.runs.get(&id)?;
    work(&app, move || run.seek(to.round)).await.map(Json)
}

/// How far to go.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// Rounds; backwards when negative.
    #[serde(default = "one")]
    rounds: i64,
}

fn one() -> i64 {
    1
}

/// Stop playing and go some rounds on or back
#[utoipa::path(post, path = "/api/runs/{id}/step", tag = "runs", request_body = Step, responses(
    (status = 200, body = Frame), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody),
))]
pub(super) async fn step(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(by): Body<Step>,
) -> Result<Json<Frame>, ApiError> {
    let run = app.runs.get(&id)?;
    work(&app, move || run.step(by.rounds)).await.map(Json)
}

/// How to go on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Play {
    /// Whether to go on by itself; by default as it was.
    playing: Option<bool>,
    /// Rounds a second, 0.1 to 1e12; by default as it was.
    speed: Option<f64>,
}

/// Go on by itself, or stop
#[utoipa::path(post, path = "/api/runs/{id}/play", tag = "runs", request_body = Play, responses(
    (status = 200, body = Frame), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody),
))]
pub(super) async fn play(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(how): Body<Play>,
) -> Result<Json<Frame>, ApiError> {
    let run = app.runs.get(&id)?;
    work(&app, move || run.play(how.playing, how.speed))
        .await
        .map(Json)
}

/// What strikes.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Strike {
    /// `scramble`, `scramble:25%`, `scramble:3,5-8`, `pile`, `pile:I`, `move:FROM:TO`,
    /// `counter:I:VALUE`, `program:I:delay` or `program:I:relay`.
    fault: String,
    /// Which token was moved, if it matters.
    token: Option<u32>,
    /// After which round; by default the current one.
    round: Option<u64>,
}

/// Strike with a fault; what came after that round is dropped
#[utoipa::path(post, path = "/api/runs/{id}/faults", tag = "runs", request_body = Strike, responses(
    (status = 200, body = RunView), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody),
))]
pub(super) async fn strike(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(with): Body<Strike>,
) -> Result<Json<RunView>, ApiError> {
    let run = app.runs.get(&id)?;
    let struck = work(&app, move || {
        run.strike(&with.fault, with.token, with.round)?;
        RunView::new(&run)
    });
    struck.await.map(Json)
}

/// Which stretch.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Stretch {
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
#[utoipa::path(get, path = "/api/runs/{id}/window", tag = "runs", params(Stretch), responses(
    (status = 200, body = Window), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody),
))]
pub(super) async fn window(
    State(app): State<App>,
    Path(id): Path<String>,
    Params(stretch): Params<Stretch>,
) -> Result<Json<Window>, ApiError> {
    let run = app.runs.get(&id)?;
    let window = work(&app, move || run.window(stretch.from, stretch.rounds));
    window.await.map(Json)
}

/// The state file of a round
#[utoipa::path(get, path = "/api/runs/{id}/state", tag = "runs", params(AtRound), responses(
    (status = 200, description = "a state file, as `headway run --start FILE` takes it"),
    (status = 404, body = ErrorBody), (status = 422, body = ErrorBody),
))]
pub(super) async fn state(
    State(app): State<App>,
    Path(id): Path<String>,
    Params(at): Params<AtRound>,
) -> Result<Response, ApiError> {
    let run = app.runs.get(&id)?;
    let limits = app.limits.clone();
    let (round, text) = work(&app, move || {
        let state = run.lock();
        let round = at.round.unwrap_or_else(|| state.now());
        check_round("round", round, &limits)?;
        let (segment, look) = state.story.look(round)?;
        let ring = &state.story.segments()[segment].ring;
        Ok((round, state_file::render(ring, &look.state)))
    })
    .await?;
    Ok(download(
        "application/json",
        &format!("ring-round-{round}.json"),
        text,
    ))
}

/// The space-time diagram as a picture (SVG)
#[utoipa::path(get, path = "/api/runs/{id}/diagram.svg", tag = "runs", params(Stretch), responses(
    (status = 200, description = "image/svg+xml"),
    (status = 404, body = ErrorBody), (status = 422, body = ErrorBody),
))]
pub(super) async fn diagram(
    State(app): State<App>,
    Path(id): Path<String>,
    Params(stretch): Params<Stretch>,
) -> Result<Response, ApiError> {
    let run = app.runs.get(&id)?;
    let limits = app.limits.clone();
    let picture = work(&app, move || {
        let state = run.lock();
        check_round("from", stretch.from, &limits)?;
        let (segment, look) = state.story.look(stretch.from)?;
        let ring = &state.story.segments()[segment].ring;
        let forecast = Forecast::of(ring, &look.state).map_err(|error| {
            ApiError::invalid("id", format!("there is no such diagram: {error}"))
        })?;
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
        Ok(forecast.timeline().svg(stretch.rounds, &title))
    })
    .await?;
    Ok(download("image/svg+xml", "ring.svg", picture))
}

fn download(kind: &'static str, name: &str, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    (headers, text).into_response()
}
