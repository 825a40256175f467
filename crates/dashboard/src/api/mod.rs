//! The answers, one file per topic.

use axum::Router;

use crate::server::App;

pub(crate) fn router() -> Router<App> {
    Router::new()
}
