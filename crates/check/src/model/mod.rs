//! The models that ship. Each has settings, made by `new` and changed with `..`, and a
//! `check` that takes them.

pub mod asynchronous;
pub mod definitional;
pub mod delay_relay;
pub mod handover;
pub mod k_state;
pub mod measure;
pub mod monitor;
pub mod moving_block;
pub mod patrol;
pub mod phase_clock;
pub mod unknown_size;

/// Which states are visited, where a model has reductions. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// One state, or one case, for all that share its fate.
    #[default]
    Reduced,
    /// Every single state.
    EveryState,
}
