//! The registers that are used, as the data sheet of the LM3S6965 has them.

use core::ptr::{read_volatile, write_volatile};

/// The block of registers of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block(pub(crate) u32);

impl Block {
    pub(crate) fn get(self, register: u32) -> u32 {
        // SAFETY: all blocks below are devices of this chip, whose registers may be read
        // at any time.
        unsafe { read_volatile((self.0 + register) as *const u32) }
    }

    pub(crate) fn set(self, register: u32, value: u32) {
        // SAFETY: as above; no register of these devices makes the chip write memory.
        unsafe { write_volatile((self.0 + register) as *mut u32, value) }
    }
}

pub(crate) const WATCHDOG: Block = Block(0x4000_0000);
pub(crate) const TIMER: Block = Block(0x4003_0000);
pub(crate) const SYSTEM: Block = Block(0x400F_E000);
/// Port F, with the board's lamp.
pub(crate) const LAMP: Block = Block(0x4002_5000);
/// The ports with the pins of the serial lines, and which.
pub(crate) const PINS: [(Block, u32); 3] = [
    (Block(0x4000_4000), 0b11),
    (Block(0x4000_7000), 0b1100),
    (Block(0x4002_6000), 0b11),
];
pub(crate) const UARTS: [Block; 3] = [Block(0x4000_C000), Block(0x4000_D000), Block(0x4000_E000)];

/// What has a clock.
pub(crate) mod system {
    pub(crate) const CLOCKS_1: u32 = 0x104;
    pub(crate) const CLOCKS_2: u32 = 0x108;
    /// Of CLOCKS_1: three serial lines and a timer.
    pub(crate) const DEVICES: u32 = 0b111 | 1 << 16;
    /// Of CLOCKS_2: ports A, D, F and G.
    pub(crate) const PORTS: u32 = 1 | 1 << 3 | 1 << 5 | 1 << 6;
}

/// A serial line.
pub(crate) mod uart {
    pub(crate) const DATA: u32 = 0x0;
    pub(crate) const FLAGS: u32 = 0x18;
    pub(crate) const DIVIDER: u32 = 0x24;
    pub(crate) const FRACTION: u32 = 0x28;
    pub(crate) const FORMAT: u32 = 0x2C;
    pub(crate) const CONTROL: u32 = 0x30;
    pub(crate) const MASK: u32 = 0x38;
    pub(crate) const CLEAR: u32 = 0x44;
    /// Of FLAGS: nothing has arrived.
    pub(crate) const EMPTY: u32 = 1 << 4;
    /// Of FLAGS: nothing more can be sent for now.
    pub(crate) const FULL: u32 = 1 << 5;
    /// Of FORMAT: eight bits, and a queue of 16 bytes each way.
    pub(crate) const BYTES: u32 = 0x70;
    /// Of CONTROL: on, both ways.
    pub(crate) const ON: u32 = 0x301;
    /// Of MASK and CLEAR: bytes have arrived, or some have, and then none.
    pub(crate) const ARRIVED: u32 = 1 << 4 | 1 << 6;
    /// Of MASK and CLEAR: there is room again.
    pub(crate) const ROOM: u32 = 1 << 5;
}

/// The timer that wakes the processor.
pub(crate) mod timer {
    pub(crate) const MODE: u32 = 0x4;
    pub(crate) const CONTROL: u32 = 0xC;
    pub(crate) const MASK: u32 = 0x18;
    pub(crate) const CLEAR: u32 = 0x24;
    pub(crate) const LOAD: u32 = 0x28;
    /// Of MODE.
    pub(crate) const ONCE: u32 = 1;
}

/// The watchdog.
pub(crate) mod watchdog {
    pub(crate) const LOAD: u32 = 0x0;
    pub(crate) const CONTROL: u32 = 0x8;
    pub(crate) const CLEAR: u32 = 0xC;
    /// Of CONTROL: it counts, and the second time it ends it resets the chip.
    pub(crate) const RUN: u32 = 3;
}

/// A port.
pub(crate) mod pins {
    /// All pins at once.
    pub(crate) const DATA: u32 = 0x3FC;
    pub(crate) const DIRECTION: u32 = 0x400;
    pub(crate) const SELECT: u32 = 0x420;
    pub(crate) const DIGITAL: u32 = 0x51C;
}
