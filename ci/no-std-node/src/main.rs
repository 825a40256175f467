//! A ring of nodes without std: the machine, its wire format and its authentication, on
//! a heap that only grows. See `Cargo.toml` for how to run it.
#![no_std]
#![no_main]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;

use alloc::vec::Vec;
use headway_node::state::Variable;
use headway_node::{Config, Event, Key, Machine, Plan, Role};

const NODES: u32 = 5;
const HEAP_BYTES: usize = 1 << 16;

// SAFETY: the C start-up code calls `main` once, with this signature; no other item of
// the program has that name.
#[unsafe(no_mangle)]
extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
    c_int::from(!settles_twice().unwrap_or(false))
}

fn settles_twice() -> Option<bool> {
    let plan = Plan::new(NODES, 2, 1).ok()?;
    let ring = Config::identity(b"on the bench", &plan, 4);
    let key = Key::new(b"thirty-two bytes of a secret key")?;
    let mut nodes = Vec::new();
    for index in 0..NODES {
        let config = Config {
            payload: 4,
            role: Role::usual(index, NODES),
            ..Config::new(ring, index, plan)
        };
        nodes.push(Machine::new(config, key.clone(), 77 + u64::from(index)).ok()?);
    }
    let taken = HEAP.taken.load(Ordering::Relaxed);
    let mut now = Duration::ZERO;
    let first = settles(&mut nodes, &mut now);
    overwrite(&mut nodes[2]);
    let again = settles(&mut nodes, &mut now);
    Some(first && again && HEAP.taken.load(Ordering::Relaxed) == taken)
}

/// Puts anything into a node's memory.
fn overwrite(node: &mut Machine) {
    let mut number = 1_u64;
    let mut random = || {
        // Any numbers will do (Marsaglia's xorshift).
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        number
    };
    let (config, domain) = (*node.config(), *node.domain());
    let state = node.state_mut();
    state.visit(&config, &domain, &mut |variable| match variable {
        Variable::Flag(flag) => *flag = random() & 1 == 0,
        Variable::Phase(number) | Variable::Counter(number, _) => *number = random() as i32,
        Variable::Below(number, _) | Variable::Limited(number, _) | Variable::Rounds(number) => {
            *number = random() as u32;
        }
        // Nothing heals a fencing number at its end.
        Variable::Fence(number) => *number = random() >> 16,
        Variable::Moment(number) | Variable::Number(number) => *number = random(),
        Variable::Bytes(bytes) => bytes.fill_with(|| random() as u8),
        Variable::Released(_) | Variable::Stage(_) | Variable::Total(_) => {}
    });
}

/// Lets the nodes run for three seconds of a clock that is only a number.
fn settles(nodes: &mut [Machine], now: &mut Duration) -> bool {
    let mut buffer = [0; Config::UNFRAGMENTED];
    let end = *now + Duration::from_secs(3);
    while *now < end {
        *now += Duration::from_millis(1);
        for index in 0..nodes.len() {
            nodes[index].handle_timeout(*now);
            while let Some(event) = nodes[index].poll_event() {
                if let Event::Granted { token, fence } = event {
                    nodes[index].handle_work_done(*now, token, fence, Some(b"done"));
                }
            }
            while let Some(datagram) = nodes[index].poll_transmit(&mut buffer) {
                let to = &mut nodes[datagram.to as usize];
                // What is rejected is counted, and does no harm.
                let _ = to.handle_datagram(*now, &buffer[..datagram.bytes]);
            }
        }
    }
    nodes.iter().all(Machine::settled)
}

/// A heap that gives and never takes back.
struct Bump {
    bytes: UnsafeCell<[u8; HEAP_BYTES]>,
    taken: AtomicUsize,
}

#[global_allocator]
static HEAP: Bump = Bump {
    bytes: UnsafeCell::new([0; HEAP_BYTES]),
    taken: AtomicUsize::new(0),
};

// SAFETY: `bytes` is only ever handed out in parts that do not overlap, because `taken`
// grows atomically, and is never read or written here.
unsafe impl Sync for Bump {}

// SAFETY: what is returned is null or a part of `bytes` that is large enough, aligned as
// asked, and never returned again; nothing unwinds.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.bytes.get() as usize;
        let mut place = 0;
        let found = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                let start = (base + taken).checked_next_multiple_of(layout.align())? - base;
                place = start;
                let end = start.checked_add(layout.size())?;
                (end <= HEAP_BYTES).then_some(end)
            });
        match found {
            // SAFETY: `place` is at most HEAP_BYTES.
            Ok(_) => unsafe { self.bytes.get().cast::<u8>().add(place) },
            Err(_) => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    abort()
}

// SAFETY: this is `abort` of the C library, which takes nothing and does not return.
unsafe extern "C" {
    safe fn abort() -> !;
}
