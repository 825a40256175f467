//! Which mutant is switched on in this process, and which were asked about.
//!
//! `MUTANT` in the environment is the number of the one that is on. With
//! `MUTANT_TRACE`, a folder, the numbers that were asked about are left there in a
//! file when the process ends, which is after `MUTANT_TRACE_S` seconds at the latest.
//!
//! The switch is asked in `const fn`s too, which takes an unstable intrinsic; only
//! this crate is compiled with unstable features allowed.

#![feature(core_intrinsics, const_eval_select)]
#![allow(internal_features)]

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// Whether mutant `id` is on. Never at compile time.
#[inline(always)]
pub const fn on(id: u32) -> bool {
    std::intrinsics::const_eval_select((id,), off, asked)
}

const fn off(_: u32) -> bool {
    false
}

#[inline(always)]
fn asked(id: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    if active == TRACING {
        ASKED[id as usize].store(1, Relaxed);
    }
    active == id
}

const LARGEST: usize = 1 << 16;
const TRACING: u32 = u32::MAX;
const NONE: u32 = u32::MAX - 1;

static ACTIVE: AtomicU32 = AtomicU32::new(NONE);
static ASKED: [AtomicU8; LARGEST] = [const { AtomicU8::new(0) }; LARGEST];

/// Runs before `main`: tests have no place of their own for it.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

unsafe extern "C" {
    safe fn atexit(at_exit: extern "C" fn()) -> i32;
    safe fn _exit(code: i32) -> !;
}

extern "C" fn start() {
    if std::env::var_os("MUTANT_TRACE").is_some() {
        ACTIVE.store(TRACING, Relaxed);
        atexit(leave_trace);
        let seconds = std::env::var("MUTANT_TRACE_S").ok().and_then(|text| text.parse().ok());
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_secs(seconds.unwrap_or(60)));
            leave_trace();
            _exit(0);
        });
    } else if let Some(id) = std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()) {
        ACTIVE.store(id, Relaxed);
    }
}

extern "C" fn leave_trace() {
    let Some(folder) = std::env::var_os("MUTANT_TRACE") else {
        return;
    };
    let asked = ASKED.iter().enumerate().filter(|(_, asked)| asked.load(Relaxed) == 1);
    let text: String = asked.map(|(id, _)| format!("{id}\n")).collect();
    let file = std::path::Path::new(&folder).join(std::process::id().to_string());
    let _ = std::fs::write(file, text);
}
