//! What somebody should know: alarms, and datagrams that were refused.

use std::collections::BTreeMap;
use std::fmt;
use std::mem::discriminant;
use std::time::Duration;

use headway_node::{ConfigError, PlanError, Rejected, wire};
use thiserror::Error;

use crate::membership::control;
use crate::request::Refusal;
use crate::store::Doubt;

/// Something that somebody should look at.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Alarm {
    /// The ring would not work without a member, or with it.
    #[error("{name} cannot be bypassed, or come back: {why}")]
    NoBypass { name: String, why: Refusal },
    /// A node was configured with another first roster.
    #[error(
        "{0} was configured with other members, tokens or times: make ring.members, [ring] and \
         [timing] the same"
    )]
    OtherMembers(String),
    /// There are two rosters of one version.
    #[error(
        "{0} has another membership of this version: there are two rings, and both may grant. Stop the \
         nodes of one, and add them to the other as new ones (docs/operators/voters.md)"
    )]
    TwoRings(String),
    /// Its program is older than the ring's wire format.
    #[error("{0} does not speak wire format {1}, which the ring has: upgrade its program")]
    TooOld(String, u8),
    /// This program is too old, or too new.
    #[error(
        "the ring writes wire format {wire}, and this program speaks {}: stays out; install one \
         that speaks it",
        Spoken(*newest)
    )]
    NoWire { wire: u8, newest: u8 },
    /// Somebody's program is two releases away.
    #[error(
        "somebody writes wire format {theirs}, and this program speaks {}: stays out; upgrade one \
         release at a time, or install the program that the ring has",
        Spoken(*newest)
    )]
    OtherWire { theirs: u8, newest: u8 },
    /// The tokens do not fit the roster.
    #[error("membership {version} cannot run: {error}")]
    NoPlan { version: u64, error: PlanError },
    /// Nobody else has joined yet.
    #[error(
        "the only member so far: `headway node invite` prints the line that lets another machine in"
    )]
    Alone,
    /// The node cannot take its place.
    #[error(transparent)]
    NoPlace(ConfigError),
    /// A neighbour is silent.
    #[error("neighbour {0} is silent; tokens stop behind it")]
    Silent(String),
    /// The kept roster cannot be read, and the file's may be an old one.
    #[error(
        "the kept membership cannot be used: asks the others for it. If none has one, remove \
         `membership` and `membership.age` from node.state_dir everywhere"
    )]
    NoRosterKept,
    /// Two machines speak with one name and key.
    #[error(
        "two machines speak as {0}, with its key, or somebody repeats what it says: stop the copy, \
         and give {0} another key (`headway node rotate-key`, docs/operators/keys.md)"
    )]
    Cloned(String),
    /// Somebody has a roster that it cannot prove to this node.
    #[error(
        "{0} offers membership {1}, which too few voters have signed that this node knows: if it is \
         right, put today's members with their keys into ring.members here, and start this node \
         without `membership` and `membership.age` in node.state_dir; if not, somebody has {0}'s key"
    )]
    Unproven(String, u64),
    /// The roster does not name this node's key.
    #[error(
        "the membership has another key for this node than node.identity_file: put the old file back, \
         or remove this node, and add it with the key that `headway node identity` prints"
    )]
    OtherKey,
    /// What was kept is not relied on.
    #[error("{0}: joins afresh when permits of before are over")]
    Doubtful(Doubt),
    /// The neighbours know a later state.
    #[error(
        "the kept state is older than what the neighbours were told, as if a file or a machine had \
         been restored: joins afresh when permits of before are over"
    )]
    RolledBack,
    /// A rollout goes no further.
    #[error(
        "rollout {0} has stopped: {1}; `headway rollout resume {0} --retry` when that is mended, or \
         `headway rollout abort {0}`"
    )]
    RolloutFailed(String, String),
    /// The voters cannot decide, or the one here has no vote.
    #[error("{0}")]
    Voting(String),
    /// What a change makes of a roster is something else there.
    #[error(
        "{0} makes another membership of the same change than this program: nothing is decided until \
         all run the same release"
    )]
    OtherProgram(String),
    /// Somebody tells fencing numbers that cannot be.
    #[error(
        "a neighbour tells fencing numbers that are a century ahead, and they are refused: if it is \
         said to be silent, its clock was wrong by decades when it started, so set the clock, and \
         stop and start all nodes; if not, somebody has its key (`headway node rotate-key`)"
    )]
    FenceRefused,
    /// Something could not be kept on disk.
    #[error("{0}")]
    NotKept(String),
}

impl Alarm {
    /// A later word about the same thing.
    fn renews(&self, old: &Alarm) -> bool {
        match (old, self) {
            (Alarm::Unproven(old, _), Alarm::Unproven(new, _)) => old == new,
            _ => old == self,
        }
    }
}

/// The versions that a program speaks.
struct Spoken(u8);

impl fmt::Display for Spoken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (wire::oldest(self.0), self.0) {
            (oldest, newest) if oldest == newest => write!(formatter, "{newest} only"),
            (oldest, newest) => write!(formatter, "{oldest} and {newest}"),
        }
    }
}

/// Alarms of one kind at most, so that whoever has a key, and speaks with a thousand names or of a
/// thousand rosters, fills neither the log nor the place of other alarms.
const MAX_OF_A_KIND: usize = 16;

/// The alarms at present; each is logged when it is raised.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alarms(Vec<Alarm>);

impl Alarms {
    /// Raises an alarm, unless it is raised already, or so many like it are.
    pub(crate) fn raise(&mut self, alarm: Alarm) {
        if let Some(old) = self.0.iter_mut().find(|old| alarm.renews(old)) {
            *old = alarm;
            return;
        }
        let kind = discriminant(&alarm);
        let alike = self.0.iter().filter(|old| discriminant(*old) == kind);
        if alike.count() < MAX_OF_A_KIND {
            tracing::error!(%alarm);
            self.0.push(alarm);
        }
    }

    /// Raises an alarm or ends it.
    pub(crate) fn set(&mut self, raised: bool, alarm: Alarm) {
        if raised {
            self.raise(alarm);
        } else {
            self.clear(|other| *other == alarm);
        }
    }

    /// Ends the alarms that are over.
    pub(crate) fn clear(&mut self, over: impl Fn(&Alarm) -> bool) {
        self.0.retain(|alarm| !over(alarm));
    }

    /// What they say.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(ToString::to_string)
    }
}

/// Why a datagram, or what it brought, was not listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The protocol's own reasons.
    Ring(Rejected),
    /// Those of control datagrams.
    Control(control::Refused),
    /// A roster that came whole and was not one.
    Roster,
    /// This node takes no part in a ring.
    NoRing,
}

impl Reason {
    /// A name for labels and tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Reason::Ring(reason) => reason.name(),
            Reason::Control(reason) => reason.name(),
            Reason::Roster => "roster",
            Reason::NoRing => "no_ring",
        }
    }

    /// Nodes that start and change rings are out of step for a moment; that is not worth a
    /// line in the log.
    const fn is_usual(self) -> bool {
        use Rejected::{Receiver, Ring, Sender, Stale};
        matches!(
            self,
            Reason::Ring(Stale | Ring | Sender | Receiver) | Reason::NoRing
        )
    }
}

/// Lines of the log that would come again and again: each the first time, and then once a minute at
/// most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seldom(BTreeMap<String, Duration>);

impl Seldom {
    /// Whether this is to be logged.
    pub(crate) fn may(&mut self, now: Duration, what: &str) -> bool {
        let last = self.0.get(what);
        let may = last.is_none_or(|last| now.saturating_sub(*last) >= Duration::from_secs(60));
        if may {
            self.0.insert(what.to_owned(), now);
        }
        may
    }
}

/// How long after the last one somebody should still know.
const RECENT: Duration = Duration::from_secs(600);

/// How long one reason is not logged again.
const QUIET: Duration = Duration::from_secs(10);

/// Counts what was not listened to, and says so now and then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rejections {
    /// By reason.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    logged: BTreeMap<&'static str, Duration>,
}

impl Rejections {
    /// Whether fencing numbers were refused a short while ago.
    pub(crate) fn has_refused_fences(&self, now: Duration) -> bool {
        let last = self.logged.get(Rejected::Fence.name());
        last.is_some_and(|last| now.saturating_sub(*last) < RECENT)
    }

    /// Counts some more.
    pub(crate) fn add(&mut self, now: Duration, reason: Reason, count: u64) {
        let total = self.counts.entry(reason.name()).or_default();
        *total += count;
        if reason.is_usual() {
            tracing::debug!(reason = reason.name(), count, "datagrams rejected");
            return;
        }
        let last = self.logged.get(reason.name());
        if last.is_none_or(|last| now.saturating_sub(*last) >= QUIET) {
            tracing::warn!(reason = reason.name(), count, total, "datagrams rejected");
            self.logged.insert(reason.name(), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(alarms: &Alarms) -> usize {
        alarms.texts().count()
    }

    #[test]
    fn what_would_be_logged_every_second_is_logged_once_a_minute() {
        let mut seldom = Seldom::default();
        let lines = |seldom: &mut Seldom, what| {
            let seconds = 0..=120;
            let said = seconds.filter(|at| seldom.may(Duration::from_secs(*at), what));
            said.collect::<Vec<u64>>()
        };
        assert_eq!(lines(&mut seldom, "b"), [0, 60, 120]);
        assert_eq!(lines(&mut seldom, "c"), [0, 60, 120], "each for itself");
    }

    #[test]
    fn a_thousand_names_are_a_few_alarms_and_leave_room_for_others() {
        let other = |number: u32| Alarm::OtherMembers(format!("x{number}"));
        let mut alarms = Alarms::default();
        for number in 0..1_000 {
            alarms.set(true, other(number));
        }
        assert_eq!(count(&alarms), MAX_OF_A_KIND);
        alarms.raise(Alarm::Silent("b".into()));
        alarms.raise(Alarm::Silent("b".into()));
        assert_eq!(count(&alarms), MAX_OF_A_KIND + 1);
        // When one is over, another has its place.
        alarms.set(false, other(3));
        alarms.set(true, other(999));
        assert!(alarms.0.contains(&other(999)) && !alarms.0.contains(&other(3)));
        assert_eq!(count(&alarms), MAX_OF_A_KIND + 1);
    }

    #[test]
    fn a_member_that_offers_a_thousand_rosters_is_one_alarm() {
        let mut alarms = Alarms::default();
        for version in 0..1_000 {
            alarms.raise(Alarm::Unproven("e".into(), version));
        }
        alarms.raise(Alarm::Unproven("d".into(), 7));
        let unproven = |name: &str, version| Alarm::Unproven(name.into(), version);
        assert_eq!(alarms.0, [unproven("e", 999), unproven("d", 7)]);
    }
}
