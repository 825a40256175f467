//! Starting rollouts and saying whether they go on; what a step runs.

use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::state::{Atom, Id, Order, Rollout, Spec, Step, Window};
use super::{MAX_NEWS_BYTES, Rollouts};
use crate::request::Refusal;

/// What a node runs as its step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The same for every attempt, and for nothing else.
    pub step: u64,
    /// From 0.
    pub attempt: u32,
    /// The rollout's name.
    pub rollout: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// How long the permit is kept afterwards.
    pub settle: Duration,
    /// What has to succeed then.
    pub healthy: Vec<String>,
}

/// A number for a member's step that no other step has.
pub(crate) fn step_number(Id(number, salt): Id, member: &str) -> u64 {
    let digest = Sha256::digest(format!("headway step {number} {salt} {member}"));
    digest[..8]
        .iter()
        .fold(0, |all, &byte| all << 8 | u64::from(byte))
}

/// A rollout that somebody wants.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// What to call it.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Members that go first.
    #[serde(default)]
    pub canaries: Vec<String>,
    /// It stops when so many have failed.
    #[serde(default = "one")]
    pub max_failures: u32,
    /// When steps may begin.
    #[serde(default)]
    pub window: Option<Window>,
    /// How long a permit is kept after the command.
    #[serde(default)]
    pub settle_ms: u64,
    /// What has to succeed then.
    #[serde(default)]
    pub healthy: Vec<String>,
    /// Only say what would happen.
    #[serde(default)]
    pub dry_run: bool,
}

const fn one() -> u32 {
    1
}

/// What somebody wants of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// No step begins for now.
    Pause,
    /// Steps begin again.
    Resume {
        /// Those that failed, too.
        retry: bool,
        /// With another limit.
        max_failures: Option<u32>,
    },
    /// No step begins any more.
    Abort,
}

impl Rollouts {
    /// Somebody starts a rollout on these members. A permit lasts `longest`.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn start(
        &mut self,
        unix_ms: u64,
        wanted: Wanted,
        members: &[String],
        longest: Duration,
    ) -> Result<(), Refusal> {
        let refuse = |why: String| Err(Refusal::Rollout(why));
        if !crate::membership::roster::valid_name(&wanted.name) {
            return refuse(format!(
                "`{}` is no name: expected letters, digits, `.`, `_` and `-`",
                wanted.name
            ));
        }
        if let Some(unfinished) = self.unfinished(members) {
            return refuse(format!(
                "rollout {unfinished} has not ended: wait for it, or abort it"
            ));
        }
        if let Some(stranger) = wanted.canaries.iter().find(|name| !members.contains(name)) {
            return refuse(format!(
                "--canary {stranger}: no such member; `headway node list` shows them"
            ));
        }
        if wanted.command.is_empty() || wanted.max_failures == 0 {
            return refuse("expected a command, and --max-failures of at least 1".into());
        }
        if let Some(program) = self.forbidden(&wanted.command, &wanted.healthy) {
            return refuse(format!(
                "{program} may not be run on this node: list it in rollout.allow, on all nodes"
            ));
        }
        if Duration::from_millis(wanted.settle_ms) >= longest {
            return refuse(format!(
                "--settle has to be shorter than a permit lasts (timing.max_hold, {longest:?})"
            ));
        }
        let last = self.state.0.last_key_value();
        let number = last.map_or(0, |(id, _)| id.0).saturating_add(1);
        let id = Id(number, (self.random)());
        let spec = Spec {
            name: wanted.name,
            command: wanted.command,
            canaries: wanted.canaries,
            window: wanted.window,
            settle_ms: wanted.settle_ms,
            healthy: wanted.healthy,
            total: members.len() as u32,
            by: self.me.clone(),
            at_ms: unix_ms,
        };
        let spec = Atom::Spec(id, spec);
        let bytes = serde_json::to_vec(&spec).map_or(usize::MAX, |text| text.len());
        if bytes > MAX_NEWS_BYTES {
            return refuse(format!(
                "command, --canary and --healthy take {bytes} bytes, and {MAX_NEWS_BYTES} are the \
                 most: put the command into a script"
            ));
        }
        if wanted.dry_run {
            return Ok(());
        }
        if !self.say(spec) {
            return refuse(format!(
                "there is a rollout with a larger number than {number}"
            ));
        }
        self.say(Atom::Order(
            id,
            Order {
                aborted: false,
                version: 1,
                paused: false,
                max_failures: wanted.max_failures,
                retry: 0,
                by: self.me.clone(),
                at_ms: unix_ms,
            },
        ));
        for name in members {
            self.say(Atom::Step(id, name.clone(), Step::default()));
        }
        Ok(())
    }

    /// Somebody says whether the latest rollout of this name goes on.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn order(&mut self, unix_ms: u64, name: &str, ask: Ask) -> Result<(), Refusal> {
        let named = self
            .state
            .0
            .iter()
            .rev()
            .find(|(_, rollout)| rollout.spec.as_ref().is_some_and(|spec| spec.name == name));
        let refuse = |why: String| Err(Refusal::Rollout(why));
        let Some((id, rollout)) = named else {
            return refuse(format!(
                "there is no rollout {name}; `headway rollout status` lists them"
            ));
        };
        let Some(order) = rollout.order.clone() else {
            return refuse(format!("not all is known of rollout {name} yet: try again"));
        };
        if order.aborted {
            return refuse(format!("rollout {name} was aborted: start another"));
        }
        let mut next = Order {
            version: order.version.saturating_add(1),
            by: self.me.clone(),
            at_ms: unix_ms,
            ..order
        };
        match ask {
            Ask::Pause => next.paused = true,
            Ask::Abort => next.aborted = true,
            Ask::Resume {
                retry,
                max_failures,
            } => {
                next.paused = false;
                next.retry = next.retry.saturating_add(u32::from(retry));
                next.max_failures = max_failures.unwrap_or(next.max_failures);
                let resumed = Rollout {
                    order: Some(next.clone()),
                    ..rollout.clone()
                };
                if resumed.has_failed() {
                    let failed = resumed.failed().count();
                    return refuse(format!(
                        "rollout {name} has failed steps ({failed}): use --retry to run them \
                         again, or a larger --max-failures"
                    ));
                }
            }
        }
        let id = *id;
        if !self.say(Atom::Order(id, next)) {
            return refuse(format!(
                "nothing can be said of rollout {name} any more but `abort`"
            ));
        }
        Ok(())
    }
}
