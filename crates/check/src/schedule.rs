//! Who is selected in a step.

use strum::{Display, EnumString, IntoStaticStr};

/// Which sets of enabled processes may make their assignment in one step. All are
/// unfair: a process may never be selected.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Display,
    EnumString,
    IntoStaticStr,
)]
#[strum(serialize_all = "kebab-case")]
#[strum(parse_err_ty = UnknownScheduler, parse_err_fn = unknown)]
pub enum Scheduler {
    /// All enabled processes.
    Synchronous,
    /// One enabled process. Whoever names no scheduler means this one: it is Dijkstra's, and
    /// other tools know it too.
    #[default]
    Central,
    /// Enabled processes of which no two are neighbours; at least one.
    LocallyCentral,
    /// Any enabled processes; at least one.
    Distributed,
}

impl Scheduler {
    /// All schedulers.
    pub const ALL: [Scheduler; 4] = [
        Scheduler::Synchronous,
        Scheduler::Central,
        Scheduler::LocallyCentral,
        Scheduler::Distributed,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Every set that may be selected from the enabled ones, in a fixed order.
    /// `neighbours` gives the neighbours of a process.
    pub fn selections(
        self,
        enabled: u64,
        neighbours: impl Fn(usize) -> u64,
    ) -> impl Iterator<Item = u64> {
        let mut rest = enabled;
        let sets = std::iter::from_fn(move || {
            let set = match self {
                Scheduler::Central => rest & rest.wrapping_neg(),
                _ => rest,
            };
            rest = match self {
                Scheduler::Synchronous => 0,
                Scheduler::Central => rest ^ set,
                // All subsets, descending: s - 1 restricted to `enabled`.
                _ => set.wrapping_sub(1) & enabled,
            };
            (set != 0).then_some(set)
        });
        sets.filter(move |&set| {
            self != Scheduler::LocallyCentral
                || bits(set).all(|process| neighbours(process) & set == 0)
        })
    }
}

/// The neighbours of a process on a ring of n, as a set.
pub(crate) fn ring_neighbours(process: usize, n: usize) -> u64 {
    (1 << ((process + 1) % n)) | (1 << ((process + n - 1) % n))
}

/// The members of a set, ascending.
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let bit = set.trailing_zeros() as usize;
            set &= set - 1;
            bit
        })
    })
}

/// The text names no scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected synchronous, central, locally-central or distributed")]
pub struct UnknownScheduler;

fn unknown(_: &str) -> UnknownScheduler {
    UnknownScheduler
}
