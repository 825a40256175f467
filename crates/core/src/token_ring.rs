//! Tokens that cannot be lost (paper, section 5.2, the definitional approach):
//! Dijkstra's K-state ring, and m of them under the delay/relay rule.
//!
//! On a K-state ring every process has one value below K. The first process holds
//! the token when its value equals its predecessor's (the last process's), every
//! other when its value differs. To release the token is one write to the own
//! value, after which the successor holds it. At least one process holds a token
//! whatever the values are, so a token cannot be lost; surplus ones disappear.
//! [Dijkstra, *Self-stabilizing systems in spite of distributed control*, 1974]

/// Whether the process with value `own` holds the token, given its predecessor's
/// value; `first` for the one process that is different.
///
/// ```
/// use headway_core::token_ring::holds;
/// assert!(holds(3, 3, true) && !holds(3, 3, false));
/// ```
#[inline]
pub const fn holds(own: u32, predecessor: u32, first: bool) -> bool {
    (own == predecessor) == first
}

/// The value that passes the token on to the successor, for a process that holds
/// it. `values` is K, at least 1.
///
/// ```
/// use headway_core::token_ring::released;
/// assert_eq!(released(4, 4, true, 5), 0, "the first process counts on, modulo K");
/// assert_eq!(released(4, 2, false, 5), 2, "every other copies its predecessor");
/// ```
#[inline]
pub const fn released(own: u32, predecessor: u32, first: bool, values: u32) -> u32 {
    if !first {
        predecessor
    } else if own + 1 >= values {
        0
    } else {
        own + 1
    }
}

/// The predecessor's value on a ring with one token, by the own one and whether the token is
/// here. `values` is K, at least 1.
///
/// ```
/// use headway_core::token_ring::{before, holds};
/// for (first, held) in [(false, false), (false, true), (true, false), (true, true)] {
///     assert_eq!(holds(0, before(0, held, first, 5), first), held);
/// }
/// assert_eq!(before(0, false, true, 5), 4, "the first process is one ahead, modulo K");
/// assert_eq!(before(4, true, false, 5), 0, "every other is one behind while it holds the token");
/// ```
#[inline]
pub const fn before(own: u32, held: bool, first: bool, values: u32) -> u32 {
    match (first, held) {
        (true, true) | (false, false) => own,
        (true, false) => (own + values - 1) % values,
        (false, true) => (own + 1) % values,
    }
}

/// When a process of several token rings may release, and which token.
///
/// `Default` is a process whose counter has run down and whose turn starts with
/// the first ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Gate {
    /// As [`crate::Process::counter`]: rounds until a delay may release again.
    pub counter: i32,
    /// The ring whose token is released first if held; then round-robin, so that
    /// every ring moves. Below m.
    pub turn: u32,
}

/// One round of one process of m = `own.len()` token rings under the delay/relay
/// rule: if it holds any token and the counter has run down, it releases one, and
/// the counter starts again from `top` (0 at a relay). Returns the ring whose
/// token was released.
///
/// `predecessor` holds the predecessor's values before the round.
///
/// # Panics
///
/// When the slices differ in length.
///
/// ```
/// use headway_core::token_ring::{round, Gate};
/// let (mut values, mut gate) = ([1, 1], Gate::default());
/// // Both tokens are held; one may leave, the other waits for the counter.
/// assert_eq!(round(&mut values, &[2, 2], false, 5, &mut gate, 2), Some(0));
/// assert_eq!(round(&mut values, &[2, 2], false, 5, &mut gate, 2), None);
/// assert_eq!((values, gate.counter), ([2, 1], 1));
/// ```
pub fn round(
    own: &mut [u32],
    predecessor: &[u32],
    first: bool,
    values: u32,
    gate: &mut Gate,
    top: i32,
) -> Option<usize> {
    assert_eq!(own.len(), predecessor.len(), "one value per ring");
    let m = own.len();
    let turn = gate.turn as usize;
    let held = (0..m)
        .map(|offset| (turn + offset) % m)
        .find(|&ring| holds(own[ring], predecessor[ring], first));
    match held.filter(|_| gate.counter == 0) {
        Some(ring) => {
            own[ring] = released(own[ring], predecessor[ring], first, values);
            *gate = Gate {
                counter: top,
                turn: ((ring + 1) % m) as u32,
            };
            Some(ring)
        }
        None => {
            gate.counter -= i32::from(gate.counter > 0);
            None
        }
    }
}
