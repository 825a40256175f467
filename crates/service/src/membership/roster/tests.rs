use headway_node::Key;

use super::*;

pub(crate) fn roster(names: &[&str]) -> Roster {
    Roster {
        version: 1,
        ring: "web".into(),
        members: names
            .iter()
            .enumerate()
            .map(|(at, name)| Member {
                name: (*name).into(),
                address: format!("127.0.0.1:{}", 7400 + at),
                http: None,
            })
            .collect(),
        ..Roster::default()
    }
}

fn key() -> Key {
    Key::new(b"a key for tests only").unwrap()
}

#[test]
fn a_signed_roster_is_read_back_and_no_bit_of_it_can_change() {
    let signed = Signed::new(roster(&["a", "b", "c"]), &key());
    assert_eq!(
        Signed::read(signed.bytes(), "web", &key()),
        Ok(signed.clone())
    );
    for at in 0..signed.bytes().len() {
        let mut bytes = signed.bytes().to_vec();
        bytes[at] ^= 1;
        assert_eq!(
            Signed::read(&bytes, "web", &key()),
            Err(RosterError::Unsigned)
        );
    }
    let other = Signed::read(signed.bytes(), "mail", &key());
    assert_eq!(other, Err(RosterError::OtherRing("web".into())));
    let forged = Signed::new(roster(&["a"]), &Key::new(b"another key for this").unwrap());
    assert_eq!(
        Signed::read(forged.bytes(), "web", &key()),
        Err(RosterError::Unsigned)
    );
}

#[test]
fn changes_count_up_and_keep_the_order() {
    let first = roster(&["a", "b", "c"]);
    let new = Member {
        name: "x".into(),
        address: "127.0.0.1:9000".into(),
        http: None,
    };
    let second = first.with(new.clone(), Some("a")).unwrap();
    let names: Vec<&str> = second.members.iter().map(|member| &*member.name).collect();
    assert_eq!((second.version, names), (2, vec!["a", "x", "b", "c"]));
    assert!(matches!(
        second.with(new, None),
        Err(RosterError::Twice { .. })
    ));
    let third = second.bypassing("b", Bypass::LeaveOut).unwrap();
    assert_eq!(third.index("c"), Some(2));
    let [before, after] = third.around("b").unwrap();
    assert_eq!((&*before.name, &*after.name), ("x", "c"));
    let fourth = third.without("b").unwrap();
    assert!(fourth.bypassed.is_empty() && fourth.check().is_ok());
    assert_eq!(fourth.without("b"), Err(RosterError::Unknown("b".into())));
}

#[test]
fn later_versions_win_then_digests_and_first_ones_never_replace_each_other() {
    let mark = |version, digest| Mark {
        version,
        digest: [digest; 32],
        size: 1,
    };
    assert!(mark(2, 0).replaces(&mark(1, 9)));
    assert!(mark(2, 5).replaces(&mark(2, 4)) && !mark(2, 4).replaces(&mark(2, 5)));
    assert!(!mark(1, 5).replaces(&mark(1, 4)) && mark(1, 5).contradicts(&mark(1, 4)));
    assert!(mark(1, 0).replaces(&Mark::default()));
}

#[test]
fn what_cannot_be_an_address() {
    for (address, valid) in [
        ("10.0.0.1:7400", true),
        ("[::1]:7400", true),
        ("host.example:1", true),
        ("host", false),
        (":7400", false),
        ("host:0", false),
        ("host:70000", false),
        ("ho st:7400", false),
    ] {
        assert_eq!(valid_address(address), valid, "{address}");
    }
}
