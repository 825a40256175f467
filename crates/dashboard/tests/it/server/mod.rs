//! The server over real sockets.

mod agreement;
mod charts;
mod described;
mod fleet;
mod guard;
mod limits;
mod page;
mod refusals;
mod runs;
mod streams;
mod support;
