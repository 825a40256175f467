//! The datagram, byte by byte.
//!
//! Numbers are big-endian. m is the number of tokens and P the largest payload of a
//! token in bytes; both are fixed for a ring, and so is the length:
//!
//! * a header of [`HEADER_BYTES`], whose fields are in [`field`];
//! * m times 12 bytes: value (4), fencing number (8);
//! * m times 1 + P bytes: length of the payload (1), payload, zeros;
//! * in a ring of moving blocks, what [`block`] describes;
//! * [`MAC_BYTES`]: HMAC-SHA-256 of everything before, with the ring's key.
//!
//! A round releases at most one token, so the state of the previous tick differs from
//! the current one in at most one value: [`field::RELEASED`] and [`field::PREVIOUS`].
//!
//! A receiver checks a datagram in this order and changes nothing before all of it has
//! passed: length, magic, version, authentication, ring, sender, receiver, domains,
//! freshness.

use core::ops::Range;

use crate::auth::MAC_BYTES;
use crate::config::RingId;
use crate::{Key, Rule};

pub mod block;
mod rejected;

use block::{BLOCK_BYTES, HEARD_BYTES, Told};
pub use rejected::Rejected;

/// The newest version that this code speaks. With `HEADWAY_NEXT_WIRE` in its environment the
/// compiler makes a program of the next one, for tests of upgrades.
pub const VERSION: u8 = if option_env!("HEADWAY_NEXT_WIRE").is_some() {
    2
} else {
    1
};

/// The oldest version that a program speaks whose newest is `newest`: the one before.
pub const fn oldest(newest: u8) -> u8 {
    if newest > 1 { newest - 1 } else { 1 }
}

/// Bytes before the tokens.
pub const HEADER_BYTES: usize = field::PREVIOUS.end;

const MAGIC: &[u8] = b"HW";
const TOKEN_BYTES: usize = 12;
pub(crate) const NO_TOKEN: u16 = u16::MAX;
const JOINING: u8 = 1;
const MOVING_BLOCK: u8 = 2;

/// Where each field of the header is.
pub mod field {
    use core::ops::Range;

    /// The letters `HW`.
    pub const MAGIC: Range<usize> = 0..2;
    /// The [`Layout`](super::Layout)'s version.
    pub const VERSION: usize = 2;
    /// 1 = joining (the sender has no state yet), 2 = a ring of moving blocks; the other
    /// bits are 0.
    pub const FLAGS: usize = 3;
    /// Length of the datagram.
    pub const LENGTH: Range<usize> = 4..6;
    /// m.
    pub const TOKENS: Range<usize> = 6..8;
    /// Identity of the ring.
    pub const RING: Range<usize> = 8..24;
    /// Index of the sender.
    pub const SENDER: Range<usize> = 24..28;
    /// Index of the receiver.
    pub const RECEIVER: Range<usize> = 28..32;
    /// The sender's incarnation.
    pub const INCARNATION: Range<usize> = 32..40;
    /// Sequence number within the incarnation.
    pub const SEQUENCE: Range<usize> = 40..48;
    /// Challenge to the receiver.
    pub const CHALLENGE: Range<usize> = 48..56;
    /// Echo of the receiver's latest challenge.
    pub const ECHO: Range<usize> = 56..64;
    /// The sender's phase, signed.
    pub const PHASE: Range<usize> = 64..68;
    /// The token that the latest tick released, 65535 for none.
    pub const RELEASED: Range<usize> = 68..70;
    /// P.
    pub const PAYLOAD: usize = 70;
    /// Zero.
    pub const RESERVED: usize = 71;
    /// The value of the released token's ring before that tick.
    pub const PREVIOUS: Range<usize> = 72..76;
}

/// The sender's index as a datagram states it, authentic or not. `None` if the
/// datagram ends before that.
pub fn sender(datagram: &[u8]) -> Option<u32> {
    let bytes = datagram.get(field::SENDER)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// What determines where things are in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// m.
    pub tokens: u32,
    /// P.
    pub payload: u8,
    /// Whether there is a part for moving blocks.
    pub rule: Rule,
    /// In which version all nodes of the ring write.
    pub version: u8,
}

/// Everything in a datagram but the tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Which ring.
    pub ring: RingId,
    /// Who sends.
    pub sender: u32,
    /// For whom.
    pub receiver: u32,
    /// The sender has just started and has no state to tell.
    pub joining: bool,
    /// Drawn at random when the sender started.
    pub incarnation: u64,
    /// Grows with every datagram of an incarnation.
    pub sequence: u64,
    /// To be echoed.
    pub challenge: u64,
    /// The latest challenge that the sender knows of.
    pub echo: u64,
    /// The sender's clock.
    pub phase: i32,
    /// What the latest tick changed.
    pub released: Option<Released>,
}

/// A token that was released by a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Released {
    /// Which one.
    pub token: u16,
    /// Its ring's value before.
    pub previous: u32,
}

impl Released {
    /// Whether there is such a token and such a value.
    pub(crate) fn in_domain(self, tokens: u32, values: u32) -> bool {
        u32::from(self.token) < tokens && self.previous < values
    }
}

impl Layout {
    /// The length of every datagram.
    pub const fn bytes(self) -> usize {
        self.macs_at() + MAC_BYTES
    }

    /// Bytes that there are once, and for each token without its payload.
    const fn fixed(self) -> (usize, usize) {
        match self.rule.possible() {
            Rule::LockStep => (HEADER_BYTES + MAC_BYTES, TOKEN_BYTES + 1),
            Rule::MovingBlock => (
                HEADER_BYTES + BLOCK_BYTES + MAC_BYTES,
                TOKEN_BYTES + 1 + HEARD_BYTES,
            ),
        }
    }

    /// How many tokens with this payload fit into `bytes`.
    pub fn tokens_in(self, bytes: usize) -> usize {
        let (once, each) = self.fixed();
        bytes.saturating_sub(once) / (each + self.payload as usize)
    }

    /// How much payload fits with this many tokens.
    pub fn payload_in(self, bytes: usize) -> Option<u8> {
        let (once, least) = self.fixed();
        let each = bytes.checked_sub(once)?.checked_div(self.tokens as usize)?;
        Some(each.checked_sub(least)?.min(255) as u8)
    }

    const fn payloads_at(self) -> usize {
        HEADER_BYTES + self.tokens as usize * TOKEN_BYTES
    }

    const fn block_at(self) -> usize {
        self.payloads_at() + self.tokens as usize * (1 + self.payload as usize)
    }

    const fn macs_at(self) -> usize {
        match self.rule.possible() {
            Rule::LockStep => self.block_at(),
            Rule::MovingBlock => self.block_at() + BLOCK_BYTES + self.tokens as usize * HEARD_BYTES,
        }
    }

    /// Writes a datagram into `buffer`, which has to have room for it, and returns
    /// its length. `tokens` gives value, fencing number and payload of each; `told` is
    /// what there is to tell in a ring of moving blocks.
    ///
    /// # Panics
    ///
    /// When the buffer is too short or a payload too long.
    pub fn write<'t>(
        self,
        header: &Header,
        tokens: impl Iterator<Item = (u32, u64, &'t [u8])>,
        told: Option<(&Told, &[u32])>,
        key: &Key,
        buffer: &mut [u8],
    ) -> usize {
        let bytes = self.bytes();
        let buffer = &mut buffer[..bytes];
        let (token, previous) = match header.released {
            Some(released) => (released.token, released.previous),
            None => (NO_TOKEN, 0),
        };
        let mut put = |field: Range<usize>, bytes: &[u8]| buffer[field].copy_from_slice(bytes);
        put(field::MAGIC, MAGIC);
        put(field::LENGTH, &(bytes as u16).to_be_bytes());
        put(field::TOKENS, &(self.tokens as u16).to_be_bytes());
        put(field::RING, &header.ring.0);
        put(field::SENDER, &header.sender.to_be_bytes());
        put(field::RECEIVER, &header.receiver.to_be_bytes());
        put(field::INCARNATION, &header.incarnation.to_be_bytes());
        put(field::SEQUENCE, &header.sequence.to_be_bytes());
        put(field::CHALLENGE, &header.challenge.to_be_bytes());
        put(field::ECHO, &header.echo.to_be_bytes());
        put(field::PHASE, &header.phase.to_be_bytes());
        put(field::RELEASED, &token.to_be_bytes());
        put(field::PREVIOUS, &previous.to_be_bytes());
        buffer[field::VERSION] = self.version;
        buffer[field::FLAGS] = self.flags() | if header.joining { JOINING } else { 0 };
        buffer[field::PAYLOAD] = self.payload;
        buffer[field::RESERVED] = 0;
        let (state, rest) = buffer[HEADER_BYTES..].split_at_mut(self.tokens as usize * TOKEN_BYTES);
        let (payloads, rest) =
            rest.split_at_mut(self.tokens as usize * (1 + self.payload as usize));
        let (block, mac) = rest.split_at_mut(self.macs_at() - self.block_at());
        block.fill(0);
        if let Some((told, heard)) = told {
            told.write(heard, block);
        }
        let places = state
            .chunks_exact_mut(TOKEN_BYTES)
            .zip(payloads.chunks_exact_mut(1 + self.payload as usize));
        for ((place, carried), (value, fence, payload)) in places.zip(tokens) {
            place[0..4].copy_from_slice(&value.to_be_bytes());
            place[4..12].copy_from_slice(&fence.to_be_bytes());
            carried[0] = payload.len() as u8;
            let (used, unused) = carried[1..].split_at_mut(payload.len());
            used.copy_from_slice(payload);
            unused.fill(0);
        }
        mac.fill(0);
        if key.authenticates() {
            let signed = self.macs_at();
            let code = key.sign(&buffer[..signed]);
            buffer[signed..].copy_from_slice(&code);
        }
        bytes
    }

    /// Reads a datagram: length, letters and authentication. Whether it is for the
    /// reader, and fresh, is for the reader to say.
    ///
    /// # Errors
    ///
    /// When it is not a datagram of this layout or not authentic.
    pub fn read<'d>(self, datagram: &'d [u8], key: &Key) -> Result<Datagram<'d>, Rejected> {
        if datagram.len() != self.bytes() {
            return Err(Rejected::Length);
        }
        if datagram[field::MAGIC] != *MAGIC || datagram[field::VERSION] != self.version {
            return Err(Rejected::Version);
        }
        let (signed, mac) = datagram.split_at(self.macs_at());
        if !key.verify(signed, mac) {
            return Err(Rejected::Unauthenticated);
        }
        let consistent = usize::from(be16(datagram, field::LENGTH)) == datagram.len()
            && u32::from(be16(datagram, field::TOKENS)) == self.tokens
            && datagram[field::PAYLOAD] == self.payload
            && datagram[field::FLAGS] & !JOINING == self.flags();
        if !consistent {
            return Err(Rejected::Version);
        }
        let token = be16(datagram, field::RELEASED);
        let header = Header {
            ring: RingId(array(datagram, field::RING)),
            sender: be32(datagram, field::SENDER),
            receiver: be32(datagram, field::RECEIVER),
            joining: datagram[field::FLAGS] & JOINING != 0,
            incarnation: be64(datagram, field::INCARNATION),
            sequence: be64(datagram, field::SEQUENCE),
            challenge: be64(datagram, field::CHALLENGE),
            echo: be64(datagram, field::ECHO),
            phase: be32(datagram, field::PHASE) as i32,
            released: (token != NO_TOKEN).then(|| Released {
                token,
                previous: be32(datagram, field::PREVIOUS),
            }),
        };
        Ok(Datagram {
            header,
            state: &datagram[HEADER_BYTES..self.payloads_at()],
            payloads: &datagram[self.payloads_at()..self.block_at()],
            block: &datagram[self.block_at()..self.macs_at()],
            layout: self,
        })
    }

    const fn flags(self) -> u8 {
        match self.rule.possible() {
            Rule::LockStep => 0,
            Rule::MovingBlock => MOVING_BLOCK,
        }
    }
}

/// A datagram that was read.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'d> {
    /// Everything but the tokens.
    pub header: Header,
    state: &'d [u8],
    payloads: &'d [u8],
    block: &'d [u8],
    layout: Layout,
}

impl<'d> Datagram<'d> {
    /// Value, fencing number and payload of each token, in order. A payload that
    /// claims to be longer than it can be is cut.
    pub fn tokens(&self) -> impl Iterator<Item = (u32, u64, &'d [u8])> + use<'d> {
        let carried = 1 + self.layout.payload as usize;
        self.state
            .chunks_exact(TOKEN_BYTES)
            .zip(self.payloads.chunks_exact(carried))
            .map(|(token, payload)| {
                let length = usize::from(payload[0]).min(payload.len() - 1);
                (be32(token, 0..4), be64(token, 4..12), &payload[1..=length])
            })
    }

    /// What is told in a ring of moving blocks, and the values of the receiver that the
    /// sender has heard of, in order.
    pub fn told(&self) -> Option<(Told, impl Iterator<Item = u32> + use<'d>)> {
        (self.layout.rule.possible() == Rule::MovingBlock).then(|| Told::read(self.block))
    }

    /// Whether every value is below `values`, every phase is one of the clock's,
    /// and every length is possible.
    pub fn in_domain(&self, values: u32, phases: Range<i32>) -> bool {
        let released = self
            .header
            .released
            .is_none_or(|released| released.in_domain(self.layout.tokens, values));
        let carried = 1 + self.layout.payload as usize;
        let lengths = self
            .payloads
            .chunks_exact(carried)
            .all(|payload| payload[0] <= self.layout.payload);
        let told = self.told().is_none_or(|(told, mut heard)| {
            told.in_domain(values) && heard.all(|value| value < values)
        });
        released
            && lengths
            && told
            && phases.contains(&self.header.phase)
            && self.tokens().all(|(value, _, _)| value < values)
    }
}

fn be16(bytes: &[u8], at: Range<usize>) -> u16 {
    u16::from_be_bytes(array(bytes, at))
}

fn be32(bytes: &[u8], at: Range<usize>) -> u32 {
    u32::from_be_bytes(array(bytes, at))
}

fn be64(bytes: &[u8], at: Range<usize>) -> u64 {
    u64::from_be_bytes(array(bytes, at))
}

fn array<const N: usize>(bytes: &[u8], at: Range<usize>) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at]);
    array
}
