//! Boards, the lines between them and what watches them, in one loop.
//!
//! The order matters: what a board has said of its permits is read before any byte that it
//! sent to a neighbour afterwards goes on, so that the observer hears of causes before
//! effects. Boards say so before they send; the loop keeps it so.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use headway_firmware::report::{ORDER_BYTES, Order, Report, Status};
use headway_node::frame::{self, Reader, frame_bytes};
use headway_stage::observer::Observer;
use mio::net::{UnixListener, UnixStream};
use mio::{Events, Interest, Poll, Token};

use crate::board::Board;
use crate::image::target;
use crate::setup::{Settings, keys, page};
use crate::wire::Wire;

/// A line from a member.
const BEFORE: usize = 0;
const AFTER: usize = 1;
const REPORT: usize = 2;

/// Bytes that may wait for a member that does not read; a serial line keeps none.
const MAX_WAITING: usize = 1 << 14;

/// How long bytes are collected before they go on.
const TOGETHER: Duration = Duration::from_micros(500);

/// What a program outside has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Uses a permit: the token, and its fencing number.
    Granted(u32, u64),
    /// Uses it no more.
    Ended(u32),
    /// Calls the ring settled, or not.
    Settled(bool),
}

/// A member's end of everything.
pub(crate) struct Member {
    pub(crate) board: Option<Board>,
    listeners: Vec<UnixListener>,
    lines: [Option<UnixStream>; 3],
    waiting: [Vec<u8>; 3],
    reports: Reader<128>,
    pub(crate) settled: bool,
    pub(crate) status: Option<Status>,
    starts: u32,
    pub(crate) rounds_at_fault: u32,
    /// Somebody wrote into its memory, and it has not started since: its numbers may be
    /// anything.
    pub(crate) poked: bool,
}

/// Tells what a program outside has done since it was last asked.
pub type Spy = Box<dyn FnMut(u32) -> Vec<Seen>>;

/// A ring of boards.
pub struct Yard {
    pub(crate) settings: Settings,
    pub(crate) members: Vec<Member>,
    /// From each member to its successor, and back.
    wires: Vec<[Wire; 2]>,
    pub(crate) observer: Observer,
    poll: Poll,
    pub(crate) began: Instant,
    salt: u64,
    spy: Spy,
    /// Locked for as long as the ring is there.
    _alone: File,
}

impl Yard {
    /// Boards with this program, on; `folder` is for sockets.
    ///
    /// # Errors
    ///
    /// When a board does not start.
    pub fn start(image: &Path, folder: &Path, settings: Settings) -> Result<Yard, String> {
        let nodes = settings.plan.nodes();
        // One ring at a time: emulators that wait for a processor too long look like boards
        // that hang.
        std::fs::create_dir_all(target()).map_err(text)?;
        let alone = File::create(target().join("ring.lock")).map_err(text)?;
        alone.lock().map_err(text)?;
        let poll = Poll::new().map_err(text)?;
        let mut members = Vec::new();
        for index in 0..nodes {
            let mut listeners = Vec::new();
            for line in 0..3 {
                let mut listener = UnixListener::bind(socket(folder, index, line)).map_err(text)?;
                poll.registry()
                    .register(&mut listener, Token(0), Interest::READABLE)
                    .map_err(text)?;
                listeners.push(listener);
            }
            let page = page(&settings, index);
            let board = settings.boards.contains(&index);
            members.push(Member {
                board: board.then(|| Board::new(image, folder, page, keys(&settings, index))),
                listeners,
                lines: [None, None, None],
                waiting: Default::default(),
                reports: Reader::new(),
                settled: false,
                status: None,
                starts: 0,
                rounds_at_fault: 0,
                poked: false,
            });
        }
        let wire = |index: u32| {
            let seed = settings.seed.wrapping_mul(1000) + 2 * u64::from(index);
            [Wire::new(seed), Wire::new(seed + 1)]
        };
        let mut yard = Yard {
            wires: (0..nodes).map(wire).collect(),
            observer: Observer::new(&settings.plan),
            members,
            poll,
            began: Instant::now(),
            salt: settings.seed << 16,
            spy: Box::new(|_| Vec::new()),
            _alone: alone,
            settings,
        };
        for index in yard.settings.boards.clone() {
            yard.power_on(index)?;
        }
        Ok(yard)
    }

    /// The socket of a member's line to its predecessor (0), its successor (1) or to whoever
    /// watches (2).
    pub fn socket(folder: &Path, index: u32, line: usize) -> PathBuf {
        socket(folder, index, line)
    }

    /// Who tells of programs outside.
    pub fn set_spy(&mut self, spy: Spy) {
        self.spy = spy;
    }

    /// The observer of all permits.
    pub const fn observer(&self) -> &Observer {
        &self.observer
    }

    /// What the boards said last of themselves.
    pub fn statuses(&self) -> Vec<Status> {
        let members = self.members.iter();
        members.filter_map(|member| member.status).collect()
    }

    /// How often each board has started since it has power.
    pub fn starts(&self, index: u32) -> u32 {
        self.members[index as usize].starts
    }

    /// Bytes that the lines have lost, repeated or changed.
    pub fn harmed(&self) -> u64 {
        self.wires.iter().flatten().map(|wire| wire.harmed).sum()
    }

    /// Gives a board power, with an empty memory.
    ///
    /// # Errors
    ///
    /// When its emulator does not start.
    pub fn power_on(&mut self, index: u32) -> Result<(), String> {
        self.salt += 1;
        let salt = self.salt;
        match &mut self.members[index as usize].board {
            Some(board) => board.start(salt),
            None => Err(format!("member {index} is no board")),
        }
    }

    /// Takes a board's power.
    pub fn power_off(&mut self, index: u32) {
        self.report(index);
        let member = &mut self.members[index as usize];
        if let Some(board) = &mut member.board {
            board.stop();
        }
        member.lines = [None, None, None];
        self.observer.gone(index);
    }

    /// Something was done to the memory of boards: nothing is promised until they have
    /// settled.
    pub fn fault(&mut self, what: &str) {
        self.observer.fault(self.began.elapsed(), what);
        for member in &mut self.members {
            member.rounds_at_fault = member.status.map_or(0, |status| status.rounds);
        }
    }

    /// Writes into a board's memory from outside.
    ///
    /// # Errors
    ///
    /// When the emulator does not let it.
    pub fn poke(&mut self, index: u32, offset: u32, bytes: &[u8]) -> Result<(), String> {
        let member = &mut self.members[index as usize];
        member.poked = true;
        match &member.board {
            Some(board) => board.poke(offset, bytes),
            None => Err(format!("member {index} is no board")),
        }
    }

    /// Gives a board an order.
    pub fn order(&mut self, index: u32, order: Order) {
        let (mut bytes, mut line) = ([0; ORDER_BYTES], [0; frame_bytes(ORDER_BYTES)]);
        let length = order.write(&mut bytes);
        if let Some(length) = frame::write(&bytes[..length], &mut line) {
            let member = &mut self.members[index as usize];
            member.waiting[REPORT].extend_from_slice(&line[..length]);
            flush(member, REPORT);
        }
    }

    /// Cuts the line after a member, or mends it.
    pub fn cut(&mut self, index: u32, cut: bool) {
        for wire in &mut self.wires[index as usize] {
            wire.cut = cut;
        }
    }

    /// Runs for so long.
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(time, |_| false);
    }

    /// Runs until `done`, at most for `limit`. Whether it is done.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut Yard) -> bool) -> bool {
        let end = Instant::now() + limit;
        let mut events = Events::with_capacity(128);
        loop {
            let now = Instant::now();
            let due = self.wires.iter().flatten().filter_map(Wire::due).min();
            let wake = due.unwrap_or(end).min(end);
            // Programs outside tell by no line.
            let wake = wake.min(now + Duration::from_millis(20));
            let wait = wake.saturating_duration_since(now);
            let _ = self.poll.poll(&mut events, Some(wait));
            // Emulators send every byte by itself.
            std::thread::sleep(TOGETHER);
            self.carry();
            if done(self) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
        }
    }

    /// Takes everything one step further.
    fn carry(&mut self) {
        let nodes = self.members.len();
        for index in 0..nodes {
            self.accept(index);
            for line in [BEFORE, AFTER] {
                let mut bytes = Vec::new();
                let wanted = read(&mut self.members[index], line, &mut bytes);
                // Before what was sent goes on, what was said before is listened to.
                self.report(index as u32);
                if wanted && !bytes.is_empty() {
                    let (wire, way) = match line {
                        AFTER => (index, 0),
                        _ => ((index + nodes - 1) % nodes, 1),
                    };
                    self.wires[wire][way].put(Instant::now(), &bytes, &self.settings.faults);
                }
            }
        }
        let now = Instant::now();
        for wire in 0..nodes {
            for (way, (to, line)) in [((wire + 1) % nodes, BEFORE), (wire, AFTER)]
                .into_iter()
                .enumerate()
            {
                while let Some(bytes) = self.wires[wire][way].take(now) {
                    let member = &mut self.members[to];
                    if member.waiting[line].len() < MAX_WAITING {
                        member.waiting[line].extend(bytes);
                    }
                }
            }
        }
        for member in &mut self.members {
            (0..3).for_each(|line| flush(member, line));
        }
    }

    fn accept(&mut self, index: usize) {
        let member = &mut self.members[index];
        for line in 0..3 {
            while let Ok((mut stream, _)) = member.listeners[line].accept() {
                let registry = self.poll.registry();
                let interest = Interest::READABLE | Interest::WRITABLE;
                if registry.register(&mut stream, Token(1), interest).is_ok() {
                    member.lines[line] = Some(stream);
                    member.waiting[line].clear();
                }
            }
        }
    }

    /// Listens to what a member says of its permits.
    fn report(&mut self, index: u32) {
        let now = self.began.elapsed();
        let member = &mut self.members[index as usize];
        if member.board.is_none() {
            for seen in (self.spy)(index) {
                match seen {
                    Seen::Granted(token, fence) => self.observer.granted(now, index, token, fence),
                    Seen::Ended(token) => drop(self.observer.ended(index, token)),
                    Seen::Settled(settled) => self.members[index as usize].settled = settled,
                }
            }
            return;
        }
        let mut bytes = Vec::new();
        read(member, REPORT, &mut bytes);
        for byte in bytes {
            match member.reports.push(byte).and_then(Report::read) {
                None => {}
                Some(Report::Started { starts }) => {
                    member.starts = starts;
                    member.poked = false;
                    member.settled = false;
                    self.observer.gone(index);
                }
                Some(Report::Granted { token, fence }) => {
                    self.observer.granted(now, index, token, fence);
                }
                Some(Report::Ended { token }) => drop(self.observer.ended(index, token)),
                Some(Report::Settled { settled }) => member.settled = settled,
                Some(Report::Status(status)) => member.status = Some(status),
            }
        }
    }
}

fn socket(folder: &Path, index: u32, line: usize) -> PathBuf {
    folder.join(format!("{index}.{line}"))
}

/// Reads everything that a line has. Whether it is still there.
fn read(member: &mut Member, line: usize, bytes: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 2048];
    while let Some(stream) = &mut member.lines[line] {
        match stream.read(&mut buffer) {
            Ok(0) => member.lines[line] = None,
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => member.lines[line] = None,
        }
    }
    // What it said last counts.
    !bytes.is_empty()
}

/// Writes what waits, as far as it goes.
fn flush(member: &mut Member, line: usize) {
    let waiting = &mut member.waiting[line];
    while let (Some(stream), false) = (&mut member.lines[line], waiting.is_empty()) {
        match stream.write(waiting) {
            Ok(length) if length > 0 => drop(waiting.drain(..length)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            _ => member.lines[line] = None,
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn text(error: std::io::Error) -> String {
    error.to_string()
}
