//! What those who want a permit, or have one, ask for.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Effect, Holder, Permit, Permits, Program, Turn, Waiting};
use crate::permits::Outcome;
use crate::request::{PermitView, Refusal, RequestId, Ticket};

/// How many wait at most, beside commands, so that whoever asks for more does not hold up the
/// ring for long.
const MAX_WAITING: usize = 64;

impl Permits {
    /// Somebody wants a permit. Asking again changes nothing but the time. Whether there was
    /// room in the queue.
    pub(crate) fn ask(&mut self, now: Duration, holder: Holder) -> bool {
        self.wait(now, holder, None)
    }

    /// The command is wanted, and `request` is answered when it has ended; or it is refused.
    pub(crate) fn ask_for_end(&mut self, now: Duration, request: RequestId) -> Option<Refusal> {
        if self.completion_waiters.len() >= MAX_WAITING || !self.ask(now, Holder::Command) {
            return Some(Refusal::Full);
        }
        self.completion_waiters.push((request, None));
        None
    }

    /// A step wants a permit: of its own token, or of one that it has let pass before.
    pub(crate) fn ask_for_step(&mut self, now: Duration, own: Option<u32>) {
        let known = self
            .waiting
            .iter()
            .any(|waiting| waiting.holder == Holder::Step);
        if !known
            && self.ask(now, Holder::Step)
            && let Some(waiting) = self.waiting.back_mut()
        {
            let passed = BTreeSet::new();
            waiting.turn = own.map(|own| Turn { own, passed });
        }
    }

    /// A program wants a permit; the answer belongs to `request`.
    pub(crate) fn ask_for_program(
        &mut self,
        now: Duration,
        request: RequestId,
        ticket: Ticket,
        lease: Duration,
    ) {
        let refusal = if self.closed {
            Refusal::NotAnswering
        } else if self.wait(now, Holder::Program { ticket }, Some((request, lease))) {
            return;
        } else {
            Refusal::Full
        };
        self.effects.push_back(Effect::Refused(request, refusal));
    }

    fn wait(&mut self, now: Duration, holder: Holder, program: Program) -> bool {
        let mut waiting = self.waiting.iter_mut();
        if let Some(waiting) = waiting.find(|waiting| waiting.holder == holder) {
            waiting.asked = now;
            return true;
        }
        // The node's own are two at most, and nobody from outside keeps them out.
        if !holder.is_command() && self.waiting() >= MAX_WAITING {
            return false;
        }
        self.waiting.push_back(Waiting {
            holder,
            asked: now,
            program,
            turn: None,
        });
        self.changes += 1;
        true
    }

    /// Somebody does not want one any more.
    pub(crate) fn forget(&mut self, holder: &Holder) {
        self.keep_waiting(|waiting| waiting.holder != *holder);
    }

    pub(super) fn keep_waiting(&mut self, keep: impl Fn(&Waiting) -> bool) {
        let effects = &mut self.effects;
        let before = self.waiting.len();
        self.waiting.retain(|waiting| {
            let keep = keep(waiting);
            if let (false, Some((request, _))) = (keep, waiting.program) {
                effects.push_back(Effect::Refused(request, Refusal::NotAnswering));
            }
            keep
        });
        self.changes += u64::from(self.waiting.len() < before);
    }

    /// A holder's permit that was not asked back.
    fn lasting(&mut self, holder: &Holder) -> Option<&mut Permit> {
        let mut permits = self.using.values_mut();
        permits.find(|permit| permit.holder == *holder && permit.ends.is_none())
    }

    /// A holder's permit.
    pub(super) fn of(&self, holder: &Holder) -> Option<&Permit> {
        self.permits().find(|permit| permit.holder == *holder)
    }

    /// A program's permit as it sees it.
    pub(crate) fn view(&self, now: Duration, ticket: Ticket) -> Option<PermitView> {
        let permit = self.of(&Holder::Program { ticket })?;
        Some(PermitView {
            ticket,
            grant: permit.grant,
            left: permit.lease.unwrap_or(permit.deadline).saturating_sub(now),
            asked_back: permit.ends.is_some(),
        })
    }

    /// Why a program is not told more of its permit. After a restart it may still count: the
    /// neighbours know.
    pub(crate) fn no_permit(&self, ticket: Ticket) -> Refusal {
        let holder = Holder::Program { ticket };
        let mut remembered = self.remembered.iter();
        match remembered.any(|entry| entry.holder == holder) {
            true => Refusal::NotKnownYet,
            false => Refusal::NoPermit,
        }
    }

    /// How many wait, beside commands.
    pub(crate) fn waiting(&self) -> usize {
        let others = |waiting: &&Waiting| !waiting.holder.is_command();
        self.waiting.iter().filter(others).count()
    }

    /// A program needs its permit for longer. How long it has from now on; `None` if there is
    /// no permit, or it has been asked back.
    pub(crate) fn extend(
        &mut self,
        now: Duration,
        ticket: Ticket,
        lease: Duration,
    ) -> Option<Duration> {
        let permit = self.lasting(&Holder::Program { ticket })?;
        let until = (now + lease).min(permit.deadline);
        permit.lease = Some(until);
        let before = permit.length.replace(lease);
        self.changes += u64::from(before != Some(lease));
        Some(until.saturating_sub(now))
    }

    /// A FleetLock client asks for its permit: if it has one that was not asked back, whether it
    /// hears so for the first time. From then on only its own word or its time ends it.
    pub(crate) fn collect(&mut self, client: &Holder) -> Option<bool> {
        let permit = self.lasting(client)?;
        let first = !std::mem::replace(&mut permit.collected, true);
        permit.lease = None;
        self.changes += u64::from(first);
        Some(first)
    }

    /// Somebody gives a permit back. Whether there was one.
    pub(crate) fn release(&mut self, now: Duration, holder: &Holder) -> bool {
        self.forget(holder);
        let remembered = self.remembered.len();
        self.remembered.retain(|entry| entry.holder != *holder);
        let known = self.remembered.len() < remembered;
        self.changes += u64::from(known);
        // More than one, if another came while the last was being asked back.
        let given = self.permits().filter(|permit| permit.holder == *holder);
        let given: Vec<u32> = given.map(|permit| permit.grant.token).collect();
        for &token in &given {
            self.end(now, token, Outcome::Released);
        }
        known || !given.is_empty()
    }
}
