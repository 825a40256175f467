//! Rings that measure have no closed form: they are run, and some states on the
//! way are kept so that going back is quick too.

use std::collections::BTreeMap;

use headway_core::desiderata::Monitor;
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Ring, Round};

/// A run in lock-step that can be looked at in any round up to a last one.
pub(crate) struct LockStep {
    ring: Ring,
    /// m.
    tokens: u64,
    kept: BTreeMap<Round, Kept>,
    /// One of `stride` rounds is kept for good.
    stride: Round,
    /// The state that was looked at last, which is not kept for good.
    latest: (Round, Kept),
}

/// A state and what has been seen up to it.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(crate) state: Configuration,
    pub(crate) tokens: Tokens,
    pub(crate) monitor: Monitor,
}

/// States kept for good.
const KEPT: u64 = 16;

impl LockStep {
    /// `last` is the last round that will be asked for.
    pub(crate) fn new(ring: Ring, state: Configuration, last: Round) -> LockStep {
        let followed = Tokens::new(&state);
        let mut monitor = Monitor::new(ring.separation(), &followed);
        let tokens = state.tokens();
        monitor.observe(0, &followed, || ring.legitimate(&state, tokens).is_ok());
        let start = Kept {
            state,
            tokens: followed,
            monitor,
        };
        LockStep {
            ring,
            tokens,
            stride: (last / KEPT).max(1),
            kept: BTreeMap::from([(0, start.clone())]),
            latest: (0, start),
        }
    }

    /// The state that a round leads to.
    pub(crate) fn at(&mut self, round: Round) -> &Kept {
        let kept = self.kept.range(..=round).next_back();
        if let Some((&at, kept)) = kept
            && (self.latest.0 > round || self.latest.0 < at)
        {
            self.latest = (at, kept.clone());
        }
        while self.latest.0 < round {
            self.round();
        }
        &self.latest.1
    }

    fn round(&mut self) {
        let (
            round,
            Kept {
                state,
                tokens,
                monitor,
            },
        ) = &mut self.latest;
        *round += 1;
        self.ring.round(state);
        tokens.follow(state);
        let predicate = || self.ring.legitimate(state, self.tokens).is_ok();
        monitor.observe(*round, tokens, predicate);
        if round.is_multiple_of(self.stride) && !self.kept.contains_key(round) {
            self.kept.insert(*round, self.latest.1.clone());
        }
    }
}
