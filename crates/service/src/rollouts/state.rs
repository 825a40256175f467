//! What is known of rollouts: a state that only grows, so that copies which have drifted apart
//! become equal by joining them, in any order and as often as one likes.
//!
//! It is made of [`Atom`]s: what a rollout is, whether it is to go on, and how far each member
//! is. Of two atoms about the same thing the larger one holds. Only a member itself says how far
//! it is, and signs it (but for the first word, which whoever starts the rollout says for all).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How many rollouts are remembered.
pub(crate) const MAX_KEPT: usize = 8;

/// Which rollout: numbers grow, and the salt tells apart two that were started at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Id(pub u64, pub u64);

/// What was asked for. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Spec {
    /// What people call it.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Members that go first; the others wait until all of them are done.
    pub canaries: Vec<String>,
    /// When steps may begin.
    pub window: Option<Window>,
    /// How long a member keeps its permit after its command.
    pub settle_ms: u64,
    /// What has to succeed before it passes the permit on.
    pub healthy: Vec<String>,
    /// How many members have a step.
    pub total: u32,
    /// The node that started it, and when, in Unix time.
    pub by: String,
    /// When it was started, in Unix time.
    pub at_ms: u64,
}

/// Whether it is to go on. An end is final; otherwise the last word counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Order {
    /// No step begins any more.
    pub aborted: bool,
    /// Grows with every word.
    pub version: u64,
    /// No step begins for now.
    pub paused: bool,
    /// It stops when so many steps have failed.
    pub max_failures: u32,
    /// Steps that failed before this grew are run again.
    pub retry: u32,
    /// The node where it was said.
    pub by: String,
    /// When, in Unix time.
    pub at_ms: u64,
}

/// How far a member is. Later attempts count more, and a later phase of the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Step {
    /// Grows whenever the command may run once more.
    pub attempt: u32,
    /// How far.
    pub phase: StepPhase,
    /// [`Order::retry`] of this attempt.
    pub retry: u32,
    /// When this attempt began, in Unix time; 0 before.
    pub began_ms: u64,
    /// When it ended; 0 before.
    pub ended_ms: u64,
    /// Why it failed.
    pub why: String,
    /// Of the member, if members have keys of their own. It is no part of what is known, and a
    /// node does not keep its own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
}

impl Step {
    /// What its member signs.
    pub(crate) fn message(&self, Id(number, salt): Id, member: &str) -> Vec<u8> {
        let signature = String::new();
        let unsigned = Step {
            signature,
            ..self.clone()
        };
        let what = serde_json::to_string(&unsigned).unwrap_or_default();
        format!("headway step {number} {salt} {member} {what}").into_bytes()
    }
}

/// How far an attempt is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum StepPhase {
    /// It waits for its turn.
    #[default]
    Pending,
    /// The command runs, or the member settles.
    Running,
    /// It did not work.
    Failed,
    /// It did.
    Done,
}

/// A time of day, in minutes from midnight in UTC; the end may be on the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Window {
    /// Minutes since midnight, in UTC.
    pub from_minute: u16,
    /// Minutes since midnight, in UTC; on the next day if it is less than from_minute.
    pub until_minute: u16,
}

impl Window {
    /// Whether it is open at a Unix time.
    pub(crate) const fn is_open(&self, unix_ms: u64) -> bool {
        let minute = (unix_ms / 60_000 % 1440) as u16;
        if self.from_minute <= self.until_minute {
            self.from_minute <= minute && minute < self.until_minute
        } else {
            self.from_minute <= minute || minute < self.until_minute
        }
    }
}

/// One thing that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Atom {
    /// What a rollout is.
    Spec(Id, Spec),
    /// Whether it is to go on.
    Order(Id, Order),
    /// How far a member is.
    Step(Id, String, Step),
}

impl Atom {
    /// Which rollout it is about.
    pub(crate) const fn id(&self) -> Id {
        match self {
            Atom::Spec(id, _) | Atom::Order(id, _) | Atom::Step(id, ..) => *id,
        }
    }
}

/// All that is known of one rollout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollout {
    /// What it is; news of its members may be here first.
    pub spec: Option<Spec>,
    /// Whether it is to go on.
    pub order: Option<Order>,
    /// How far the members are.
    pub steps: BTreeMap<String, Step>,
}

impl Rollout {
    /// Members in a phase.
    pub(crate) fn count(&self, phase: StepPhase) -> u32 {
        let steps = self.steps.values();
        steps.filter(|step| step.phase == phase).count() as u32
    }

    /// Whether so many have failed, or one that goes first, that no step begins any more.
    pub(crate) fn has_failed(&self) -> bool {
        let most = self.order.as_ref().map_or(1, |order| order.max_failures);
        let mut canaries = self.spec.iter().flat_map(|spec| &spec.canaries);
        let failed = || self.failed().map(|(name, _)| name);
        failed().count() >= most as usize
            || canaries.any(|name| failed().any(|other| other == name))
    }

    /// Steps that have failed and are not to be tried again.
    pub(crate) fn failed(&self) -> impl Iterator<Item = (&String, &Step)> {
        let retry = self.order.as_ref().map_or(0, |order| order.retry);
        let failed = move |step: &Step| step.phase == StepPhase::Failed && step.retry >= retry;
        self.steps.iter().filter(move |(_, step)| failed(step))
    }
}

/// All rollouts that are remembered: those with the largest numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State(pub BTreeMap<Id, Rollout>);

impl State {
    /// Takes what is new in an atom. Whether anything was.
    pub fn join(&mut self, atom: Atom) -> bool {
        let id = atom.id();
        let full = self.0.len() >= MAX_KEPT && !self.0.contains_key(&id);
        if full
            && self
                .0
                .first_key_value()
                .is_some_and(|(least, _)| id < *least)
        {
            return false;
        }
        let rollout = self.0.entry(id).or_default();
        let new = match atom {
            Atom::Spec(_, spec) => grow(&mut rollout.spec, Some(spec)),
            Atom::Order(_, order) => grow(&mut rollout.order, Some(order)),
            Atom::Step(_, name, step) => match rollout.steps.entry(name) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(step);
                    true
                }
                std::collections::btree_map::Entry::Occupied(mut known) => {
                    grow(known.get_mut(), step)
                }
            },
        };
        while self.0.len() > MAX_KEPT {
            self.0.pop_first();
        }
        new
    }

    /// Whether [`State::join`] would take something from it.
    pub(crate) fn is_new(&self, atom: &Atom) -> bool {
        let Some(rollout) = self.0.get(&atom.id()) else {
            return true;
        };
        match atom {
            Atom::Spec(_, spec) => rollout.spec.as_ref() < Some(spec),
            Atom::Order(_, order) => rollout.order.as_ref() < Some(order),
            Atom::Step(_, name, step) => rollout.steps.get(name) < Some(step),
        }
    }

    /// All that is known of one rollout.
    pub fn atoms(&self, id: Id) -> impl Iterator<Item = Atom> {
        let rollout = self.0.get(&id).into_iter();
        rollout.flat_map(move |rollout| {
            let spec = rollout
                .spec
                .iter()
                .map(move |spec| Atom::Spec(id, spec.clone()));
            let order = rollout.order.iter();
            let order = order.map(move |order| Atom::Order(id, order.clone()));
            let steps = rollout.steps.iter();
            let steps = steps.map(move |(name, step)| Atom::Step(id, name.clone(), step.clone()));
            spec.chain(order).chain(steps)
        })
    }

    /// Equal for equal knowledge of these members, for each rollout. Signatures do not count:
    /// they change with the keys.
    pub(crate) fn digests(&self, is_member: impl Fn(&str) -> bool) -> Vec<(Id, u64)> {
        let digest = |rollout: &Rollout| {
            let mut rollout = rollout.clone();
            rollout.steps.retain(|name, _| is_member(name));
            for step in rollout.steps.values_mut() {
                step.signature.clear();
            }
            let text = serde_json::to_vec(&rollout).unwrap_or_default();
            let digest = Sha256::digest(text);
            digest[..8]
                .iter()
                .fold(0, |all, &byte| all << 8 | u64::from(byte))
        };
        let all = self.0.iter();
        all.map(|(id, rollout)| (*id, digest(rollout))).collect()
    }
}

fn grow<T: Ord>(known: &mut T, told: T) -> bool {
    let new = told > *known;
    if new {
        *known = told;
    }
    new
}

#[cfg(test)]
mod tests;
