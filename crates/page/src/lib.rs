#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod api;
mod desk;
#[cfg(not(target_family = "wasm"))]
pub mod document;
mod error;
mod exchange;
mod limits;
mod routes;
pub mod runs;
mod time;

pub use desk::{Answer, Desk, Request, key};
pub use error::{ApiError, ErrorBody, ErrorDetail};
pub use limits::Limits;
#[cfg(target_family = "wasm")]
pub use time::set_now_ms;
