//! Files and datagrams that are no longer what they were: refused with a place, or read
//! as something that survives being written.

use headway_node::{Key, RingId};
use headway_service::config::{Place, Settings, Sources, example, explain};
use headway_service::identity::Identity;
use headway_service::internal::control::{self, CHUNK_BYTES, Message, Part, Sender};
use headway_service::internal::roster::{Mark, Member, Proved, Roster};
use headway_service::internal::{Entry, Grant, Holder, Ledger, Notes, Run, Store, Sync};
use headway_testkit::damage::{self, below};
use headway_testkit::tier::pick;

fn key() -> Key {
    Key::new(b"a key for tests only").unwrap()
}

/// Fuzzing that only knocks at the door, or that is always let in, shows nothing.
fn both(read: u64, refused: u64) {
    let share = (read + refused) / 100;
    assert!(
        read > share && refused > share,
        "{read} read, {refused} not"
    );
}

#[test]
fn a_damaged_configuration_is_refused_at_its_place_or_read() {
    let mut sample = example();
    for number in 1..=3 {
        let key = Identity::new(&[number; 64]).public();
        sample = sample.replacen("hw1…", &key.to_string(), 1);
    }
    let (mut read, mut refused) = (0, 0);
    for seed in 0..pick(2_000, 20_000, 20_000) {
        let bytes = damage::damaged(sample.as_bytes(), &mut below(seed));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = text.lines().count().max(1) + 1;
        let sources = Sources {
            text,
            ..Sources::default()
        };
        match Settings::read(&sources) {
            Ok(settings) => {
                read += 1;
                assert!(!explain(&settings, None).is_empty());
            }
            Err(mistakes) => {
                refused += 1;
                assert!(!mistakes.is_empty(), "seed {seed}");
                for mistake in mistakes {
                    assert!(!mistake.message.is_empty(), "seed {seed}");
                    if let Place::File { line, column } = mistake.place {
                        let there = (1..=lines).contains(&line) && column > 0;
                        assert!(there, "seed {seed}: {line}:{column} {mistake}");
                    }
                }
            }
        }
    }
    both(read, refused);
}

fn roster() -> Roster {
    let member = |(at, name): (usize, &&str)| Member {
        name: (*name).into(),
        address: format!("10.0.0.{at}:7400"),
        http: (at == 2).then(|| "10.0.0.2:80".into()),
        key: Some(Identity::new(&[at as u8; 64]).public()),
    };
    Roster {
        version: 17,
        ring: "web".into(),
        members: ["a", "b", "c", "d"]
            .iter()
            .enumerate()
            .map(member)
            .collect(),
        bypassed: vec!["c".into()],
        ..Roster::default()
    }
}

#[test]
fn a_damaged_roster_is_refused_or_the_one_way_to_write_what_it_says() {
    let sample = roster().bytes();
    let (mut read, mut refused) = (0, 0);
    for seed in 0..pick(2_000, 60_000, 60_000) {
        let bytes = damage::damaged(&sample, &mut below(seed));
        match Proved::read(&bytes, "web") {
            Ok(proved) => {
                read += 1;
                let again = Proved::new(proved.roster().clone());
                assert_eq!(again.bytes(), bytes, "seed {seed}");
                assert_eq!(proved.mark(), again.mark());
                assert!(proved.roster().check().is_ok());
            }
            Err(_) => refused += 1,
        }
    }
    both(read, refused);
}

/// The same of datagrams between services.
#[test]
fn a_damaged_control_datagram_is_refused_or_the_one_way_to_write_what_it_says() {
    let ring = RingId([5; 16]);
    let sender = Sender {
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
    };
    let messages = [
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
            grant: Grant { token: 3, fence: 7 },
        },
        Message::Echo {
            nonce: 99,
            later: true,
        },
        Message::Part(Part {
            number: 7,
            part: 0,
            parts: 2,
            bytes: vec![4; 30],
        }),
    ];
    let (mut read, mut refused) = (0, 0);
    for seed in 0..pick(2_000, 60_000, 60_000) {
        let message = &messages[seed as usize % messages.len()];
        let whole = control::write(ring, &sender, message, &key());
        let unsigned = &whole[..whole.len() - headway_node::MAC_BYTES];
        let mut bytes = damage::damaged(unsigned, &mut below(seed));
        let mac = key().sign(&bytes);
        bytes.extend_from_slice(&mac);
        match control::read(&bytes, ring, &[key()], 1) {
            Ok((sender, message)) => {
                read += 1;
                let again = control::write(ring, &sender, &message, &key());
                assert_eq!(again, bytes, "seed {seed}");
            }
            Err(_) => refused += 1,
        }
    }
    both(read, refused);
}

/// Whatever has become of its files, a node starts with one of the states that it had, or
/// with a doubt; and keeps what comes after.
#[test]
fn damaged_files_of_a_node_are_what_they_were_or_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let kept = Proved::new(roster()).bytes().to_vec();
    let states: Vec<Vec<u8>> = (0..4_u8).map(|round| vec![round; 300]).collect();
    let notes = Notes {
        permits: Ledger {
            waiting: vec![Holder::FleetLock {
                group: "all".into(),
                id: "host".into(),
            }],
            using: vec![Entry {
                token: 1,
                fence: 99,
                holder: Holder::Command,
                collected: true,
                stopped: false,
                length: None,
            }],
        },
        leaving: vec![("c".into(), "10.0.0.3:7400".into())],
        run: Some(Run {
            id: 5,
            session: 6,
            process: None,
        }),
        fence: 99,
        invitations: Vec::new(),
    };
    let mut store = Store::open(folder.path(), Sync::Never).unwrap();
    for state in &states {
        store.save_state(state).unwrap();
    }
    store.save_roster(&kept).unwrap();
    store.save_notes(&notes).unwrap();
    let names = ["state", "membership", "notes"];
    let samples = names.map(|name| std::fs::read(path(name)).unwrap());
    drop(store);
    let (mut read, mut refused) = (0, 0);
    for seed in 0..pick(2_000, 3_000, 3_000) {
        let mut below = below(seed);
        for (name, sample) in names.iter().zip(&samples) {
            damage::overwrite(&path(name), &damage::damaged(sample, &mut below)).unwrap();
        }
        let mut store = Store::open(folder.path(), Sync::Never).unwrap();
        // A file that is there is never read as if it were not.
        match store.state() {
            Ok(state) => {
                read += 1;
                assert!(states.contains(&state.unwrap()), "seed {seed}");
            }
            Err(_) => refused += 1,
        }
        if let Ok(bytes) = store.roster() {
            assert_eq!(bytes, Some(kept.clone()), "seed {seed}");
        }
        if let Ok(read) = store.notes() {
            assert_eq!(read, notes, "seed {seed}");
        }
        if seed % 100 == 0 {
            store.save_notes(&notes).unwrap();
            assert_eq!(store.notes().unwrap(), notes);
            store.save_state(b"another").unwrap();
            assert_eq!(store.state().unwrap().unwrap(), b"another");
            store.save_roster(&kept).unwrap();
            assert_eq!(store.roster().unwrap().unwrap(), kept.clone());
        }
    }
    both(read, refused);
}
