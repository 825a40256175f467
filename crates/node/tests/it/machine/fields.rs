//! A saved state with some of its fields changed: memory as a fault may leave it.

use std::time::Duration;

use headway_node::{Config, Key, Machine, RestoreError};

/// When it is restored.
pub(crate) const NOW: Duration = Duration::from_millis(5);

/// Where a saved state has a field, and how many bytes it takes.
pub(crate) type Place = (usize, usize);

const JOINED: Place = (28, 1);
pub(crate) const PHASE: Place = (29, 4);
pub(crate) const RELEASED_TOKEN: Place = (33, 2);
pub(crate) const RELEASED_PREVIOUS: Place = (35, 4);
pub(crate) const COUNTER: Place = (39, 4);
pub(crate) const TURN: Place = (43, 4);
pub(crate) const ELAPSED: Place = (48, 4);
pub(crate) const IGNORE: Place = (52, 4);
pub(crate) const BASE: Place = (56, 4);
/// Rounds since anything was wrong.
pub(crate) const CLEAN: Place = (60, 4);
/// Rounds since any token arrived.
pub(crate) const ANY_ARRIVED: Place = (64, 4);

pub(crate) fn value_of(token: usize) -> Place {
    (84 + 21 * token, 4)
}

pub(crate) fn fence_of(token: usize) -> Place {
    (84 + 21 * token + 4, 8)
}

/// Rounds that a token is here.
pub(crate) fn rounds_of(token: usize) -> Place {
    (84 + 21 * token + 12, 4)
}

/// Rounds since a token arrived.
pub(crate) fn arrived_of(token: usize) -> Place {
    (84 + 21 * token + 16, 4)
}

pub(crate) fn stage_of(token: usize) -> Place {
    (84 + 21 * token + 20, 1)
}

/// Where the payloads begin: the first one's length.
pub(crate) fn payloads_of(tokens: usize) -> Place {
    (84 + 21 * tokens, 1)
}

/// A node that is restored with these fields.
pub(crate) fn restored(config: Config, fields: &[(Place, i64)]) -> Result<Machine, RestoreError> {
    let mut bytes = Vec::new();
    let node = Machine::new(config, Key::none(), 1).unwrap();
    node.save_unsealed(&mut bytes);
    for &((at, size), value) in [(JOINED, 1)].iter().chain(fields) {
        bytes[at..at + size].copy_from_slice(&value.to_be_bytes()[8 - size..]);
    }
    Machine::seal(&mut bytes, 0);
    Machine::restore(config, Key::none(), 2, NOW, &bytes)
}
