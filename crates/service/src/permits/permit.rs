//! Permits, who holds them, and what is done about them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::command::Run;
use crate::request::{Given, Refusal, RequestId, Ticket};
use crate::rollouts::Task;

/// A token that a node may use, until it says that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Which token.
    pub token: u32,
    /// The fencing number of this grant, larger than that of any grant of the token before.
    pub fence: u64,
}

/// Who waits for a permit, or holds one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holder {
    /// The configured command.
    Command,
    /// A step of a rollout.
    Step,
    /// A program, by the ticket that it was given when it asked.
    #[expect(missing_docs, reason = "said above")]
    Program { ticket: Ticket },
    /// A FleetLock client.
    #[expect(missing_docs, reason = "as the client says")]
    FleetLock { group: String, id: String },
}

impl Holder {
    /// A command, which this node runs and can stop.
    pub(crate) const fn is_command(&self) -> bool {
        matches!(self, Holder::Command | Holder::Step)
    }

    /// A client on another program's word, which nothing here can stop.
    pub(crate) const fn is_fleetlock(&self) -> bool {
        matches!(self, Holder::FleetLock { .. })
    }
}

/// A permit in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Permit {
    pub(crate) grant: Grant,
    pub(crate) holder: Holder,
    pub(crate) since: Duration,
    /// When it is withdrawn at the latest.
    pub(crate) deadline: Duration,
    /// How long it may take to end then, whatever other rosters say.
    pub(crate) stop_timeout: Duration,
    /// Its holder knows that it has it.
    pub(crate) collected: bool,
    /// When it ends unless it is extended.
    pub(crate) lease: Option<Duration>,
    /// For a program: how long its lease is, as it asked for it last.
    pub(crate) length: Option<Duration>,
    /// It was asked back, and ends then at the latest.
    pub(crate) ends: Option<Duration>,
    /// Its command was ended by a clean stop of the node.
    pub(crate) stopped: bool,
}

impl Permit {
    /// When it ends by itself, if anything ends it. Once it was asked back, its holder has the
    /// stop timeout, also if its lease could not be longer than until then.
    pub(super) fn over_at(&self) -> Option<Duration> {
        self.ends.or(self.lease)
    }
}

/// Something to be done because of a permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The token may go on.
    Done(Grant),
    /// Somebody wants a permit that nobody has used, if its token still stands here.
    Wanted(Grant),
    /// The command is to be run.
    StartCommand(CommandPermit),
    /// A step of a rollout is to be run.
    StartStep(CommandPermit),
    /// The command has to stop.
    StopCommand(Grant),
    /// A program has its permit.
    Given(RequestId, Given),
    /// The command that a request waits for has ended.
    CommandEnded(RequestId, Outcome),
    /// A program's request will never be met.
    Refused(RequestId, Refusal),
    /// Somebody has used a permit.
    Ended(Used),
}

/// A permit that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) grant: Grant,
    pub(crate) holder: Holder,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

/// How a permit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The command ended well.
    Succeeded,
    /// The command failed.
    Failed,
    /// It was given back.
    Released,
    /// It was not extended in time, or its time was over.
    Expired,
    /// It was asked back and not given back in time.
    Overrun,
}

/// What a command is told about its permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPermit {
    /// Its token.
    pub grant: Grant,
    /// The number of this run, unlike any other.
    pub run: u64,
    /// How long there is.
    pub time: Duration,
    /// And how long to end then.
    pub stop_timeout: Duration,
    /// What to run instead of the configured command.
    pub task: Option<Task>,
}

/// What permits go by.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// A permit is withdrawn after this long.
    pub(crate) max_hold: Duration,
    /// It ends this long after it was asked back.
    pub(crate) stop_timeout: Duration,
    /// A program that says nothing for this long loses its permit.
    pub(crate) lease: Duration,
    /// FleetLock requests that are not repeated are forgotten after this long.
    pub(crate) patience: Duration,
    /// The command wants every permit.
    pub(crate) every_permit: bool,
    /// How many FleetLock clients of a group may have one at a time.
    pub(crate) slots: Slots,
}

/// A group of FleetLock clients uses as many of the ring's tokens as it has slots, and no other:
/// so no more of them have a permit at a time, on all nodes together, without asking anybody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    tokens: u32,
    /// For each group, its first token and how many follow, on a ring of tokens.
    groups: BTreeMap<String, (u32, u32)>,
}

impl Slots {
    /// Every group uses all tokens.
    #[cfg(test)]
    pub(super) const NONE: Slots = Slots {
        tokens: 1,
        groups: BTreeMap::new(),
    };

    /// In the order of their names groups get different tokens for as long as there are any.
    pub(crate) fn new(tokens: u32, slots: &BTreeMap<String, NonZeroU32>) -> Slots {
        let mut first = 0;
        let group = |(group, slots): (&String, &NonZeroU32)| {
            let range = (first, slots.get());
            first = (first + slots.get()) % tokens.max(1);
            (group.clone(), range)
        };
        let groups = slots.iter().map(group).collect();
        Slots { tokens, groups }
    }

    /// Whether a token serves somebody who waits. Groups without slots of their own use all.
    pub(super) fn allow(&self, holder: &Holder, token: u32) -> bool {
        let Holder::FleetLock { group, .. } = holder else {
            return true;
        };
        self.groups.get(group).is_none_or(|&(first, slots)| {
            (token + self.tokens - first) % self.tokens.max(1) < slots
        })
    }
}

impl Rules {
    /// How long somebody who had a permit before a restart may count on it, from then on.
    pub(super) fn counted_on(&self, entry: &Entry) -> Duration {
        let most = self.max_hold;
        entry.length.map_or(most, |length| length.min(most))
    }

    /// Whether somebody who waits still waits after a restart: also a command that was asked for.
    pub(super) const fn outlives(&self, holder: &Holder) -> bool {
        match holder {
            Holder::FleetLock { .. } => true,
            Holder::Command => !self.every_permit,
            Holder::Step | Holder::Program { .. } => false,
        }
    }
}

/// What survives a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// FleetLock clients that wait, and the command if it was asked for, in order.
    pub waiting: Vec<Holder>,
    /// Permits in use.
    pub using: Vec<Entry>,
}

/// A permit in use, as remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Which token.
    pub token: u32,
    /// Its number.
    pub fence: u64,
    /// By whom.
    #[serde(rename = "who")]
    pub holder: Holder,
    /// Its holder knows that it has it.
    #[serde(default)]
    pub collected: bool,
    /// Its command was ended by a clean stop of the node: it goes on when the node is back.
    #[serde(default)]
    pub stopped: bool,
    /// For a program: how long its lease is. Version 0.2.0 did not note it.
    #[serde(default, rename = "lease")]
    pub length: Option<Duration>,
}

/// Numbers the runs of the command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    /// The session of the node's process.
    pub(crate) session: i32,
    /// Gives numbers that nobody can guess.
    pub(crate) random: fn() -> u64,
}

impl Runs {
    pub(super) fn next(self) -> Run {
        Run {
            id: (self.random)(),
            session: self.session,
            process: None,
        }
    }
}
