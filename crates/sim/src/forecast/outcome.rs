//! The outcome of a run, without running.

use headway_core::desiderata::{Outcome, Recovery, verdicts, visited_equally};
use headway_core::{Round, Separation};

use super::{Forecast, Movement};

impl Movement<'_> {
    /// What [`crate::run()`] finds in a run of so many rounds without faults; by
    /// default as many as it would do.
    pub fn outcome(&self, rounds: Option<Round>) -> Outcome {
        let forecast = self.forecast;
        let n = forecast.shape.processes;
        let end = rounds.unwrap_or_else(|| match forecast.legitimate_at {
            Some(round) => round.saturating_add(n),
            None => forecast.patience(),
        });
        let legitimate_at = forecast.legitimate_at.filter(|&round| round <= end);
        let visits = legitimate_at.and_then(|round| forecast.visits(end - round));
        let equally = match (legitimate_at, visits, forecast.separation()) {
            (Some(round), Some(visits), Some(d)) => {
                Some(visited_equally(visits, end - round, n, d))
            }
            _ => None,
        };
        let settled = legitimate_at.map(|_| true);
        let mut outcome = Outcome {
            rounds: end,
            legitimate_at,
            last_rest: forecast.last_rest_until(self, end),
            min_distance_before: match legitimate_at {
                Some(0) => None,
                Some(round) => self.min_distance(0..=round - 1),
                None => self.min_distance(0..=end),
            },
            min_distance_after: legitimate_at.and_then(|_| forecast.settled_distance()),
            visits,
            desiderata: verdicts([Some(true), settled, settled, equally, settled]),
            recoveries: vec![Recovery {
                fault_at: 0,
                legitimate_at,
            }],
            legitimate: settled.is_some(),
        };
        // A jam never ends, however short the forecast.
        if end >= forecast.patience() || !forecast.feasible() {
            outcome.overdue();
        }
        outcome
    }
}

impl Forecast<'_> {
    fn separation(&self) -> Option<Separation> {
        Separation::new(self.shape.separation as u32)
    }

    /// As long as [`crate::Run::patience`].
    fn patience(&self) -> Round {
        if !self.feasible() {
            return self.shape.processes.saturating_mul(4);
        }
        let worst = self.worst_last_rest().unwrap_or(0);
        worst.saturating_add(self.shape.separation)
    }

    /// The last round, no later than `end`, after which some token rests.
    fn last_rest_until(&self, line: &Movement<'_>, end: Round) -> Option<Round> {
        if self.settles() {
            let last_rest = self.last_rest().filter(|&round| round <= end);
            return last_rest.or_else(|| line.waits(end).map(|wait| wait.to.min(end)).max());
        }
        // In a jam tokens rest in nearly every round.
        let rests = |round: &Round| line.places(*round).iter().any(|p| p.resting);
        (0..=end).rev().find(rests)
    }
}
