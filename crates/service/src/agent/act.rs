//! What follows from a call: events of the protocol's machine, effects of the desk.

use std::time::Duration;

use headway_node::{Event, Machine, Rejected};

use super::Agent;
use crate::desk::{Effect, Who};
use crate::hook::{Hold, Order};
use crate::request::Given;
use crate::telemetry::Outcome;

impl Agent {
    /// Follows up everything that one call has brought.
    pub(super) fn act(&mut self, now: Duration) {
        self.stirred = true;
        for _ in 0..64 {
            if self.exchange.poll_adopted() {
                self.adopt(now);
            }
            if let Some(error) = self.exchange.poll_refused() {
                tracing::warn!(%error, "a roster was refused");
                self.refused(now, "roster", 1);
            }
            let acted = self.act_on_event(now) | self.act_on_effect(now);
            if !acted {
                break;
            }
        }
        if self.unheard.is_empty() {
            for (token, fence) in std::mem::take(&mut self.held_back) {
                self.desk.granted(now, token, fence);
                while self.act_on_effect(now) {}
            }
        }
        self.start(now);
        let trouble = self.store.trouble().cloned();
        if trouble.is_some() || !self.alarms.is_empty() {
            self.alarm("store", trouble.is_some(), || trouble.unwrap_or_default());
        }
    }

    fn act_on_event(&mut self, now: Duration) -> bool {
        let Some(event) = self.machine.as_mut().and_then(Machine::poll_event) else {
            return false;
        };
        match event {
            Event::Granted { token, fence } => {
                self.counts.permits += 1;
                if self.unheard.is_empty() {
                    self.desk.granted(now, token, fence);
                } else {
                    self.held_back.push((token, fence));
                }
            }
            Event::Withdrawn { token, fence } => {
                let waiting = self.held_back.len();
                self.held_back.retain(|held| *held != (token, fence));
                if self.held_back.len() < waiting {
                    self.done(now, token, fence, None);
                }
                self.desk.withdrawn(now, token, fence);
            }
            Event::Settled => {
                let took = self
                    .unsettled_since
                    .take()
                    .map(|since| now.saturating_sub(since));
                self.counts.settled(took);
                if let Some(took) = took {
                    self.episodes.settled(now.saturating_sub(took), now);
                }
                tracing::info!(
                    after_ms = took.map(|took| took.as_millis() as u64),
                    "settled"
                );
            }
            Event::Unsettled => {
                self.unsettled_since = Some(now);
                tracing::warn!("not settled: no new permits until the ring is legitimate again");
            }
            Event::Silent { node } => {
                let name = self.name_of(node);
                tracing::warn!(neighbour = %name, "silent: tokens stop behind it");
                self.silent_since.insert(name.clone(), now);
                self.alarm(&format!("silent:{name}"), true, || {
                    format!("neighbour {name} is silent; tokens stop behind it")
                });
            }
            Event::Heard { node } => {
                let name = self.name_of(node);
                tracing::info!(neighbour = %name, "heard again");
                self.silent_since.remove(&name);
                self.alarm(&format!("silent:{name}"), false, String::new);
            }
            Event::Rejected { reason, count } => self.refused(now, Rejected::name(reason), count),
        }
        true
    }

    fn act_on_effect(&mut self, now: Duration) -> bool {
        let Some(effect) = self.desk.poll_effect() else {
            return false;
        };
        match effect {
            Effect::Done {
                token,
                fence,
                payload,
            } => {
                self.episodes.ended(now, token, fence);
                self.done(now, token, fence, payload.as_deref());
            }
            Effect::StartHook { token, fence, time } => {
                self.episodes.began(now, token, fence, Who::Hook);
                let payload = self.payload(token);
                let hold = Hold::new((self.random)());
                self.hold = Some(hold);
                // Noted before it begins, so that a restart knows whose permit it was, and
                // what to look for.
                self.save_notes();
                let order = Order::Start {
                    token,
                    fence,
                    hold: hold.id,
                    time,
                    payload,
                };
                if self.hooks.send(order).is_err() {
                    self.hold = None;
                    self.desk.hook_ended(now, token, fence, None);
                }
            }
            Effect::StopHook { token, fence } => {
                // If nobody is there to stop it, it is not running.
                let _ = self.hooks.send(Order::Stop { token, fence });
            }
            Effect::Given {
                ticket,
                token,
                fence,
                time,
            } => {
                self.episodes
                    .began(now, token, fence, Who::Program { ticket });
                self.give(now, ticket, token, fence, time);
            }
            Effect::Reserved { group, id } => {
                let who = Who::Fleet {
                    group: group.clone(),
                    id: id.clone(),
                };
                let permit = self.desk.permit(&who);
                if let Some((token, fence)) = permit.map(|(token, permit)| (token, permit.fence)) {
                    self.episodes.began(now, token, fence, who);
                }
                tracing::info!(%group, %id, "a FleetLock client has its turn");
            }
            Effect::Overrun { token, fence, who } => {
                self.counts.overruns += 1;
                self.episodes.outcome(token, fence, Outcome::Overrun);
                tracing::error!(
                    token,
                    fence,
                    ?who,
                    "a permit was not given back in time; its fencing number is over"
                );
            }
        }
        true
    }

    fn give(&mut self, now: Duration, ticket: u64, token: u32, fence: u64, time: Duration) {
        let who = Who::Program { ticket };
        match self.tickets.remove(&ticket) {
            Some((lease, reply)) => {
                let lease = self.desk.extend(&who, now + lease);
                let given = Given {
                    ticket,
                    token,
                    fence,
                    lease: lease.unwrap_or(now).saturating_sub(now),
                    time,
                    payload: self.payload(token),
                };
                self.save_notes();
                if reply.send(given).is_err() {
                    self.desk.release(&who, None);
                }
            }
            // Granted again after a restart: the program has it already.
            None => {
                self.desk.extend(&who, now + self.settings.api.lease);
            }
        }
    }

    fn done(&mut self, now: Duration, token: u32, fence: u64, payload: Option<&[u8]>) {
        if let Some(machine) = &mut self.machine {
            machine.handle_work_done(now, token, fence, payload);
        }
    }
}
