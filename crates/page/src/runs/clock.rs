//! Which round it is: a run that plays moves with time, without anybody counting.

use headway_core::Round;

use crate::time::Moment;

/// A round that moves on when it plays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    round: Round,
    /// When it was at `round`; `None` while it stands.
    since: Option<Moment>,
    /// Rounds a second.
    speed: f64,
}

/// Rounds a second that can be asked for.
pub(crate) const SPEEDS: std::ops::RangeInclusive<f64> = 0.1..=1e12;

impl Clock {
    pub(crate) fn standing_at(round: Round) -> Clock {
        Clock {
            round,
            since: None,
            speed: 4.0,
        }
    }

    /// The round now, no later than `last`.
    pub(crate) fn round(&self, now: Moment, last: Round) -> Round {
        let passed = self.since.map_or(0.0, |since| {
            now.saturating_sub(since).as_secs_f64() * self.speed
        });
        // A float that is too large becomes the largest integer.
        self.round.saturating_add(passed as Round).min(last)
    }

    pub(crate) fn playing(&self) -> bool {
        self.since.is_some()
    }

    pub(crate) fn speed(&self) -> f64 {
        self.speed
    }

    /// Goes to a round, and on from there if it plays.
    pub(crate) fn seek(&mut self, round: Round, now: Moment) {
        self.round = round;
        self.since = self.since.map(|_| now);
    }

    pub(crate) fn play(&mut self, playing: bool, speed: f64, now: Moment, last: Round) {
        self.round = self.round(now, last);
        self.since = playing.then_some(now);
        self.speed = speed;
    }

    #[cfg(any(test, feature = "watch"))]
    /// When a new round is due, at least `apart` from now; `None` while it stands
    /// or is at the end.
    pub(crate) fn next(&self, now: Moment, last: Round, apart: Moment) -> Option<Moment> {
        let since = self.since?;
        let round = self.round(now, last);
        if round >= last {
            return None;
        }
        let rounds = (round + 1 - self.round) as f64;
        let due = since + Moment::from_secs_f64(rounds / self.speed);
        Some(due.max(now + apart))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn rounds_come_with_time() {
        let start = Duration::from_secs(7);
        let seconds = |seconds| start + Duration::from_secs_f64(seconds);
        let mut clock = Clock::standing_at(5);
        assert_eq!(clock.round(seconds(9.0), 100), 5);
        assert_eq!(clock.next(start, 100, Duration::ZERO), None);
        clock.play(true, 2.0, start, 100);
        assert_eq!(clock.round(seconds(1.6), 100), 8);
        assert_eq!(
            clock.next(seconds(1.6), 100, Duration::ZERO),
            Some(seconds(2.0))
        );
        assert_eq!(clock.round(seconds(1e9), 100), 100);
        assert_eq!(clock.next(seconds(1e9), 100, Duration::ZERO), None);
        clock.play(true, 1e12, seconds(2.0), 1 << 53);
        assert_eq!(clock.round(seconds(3.0), 1 << 53), 9 + 1_000_000_000_000);
        clock.seek(3, seconds(3.0));
        assert_eq!(clock.round(seconds(3.0), 100), 3);
        clock.play(false, 1.0, seconds(3.0), 100);
        assert_eq!(clock.round(seconds(60.0), 100), 3);
    }
}
