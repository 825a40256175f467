//! The local state of a process.

/// What a process remembers between two rounds (paper, section 5).
///
/// `Default` is a process without tokens whose counter has run down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Process {
    /// q: tokens on their way to the successor, which takes them all in the
    /// next round. At most 1 after any round, anything at the start.
    pub queued: u32,
    /// r: tokens that stay here for now.
    pub resting: u32,
    /// c: rounds until a delay may release again, 0 to d-1. Always 0 at a relay.
    /// Negative only under `measure-as-printed`, whose error that is.
    pub counter: i32,
}

impl Process {
    /// Tokens at this process, queued or resting.
    pub const fn tokens(self) -> u64 {
        self.queued as u64 + self.resting as u64
    }
}
