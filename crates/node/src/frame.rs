//! Datagrams on a serial line: between two zeros, the bytes of a datagram and its CRC-32
//! (ISO-HDLC, as Ethernet's; big-endian), without zeros by consistent overhead byte stuffing.
//!
//! A line loses, repeats and changes bytes. What comes out is a whole datagram as it was
//! sent, or nothing; without a key the CRC is all that says so, and lets a random change
//! pass once in four thousand million times.

use cobs::CobsEncoder;
use crc::{CRC_32_ISO_HDLC, Crc};

/// With a table of 1 KB: without, a byte costs eight times as much.
static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
const CRC_BYTES: usize = 4;
const ZEROS: usize = 2;

/// Room for the frame of a datagram of so many bytes.
pub const fn frame_bytes(datagram: usize) -> usize {
    cobs::max_encoding_length(datagram + CRC_BYTES) + ZEROS
}

/// The CRC-32 of some bytes.
pub fn checksum(bytes: &[u8]) -> u32 {
    CRC.checksum(bytes)
}

/// Writes a datagram as a frame, and says how long that is. `None` if `frame` is shorter
/// than [`frame_bytes`].
pub fn write(datagram: &[u8], frame: &mut [u8]) -> Option<usize> {
    if frame.len() < frame_bytes(datagram.len()) {
        return None;
    }
    frame[0] = 0;
    let mut encoder = CobsEncoder::new(&mut frame[1..]);
    encoder.push(datagram).ok()?;
    encoder.push(&checksum(datagram).to_be_bytes()).ok()?;
    let end = 1 + encoder.finalize();
    *frame.get_mut(end)? = 0;
    Some(end + 1)
}

/// Finds datagrams among the bytes of a line. `MAX` is [`frame_bytes`] of the longest.
///
/// ```
/// use headway_node::frame::{self, Reader};
/// let mut line = [0; frame::frame_bytes(5)];
/// let bytes = frame::write(b"hello", &mut line).unwrap();
/// let mut reader = Reader::<64>::new();
/// let noise = [7, 8, 9];
/// let mut found = 0;
/// for byte in noise.iter().chain(&line[..bytes]) {
///     if let Some(datagram) = reader.push(*byte) {
///         assert_eq!(datagram, b"hello");
///         found += 1;
///     }
/// }
/// assert_eq!(found, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Reader<const MAX: usize> {
    bytes: [u8; MAX],
    /// Bytes since the last zero; more than fit if they are too many.
    used: usize,
    /// Frames that were no datagrams.
    broken: u32,
}

impl<const MAX: usize> Reader<MAX> {
    /// One that has read nothing.
    pub const fn new() -> Reader<MAX> {
        Reader {
            bytes: [0; MAX],
            used: 0,
            broken: 0,
        }
    }

    /// The next byte of the line; a datagram if it ends one.
    pub fn push(&mut self, byte: u8) -> Option<&[u8]> {
        if byte != 0 {
            if let Some(place) = self.bytes.get_mut(self.used) {
                *place = byte;
            }
            self.used = self.used.saturating_add(1);
            return None;
        }
        let used = core::mem::take(&mut self.used);
        if used == 0 {
            return None;
        }
        let length = self.bytes.get_mut(..used).and_then(read);
        self.broken = self.broken.wrapping_add(u32::from(length.is_none()));
        self.bytes.get(..length?)
    }

    /// Frames so far that were no datagrams.
    pub const fn broken(&self) -> u32 {
        self.broken
    }
}

impl<const MAX: usize> Default for Reader<MAX> {
    fn default() -> Reader<MAX> {
        Reader::new()
    }
}

/// Makes what stood between two zeros a datagram, and says how long it is.
fn read(frame: &mut [u8]) -> Option<usize> {
    let length = cobs::decode_in_place(frame).ok()?;
    let (datagram, crc) = frame.get(..length)?.split_last_chunk::<CRC_BYTES>()?;
    (checksum(datagram).to_be_bytes() == *crc).then_some(datagram.len())
}
