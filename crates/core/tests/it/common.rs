//! Random rings and states for the property tests.

use headway_core::{Configuration, Process, Program, Ring, Separation};
use proptest::prelude::*;

/// A ring of delays and relays and a state with any queues, feasible or not.
pub(crate) fn any_ring() -> impl Strategy<Value = (Ring, Configuration)> {
    let process = (any::<bool>(), 0..3_u32, 0..3_u32, 0..5_i32);
    (1..6_u32, prop::collection::vec(process, 1..14)).prop_map(|(d, all)| {
        let separation = Separation::new(d).expect("at least 1");
        let program = |&(delays, ..): &(bool, u32, u32, i32)| match delays {
            true => Program::Delay,
            false => Program::Relay,
        };
        let ring = Ring::new(separation, all.iter().map(program).collect()).expect("not empty");
        let processes = all
            .iter()
            .map(|&(delays, queued, resting, counter)| Process {
                queued,
                resting,
                counter: if delays {
                    counter.min(separation.top())
                } else {
                    0
                },
            });
        let state = Configuration::from(processes.collect::<Vec<_>>());
        (ring, state)
    })
}
