//! The board LM3S6965EVB: a Cortex-M3 at 12.5 MHz with three serial lines, a lamp, a timer
//! and a watchdog. QEMU has it; nobody has tried these lines on the board itself.

use core::cell::{Cell, RefCell};
use core::convert::Infallible;
use core::mem::MaybeUninit;
use core::time::Duration;

use cortex_m::Peripherals;
use cortex_m::interrupt::{disable, enable};
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{NVIC, SCB, SYST};
use cortex_m_rt::{ExceptionFrame, exception};
use critical_section::{CriticalSection, Mutex, with};
use embedded_hal::digital;
use embedded_io::{Read, ReadReady, Write, WriteReady};
use headway_firmware::page::{Damaged, PAGE_BYTES, Page};
use headway_firmware::{FRAME_BYTES, Reading};
use heapless::Deque;

use crate::registers::{
    LAMP, PINS, SYSTEM, TIMER, UARTS, WATCHDOG, pins, system, timer, uart, watchdog,
};

const CLOCK_HZ: u32 = 12_500_000;
const BAUD: u32 = 115_200;

/// Where the page is that says which board this is.
const PAGE_AT: usize = 0x2_0000;

/// Bytes that a line keeps until they are looked at: what arrives while a datagram is
/// being checked.
const ARRIVED_BYTES: usize = 32;

/// What has arrived on a line, and what is to be sent there.
struct Port {
    arrived: Deque<u8, ARRIVED_BYTES>,
    leaving: Deque<u8, FRAME_BYTES>,
}

impl Port {
    const NEW: Mutex<RefCell<Port>> = Mutex::new(RefCell::new(Port {
        arrived: Deque::new(),
        leaving: Deque::new(),
    }));
}

static PORTS: [Mutex<RefCell<Port>>; 3] = [Port::NEW, Port::NEW, Port::NEW];

/// There is something to do.
static AWAKE: Mutex<Cell<bool>> = Mutex::new(Cell::new(true));

/// How often the counter of 24 bits has run over.
static RUNS: Mutex<Cell<u32>> = Mutex::new(Cell::new(0));

/// The time asleep, in cycles.
static ASLEEP: Mutex<Cell<u64>> = Mutex::new(Cell::new(0));

/// How often the board has started since it has power, and that number turned over, which
/// tells it from what memory is when power comes.
#[unsafe(link_section = ".uninit.starts")]
static mut STARTS: MaybeUninit<[u32; 2]> = MaybeUninit::uninit();

/// The board.
#[derive(Debug)]
pub struct Board {
    /// How often it has started since it has power.
    pub starts: u32,
}

impl Board {
    /// Takes the board into use; once.
    pub fn start() -> Board {
        let mut chip = Peripherals::take().unwrap_or_else(|| SCB::sys_reset());
        // Twice that long, because the first time it only warns.
        WATCHDOG.set(watchdog::LOAD, 4 * CLOCK_HZ);
        WATCHDOG.set(watchdog::CONTROL, watchdog::RUN);
        SYSTEM.set(system::CLOCKS_1, system::DEVICES);
        SYSTEM.set(system::CLOCKS_2, system::PORTS);
        for (port, pins) in PINS {
            port.set(pins::SELECT, pins);
            port.set(pins::DIGITAL, pins);
        }
        LAMP.set(pins::DIRECTION, 1);
        LAMP.set(pins::DIGITAL, 1);
        for line in UARTS {
            line.set(uart::DIVIDER, CLOCK_HZ / (16 * BAUD));
            line.set(uart::FRACTION, (CLOCK_HZ * 4 / BAUD) % 64);
            line.set(uart::FORMAT, uart::BYTES);
            line.set(uart::CONTROL, uart::ON);
            line.set(uart::MASK, uart::ARRIVED | uart::ROOM);
        }
        TIMER.set(timer::MODE, timer::ONCE);
        TIMER.set(timer::MASK, 1);
        chip.SYST.set_clock_source(SystClkSource::Core);
        chip.SYST.set_reload(0xFF_FFFF);
        chip.SYST.clear_current();
        chip.SYST.enable_counter();
        chip.SYST.enable_interrupt();
        // The counter of cycles stands still in deep sleep on this chip, and goes on in
        // QEMU; a product takes a clock that goes on.
        chip.SCB.set_sleepdeep();
        for number in Irq::USED {
            // SAFETY: the handlers share nothing with `main` but by critical sections.
            unsafe { NVIC::unmask(Irq(number)) };
        }
        // SAFETY: nobody else uses it, and any bits are numbers.
        let starts = unsafe {
            let starts = &raw mut STARTS;
            let [count, turned] = starts.read_volatile().assume_init();
            let count = if turned == !count {
                count.wrapping_add(1)
            } else {
                1
            };
            starts.write_volatile(MaybeUninit::new([count, !count]));
            count
        };
        Board { starts }
    }

    /// What this board is told.
    ///
    /// # Errors
    ///
    /// When nothing sensible stands there.
    pub fn page() -> Result<Page<'static>, Damaged> {
        // SAFETY: this is flash, which nothing writes while the program runs.
        Page::read(unsafe { &*(PAGE_AT as *const [u8; PAGE_BYTES]) })
    }

    /// The time since the start.
    pub fn now() -> Duration {
        Duration::from_micros(micros(with(cycles)))
    }

    /// The time asleep since the start.
    pub fn asleep() -> Duration {
        Duration::from_micros(micros(with(|cs| ASLEEP.borrow(cs).get())))
    }

    /// Sleeps until a line has something to say, or until `deadline`.
    pub fn sleep_until(deadline: Duration) {
        let deadline = deadline.as_secs() * u64::from(CLOCK_HZ)
            + u64::from(deadline.subsec_nanos() / (1_000_000_000 / CLOCK_HZ));
        loop {
            disable();
            let (awake, left) = with(|cs| {
                let left = deadline.saturating_sub(cycles(cs));
                (AWAKE.borrow(cs).replace(false), left)
            });
            if awake || left == 0 {
                // SAFETY: no critical section is open.
                unsafe { enable() };
                return;
            }
            TIMER.set(timer::CONTROL, 0);
            TIMER.set(timer::LOAD, left.min(60 * u64::from(CLOCK_HZ)) as u32);
            TIMER.set(timer::CONTROL, 1);
            doze();
        }
    }

    /// Tells the watchdog that all is well.
    pub fn feed() {
        WATCHDOG.set(watchdog::CLEAR, 1);
    }

    /// Starts the board again.
    pub fn reset() -> ! {
        SCB::sys_reset()
    }

    /// The deepest that the stack has been, in bytes: above what is still painted.
    pub fn stack() -> u32 {
        const PAINT: u32 = 0xCCCC_CCCC;
        unsafe extern "C" {
            static _stack_end: u32;
            static _stack_start: u32;
        }
        let (mut at, top) = (&raw const _stack_end, &raw const _stack_start);
        // SAFETY: the linker says that all of this is memory; nobody writes below the stack.
        while at < top && unsafe { at.read_volatile() } == PAINT {
            at = at.wrapping_add(1);
        }
        (top as u32) - (at as u32)
    }
}

/// Sleeps until something interrupts, with interrupts disabled, so that none can come
/// between the decision to sleep and sleep; enables them, and returns when they are served.
fn doze() {
    let before = with(cycles);
    cortex_m::asm::dsb();
    cortex_m::asm::wfi();
    with(|cs| {
        let asleep = ASLEEP.borrow(cs);
        asleep.set(asleep.get() + (cycles(cs) - before));
    });
    // SAFETY: no critical section is open.
    unsafe { enable() };
}

/// Cycles since the start.
fn cycles(cs: CriticalSection<'_>) -> u64 {
    let runs = RUNS.borrow(cs).get();
    let passed = || u64::from(0xFF_FFFF - SYST::get_current());
    let now = passed();
    // It has run over, and nobody has counted that yet.
    if SCB::is_pendst_pending() {
        return u64::from(runs + 1) << 24 | passed();
    }
    u64::from(runs) << 24 | now
}

const fn micros(cycles: u64) -> u64 {
    cycles * 2 / (CLOCK_HZ as u64 / 500_000)
}

/// One of the three lines.
#[derive(Debug)]
pub struct Line(pub usize);

impl embedded_io::ErrorType for Line {
    type Error = Infallible;
}

impl Line {
    fn port<T>(&self, act: impl FnOnce(&mut Port) -> T) -> T {
        with(|cs| act(&mut PORTS[self.0].borrow_ref_mut(cs)))
    }

    /// Sleeps until `done` gives something.
    fn wait<T>(&self, mut done: impl FnMut(&mut Port) -> Option<T>) -> T {
        loop {
            disable();
            if let Some(result) = self.port(&mut done) {
                // SAFETY: no critical section is open.
                unsafe { enable() };
                return result;
            }
            doze();
        }
    }
}

impl ReadReady for Line {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        let number = self.0;
        Ok(self.port(|port| {
            receive(number, port);
            !port.arrived.is_empty()
        }))
    }
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let number = self.0;
        Ok(self.wait(|port| {
            receive(number, port);
            let mut taken = 0;
            while let Some(place) = buffer.get_mut(taken)
                && let Some(byte) = port.arrived.pop_front()
            {
                *place = byte;
                taken += 1;
            }
            (taken > 0 || buffer.is_empty()).then_some(taken)
        }))
    }
}

impl WriteReady for Line {
    fn write_ready(&mut self) -> Result<bool, Infallible> {
        Ok(self.port(|port| port.leaving.is_empty()))
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let number = self.0;
        Ok(self.wait(|port| {
            let taken = bytes
                .iter()
                .take_while(|byte| port.leaving.push_back(**byte).is_ok())
                .count();
            send(number, port);
            (taken > 0 || bytes.is_empty()).then_some(taken)
        }))
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        self.wait(|port| port.leaving.is_empty().then_some(()));
        Ok(())
    }
}

/// Takes what has arrived, as far as there is room; the rest stays in the device. Whether a
/// frame has ended.
fn receive(number: usize, port: &mut Port) -> bool {
    let device = UARTS[number];
    let mut whole = false;
    while !port.arrived.is_full() && device.get(uart::FLAGS) & uart::EMPTY == 0 {
        let byte = device.get(uart::DATA) as u8;
        let _ = port.arrived.push_back(byte);
        whole |= byte == 0;
    }
    whole
}

/// Gives the line as much as it takes.
fn send(number: usize, port: &mut Port) {
    let device = UARTS[number];
    while device.get(uart::FLAGS) & uart::FULL == 0
        && let Some(byte) = port.leaving.pop_front()
    {
        device.set(uart::DATA, byte.into());
    }
}

/// The lamp, which stands for the switch of the sensor's power.
#[derive(Debug)]
pub struct Lamp;

impl digital::ErrorType for Lamp {
    type Error = Infallible;
}

impl digital::OutputPin for Lamp {
    fn set_low(&mut self) -> Result<(), Infallible> {
        LAMP.set(pins::DATA, 0);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        LAMP.set(pins::DATA, 1);
        Ok(())
    }
}

/// A sensor that this board has not; a counter stands for it.
#[derive(Debug)]
pub struct Thermometer;

impl Reading for Thermometer {
    fn read(&mut self) -> u16 {
        SYST::get_current() as u16
    }
}

/// An interrupt's number.
#[derive(Clone, Copy)]
struct Irq(u16);

impl Irq {
    /// The serial lines and the timer.
    const USED: [u16; 4] = [5, 6, 33, 19];
}

// SAFETY: the chip has these.
unsafe impl cortex_m::interrupt::InterruptNumber for Irq {
    fn number(self) -> u16 {
        self.0
    }
}

/// Bytes have arrived on a line, or it has room again.
extern "C" fn line<const PORT: usize>() {
    let device = UARTS[PORT];
    device.set(uart::CLEAR, uart::ARRIVED | uart::ROOM);
    with(|cs| {
        let mut port = PORTS[PORT].borrow_ref_mut(cs);
        // The end of a frame, or much of one.
        if receive(PORT, &mut port) || port.arrived.len() >= ARRIVED_BYTES / 2 {
            AWAKE.borrow(cs).set(true);
        }
        if !port.leaving.is_empty() {
            send(PORT, &mut port);
            if port.leaving.is_empty() {
                AWAKE.borrow(cs).set(true);
            }
        }
    });
}

/// The alarm.
extern "C" fn rung() {
    TIMER.set(timer::CLEAR, 1);
    with(|cs| AWAKE.borrow(cs).set(true));
}

extern "C" fn unused() {}

/// The vectors of the interrupts, in their order.
#[unsafe(link_section = ".vector_table.interrupts")]
#[unsafe(no_mangle)]
static __INTERRUPTS: [extern "C" fn(); 34] = {
    let mut vectors: [extern "C" fn(); 34] = [unused; 34];
    vectors[5] = line::<0>;
    vectors[6] = line::<1>;
    vectors[33] = line::<2>;
    vectors[19] = rung;
    vectors
};

#[exception]
fn SysTick() {
    with(|cs| {
        let runs = RUNS.borrow(cs);
        runs.set(runs.get() + 1);
    });
}

#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    SCB::sys_reset()
}

#[exception]
unsafe fn DefaultHandler(_: i16) {
    SCB::sys_reset()
}
