//! The interface described: for tools as OpenAPI, for people as a page.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use utoipa::openapi::OpenApi;

use crate::server::App;

pub(super) fn add(router: Router<App>, document: &OpenApi) -> Router<App> {
    let json = document.to_pretty_json().unwrap_or_default();
    let openapi =
        async move || ([(header::CONTENT_TYPE, "application/json")], json.clone()).into_response();
    router.route("/api/openapi.json", get(openapi))
}
