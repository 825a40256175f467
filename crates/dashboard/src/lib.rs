//! The web page of Headway and its server.
#![forbid(unsafe_code)]

mod api;
mod assets;
mod error;
pub mod fleet;
mod guard;
mod limits;
pub mod runs;
mod server;

pub use assets::{PageWeight, page_weight};
pub use error::{ErrorBody, Problem};
pub use guard::Token;
pub use limits::Limits;
pub use server::{Options, Server};
