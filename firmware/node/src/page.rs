//! What one board is told: a page of flash beside the program, so that all boards of a
//! ring run the same one. Numbers are big-endian; a CRC-32 of everything before is last.

use core::time::Duration;

use headway_node::{Config, Plan, PlanError, RingId, Role, Timing};

/// The length of a page.
pub const PAGE_BYTES: usize = 224;

const MAGIC: [u8; 4] = *b"HWp1";

/// The length of a key. Zeros after a shorter one change nothing, because HMAC adds them, too;
/// a longer one stands for its SHA-256.
pub const KEY_BYTES: usize = 64;

/// What one board is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page<'k> {
    /// Which ring; every node of it has the same.
    pub ring: RingId,
    /// The board's place, from 0.
    pub index: u32,
    /// Nodes of the ring.
    pub nodes: u32,
    /// Permits that travel.
    pub tokens: u32,
    /// The least distance between two permits in use, in hops.
    pub separation: u32,
    /// A board beside computers has to begin where they do.
    pub fence_floor: u64,
    /// Times in milliseconds: [`Timing`]'s refresh, heartbeat_timeout, tick, max_hold and stop_timeout.
    pub times: [u32; 5],
    /// How long a measurement takes, in milliseconds.
    pub sample: u32,
    /// A board that has executed no round for so many milliseconds starts again.
    pub patience: u32,
    /// A number that no other board has, and this one never had before.
    pub salt: u64,
    /// The keys that the predecessor and the successor know, too; of at most [`KEY_BYTES`].
    pub keys: Option<[&'k [u8]; 2]>,
}

/// Nothing was written where the page should be, or it is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl<'k> Page<'k> {
    /// The bytes to write into the flash.
    ///
    /// # Panics
    ///
    /// When a key is longer than [`KEY_BYTES`].
    pub fn write(&self) -> [u8; PAGE_BYTES] {
        let mut bytes = [0; PAGE_BYTES];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC);
        put(&self.ring.0);
        for number in [self.index, self.nodes, self.tokens, self.separation] {
            put(&number.to_be_bytes());
        }
        put(&self.fence_floor.to_be_bytes());
        for number in self.times {
            put(&number.to_be_bytes());
        }
        put(&self.sample.to_be_bytes());
        put(&self.patience.to_be_bytes());
        put(&self.salt.to_be_bytes());
        put(&u32::from(self.keys.is_some()).to_be_bytes());
        for key in self.keys.iter().flatten() {
            let mut filled = [0; KEY_BYTES];
            filled[..key.len()].copy_from_slice(key);
            put(&filled);
        }
        let sum = crc32(&bytes[..PAGE_BYTES - 4]).to_be_bytes();
        bytes[PAGE_BYTES - 4..].copy_from_slice(&sum);
        bytes
    }

    /// Reads a page.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn read(bytes: &'k [u8; PAGE_BYTES]) -> Result<Page<'k>, Damaged> {
        let mut fields = Fields(bytes);
        let magic: [u8; 4] = fields.take();
        let (told, sum) = bytes.split_at(PAGE_BYTES - 4);
        if magic != MAGIC || crc32(told).to_be_bytes() != *sum {
            return Err(Damaged);
        }
        let ring = RingId(fields.take());
        let [index, nodes, tokens, separation] = core::array::from_fn(|_| fields.number());
        let fence_floor = u64::from_be_bytes(fields.take());
        let times = core::array::from_fn(|_| fields.number());
        let sample = fields.number();
        let patience = fields.number();
        let salt = u64::from_be_bytes(fields.take());
        let keyed = fields.number() != 0;
        let keys = fields.0.chunks(KEY_BYTES);
        let mut keys = keys.take(2);
        let [before, after] = [keys.next(), keys.next()];
        Ok(Page {
            ring,
            index,
            nodes,
            tokens,
            separation,
            fence_floor,
            times,
            sample,
            patience,
            salt,
            keys: before
                .zip(after)
                .filter(|_| keyed)
                .map(|(before, after)| [before, after]),
        })
    }

    /// What the machine is told, which looks whether it makes sense.
    ///
    /// # Errors
    ///
    /// When the tokens do not fit.
    pub fn config(&self) -> Result<Config, PlanError> {
        let plan = Plan::new(self.nodes, self.tokens, self.separation)?;
        let [refresh, heartbeat_timeout, tick, max_hold, stop_timeout] =
            self.times.map(|time| Duration::from_millis(time.into()));
        Ok(Config {
            role: Role::usual(self.index, self.nodes),
            timing: Timing {
                refresh,
                heartbeat_timeout,
                tick,
                min_hold: Duration::ZERO,
                max_hold,
                stop_timeout,
            },
            fence_floor: self.fence_floor,
            ..Config::new(self.ring, self.index, plan)
        })
    }
}

struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_at(N);
        self.0 = rest;
        let mut array = [0; N];
        array.copy_from_slice(field);
        array
    }

    fn number(&mut self) -> u32 {
        u32::from_be_bytes(self.take())
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    headway_node::frame::checksum(bytes)
}
