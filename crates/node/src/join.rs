//! How a node that has just started and remembers nothing takes its place.
//!
//! It says so in its datagrams, and takes from its neighbours' states one of its
//! own that is in step with theirs and passes on any token that it may have held.
//! When the neighbours have none either, the ring is new: every clock starts at 0,
//! and all tokens are at node 0. Whatever it takes is a guess; if it is wrong, the
//! ring recovers from it as from anything else.

use crate::Machine;
use crate::link::Link;

impl Machine {
    /// Takes a state, if it is known well enough what state to take.
    pub(crate) fn join(&mut self) -> bool {
        let waited = self.now.saturating_sub(self.started) >= self.times.silence;
        let answered = |link: &Link| link.known || link.joining;
        if !waited && !self.links.iter().all(answered) {
            return false;
        }
        let knows = |link: &&Link| link.known && !link.joining;
        let mut phases = self.links.iter().filter(knows).map(|link| link.phase);
        self.phase = match (phases.next(), phases.next()) {
            (None, _) => 0,
            (Some(one), None) => one,
            (Some(one), Some(other)) => self.between(one, other),
        };
        let predecessor = self.links.first().filter(knows);
        let successor = self.links.last().filter(knows);
        for (token, value) in self.rings.values.iter_mut().enumerate() {
            let before = predecessor.map(|link| link.values[token]);
            let after = successor.map(|link| link.values[token]);
            *value = match (before, after) {
                (None, None) => 0,
                // Not the different one: whoever copies its predecessor holds nothing.
                (Some(before), _) if self.config.index != 0 => before,
                (None, Some(after)) => after,
                // The different one holds nothing while it differs; its successor
                // holds nothing while the two are equal.
                (Some(before), Some(after)) if after != before => after,
                (Some(before), _) => (before + 1) % self.config.values(),
            };
        }
        if predecessor.is_some() || successor.is_some() {
            self.rule.just_released(&self.config);
        }
        self.rings.released = None;
        self.verdict.wrong();
        self.joined = true;
        self.transmit_all();
        true
    }

    /// A phase that is in step with both, or the tail's end.
    fn between(&self, one: i32, other: i32) -> i32 {
        let clock = self.clock;
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
}
