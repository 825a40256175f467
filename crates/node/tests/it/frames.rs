//! Datagrams on a serial line: whatever the line does to its bytes, what comes out was sent.

use headway_node::frame::{Reader, frame_bytes, write};

/// Marsaglia's xorshift.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Everything that comes out of a line with these bytes.
fn read(line: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = Reader::<{ frame_bytes(600) }>::new();
    let found = line
        .iter()
        .filter_map(|byte| reader.push(*byte).map(<[u8]>::to_vec));
    found.collect()
}

fn framed(datagram: &[u8]) -> Vec<u8> {
    let mut line = vec![7; frame_bytes(datagram.len())];
    let length = write(datagram, &mut line).expect("there is room");
    line.truncate(length);
    line
}

#[test]
fn datagrams_of_every_length_arrive_as_they_were_sent() {
    let mut state = 2009;
    for length in (0..=600).chain([254, 255, 256, 508, 509]) {
        // Many zeros, none, and anything.
        for mask in [0, 0xFF, 0x01] {
            let datagram: Vec<u8> = (0..length)
                .map(|_| (random(&mut state) as u8 & mask) | !mask >> 7)
                .collect();
            let line = framed(&datagram);
            assert_eq!(line.iter().filter(|byte| **byte == 0).count(), 2);
            assert!(line.len() <= frame_bytes(length));
            // Twice, with noise before and between.
            let noisy = [&[3, 4, 5][..], &line, &[9, 9], &line].concat();
            assert_eq!(read(&noisy), [&*datagram, &*datagram]);
        }
    }
}

#[test]
fn a_frame_that_was_harmed_is_no_datagram() {
    let mut state = 7;
    let datagram: Vec<u8> = (0..160).map(|_| random(&mut state) as u8).collect();
    let line = framed(&datagram);
    let mut harmed = 0;
    for at in 1..line.len() - 1 {
        for bit in 0..8 {
            let mut changed = line.clone();
            changed[at] ^= 1 << bit;
            harmed += usize::from(read(&changed).is_empty());
        }
        let lost = [&line[..at], &line[at + 1..]].concat();
        let repeated = [&line[..=at], &line[at..]].concat();
        harmed += usize::from(read(&lost).is_empty()) + usize::from(read(&repeated).is_empty());
    }
    assert_eq!(harmed, (line.len() - 2) * 10, "a change has passed");
    // The test notices a datagram that does come through.
    assert_eq!(read(&line), [datagram]);
}

#[test]
fn what_is_too_long_is_refused_and_forgotten() {
    let mut short = [0; frame_bytes(4) - 1];
    assert_eq!(write(&[1, 2, 3, 4], &mut short), None);
    let mut reader = Reader::<8>::new();
    let long = framed(&[5; 100]);
    assert!(long.iter().all(|byte| reader.push(*byte).is_none()));
    assert_eq!(reader.broken(), 1);
    let line = framed(&[6]);
    let found = line
        .iter()
        .filter(|byte| reader.push(**byte).is_some())
        .count();
    assert_eq!(found, 1, "a later one arrives");
}
