//! Clocks that are in step with their neighbours and yet wound round the ring.

use super::*;

fn wound(modulus: u32, phases: [u8; 4]) -> bool {
    let settings = Settings {
        values: Some(modulus),
        processes: 4,
        ..Settings::default()
    };
    let instance = Instance::uniform(4, 1, 2).unwrap();
    let model = Asynchronous::new(&settings, &instance).unwrap();
    model.wound(&model.start(0, |process| phases[process]))
}

#[test]
fn clocks_are_wound_that_gain_a_turn_on_the_way_round() {
    assert!(wound(4, [0, 1, 2, 3]) && wound(4, [3, 2, 1, 0]) && wound(3, [0, 1, 2, 2]));
    for phases in [
        [0; 4],
        [0, 1, 0, 1],
        [0, 0, 1, 1],
        [3, 0, 3, 3],
        [1, 2, 3, 2],
    ] {
        assert!(!wound(4, phases), "{phases:?}");
    }
}
