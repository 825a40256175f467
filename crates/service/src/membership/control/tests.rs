use super::*;
use proptest::prelude::*;

fn key() -> Key {
    Key::new(b"a key for tests only").unwrap()
}

fn sender() -> Sender {
    Sender {
        name: "a".into(),
        address: "127.0.0.1:7400".into(),
        mark: Mark {
            version: 3,
            digest: [9; 32],
            size: 77,
        },
        wire: 1,
        newest: 1,
        boot: 5,
        drained: true,
        on_ring: false,
    }
}

/// Seven voters and an operator, and four of those before have signed.
fn largest_link() -> Link {
    let mut bytes = sender().mark.bytes();
    bytes.extend([8; 32]);
    bytes.extend([7, 1]);
    bytes.extend([3; 8 * 32]);
    bytes.push(2);
    bytes.extend([3; 3 * 8 + 32 + 4 * 65]);
    Link::read(&bytes).unwrap()
}

#[test]
fn what_is_written_is_read_and_one_flipped_bit_is_not() {
    let ring = RingId([5; 16]);
    for message in [
        Message::Offer,
        Message::Want { chunk: 7 },
        Message::Chunk {
            digest: [1; 32],
            chunk: 3,
            bytes: vec![4; CHUNK_BYTES],
        },
        Message::Ping { nonce: 99 },
        Message::Pong { nonce: 99 },
        Message::Ask {
            nonce: 99,
            grant: Grant {
                token: 3,
                fence: 1 << 50,
            },
        },
        Message::Echo {
            nonce: 99,
            later: true,
        },
        Message::Rollouts {
            bytes: vec![4; CHUNK_BYTES],
        },
        Message::Part(Part {
            number: 2,
            part: 3,
            parts: 4,
            bytes: vec![5; CHUNK_BYTES],
        }),
        Message::Alive(Alive {
            disk: (1, 2),
            may_vote: true,
            asks: false,
            heard: Some((3, 4, 5)),
        }),
        Message::Alive(Alive {
            disk: (1, 2),
            may_vote: false,
            asks: true,
            heard: None,
        }),
        Message::Prove { after: 7 },
        Message::Link(largest_link()),
    ] {
        let bytes = write(ring, &sender(), &message, &key());
        assert!(is_control(&bytes) && bytes.len() <= 1452);
        assert_eq!(super::sender(&bytes), Some("a"));
        assert_eq!(read(&bytes, ring, &[], 1), Err(Refused::Stranger));
        assert_eq!(read(&bytes, ring, &[key()], 1), Ok((sender(), message)));
        // The same program, the next and the one after that.
        assert!(read(&bytes, ring, &[key()], 2).is_ok());
        assert_eq!(read(&bytes, ring, &[key()], 3), Err(Refused::Wire(1)));
        assert_eq!(
            read(&bytes, RingId([6; 16]), &[key()], 1),
            Err(Refused::Ring)
        );
        for at in 2..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert_eq!(
                read(&changed, ring, &[key()], 1),
                Err(Refused::Unauthenticated)
            );
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes, RingId([5; 16]), &[key()], 1);
        let _ = super::sender(&bytes);
        // The same with a valid signature, so that the parser is reached.
        let mut signed = b"HC\x01".to_vec();
        signed.append(&mut bytes);
        if signed.len() > 20 {
            signed[4..20].copy_from_slice(&[5; 16]);
        }
        let mac = key().sign(&signed);
        signed.extend_from_slice(&mac);
        let _ = read(&signed, RingId([5; 16]), &[key()], 1);
    }
}
