//! What a datagram tells in a ring of moving blocks, after the payloads:
//!
//! * [`BLOCK_BYTES`], whose fields are in [`field`];
//! * m times [`HEARD_BYTES`]: the receiver's value on each token ring, as the sender has
//!   heard it, if the receiver is its predecessor. This acknowledges hand-overs.

use core::ops::Range;

use super::be32;
use crate::Summary;
use crate::state::{Domain, Variable};

/// Bytes before the values heard.
pub const BLOCK_BYTES: usize = field::WHOLE.end;

/// Bytes of a value heard.
pub const HEARD_BYTES: usize = 4;

/// Values of [`field::LAP`].
pub(crate) const LAPS: u32 = 4;

/// Where each field is, from the end of the payloads.
pub mod field {
    use core::ops::Range;

    /// How far ahead of the sender the next token is, cut off at the separation.
    pub const NEWS: Range<usize> = 0..4;
    /// The sender's value on the patrol's ring.
    pub const PATROL: Range<usize> = 4..8;
    /// What the patrol carries: 0 = calm, 1 = calm again, 2 = disturbed, 3 = gates open.
    pub const LAP: Range<usize> = 8..12;
    /// What the patrol has gathered on this lap: five numbers of 4 bytes, in the order of
    /// [`Summary`](crate::Summary).
    pub const GATHERED: Range<usize> = 12..32;
    /// The same of the whole lap before.
    pub const WHOLE: Range<usize> = 32..52;
}

/// What a node tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// How far ahead the next token is.
    pub news: u32,
    /// The value on the patrol's ring.
    pub patrol: u32,
    /// What the patrol carries.
    pub lap: u32,
    /// What it has gathered on this lap.
    pub gathered: Summary,
    /// What it gathered on the whole lap before.
    pub whole: Summary,
}

impl Told {
    pub(crate) fn visit(&mut self, domain: &Domain, see: &mut impl FnMut(Variable<'_>)) {
        see(Variable::Rounds(&mut self.news));
        see(Variable::Below(&mut self.patrol, domain.values));
        see(Variable::Below(&mut self.lap, LAPS));
        self.gathered.visit(see);
        self.whole.visit(see);
    }

    pub(super) fn write(&self, heard: &[u32], bytes: &mut [u8]) {
        let mut put = |at: Range<usize>, number: u32| {
            bytes[at].copy_from_slice(&number.to_be_bytes());
        };
        put(field::NEWS, self.news);
        put(field::PATROL, self.patrol);
        put(field::LAP, self.lap);
        for (summary, at) in [(self.gathered, field::GATHERED), (self.whole, field::WHOLE)] {
            for (number, at) in summary.numbers().into_iter().zip(at.step_by(4)) {
                put(at..at + 4, number);
            }
        }
        for (value, at) in heard.iter().zip((BLOCK_BYTES..).step_by(HEARD_BYTES)) {
            put(at..at + HEARD_BYTES, *value);
        }
    }

    pub(super) fn read(bytes: &[u8]) -> (Told, impl Iterator<Item = u32>) {
        let summary = |at: Range<usize>| {
            Summary::from_numbers(core::array::from_fn(|number| {
                let at = at.start + 4 * number;
                be32(bytes, at..at + 4)
            }))
        };
        let told = Told {
            news: be32(bytes, field::NEWS),
            patrol: be32(bytes, field::PATROL),
            lap: be32(bytes, field::LAP),
            gathered: summary(field::GATHERED),
            whole: summary(field::WHOLE),
        };
        let heard = bytes[BLOCK_BYTES..].chunks_exact(HEARD_BYTES);
        (told, heard.map(|value| be32(value, 0..HEARD_BYTES)))
    }

    /// Whether the patrol's value is below `values`, and its lap is one.
    pub(super) fn in_domain(&self, values: u32) -> bool {
        self.patrol < values && self.lap < LAPS
    }
}
