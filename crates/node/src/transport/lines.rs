//! Serial lines: one to each neighbour, as boards have them.
//!
//! A line is a device (`/dev/ttyUSB0`) or a Unix socket that somebody listens at, such as
//! an emulator. Datagrams are frames on it ([`crate::frame`]). A computer on a ring of boards:
//!
//! ```no_run
//! use std::path::Path;
//! use std::time::Instant;
//!
//! use headway_node::transport::{Transport as _, lines::Lines};
//! use headway_node::{Config, Event, Key, Machine, Plan, RingId};
//!
//! // The last of three members; the other two are boards, which are told the same.
//! let config = Config::new(RingId(*b"a blinking ring!"), 2, Plan::new(3, 1, 1)?);
//! let devices = ["/dev/ttyUSB0", "/dev/ttyUSB1"].map(Path::new);
//! let mut lines = Lines::open(&devices, 115_200)?;
//! lines.set_peer(config.predecessor(), 0);
//! lines.set_peer(config.successor(), 1);
//! let mut node = Machine::new(config, Key::none(), 1002)?;
//! let (began, mut buffer) = (Instant::now(), [0; 2048]);
//! loop {
//!     let wait = node.poll_timeout().saturating_sub(began.elapsed());
//!     if let Some(bytes) = lines.receive(&mut buffer, wait)? {
//!         // The machine counts what it rejects.
//!         let _ = node.handle_datagram(began.elapsed(), &buffer[..bytes]);
//!     }
//!     if node.poll_timeout() <= began.elapsed() {
//!         node.handle_timeout(began.elapsed());
//!     }
//!     while let Some(event) = node.poll_event() {
//!         if let Event::Granted { token, fence } = event {
//!             println!("permit {token}, fencing number {fence}");
//!             node.handle_work_done(began.elapsed(), token, fence, None);
//!         }
//!     }
//!     while let Some(sent) = node.poll_transmit(&mut buffer) {
//!         // What cannot be sent is lost, and loss is allowed for.
//!         let _ = lines.send(sent.to, &buffer[..sent.bytes]);
//!     }
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use nix::fcntl::OFlag;
use nix::sys::termios::{BaudRate, SetArg, cfmakeraw, cfsetspeed, tcgetattr, tcsetattr};

use super::{Transport, Waker, no_way_to, too_long};
use crate::Config;
use crate::frame::{self, Reader, frame_bytes};

const MAX_DATAGRAM: usize = Config::UNFRAGMENTED;
const WAKER: Token = Token(usize::MAX);

/// Datagrams that have arrived and nobody has asked for, at most.
const MAX_ARRIVED: usize = 64;

/// How long after a line has broken it is opened again.
const OPEN_AGAIN: Duration = Duration::from_millis(500);

/// How long a frame may be stuck before a newer one takes its place.
const GIVE_UP: Duration = Duration::from_millis(10);

/// One node's lines.
#[derive(Debug)]
pub struct Lines {
    lines: Vec<Line>,
    arrived: VecDeque<Vec<u8>>,
    poll: Poll,
    events: Events,
    waker: Arc<mio::Waker>,
}

#[derive(Debug)]
struct Line {
    path: PathBuf,
    baud: u32,
    peer: Option<u32>,
    /// Absent while it is broken, since when.
    file: Result<File, Instant>,
    reader: Box<Reader<{ frame_bytes(MAX_DATAGRAM) }>>,
    /// What is left of the frame that is being sent, and the one after it.
    sending: Vec<u8>,
    next: Vec<u8>,
    /// It has taken nothing since then.
    stuck: Option<Instant>,
}

impl Lines {
    /// Opens the lines at `paths`, devices at so many bits a second.
    ///
    /// # Errors
    ///
    /// When one cannot be opened, or there is no such speed. One that breaks later is
    /// opened again by itself.
    pub fn open(paths: &[&Path], baud: u32) -> io::Result<Lines> {
        let poll = Poll::new()?;
        let waker = Arc::new(mio::Waker::new(poll.registry(), WAKER)?);
        let mut lines = Vec::new();
        for path in paths {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            };
            lines.push(Line {
                path: (*path).to_owned(),
                baud,
                peer: None,
                file: Ok(open(path, baud, &poll).map_err(named)?),
                reader: Box::default(),
                sending: Vec::new(),
                next: Vec::new(),
                stuck: None,
            });
        }
        Ok(Lines {
            lines,
            arrived: VecDeque::new(),
            poll,
            events: Events::with_capacity(8),
            waker,
        })
    }

    /// The neighbour at the other end of a line, by the line's place among those opened;
    /// replaces what was known.
    pub fn set_peer(&mut self, node: u32, line: usize) {
        if let Some(line) = self.lines.get_mut(line) {
            line.peer = Some(node);
        }
    }

    /// A neighbour that there is no way to any more.
    pub fn remove_peer(&mut self, node: u32) {
        for line in &mut self.lines {
            line.peer = line.peer.filter(|peer| *peer != node);
        }
    }

    /// Whether some line leads to a node.
    pub fn leads_to(&self, node: u32) -> bool {
        self.lines.iter().any(|line| line.peer == Some(node))
    }

    /// Takes what lines have to say, and gives them what is left to send.
    fn carry(&mut self) {
        for line in &mut self.lines {
            line.mend(&self.poll);
            line.flush();
            line.listen(&mut self.arrived);
        }
        let surplus = self.arrived.len().saturating_sub(MAX_ARRIVED);
        self.arrived.drain(..surplus);
    }

    /// The next datagram that fits into `buffer`.
    fn take(&mut self, buffer: &mut [u8]) -> Option<usize> {
        while let Some(datagram) = self.arrived.pop_front() {
            if let Some(place) = buffer.get_mut(..datagram.len()) {
                place.copy_from_slice(&datagram);
                return Some(datagram.len());
            }
        }
        None
    }
}

impl Line {
    /// Opens a line that has broken, from time to time.
    fn mend(&mut self, poll: &Poll) {
        if let Err(since) = &self.file
            && since.elapsed() >= OPEN_AGAIN
        {
            self.file = open(&self.path, self.baud, poll).map_err(|_| Instant::now());
            self.sending.clear();
        }
    }

    fn flush(&mut self) {
        while let Ok(file) = &mut self.file {
            if self.sending.is_empty() {
                std::mem::swap(&mut self.sending, &mut self.next);
            }
            if self.sending.is_empty() {
                return;
            }
            match file.write(&self.sending) {
                Ok(sent) if sent > 0 => {
                    self.sending.drain(..sent);
                    self.stuck = None;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stuck.get_or_insert_with(Instant::now);
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => self.file = Err(Instant::now()),
            }
        }
    }

    fn listen(&mut self, arrived: &mut VecDeque<Vec<u8>>) {
        let mut bytes = [0; 4096];
        // No more than is kept, so that a line that never stops does not hold up the rest.
        for _ in 0..MAX_ARRIVED {
            let Ok(file) = &mut self.file else { return };
            match file.read(&mut bytes) {
                Ok(read) if read > 0 => {
                    for byte in &bytes[..read] {
                        arrived.extend(self.reader.push(*byte).map(<[u8]>::to_vec));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => self.file = Err(Instant::now()),
            }
        }
    }
}

impl Transport for Lines {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        if datagram.len() > MAX_DATAGRAM {
            return Err(too_long(datagram.len(), MAX_DATAGRAM));
        }
        let mut lines = self.lines.iter_mut();
        let line = lines.find(|line| line.peer == Some(to));
        let line = line.ok_or_else(|| no_way_to(to))?;
        // The latest state wins: it replaces one that waits, and one that is stuck halfway,
        // which the zero before the next frame ends.
        if line.stuck.is_some_and(|since| since.elapsed() >= GIVE_UP) {
            line.sending.clear();
        }
        line.next.resize(frame_bytes(datagram.len()), 0);
        let length = frame::write(datagram, &mut line.next).unwrap_or(0);
        line.next.truncate(length);
        line.flush();
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        let began = Instant::now();
        loop {
            if self.arrived.is_empty() {
                self.carry();
            }
            if let Some(length) = self.take(buffer) {
                return Ok(Some(length));
            }
            let left = wait.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            match self.poll.poll(&mut self.events, Some(left.min(OPEN_AGAIN))) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                polled => polled?,
            }
            if self.events.iter().any(|event| event.token() == WAKER) {
                self.carry();
                return Ok(self.take(buffer));
            }
        }
    }

    fn largest_datagram(&self) -> usize {
        MAX_DATAGRAM
    }

    fn waker(&self) -> Waker {
        let waker = Arc::clone(&self.waker);
        // A waker that fails has filled its counter: the receiver is awake anyway.
        Waker::new(move || drop(waker.wake()))
    }
}

/// Opens a socket or a device, without ever waiting for it.
fn open(path: &Path, baud: u32, poll: &Poll) -> io::Result<File> {
    let file = if std::fs::metadata(path)?.file_type().is_socket() {
        let socket = UnixStream::connect(path)?;
        socket.set_nonblocking(true)?;
        File::from(OwnedFd::from(socket))
    } else {
        let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(flags.bits());
        let device = options.open(path)?;
        let mut settings = tcgetattr(&device)?;
        cfmakeraw(&mut settings);
        cfsetspeed(&mut settings, speed(baud)?)?;
        tcsetattr(&device, SetArg::TCSANOW, &settings)?;
        device
    };
    let interest = Interest::READABLE | Interest::WRITABLE;
    poll.registry()
        .register(&mut SourceFd(&file.as_raw_fd()), Token(0), interest)?;
    Ok(file)
}

fn speed(baud: u32) -> io::Result<BaudRate> {
    const SPEEDS: [(u32, BaudRate); 7] = [
        (9600, BaudRate::B9600),
        (19_200, BaudRate::B19200),
        (38_400, BaudRate::B38400),
        (57_600, BaudRate::B57600),
        (115_200, BaudRate::B115200),
        (230_400, BaudRate::B230400),
        (460_800, BaudRate::B460800),
    ];
    let known = SPEEDS.into_iter().find(|(known, _)| *known == baud);
    known.map(|(_, speed)| speed).ok_or_else(|| {
        let list = SPEEDS.map(|(speed, _)| speed.to_string()).join(", ");
        let text = format!("no line runs at {baud} bits a second; expected one of {list}");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })
}
