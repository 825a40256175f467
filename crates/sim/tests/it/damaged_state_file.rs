//! State files that are no longer what they were: refused with a place, or read as
//! something that survives being written.

use std::borrow::Cow;

use headway_core::{Configuration, Program, Ring, Separation};
use headway_sim::StateFile;
use headway_sim::seed::{Purpose, Random};
use headway_sim::state_file::{AsStateFile, render};
use headway_testkit::{damage, tier};

/// One with every program, one with few fields, one with many processes.
fn samples() -> [String; 3] {
    let ring = Ring::new(Separation::new(3).unwrap(), Program::ALL.to_vec()).unwrap();
    let mut state = Configuration::empty(&ring, 2, 12);
    state.processes[0].resting = 2;
    state.processes[0].counter = 1;
    let variables = state.measuring.get_mut(&2).unwrap();
    (variables.timing, variables.elapsed) = (true, 7);
    let long = Ring::with_delays(Separation::new(5).unwrap(), 20, [0, 7]).unwrap();
    let few = "{\"separation\": 1, \"processes\": [{\"program\": \"delay\"},\n\
               {\"program\": \"measure\", \"tokens\": 3}]}";
    [
        render(&ring, &state),
        few.to_owned(),
        render(&long, &Configuration::piled(&long, 4, 0)),
    ]
}

#[test]
fn a_damaged_file_is_refused_or_read() {
    let files = tier::pick(2_000, 200_000, 2_000_000);
    let samples = samples();
    let (mut read, mut refused) = (0, 0);
    for seed in 0..files {
        let mut random = Random::new(seed, Purpose::Start);
        let sample = &samples[seed as usize % samples.len()];
        let bytes = damage::damaged(sample.as_bytes(), &mut |bound| random.index(bound));
        let text = String::from_utf8_lossy(&bytes);
        match StateFile::parse(&text) {
            Ok(file) => {
                read += 1;
                assert_eq!(file.ring.admits(&file.configuration), Ok(()), "{text}");
                let same = AsStateFile {
                    ring: &file.ring,
                    state: Cow::Borrowed(&file.configuration),
                };
                let same = serde_json::to_string(&same).unwrap();
                assert_eq!(StateFile::parse(&same).as_ref(), Ok(&file), "{text}");
                assert_eq!(StateFile::parse(&file.render()), Ok(file), "{text}");
            }
            Err(error) => {
                refused += 1;
                let lines = text.lines().count() + 1;
                assert!((1..=lines).contains(&error.line), "{error}\n{text}");
                assert!(error.column >= 1, "{error}\n{text}");
                assert!(!error.problem.is_empty(), "{text}");
            }
        }
    }
    // Neither is so rare that the test says nothing about it.
    assert!(
        read > files / 100 && refused > files / 100,
        "{read} {refused}"
    );
}

/// Some editors begin a file with a mark; what is wrong behind it stays where it is.
#[test]
fn a_byte_order_mark_is_no_fault() {
    for sample in samples() {
        let marked = format!("\u{feff}{sample}");
        let plain = StateFile::parse(&sample).unwrap();
        assert_eq!(StateFile::parse(&marked), Ok(plain));
    }
    let wrong = "{\"separation\": 0, \"processes\": []}";
    let place = |text: &str| StateFile::parse(text).map_err(|error| (error.line, error.column));
    assert_eq!(place(&format!("\u{feff}{wrong}")), place(wrong));
}
