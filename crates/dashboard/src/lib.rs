#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod api;
mod assets;
#[cfg(test)]
mod damage;
mod error;
pub mod fleet;
mod guard;
mod limits;
pub mod runs;
mod server;

pub use assets::{PageWeight, page_weight};
pub use error::{ErrorBody, ErrorDetail};
pub use guard::Secret;
pub use limits::Limits;
pub use server::{Options, Server};
