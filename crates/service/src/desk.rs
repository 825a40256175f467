//! Who gets a permit when one comes, and what becomes of it.
//!
//! Without clock or thread: grants, wishes and ends go in, [`Effect`]s come out.
//! Wishes are served first come, first served. A permit that nobody wishes for goes
//! on at once.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub use permit::{Effect, Entry, Ledger, Permit, Rules, Who};

mod permit;

#[derive(Clone, Debug)]
struct Wish {
    who: Who,
    renewed: Duration,
}

/// The desk.
#[derive(Debug)]
pub struct Desk {
    rules: Rules,
    wishes: VecDeque<Wish>,
    permits: BTreeMap<u32, Permit>,
    remembered: Vec<Entry>,
    effects: VecDeque<Effect>,
    closed: bool,
    hook_runs: bool,
    changes: u64,
}

impl Desk {
    /// A desk that remembers what it did before a restart.
    pub fn new(rules: Rules, ledger: Ledger) -> Desk {
        let mut desk = Desk {
            rules,
            wishes: VecDeque::new(),
            permits: BTreeMap::new(),
            remembered: ledger.using,
            effects: VecDeque::new(),
            closed: false,
            hook_runs: false,
            changes: 1,
        };
        for who in ledger.waiting {
            desk.wish(Duration::ZERO, who);
        }
        if rules.hook_every {
            desk.wish(Duration::ZERO, Who::Hook);
        }
        desk
    }

    /// The rules have changed.
    pub fn set_rules(&mut self, now: Duration, rules: Rules) {
        self.rules = rules;
        self.wishes
            .retain(|wish| wish.who != Who::Hook || rules.hook_every);
        if rules.hook_every && !self.hook_runs {
            self.wish(now, Who::Hook);
        }
    }

    /// Somebody wants a permit. Asking again changes nothing but the time.
    pub fn wish(&mut self, now: Duration, who: Who) {
        if let Some(wish) = self.wishes.iter_mut().find(|wish| wish.who == who) {
            wish.renewed = now;
        } else {
            self.wishes.push_back(Wish { who, renewed: now });
            self.changes += 1;
        }
    }

    /// Somebody does not want one any more.
    pub fn forget(&mut self, who: &Who) {
        self.wishes.retain(|wish| wish.who != *who);
        self.changes += 1;
    }

    /// The node was granted a permit.
    pub fn granted(&mut self, now: Duration, token: u32, fence: u64) {
        if self
            .permits
            .get(&token)
            .is_some_and(|permit| permit.fence == fence)
        {
            return;
        }
        // A permit for a token that the desk thinks in use elsewhere in time: the
        // older one is over.
        self.changes += u64::from(self.permits.remove(&token).is_some());
        let before = self
            .remembered
            .iter()
            .position(|entry| (entry.token, entry.fence) == (token, fence));
        let given = match before.map(|at| self.remembered.remove(at)) {
            Some(entry) => {
                // A FleetLock client that asked again before this was known has it now.
                self.wishes
                    .retain(|wish| wish.who == Who::Hook || wish.who != entry.who);
                Some((entry.who, entry.collected))
            }
            None if self.closed => None,
            None => self.next_wish().map(|who| (who, false)),
        };
        let Some((who, collected)) = given else {
            self.done(token, fence, None);
            return;
        };
        self.changes += 1;
        let time = self.rules.dwell_most;
        self.effects.push_back(match &who {
            Who::Hook => {
                self.hook_runs = true;
                Effect::StartHook { token, fence, time }
            }
            Who::Program { ticket } => Effect::Given {
                ticket: *ticket,
                token,
                fence,
                time,
            },
            Who::Fleet { group, id } => Effect::Reserved {
                group: group.clone(),
                id: id.clone(),
            },
        });
        let lease = match &who {
            Who::Hook => None,
            // Until the program is told how long it really is.
            Who::Program { .. } => Some(now + Duration::from_secs(10)),
            // A client that does not come for it any more does not block the ring.
            Who::Fleet { .. } if collected => None,
            Who::Fleet { .. } => Some(now + self.rules.patience),
        };
        let permit = Permit {
            fence,
            who,
            since: now,
            deadline: now + time,
            collected,
            lease,
            ends: None,
        };
        self.permits.insert(token, permit);
    }

    fn next_wish(&mut self) -> Option<Who> {
        let hook_runs = self.hook_runs;
        let ready = |wish: &Wish| wish.who != Who::Hook || !hook_runs;
        let at = self.wishes.iter().position(ready)?;
        self.wishes.remove(at).map(|wish| wish.who)
    }

    /// The node asks a permit back.
    pub fn withdrawn(&mut self, now: Duration, token: u32, fence: u64) {
        let ends = now + self.rules.grace;
        if let Some(permit) = self.permits.get_mut(&token)
            && permit.fence == fence
            && permit.ends.is_none()
        {
            permit.ends = Some(ends);
            if permit.who == Who::Hook {
                self.effects.push_back(Effect::StopHook { token, fence });
            }
        }
    }

    /// The ring has changed, so the node will not ask for anything back any more:
    /// commands and programs have to stop now, and a FleetLock client, which
    /// cannot be stopped, has the time that it was promised.
    pub fn abandon(&mut self, now: Duration) {
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
                ends: match &entry.who {
                    // What ran before the restart was ended then.
                    Who::Hook => continue,
                    Who::Program { .. } => Some(now + self.rules.grace),
                    Who::Fleet { .. } => Some(deadline),
                },
                who: entry.who,
            };
            self.permits.insert(entry.token, permit);
        }
        for permit in self.permits.values_mut() {
            permit.ends = permit.ends.or(Some(permit.deadline));
        }
    }

    /// Commands and programs have to stop, because the node does. A FleetLock
    /// client keeps its permit: perhaps this is its reboot.
    pub fn recall(&mut self, now: Duration) {
        let tokens: Vec<(u32, u64)> = self
            .permits
            .iter()
            .filter(|(_, permit)| !matches!(permit.who, Who::Fleet { .. }))
            .map(|(&token, permit)| (token, permit.fence))
            .collect();
        for (token, fence) in tokens {
            self.withdrawn(now, token, fence);
        }
    }

    /// No new permits from now on: the node stops.
    pub fn close(&mut self) {
        self.closed = true;
        self.wishes
            .retain(|wish| matches!(wish.who, Who::Fleet { .. }));
    }

    /// Whether somebody still uses a permit; FleetLock clients count only if asked.
    pub fn in_use(&self, fleet: bool) -> bool {
        let mut permits = self.permits.values();
        permits.any(|permit| fleet || !matches!(permit.who, Who::Fleet { .. }))
    }

    /// The command has ended.
    pub fn hook_ended(&mut self, now: Duration, token: u32, fence: u64, payload: Option<Vec<u8>>) {
        self.hook_runs = false;
        if self.rules.hook_every && !self.closed {
            self.wish(now, Who::Hook);
        }
        let used = self.permits.get(&token);
        if used.is_some_and(|permit| permit.fence == fence && permit.who == Who::Hook) {
            self.permits.remove(&token);
            self.changes += 1;
            self.done(token, fence, payload);
        }
    }

    /// The permit of somebody.
    pub fn permit(&self, who: &Who) -> Option<(u32, &Permit)> {
        let mut permits = self.permits.iter();
        permits
            .find(|(_, permit)| permit.who == *who)
            .map(|(&token, permit)| (token, permit))
    }

    /// Whether somebody waits.
    pub fn waits(&self, who: &Who) -> bool {
        self.wishes.iter().any(|wish| wish.who == *who)
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.wishes
            .iter()
            .filter(|wish| wish.who != Who::Hook)
            .count()
    }

    /// A permit is to last until `lease`. `None` if there is none, or it has been
    /// asked back; else when it ends at the latest.
    pub fn extend(&mut self, who: &Who, lease: Duration) -> Option<Duration> {
        let mut permits = self.permits.values_mut();
        let permit = permits.find(|permit| permit.who == *who && permit.ends.is_none())?;
        permit.lease = Some(lease.min(permit.deadline));
        permit.lease
    }

    /// A FleetLock client asks for its permit: whether it has one that was not
    /// asked back. From then on only its own word or its time ends it.
    pub fn collect(&mut self, who: &Who) -> bool {
        let mut permits = self.permits.values_mut();
        let Some(permit) = permits.find(|permit| permit.who == *who && permit.ends.is_none())
        else {
            return false;
        };
        permit.collected = true;
        permit.lease = None;
        self.changes += 1;
        true
    }

    /// Somebody gives a permit back. Whether there was one.
    pub fn release(&mut self, who: &Who, payload: Option<&[u8]>) -> bool {
        self.forget(who);
        self.remembered.retain(|entry| entry.who != *who);
        // More than one, if another came while the last was being asked back.
        let permits = self.permits.iter().filter(|(_, permit)| permit.who == *who);
        let given: Vec<(u32, u64)> = permits
            .map(|(&token, permit)| (token, permit.fence))
            .collect();
        for &(token, fence) in &given {
            self.permits.remove(&token);
            self.changes += 1;
            self.done(token, fence, payload.map(<[u8]>::to_vec));
        }
        !given.is_empty()
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        let patience = self.rules.patience;
        let waiting = self.wishes.len();
        self.wishes.retain(|wish| {
            !matches!(wish.who, Who::Fleet { .. }) || now.saturating_sub(wish.renewed) < patience
        });
        self.changes += u64::from(self.wishes.len() < waiting);
        let over: Vec<u32> = self
            .permits
            .iter()
            .filter(|(_, permit)| permit.over(now))
            .map(|(&token, _)| token)
            .collect();
        for token in over {
            let Some(permit) = self.permits.remove(&token) else {
                continue;
            };
            let fence = permit.fence;
            self.changes += 1;
            if permit.lease.is_none_or(|lease| now < lease) {
                let who = permit.who;
                self.effects
                    .push_back(Effect::Overrun { token, fence, who });
            }
            self.done(token, fence, None);
        }
    }

    /// When to call [`Desk::handle_timeout`] at the latest.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let ends = self
            .permits
            .values()
            .filter_map(|permit| match (permit.ends, permit.lease) {
                (Some(ends), Some(lease)) => Some(ends.min(lease)),
                (ends, lease) => ends.or(lease),
            });
        ends.min()
    }

    /// The next thing to do.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Permits in use, by token.
    pub fn permits(&self) -> impl Iterator<Item = (u32, &Permit)> {
        self.permits.iter().map(|(&token, permit)| (token, permit))
    }

    /// Grows whenever [`Desk::ledger`] may have changed.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// What has to survive a restart.
    pub fn ledger(&self) -> Ledger {
        let fleet = |wish: &&Wish| matches!(wish.who, Who::Fleet { .. });
        let using = self.permits.iter().map(|(&token, permit)| Entry {
            token,
            fence: permit.fence,
            who: permit.who.clone(),
            collected: permit.collected,
        });
        Ledger {
            waiting: self
                .wishes
                .iter()
                .filter(fleet)
                .map(|wish| wish.who.clone())
                .collect(),
            using: self.remembered.iter().cloned().chain(using).collect(),
        }
    }

    fn done(&mut self, token: u32, fence: u64, payload: Option<Vec<u8>>) {
        self.effects.push_back(Effect::Done {
            token,
            fence,
            payload,
        });
    }
}

#[cfg(test)]
mod tests;
