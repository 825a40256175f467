use super::*;
use crate::identity::Identity;

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
                key: Some(identity(at as u8 + 101).public()),
                ..Member::default()
            })
            .collect(),
        ..Roster::default()
    }
}

fn identity(number: u8) -> Identity {
    Identity::new(&[number; 64])
}

#[test]
fn a_roster_is_read_as_it_was_written_and_only_on_its_ring() {
    let proved = Proved::new(roster(&["a", "b", "c"]));
    assert_eq!(Proved::read(proved.bytes(), "web"), Ok(proved.clone()));
    let other = Proved::read(proved.bytes(), "mail");
    assert_eq!(other, Err(RosterError::OtherRing("web".into())));
    let spaced = [b" ", proved.bytes()].concat();
    assert_eq!(Proved::read(&spaced, "web"), Err(RosterError::Malformed));
}

#[test]
fn every_member_has_a_key_of_its_own() {
    let mut roster = roster(&["a", "b", "c"]);
    for (number, member) in (1..).zip(&mut roster.members) {
        member.key = Some(identity(number).public());
    }
    assert_eq!(roster.check(), Ok(()));
    let mut mixed = roster.clone();
    mixed.members[1].key = None;
    assert_eq!(mixed.check(), Err(RosterError::NoKey("b".into())));
    let same = roster.with_key("c", identity(1).public());
    assert_eq!(same, Err(RosterError::SameKey("a".into(), "c".into())));
    // Half of somebody's key, so that its signatures would count twice.
    let mut bytes = [2; 64];
    bytes[..32].fill(7);
    let half = roster.with_key("c", Identity::new(&bytes).public());
    assert_eq!(half, Err(RosterError::SameKey("b".into(), "c".into())));
    let other = roster.with_key("c", identity(9).public()).unwrap();
    assert_eq!((other.version, other.check()), (2, Ok(())));
}

#[test]
fn changes_count_up_and_keep_the_order() {
    let first = roster(&["a", "b", "c"]);
    let new = Member {
        name: "x".into(),
        address: "127.0.0.1:9000".into(),
        key: Some(identity(99).public()),
        ..Member::default()
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
    assert!(mark(2, 5).contradicts(&mark(2, 4)) && !mark(2, 5).contradicts(&mark(2, 5)));
    assert!(!mark(2, 5).contradicts(&mark(3, 5)) && !mark(0, 5).contradicts(&mark(0, 4)));
    assert!(!mark(1, 5).replaces(&mark(1, 4)) && mark(1, 5).contradicts(&mark(1, 4)));
    assert!(mark(1, 0).replaces(&Mark::default()));
}

/// By trying all numbers of tokens.
#[test]
fn as_many_tokens_travel_as_fit() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    for members in 2..=names.len() {
        for (tokens, separation) in (1..9).flat_map(|m| (1..7).map(move |d| (m, d))) {
            let mut roster = roster(&names[..members]);
            (roster.terms.tokens, roster.terms.separation) = (tokens, separation);
            let fits =
                |m: &u32| headway_node::Plan::of_fleet(members as u32, *m, separation).is_ok();
            assert_eq!(Some(roster.tokens()), (1..=tokens).rev().find(fits));
            assert!(roster.plan().is_ok());
        }
    }
}

#[test]
fn terms_that_no_ring_could_have_are_refused_and_others_are_the_next_version() {
    let first = roster(&["a", "b", "c", "d"]);
    let terms = |change: fn(&mut Terms)| {
        let mut terms = first.terms;
        change(&mut terms);
        first.under(terms).map_err(|why| why.to_string())
    };
    let next = terms(|terms| (terms.tokens, terms.wire) = (3, 2)).unwrap();
    assert_eq!(
        (next.version, next.terms.tokens, next.terms.wire),
        (2, 3, 2)
    );
    for (wrong, text) in [
        (terms(|_| {}), "nothing would be different"),
        (
            terms(|terms| terms.tokens = 4),
            "need 5 nodes, one of slack",
        ),
        (terms(|terms| terms.tokens = 0), "at least 1"),
        (terms(|terms| terms.wire = 3), "does not follow 1"),
        (terms(|terms| terms.stop_timeout_ms = 99), "at least 100ms"),
        (terms(|terms| terms.refresh_ms = 0), "`refresh`"),
    ] {
        assert!(wrong.clone().unwrap_err().contains(text), "{wrong:?}");
    }
    // What fits no more is no reason to refuse other times.
    let mut few = first.without("a").unwrap();
    (few.terms.tokens, few.terms.separation) = (9, 1);
    let terms = Terms {
        tick_ms: 7,
        ..few.terms
    };
    assert!(few.under(terms).is_ok());
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
