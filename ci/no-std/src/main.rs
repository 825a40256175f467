//! A ring on the stack: programs, rounds and legitimacy without std and without an
//! allocator. See `Cargo.toml` for how to run it.
#![no_std]
#![no_main]

use core::ffi::{c_char, c_int};
use core::panic::PanicInfo;

use headway_core::program::{delay, relay};
use headway_core::{Illegitimate, Measuring, Process, Program, Separation, legitimate, ring};

const PROCESSES: usize = 12;
const TOKENS: u32 = 3;

// SAFETY: the C start-up code calls `main` once, with this signature; no other
// item of the program has that name.
#[unsafe(no_mangle)]
extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    let fine = single_processes() && known_separation() && measured_separation();
    c_int::from(!fine)
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    abort()
}

// SAFETY: this is `abort` of the C library, which takes nothing and does not return.
unsafe extern "C" {
    safe fn abort() -> !;
}

/// One process, as a microcontroller would run it.
fn single_processes() -> bool {
    let pile = Process {
        queued: 0,
        resting: 2,
        counter: 0,
    };
    let relayed = relay::round(pile, 1);
    let delayed = delay::round(delay::round(pile, 0, 4), 1, 4);
    relayed.queued == 1 && relayed.resting == 2 && delayed.queued == 0 && delayed.counter == 3
}

/// All tokens at one delay of a ring: legitimate, 4 apart, after 9 rounds.
fn known_separation() -> bool {
    let mut programs = [Program::Relay; PROCESSES];
    (programs[0], programs[5]) = (Program::Delay, Program::Delay);
    becomes_legitimate(&programs, &mut [], 9)
}

/// The same without being told the separation takes 21.
fn measured_separation() -> bool {
    let mut programs = [Program::Relay; PROCESSES];
    programs[0] = Program::Measure;
    let limit = 2 * PROCESSES as u32;
    becomes_legitimate(&programs, &mut [Measuring::new(TOKENS, limit)], 21)
}

/// Whether a pile at process 0 becomes legitimate in exactly `expected` rounds, and
/// stays so for a turn.
fn becomes_legitimate(programs: &[Program], measuring: &mut [Measuring], expected: u64) -> bool {
    let Some(separation) = Separation::new(PROCESSES as u32 / TOKENS) else {
        return false;
    };
    let mut processes = [Process::default(); PROCESSES];
    processes[0].resting = TOKENS;
    let check = |processes: &[Process], measuring: &[Measuring]| -> Result<(), Illegitimate> {
        let tokens = u64::from(TOKENS);
        legitimate::check(separation, programs, processes, measuring, tokens)
    };
    for round in 0..expected + PROCESSES as u64 {
        if check(&processes, measuring).is_ok() != (round >= expected) {
            return false;
        }
        ring::round(separation, programs, &mut processes, measuring.iter_mut());
    }
    true
}
