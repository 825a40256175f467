//! What a board says on its third line, and what it is ordered there. Each is a frame as on
//! the other lines; numbers are little-endian.

/// The longest message.
pub const REPORT_BYTES: usize = 64;

/// Something for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The board has started, so many times since it has power.
    Started {
        /// How often.
        starts: u32,
    },
    /// A permit is used from now on.
    Granted {
        /// Which token.
        token: u32,
        /// Under which number.
        fence: u64,
    },
    /// A permit is not used any more.
    Ended {
        /// Which token.
        token: u32,
    },
    /// What the node thinks of the ring.
    Settled {
        /// Whether everything is legitimate.
        settled: bool,
    },
    /// What has happened since the start.
    Status(Status),
}

/// Numbers since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Time, in microseconds.
    pub now: u64,
    /// Of that, asleep.
    pub asleep: u64,
    /// Of that, the sensor was on.
    pub sensing: u64,
    /// Rounds executed.
    pub rounds: u32,
    /// Tokens passed on.
    pub hops: u32,
    /// Permits used.
    pub permits: u32,
    /// Measurements made.
    pub samples: u32,
    /// Datagrams sent.
    pub sent: u32,
    /// Datagrams that the machine rejected.
    pub rejected: u32,
    /// Frames that were no datagrams.
    pub broken: u32,
    /// The deepest that the stack has been, in bytes.
    pub stack: u32,
}

impl Report {
    /// Writes it, and says how long it is.
    pub fn write(&self, bytes: &mut [u8; REPORT_BYTES]) -> usize {
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        match *self {
            Report::Started { starts } => {
                put(b"b");
                put(&starts.to_le_bytes());
            }
            Report::Granted { token, fence } => {
                put(b"g");
                put(&token.to_le_bytes());
                put(&fence.to_le_bytes());
            }
            Report::Ended { token } => {
                put(b"e");
                put(&token.to_le_bytes());
            }
            Report::Settled { settled } => {
                put(b"v");
                put(&u32::from(settled).to_le_bytes());
            }
            Report::Status(status) => {
                put(b"s");
                for number in [status.now, status.asleep, status.sensing] {
                    put(&number.to_le_bytes());
                }
                for number in status.counts() {
                    put(&number.to_le_bytes());
                }
            }
        }
        at
    }

    /// Reads it; `None` if it is none.
    pub fn read(bytes: &[u8]) -> Option<Report> {
        let (kind, rest) = bytes.split_first()?;
        let small = |at: usize| -> Option<u32> {
            Some(u32::from_le_bytes(rest.get(at..at + 4)?.try_into().ok()?))
        };
        let large = |at: usize| -> Option<u64> {
            Some(u64::from_le_bytes(rest.get(at..at + 8)?.try_into().ok()?))
        };
        Some(match kind {
            b'b' => Report::Started { starts: small(0)? },
            b'g' => Report::Granted {
                token: small(0)?,
                fence: large(4)?,
            },
            b'e' => Report::Ended { token: small(0)? },
            b'v' => Report::Settled {
                settled: small(0)? != 0,
            },
            b's' => Report::Status(Status {
                now: large(0)?,
                asleep: large(8)?,
                sensing: large(16)?,
                rounds: small(24)?,
                hops: small(28)?,
                permits: small(32)?,
                samples: small(36)?,
                sent: small(40)?,
                rejected: small(44)?,
                broken: small(48)?,
                stack: small(52)?,
            }),
            _ => return None,
        })
    }
}

impl Status {
    const fn counts(&self) -> [u32; 8] {
        [
            self.rounds,
            self.hops,
            self.permits,
            self.samples,
            self.sent,
            self.rejected,
            self.broken,
            self.stack,
        ]
    }
}

/// What a board is ordered to do, by whoever tests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Tell your numbers.
    Tell,
    /// Start again.
    Reset,
    /// Overwrite everything that the node remembers, with numbers from this seed.
    Scramble {
        /// The seed.
        seed: u64,
    },
    /// Stop working, for ever: the watchdog should notice.
    Hang,
}

/// The longest order.
pub const ORDER_BYTES: usize = 9;

impl Order {
    /// Writes it, and says how long it is.
    pub fn write(&self, bytes: &mut [u8; ORDER_BYTES]) -> usize {
        let (kind, seed) = match *self {
            Order::Tell => (b't', 0),
            Order::Reset => (b'r', 0),
            Order::Scramble { seed } => (b'x', seed),
            Order::Hang => (b'h', 0),
        };
        bytes[0] = kind;
        bytes[1..].copy_from_slice(&seed.to_le_bytes());
        ORDER_BYTES
    }

    /// Reads it; `None` if it is none.
    pub fn read(bytes: &[u8]) -> Option<Order> {
        let (kind, seed) = bytes.split_first()?;
        let seed = u64::from_le_bytes(seed.try_into().ok()?);
        Some(match kind {
            b't' => Order::Tell,
            b'r' => Order::Reset,
            b'x' => Order::Scramble { seed },
            b'h' => Order::Hang,
            _ => return None,
        })
    }
}
