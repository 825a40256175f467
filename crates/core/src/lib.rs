//! The protocol of *Separation of Circulating Tokens* (Ghosh Dastidar and
//! Herman, 2009), and nothing else.
//!
//! # The model
//!
//! A ring of n processes runs in lock-step. Tokens travel clockwise: a token
//! *queued* at process i arrives at process i+1 in the next round and may leave
//! it in that same round, or *rest* there. A process runs one [`Program`]:
//!
//! * `relay` passes on at most one token a round;
//! * `delay` waits at least d rounds between two releases, which is what pushes
//!   tokens apart;
//! * `measure` is a delay that finds out for itself how far apart the tokens can
//!   be, when the ring's size is unknown.
//!
//! If m·d ≤ n and at least one process is a delay, every state leads to
//! [legitimate](legitimate) ones: all tokens at least d hops apart and moving in
//! every round, forever.
//!
//! # Reading order
//!
//! 1. [`units`]: the numbers, [`process`]: the local state;
//! 2. [`program`]: what a process does in a round;
//! 3. [`ring`]: all processes, one synchronous round as a pure function;
//!    [`Configuration`]: a global state, [`Ring::admits`]: the variables' domains;
//! 4. [`legitimate`]: the predicate, clause by clause;
//! 5. [`tokens`]: tokens with an identity, [`desiderata`]: D1 to D5 over a run;
//! 6. [`chain`]: the open system that motivates the closed one;
//! 7. [`bound`]: the proved worst case, in closed form;
//! 8. [`token_ring`]: tokens that cannot be lost, [`phase_clock`]: rounds without
//!    lock-step, [`moving_block`]: separation without rounds, [`stations`]: whole groups
//!    at once.
//!
//! What is deliberately absent: clocks, sockets, threads, randomness, files.
#![no_std]
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod bound;
#[cfg(feature = "alloc")]
pub mod chain;
#[cfg(feature = "alloc")]
mod configuration;
#[cfg(feature = "alloc")]
pub mod desiderata;
#[cfg(feature = "alloc")]
mod domain;
pub mod legitimate;
pub mod moving_block;
pub mod phase_clock;
pub mod process;
pub mod program;
pub mod ring;
pub mod stations;
pub mod token_ring;
#[cfg(feature = "alloc")]
pub mod tokens;
pub mod units;

#[cfg(feature = "alloc")]
pub use configuration::{Configuration, MAX_COUNTED_TOKENS};
#[cfg(feature = "alloc")]
pub use domain::Misfit;
pub use legitimate::{Clause, Illegitimate};
pub use process::Process;
pub use program::{Counts, Gaps, Laps, Measuring, Program, Variable};
#[cfg(feature = "alloc")]
pub use ring::{Ring, RingError};
pub use units::{ProcessIndex, Round, Separation};
