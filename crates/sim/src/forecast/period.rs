//! From when on the state repeats itself.

use headway_core::Round;

use super::Movement;

impl Movement<'_> {
    /// From here on tokens only move, and every counter is 0 or was set when they already
    /// did: by a release in one of the last d-1 rounds, all of them after the last rest.
    pub(super) fn settled_at(&self) -> Round {
        let rest = self.forecast.last_rest().unwrap_or(0);
        rest.saturating_add(self.shape().pace)
    }

    /// From some round before this one on, every token has waited for whole turns:
    /// each delay releases a token every d rounds, relays never hold one up, and
    /// the state repeats every d rounds.
    pub(super) fn jammed_at(&self) -> Round {
        let shape = self.shape();
        let (processes, tokens, pace) = (shape.processes, shape.tokens, shape.pace);
        let largest = self.delays.iter().map(|delay| delay.key).max().unwrap_or(0);
        let turn_rounds = i128::from(tokens) * i128::from(pace);
        let rounds = largest + 4 * i128::from(processes) + 5 * turn_rounds;
        Round::try_from(rounds).unwrap_or(Round::MAX)
    }

    /// An earlier round with the same configuration, and how many periods earlier.
    pub(super) fn reduced(&self, round: Round) -> (Round, u64) {
        let (from, period) = if self.shape().settles() {
            (self.settled_at(), self.shape().processes)
        } else {
            (self.jammed_at(), self.shape().pace)
        };
        if round <= from {
            (round, 0)
        } else {
            (from + (round - from) % period, (round - from) / period)
        }
    }
}
