//! What people and programs are told of rollouts.

use serde::Serialize;

use super::state::{Rollout, Step, StepPhase, Window};
use super::{Rollouts, step_number};

/// A rollout, as any node tells it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RolloutView {
    /// A name.
    name: String,
    /// How a rollout is: `waiting` for its window, `failed` if too many steps have.
    rollout_state: RolloutState,
    /// The node where it was started.
    started_by: String,
    /// When it was started, in milliseconds since 1970.
    started_ms: u64,
    /// The node where somebody said last whether it goes on.
    ordered_by: String,
    /// When that was said, in milliseconds since 1970.
    ordered_ms: u64,
    /// Program and arguments.
    command: Vec<String>,
    /// Members that go first.
    canaries: Vec<String>,
    /// It stops when so many steps have failed.
    max_failures: u32,
    /// When steps may begin; null: always.
    window: Option<Window>,
    /// How long a member keeps its permit after its command.
    settle_ms: u64,
    /// What has to succeed before a member passes its permit on; empty: nothing.
    healthy: Vec<String>,
    /// Members that have a step.
    total: u32,
    /// Members whose step has succeeded.
    done: u32,
    /// Members whose step has failed.
    failed: u32,
    /// Members whose step runs.
    running: u32,
    /// Members whose step has not begun.
    pending: u32,
    /// Members that have left before their step began.
    gone: u32,
    /// How long the rest takes if it goes as so far, an estimate; null before the first step is
    /// done.
    left_ms: Option<u64>,
    /// How far each member is.
    steps: Vec<StepView>,
}

/// How a rollout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) enum RolloutState {
    /// It goes on.
    Running,
    /// It waits for its window.
    Waiting,
    /// Somebody has stopped it for now.
    Paused,
    /// Too many steps have failed.
    Failed,
    /// Somebody has ended it.
    Aborted,
    /// There is nothing left to do.
    Complete,
}

/// A member's step.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct StepView {
    /// A name.
    name: String,
    /// How far a member is.
    step_phase: StepPhase,
    /// How often the step was begun again.
    attempt: u32,
    /// HEADWAY_STEP, the same for every attempt.
    step_number: String,
    /// When the attempt began, in milliseconds since 1970; 0 before.
    began_ms: u64,
    /// When it ended, in milliseconds since 1970; 0 before.
    ended_ms: u64,
    /// Why it failed.
    why: String,
}

impl Rollouts {
    /// All that are known, the latest first. `members` are on the roster now; `tokens` permits
    /// are in use at a time.
    pub(crate) fn views(&self, unix_ms: u64, members: &[String], tokens: u32) -> Vec<RolloutView> {
        let known = self.state.0.iter().rev();
        let view = |(id, rollout): (&super::Id, &Rollout)| {
            let (spec, order) = (rollout.spec.clone()?, rollout.order.as_ref()?);
            let gone = rollout.gone(members);
            let [pending, running, failed, done] = [
                StepPhase::Pending,
                StepPhase::Running,
                StepPhase::Failed,
                StepPhase::Done,
            ]
            .map(|phase| rollout.count(phase));
            // Members that nothing was heard of yet wait as well.
            let unheard = spec.total.saturating_sub(rollout.steps.len() as u32);
            let steps = rollout.steps.iter().map(|(name, step)| StepView {
                name: name.clone(),
                step_phase: step.phase,
                attempt: step.attempt,
                step_number: step_number(*id, name).to_string(),
                began_ms: step.began_ms,
                ended_ms: step.ended_ms,
                why: step.why.clone(),
            });
            Some(RolloutView {
                rollout_state: rollout.state(unix_ms, members),
                started_ms: spec.at_ms,
                started_by: spec.by,
                ordered_by: order.by.clone(),
                ordered_ms: order.at_ms,
                max_failures: order.max_failures,
                name: spec.name,
                command: spec.command,
                canaries: spec.canaries,
                window: spec.window,
                settle_ms: spec.settle_ms,
                healthy: spec.healthy,
                total: spec.total,
                left_ms: rollout
                    .left_ms(tokens, (pending + running + unheard).saturating_sub(gone)),
                pending: (pending + unheard).saturating_sub(gone),
                done,
                failed,
                running,
                gone,
                steps: steps.collect(),
            })
        };
        known.filter_map(view).collect()
    }

    /// The name of a rollout that has not ended.
    pub(super) fn unfinished(&self, members: &[String]) -> Option<&str> {
        let ended = |rollout: &Rollout| {
            let state = rollout.state(0, members);
            matches!(state, RolloutState::Aborted | RolloutState::Complete)
        };
        let mut open = self.state.0.values().filter(|rollout| !ended(rollout));
        open.find_map(|rollout| rollout.spec.as_ref().map(|spec| &*spec.name))
    }
}

impl Rollout {
    /// Whether a member has not ended.
    fn is_at_work(&self, members: &[String]) -> bool {
        let open = |step: &Step| matches!(step.phase, StepPhase::Pending | StepPhase::Running);
        let mut open = self.steps.iter().filter(|(_, step)| open(step));
        open.any(|(name, _)| members.contains(name))
    }

    /// Members that have left without having begun.
    fn gone(&self, members: &[String]) -> u32 {
        let waiting = self
            .steps
            .iter()
            .filter(|(_, step)| step.phase == StepPhase::Pending);
        waiting.filter(|(name, _)| !members.contains(name)).count() as u32
    }

    fn state(&self, unix_ms: u64, members: &[String]) -> RolloutState {
        let (Some(spec), Some(order)) = (&self.spec, &self.order) else {
            return RolloutState::Running;
        };
        let ended =
            self.count(StepPhase::Done) + self.count(StepPhase::Failed) + self.gone(members);
        if order.aborted {
            RolloutState::Aborted
        } else if self.has_failed() {
            RolloutState::Failed
        } else if ended >= spec.total && !self.is_at_work(members) {
            RolloutState::Complete
        } else if order.paused {
            RolloutState::Paused
        } else if spec.window.is_some_and(|window| !window.is_open(unix_ms)) {
            RolloutState::Waiting
        } else {
            RolloutState::Running
        }
    }

    /// How long it takes if the rest is as the steps that are done, `tokens` at a time.
    fn left_ms(&self, tokens: u32, left: u32) -> Option<u64> {
        let done = self
            .steps
            .values()
            .filter(|step| step.phase == StepPhase::Done);
        let times: Vec<u64> = done
            .map(|step| step.ended_ms.saturating_sub(step.began_ms))
            .collect();
        let sum = times.iter().copied().fold(0, u64::saturating_add);
        let mean = sum.checked_div(times.len() as u64)?;
        Some(mean.saturating_mul(u64::from(left.div_ceil(tokens.max(1)))))
    }
}
