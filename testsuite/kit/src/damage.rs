//! Valid files, damaged: they get deeper into a reader than noise does.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// So many damaged copies of a sample, each with the seed of its damage: the same on every
/// machine.
pub fn copies(sample: &[u8], count: u64) -> impl Iterator<Item = (u64, Vec<u8>)> {
    (0..count).map(move |seed| (seed, damaged(sample, &mut below(seed))))
}

/// Random numbers below a bound, all from one seed (SplitMix64).
pub fn below(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// `sample` with one to six pieces of damage. `below` gives a random number below
/// its argument.
pub fn damaged(sample: &[u8], below: &mut dyn FnMut(usize) -> usize) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..=below(6) {
        damage(&mut bytes, below);
    }
    bytes
}

/// Puts other bytes into a file. Not by `fs::write`: some file systems wait for the disk when
/// a file that was emptied is closed.
///
/// # Errors
///
/// If the file cannot be written.
pub fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

/// Readers stumble over these: ends, signs, sizes, nesting, encodings.
const STUMBLES: [&[u8]; 32] = [
    b"0",
    b"-1",
    b"1",
    b"255",
    b"65536",
    b"2147483648",
    b"4294967296",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"1e309",
    b"-0.0",
    b"1.5",
    b"NaN",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{\"\":{\"\":{\"\":{\"\":{",
    b"]",
    b"}",
    b"null",
    b"true",
    b"..",
    b" ",
    b"/*",
];

fn damage(bytes: &mut Vec<u8>, below: &mut dyn FnMut(usize) -> usize) {
    let at = below(bytes.len() + 1);
    let end = (at + below(12)).min(bytes.len());
    match below(7) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << below(8);
            }
        }
        1 => {
            bytes.drain(at..end);
        }
        2 => {
            let piece = bytes[at..end].to_vec();
            let to = below(bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        3 => bytes.truncate(at),
        // In the place of a whole number, which stays well-formed.
        4 => {
            let digit = |byte: &u8| byte.is_ascii_digit();
            if let Some(start) = bytes[at..].iter().position(digit).map(|skip| at + skip) {
                let digits = bytes[start..].iter().take_while(|byte| digit(byte)).count();
                let with = STUMBLES[below(14)];
                bytes.splice(start..start + digits, with.iter().copied());
            }
        }
        5 => {
            let with = STUMBLES[below(STUMBLES.len())];
            bytes.splice(at..end, with.iter().copied());
        }
        _ => {
            let with = STUMBLES[below(STUMBLES.len())];
            bytes.splice(at..at, with.iter().copied());
        }
    }
}
