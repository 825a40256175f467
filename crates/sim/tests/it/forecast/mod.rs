//! The forecast against lock-step, field by field and state by state.

mod closed_form;
mod exhaustive;
mod facts;
mod lock_step;
mod pictures;
mod random;
