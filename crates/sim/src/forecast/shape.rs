//! The numbers of a ring, and how it is unrolled.

use super::settle::Group;

/// The numbers of a ring, and how it is unrolled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// n.
    pub(super) processes: u64,
    /// m.
    pub(super) tokens: u64,
    /// d as asked for.
    pub(super) separation: u64,
    /// Rounds between two releases that the ring can enforce: d, or 1 when no
    /// process delays.
    pub(super) pace: u64,
    /// The process at position 0.
    pub(super) from: u64,
    /// Positions where tokens start take the part of delays ([`super::settle`]).
    pub(super) starts_delay: bool,
    /// How many tokens come before the one that is numbered 0 elsewhere.
    pub(super) skipped: u64,
}

impl Shape {
    pub(super) fn process(&self, position: i128) -> u64 {
        let n = i128::from(self.processes);
        (position + i128::from(self.from)).rem_euclid(n) as u64
    }

    /// The number of a token in [`headway_core::tokens::Tokens`] from its number
    /// on the unrolled ring.
    pub(super) fn number(&self, token: u64) -> u64 {
        (token + self.tokens - self.skipped) % self.tokens
    }

    pub(super) fn token(&self, number: u64) -> u64 {
        (number + self.skipped) % self.tokens
    }

    /// m·d ≤ n for the pace that the ring can enforce: every wait is the last.
    pub(super) fn settles(&self) -> bool {
        u128::from(self.tokens) * u128::from(self.pace) <= u128::from(self.processes)
    }

    /// Δ = n - m·d: what β loses in a turn.
    pub(super) fn turn_loss(&self) -> i128 {
        i128::from(self.processes) - i128::from(self.tokens) * i128::from(self.pace)
    }
}

/// Elsewhere token 0 is the first one queued at process n-1, or else the first
/// behind. Counts the tokens before it on the unrolled ring.
pub(super) fn skipped(shape: &Shape, groups: &[Group]) -> u64 {
    if shape.tokens == 0 {
        return 0;
    }
    let zero = (shape.processes - shape.from) % shape.processes;
    let after = groups.iter().filter(|group| group.at > zero);
    let at_zero = groups.iter().find(|group| group.at == zero);
    let skipped: u64 = after.map(Group::count).sum();
    (skipped + at_zero.map_or(0, |group| u64::from(group.resting))) % shape.tokens
}
