//! One node's part in rollouts: what is known of them, how that spreads, and whether this node
//! wants a permit for its own step.
//!
//! Without clock, socket or disk: news, times and requests go in; news and the wish for a permit
//! come out. What is known ([`state::State`]) only grows. News go to both neighbours at once, who
//! pass them on; and every second neighbours compare digests and fill each other's gaps, so that
//! every node can answer for all, and a node that was away learns what it has missed, even with an
//! empty disk.
//!
//! Any member may start a rollout and say whether it goes on. How far a member is it signs itself,
//! where members have keys of their own, so that others can pass it on and not make it up. What
//! nobody may say is dropped, and whoever says much of that, or changes its mind without end, is not
//! listened to for the rest of the second.
//!
//! A step runs at least once: a node that is stopped in the middle of it begins it again, under
//! the same step number and with the next attempt.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::agent::alarm::{Alarm, Alarms};
use news::{MAX_NEWS_BYTES, is_plausible};
use state::{Atom, Id, Rollout, State, Step, StepPhase};
pub(crate) use task::step_number;
pub use task::{Ask, Task, Wanted};

mod news;
pub mod state;
mod task;
pub(crate) mod view;

/// Characters of a reason, which goes into a datagram.
const MAX_WHY: usize = 150;

/// How often a step is begun again that its node or machine has not survived: a command that
/// reboots its machine, and then does so again, does not go on for ever.
const MAX_AGAIN: u32 = 4;

/// Who may say something, and how that is known.
pub(crate) trait Members {
    /// Whether somebody of this name is one.
    fn has(&self, name: &str) -> bool;
    /// This node's signature, if members have keys of their own.
    fn sign(&self, message: &[u8]) -> String;
    /// Whether a member has signed something.
    fn has_signed(&self, name: &str, message: &[u8], signature: &str) -> bool;
}

/// One node's view of rollouts.
#[derive(Clone)]
pub(crate) struct Rollouts {
    me: String,
    /// Which programs may be run here.
    allow: Vec<String>,
    random: fn() -> u64,
    state: State,
    /// The step that is wanted or runs here.
    wanted: Option<Id>,
    running: Option<Id>,
    /// Of the state, if it has not changed since.
    digests: Vec<(Id, u64)>,
    /// Something has changed since [`Rollouts::refresh`].
    stale: bool,
    /// Something has changed since [`Rollouts::poll_kept`]; and it must be kept now.
    unkept: bool,
    urgent: bool,
    next: Duration,
    /// What both neighbours are told.
    news: Vec<Atom>,
    /// What one node is told, by its address.
    outbox: VecDeque<(String, Vec<u8>)>,
    /// How many datagrams of a comparison were sent last.
    cursor: usize,
    /// Since the last comparison, by name: what members have said, and what they may not say.
    said: BTreeMap<String, u32>,
    wrong: BTreeMap<String, u32>,
    alarms: Alarms,
}

impl Rollouts {
    /// With what was kept.
    pub(crate) fn new(
        now: Duration,
        me: &str,
        allow: &[String],
        random: fn() -> u64,
        kept: &[u8],
    ) -> Rollouts {
        let mut rollouts = Rollouts {
            me: me.to_owned(),
            allow: allow.to_vec(),
            random,
            state: State::default(),
            wanted: None,
            running: None,
            digests: Vec::new(),
            stale: true,
            unkept: false,
            urgent: false,
            next: now,
            news: Vec::new(),
            outbox: VecDeque::new(),
            cursor: 0,
            said: BTreeMap::new(),
            wrong: BTreeMap::new(),
            alarms: Alarms::default(),
        };
        if !kept.is_empty() {
            match serde_json::from_slice::<Vec<Atom>>(kept) {
                Ok(atoms) => {
                    for atom in atoms.into_iter().filter(is_plausible) {
                        rollouts.state.join(atom);
                    }
                }
                // The neighbours know, also how far this node was.
                Err(error) => tracing::error!(%error, "what was kept of rollouts cannot be read"),
            }
        }
        rollouts
    }

    /// Other programs may be run here.
    pub(crate) fn set_allowed(&mut self, allow: &[String]) {
        self.allow = allow.to_vec();
        self.stale = true;
    }

    /// There is another roster.
    pub(crate) fn handle_roster(&mut self) {
        self.digests.clear();
    }

    /// Takes in what is new, and passes it on. Whether it was.
    fn learn(&mut self, atom: Atom) -> bool {
        if !self.state.join(atom.clone()) {
            return false;
        }
        (self.stale, self.unkept) = (true, true);
        self.digests.clear();
        self.news.push(atom);
        true
    }

    /// The same for what is done or wanted here, which is kept at once: what others say can be
    /// learnt again.
    fn say(&mut self, atom: Atom) -> bool {
        let new = self.learn(atom);
        self.urgent |= new;
        new
    }

    /// What has to be kept now, if anything.
    pub(crate) fn poll_kept(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.urgent) {
            return None;
        }
        self.unkept = false;
        let ids = self.state.0.keys();
        let atoms: Vec<Atom> = ids.flat_map(|id| self.state.atoms(*id)).collect();
        serde_json::to_vec(&atoms).ok()
    }

    /// Could not be kept: tried again.
    pub(crate) const fn handle_unkept(&mut self) {
        self.unkept = true;
    }

    /// Whether this node wants a permit for a step, if that may have changed.
    pub(crate) fn refresh(&mut self, unix_ms: u64) -> Option<bool> {
        if !std::mem::take(&mut self.stale) {
            return None;
        }
        self.settle_own(unix_ms);
        let wanted = self
            .state
            .0
            .iter()
            .find(|(_, rollout)| self.may_begin(rollout, unix_ms));
        self.wanted = wanted.map(|(id, _)| *id);
        self.watch();
        // What follows from that has been taken into account.
        self.stale = false;
        Some(self.wanted.is_some())
    }

    /// Own steps that were left in the middle, that failed and are to be tried again, or whose
    /// command is not allowed here.
    fn settle_own(&mut self, unix_ms: u64) {
        let mut own = Vec::new();
        for (id, rollout) in &self.state.0 {
            let (Some(spec), Some(order)) = (&rollout.spec, &rollout.order) else {
                continue;
            };
            let Some(step) = rollout.steps.get(&self.me) else {
                continue;
            };
            let left = step.phase == StepPhase::Running && self.running != Some(*id);
            let again = left || step.phase == StepPhase::Failed && step.retry < order.retry;
            let begins = step.phase == StepPhase::Pending && self.may_begin(rollout, unix_ms);
            let forbidden = || self.forbidden(&spec.command, &spec.healthy);
            let failed = if left && step.attempt.saturating_sub(step.retry) >= MAX_AGAIN {
                let times = step.attempt.saturating_add(1);
                Some(format!(
                    "begun {times} times, and its node or machine stopped in the middle of each"
                ))
            } else {
                let program = begins.then(forbidden).flatten();
                program.map(|program| format!("{program} may not be run here (rollout.allow)"))
            };
            if let Some(why) = failed {
                let step = Step {
                    phase: StepPhase::Failed,
                    retry: order.retry,
                    began_ms: unix_ms,
                    ended_ms: unix_ms,
                    why,
                    signature: String::new(),
                    ..*step
                };
                own.push((*id, step));
            } else if again {
                let step = Step {
                    attempt: step.attempt.saturating_add(1),
                    retry: order.retry,
                    ..Step::default()
                };
                own.push((*id, step));
            }
        }
        for (id, step) in own {
            self.say(Atom::Step(id, self.me.clone(), step));
        }
    }

    /// The program that may not be run here.
    fn forbidden<'c>(&self, command: &'c [String], healthy: &'c [String]) -> Option<&'c str> {
        let allowed = |program: &&String| {
            self.allow
                .iter()
                .any(|known| known == "*" || known == *program)
        };
        let programs = command.first().into_iter().chain(healthy.first());
        let mut wrong = programs.filter(|program| !allowed(program));
        wrong.next().map(String::as_str)
    }

    /// Whether this node's step may begin.
    fn may_begin(&self, rollout: &Rollout, unix_ms: u64) -> bool {
        let (Some(spec), Some(order)) = (&rollout.spec, &rollout.order) else {
            return false;
        };
        let phase = |name: &String| rollout.steps.get(name).map(|step| step.phase);
        let canary = spec.canaries.contains(&self.me);
        let first = || {
            spec.canaries
                .iter()
                .all(|name| phase(name) == Some(StepPhase::Done))
        };
        phase(&self.me) == Some(StepPhase::Pending)
            && !order.aborted
            && !order.paused
            && spec.window.is_none_or(|window| window.is_open(unix_ms))
            && !rollout.has_failed()
            && (canary || first())
    }

    /// Raises and ends alarms.
    fn watch(&mut self) {
        let failed = |rollout: &Rollout| {
            let (spec, order) = (rollout.spec.as_ref()?, rollout.order.as_ref()?);
            (rollout.has_failed() && !order.aborted).then(|| {
                let failed: Vec<String> = rollout
                    .failed()
                    .take(5)
                    .map(|(name, step)| format!("{name}: {}", step.why))
                    .collect();
                Alarm::RolloutFailed(spec.name.clone(), failed.join("; "))
            })
        };
        let raised: Vec<Alarm> = self.state.0.values().filter_map(failed).collect();
        self.alarms.clear(|old| !raised.contains(old));
        for alarm in raised {
            self.alarms.raise(alarm);
        }
    }

    /// What to look at.
    pub(crate) const fn alarms(&self) -> &Alarms {
        &self.alarms
    }

    /// The permit is here: what to run, if the step is still wanted. It is noted as begun.
    pub(crate) fn begin(&mut self, unix_ms: u64) -> Option<Task> {
        self.stale = true;
        self.refresh(unix_ms);
        let id = self.wanted.take()?;
        let rollout = self.state.0.get(&id)?;
        let (spec, step) = (rollout.spec.clone()?, rollout.steps.get(&self.me)?);
        let step = Step {
            phase: StepPhase::Running,
            began_ms: unix_ms,
            signature: String::new(),
            ..step.clone()
        };
        let task = Task {
            step: step_number(id, &self.me),
            attempt: step.attempt,
            rollout: spec.name,
            command: spec.command,
            settle: Duration::from_millis(spec.settle_ms),
            healthy: spec.healthy,
        };
        self.running = Some(id);
        self.say(Atom::Step(id, self.me.clone(), step));
        Some(task)
    }

    /// It was not begun: it will be, as the next attempt.
    pub(crate) const fn handle_not_begun(&mut self) {
        self.running = None;
        self.stale = true;
    }

    /// The step has ended; an error says why it has failed.
    pub(crate) fn handle_ended(&mut self, unix_ms: u64, result: Result<(), String>) {
        let Some(id) = self.running.take() else {
            return;
        };
        self.stale = true;
        let step = self
            .state
            .0
            .get(&id)
            .and_then(|rollout| rollout.steps.get(&self.me));
        let Some(step) = step.cloned() else { return };
        let step = Step {
            phase: if result.is_ok() {
                StepPhase::Done
            } else {
                StepPhase::Failed
            },
            ended_ms: unix_ms,
            why: result
                .err()
                .unwrap_or_default()
                .chars()
                .take(MAX_WHY)
                .collect(),
            signature: String::new(),
            ..step
        };
        self.say(Atom::Step(id, self.me.clone(), step));
    }
}

#[cfg(test)]
mod tests;
