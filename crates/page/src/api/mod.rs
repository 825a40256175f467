//! The answers, one file per topic.
// The attribute that describes a path writes more of it than is needed.
#![allow(unused_qualifications)]

use utoipa::OpenApi;

pub(crate) mod about;
pub(crate) mod charts;
pub(crate) mod explore;
pub(crate) mod lessons;
pub(crate) mod lines;
pub(crate) mod runs;
pub(crate) mod walks;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Headway",
        description = "Rings of circulating tokens: make a run, look at any round of it, strike \
            it with faults, watch it. The page uses nothing else. Rounds go up to 2^53 - 1. A \
            request that is answered with an error has changed nothing."
    ),
    paths(
        about::about,
        runs::create,
        runs::show,
        runs::replace,
        runs::remove,
        runs::frame,
        runs::seek,
        runs::step,
        runs::play,
        runs::strike,
        runs::present,
        runs::question,
        runs::guess,
        runs::window,
        runs::state,
        lines::lines,
        runs::diagram,
        explore::flow,
        explore::stabilization,
        charts::chart,
        walks::walk,
        lessons::chain,
        lessons::asynchrony,
    )
)]
struct Document;

/// The description of all that [`Desk`](crate::Desk) answers.
pub fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}
