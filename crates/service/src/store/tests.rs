use super::*;

#[test]
fn the_latest_whole_state_is_found_whatever_was_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Sync::Never).unwrap();
    assert_eq!(store.state(), Ok(None));
    for round in 0..20_u8 {
        store.save_state(&[round; 100]).unwrap();
        assert_eq!(store.state(), Ok(Some(vec![round; 100])));
    }
    // A write that was cut: whichever place it hit, the other is whole.
    let path = folder.path().join("state");
    let bytes = std::fs::read(&path).unwrap();
    let mut seen = Vec::new();
    for at in [60, bytes.len() / 2 + 60] {
        let mut cut = bytes.clone();
        cut[at] ^= 0xff;
        std::fs::write(&path, &cut).unwrap();
        seen.push(store.state().unwrap().unwrap()[0]);
    }
    seen.sort_unstable();
    assert_eq!(seen, [18, 19]);
    for nonsense in [&b"nonsense"[..], b""] {
        std::fs::write(&path, nonsense).unwrap();
        let doubt = store.state().unwrap_err().to_string();
        assert!(doubt.contains("neither of its two places"), "{doubt}");
    }
}

#[test]
fn a_write_that_was_cut_anywhere_leaves_the_state_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let mut store = Store::open(folder.path(), Sync::Never).unwrap();
    let states: Vec<Vec<u8>> = (0..5_u8)
        .map(|round| (0..109).map(|at| round.wrapping_mul(at)).collect())
        .collect();
    store.save_state(&states[0]).unwrap();
    for pair in states.windows(2) {
        let before = std::fs::read(&path).unwrap();
        store.save_state(&pair[1]).unwrap();
        let after = std::fs::read(&path).unwrap();
        assert_eq!(before.len(), after.len());
        let written = before.iter().zip(&after).rposition(|(a, b)| a != b);
        for cut in 0..=written.unwrap() {
            // Some of the write has reached the disk, from either end.
            for torn in [
                [&after[..cut], &before[cut..]].concat(),
                [&before[..cut], &after[cut..]].concat(),
            ] {
                std::fs::write(&path, &torn).unwrap();
                let expected = if torn == after { &pair[1] } else { &pair[0] };
                assert_eq!(
                    store.state().as_ref(),
                    Ok(&Some(expected.clone())),
                    "cut at {cut}"
                );
            }
        }
        std::fs::write(&path, &after).unwrap();
    }
}

#[test]
fn another_length_and_a_restart_go_on_from_the_latest() {
    let folder = tempfile::tempdir().unwrap();
    for length in [10, 20, 10] {
        let mut store = Store::open(folder.path(), Sync::Always).unwrap();
        for round in 0..3_u8 {
            store.save_state(&vec![round; length]).unwrap();
            assert_eq!(store.state(), Ok(Some(vec![round; length])));
        }
    }
}

#[test]
fn one_node_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Store::open(folder.path(), Sync::Never).unwrap();
    assert!(Store::open(folder.path(), Sync::Never).is_err());
}

#[test]
fn a_folder_that_is_given_up_in_a_moment_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let first = Store::open(folder.path(), Sync::Never).unwrap();
    let ends = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(first);
    });
    assert!(Store::open(folder.path(), Sync::Never).is_ok());
    ends.join().unwrap();
}

#[test]
fn a_folder_that_is_gone_is_an_error_and_the_next_try_may_work() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    let mut store = Store::open(&inner, Sync::Never).unwrap();
    std::fs::remove_dir_all(&inner).unwrap();
    assert!(store.save_state(&[1; 10]).is_err());
    assert!(store.save_notes(&Notes::default()).is_err());
    std::fs::create_dir_all(&inner).unwrap();
    store.save_state(&[2; 10]).unwrap();
    store.save_notes(&Notes::default()).unwrap();
    assert_eq!(store.state(), Ok(Some(vec![2; 10])));
    assert!(
        inner.join("notes").exists(),
        "the same notes are tried again"
    );
}

#[test]
fn rosters_and_notes_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Sync::Never).unwrap();
    let mut signed = b"{\"version\":1}".to_vec();
    signed.extend_from_slice(&[0xab; 32]);
    store.save_roster(&signed).unwrap();
    assert_eq!(store.roster(), Ok(Some(signed)));
    let notes = Notes {
        leaving: vec![("x".into(), "h:1".into())],
        run: Some(Run {
            id: 56,
            session: 78,
            process: Some((12, 34)),
        }),
        ..Notes::default()
    };
    store.save_notes(&notes).unwrap();
    assert_eq!(store.notes(), Ok(notes));
}

#[test]
fn whatever_is_damaged_is_a_doubt_and_never_an_empty_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Sync::Never).unwrap();
    store
        .save_roster(&[b"{}".as_slice(), &[7; 32]].concat())
        .unwrap();
    store
        .save_notes(&Notes {
            fence: 9,
            ..Notes::default()
        })
        .unwrap();
    assert_eq!(store.kept().doubts, []);
    for (name, what) in [("membership", Stored::Roster), ("notes", Stored::Notes)] {
        let path = folder.path().join(name);
        let whole = std::fs::read(&path).unwrap();
        let cuts = (0..whole.len()).map(|end| whole[..end].to_vec());
        let flips = (0..whole.len()).map(|at| {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            flipped
        });
        for damaged in cuts.chain(flips) {
            std::fs::write(&path, &damaged).unwrap();
            let doubts = store.kept().doubts;
            let found = matches!(&doubts[..], [Doubt::Unreadable(found, _)] if *found == what);
            assert!(found, "{name}: {doubts:?}");
        }
        std::fs::write(&path, &whole).unwrap();
    }
}

/// What was granted since is in none of these.
#[test]
fn notes_of_before_the_state_are_a_doubt_and_notes_that_found_no_room_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    let notes = |fence| Notes {
        fence,
        ..Notes::default()
    };
    for (sync, restarts) in [(Sync::Never, false), (Sync::Always, true)] {
        let mut store = Store::open(folder.path(), sync).unwrap();
        store.save_notes(&notes(1)).unwrap();
        store.save_state(&[1; 10]).unwrap();
        let old = std::fs::read(&path).unwrap();
        if restarts {
            drop(store);
            store = Store::open(folder.path(), sync).unwrap();
        }
        store.save_notes(&notes(2)).unwrap();
        assert_eq!(store.kept().doubts, [], "later than the state");
        // No room for later notes; the state goes on.
        std::fs::create_dir(folder.path().join("notes.new")).unwrap();
        assert!(store.save_notes(&notes(3)).is_err());
        std::fs::remove_dir(folder.path().join("notes.new")).unwrap();
        store.save_state(&[2; 10]).unwrap();
        assert_eq!(store.notes(), Ok(notes(2)));
        let later = std::fs::read(&path).unwrap();
        for before in [Some(&old), None] {
            match before {
                Some(old) => std::fs::write(&path, old).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let doubt = store.notes().unwrap_err();
            assert!(doubt.to_string().contains("there were later ones"));
            assert_eq!(store.kept().doubts, [doubt]);
        }
        std::fs::write(&path, later).unwrap();
        assert_eq!(store.notes(), Ok(notes(2)));
    }
}

/// Another boot is one whose number is another.
#[test]
fn a_state_of_before_a_power_cut_counts_only_if_it_was_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    for sync in [Sync::Never, Sync::Always] {
        let mut store = Store::open(folder.path(), sync).unwrap();
        store.boot ^= u64::from(sync == Sync::Never);
        store.save_state(&[1; 10]).unwrap();
        store.save_state(&[2; 10]).unwrap();
        let expected = match sync {
            Sync::Never => Err(Doubt::PowerCut),
            Sync::Always => Ok(Some(vec![2; 10])),
        };
        assert_eq!(store.state(), expected);
        // A clean stop is as good, once, and for this state only.
        store.finish().unwrap();
        assert_eq!(store.state(), Ok(Some(vec![2; 10])));
        store.save_state(&[3; 10]).unwrap();
        assert_eq!(store.state().is_ok(), sync == Sync::Always);
        store.finish().unwrap();
        assert_eq!(store.kept().state, Some(vec![3; 10]));
        assert_eq!(store.kept().state.is_some(), sync == Sync::Always);
    }
}

/// The file alone is restored or deleted, and what is beside it is not.
#[test]
fn a_membership_that_is_put_back_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Sync::Never).unwrap();
    let file = folder.path().join("membership");
    store.save_roster(b"one").unwrap();
    let old = std::fs::read(&file).unwrap();
    store.save_roster(b"two").unwrap();
    drop(store);
    for is_deleted in [false, true] {
        match is_deleted {
            true => std::fs::remove_file(&file).unwrap(),
            false => std::fs::write(&file, &old).unwrap(),
        }
        let store = Store::open(folder.path(), Sync::Never).unwrap();
        let doubt = store.roster().unwrap_err().to_string();
        assert!(doubt.contains("deleted or restored"), "{doubt}");
    }
    // What is written then is later than all that there was.
    let mut store = Store::open(folder.path(), Sync::Never).unwrap();
    store.save_roster(b"three").unwrap();
    drop(store);
    let store = Store::open(folder.path(), Sync::Never).unwrap();
    assert_eq!(store.roster(), Ok(Some(b"three".to_vec())));
    drop(store);
    std::fs::write(folder.path().join("roster"), b"{}").unwrap();
    let old = Store::open(folder.path(), Sync::Never).unwrap_err();
    assert!(old.to_string().contains("of Headway 0.2"), "{old}");
}
