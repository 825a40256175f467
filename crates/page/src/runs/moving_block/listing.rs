//! The moving block as it is read, and which of its lines a process executes in a round.
//! It does what stands beside each of the four words once, in an order that is drawn.

use headway_core::moving_block::Ahead;
use headway_sim::moving_block::Did;

/// The program, with when a line is executed.
type Line = (fn(Did) -> bool, &'static str);
pub(super) const LISTING: [Line; 12] = [
    (|_| true, "receive: if a token is handed over to it:"),
    (|did| did.received, "  r ← r + 1"),
    (|_| true, "tell: if r > 0 or ahead is unknown:"),
    (|did| did.told == 0, "  tell the predecessor 0"),
    (|did| did.told > 0, "else:"),
    (
        |did| did.told > 0,
        "  tell the predecessor min(ahead + 1, d)",
    ),
    (|_| true, "hear: if news includes its last give:"),
    (
        |did| matches!(did.heard, Some(Ahead::Free(_))),
        "  ahead ← news",
    ),
    (
        |did| did.heard == Some(Ahead::Unknown),
        "else: ahead ← unknown",
    ),
    (|_| true, "give: if r > 0 and ahead ≥ d:"),
    (|did| did.gave, "  r ← r − 1, hand a token over"),
    (|did| did.gave, "  ahead ← unknown"),
];

/// The lines of the program.
pub(crate) fn listing() -> impl Iterator<Item = &'static str> {
    LISTING.iter().map(|line| line.1)
}

/// The lines that a process executed, as bits.
pub(super) fn executed(did: Did) -> u16 {
    let lit = LISTING.iter().enumerate().filter(|(_, line)| line.0(did));
    lit.map(|(bit, _)| 1 << bit).sum()
}
