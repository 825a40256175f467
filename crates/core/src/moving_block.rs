//! The moving block: tokens kept apart without a clock.
//!
//! Railways do it so: a train enters a block only if the blocks ahead are free. Every
//! process *tells* its predecessor how far ahead of it the next token is: 0 if it holds
//! one, else one more than its successor told it, cut off at d. A token is handed over
//! only if the next one is then at least d ahead ([`Ahead::lets_go`]).
//!
//! A token moves forward only, so old news errs on the safe side, unless a token was
//! handed over since. So a giver believes news only if its successor had received
//! everything by then, and tells 0 meanwhile ([`Ahead::Unknown`]).
//!
//! With more tokens than fit, each may wait for the next one. Tokens of
//! [`token_ring`](crate::token_ring) cannot be lost, but surplus ones disappear only
//! while they move. A *patrol* notices a standstill: one more token ring, which no rule
//! holds up. It travels against the tokens, so that it takes the news along, and carries
//! a [`Lap`]. After two laps on which it found every process calm nobody can ever
//! move again; then the patrol opens the gates: every process that is stuck hands over one
//! token, in turn, regardless.
//!
//! A moving block is the case of one process a station of [`stations`](crate::stations).
//! docs/research/moving-block.md has the proofs.

/// What a process knows of the tokens ahead of it.
///
/// ```
/// use headway_core::moving_block::Ahead;
/// let d = 3;
/// let heard = Ahead::Free(3);
/// assert!(heard.lets_go(d));
/// assert_eq!(Ahead::Free(1).tells(false, d), 2);
/// assert_eq!(Ahead::Free(3).tells(true, d), 0, "it holds a token itself");
/// assert_eq!(Ahead::Unknown.tells(false, d), 0, "to be on the safe side");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ahead {
    /// Nothing: a hand-over is not acknowledged yet, or nothing was heard since a
    /// restart.
    #[default]
    Unknown,
    /// From the successor on, no token is nearer to the successor than this many hops, or
    /// [stations](crate::stations).
    Free(u32),
}

impl Ahead {
    /// What a process believes on hearing `news` from its successor, which had received
    /// all hand-overs by then or not.
    #[must_use]
    pub const fn heard(news: u32, all_received: bool) -> Ahead {
        if all_received {
            Ahead::Free(news)
        } else {
            Ahead::Unknown
        }
    }

    /// Whether a token may be handed over: the next one is then at least `separation`
    /// ahead.
    #[must_use]
    pub const fn lets_go(self, separation: u32) -> bool {
        matches!(self, Ahead::Free(hops) if hops >= separation)
    }

    /// What a process tells its predecessor: 0 if it holds a token or does not know,
    /// else one more than it knows, at most `separation`.
    #[must_use]
    pub const fn tells(self, holds: bool, separation: u32) -> u32 {
        self.tells_in(true, holds, separation)
    }

    /// The same where distances count [stations](crate::stations): one more only if the
    /// process is the `last` of its station.
    #[must_use]
    pub const fn tells_in(self, last: bool, holds: bool, separation: u32) -> u32 {
        match self {
            Ahead::Free(ahead) if !holds && ahead < separation => ahead + last as u32,
            Ahead::Free(_) if !holds => separation,
            _ => 0,
        }
    }
}

/// What the patrol carries on a lap, which begins and ends at the first process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lap {
    /// Every process was calm so far.
    #[default]
    Calm,
    /// The same, and on the whole lap before.
    CalmAgain,
    /// Some process was not calm.
    Disturbed,
    /// Gates open.
    Open,
}

/// A process as the patrol finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// A token works here or could be released right now, or a hand-over is not
    /// acknowledged yet.
    Busy,
    /// It holds no token.
    Empty,
    /// It holds tokens, none of which may be released; this one has its turn.
    Stuck(u32),
}

/// What a process remembers from one visit of the patrol to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Watch {
    /// It has released no token.
    #[default]
    Still,
    /// It has released a token.
    Moved,
    /// Its gate is open for this token: it releases it, whatever is ahead, before it
    /// passes the patrol on again.
    Open(u32),
}

impl Watch {
    /// A visit of the patrol that brings `lap`: what it takes along, and what to
    /// remember. `first` at the process where laps begin.
    ///
    /// ```
    /// use headway_core::moving_block::{Found, Lap, Watch};
    /// let (lap, watch) = Watch::Still.visited(Lap::CalmAgain, true, Found::Stuck(7));
    /// assert_eq!((lap, watch), (Lap::Open, Watch::Open(7)), "the second calm lap ends");
    /// let (lap, watch) = Watch::Moved.visited(lap, false, Found::Empty);
    /// assert_eq!((lap, watch), (Lap::Open, Watch::Still), "nothing to let go here");
    /// let (lap, _) = Watch::Moved.visited(Lap::Calm, false, Found::Empty);
    /// assert_eq!(lap, Lap::Disturbed);
    /// ```
    #[must_use]
    pub const fn visited(self, lap: Lap, first: bool, found: Found) -> (Lap, Watch) {
        let calm = !matches!(self, Watch::Moved) && !matches!(found, Found::Busy);
        let passed = match lap {
            Lap::Calm if calm && first => Lap::CalmAgain,
            Lap::CalmAgain if calm && first => Lap::Open,
            Lap::Calm | Lap::CalmAgain if calm => lap,
            Lap::Open if !first => Lap::Open,
            _ if first => Lap::Calm,
            _ => Lap::Disturbed,
        };
        match (passed, found) {
            (Lap::Open, Found::Stuck(token)) => (passed, Watch::Open(token)),
            _ => (passed, Watch::Still),
        }
    }
}
