#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

use std::fmt::Display;

pub mod check;
pub mod failure;
pub mod forecast;
pub mod instance;
pub mod json;
mod memory;
pub mod petri;
pub mod plan;
pub mod run;
pub mod sentence;
pub mod sweep;
pub mod walk;
pub mod worst;

pub use failure::Failure;
pub use instance::Instance;

/// `1 token`, `2 tokens`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = match noun.strip_suffix("ss") {
        Some(_) => format!("{noun}es"),
        None => format!("{noun}s"),
    };
    format!(
        "{number} {}",
        if number == N::from(1) { noun } else { &plural }
    )
}
