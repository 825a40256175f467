//! What programs, clients and operators ask of a node.

use std::sync::Arc;
use std::time::Duration;

use super::{Agent, Effect, rules};
use crate::config::Settings;
use crate::permits::{Holder, Outcome};
use crate::request::{Answer, Refusal, Reply, Request, RequestId};

impl Agent {
    /// Somebody asks for something.
    pub fn handle_request(&mut self, now: Duration, id: RequestId, request: Request) {
        if let Some(reply) = self.answer(now, id, request) {
            self.tell(Effect::Reply(id, reply));
        }
        self.follow_up(now);
    }

    /// The answer, if it is known at once.
    fn answer(&mut self, now: Duration, id: RequestId, request: Request) -> Option<Reply> {
        let program = |ticket| Holder::Program { ticket };
        let running = self.stopping.is_none();
        Some(match request {
            Request::Acquire { ticket, lease } => {
                self.permits.ask_for_program(now, id, ticket, lease);
                return None;
            }
            Request::Forget { ticket } => {
                self.permits.forget(&program(ticket));
                return None;
            }
            Request::Extend { ticket, lease } => {
                let lasts = self.permits.extend(now, ticket, lease);
                let lasts = lasts.map(Answer::Lasts);
                lasts.ok_or_else(|| self.permits.no_permit(ticket))
            }
            Request::Release { ticket } => {
                let released = self.permits.release(now, &program(ticket));
                released
                    .then_some(Answer::Released)
                    .ok_or(Refusal::NoPermit)
            }
            Request::Look { ticket } => {
                let view = self.permits.view(now, ticket);
                let view = view.map(Answer::View);
                view.ok_or_else(|| self.permits.no_permit(ticket))
            }
            Request::AskCommand { wait } if running && self.settings.command.run.is_some() => {
                if wait {
                    return self.permits.ask_for_end(now, id).map(Err);
                }
                self.permits.ask(now, Holder::Command);
                Ok(Answer::CommandAsked)
            }
            Request::AskCommand { .. } => Err(Refusal::NoCommand),
            Request::Lock { group, id } => {
                let client = Holder::FleetLock { group, id };
                match self.permits.collect(&client) {
                    Some(true) => Ok(Answer::Locked(client)),
                    Some(false) => Ok(Answer::Slot),
                    None if !running || self.permits.ask(now, client) => Err(Refusal::NotYet),
                    None => Err(Refusal::Full),
                }
            }
            Request::Unlock { group, id } => {
                let client = Holder::FleetLock { group, id };
                self.permits.release(now, &client);
                Ok(Answer::Slot)
            }
            Request::CommandStarted { process } => {
                self.permits.handle_command_started(process);
                self.note();
                return None;
            }
            Request::CommandEnded {
                grant,
                outcome,
                took,
            } => {
                self.counts.command_ended(outcome, took);
                self.permits.handle_command_ended(now, grant, outcome);
                return None;
            }
            Request::Status => Ok(Answer::Status(Box::new(self.status(now)))),
            Request::Roster => {
                let roster = self.membership.roster().cloned();
                let roster = roster.map(Box::new).map(Answer::Roster);
                roster.ok_or(Refusal::NoRoster)
            }
            Request::Add {
                member,
                after,
                force,
            } => {
                self.membership.handle_add(now, id, member, after, force);
                return None;
            }
            Request::Remove { name, gone } => {
                self.membership.handle_remove(now, id, name, gone);
                return None;
            }
            Request::Follow { add, remove } => {
                self.membership.handle_follow(now, id, add, remove);
                return None;
            }
            Request::Set(change) => {
                self.membership.handle_set(id, &change);
                return None;
            }
            Request::Recover { gone, word } => self.membership.recover(now, &gone, word),
            Request::Rotate(next) => {
                self.membership.rotate(now, id, *next);
                return None;
            }
            Request::RotateOperator { key, signature } => {
                self.membership.rotate_operator(id, key, signature);
                return None;
            }
            Request::StepEnded {
                grant,
                result,
                took,
            } => {
                let failed = result.is_err();
                let outcome = if failed {
                    Outcome::Failed
                } else {
                    Outcome::Succeeded
                };
                self.counts.command_ended(outcome, took);
                self.handle_step_ended(now, grant, result);
                return None;
            }
            Request::StartRollout(wanted) => self.start_rollout(now, wanted),
            Request::OrderRollout { name, ask } => self.order_rollout(now, &name, ask),
            Request::Rollouts => Ok(self.rollout_views(now)),
            Request::Invite { lasts } => self.membership.invite(now, lasts),
            Request::Invitations => Ok(self.membership.invited(now)),
            Request::Revoke { id } => self.membership.revoke(now, &id),
            Request::Reload(settings) => {
                self.reload(now, *settings);
                return None;
            }
            Request::Stop => {
                tracing::info!("stops");
                self.stopping = Some(now);
                for grant in self.membership.challenged() {
                    self.membership.drop_challenge(grant);
                    self.position.handle_done(now, grant);
                }
                self.permits.handle_stop(now, self.settings.node.hand_on);
                return None;
            }
        })
    }

    /// New settings for a running node. Those that name the ring stay as they were.
    fn reload(&mut self, now: Duration, mut new: Settings) {
        let kept = new.keep_until_restart(&self.settings);
        if !kept.is_empty() {
            tracing::warn!(keys = ?kept, "changed in the file; these need a restart");
        }
        self.settings = Arc::new(new);
        self.rollouts.set_allowed(&self.settings.rollout.allow);
        let roster = self.membership.roster();
        self.permits.set_rules(now, rules(&self.settings, roster));
        self.membership.set(Arc::clone(&self.settings));
        tracing::info!("the configuration was read again");
    }
}
