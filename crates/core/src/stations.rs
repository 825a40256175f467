//! Stations: a token lets a whole group work at once.
//!
//! The ring is cut into stations of consecutive processes. A process that a token visits
//! may begin work under it or decline. Inside a station the token goes on without waiting
//! for the end of the work; it crosses into the next station when all work begun under it
//! in this one has ended and the next token is then at least d stations ahead. So two works
//! in progress are under the same visit of one token in the same station, or in stations at
//! least d apart. With k stations and m tokens it takes k ≥ m·d + 1.
//!
//! It is the [moving block](crate::moving_block) with one thing more: news that travels
//! with the tokens. News against them, [`Ahead`], counts stations: telling it on adds one
//! only where a station ends ([`Ahead::tells_in`]). News with them, [`Progress`], says up to
//! where a station has ended its work.
//!
//! That news has to say *which* work. So an entry of a token into a station has a number,
//! larger than those of the entries before, and a visit leaves it behind
//! ([`Member::visited`]). A process tells the next one that all have ended if it has ended
//! itself and has heard so for its own number or a larger one ([`Member::progress`]): a
//! number never falls, so what was heard of an earlier entry is never taken for news of this
//! one.
//!
//! What is forgotten in a restart is what was heard. [`Member`] outlasts it, as do the
//! tokens, the counts of hand-overs and the hand-over that is not acknowledged yet.
//!
//! Numbers do not wrap round; who receives them from elsewhere must refuse those close to
//! the largest. A fence for a resource must be another number.
//!
//! docs/research/stations.md has the rule as a whole and its proof, `proof/Stations.v` the same
//! machine-checked.

use crate::moving_block::Ahead;

/// Where a process is in its station. Processes of a moving block are both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The predecessor is in another station.
    pub first: bool,
    /// The successor is in another station.
    pub last: bool,
}

/// What became of the last visit of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// Whether to work is open. The token stays until that is decided.
    Undecided,
    /// Work is in progress.
    Working,
    /// There was work, and it has ended.
    Ended,
    /// There was none.
    #[default]
    Declined,
}

impl Work {
    /// Whether nothing is in progress and nothing can begin before the next visit.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Work::Ended | Work::Declined)
    }
}

/// What a process tells the next one of its station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// The number of the entry that it speaks of.
    pub number: u64,
    /// Whether all work of that entry is over, from the first process up to this one.
    pub over: bool,
    /// How many works of it have ended there.
    pub ended: u32,
}

/// What a process keeps of the visits of tokens, in a restart as well.
///
/// ```
/// use headway_core::moving_block::Ahead;
/// use headway_core::stations::{Member, Place, Progress, Work};
///
/// // A station of two. A token with number 6 enters it, and the first begins to work.
/// let first = Place { first: true, last: false };
/// let last = Place { first: false, last: true };
/// let mut one = Member::default().visited(first, 6);
/// assert_eq!((one.number, one.work), (7, Work::Undecided));
/// one.work = Work::Working;
///
/// // The token goes on, and leaves the station when both have ended.
/// let nothing = Progress::default();
/// assert!(one.lets_go(first, nothing, Ahead::Free(0), 1), "without waiting");
/// let mut two = Member::default().visited(last, one.number);
/// two.work = Work::Declined;
/// let heard = one.progress(first, nothing);
/// assert!(!two.lets_go(last, heard, Ahead::Free(1), 1), "the first still works");
/// one.work = Work::Ended;
/// let heard = one.progress(first, nothing);
/// assert!(two.lets_go(last, heard, Ahead::Free(1), 1));
///
/// // After the next visit the same news is of an earlier entry.
/// let two = Member { work: Work::Ended, ..two.visited(last, 8) };
/// assert!(!two.lets_go(last, heard, Ahead::Free(1), 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Member {
    /// The number of the entry that visited it last. It never falls.
    pub number: u64,
    /// What became of the visit.
    pub work: Work,
}

impl Member {
    /// A visit of a token that was given with this number. Who still works declines, and
    /// goes on working.
    #[must_use]
    pub const fn visited(self, place: Place, carried: u64) -> Member {
        let own = self.number.saturating_add(!place.first as u64);
        let number = if carried > own { carried } else { own };
        Member {
            number: number.saturating_add(place.first as u64),
            work: match self.work {
                Work::Working => Work::Working,
                _ => Work::Undecided,
            },
        }
    }

    /// The successor in the same station tells its number, which is taken over if it is
    /// larger. That happens only after faults: else a predecessor is never behind.
    #[must_use]
    pub const fn adopts(self, told: u64) -> Member {
        let number = if told > self.number {
            told
        } else {
            self.number
        };
        Member { number, ..self }
    }

    /// What it tells the next process of its station, by what it has heard of the one
    /// before (the default, if nothing since a restart).
    #[must_use]
    pub const fn progress(self, place: Place, heard: Progress) -> Progress {
        let own = matches!(self.work, Work::Ended) as u32;
        Progress {
            number: self.number,
            over: self.work.is_over() && self.over_before(place, heard),
            ended: self.ended_before(place, heard).saturating_add(own),
        }
    }

    /// Whether it may begin to work under a token that stands here, if at most `limit` may
    /// work at once in a station. `begun` works have begun under the token since it entered
    /// the station.
    ///
    /// ```
    /// use headway_core::stations::{Member, Place, Progress, Work};
    /// let second = Place { first: false, last: false };
    /// let member = Member { number: 7, work: Work::Undecided };
    /// let heard = |number, ended| Progress { number, over: false, ended };
    /// assert!(member.may_begin(second, heard(7, 1), 2, 2), "one of two has ended");
    /// assert!(!member.may_begin(second, heard(6, 1), 2, 2), "not of this entry");
    /// ```
    #[must_use]
    pub const fn may_begin(self, place: Place, heard: Progress, begun: u32, limit: u32) -> bool {
        let at_work = begun.saturating_sub(self.ended_before(place, heard));
        matches!(self.work, Work::Undecided) && (at_work < limit || self.over_before(place, heard))
    }

    /// Whether a token may go on: inside a station once all hand-overs are acknowledged;
    /// into the next one if the token ahead is then `separation` stations ahead and all
    /// work here is over.
    #[must_use]
    pub const fn lets_go(
        self,
        place: Place,
        heard: Progress,
        ahead: Ahead,
        separation: u32,
    ) -> bool {
        if place.last {
            ahead.lets_go(separation) && self.progress(place, heard).over
        } else {
            matches!(ahead, Ahead::Free(_)) && !matches!(self.work, Work::Undecided)
        }
    }

    /// Whether all before it in the station have ended the work of its entry.
    const fn over_before(self, place: Place, heard: Progress) -> bool {
        place.first || (heard.over && heard.number >= self.number)
    }
    /// How many works of its entry are known to have ended before it in the station.
    const fn ended_before(self, place: Place, heard: Progress) -> u32 {
        if !place.first && heard.number == self.number {
            heard.ended
        } else {
            0
        }
    }
}
