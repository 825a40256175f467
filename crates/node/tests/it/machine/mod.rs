//! One machine at a time: what comes out for what goes in, to the microsecond.

mod datagrams;
mod domain;
mod fields;
mod harness;
mod permits;
mod rounds;
mod saved;
mod scripted;
mod timing;
mod trouble;
