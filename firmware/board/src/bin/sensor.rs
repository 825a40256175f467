//! A sensor of the ring, on the board LM3S6965EVB. Which one it is says a page of flash.
#![no_std]
#![no_main]

use core::mem::MaybeUninit;
use core::time::Duration;

use cortex_m_rt::entry;
use headway_board::{Board, Lamp, Line, Thermometer};
use headway_firmware::page::Page;
use headway_firmware::report::Report;
use headway_firmware::{FRAME_BYTES, Orders, Sensor, Supplies};
use headway_node::frame::Reader;
use headway_node::{Config, Key, Machine};

/// How often the node's configuration is compared with the flash.
const CHECK_EVERY: Duration = Duration::from_secs(1);

#[entry]
fn main() -> ! {
    static mut MACHINE: MaybeUninit<Machine> = MaybeUninit::uninit();
    static mut READERS: [Reader<FRAME_BYTES>; 2] = [const { Reader::new() }; 2];
    let board = Board::start();
    let (machine, [sample, patience]) = prepare(MACHINE, board.starts);
    let supplies = Supplies {
        lines: [Line(0), Line(1)],
        report: Line(2),
        power: Lamp,
        sensor: Thermometer,
    };
    let mut sensor = Sensor::new(machine, READERS, sample, supplies);
    sensor.say(&Report::Started {
        starts: board.starts,
    });
    let (mut rounds, mut progress, mut checked) = (0, Board::now(), Board::now());
    loop {
        let now = Board::now();
        let (next, orders) = sensor.step(now);
        match orders {
            Orders::Nothing => {}
            Orders::Tell => sensor.tell(now, Board::asleep(), Board::stack()),
            Orders::Reset => Board::reset(),
            Orders::Hang => halt(),
        }
        if sensor.rounds() != rounds {
            (rounds, progress) = (sensor.rounds(), now);
        }
        // Whatever keeps the node from going on, a new start may end it.
        if now - progress < patience {
            Board::feed();
        }
        if now - checked >= CHECK_EVERY {
            checked = now;
            if !intact(sensor.config()) {
                Board::reset();
            }
        }
        Board::sleep_until(next.min(now + CHECK_EVERY));
    }
}

/// The node as it starts, and two times of the page. By itself, because the stack that it
/// needs is then free again.
#[inline(never)]
fn prepare(
    place: &'static mut MaybeUninit<Machine>,
    starts: u32,
) -> (&'static mut Machine, [Duration; 2]) {
    // Nothing to do without a page, or with a wrong one: the watchdog tries again.
    let Ok(page) = Board::page() else { halt() };
    let Ok(config) = page.config() else { halt() };
    // A board with a source of random numbers takes one of those.
    let incarnation = page.salt ^ u64::from(starts) << 48;
    let machine = match Machine::new(config, Key::none(), incarnation) {
        Ok(machine) => place.write(machine),
        Err(_) => halt(),
    };
    let [before, after] = keys(&page);
    machine.set_link_key(config.predecessor(), &before);
    machine.set_link_key(config.successor(), &after);
    let times = [page.sample, page.patience];
    (
        machine,
        times.map(|time| Duration::from_millis(time.into())),
    )
}

/// Whether the node's configuration is still what the flash says: its memory has a copy,
/// which nothing repairs.
#[inline(never)]
fn intact(config: &Config) -> bool {
    let flash = Board::page().map(|page| page.config());
    flash.is_ok_and(|flash| flash.as_ref() == Ok(config))
}

#[cfg(feature = "hmac")]
fn keys(page: &Page<'_>) -> [Key; 2] {
    page.keys.map_or([const { Key::none() }; 2], |keys| {
        keys.map(|key| Key::new(key).unwrap_or_else(|| halt()))
    })
}

#[cfg(not(feature = "hmac"))]
fn keys(page: &Page<'_>) -> [Key; 2] {
    if page.keys.is_some() {
        // It was told to authenticate, and cannot.
        halt()
    }
    [Key::none(), Key::none()]
}

fn halt() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}
