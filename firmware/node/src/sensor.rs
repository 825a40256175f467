//! One board's work, round its machine.

use core::time::Duration;

use embedded_hal::digital::OutputPin;
use embedded_io::{Read, ReadReady, Write, WriteReady};
use headway_node::frame::{self, Reader, frame_bytes};
use headway_node::{Config, Event, Machine};

use crate::report::{ORDER_BYTES, Order, REPORT_BYTES, Report, Status};
use crate::scramble::scramble;
use crate::{DATAGRAM_BYTES, FRAME_BYTES, MAX_TOKENS};

/// What a board has.
#[derive(Debug)]
pub struct Supplies<L, R, P, S> {
    /// The lines to the predecessor and to the successor.
    pub lines: [L; 2],
    /// The line to whoever watches.
    pub report: R,
    /// Switches the sensor on; a lamp shows it.
    pub power: P,
    /// The sensor.
    pub sensor: S,
}

/// A sensor. It is asked only under a permit.
pub trait Reading {
    /// What it measures.
    fn read(&mut self) -> u16;
}

/// Orders that the board itself has to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// None.
    Nothing,
    /// Tell the status: complete it, and give it to [`Sensor::tell`].
    Tell,
    /// Start again.
    Reset,
    /// Stop working.
    Hang,
}

/// A permit that is being used; only the machine's grant makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Permit {
    fence: u64,
    since: Duration,
}

/// A board's node and its work. The machine is the board's, because it lasts as long.
pub struct Sensor<L, R, P, S> {
    machine: &'static mut Machine,
    supplies: Supplies<L, R, P, S>,
    readers: &'static mut [Reader<FRAME_BYTES>; 2],
    orders: Reader<{ frame_bytes(ORDER_BYTES) }>,
    permits: [Option<Permit>; MAX_TOKENS as usize],
    /// How long a measurement takes.
    sample: Duration,
    latest: u16,
    status: Status,
}

impl<L, R, P, S> Sensor<L, R, P, S>
where
    // What needs much of the stack is not inlined, so that it needs it one after the other.
    L: Read + ReadReady + Write + WriteReady,
    R: Read + ReadReady + Write,
    P: OutputPin,
    S: Reading,
{
    /// A board that has just started, with a machine for it and room for what arrives.
    pub fn new(
        machine: &'static mut Machine,
        readers: &'static mut [Reader<FRAME_BYTES>; 2],
        sample: Duration,
        supplies: Supplies<L, R, P, S>,
    ) -> Sensor<L, R, P, S> {
        Sensor {
            machine,
            supplies,
            readers,
            orders: Reader::new(),
            permits: [None; MAX_TOKENS as usize],
            sample,
            latest: 0,
            status: Status::default(),
        }
    }

    /// What the sensor measured last.
    pub const fn latest(&self) -> u16 {
        self.latest
    }

    /// What the machine is told; a board compares it with its flash.
    pub fn config(&self) -> &Config {
        self.machine.config()
    }

    /// Rounds that the node has executed.
    pub fn rounds(&self) -> u64 {
        self.machine.rounds()
    }

    /// Does what there is to do, and says when there is more at the latest. A line that
    /// has something to say wakes the board before.
    pub fn step(&mut self, now: Duration) -> (Duration, Orders) {
        let orders = self.obey();
        for line in 0..2 {
            self.listen(now, line);
        }
        if self.machine.poll_timeout() <= now {
            self.machine.handle_timeout(now);
        }
        self.work(now);
        let waits = self.speak();
        (self.next(now, waits), orders)
    }

    #[inline(never)]
    fn listen(&mut self, now: Duration, line: usize) {
        let mut bytes = [0; 16];
        while let Ok(true) = self.supplies.lines[line].read_ready() {
            let Ok(read) = self.supplies.lines[line].read(&mut bytes) else {
                return;
            };
            for byte in &bytes[..read] {
                if let Some(datagram) = self.readers[line].push(*byte)
                    && self.machine.handle_datagram(now, datagram).is_err()
                {
                    self.status.rejected = self.status.rejected.wrapping_add(1);
                }
            }
        }
    }

    /// Switches the sensor on when a permit comes, and off before it goes.
    #[inline(never)]
    fn work(&mut self, now: Duration) {
        while let Some(event) = self.machine.poll_event() {
            match event {
                Event::Granted { token, fence } => self.begin(now, token, fence),
                Event::Withdrawn { token, fence } => self.end(now, token, fence),
                Event::Settled => self.say(&Report::Settled { settled: true }),
                Event::Unsettled => self.say(&Report::Settled { settled: false }),
                Event::Silent { .. } | Event::Heard { .. } | Event::Rejected { .. } => {}
            }
        }
        for token in 0..MAX_TOKENS {
            if let Some(permit) = self.permits[token as usize]
                && now >= permit.since + self.sample
            {
                self.latest = self.supplies.sensor.read();
                self.status.samples = self.status.samples.wrapping_add(1);
                self.end(now, token, permit.fence);
            }
        }
    }

    fn begin(&mut self, now: Duration, token: u32, fence: u64) {
        let Some(place) = self.permits.get_mut(token as usize) else {
            return;
        };
        *place = Some(Permit { fence, since: now });
        self.status.permits = self.status.permits.wrapping_add(1);
        self.say(&Report::Granted { token, fence });
        let _ = self.supplies.power.set_high();
        #[cfg(feature = "flawed")]
        self.machine.handle_work_done(now, token, fence, None);
    }

    /// Off first, then told, and only then passed on.
    fn end(&mut self, now: Duration, token: u32, fence: u64) {
        let ours = self.permits.get_mut(token as usize);
        if let Some(permit) = ours.and_then(Option::take) {
            if self.permits.iter().all(Option::is_none) {
                let _ = self.supplies.power.set_low();
            }
            let took = now.saturating_sub(permit.since);
            self.status.sensing += took.as_micros() as u64;
            self.say(&Report::Ended { token });
        }
        self.machine.handle_work_done(now, token, fence, None);
    }

    /// Sends what is due. Whether a line was still busy with what was sent before.
    #[inline(never)]
    fn speak(&mut self) -> bool {
        let mut datagram = [0; DATAGRAM_BYTES];
        let mut line = [0; FRAME_BYTES];
        loop {
            // The machine says whom a datagram is for only when it writes it.
            let ready = |line: &mut L| matches!(line.write_ready(), Ok(true));
            if !self.supplies.lines.iter_mut().all(ready) {
                return true;
            }
            let Some(transmit) = self.machine.poll_transmit(&mut datagram) else {
                return false;
            };
            let to = usize::from(transmit.to != self.config().predecessor());
            if let Some(bytes) = frame::write(&datagram[..transmit.bytes], &mut line) {
                self.status.sent = self.status.sent.wrapping_add(1);
                let _ = self.supplies.lines[to].write_all(&line[..bytes]);
            }
        }
    }

    fn next(&self, now: Duration, waits: bool) -> Duration {
        let mut next = self.machine.poll_timeout();
        // A line that is busy says when it is not.
        if waits && next <= now {
            next = now + Duration::from_millis(1);
        }
        for permit in self.permits.iter().flatten() {
            next = next.min(permit.since + self.sample);
        }
        next
    }

    #[inline(never)]
    fn obey(&mut self) -> Orders {
        let mut byte = [0];
        while let Ok(true) = self.supplies.report.read_ready() {
            if !matches!(self.supplies.report.read(&mut byte), Ok(1)) {
                break;
            }
            match self.orders.push(byte[0]).and_then(Order::read) {
                Some(Order::Tell) => return Orders::Tell,
                Some(Order::Reset) => return Orders::Reset,
                Some(Order::Hang) => return Orders::Hang,
                Some(Order::Scramble { seed }) => scramble(self.machine, seed),
                None => {}
            }
        }
        Orders::Nothing
    }

    /// Says it, and waits until it is said: whoever watches hears of an end before a
    /// neighbour can have heard of the token.
    #[inline(never)]
    pub fn say(&mut self, report: &Report) {
        let mut bytes = [0; REPORT_BYTES];
        let mut line = [0; frame_bytes(REPORT_BYTES)];
        let length = report.write(&mut bytes);
        if let Some(length) = frame::write(&bytes[..length], &mut line) {
            let _ = self.supplies.report.write_all(&line[..length]);
            let _ = self.supplies.report.flush();
        }
    }

    /// Tells the status, of which the board knows the rest.
    pub fn tell(&mut self, now: Duration, asleep: Duration, stack: u32) {
        let broken = self.readers.iter().map(Reader::broken).sum();
        self.say(&Report::Status(Status {
            now: now.as_micros() as u64,
            asleep: asleep.as_micros() as u64,
            rounds: self.machine.rounds() as u32,
            hops: self.machine.hops() as u32,
            broken,
            stack,
            ..self.status
        }));
    }
}
