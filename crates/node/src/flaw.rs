//! Errors that can be built into a machine, one at a time (feature `flaws`).
//!
//! Each is a step of the protocol left out or done wrong, and each is caught by
//! the seeded runs of `tests/flaws.rs`.

/// One error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "flaws"), expect(dead_code, unreachable_pub))]
pub enum Flaw {
    /// A clock that is out of step with a neighbour does not reset.
    NoReset,
    /// The clock's modulus is at most n, so clocks can be wound round the ring.
    ClockModulusTooSmall,
    /// Resets go back to 0: there is no tail to climb.
    NoTail,
    /// A clock that recovers does not wait until its neighbours know its phase. Not
    /// caught by runs, whose delays are random: only an evil schedule does harm with
    /// it, and the checker finds that (`testsuite/agreement/clocks.rs`).
    NoAcknowledgement,
    /// The token rings have two values, whatever the ring's size.
    TwoValues,
    /// A token is passed on while its permit is being used.
    PublishBeforeWorkDone,
    /// A neighbour that is a tick ahead is read as if it were not.
    NoPreviousTick,
    /// Datagrams of another ring are listened to.
    AcceptAnyRing,
    /// Datagrams are not authenticated.
    AcceptUnauthenticated,
    /// Datagrams that are older than what is known are listened to.
    AcceptStale,
    /// A sequence number from the future is believed for ever: no challenges.
    NoChallenge,
    /// Nothing is sent twice.
    NoRefresh,
    /// A clock ticks although a neighbour is behind.
    TickAlone,
    /// The delay does not wait.
    NoDelay,
    /// Fencing numbers are counted by every node for itself.
    FenceFromMemory,
    /// Permits are granted before anything is known to be legitimate, and the
    /// verdict says settled from the start.
    SettledAtOnce,
    /// Corrupted variables out of their domain are not put back into it.
    NoSanity,
}

#[cfg(feature = "flaws")]
impl Flaw {
    /// All that runs catch.
    pub const ALL: [Flaw; 16] = [
        Flaw::NoReset,
        Flaw::ClockModulusTooSmall,
        Flaw::NoTail,
        Flaw::TwoValues,
        Flaw::PublishBeforeWorkDone,
        Flaw::NoPreviousTick,
        Flaw::AcceptAnyRing,
        Flaw::AcceptUnauthenticated,
        Flaw::AcceptStale,
        Flaw::NoChallenge,
        Flaw::NoRefresh,
        Flaw::TickAlone,
        Flaw::NoDelay,
        Flaw::FenceFromMemory,
        Flaw::SettledAtOnce,
        Flaw::NoSanity,
    ];
}
