//! Files that are no longer what they were: refused, with a line that exists, or read as
//! something that survives being written.

use std::collections::BTreeSet;

use headway_testkit::{damage, tier};
use headway_walk::network::formats::Format;
use headway_walk::network::generators::Generator;
use headway_walk::plan::conflicts::Input;
use headway_walk::walk::search::{self, Request};
use headway_walk::{Network, ReadError, Walk, walk::file};
use strum::VariantArray as _;

use crate::conflict_files::{CASSANDRA, CEPH, KAFKA, REASSIGN};
use crate::read_formats::{SQUARE, format};

/// Reads damaged copies of a sample. Some of them are read and some refused, and where the
/// error names a line there is one.
fn damaged<T, E: std::error::Error>(
    sample: &str,
    read: impl Fn(&str) -> Result<T, ReadError<E>>,
    and_then: impl Fn(&str, T),
) {
    let files = tier::pick(2_000, 60_000, 600_000);
    let (mut fine, mut refused) = (0, 0);
    for (seed, bytes) in damage::copies(sample.as_bytes(), files) {
        let text = String::from_utf8_lossy(&bytes);
        match read(&text) {
            Ok(found) => {
                fine += 1;
                and_then(&text, found);
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty(), "seed {seed}: {text}");
                if let ReadError::At { line, .. } = error {
                    let lines = text.lines().count() + 1;
                    assert!((1..=lines).contains(&line), "seed {seed}: {line}: {text}");
                }
            }
        }
    }
    let enough = fine > files / 100 && refused > files / 100;
    assert!(enough, "{fine} read, {refused} refused: {sample}");
}

/// What every format keeps: who is linked to whom.
fn links(network: &Network) -> BTreeSet<(&str, &str)> {
    let named = |(from, to)| (network.name(from), network.name(to));
    network.arcs().map(named).collect()
}

#[test]
fn a_damaged_network_is_refused_or_read() {
    let network = Generator::Figure7.network(0).unwrap();
    let written = Format::WRITTEN.map(|format| (format, format.write(&network).unwrap()));
    let by_hand = SQUARE.map(|(name, text)| (format(name), text.to_owned()));
    for (format, sample) in written.into_iter().chain(by_hand) {
        let survives = |text: &str, network: Network| {
            // A name may be one that this format can read but not write.
            if let Ok(written) = format.write(&network) {
                let again = format.read(&written);
                let again = again.unwrap_or_else(|error| panic!("{error}\n{text}\n{written}"));
                assert_eq!(links(&again), links(&network), "{format}: {text}");
            }
        };
        damaged(&sample, |text| format.read(text), survives);
    }
}

#[test]
fn damaged_conflicts_are_refused_or_read() {
    for sample in [KAFKA, REASSIGN, CASSANDRA, CEPH] {
        let all = |text: &str| {
            for input in Input::VARIANTS {
                let _ = input.read(text);
            }
            let _ = Input::racks(text);
            Input::of_text(text).read(text)
        };
        damaged(sample, all, |_, _| {});
    }
}

#[test]
fn a_damaged_walk_is_refused_or_read() {
    let network = Generator::Figure7.network(0).unwrap();
    let request = Request::new(2);
    let found = search::walk(&network, &request, &mut |_| {}).unwrap();
    let content = file::content(&network, &request, &found, file::Tables::All);
    let sample = serde_json::to_string_pretty(&content).unwrap();
    let read = |text: &str| file::read(text).map_err(ReadError::Content);
    damaged(&sample, read, |text, file| {
        let walk = Walk::new(&file.network, file.walk.positions().to_vec());
        assert_eq!(walk, Ok(file.walk.clone()), "{text}");
        let sizes = 1..=file.walk.len();
        assert!(sizes.contains(&file.tokens) && sizes.contains(&file.separation));
    });
}
