use super::*;

#[test]
fn the_latest_whole_state_is_found_whatever_was_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Sync::Never).unwrap();
    assert_eq!(store.state(), None);
    for round in 0..20_u8 {
        store.save_state(&[round; 100]).unwrap();
        assert_eq!(store.state(), Some(vec![round; 100]));
    }
    // A write that was cut: whichever place it hit, the other is whole.
    let path = folder.path().join("state");
    let bytes = std::fs::read(&path).unwrap();
    let mut seen = Vec::new();
    for at in [60, bytes.len() / 2 + 60] {
        let mut cut = bytes.clone();
        cut[at] ^= 0xff;
        std::fs::write(&path, &cut).unwrap();
        seen.push(store.state().unwrap()[0]);
    }
    seen.sort_unstable();
    assert_eq!(seen, [18, 19]);
    std::fs::write(&path, b"nonsense").unwrap();
    assert_eq!(store.state(), None);
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
                assert_eq!(store.state().as_ref(), Some(expected), "cut at {cut}");
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
            assert_eq!(store.state(), Some(vec![round; length]));
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
    assert_eq!(store.state(), Some(vec![2; 10]));
    assert!(
        inner.join("notes.json").exists(),
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
    assert_eq!(store.roster(), Some(signed));
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
    assert_eq!(store.notes(), notes);
}
