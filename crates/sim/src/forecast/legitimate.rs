//! When a ring is legitimate: after the last rest, and once every counter belongs
//! to the token that set it.

use headway_core::Round;

use super::settle::Group;
use super::sites::Visitor;
use super::{Forecast, Shape};

/// The first round at whose end the state is legitimate, if there is one.
pub(super) fn first(forecast: &Forecast<'_>) -> Option<Round> {
    if !forecast.feasible() {
        return None;
    }
    if forecast.shape.tokens == 0 {
        return Some(0);
    }
    if forecast.settled_distance()? < forecast.shape.separation {
        // Only when nothing delays.
        return None;
    }
    let at_rest_no_more = forecast.last_rest().map_or(0, |round| round + 1);
    let mut counters = Counters::new(forecast, at_rest_no_more);
    // Later all have run down, and where starts delay there are none to look for.
    if !forecast.shape.starts_delay && at_rest_no_more < forecast.shape.separation {
        forecast.sites.scan(forecast.shape.from, &mut counters);
        counters.finish();
    }
    let stale_until = if forecast.shape.starts_delay {
        0
    } else {
        forecast.settling.stale_until
    };
    Some(at_rest_no_more.max(stale_until).max(counters.wrong_until))
}

/// Initial counters that outlast the last rest: each has to belong to the token
/// ahead of it (clause leg:2), or the state is not legitimate before it has run
/// down; and in an initial state without any rest, a delay that has a token
/// queued has to count d-1 (clause leg:4).
struct Counters<'a> {
    shape: Shape,
    groups: &'a [Group],
    settled: Round,
    /// The first group beyond the current position.
    ahead: usize,
    wrong_until: Round,
    last_delay: Option<(u64, u32)>,
    arriving_first: bool,
}

impl<'a> Counters<'a> {
    fn new(forecast: &'a Forecast<'_>, settled: Round) -> Counters<'a> {
        Counters {
            shape: forecast.shape,
            groups: &forecast.settling.groups,
            settled,
            ahead: 0,
            wrong_until: 0,
            last_delay: None,
            arriving_first: false,
        }
    }

    /// y of the token next ahead of the current position, for good.
    fn y_ahead(&self) -> i128 {
        let (processes, tokens, pace) = (self.shape.processes, self.shape.tokens, self.shape.pace);
        let (group, turn) = match self.groups.get(self.ahead) {
            Some(group) => (group, 0),
            None => (&self.groups[0], i128::from(processes)),
        };
        let token = tokens - group.tokens_to_here + group.count() - 1;
        let key = i128::from(token) * i128::from(pace) + group.settled();
        key - i128::from(tokens) * i128::from(pace) - turn
    }

    fn queued_at(&mut self, delay: Option<(u64, u32)>, position: u64) {
        let top = self.shape.separation - 1;
        let wrong = |(at, counter): (u64, u32)| at == position && u64::from(counter) != top;
        if delay.is_some_and(wrong) {
            self.wrong_until = self.wrong_until.max(1);
        }
    }

    fn finish(&mut self) {
        if self.arriving_first {
            self.queued_at(self.last_delay, self.shape.processes - 1);
        }
    }
}

impl Visitor for Counters<'_> {
    fn tokens(&mut self, at: u64, _: u32, _: u32) {
        self.ahead += 1;
        // All that start here are queued one before. (Unless one rests: then no state
        // before round 1 is legitimate anyway, and this says no more than that.)
        match at.checked_sub(1) {
            Some(before) => self.queued_at(self.last_delay, before),
            None => self.arriving_first = true,
        }
    }

    fn delay(&mut self, at: u64, counter: u32) {
        self.last_delay = Some((at, counter));
        if u64::from(counter) > self.settled {
            let top = i128::from(self.shape.separation) - 1;
            if self.y_ahead() != i128::from(counter) - top - i128::from(at) {
                self.wrong_until = self.wrong_until.max(u64::from(counter));
            }
        }
    }
}
