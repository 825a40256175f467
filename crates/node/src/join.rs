//! How a node that has just started and remembers nothing takes its place.
//!
//! It says so in its datagrams, and derives from its neighbours' states one of its own
//! that is in step with theirs and passes on any token that it may have held. When the
//! neighbours have no state either, the ring is new: every clock starts at 0, and all
//! tokens are at node 0. Whatever it takes is a guess; if it is wrong, the ring recovers
//! from it as from anything else.
//!
//! One that goes on from a saved state, in a ring of moving blocks, asks in the same way before
//! it tells anything: what its successor has heard of it says whether that state is the latest,
//! but only as long as the successor has not heard an older one.

use headway_core::phase_clock::PhaseClock;
use headway_core::token_ring::before;

use crate::link::Link;
use crate::{Machine, Micros, Rule};

impl Machine {
    /// Takes a state, if enough is known to choose one; or goes on from the saved one.
    pub(crate) fn join(&mut self) -> bool {
        let links = &self.state.links;
        let answered = links.iter().all(|link| link.known || link.joining);
        if self.state.joined {
            return answered && self.resume();
        }
        let knows = |link: &&Link| link.known && !link.joining;
        // In a ring of moving blocks who hears of no state goes on waiting: that others are
        // silent does not say that the ring is new. In lock-step the clock puts that right.
        let guesses =
            self.config.plan.rule() == Rule::LockStep || links.iter().any(|link| knows(&link));
        let waited = guesses && self.now >= self.joins_alone_at();
        if !answered && !waited {
            return false;
        }
        let state = &mut self.state;
        let mut phases = state.links.iter().filter(knows).map(|link| link.phase);
        state.phase = match (phases.next(), phases.next()) {
            (None, _) => 0,
            (Some(one), None) => one,
            (Some(one), Some(other)) => between(self.domain.clock, one, other),
        };
        let predecessor = state.links.first().filter(knows);
        let successor = state.links.last().filter(knows);
        for (index, token) in state.tokens.iter_mut().enumerate() {
            let behind = predecessor.map(|link| link.values[index]);
            let after = successor.map(|link| link.values[index]);
            // In a ring of moving blocks the successor says what it has heard: what this node
            // handed over and what it did not is as it was.
            let heard_of = successor.and(state.heard_of.get(index));
            token.value = match (behind, after) {
                (_, Some(after)) if heard_of.is_some() => *heard_of.unwrap_or(&after),
                (None, None) => 0,
                // All nodes but the first hold nothing if they copy their predecessor.
                (Some(behind), _) if self.config.index != 0 => behind,
                (None, Some(after)) => after,
                // The first holds nothing while it differs; its successor holds nothing
                // while the two are equal.
                (Some(behind), Some(after)) if after != behind => after,
                (Some(behind), _) => (behind + 1) % self.domain.values,
            };
        }
        let ring_is_new = predecessor.is_none() && successor.is_none();
        if successor.is_some() && !state.heard_of.is_empty() {
            let told = state.told.patrol;
            let block = &mut state.block;
            block.patrol = match self.config.index {
                0 => (told + 1) % self.domain.values,
                _ => told,
            };
            block.restarted();
        }
        if predecessor.is_some() || successor.is_some() {
            state.program.just_released(&self.config);
        }
        state.released = None;
        state.verdict.wrong();
        (state.joined, state.resuming) = (true, false);
        if !ring_is_new {
            self.expect_predecessor();
        }
        self.transmit_all();
        true
    }

    /// A node waits for all neighbours to answer until then.
    pub(crate) const fn joins_alone_at(&self) -> Micros {
        self.state
            .started
            .saturating_add(self.times.heartbeat_timeout)
    }

    /// Goes on from the saved state, both neighbours having answered, when the successor has told
    /// what it knows, so that whoever looks has seen whether that state is the latest. When all
    /// nodes start, each waits for the next, for some time.
    fn resume(&mut self) -> bool {
        // A successor that starts again, too, may know more than it has said so far.
        let starts = self.state.links.last().is_some_and(|link| link.joining);
        if starts && self.now < self.joins_alone_at() {
            return false;
        }
        self.state.resuming = false;
        self.expect_predecessor();
        self.transmit_all();
        true
    }

    /// A node that has not heard its predecessor since it started expects it where it is if all
    /// is well. In a ring of moving blocks it tells that, and a predecessor that has lost its
    /// state relies on it.
    fn expect_predecessor(&mut self) {
        let (state, first) = (&mut self.state, self.config.index == 0);
        let link = &mut state.links[0];
        if link.known || self.config.plan.rule() != Rule::MovingBlock {
            return;
        }
        for (value, token) in link.values.iter_mut().zip(state.tokens.iter()) {
            *value = before(token.value, token.rounds > 0, first, self.domain.values);
        }
    }
}

/// A phase that is in step with both, or the end of the tail.
fn between(clock: PhaseClock, one: i32, other: i32) -> i32 {
    if one <= 0 && other <= 0 {
        one.min(other)
    } else if one < 0 || other < 0 {
        -clock.tail
    } else if one == other || clock.after(one) == other {
        one
    } else if clock.after(other) == one {
        other
    } else if clock.after(clock.after(one)) == other {
        clock.after(one)
    } else if clock.after(clock.after(other)) == one {
        clock.after(other)
    } else {
        -clock.tail
    }
}
