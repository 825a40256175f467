//! How a node that has just started and remembers nothing takes its place.
//!
//! It says so in its datagrams, and derives from its neighbours' states one of its own
//! that is in step with theirs and passes on any token that it may have held. When the
//! neighbours have no state either, the ring is new: every clock starts at 0, and all
//! tokens are at node 0. Whatever it takes is a guess; if it is wrong, the ring recovers
//! from it as from anything else.

use headway_core::phase_clock::PhaseClock;

use crate::Machine;
use crate::link::Link;

impl Machine {
    /// Takes a state, if enough is known to choose one.
    pub(crate) fn join(&mut self) -> bool {
        let state = &mut self.state;
        let waited = self.now.saturating_sub(state.started) >= self.times.silence;
        let answered = |link: &Link| link.known || link.joining;
        if !waited && !state.links.iter().all(answered) {
            return false;
        }
        let knows = |link: &&Link| link.known && !link.joining;
        let mut phases = state.links.iter().filter(knows).map(|link| link.phase);
        state.phase = match (phases.next(), phases.next()) {
            (None, _) => 0,
            (Some(one), None) => one,
            (Some(one), Some(other)) => between(self.domain.clock, one, other),
        };
        let predecessor = state.links.first().filter(knows);
        let successor = state.links.last().filter(knows);
        for (index, token) in state.tokens.iter_mut().enumerate() {
            let before = predecessor.map(|link| link.values[index]);
            let after = successor.map(|link| link.values[index]);
            // In a ring of moving blocks the successor says what it has heard: what this node
            // handed over and what it did not is as it was.
            let heard_of = successor.and(state.heard_of.get(index));
            token.value = match (before, after) {
                (_, Some(after)) if heard_of.is_some() => *heard_of.unwrap_or(&after),
                (None, None) => 0,
                // All nodes but the first hold nothing if they copy their predecessor.
                (Some(before), _) if self.config.index != 0 => before,
                (None, Some(after)) => after,
                // The first holds nothing while it differs; its successor holds nothing
                // while the two are equal.
                (Some(before), Some(after)) if after != before => after,
                (Some(before), _) => (before + 1) % self.domain.values,
            };
        }
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
        state.joined = true;
        self.transmit_all();
        true
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
