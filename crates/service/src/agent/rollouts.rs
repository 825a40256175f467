//! What rollouts and the rest of a node have to do with each other.

use std::time::Duration;

use headway_node::{Machine, Rule};

use super::{Agent, Effect};
use crate::membership::Membership;
use crate::membership::roster::Roster;
use crate::permits::{CommandPermit, Grant, Holder, Outcome};
use crate::request::{Answer, Refusal, Reply};
use crate::rollouts::{Ask, Members, Wanted};

impl Members for Membership {
    fn has(&self, name: &str) -> bool {
        self.roster()
            .is_some_and(|roster| roster.member(name).is_some())
    }

    fn sign(&self, message: &[u8]) -> String {
        self.sign_for_ring(message).unwrap_or_default()
    }

    fn has_signed(&self, name: &str, message: &[u8], signature: &str) -> bool {
        self.is_signed_for_ring(name, message, signature)
    }
}

impl Agent {
    pub(super) fn unix_ms(&self, now: Duration) -> u64 {
        self.clock.saturating_add(now).as_millis() as u64
    }

    /// Once a second, what is known is compared with the neighbours and one other.
    pub(super) fn time_rollouts(&mut self, now: Duration) {
        if now < self.rollouts.poll_timeout() {
            return;
        }
        let (mut others, other) = self.membership.peers();
        others.extend(other);
        others.dedup();
        self.rollouts.handle_timeout(now, &self.membership, &others);
    }

    /// Asks for a permit when a step is to be run here.
    pub(super) fn follow_rollouts(&mut self, now: Duration) {
        if self.stopping.is_some() {
            return;
        }
        match self.rollouts.refresh(self.unix_ms(now)) {
            Some(true) => {
                let config = self.position.machine().map(Machine::config);
                // In lock-step all tokens move together, and there is nothing to share.
                let shared = config.filter(|config| config.plan.rule() == Rule::MovingBlock);
                let own = shared.map(|config| config.index % config.plan.tokens());
                self.permits.ask_for_step(now, own);
            }
            Some(false) => self.permits.forget(&Holder::Step),
            None => {}
        }
    }

    /// The permit for a step is here.
    pub(super) fn start_step(&mut self, now: Duration, mut permit: CommandPermit) {
        permit.task = self.rollouts.begin(self.unix_ms(now));
        if permit.task.is_none() {
            // Paused, say, since it was asked for.
            let grant = permit.grant;
            return self
                .permits
                .handle_command_ended(now, grant, Outcome::Succeeded);
        }
        self.keep_rollouts();
        self.tell(Effect::StartCommand(permit));
    }

    /// A step has ended.
    pub(super) fn handle_step_ended(
        &mut self,
        now: Duration,
        grant: Grant,
        result: Result<(), String>,
    ) {
        let outcome = match &result {
            Ok(()) => Outcome::Succeeded,
            Err(_) => Outcome::Failed,
        };
        // A node that stops has ended the step itself, and begins it again when it is back.
        if self.stopping.is_none() {
            self.rollouts.handle_ended(self.unix_ms(now), result);
            self.keep_rollouts();
        }
        self.permits.handle_command_ended(now, grant, outcome);
    }

    fn keep_rollouts(&mut self) {
        self.effects
            .extend(self.rollouts.poll_kept().map(Effect::KeepRollouts));
    }

    /// Keeps what is new, and then tells it.
    pub(super) fn send_rollouts(&mut self) {
        self.keep_rollouts();
        if !self.rollouts.has_news() {
            return;
        }
        let (neighbours, _) = self.membership.peers();
        let (rollouts, membership) = (&mut self.rollouts, &mut self.membership);
        while let Some((address, bytes)) = rollouts.poll_transmit(membership, &neighbours) {
            membership.send_news(address, bytes);
        }
    }

    fn member_names(&self) -> Vec<String> {
        let roster = self.membership.roster().into_iter();
        roster
            .flat_map(Roster::active)
            .map(|member| member.name.clone())
            .collect()
    }

    pub(super) fn start_rollout(&mut self, now: Duration, wanted: Wanted) -> Reply {
        let roster = self.membership.roster().ok_or(Refusal::NoRoster)?;
        let (longest, members) = (roster.max_hold(), self.member_names());
        let unix_ms = self.unix_ms(now);
        self.rollouts.start(unix_ms, wanted, &members, longest)?;
        Ok(self.rollout_views(now))
    }

    pub(super) fn order_rollout(&mut self, now: Duration, name: &str, ask: Ask) -> Reply {
        self.rollouts.order(self.unix_ms(now), name, ask)?;
        Ok(self.rollout_views(now))
    }

    pub(super) fn rollout_views(&self, now: Duration) -> Answer {
        let tokens = self.membership.roster().map_or(1, Roster::tokens);
        let members = self.member_names();
        Answer::Rollouts(self.rollouts.views(self.unix_ms(now), &members, tokens))
    }
}
