//! How long a ring takes to get back to order, at most.
//!
//! Stated, not proved: no run of `crates/stage/tests/it/virtual_time.rs` and no corrupted ring of up to
//! 192 nodes has taken longer, and small instances are checked exhaustively. For a
//! given number of tokens it is linear in the ring's size.

use core::time::Duration;

use crate::{Plan, Rule, Timing};

/// Rounds after which every node says that it is settled, whatever their memories
/// were, once datagrams arrive again.
///
/// ```
/// use headway_node::{Plan, recovery_rounds};
/// assert_eq!(recovery_rounds(&Plan::new(24, 4, 2).unwrap()), 24 * (10 + 2 * 4));
/// ```
pub const fn recovery_rounds(plan: &Plan) -> u64 {
    let (n, m) = (plan.nodes() as u64, plan.tokens() as u64);
    match plan.rule() {
        Rule::LockStep => n * (10 + 2 * m),
        Rule::MovingBlock => n * (10 + 2 * m) + 2 * m * n * n,
    }
}

/// The time that this takes, when a datagram takes at most `one_way`, none is lost
/// and nobody holds a permit for longer than `work`.
pub fn recovery_bound(plan: &Plan, timing: &Timing, one_way: Duration, work: Duration) -> Duration {
    let ticks = one_way.max(timing.tick).saturating_mul(plan.pace());
    let round = ticks.saturating_add(work.max(timing.min_hold));
    // Before the first round: a node that waits in vain for an answer, and a permit
    // of which only the corrupted memory knows.
    let start = timing
        .heartbeat_timeout
        .saturating_mul(2)
        .saturating_add(timing.max_hold.min(work.saturating_mul(2)))
        .saturating_add(timing.stop_timeout);
    let rounds = u32::try_from(recovery_rounds(plan)).unwrap_or(u32::MAX);
    let bound = start.saturating_add(round.saturating_mul(rounds));
    match plan.rule() {
        Rule::LockStep => bound,
        // Nothing is sent again before the refresh, and what is wrong may stand on any link.
        Rule::MovingBlock => bound.saturating_add(
            timing
                .refresh
                .saturating_mul(plan.nodes().saturating_mul(4)),
        ),
    }
}
