//! One node's part in rollouts: what is known of them, how that spreads, and whether this node
//! wants a permit for its own step.
//!
//! Without clock, socket or disk: news, times and requests go in; news and the wish for a permit
//! come out. What is known ([`state::State`]) only grows. News go to both neighbours at once, who
//! pass them on; and every second neighbours compare digests and fill each other's gaps, so that
//! every node can answer for all, and a node that was away learns what it has missed, even with an
//! empty disk.
//!
//! Any member may start a rollout and say whether it goes on. How far a member is it signs itself,
//! where members have keys of their own, so that others can pass it on and not make it up. What
//! nobody may say is dropped, and whoever says much of that, or changes its mind without end, is not
//! listened to for the rest of the second.
//!
//! A step runs at least once: a node that is stopped in the middle of it begins it again, under
//! the same step number and with the next attempt.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agent::alarm::{Alarm, Alarms};
use crate::membership::control::CHUNK_BYTES;
use crate::membership::roster::{MAX_MEMBERS, valid_name};
use state::{Atom, Id, Order, Rollout, Spec, State, Step, StepPhase};
pub(crate) use task::step_number;
pub use task::{Ask, Task, Wanted};

pub mod state;
mod task;
pub(crate) mod view;

/// How often neighbours compare what they know.
const COMPARE_EVERY: Duration = Duration::from_secs(1);

/// Datagrams that one comparison leads to at most; the next goes on from there.
const MAX_DATAGRAMS: usize = 32;

/// Characters of a reason, which goes into a datagram.
const MAX_WHY: usize = 150;

/// A rollout's number is at most the time of day, this much later.
const NUMBERS_AHEAD: Duration = Duration::from_secs(86_400);

/// No permit lasts that long.
const LONGEST_SETTLE: Duration = Duration::from_secs(366 * 86_400);

/// How often a step is begun again that its node or machine has not survived: a command that
/// reboots its machine, and then does so again, does not go on for ever.
const MAX_AGAIN: u32 = 4;

/// What one member may say anew in a second, and how much of what it may not.
const MAX_SAID: u32 = 32;
const MAX_WRONG: u32 = 256;

/// Who may say something, and how that is known.
pub(crate) trait Members {
    /// Whether somebody of this name is one.
    fn has(&self, name: &str) -> bool;
    /// This node's signature, if members have keys of their own.
    fn sign(&self, message: &[u8]) -> String;
    /// Whether a member has signed something.
    fn has_signed(&self, name: &str, message: &[u8], signature: &str) -> bool;
}

/// What nodes tell each other.
#[derive(Debug, Serialize, Deserialize)]
enum News {
    /// Something is known.
    Known(Vec<Atom>),
    /// So much is known, as digests.
    Digests(Vec<(Id, u64)>),
}

/// One node's view of rollouts.
#[derive(Clone)]
pub(crate) struct Rollouts {
    me: String,
    /// Which programs may be run here.
    allow: Vec<String>,
    random: fn() -> u64,
    state: State,
    /// The step that is wanted or runs here.
    wanted: Option<Id>,
    running: Option<Id>,
    /// Of the state, if it has not changed since.
    digests: Vec<(Id, u64)>,
    /// Something has changed since [`Rollouts::refresh`].
    stale: bool,
    /// Something has changed since [`Rollouts::poll_kept`]; and it must be kept now.
    unkept: bool,
    urgent: bool,
    next: Duration,
    /// What both neighbours are told.
    news: Vec<Atom>,
    /// What one node is told, by its address.
    outbox: VecDeque<(String, Vec<u8>)>,
    /// How many datagrams of a comparison were sent last.
    cursor: usize,
    /// Since the last comparison, by name: what members have said, and what they may not say.
    said: BTreeMap<String, u32>,
    wrong: BTreeMap<String, u32>,
    alarms: Alarms,
}

impl Rollouts {
    /// With what was kept.
    pub(crate) fn new(
        now: Duration,
        me: &str,
        allow: &[String],
        random: fn() -> u64,
        kept: &[u8],
    ) -> Rollouts {
        let mut rollouts = Rollouts {
            me: me.to_owned(),
            allow: allow.to_vec(),
            random,
            state: State::default(),
            wanted: None,
            running: None,
            digests: Vec::new(),
            stale: true,
            unkept: false,
            urgent: false,
            next: now,
            news: Vec::new(),
            outbox: VecDeque::new(),
            cursor: 0,
            said: BTreeMap::new(),
            wrong: BTreeMap::new(),
            alarms: Alarms::default(),
        };
        if !kept.is_empty() {
            match serde_json::from_slice::<Vec<Atom>>(kept) {
                Ok(atoms) => {
                    for atom in atoms.into_iter().filter(is_plausible) {
                        rollouts.state.join(atom);
                    }
                }
                // The neighbours know, also how far this node was.
                Err(error) => tracing::error!(%error, "what was kept of rollouts cannot be read"),
            }
        }
        rollouts
    }

    /// Other programs may be run here.
    pub(crate) fn set_allowed(&mut self, allow: &[String]) {
        self.allow = allow.to_vec();
        self.stale = true;
    }

    /// There is another roster.
    pub(crate) fn handle_roster(&mut self) {
        self.digests.clear();
    }

    /// Takes in what is new, and passes it on. Whether it was.
    fn learn(&mut self, atom: Atom) -> bool {
        if !self.state.join(atom.clone()) {
            return false;
        }
        (self.stale, self.unkept) = (true, true);
        self.digests.clear();
        self.news.push(atom);
        true
    }

    /// The same for what is done or wanted here, which is kept at once: what others say can be
    /// learnt again.
    fn say(&mut self, atom: Atom) -> bool {
        let new = self.learn(atom);
        self.urgent |= new;
        new
    }

    /// A member at `address` says something.
    pub(crate) fn handle_news(
        &mut self,
        members: &impl Members,
        unix_ms: u64,
        (sender, address): (&str, &str),
        bytes: &[u8],
    ) {
        let wrong = self.wrong.get(sender).copied().unwrap_or(0);
        if !members.has(sender) || wrong >= MAX_WRONG {
            return;
        }
        match serde_json::from_slice(bytes) {
            Ok(News::Known(atoms)) => {
                let mut atoms = atoms.into_iter();
                if !atoms.all(|atom| self.hear(members, unix_ms, sender, atom)) {
                    *self.wrong.entry(sender.to_owned()).or_default() += 1;
                    if wrong + 1 == MAX_WRONG {
                        tracing::warn!(
                            member = sender,
                            "says of rollouts what it may not say: not listened to for a second"
                        );
                    }
                }
            }
            Ok(News::Digests(theirs)) => {
                let mine = self.digests(members).to_vec();
                let differ = mine.into_iter().filter(|digest| !theirs.contains(digest));
                let atoms = differ.flat_map(|(id, _)| self.state.atoms(id));
                let datagrams = pack(atoms.map(|atom| self.signed(members, atom)).collect());
                let all = datagrams.len().max(1);
                self.cursor %= all;
                let turned = datagrams
                    .iter()
                    .cycle()
                    .skip(self.cursor)
                    .take(all.min(MAX_DATAGRAMS));
                let turned = turned.map(|bytes| (address.to_owned(), bytes.clone()));
                self.outbox.extend(turned.take(datagrams.len()));
                self.cursor += MAX_DATAGRAMS;
            }
            Err(_) => {}
        }
    }

    /// Takes in what a member has passed on, if it is new and may be said. Whether it may.
    fn hear(&mut self, members: &impl Members, unix_ms: u64, sender: &str, atom: Atom) -> bool {
        let latest = unix_ms.saturating_add(NUMBERS_AHEAD.as_millis() as u64);
        if !is_plausible(&atom) || atom.id().0 > latest {
            return false;
        }
        let rollout = self.state.0.get(&atom.id());
        let spec = rollout.and_then(|rollout| rollout.spec.as_ref());
        // The rest comes again when it is known what it is about.
        if spec.is_none() && !matches!(atom, Atom::Spec(..)) || !self.state.is_new(&atom) {
            return true;
        }
        let author = match &atom {
            Atom::Spec(..) | Atom::Order(..) => sender,
            Atom::Step(_, name, step) if *step == Step::default() => {
                // Whoever is no member any more has left; that is so for as many as took part.
                let steps = rollout.map_or(0, |rollout| rollout.steps.len());
                let room = spec.is_some_and(|spec| steps < spec.total as usize);
                if members.has(name) || room {
                    self.learn(atom);
                }
                return true;
            }
            Atom::Step(_, name, _) if !members.has(name) => return true,
            Atom::Step(id, name, step) => {
                if !members.has_signed(name, &step.message(*id, name), &step.signature) {
                    return false;
                }
                name
            }
        };
        let said = self.said.entry(author.to_owned()).or_default();
        *said += 1;
        if *said <= MAX_SAID {
            self.learn(atom);
        }
        true
    }

    /// With this node's signature, if it says how far that is.
    fn signed(&self, members: &impl Members, atom: Atom) -> Atom {
        match atom {
            Atom::Step(id, name, step) if name == self.me && step != Step::default() => {
                let signature = members.sign(&step.message(id, &name));
                Atom::Step(id, name, Step { signature, ..step })
            }
            other => other,
        }
    }

    fn digests(&mut self, members: &impl Members) -> &[(Id, u64)] {
        if self.digests.is_empty() {
            self.digests = self.state.digests(|name| members.has(name));
        }
        &self.digests
    }

    /// Time has passed; every second it is time to compare what is known with `others`.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Duration,
        members: &impl Members,
        others: &[String],
    ) {
        if now < self.next {
            return;
        }
        self.next = now + COMPARE_EVERY;
        self.said.clear();
        self.wrong.clear();
        // A window may have opened or closed.
        self.stale = true;
        self.urgent |= self.unkept;
        // Whoever knows nothing says so, and is told.
        let digests = serde_json::to_vec(&News::Digests(self.digests(members).to_vec()));
        let digests = digests.unwrap_or_default();
        let to = others
            .iter()
            .map(|address| (address.clone(), digests.clone()));
        self.outbox.extend(to);
    }

    /// When to call [`Rollouts::handle_timeout`] at the latest.
    pub(crate) const fn poll_timeout(&self) -> Duration {
        self.next
    }

    /// Whether there is a message to send.
    pub(crate) fn has_news(&self) -> bool {
        !(self.news.is_empty() && self.outbox.is_empty())
    }

    /// The next message, and to which address; `neighbours` are told all news.
    pub(crate) fn poll_transmit(
        &mut self,
        members: &impl Members,
        neighbours: &[String],
    ) -> Option<(String, Vec<u8>)> {
        let news = std::mem::take(&mut self.news).into_iter();
        for bytes in pack(news.map(|atom| self.signed(members, atom)).collect()) {
            for address in neighbours {
                self.outbox.push_back((address.clone(), bytes.clone()));
            }
        }
        self.outbox.pop_front()
    }

    /// What has to be kept now, if anything.
    pub(crate) fn poll_kept(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.urgent) {
            return None;
        }
        self.unkept = false;
        let ids = self.state.0.keys();
        let atoms: Vec<Atom> = ids.flat_map(|id| self.state.atoms(*id)).collect();
        serde_json::to_vec(&atoms).ok()
    }

    /// Could not be kept: tried again.
    pub(crate) const fn handle_unkept(&mut self) {
        self.unkept = true;
    }

    /// Whether this node wants a permit for a step, if that may have changed.
    pub(crate) fn refresh(&mut self, unix_ms: u64) -> Option<bool> {
        if !std::mem::take(&mut self.stale) {
            return None;
        }
        self.settle_own(unix_ms);
        let wanted = self
            .state
            .0
            .iter()
            .find(|(_, rollout)| self.may_begin(rollout, unix_ms));
        self.wanted = wanted.map(|(id, _)| *id);
        self.watch();
        // What follows from that has been taken into account.
        self.stale = false;
        Some(self.wanted.is_some())
    }

    /// Own steps that were left in the middle, that failed and are to be tried again, or whose
    /// command is not allowed here.
    fn settle_own(&mut self, unix_ms: u64) {
        let mut own = Vec::new();
        for (id, rollout) in &self.state.0 {
            let (Some(spec), Some(order)) = (&rollout.spec, &rollout.order) else {
                continue;
            };
            let Some(step) = rollout.steps.get(&self.me) else {
                continue;
            };
            let left = step.phase == StepPhase::Running && self.running != Some(*id);
            let again = left || step.phase == StepPhase::Failed && step.retry < order.retry;
            let begins = step.phase == StepPhase::Pending && self.may_begin(rollout, unix_ms);
            let forbidden = || self.forbidden(&spec.command, &spec.healthy);
            let failed = if left && step.attempt.saturating_sub(step.retry) >= MAX_AGAIN {
                let times = step.attempt.saturating_add(1);
                Some(format!(
                    "begun {times} times, and its node or machine stopped in the middle of each"
                ))
            } else {
                let program = begins.then(forbidden).flatten();
                program.map(|program| format!("{program} may not be run here (rollout.allow)"))
            };
            if let Some(why) = failed {
                let step = Step {
                    phase: StepPhase::Failed,
                    retry: order.retry,
                    began_ms: unix_ms,
                    ended_ms: unix_ms,
                    why,
                    signature: String::new(),
                    ..*step
                };
                own.push((*id, step));
            } else if again {
                let step = Step {
                    attempt: step.attempt.saturating_add(1),
                    retry: order.retry,
                    ..Step::default()
                };
                own.push((*id, step));
            }
        }
        for (id, step) in own {
            self.say(Atom::Step(id, self.me.clone(), step));
        }
    }

    /// The program that may not be run here.
    fn forbidden<'c>(&self, command: &'c [String], healthy: &'c [String]) -> Option<&'c str> {
        let allowed = |program: &&String| {
            self.allow
                .iter()
                .any(|known| known == "*" || known == *program)
        };
        let programs = command.first().into_iter().chain(healthy.first());
        let mut wrong = programs.filter(|program| !allowed(program));
        wrong.next().map(String::as_str)
    }

    /// Whether this node's step may begin.
    fn may_begin(&self, rollout: &Rollout, unix_ms: u64) -> bool {
        let (Some(spec), Some(order)) = (&rollout.spec, &rollout.order) else {
            return false;
        };
        let phase = |name: &String| rollout.steps.get(name).map(|step| step.phase);
        let canary = spec.canaries.contains(&self.me);
        let first = || {
            spec.canaries
                .iter()
                .all(|name| phase(name) == Some(StepPhase::Done))
        };
        phase(&self.me) == Some(StepPhase::Pending)
            && !order.aborted
            && !order.paused
            && spec.window.is_none_or(|window| window.is_open(unix_ms))
            && !rollout.has_failed()
            && (canary || first())
    }

    /// Raises and ends alarms.
    fn watch(&mut self) {
        let failed = |rollout: &Rollout| {
            let (spec, order) = (rollout.spec.as_ref()?, rollout.order.as_ref()?);
            (rollout.has_failed() && !order.aborted).then(|| {
                let failed: Vec<String> = rollout
                    .failed()
                    .take(5)
                    .map(|(name, step)| format!("{name}: {}", step.why))
                    .collect();
                Alarm::RolloutFailed(spec.name.clone(), failed.join("; "))
            })
        };
        let raised: Vec<Alarm> = self.state.0.values().filter_map(failed).collect();
        self.alarms.clear(|old| !raised.contains(old));
        for alarm in raised {
            self.alarms.raise(alarm);
        }
    }

    /// What to look at.
    pub(crate) const fn alarms(&self) -> &Alarms {
        &self.alarms
    }

    /// The permit is here: what to run, if the step is still wanted. It is noted as begun.
    pub(crate) fn begin(&mut self, unix_ms: u64) -> Option<Task> {
        self.stale = true;
        self.refresh(unix_ms);
        let id = self.wanted.take()?;
        let rollout = self.state.0.get(&id)?;
        let (spec, step) = (rollout.spec.clone()?, rollout.steps.get(&self.me)?);
        let step = Step {
            phase: StepPhase::Running,
            began_ms: unix_ms,
            signature: String::new(),
            ..step.clone()
        };
        let task = Task {
            step: step_number(id, &self.me),
            attempt: step.attempt,
            rollout: spec.name,
            command: spec.command,
            settle: Duration::from_millis(spec.settle_ms),
            healthy: spec.healthy,
        };
        self.running = Some(id);
        self.say(Atom::Step(id, self.me.clone(), step));
        Some(task)
    }

    /// It was not begun: it will be, as the next attempt.
    pub(crate) const fn handle_not_begun(&mut self) {
        self.running = None;
        self.stale = true;
    }

    /// The step has ended; an error says why it has failed.
    pub(crate) fn handle_ended(&mut self, unix_ms: u64, result: Result<(), String>) {
        let Some(id) = self.running.take() else {
            return;
        };
        self.stale = true;
        let step = self
            .state
            .0
            .get(&id)
            .and_then(|rollout| rollout.steps.get(&self.me));
        let Some(step) = step.cloned() else { return };
        let step = Step {
            phase: if result.is_ok() {
                StepPhase::Done
            } else {
                StepPhase::Failed
            },
            ended_ms: unix_ms,
            why: result
                .err()
                .unwrap_or_default()
                .chars()
                .take(MAX_WHY)
                .collect(),
            signature: String::new(),
            ..step
        };
        self.say(Atom::Step(id, self.me.clone(), step));
    }
}

/// Whether an atom may be, whoever says it.
fn is_plausible(atom: &Atom) -> bool {
    match atom {
        Atom::Spec(_, spec) => {
            let Spec { name, by, .. } = spec;
            let names = spec.canaries.iter().chain([name, by]);
            names.into_iter().all(|name| valid_name(name))
                && (1..=MAX_MEMBERS).contains(&(spec.total as usize))
                && Duration::from_millis(spec.settle_ms) <= LONGEST_SETTLE
                && !spec.command.is_empty()
        }
        Atom::Order(
            _,
            Order {
                by, max_failures, ..
            },
        ) => valid_name(by) && *max_failures > 0,
        Atom::Step(_, name, step) => valid_name(name) && step.why.chars().count() <= MAX_WHY,
    }
}

/// Atoms as datagrams, as many in each as fit.
fn pack(atoms: Vec<Atom>) -> Vec<Vec<u8>> {
    let mut datagrams = Vec::new();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let write = |batch: Vec<Atom>| serde_json::to_vec(&News::Known(batch)).unwrap_or_default();
    for atom in atoms {
        let size = serde_json::to_vec(&atom).map_or(0, |text| text.len()) + 1;
        if !batch.is_empty() && bytes + size > MAX_NEWS_BYTES {
            datagrams.push(write(std::mem::take(&mut batch)));
            bytes = 0;
        }
        batch.push(atom);
        bytes += size;
    }
    if !batch.is_empty() {
        datagrams.push(write(batch));
    }
    datagrams
}

/// What fits into a datagram beside the brackets.
const MAX_NEWS_BYTES: usize = CHUNK_BYTES - 20;

#[cfg(test)]
mod tests;
