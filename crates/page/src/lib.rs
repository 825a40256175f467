#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod api;
#[cfg(test)]
mod damage;
mod desk;
mod error;
mod limits;
pub mod runs;
mod time;

pub use desk::{Answer, Desk, Request, key};
pub use error::{ApiError, ErrorBody, ErrorDetail};
pub use limits::Limits;
#[cfg(target_family = "wasm")]
pub use time::set_now_ms;
