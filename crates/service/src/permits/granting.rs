//! Whose permit it is when one comes.

use std::time::Duration;

use super::{CommandPermit, Effect, Entry, Grant, Holder, Permit, Permits, Waiting};
use crate::request::{Given, RequestId};

/// Whose permit one is.
struct Claim {
    holder: Holder,
    collected: bool,
    /// A program's that waits for it.
    request: Option<RequestId>,
    /// How long a program has it for.
    lease: Duration,
}

impl Permits {
    /// Whether somebody would use a permit.
    pub(crate) fn wants(&self, grant: Grant) -> bool {
        let same = |entry: &&Entry| (entry.token, entry.fence) == (grant.token, grant.fence);
        match self.remembered.iter().find(same) {
            Some(entry) => !entry.stopped,
            None => self.next_at(grant.token).is_some(),
        }
    }

    /// The node may use a token; its time is counted from `since`.
    pub(crate) fn handle_granted(&mut self, now: Duration, grant: Grant, since: Duration) {
        let known = self.using.get(&grant.token);
        if known.is_some_and(|permit| permit.grant == grant) {
            return;
        }
        // A token is in one place: an older permit for it is over.
        self.changes += u64::from(self.using.remove(&grant.token).is_some());
        self.unused.remove(&grant.token);
        self.forget_older(grant);
        let remembered = self.remembered.len();
        let Some(claim) = self.whose(grant) else {
            // A step that leaves it to others is waiting; a remembered one has been used.
            if self.waiting.is_empty() && self.remembered.len() == remembered {
                self.unused.insert(grant.token, grant.fence);
            }
            for turn in self
                .waiting
                .iter_mut()
                .filter_map(|waiting| waiting.turn.as_mut())
            {
                turn.passed.insert(grant.token);
            }
            return self.effects.push_back(Effect::Done(grant));
        };
        self.changes += 1;
        self.outside_last = !claim.holder.is_command();
        let deadline = since + self.rules.max_hold;
        let time = deadline.saturating_sub(now);
        let Claim {
            holder, collected, ..
        } = claim;
        let mut length = None;
        let lease = match &holder {
            Holder::Command | Holder::Step => {
                let run = self.runs.next();
                self.run = Some(run);
                let permit = CommandPermit {
                    grant,
                    run: run.id,
                    time,
                    stop_timeout: self.rules.stop_timeout,
                    task: None,
                };
                self.effects.push_back(if holder == Holder::Step {
                    Effect::StartStep(permit)
                } else {
                    for (_, of) in &mut self.completion_waiters {
                        of.get_or_insert(run.id);
                    }
                    Effect::StartCommand(permit)
                });
                None
            }
            &Holder::Program { ticket } => {
                length = Some(claim.lease);
                let lease = claim.lease.min(time);
                // After a restart the program has it already.
                if let Some(request) = claim.request {
                    let given = Given {
                        ticket,
                        grant,
                        lease,
                        time,
                        stop_timeout: self.rules.stop_timeout,
                    };
                    self.effects.push_back(Effect::Given(request, given));
                }
                Some(now + lease)
            }
            Holder::FleetLock { group, id } => {
                // Names from outside are written with escapes.
                tracing::info!(?group, ?id, "a FleetLock client has its turn");
                // A client that does not come for it any more does not block the ring.
                (!collected).then(|| now + self.rules.patience)
            }
        };
        let permit = Permit {
            grant,
            holder,
            since: now,
            deadline,
            stop_timeout: self.rules.stop_timeout,
            collected,
            lease,
            length,
            ends: None,
            stopped: false,
        };
        self.using.insert(grant.token, permit);
    }

    /// A token is in one place, here too: what was in use before a restart, and was not granted
    /// again, is over.
    fn forget_older(&mut self, grant: Grant) {
        let before = self.remembered.len();
        self.remembered
            .retain(|entry| entry.token != grant.token || entry.fence == grant.fence);
        self.changes += u64::from(self.remembered.len() < before);
    }

    /// Whose permit this is: as before a restart, else of the next who waits.
    fn whose(&mut self, grant: Grant) -> Option<Claim> {
        let same = |entry: &Entry| (entry.token, entry.fence) == (grant.token, grant.fence);
        let Some(at) = self.remembered.iter().position(same) else {
            let next = self.next_waiting(grant.token)?;
            return Some(Claim {
                holder: next.holder,
                collected: false,
                request: next.program.map(|(request, _)| request),
                lease: next.program.map_or(self.rules.lease, |(_, lease)| lease),
            });
        };
        let entry = self.remembered.remove(at);
        if entry.stopped {
            // Its command was ended by a clean stop, and has had its turn.
            self.changes += 1;
            return None;
        }
        // A FleetLock client that asked again before this was known has it now.
        if !entry.holder.is_command() {
            self.forget(&entry.holder);
        }
        Some(Claim {
            lease: self.rules.counted_on(&entry),
            holder: entry.holder,
            collected: entry.collected,
            request: None,
        })
    }

    fn next_waiting(&mut self, token: u32) -> Option<Waiting> {
        let at = self.next_at(token)?;
        self.waiting.remove(at)
    }

    pub(super) fn next_at(&self, token: u32) -> Option<usize> {
        let ready = |waiting: &Waiting| {
            waiting.takes(token)
                && self.rules.slots.allow(&waiting.holder, token)
                && (!waiting.holder.is_command() || self.run.is_none())
        };
        if self.closed {
            return None;
        }
        let own = |waiting: &Waiting| waiting.holder.is_command() && ready(waiting);
        let own_turn = self.waiting.iter().position(own);
        let first = || self.waiting.iter().position(ready);
        own_turn.filter(|_| self.outside_last).or_else(first)
    }
}
