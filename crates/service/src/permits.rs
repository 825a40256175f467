//! Who gets a permit when one comes, and what becomes of it.
//!
//! Without clock, disk or thread: grants, requests and ends go in, [`Effect`]s come out.
//! Whoever asks first is served first. A permit that nobody wants goes on at once.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub(crate) use permit::{CommandPermit, Effect, Permit, Rules, Runs};
pub use permit::{Entry, Holder, Ledger};

use crate::hook::Run;
use crate::request::{Given, PermitView, RequestId};
use crate::telemetry::{Episode, Outcome, Past};

mod permit;

/// Somebody who wants a permit.
#[derive(Clone, Debug)]
struct Waiting {
    holder: Holder,
    /// When it asked last.
    asked: Duration,
    /// For a program: which request to answer, and how long it wants the permit.
    program: Option<(RequestId, Duration)>,
}

/// Permits in use, and those who wait for one.
#[derive(Debug)]
pub(crate) struct Permits {
    rules: Rules,
    runs: Runs,
    waiting: VecDeque<Waiting>,
    /// In use, by token.
    using: BTreeMap<u32, Permit>,
    /// In use before a restart, and not granted again yet.
    remembered: Vec<Entry>,
    /// The command that runs. It may outlive its permit; there is never a second one.
    run: Option<Run>,
    closed: bool,
    changes: u64,
    effects: VecDeque<Effect>,
}

impl Permits {
    /// With what was known before a restart.
    pub(crate) fn new(rules: Rules, runs: Runs, ledger: Ledger) -> Permits {
        let mut permits = Permits {
            rules,
            runs,
            waiting: VecDeque::new(),
            using: BTreeMap::new(),
            remembered: ledger.using,
            run: None,
            closed: false,
            changes: 1,
            effects: VecDeque::new(),
        };
        for holder in ledger.waiting {
            permits.ask(Duration::ZERO, holder);
        }
        permits.ask_for_command(Duration::ZERO);
        permits
    }

    /// The rules have changed.
    pub(crate) fn set_rules(&mut self, now: Duration, rules: Rules) {
        self.rules = rules;
        if !rules.every_permit {
            self.forget(&Holder::Command);
        }
        self.ask_for_command(now);
    }

    /// The command wants the next permit again, if it wants every one.
    fn ask_for_command(&mut self, now: Duration) {
        if self.rules.every_permit && self.run.is_none() && !self.closed {
            self.ask(now, Holder::Command);
        }
    }

    /// Somebody wants a permit. Asking again changes nothing but the time.
    pub(crate) fn ask(&mut self, now: Duration, holder: Holder) {
        self.wait(now, holder, None);
    }

    /// A program wants a permit; the answer belongs to `request`.
    pub(crate) fn ask_for_program(
        &mut self,
        now: Duration,
        request: RequestId,
        ticket: u64,
        lease: Duration,
    ) {
        if self.closed {
            self.effects.push_back(Effect::Refused(request));
        } else {
            self.wait(now, Holder::Program { ticket }, Some((request, lease)));
        }
    }

    fn wait(&mut self, now: Duration, holder: Holder, program: Option<(RequestId, Duration)>) {
        let mut waiting = self.waiting.iter_mut();
        if let Some(waiting) = waiting.find(|waiting| waiting.holder == holder) {
            waiting.asked = now;
            return;
        }
        self.waiting.push_back(Waiting {
            holder,
            asked: now,
            program,
        });
        self.changes += 1;
    }

    /// Somebody does not want one any more.
    pub(crate) fn forget(&mut self, holder: &Holder) {
        self.keep_waiting(|waiting| waiting.holder != *holder);
    }

    fn keep_waiting(&mut self, keep: impl Fn(&Waiting) -> bool) {
        let effects = &mut self.effects;
        let before = self.waiting.len();
        self.waiting.retain(|waiting| {
            let keep = keep(waiting);
            if let (false, Some((request, _))) = (keep, waiting.program) {
                effects.push_back(Effect::Refused(request));
            }
            keep
        });
        self.changes += u64::from(self.waiting.len() < before);
    }

    /// The node was granted a permit, for a token that carries `payload`.
    pub(crate) fn handle_granted(&mut self, now: Duration, token: u32, fence: u64, payload: &[u8]) {
        let known = self.using.get(&token);
        if known.is_some_and(|permit| permit.fence == fence) {
            return;
        }
        // A token is in one place: an older permit for it is over.
        self.changes += u64::from(self.using.remove(&token).is_some());
        let mut remembered = self.remembered.iter();
        let before = remembered.position(|entry| (entry.token, entry.fence) == (token, fence));
        let (holder, collected, program) = match before.map(|at| self.remembered.remove(at)) {
            Some(entry) => {
                // A FleetLock client that asked again before this was known has it now.
                if entry.holder != Holder::Command {
                    self.forget(&entry.holder);
                }
                (entry.holder, entry.collected, None)
            }
            None => match self.next_waiting() {
                Some(next) => (next.holder, false, next.program),
                None => return self.pass_on(token, fence, None),
            },
        };
        self.changes += 1;
        let time = self.rules.dwell_most;
        let deadline = now + time;
        let lease = match &holder {
            Holder::Command => {
                let run = self.runs.next();
                self.run = Some(run);
                self.effects.push_back(Effect::StartCommand(CommandPermit {
                    token,
                    fence,
                    run: run.id,
                    time,
                    payload: payload.to_vec(),
                }));
                None
            }
            Holder::Program { ticket } => {
                let lease = program
                    .map_or(self.rules.lease, |(_, lease)| lease)
                    .min(time);
                // After a restart the program has it already.
                if let Some((request, _)) = program {
                    let given = Given {
                        ticket: *ticket,
                        token,
                        fence,
                        lease,
                        time,
                        payload: payload.to_vec(),
                    };
                    self.effects.push_back(Effect::Given(request, given));
                }
                Some(now + lease)
            }
            Holder::FleetLock { group, id } => {
                tracing::info!(%group, %id, "a FleetLock client has its turn");
                // A client that does not come for it any more does not block the ring.
                (!collected).then(|| now + self.rules.patience)
            }
        };
        let permit = Permit {
            fence,
            holder,
            since: now,
            deadline,
            collected,
            lease,
            ends: None,
        };
        self.using.insert(token, permit);
    }

    fn next_waiting(&mut self) -> Option<Waiting> {
        if self.closed {
            return None;
        }
        let ready = |waiting: &Waiting| waiting.holder != Holder::Command || self.run.is_none();
        let at = self.waiting.iter().position(ready)?;
        self.waiting.remove(at)
    }

    /// The node asks a permit back.
    pub(crate) fn handle_withdrawn(&mut self, now: Duration, token: u32, fence: u64) {
        let ends = now + self.rules.grace;
        if let Some(permit) = self.using.get_mut(&token)
            && permit.fence == fence
            && permit.ends.is_none()
        {
            permit.ends = Some(ends);
            if permit.holder == Holder::Command {
                self.effects.push_back(Effect::StopCommand { token, fence });
            }
        }
    }

    /// The ring has changed, so the node will not ask for anything back any more:
    /// commands and programs have to stop now, and a FleetLock client, which
    /// cannot be stopped, has the time that it was promised.
    pub(crate) fn handle_left(&mut self, now: Duration) {
        self.changes += 1;
        self.recall(now);
        for entry in std::mem::take(&mut self.remembered) {
            let deadline = now + self.rules.dwell_most;
            let permit = Permit {
                fence: entry.fence,
                since: now,
                deadline,
                collected: entry.collected,
                lease: None,
                ends: match &entry.holder {
                    // What ran before the restart was ended then.
                    Holder::Command => continue,
                    Holder::Program { .. } => Some(now + self.rules.grace),
                    Holder::FleetLock { .. } => Some(deadline),
                },
                holder: entry.holder,
            };
            self.using.insert(entry.token, permit);
        }
        for permit in self.using.values_mut() {
            permit.ends = permit.ends.or(Some(permit.deadline));
        }
    }

    /// The node stops: no new permits, and commands and programs have to stop. A FleetLock
    /// client keeps its permit: perhaps this is its reboot.
    pub(crate) fn handle_stop(&mut self, now: Duration) {
        self.closed = true;
        self.keep_waiting(|waiting| waiting.holder.is_fleetlock());
        self.recall(now);
    }

    fn recall(&mut self, now: Duration) {
        let stoppable = self.using.iter();
        let stoppable = stoppable.filter(|(_, permit)| !permit.holder.is_fleetlock());
        let stoppable: Vec<(u32, u64)> = stoppable
            .map(|(&token, permit)| (token, permit.fence))
            .collect();
        for (token, fence) in stoppable {
            self.handle_withdrawn(now, token, fence);
        }
    }

    /// The command runs as this process, started at that time.
    pub(crate) fn handle_command_started(&mut self, process: (i32, u64)) {
        if let Some(run) = &mut self.run {
            run.process = Some(process);
            self.changes += 1;
        }
    }

    /// The command has ended.
    pub(crate) fn handle_command_ended(
        &mut self,
        now: Duration,
        token: u32,
        fence: u64,
        outcome: Outcome,
        payload: Option<Vec<u8>>,
    ) {
        self.changes += u64::from(self.run.take().is_some());
        self.ask_for_command(now);
        let used = self.using.get(&token);
        if used.is_some_and(|permit| permit.fence == fence && permit.holder == Holder::Command) {
            self.end(now, token, outcome, payload);
        }
    }

    fn of(&self, holder: &Holder) -> Option<(u32, &Permit)> {
        self.permits().find(|(_, permit)| permit.holder == *holder)
    }

    /// A holder's permit that was not asked back.
    fn lasting(&mut self, holder: &Holder) -> Option<&mut Permit> {
        let mut permits = self.using.values_mut();
        permits.find(|permit| permit.holder == *holder && permit.ends.is_none())
    }

    /// A program's permit as it sees it.
    pub(crate) fn view(&self, now: Duration, ticket: u64) -> Option<PermitView> {
        let (token, permit) = self.of(&Holder::Program { ticket })?;
        Some(PermitView {
            ticket,
            token,
            fence: permit.fence,
            left: permit.lease.unwrap_or(permit.deadline).saturating_sub(now),
            asked_back: permit.ends.is_some(),
        })
    }

    /// How many wait, beside the command.
    pub(crate) fn waiting(&self) -> usize {
        let others = |waiting: &&Waiting| waiting.holder != Holder::Command;
        self.waiting.iter().filter(others).count()
    }

    /// A program needs its permit for longer. How long it has from now on; `None` if there is
    /// no permit, or it has been asked back.
    pub(crate) fn extend(
        &mut self,
        now: Duration,
        ticket: u64,
        lease: Duration,
    ) -> Option<Duration> {
        let permit = self.lasting(&Holder::Program { ticket })?;
        let until = (now + lease).min(permit.deadline);
        permit.lease = Some(until);
        Some(until.saturating_sub(now))
    }

    /// A FleetLock client asks for its permit: whether it has one that was not
    /// asked back. From then on only its own word or its time ends it.
    pub(crate) fn collect(&mut self, client: &Holder) -> bool {
        let Some(permit) = self.lasting(client) else {
            return false;
        };
        permit.collected = true;
        permit.lease = None;
        self.changes += 1;
        true
    }

    /// Somebody gives a permit back. Whether there was one.
    pub(crate) fn release(
        &mut self,
        now: Duration,
        holder: &Holder,
        payload: Option<&[u8]>,
    ) -> bool {
        self.forget(holder);
        let remembered = self.remembered.len();
        self.remembered.retain(|entry| entry.holder != *holder);
        self.changes += u64::from(self.remembered.len() < remembered);
        // More than one, if another came while the last was being asked back.
        let given = self
            .permits()
            .filter(|(_, permit)| permit.holder == *holder);
        let given: Vec<u32> = given.map(|(token, _)| token).collect();
        for &token in &given {
            self.end(now, token, Outcome::Released, payload.map(<[u8]>::to_vec));
        }
        !given.is_empty()
    }

    /// Time has passed.
    pub(crate) fn handle_timeout(&mut self, now: Duration) {
        let patience = self.rules.patience;
        self.keep_waiting(|waiting| {
            !waiting.holder.is_fleetlock() || now.saturating_sub(waiting.asked) < patience
        });
        let over = |permit: &Permit| permit.over_at().is_some_and(|end| now >= end);
        let over = self.permits().filter(|(_, permit)| over(permit));
        let over: Vec<(u32, Outcome)> = over
            .map(|(token, permit)| match permit.lease {
                Some(lease) if now >= lease => (token, Outcome::Expired),
                _ => (token, Outcome::Overrun),
            })
            .collect();
        for (token, outcome) in over {
            self.end(now, token, outcome, None);
        }
    }

    /// When to call [`Permits::handle_timeout`] at the latest.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.using.values().filter_map(Permit::over_at).min()
    }

    /// The next thing to do.
    pub(crate) fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Permits in use, by token.
    pub(crate) fn permits(&self) -> impl Iterator<Item = (u32, &Permit)> {
        self.using.iter().map(|(&token, permit)| (token, permit))
    }

    /// The command that runs.
    pub(crate) const fn run(&self) -> Option<Run> {
        self.run
    }

    /// Grows whenever [`Permits::ledger`] or [`Permits::run`] may have changed.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// What has to survive a restart.
    pub(crate) fn ledger(&self) -> Ledger {
        let waiting = self.waiting.iter().map(|waiting| &waiting.holder);
        let using = self.permits().map(|(token, permit)| Entry {
            token,
            fence: permit.fence,
            holder: permit.holder.clone(),
            collected: permit.collected,
        });
        Ledger {
            waiting: waiting
                .filter(|holder| holder.is_fleetlock())
                .cloned()
                .collect(),
            using: self.remembered.iter().cloned().chain(using).collect(),
        }
    }

    fn end(&mut self, now: Duration, token: u32, outcome: Outcome, payload: Option<Vec<u8>>) {
        let Some(permit) = self.using.remove(&token) else {
            return;
        };
        self.changes += 1;
        let fence = permit.fence;
        self.effects.push_back(Effect::Ended(Episode {
            past: Past::Permit {
                token,
                fence,
                holder: permit.holder,
                outcome,
            },
            began: permit.since,
            ended: now,
        }));
        self.pass_on(token, fence, payload);
    }

    fn pass_on(&mut self, token: u32, fence: u64, payload: Option<Vec<u8>>) {
        self.effects.push_back(Effect::Done {
            token,
            fence,
            payload,
        });
    }
}

#[cfg(test)]
mod tests;
