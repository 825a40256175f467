//! The answers, one file per topic.
// The attribute that describes a path writes more of it than is needed.
#![allow(unused_qualifications)]

use axum::Router;
use tokio::sync::Semaphore;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

mod about;
mod charts;
mod docs;
mod events;
mod explore;
mod extract;
mod fleet;
mod lessons;
mod runs;
mod walks;

use crate::error::ApiError;
use crate::server::App;

#[derive(OpenApi)]
#[openapi(info(
    title = "Headway",
    description = "Rings of circulating tokens: make a run, look at any round of it, strike it \
        with faults, watch it. The page uses nothing else. Rounds go up to 2^53 - 1. A request \
        that is answered with an error has changed nothing."
))]
struct Document;

pub(crate) fn router() -> Router<App> {
    let (router, document) = documented().split_for_parts();
    docs::add(router, &document)
}

fn documented() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(about::about))
        .routes(routes!(runs::create))
        .routes(routes!(runs::show, runs::replace, runs::remove))
        .routes(routes!(runs::frame))
        .routes(routes!(runs::seek))
        .routes(routes!(runs::step))
        .routes(routes!(runs::play))
        .routes(routes!(runs::strike))
        .routes(routes!(runs::window))
        .routes(routes!(runs::state))
        .routes(routes!(runs::diagram))
        .routes(routes!(events::events))
        .routes(routes!(explore::flow))
        .routes(routes!(explore::stabilization))
        .routes(routes!(charts::chart))
        .routes(routes!(walks::walk))
        .routes(routes!(lessons::chain))
        .routes(routes!(lessons::asynchrony))
        .routes(routes!(fleet::fleet))
        .routes(routes!(fleet::events))
}

/// Works something out where it does not keep connections waiting.
async fn work<T: Send + 'static>(
    app: &App,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    work_among(&app.work, work).await
}

/// The same for what can take seconds: it waits for others of its kind, and does not
/// keep runs waiting.
async fn long_work<T: Send + 'static>(
    app: &App,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    work_among(&app.long_work, work).await
}

async fn work_among<T: Send + 'static>(
    places: &Semaphore,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let _place = places.acquire().await.map_err(|_| ApiError::internal())?;
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ApiError::internal())?
}
