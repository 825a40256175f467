//! The `headway` binary as its users meet it.

mod common;
mod help;
mod mistakes;
mod run;
mod sweep;
