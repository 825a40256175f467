//! Which mutant is switched on in this process, and which were asked about.
//!
//! `MUTANT` in the environment is the number of the one that is on. With
//! `MUTANT_TRACE`, a folder, the numbers that were asked about are left there in a
//! file when the process ends, which is after `MUTANT_TRACE_S` seconds of processor time
//! at the latest (a busy machine makes no difference); a file that was cut short so ends
//! with the line `cut`.
//!
//! The switch is asked in `const fn`s too, which takes an unstable intrinsic; only
//! this crate is compiled with unstable features allowed.

#![feature(core_intrinsics, const_eval_select)]
#![allow(internal_features)]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

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
static TRACE: OnceLock<PathBuf> = OnceLock::new();
static WATCHING: AtomicBool = AtomicBool::new(false);
static CUT: AtomicBool = AtomicBool::new(false);
static ASKED: [AtomicU8; LARGEST] = [const { AtomicU8::new(0) }; LARGEST];

/// Runs before `main`: tests have no place of their own for it.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

unsafe extern "C" {
    safe fn atexit(at_exit: extern "C" fn()) -> i32;
    safe fn _exit(code: i32) -> !;
    safe fn clock() -> std::ffi::c_long;
}

extern "C" fn start() {
    if let Some(folder) = std::env::var_os("MUTANT_TRACE") {
        let _ = TRACE.set(Path::new(&folder).join(std::process::id().to_string()));
        ACTIVE.store(TRACING, Relaxed);
        atexit(leave_trace);
        let seconds = std::env::var("MUTANT_TRACE_S").ok().and_then(|text| text.parse().ok());
        let most_us: std::ffi::c_long = 1_000_000 * seconds.unwrap_or(60);
        std::thread::spawn(move || {
            WATCHING.store(true, Relaxed);
            while clock() < most_us {
                std::thread::sleep(Duration::from_millis(10));
            }
            CUT.store(true, Relaxed);
            leave_trace();
            _exit(0);
        });
        // What starting a thread takes of the heap is taken before a test counts.
        while !WATCHING.load(Relaxed) {
            std::thread::yield_now();
        }
    } else if let Some(id) = std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()) {
        ACTIVE.store(id, Relaxed);
    }
}

/// Without the heap: a test may be watching it.
extern "C" fn leave_trace() {
    let Some(Ok(mut file)) = TRACE.get().map(File::create) else {
        return;
    };
    for (id, asked) in ASKED.iter().enumerate() {
        if asked.load(Relaxed) == 1 {
            let _ = writeln!(file, "{id}");
        }
    }
    if CUT.load(Relaxed) {
        let _ = writeln!(file, "cut");
    }
}
