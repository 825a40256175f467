//! What things cost in instructions, on the first serial line: eight nodes with four tokens
//! in one memory, and the core's round by itself. For QEMU with `-icount shift=5`, where an
//! instruction takes 32 ns and a cycle of the chip's counter 80 ns.
#![no_std]
#![no_main]

use core::fmt::Write as _;
use core::hint::black_box;
use core::mem::{MaybeUninit, size_of};
use core::time::Duration;

use cortex_m::peripheral::SYST;
use cortex_m_rt::entry;
use embedded_io::Write as _;
use headway_board::{Board, Line};
use headway_core::Process;
use headway_core::program::delay;
use headway_firmware::{DATAGRAM_BYTES, FRAME_BYTES};
use headway_node::frame::{self, Reader};
use headway_node::{Config, Event, Key, Machine, Plan, RingId, Role};

const NODES: u32 = 8;
const TOKENS: u32 = 4;

/// The core's round, by itself, so that its size can be looked up.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn core_round(process: &mut Process, arriving: u32, top: i32) {
    *process = delay::round(*process, arriving, top);
}

/// Instructions spent on something, and how often.
#[derive(Clone, Copy, Default)]
struct Spent {
    cycles: u64,
    times: u64,
}

impl Spent {
    fn on<T>(&mut self, act: impl FnOnce() -> T) -> T {
        let before = SYST::get_current();
        let result = act();
        let cycles = before.wrapping_sub(SYST::get_current()) & 0xFF_FFFF;
        self.cycles += u64::from(cycles);
        self.times += 1;
        result
    }

    fn instructions(self) -> u64 {
        self.cycles * 80 / 32 / self.times.max(1)
    }
}

struct Out(Line);

impl core::fmt::Write for Out {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0
            .write_all(text.as_bytes())
            .map_err(|_| core::fmt::Error)
    }
}

#[entry]
fn main() -> ! {
    static mut MACHINES: [MaybeUninit<Machine>; NODES as usize] =
        [const { MaybeUninit::uninit() }; NODES as usize];
    static mut READERS: [Reader<FRAME_BYTES>; NODES as usize] =
        [const { Reader::new() }; NODES as usize];
    Board::start();
    let mut out = Out(Line(0));
    let mut process = Process::default();
    let mut spent = [Spent::default(); 7];
    let [core, nothing, written, framed, read, handled, worked] = &mut spent;
    for round in 0..1000_u32 {
        core.on(|| {
            core_round(
                &mut process,
                black_box(u32::from(round % 8 == 0)),
                black_box(2),
            )
        });
        nothing.on(|| black_box(round));
        black_box(&process);
    }
    let Ok(plan) = Plan::new(NODES, TOKENS, 1) else {
        stop()
    };
    let machines: [&mut Machine; NODES as usize] = {
        let mut index = 0;
        MACHINES.each_mut().map(|place| {
            let config = Config {
                role: Role::usual(index, NODES),
                ..Config::new(RingId([7; 16]), index, plan)
            };
            index += 1;
            match Machine::new(config, key(), 100 + u64::from(index)) {
                Ok(machine) => place.write(machine),
                Err(_) => stop(),
            }
        })
    };
    let (mut datagram, mut line) = ([0; DATAGRAM_BYTES], [0; FRAME_BYTES]);
    for millisecond in 0..150 {
        let now = Duration::from_millis(millisecond);
        for index in 0..NODES as usize {
            if machines[index].poll_timeout() <= now {
                machines[index].handle_timeout(now);
            }
            while let Some(event) = machines[index].poll_event() {
                if let Event::Granted { token, fence } = event {
                    worked.on(|| machines[index].handle_work_done(now, token, fence, None));
                }
            }
            loop {
                let before = *written;
                let Some(sent) = written.on(|| machines[index].poll_transmit(&mut datagram)) else {
                    *written = before;
                    break;
                };
                let length = framed.on(|| frame::write(&datagram[..sent.bytes], &mut line));
                let to = sent.to as usize;
                let frame = &line[..length.unwrap_or(0)];
                read.on(|| frame.iter().for_each(|byte| _ = READERS[to].push(*byte)));
                // The same bytes; what the reader found cannot outlive its borrow here.
                let datagram = &datagram[..sent.bytes];
                let _ = handled.on(|| machines[to].handle_datagram(now, datagram));
            }
        }
    }
    let settled = machines.iter().all(|node| node.settled());
    let hops: u64 = machines.iter().map(|node| node.hops()).sum();
    let idle = nothing.instructions();
    let [core, _, written, framed, read, handled, worked] =
        spent.map(|spent| spent.instructions() - idle);
    for (name, number) in [
        ("settled", u64::from(settled)),
        ("hops", hops),
        ("core-round", core),
        ("frame-read", read),
        ("datagram-handled", handled),
        ("work-done", worked),
        ("datagram-written", written),
        ("frame-written", framed),
        ("hop", read + handled + worked + written + framed),
        ("process-bytes", size_of::<Process>() as u64),
        ("machine-bytes", size_of::<Machine>() as u64),
    ] {
        let _ = writeln!(out, "{name} {number}");
    }
    let _ = writeln!(out, "end");
    stop()
}

#[cfg(feature = "hmac")]
fn key() -> Key {
    Key::new(b"a key for every link of the ring").unwrap_or_else(|| stop())
}

#[cfg(not(feature = "hmac"))]
fn key() -> Key {
    Key::none()
}

fn stop() -> ! {
    loop {
        Board::feed();
        cortex_m::asm::nop();
    }
}
