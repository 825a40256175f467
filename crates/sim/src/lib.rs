//! Runs of the protocol on one machine: lock-step simulation, faults,
//! measurements, and the state file.
//!
//! * [`placement`]: which processes delay;
//! * [`start`]: initial states: random, piled, spaced, worst, or a
//!   [state file](state_file);
//! * [`engine`]: lock-step rounds, [dense](engine::Dense) (every process every
//!   round) or [sparse](engine::Sparse) (cost by tokens);
//! * [`fault`]: what can strike a run;
//! * [`run`](mod@run): a run with monitors, faults and a stop condition;
//! * [`forecast`]: the same without running: every wait, any round, exactly;
//! * [`settings`]: a ring and its state from a few numbers and words;
//! * [`open_chain`]: the open system, [`asynchronous`]: the ring without lock-step;
//! * [`seed`]: where every random choice comes from.
//!
//! ```
//! use std::ops::ControlFlow;
//! use headway_core::{Program, Ring, Separation};
//! use headway_sim::{run, start, Run};
//!
//! let ring = Ring::new(Separation::new(5).unwrap(), vec![Program::Delay; 24]).unwrap();
//! let start = start::random(&ring, 4, 7);
//! let outcome = run(&Run::new(ring, start), |_| ControlFlow::Continue(())).unwrap();
//! assert!(outcome.legitimate_at.unwrap() <= 20);
//! assert!(outcome.min_distance_after.unwrap() >= 5);
//! ```
#![forbid(unsafe_code)]

pub mod asynchronous;
pub mod engine;
pub mod fault;
pub mod forecast;
pub mod open_chain;
pub mod placement;
pub mod run;
pub mod seed;
pub mod settings;
pub mod start;
pub mod state_file;

pub use fault::Fault;
pub use run::{Outcome, Run, run};
pub use settings::Settings;
pub use state_file::StateFile;
