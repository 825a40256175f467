//! The datagrams printed in docs/dev/node.md are what the code writes and reads.

use headway_node::wire::{self, Header, Layout, Released, field};
use headway_node::{Key, Rejected, RingId, Rule};

type Token = (u32, u64, &'static [u8]);

struct Vector {
    name: &'static str,
    layout: Layout,
    header: Header,
    tokens: &'static [Token],
    key: Option<&'static [u8]>,
}

fn vectors() -> [Vector; 3] {
    let header = Header {
        ring: RingId(*b"a ring of eight."),
        sender: 3,
        receiver: 4,
        joining: false,
        incarnation: 0x0123_4567_89AB_CDEF,
        sequence: 42,
        challenge: 0x1111_2222_3333_4444,
        echo: 0x5555_6666_7777_8888,
        phase: 9,
        released: None,
    };
    [
        Vector {
            name: "A",
            layout: Layout {
                tokens: 2,
                payload: 0,
                rule: Rule::LockStep,
                version: wire::VERSION,
            },
            header,
            tokens: &[(5, 100, b""), (6, 101, b"")],
            key: None,
        },
        Vector {
            name: "B",
            layout: Layout {
                tokens: 1,
                payload: 8,
                rule: Rule::LockStep,
                version: wire::VERSION,
            },
            header: Header {
                released: Some(Released {
                    token: 0,
                    previous: 5,
                }),
                ..header
            },
            tokens: &[(6, 102, b"hello")],
            key: Some(b"sixteen bytes or more"),
        },
        Vector {
            name: "C",
            layout: Layout {
                tokens: 1,
                payload: 0,
                rule: Rule::LockStep,
                version: wire::VERSION,
            },
            header: Header {
                joining: true,
                sequence: 1,
                echo: 0,
                phase: -8,
                ..header
            },
            tokens: &[(0, 0, b"")],
            key: Some(b"sixteen bytes or more"),
        },
    ]
}

fn written(vector: &Vector) -> Vec<u8> {
    let mut buffer = vec![0xEE; vector.layout.bytes()];
    let tokens = vector.tokens.iter().copied();
    let bytes = vector
        .layout
        .write(&vector.header, tokens, None, &key(vector), &mut buffer);
    assert_eq!(bytes, buffer.len());
    buffer
}

fn key(vector: &Vector) -> Key {
    match vector.key {
        Some(secret) => Key::new(secret).expect("long enough"),
        None => Key::none(),
    }
}

/// The hexadecimal digits below the line `Vector NAME` of the document.
fn printed(document: &str, name: &str) -> Vec<u8> {
    let heading = format!("**Vector {name}**");
    let block = document
        .split(&heading)
        .nth(1)
        .and_then(|rest| rest.split("```").nth(1))
        .unwrap_or_else(|| panic!("docs/dev/node.md has no {heading}"));
    let digits: Vec<u8> = block
        .trim_start_matches("text")
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dev/node.md");
    std::fs::read_to_string(path).expect("docs/dev/node.md is there")
}

fn hexadecimal(bytes: &[u8]) -> String {
    let lines = bytes.chunks(16).map(|line| {
        let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    });
    lines.collect::<Vec<String>>().join("\n")
}

#[test]
fn what_is_written_is_what_is_printed() {
    let document = document();
    for vector in vectors() {
        let expected = written(&vector);
        assert!(
            printed(&document, vector.name) == expected,
            "vector {} is\n{}",
            vector.name,
            hexadecimal(&expected)
        );
    }
}

#[test]
fn what_is_printed_is_read_and_nothing_near_it_is() {
    let document = document();
    for vector in vectors() {
        let bytes = printed(&document, vector.name);
        let read = vector
            .layout
            .read(&bytes, &key(&vector))
            .expect("it is one");
        assert_eq!(read.header, vector.header);
        assert_eq!(read.tokens().collect::<Vec<_>>(), vector.tokens);
        assert_eq!(
            vector.layout.read(&bytes[1..], &key(&vector)).err(),
            Some(Rejected::Length)
        );
        if vector.key.is_none() {
            continue;
        }
        // With a key, no bit can be changed.
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(
                vector.layout.read(&changed, &key(&vector)).is_err(),
                "bit {bit}"
            );
        }
        let other = Key::new(b"another key, as long").expect("long enough");
        assert_eq!(
            vector.layout.read(&bytes, &other).err(),
            Some(Rejected::Unauthenticated)
        );
    }
}

/// The table of the document gives the offsets that the code uses.
#[test]
fn the_printed_offsets_are_those_of_the_code() {
    let document = document();
    let table = document.split("## The wire").nth(1).expect("the section");
    let printed: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .filter(|bytes| bytes.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    let byte = |at| at..at + 1;
    let fields = [
        field::MAGIC,
        byte(field::VERSION),
        byte(field::FLAGS),
        field::LENGTH,
        field::TOKENS,
        field::RING,
        field::SENDER,
        field::RECEIVER,
        field::INCARNATION,
        field::SEQUENCE,
        field::CHALLENGE,
        field::ECHO,
        field::PHASE,
        field::RELEASED,
        byte(field::PAYLOAD),
        byte(field::RESERVED),
        field::PREVIOUS,
    ];
    let expected = fields.map(|field| match field.len() {
        1 => field.start.to_string(),
        _ => format!("{field:?}"),
    });
    assert_eq!(printed, expected);
}

#[test]
fn the_sender_is_read_from_any_datagram_that_is_long_enough() {
    let bytes = written(&vectors()[0]);
    assert_eq!(wire::sender(&bytes), Some(3));
    assert_eq!(wire::sender(&bytes[..28]), Some(3));
    assert_eq!(wire::sender(&bytes[..27]), None);
}

#[test]
fn a_program_speaks_the_version_before_its_own_too() {
    assert_eq!([1, 2, 3].map(wire::oldest), [1, 1, 2]);
}
