//! Faults of the commands that study rings, each by the run that showed it.

use std::path::Path;

use crate::common::{headway, headway_in, run_with_input};

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("written");
}

/// A place that holds its token for no time fires at time 0, after round 0 was shown.
#[test]
fn a_play_that_fires_at_once_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let net = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
               type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\
               <place id=\"p\"><initialMarking><text>1</text></initialMarking>\
               <toolspecific tool=\"headway\" version=\"1\"><holding rounds=\"0\"/></toolspecific>\
               </place><place id=\"q\"/><transition id=\"t\"/>\
               <arc id=\"a\" source=\"p\" target=\"t\"/><arc id=\"b\" source=\"t\" target=\"q\"/>\
               </page></net></pnml>";
    write(folder.path(), "n.pnml", net);
    let played = headway_in(folder.path(), "petri play n.pnml --format json").json();
    assert_eq!(played["played"].as_array().expect("rounds").len(), 2);
}

/// The same command again computes nothing and replaces nothing.
#[test]
fn a_complete_sweep_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sweep --processes 6 --tokens 2 --samples 3 --output done";
    assert_eq!(headway_in(folder.path(), sweep).code, 0);
    let journal = folder.path().join("done/cells.jsonl");
    // A journal that is begun anew would not have this blank.
    let written = std::fs::read_to_string(&journal).expect("it is there");
    let marked = format!("{} \n", written.trim_end());
    std::fs::write(&journal, &marked).expect("written");
    assert_eq!(headway_in(folder.path(), sweep).code, 0);
    assert_eq!(
        std::fs::read_to_string(&journal).expect("it is there"),
        marked
    );
}

#[test]
fn an_exported_ring_is_as_large_as_the_help_says() {
    let exported = headway("export promela --model k-state");
    assert!(
        exported.out.contains("ring(6), n = 6, k = 6"),
        "{}",
        exported.out
    );
    let help = headway("export --help").out;
    assert!(help.contains("Number of processes [default: 6]"), "{help}");
}

/// A device may never end; what is wrong is said at once.
#[test]
fn a_device_is_not_read() {
    for arguments in [
        "run --start /dev/zero",
        "forecast /dev/zero",
        "check /dev/zero",
    ] {
        let ran = headway(arguments);
        assert_eq!(ran.code, 2, "{arguments}");
        assert!(
            ran.err.contains("/dev/zero is a device, not a file"),
            "{}",
            ran.err
        );
    }
}

/// What only the states of a protocol show has a place, too.
#[test]
fn a_value_outside_its_domain_is_shown_where_it_is_assigned() {
    let text = "graph line(2)\nvariable x: 0..2\nprocess all:\n  a: x < 3 -> x := x + 1\n\
                legitimate: x[0] = 2\n";
    for mark in ["", "\u{feff}"] {
        let input = format!("{mark}{text}");
        let ran = run_with_input(Path::new("."), &["check", "-"], input.as_bytes());
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(
            ran.err
                .contains("-:4:15: `a` of process 0 assigns 3 to `x`"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("a: x < 3 -> x := x + 1"), "{}", ran.err);
    }
}

/// Nobody waits for states that no file could hold.
#[test]
fn too_many_states_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let text = "graph ring(20) variable x: 0..9 process all: a: x = 0 -> x := 1\n\
                legitimate: x[0] = 1";
    write(folder.path(), "large.protocol", text);
    let ran = headway_in(folder.path(), "check large.protocol --states all.csv");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err
            .contains("100000000000000000000 states are too many to write"),
        "{}",
        ran.err
    );
    assert!(!folder.path().join("all.csv").exists());
}

/// A jam is known for one before it is seen, and has no last rest.
#[test]
fn a_short_jam_does_not_recover() {
    let ran = headway("run -n 10 -m 3 -d 4 --rounds 5");
    assert!(ran.out.contains("a jam never ends"), "{}", ran.out);
    assert!(
        ran.out.contains("In a jam tokens rest again and again"),
        "{}",
        ran.out
    );
    for said in ["may yet recover", "last rest was"] {
        assert!(!ran.out.contains(said), "{}", ran.out);
    }
    let ran = headway("run -n 10 -m 2 -d 4 --rounds 1 --start piled");
    assert!(ran.out.contains("it may yet recover"), "{}", ran.out);
}
