//! PNML files that are no longer what they were: refused, or read as nets that
//! survive being written.

use headway_petri::pnml;
use headway_testkit::{damage, tier};

const SAMPLES: [&str; 2] = [
    include_str!("../../../../examples/petri/conveyor.pnml"),
    include_str!("../../../../examples/petri/workshop.pnml"),
];

#[test]
fn a_damaged_net_is_refused_or_read() {
    let files = tier::pick(2_000, 60_000, 600_000);
    let (mut read, mut refused) = (0, 0);
    let copies = SAMPLES.map(|sample| damage::copies(sample.as_bytes(), files / 2));
    for (seed, bytes) in copies.into_iter().flatten() {
        let nets = match pnml::read(&bytes) {
            Ok(nets) => nets,
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        read += 1;
        for imported in nets {
            let written = pnml::to_string(&imported.net, &imported.marking);
            let again = pnml::read(written.as_bytes())
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{written}"))
                .remove(0);
            assert_eq!(again.marking, imported.marking, "seed {seed}");
            let sizes =
                |net: &headway_petri::net::Net| (net.places(), net.transitions(), net.arcs().len());
            assert_eq!(sizes(&again.net), sizes(&imported.net), "seed {seed}");
        }
    }
    assert!(
        read > files / 100 && refused > files / 100,
        "{read} {refused}"
    );
}
