//! The board LM3S6965EVB, as QEMU has it.
#![no_std]

mod lm3s;
mod registers;

pub use lm3s::{Board, Lamp, Line, Thermometer};

use core::panic::PanicInfo;

/// Memory that makes no sense is a fault like any other: the board starts again, and takes
/// its state from its neighbours.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
