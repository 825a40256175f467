//! Who gets a permit when one comes, and what becomes of it.
//!
//! Without clock, disk or thread: grants, requests and ends go in, [`Effect`]s come out.
//! Whoever asks first is served first, but the node's own command waits for one of the others at
//! most. A permit that nobody wants goes on at once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

pub(crate) use permit::{CommandPermit, Effect, Permit, Rules, Runs, Slots, Used};
pub use permit::{Entry, Grant, Holder, Ledger, Outcome};

use crate::command::Run;
use crate::request::RequestId;

mod granting;
mod permit;
mod requests;

/// Somebody who wants a permit.
#[derive(Clone, Debug)]
struct Waiting {
    holder: Holder,
    /// When it asked last.
    asked: Duration,
    program: Program,
    /// For a step: which tokens it takes.
    turn: Option<Turn>,
}

/// A step of a rollout leaves tokens other than its own to others at first, so that tokens which
/// have bunched up share the work: otherwise the one ahead does all of it. One that has gone all
/// the way round comes to help.
#[derive(Clone, Debug)]
struct Turn {
    own: u32,
    passed: BTreeSet<u32>,
}

impl Waiting {
    fn takes(&self, token: u32) -> bool {
        let turn = self.turn.as_ref();
        turn.is_none_or(|turn| turn.own == token || turn.passed.contains(&token))
    }
}

/// For a program: which request to answer, and how long it wants the permit.
type Program = Option<(RequestId, Duration)>;

/// Permits in use, and those who wait for one.
#[derive(Clone, Debug)]
pub(crate) struct Permits {
    rules: Rules,
    runs: Runs,
    waiting: VecDeque<Waiting>,
    /// In use, by token.
    using: BTreeMap<u32, Permit>,
    /// In use before a restart, and not granted again yet.
    remembered: Vec<Entry>,
    /// By token, the number of a permit that came when nobody waited, and that nobody has used.
    unused: BTreeMap<u32, u64>,
    /// The command that runs. It may outlive its permit; there is never a second one.
    run: Option<Run>,
    /// Requests that wait for the end of a run: of which one, once that has begun.
    completion_waiters: Vec<(RequestId, Option<u64>)>,
    /// The last permit was for somebody from outside: now the node's own command has its turn.
    outside_last: bool,
    closed: bool,
    /// The node stops, and its command's permit is given back.
    hand_on: bool,
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
            unused: BTreeMap::new(),
            run: None,
            completion_waiters: Vec::new(),
            outside_last: false,
            closed: false,
            hand_on: false,
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
        // What was asked for once is still wanted.
        let every = std::mem::replace(&mut self.rules, rules).every_permit;
        if every && !self.rules.every_permit {
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

    /// The node asks a permit back.
    pub(crate) fn handle_withdrawn(&mut self, now: Duration, grant: Grant) {
        if let Some(permit) = self.using.get_mut(&grant.token)
            && permit.grant == grant
            && permit.ends.is_none()
        {
            permit.ends = Some(now + permit.stop_timeout);
            if permit.holder.is_command() {
                self.effects.push_back(Effect::StopCommand(grant));
            }
        }
    }

    /// The node has left its ring: permits in use last as long as they would have, but a
    /// client that was not told of its permit waits for one of the next ring. What was in
    /// use before a restart is not granted again: nobody here knows how much of its time is over,
    /// and the ring may have waited for its end already. Nothing more is said to its holder, and
    /// this node says that it uses nothing only when what was said before is over.
    pub(crate) fn handle_left(&mut self, now: Duration) {
        self.changes += 1;
        self.unused.clear();
        for holder in self.give_up_untold(now) {
            self.ask(now, holder);
        }
        for entry in std::mem::take(&mut self.remembered) {
            // What ran before the restart was ended then, and who was not told knows nothing.
            let untold = entry.holder.is_fleetlock() && !entry.collected;
            if entry.holder.is_command() || untold {
                continue;
            }
            let (token, fence) = (entry.token, entry.fence);
            let ends = now + self.rules.counted_on(&entry) + self.rules.stop_timeout;
            let permit = Permit {
                grant: Grant { token, fence },
                since: now,
                deadline: now,
                stop_timeout: self.rules.stop_timeout,
                collected: entry.collected,
                lease: (!entry.holder.is_fleetlock()).then_some(ends),
                length: entry.length,
                ends: Some(ends),
                stopped: false,
                holder: entry.holder,
            };
            self.using.insert(token, permit);
        }
    }

    /// The node stops: no new permits, and the command has to stop. Whoever has a permit keeps
    /// it until the node is back: perhaps this is its reboot. With `hand_on` the command's permit
    /// is given back; not those of programs and FleetLock clients, which nothing here can stop in
    /// time.
    pub(crate) fn handle_stop(&mut self, now: Duration, hand_on: bool) {
        self.closed = true;
        self.hand_on = hand_on;
        let rules = self.rules.clone();
        self.keep_waiting(|waiting| rules.outlives(&waiting.holder));
        let mut permits = self.using.values();
        let command = permits.find(|permit| permit.holder.is_command());
        match command.map(|permit| permit.grant) {
            Some(grant) if hand_on => self.handle_withdrawn(now, grant),
            Some(grant) => self.effects.push_back(Effect::StopCommand(grant)),
            None => {}
        }
    }

    /// How long a permit may take to end when it is asked back.
    pub(crate) const fn stop_timeout(&self) -> Duration {
        self.rules.stop_timeout
    }

    /// A command runs, and a node that stops waits for its end.
    pub(crate) const fn stopping(&self) -> bool {
        self.run.is_some()
    }

    /// The command runs as this process, started at that time.
    pub(crate) fn handle_command_started(&mut self, process: (i32, u64)) {
        if let Some(run) = &mut self.run {
            run.process = Some(process);
            self.changes += 1;
        }
    }

    /// The command was not begun, because that could not be noted: it waits for another permit.
    pub(crate) fn handle_not_begun(&mut self, now: Duration, grant: Grant) {
        let run = self.run.take().map(|run| run.id);
        for (_, of) in self
            .completion_waiters
            .iter_mut()
            .filter(|(_, of)| *of == run)
        {
            *of = None;
        }
        let permit = self.using.get(&grant.token);
        if permit.is_some_and(|permit| permit.holder == Holder::Command) {
            self.ask(now, Holder::Command);
        }
        self.end(now, grant.token, Outcome::Released);
    }

    /// Ends the permits of clients that have not been told of them. These clients.
    pub(crate) fn give_up_untold(&mut self, now: Duration) -> Vec<Holder> {
        let untold = |permit: &&Permit| permit.holder.is_fleetlock() && !permit.collected;
        let untold: Vec<_> = self.permits().filter(untold).cloned().collect();
        for permit in &untold {
            self.end(now, permit.grant.token, Outcome::Released);
        }
        untold.into_iter().map(|permit| permit.holder).collect()
    }

    /// The command has ended.
    pub(crate) fn handle_command_ended(&mut self, now: Duration, grant: Grant, outcome: Outcome) {
        let run = self.run.take().map(|run| run.id);
        self.changes += u64::from(run.is_some());
        let told = self
            .completion_waiters
            .extract_if(.., |(_, of)| of.is_some() && *of == run);
        let told = told.map(|(request, _)| Effect::CommandEnded(request, outcome));
        self.effects.extend(told);
        self.ask_for_command(now);
        let used = self.using.get_mut(&grant.token);
        let used = used.filter(|permit| permit.grant == grant && permit.holder.is_command());
        match used {
            Some(permit) if self.closed && !self.hand_on => permit.stopped = true,
            Some(_) => self.end(now, grant.token, outcome),
            None => {}
        }
    }

    /// Time has passed.
    pub(crate) fn handle_timeout(&mut self, now: Duration) {
        let patience = self.rules.patience;
        self.keep_waiting(|waiting| {
            !waiting.holder.is_fleetlock() || now.saturating_sub(waiting.asked) < patience
        });
        // The protocol asks back what it has given; this is for a node that has left its ring.
        let late = self.permits().filter(|permit| now >= permit.deadline);
        let late: Vec<Grant> = late.map(|permit| permit.grant).collect();
        for grant in late {
            self.handle_withdrawn(now, grant);
        }
        let over = |permit: &&Permit| permit.over_at().is_some_and(|end| now >= end);
        let outcome = |permit: &Permit| match permit.lease {
            Some(lease) if now >= lease => Outcome::Expired,
            _ => Outcome::Overrun,
        };
        let over: Vec<(u32, Outcome)> = self
            .permits()
            .filter(over)
            .map(|permit| (permit.grant.token, outcome(permit)))
            .collect();
        for (token, outcome) in over {
            self.end(now, token, outcome);
        }
    }

    /// When to call [`Permits::handle_timeout`] at the latest.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        let back = |permit: &Permit| permit.ends.is_none().then_some(permit.deadline);
        let times = self
            .permits()
            .flat_map(|permit| [permit.over_at(), back(permit)]);
        times.flatten().min()
    }

    /// The next thing to do. What came too early for whoever waits now is asked for again.
    pub(crate) fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front().or_else(|| {
            let mut unused = self.unused.iter();
            let (&token, &fence) = unused.find(|(token, _)| self.next_at(**token).is_some())?;
            self.unused.remove(&token);
            Some(Effect::Wanted(Grant { token, fence }))
        })
    }

    /// Permits in use, in the order of their tokens.
    pub(crate) fn permits(&self) -> impl Iterator<Item = &Permit> {
        self.using.values()
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
        let using = self.permits().map(|permit| Entry {
            token: permit.grant.token,
            fence: permit.grant.fence,
            holder: permit.holder.clone(),
            collected: permit.collected,
            stopped: permit.stopped,
            length: permit.length,
        });
        Ledger {
            waiting: waiting
                .filter(|holder| self.rules.outlives(holder))
                .cloned()
                .collect(),
            using: self.remembered.iter().cloned().chain(using).collect(),
        }
    }

    fn end(&mut self, now: Duration, token: u32, outcome: Outcome) {
        let Some(permit) = self.using.remove(&token) else {
            return;
        };
        self.changes += 1;
        let grant = permit.grant;
        self.effects.push_back(Effect::Ended(Used {
            grant,
            holder: permit.holder,
            took: now.saturating_sub(permit.since),
            outcome,
        }));
        self.effects.push_back(Effect::Done(grant));
    }
}

#[cfg(test)]
mod tests;
