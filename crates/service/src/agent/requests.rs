//! What programs, clients and operators ask of a node.

use std::time::Duration;

use headway_node::Machine;

use super::{Agent, rules};
use crate::config::Settings;
use crate::desk::Who;
use crate::request::{PermitView, Request};
use crate::telemetry::Outcome;

impl Agent {
    pub(super) fn handle_request(&mut self, now: Duration, request: Request) {
        // Whoever asked and has gone away does not need the answer.
        match request {
            Request::Acquire {
                ticket,
                lease,
                reply,
            } => {
                if self.stopping.is_none() {
                    self.tickets.insert(ticket, (lease, reply));
                    self.desk.wish(now, Who::Program { ticket });
                }
            }
            Request::Forget { ticket } => {
                self.tickets.remove(&ticket);
                self.desk.forget(&Who::Program { ticket });
            }
            Request::Extend {
                ticket,
                lease,
                reply,
            } => {
                let until = self.desk.extend(&Who::Program { ticket }, now + lease);
                let _ = reply.send(until.map(|until| until.saturating_sub(now)));
            }
            Request::Release {
                ticket,
                payload,
                reply,
            } => {
                let released = self.release(now, &Who::Program { ticket }, payload.as_deref());
                let _ = reply.send(released);
            }
            Request::Look { ticket, reply } => {
                let permit = self.desk.permit(&Who::Program { ticket });
                let view = permit.map(|(token, permit)| PermitView {
                    token,
                    fence: permit.fence,
                    left: permit.lease.unwrap_or(permit.deadline).saturating_sub(now),
                    asked_back: permit.ends.is_some(),
                });
                let _ = reply.send(view);
            }
            Request::AskHook { reply } => {
                let hook = self.settings.hook.command.is_some() && self.stopping.is_none();
                if hook {
                    self.desk.wish(now, Who::Hook);
                }
                let _ = reply.send(hook);
            }
            Request::Lock { group, id, reply } => {
                let who = Who::Fleet { group, id };
                let has = self.desk.collect(&who);
                if !has && self.stopping.is_none() {
                    self.desk.wish(now, who);
                }
                // Kept before it is said.
                self.save_notes();
                let _ = reply.send(has);
            }
            Request::Unlock { group, id, reply } => {
                self.release(now, &Who::Fleet { group, id }, None);
                self.save_notes();
                let _ = reply.send(());
            }
            Request::HookStarted { process } => {
                if let Some(hold) = &mut self.hold {
                    hold.process = Some(process);
                }
                self.save_notes();
            }
            Request::HookEnded {
                token,
                fence,
                payload,
                failed,
                took,
            } => {
                self.hold = None;
                self.counts.hook_runs += 1;
                self.counts.hook_failures += u64::from(failed);
                self.counts.held(took);
                let outcome = if failed {
                    Outcome::Failed
                } else {
                    Outcome::Succeeded
                };
                self.episodes.outcome(token, fence, outcome);
                self.desk.hook_ended(now, token, fence, payload);
            }
            Request::Status { reply } => {
                // Told by `flush`, where the transport is at hand.
                self.status_wanted.push((now, reply));
            }
            Request::Roster { reply } => {
                let _ = reply.send(self.current.clone());
            }
            Request::Add {
                member,
                after,
                force,
                reply,
            } => match &self.current {
                None => {
                    let _ = reply.send(Err("this node has no roster yet".into()));
                }
                Some(roster) => match roster.with(member.clone(), after.as_deref()) {
                    Err(error) => {
                        let _ = reply.send(Err(error.to_string()));
                    }
                    Ok(next) if force => {
                        let _ = reply.send(self.propose(now, next));
                    }
                    Ok(_) => self.ask_to_add(now, member, after, reply),
                },
            },
            Request::Remove { name, reply } => {
                let next = match &self.current {
                    None => Err("this node has no roster yet".into()),
                    Some(roster) => roster.without(&name).map_err(|error| error.to_string()),
                };
                let _ = reply.send(next.and_then(|next| self.propose(now, next)));
            }
            Request::Reload { settings, key } => self.reload(now, *settings, key),
            Request::Stop => {
                tracing::info!("stops: asks its permits back");
                self.stopping = Some(now);
                self.desk.close();
                self.desk.recall(now);
            }
        }
    }

    fn release(&mut self, now: Duration, who: &Who, payload: Option<&[u8]>) -> bool {
        if let Some((token, permit)) = self.desk.permit(who) {
            self.counts.held(now.saturating_sub(permit.since));
            let fence = permit.fence;
            self.episodes.outcome(token, fence, Outcome::Released);
        }
        self.desk.release(who, payload)
    }

    /// New settings for a running node. Those that name the ring stay as they were.
    fn reload(&mut self, now: Duration, mut new: Settings, key: headway_node::Key) {
        let kept = new.keep_until_restart(&self.settings);
        if !kept.is_empty() {
            tracing::warn!(keys = ?kept, "changed in the file; these need a restart");
        }
        self.settings = new;
        self.key = key.clone();
        self.exchange.set_key(key);
        self.desk.set_rules(now, rules(&self.settings));
        // A machine with other times is one that goes on from the state of this one.
        if let Some(machine) = &self.machine {
            let config = headway_node::Config {
                timing: self.settings.timing.timing(),
                ..*machine.config()
            };
            self.saved.clear();
            machine.save(&mut self.saved);
            match Machine::restore(config, self.key.clone(), (self.random)(), now, &self.saved) {
                Ok(restored) => self.machine = Some(restored),
                Err(error) => tracing::error!(%error, "the new times are not used"),
            }
        }
        tracing::info!("the configuration was read again");
    }
}
