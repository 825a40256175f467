#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod agent;
mod api;
pub mod client;
mod clock;
mod command;
pub mod config;
pub mod identity;
pub mod join;
mod log;
pub mod members;
mod membership;
mod metrics;
pub mod operator;
mod permits;
mod position;
mod protocol;
mod reports;
mod request;
mod rollouts;
pub mod secret;
mod service;
mod store;
mod supervise;
mod transport;

pub use agent::{Holding, Status};
pub use rollouts::view::RolloutView;
pub use service::{Reread, ServiceError, Stopped, run};

/// For this crate's own tests: not part of its interface, and changed without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::agent::{Agent, Destination, Effect, Phase, Setup, Status};
    pub use crate::command::Run;
    pub use crate::membership::Word;
    pub use crate::membership::control;
    pub use crate::membership::decision;
    pub use crate::membership::register;
    pub use crate::membership::roster;
    pub use crate::permits::{Entry, Grant, Holder, Ledger, Outcome};
    pub use crate::request::{Answer, Request};
    pub use crate::rollouts::{Ask, Task, Wanted, state};
    pub use crate::service::run_speaking;
    pub use crate::store::{Doubt, Kept, Notes, Store, Stored, Sync};
}
