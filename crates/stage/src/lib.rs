#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod conformance;
pub mod driver;
pub mod faulty;
pub mod group;
pub mod live_ring;
pub mod memory;
pub mod observer;
mod scramble;
pub mod world;

pub use scramble::scramble;

/// Locks what no code can leave half-changed by a panic.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
