//! Datagrams between services, beside those of the protocol: which roster the
//! sender has, pieces of rosters, and whether it is there.
//!
//! | bytes | what |
//! |---|---|
//! | 0..2 | `HC` |
//! | 2 | version of the wire format, as the sender's roster says, or the oldest that it speaks |
//! | 3 | kind: 0 offer, 1 want, 2 chunk, 3 ping, 4 pong, 5 news of rollouts, 6 who is silent, 7 a part of what a voter or somebody who wants a change says, 8 that a voter is there, 9 asks for a proof, 10 a link of a chain of rosters, 11 asks whether a permit may be used, 12 the answer; plus 128 if no permit of an earlier roster is in use at the sender; plus 64 if it hears both its neighbours on a ring that is settled |
//! | 4..20 | the ring, by name |
//! | 20..28 | the sender's roster's version, 0 for none |
//! | 28..60 | its digest |
//! | 60..64 | its size in bytes |
//! | 64 | the newest version that the sender speaks |
//! | 65..73 | a number that the sender drew when it started |
//! | 73 | length of the sender's name, then the name |
//! | then | length of the sender's address, then the address |
//! | then | want: chunk (2); chunk: digest (32), chunk (2), bytes; ping and pong: nonce (8); news: JSON; part: number (8), part (1), parts (1), bytes; voter: its disk (8), how old that is (8), whether it may vote (1), asks (2) and has heard the receiver (4) (1), then the receiver's start (8), disk (8) and its age (8); asks for a proof: of what is later than this version (8); link: version (8), digest (32), size (4), digest of the roster's bytes (32), how many voters (1) and operators (1), what they sign with (32 each), on whose word (1) and what they have signed; permit: nonce (8), token (4), fencing number (8); answer: nonce (8), whether the sender knows of a later number of that token (1) |
//! | last 32 | HMAC-SHA-256 of everything before, with the key that sender and receiver share |
//!
//! An answer goes to the address that the datagram names, which is authentic, and
//! not to where it came from: a copy sent from elsewhere makes nobody send anything
//! there.

use headway_node::{Key, MAC_BYTES, RingId, wire};
use thiserror::Error;

use crate::membership::register::Storage;
use crate::membership::roster::{Digest, Link, Mark, valid_address, valid_name};
use crate::permits::Grant;

/// How many bytes of a roster one datagram carries.
pub const CHUNK_BYTES: usize = 1000;

const FIXED_BYTES: usize = 73;

/// Who sends, and what it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Its name.
    pub name: String,
    /// Where answers go.
    pub address: String,
    /// Its roster.
    pub mark: Mark,
    /// The version of the wire format that it writes.
    pub wire: u8,
    /// The newest that it speaks; it speaks the one before, too.
    pub newest: u8,
    /// Drawn when it started.
    pub boot: u64,
    /// No permit of an earlier roster is in use here any more.
    pub drained: bool,
    /// It hears both its neighbours on the ring of its roster.
    pub on_ring: bool,
}

const DRAINED: u8 = 128;
const ON_RING: u8 = 64;

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Nothing beyond what the sender knows.
    Offer,
    /// Asks for a piece of the receiver's roster.
    Want {
        /// Which piece, from 0.
        chunk: u16,
    },
    /// Asks for what proves the receiver's roster.
    Prove {
        /// To somebody who believes the voters of this version.
        after: u64,
    },
    /// The first link after that version.
    Link(Link),
    /// A piece of a roster.
    Chunk {
        /// Of which roster.
        digest: Digest,
        /// Which piece, from 0.
        chunk: u16,
        /// The piece.
        bytes: Vec<u8>,
    },
    /// Are you there?
    Ping {
        /// To be repeated.
        nonce: u64,
    },
    /// I am.
    Pong {
        /// As asked.
        nonce: u64,
    },
    /// May this permit be used?
    Ask {
        /// To be repeated.
        nonce: u64,
        /// Which permit.
        grant: Grant,
    },
    /// It may, as far as the sender knows, or its token has gone on.
    Echo {
        /// As asked.
        nonce: u64,
        /// On the sender's settled ring the token has a later fencing number.
        later: bool,
    },
    /// Something about rollouts.
    Rollouts {
        /// As `crate::rollouts` writes it.
        bytes: Vec<u8>,
    },
    /// Who is silent.
    Reports {
        /// Reports, as JSON.
        bytes: Vec<u8>,
    },
    /// A voter says that it is there.
    Alive(Alive),
    /// A part of something about the next roster.
    Part(Part),
}

/// What a voter says every second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alive {
    /// Its disk, and how old that is.
    pub disk: (Storage, u64),
    /// It may vote.
    pub may_vote: bool,
    /// It wants to hear the same from the receiver at once.
    pub asks: bool,
    /// What it knows of the receiver: its start, its disk and how old that is.
    pub heard: Option<(u64, Storage, u64)>,
}

/// What voters say may be more than a datagram carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The same for all parts.
    pub number: u64,
    /// Which part of it this is, from 0.
    pub part: u8,
    /// How many there are.
    pub parts: u8,
    /// The part.
    pub bytes: Vec<u8>,
}

/// Why a control datagram was not listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Refused {
    /// Not a control datagram.
    #[error("not a control datagram")]
    Malformed,
    /// From somebody with the key, in a version that this program does not speak.
    #[error("wire format {0}")]
    Wire(u8),
    /// Not from somebody with the key.
    #[error("not authenticated")]
    Unauthenticated,
    /// From somebody whom the roster does not name, or who may not say this.
    #[error("from a stranger")]
    Stranger,
    /// Another ring.
    #[error("another ring")]
    Ring,
}

impl Refused {
    /// A name for labels and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Refused::Malformed => "control_malformed",
            Refused::Wire(_) => "control_wire",
            Refused::Unauthenticated => "control_unauthenticated",
            Refused::Stranger => "control_stranger",
            Refused::Ring => "control_ring",
        }
    }
}

/// Whether these bytes mean to be a control datagram.
pub fn is_control(datagram: &[u8]) -> bool {
    datagram.starts_with(b"HC")
}

/// Writes a datagram.
pub fn write(ring: RingId, sender: &Sender, message: &Message, key: &Key) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FIXED_BYTES + 100);
    let (kind, body) = match message {
        Message::Offer => (0, Vec::new()),
        Message::Want { chunk } => (1, chunk.to_be_bytes().to_vec()),
        Message::Chunk {
            digest,
            chunk,
            bytes,
        } => (2, [&digest[..], &chunk.to_be_bytes(), bytes].concat()),
        Message::Ping { nonce } => (3, nonce.to_be_bytes().to_vec()),
        Message::Pong { nonce } => (4, nonce.to_be_bytes().to_vec()),
        Message::Rollouts { bytes } => (5, bytes.clone()),
        Message::Reports { bytes } => (6, bytes.clone()),
        Message::Part(part) => {
            let parts = [part.part, part.parts];
            (
                7,
                [&part.number.to_be_bytes()[..], &parts, &part.bytes].concat(),
            )
        }
        Message::Alive(alive) => {
            let ((storage, age), heard) = (alive.disk, alive.heard.unwrap_or_default());
            let flags = [alive.may_vote, alive.asks, alive.heard.is_some()];
            let flags = (0..)
                .zip(flags)
                .map(|(bit, flag)| u8::from(flag) << bit)
                .sum();
            let numbers = [storage, age].map(u64::to_be_bytes);
            let known = [heard.0, heard.1, heard.2].map(u64::to_be_bytes);
            (
                8,
                [numbers.as_flattened(), &[flags], known.as_flattened()].concat(),
            )
        }
        Message::Prove { after } => (9, after.to_be_bytes().to_vec()),
        Message::Link(link) => (10, link.bytes()),
        Message::Ask { nonce, grant } => {
            let numbers = [nonce.to_be_bytes(), grant.fence.to_be_bytes()];
            let [nonce, fence] = &numbers;
            (11, [&nonce[..], &grant.token.to_be_bytes(), fence].concat())
        }
        Message::Echo { nonce, later } => {
            let later = [u8::from(*later)];
            (12, [&nonce.to_be_bytes()[..], &later].concat())
        }
    };
    bytes.extend_from_slice(b"HC");
    let drained = if sender.drained { DRAINED } else { 0 };
    let on_ring = if sender.on_ring { ON_RING } else { 0 };
    bytes.extend_from_slice(&[sender.wire, kind | drained | on_ring]);
    bytes.extend_from_slice(&ring.0);
    bytes.extend_from_slice(&sender.mark.bytes());
    bytes.push(sender.newest);
    bytes.extend_from_slice(&sender.boot.to_be_bytes());
    for text in [&sender.name, &sender.address] {
        bytes.push(text.len().min(255) as u8);
        bytes.extend_from_slice(&text.as_bytes()[..text.len().min(255)]);
    }
    bytes.extend_from_slice(&body);
    let mac = key.sign(&bytes);
    bytes.extend_from_slice(&mac);
    bytes
}

/// Who a datagram says it is from, whether that is true or not.
pub fn sender(datagram: &[u8]) -> Option<&str> {
    let (length, rest) = datagram.get(FIXED_BYTES..)?.split_first()?;
    let name = rest.get(..usize::from(*length))?;
    str::from_utf8(name).ok().filter(|name| valid_name(name))
}

/// Reads a datagram, which one of these keys has to authenticate, in a program that speaks
/// versions up to `newest`. All versions have letters, version and code where this one has them,
/// so that others can be told apart.
///
/// # Errors
///
/// Why it is not one to listen to.
pub fn read(
    datagram: &[u8],
    ring: RingId,
    keys: &[Key],
    newest: u8,
) -> Result<(Sender, Message), Refused> {
    let (bytes, mac) = split(datagram)?;
    if keys.is_empty() {
        return Err(Refused::Stranger);
    }
    if !keys.iter().any(|key| key.verify(bytes, mac)) {
        return Err(Refused::Unauthenticated);
    }
    read_claims(datagram, ring, newest)
}

fn split(datagram: &[u8]) -> Result<(&[u8], &[u8]), Refused> {
    let signed = datagram.len().checked_sub(MAC_BYTES);
    let (bytes, mac) = datagram.split_at(signed.ok_or(Refused::Malformed)?);
    if bytes.len() < FIXED_BYTES || !is_control(bytes) {
        return Err(Refused::Malformed);
    }
    Ok((bytes, mac))
}

/// Reads what a datagram says, whoever has written it.
///
/// # Errors
///
/// Why it cannot be read.
pub(super) fn read_claims(
    datagram: &[u8],
    ring: RingId,
    newest: u8,
) -> Result<(Sender, Message), Refused> {
    let (bytes, _) = split(datagram)?;
    if !(wire::oldest(newest)..=newest).contains(&bytes[2]) {
        return Err(Refused::Wire(bytes[2]));
    }
    if bytes[4..20] != ring.0 {
        return Err(Refused::Ring);
    }
    parse(bytes).ok_or(Refused::Malformed)
}

fn parse(bytes: &[u8]) -> Option<(Sender, Message)> {
    let kind = bytes[3] & !(DRAINED | ON_RING);
    let drained = bytes[3] & DRAINED != 0;
    let on_ring = bytes[3] & ON_RING != 0;
    let mut rest = &bytes[20..];
    let mark = Mark::read(&mut rest)?;
    let [newest] = take(&mut rest)?;
    let boot = u64::from_be_bytes(take(&mut rest)?);
    let mut text = || take_text(&mut rest);
    let name = text().filter(|name| valid_name(name))?;
    let address = text().filter(|address| valid_address(address))?;
    let message = match kind {
        0 => Message::Offer,
        1 => Message::Want {
            chunk: u16::from_be_bytes(take(&mut rest)?),
        },
        2 => Message::Chunk {
            digest: take(&mut rest)?,
            chunk: u16::from_be_bytes(take(&mut rest)?),
            bytes: std::mem::take(&mut rest).to_vec(),
        },
        3 => Message::Ping {
            nonce: u64::from_be_bytes(take(&mut rest)?),
        },
        4 => Message::Pong {
            nonce: u64::from_be_bytes(take(&mut rest)?),
        },
        5 => Message::Rollouts {
            bytes: std::mem::take(&mut rest).to_vec(),
        },
        6 => Message::Reports {
            bytes: std::mem::take(&mut rest).to_vec(),
        },
        7 => Message::Part(Part {
            number: u64::from_be_bytes(take(&mut rest)?),
            part: u8::from_be_bytes(take(&mut rest)?),
            parts: u8::from_be_bytes(take(&mut rest)?),
            bytes: std::mem::take(&mut rest).to_vec(),
        }),
        8 => {
            let mut number = || take(&mut rest).map(u64::from_be_bytes);
            let disk = (number()?, number()?);
            let [flags] = take(&mut rest)?;
            let mut number = || take(&mut rest).map(u64::from_be_bytes);
            let heard = (number()?, number()?, number()?);
            Message::Alive(Alive {
                disk,
                may_vote: flags & 1 != 0,
                asks: flags & 2 != 0,
                heard: (flags & 4 != 0).then_some(heard),
            })
        }
        9 => Message::Prove {
            after: u64::from_be_bytes(take(&mut rest)?),
        },
        10 => Message::Link(Link::read(std::mem::take(&mut rest))?),
        11 => Message::Ask {
            nonce: u64::from_be_bytes(take(&mut rest)?),
            grant: Grant {
                token: u32::from_be_bytes(take(&mut rest)?),
                fence: u64::from_be_bytes(take(&mut rest)?),
            },
        },
        12 => Message::Echo {
            nonce: u64::from_be_bytes(take(&mut rest)?),
            later: match take(&mut rest)? {
                [0] => false,
                [1] => true,
                _ => return None,
            },
        },
        _ => return None,
    };
    let sender = Sender {
        name,
        address,
        mark,
        wire: bytes[2],
        newest,
        boot,
        drained,
        on_ring,
    };
    rest.is_empty().then_some((sender, message))
}

pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (field, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*field)
}

/// A text of at most 255 bytes, after its length.
pub(crate) fn take_text(bytes: &mut &[u8]) -> Option<String> {
    let [length] = take(bytes)?;
    let (text, rest) = bytes.split_at_checked(length.into())?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests;
