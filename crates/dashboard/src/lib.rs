#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod api;
mod assets;
mod error;
pub mod fleet;
mod guard;
mod rates;
mod server;

pub use api::document;
pub use assets::{PageWeight, page_weight};
pub use guard::{Embedder, Secret};
pub use headway_page::Limits;
pub use server::{Options, Server};
