//! The way of one token.

use headway_core::Round;

use super::Shape;

/// The way of one token: one hop a round, except while it rests.
#[derive(Clone, Debug)]
pub struct Trajectory {
    shape: Shape,
    start: i128,
    waits: Vec<Wait>,
    /// For every wait, the rounds spent in those before it.
    rested_before: Vec<u64>,
}

impl Trajectory {
    /// From the position at the start and the waits.
    pub(super) fn new(shape: Shape, start: i128, waits: Vec<Wait>) -> Trajectory {
        let mut rested = 0;
        let rested_before = waits.iter().map(|wait| {
            let before = rested;
            rested += wait.rounds();
            before
        });
        Trajectory {
            shape,
            start,
            rested_before: rested_before.collect(),
            waits,
        }
    }

    /// The waits, in order of time.
    pub fn waits(&self) -> &[Wait] {
        &self.waits
    }

    /// The process at which the token is after a round, and whether it rests.
    /// Exact up to the round that the trajectory was asked for.
    pub fn place(&self, round: Round) -> (u64, bool) {
        let begun = self.waits.partition_point(|wait| wait.from <= round);
        let resting = begun > 0 && self.waits[begun - 1].to >= round;
        (self.shape.process(self.position(round)), resting)
    }

    /// The position on the unrolled ring: a hop for every round so far in which
    /// the token did not rest.
    pub(super) fn position(&self, round: Round) -> i128 {
        let rested = match self.waits.partition_point(|wait| wait.from < round) {
            0 => 0,
            begun => {
                let wait = self.waits[begun - 1];
                self.rested_before[begun - 1] + wait.to.min(round - 1) - wait.from + 1
            }
        };
        self.start + i128::from(round) - i128::from(rested)
    }
}

/// A token rests at a process after each of the rounds `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Which token, as numbered in [`headway_core::tokens::Tokens`].
    pub token: u64,
    /// Where.
    pub process: u64,
    /// The first round after which it rests there; 0: it did at the start.
    pub from: Round,
    /// The last one; it is released in the next.
    pub to: Round,
}

impl Wait {
    /// How many states it rests in; as many rounds late it will be.
    fn rounds(&self) -> u64 {
        self.to - self.from + 1
    }
}
