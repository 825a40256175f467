//! One node of a fleet: its position on the ring, the permits that come by, and who is on the
//! ring, composed.
//!
//! The agent has no clock, socket, disk, channel or thread. Datagrams, requests and times go
//! in; [`Effect`]s come out of [`Agent::poll_effect`] and have to be carried out in their
//! order, because what is told is kept on disk before. [`Position`], [`Permits`] and
//! [`Membership`] do not know each other: the agent passes on to each what the others say.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Settings, When};
use crate::identity::Identities;
use crate::join;
use crate::membership::invite::Invitation;
use crate::membership::roster::Roster;
use crate::membership::{Membership, control};
use crate::metrics::Counts;
use crate::permits::{Holder, Permits, Rules, Runs, Slots};
use crate::position::Position;
use crate::request::{Answer, Refusal};
use crate::rollouts::Rollouts;
use crate::store::{Doubt, Kept, Notes, Stored};
use alarm::{Alarm, Alarms, Reason, Rejections};

pub(crate) mod alarm;
mod effect;
mod follow;
mod positioning;
mod requests;
mod rollouts;
mod status;

pub(crate) use effect::Beside;
pub use effect::{Destination, Effect};
pub use status::{Holding, Phase, Status};

/// How long a node that stops waits for tokens to go on.
const PASS_ON: Duration = Duration::from_secs(1);

/// What a node begins with.
#[derive(Debug)]
pub struct Setup {
    /// What it is told.
    pub settings: Settings,
    /// What it authenticates datagrams with.
    pub identities: Identities,
    /// What it kept before.
    pub kept: Kept,
    /// The session of its process.
    pub session: i32,
    /// Since 1970, when its own time began.
    pub epoch: Duration,
    /// The newest version of the wire format that it speaks.
    pub wire: u8,
    /// Gives numbers that nobody can guess.
    pub random: fn() -> u64,
}

/// A node.
#[derive(Clone)]
pub struct Agent {
    settings: Arc<Settings>,
    position: Position,
    permits: Permits,
    membership: Membership,
    rollouts: Rollouts,
    counts: Counts,
    rejections: Rejections,
    alarms: Alarms,
    /// Alarms about what was kept before.
    doubts: Alarms,
    /// What could not be kept.
    unkept: BTreeMap<Stored, String>,
    /// What the notes were made from: changes of permits, how many nodes leave, who is invited.
    noted: Option<(u64, usize, Vec<Invitation>)>,
    /// Since 1970, when its own time began, as the clock said then; and as it says now.
    epoch: Duration,
    clock: Duration,
    /// No token had a larger fencing number here on an earlier ring.
    fence: u64,
    /// What was kept is not relied on since then: a permit of before may be in use.
    barred_since: Option<Duration>,
    /// The neighbours have not been told yet, or may have moved.
    neighbours_due: bool,
    stopping: Option<Duration>,
    effects: VecDeque<Effect>,
    /// Something has happened since datagrams were last collected.
    unsent: bool,
}

impl Agent {
    /// A node that goes on where it was, or begins.
    pub fn new(now: Duration, setup: Setup) -> Agent {
        let Setup {
            settings,
            identities,
            kept,
            session,
            epoch,
            wire,
            random,
        } = setup;
        let settings = Arc::new(settings);
        let lost = |doubt: &Doubt| matches!(doubt, Doubt::Unreadable(Stored::Roster, _));
        let roster = match kept.doubts.iter().any(lost) {
            true => Err(()),
            false => Ok(kept.roster.as_deref()),
        };
        let mut membership = Membership::new(
            now,
            Arc::clone(&settings),
            identities,
            roster,
            kept.notes.leaving,
            wire,
            (random, epoch),
        );
        membership.set_invitations(kept.notes.invitations);
        let rules = rules(&settings, membership.roster());
        let mut agent = Agent {
            position: Position::new(now, random),
            permits: Permits::new(rules, Runs { session, random }, kept.notes.permits),
            membership,
            rollouts: Rollouts::new(
                now,
                &settings.node.name,
                &settings.rollout.allow,
                random,
                &kept.rollouts,
            ),
            epoch,
            clock: epoch,
            fence: kept.notes.fence,
            barred_since: None,
            settings,
            counts: Counts::default(),
            rejections: Rejections::default(),
            alarms: Alarms::default(),
            doubts: Alarms::default(),
            unkept: BTreeMap::new(),
            noted: None,
            neighbours_due: true,
            stopping: None,
            effects: VecDeque::new(),
            unsent: true,
        };
        if !kept.doubts.is_empty() {
            agent.bar(now);
        }
        let sure = kept.state.filter(|_| kept.doubts.is_empty());
        for doubt in kept.doubts {
            agent.doubts.raise(Alarm::Doubtful(doubt));
        }
        let place = sure.and_then(|state| {
            let config = agent.place(now)?;
            Some((config, agent.membership.link_keys(&config)?, state))
        });
        let position = &mut agent.position;
        if !place.is_some_and(|(config, keys, state)| position.resume(now, config, keys, &state)) {
            agent.permits.handle_left(now);
        }
        agent.follow_up(now);
        agent
    }

    /// A datagram has arrived.
    pub fn handle_datagram(&mut self, now: Duration, datagram: &[u8]) {
        if control::is_control(datagram) {
            self.membership.handle_datagram(now, datagram);
        } else if join::is_join(datagram) {
            let can_note = !self.unkept.contains_key(&Stored::Notes);
            self.membership.handle_join(now, datagram, can_note);
        } else if !self.position.handle_datagram(now, datagram) {
            self.rejections.add(now, Reason::NoRing, 1);
        }
        self.follow_up(now);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.position.handle_timeout(now);
        self.permits.handle_timeout(now);
        if self.membership.handle_timeout(now) {
            // Once a second: names may mean other addresses by now, and what could not be
            // kept is tried again.
            self.neighbours_due |= self.position.neighbours().any(|beside| beside.silent);
            let refused = self.rejections.has_refused_fences(now);
            self.alarms.set(refused, Alarm::FenceRefused);
            if self.unkept.contains_key(&Stored::Notes) {
                self.noted = None;
            }
            if self.unkept.contains_key(&Stored::Roster) {
                self.membership.keep_again(now);
            }
        }
        self.membership.say(now, self.clock, self.works(now));
        self.time_rollouts(now);
        self.follow_up(now);
    }

    /// The machine's clock says by now that the node's own time began then, since 1970.
    pub const fn handle_clock(&mut self, epoch: Duration) {
        self.clock = epoch;
    }

    /// When to call [`Agent::handle_timeout`] at the latest.
    pub fn poll_timeout(&self) -> Duration {
        let others = self.position.poll_timeout().into_iter();
        let others = others.chain(self.permits.poll_timeout());
        let others = others.chain([self.rollouts.poll_timeout()]);
        others.fold(self.membership.poll_timeout(), Duration::min)
    }

    /// Something was kept, or could not be. To be said before the next effect is asked for,
    /// because that may rely on it.
    pub fn handle_stored(&mut self, now: Duration, what: Stored, result: Result<(), String>) {
        if what == Stored::Roster {
            self.membership.handle_kept(now, result.is_ok());
            self.follow_up(now);
        }
        match result {
            // Whoever wanted another key is told, and what is on the disk still counts.
            result if what == Stored::Identity => {
                self.counts.store_failures += u64::from(result.is_err());
                return self.membership.handle_identity_kept(&result);
            }
            Ok(()) if self.unkept.remove(&what).is_some() => {
                tracing::info!(%what, "can be kept again");
            }
            Ok(()) => return,
            Err(error) => {
                self.counts.store_failures += 1;
                match what {
                    Stored::State => self.position.handle_state_lost(),
                    Stored::Rollouts => self.rollouts.handle_unkept(),
                    Stored::Notes => self.take_back(now),
                    Stored::Identity | Stored::Roster => {}
                }
                let folder = self.settings.node.state_dir.display();
                let text = format!("cannot keep the {what} in {folder}: {error}");
                if !self.unkept.contains_key(&what) {
                    tracing::error!(
                        "{text}; the node goes on, and grants nothing that it cannot note"
                    );
                }
                self.unkept.insert(what, text);
            }
        }
        let alarm = self.unkept.values().next().cloned().map(Alarm::NotKept);
        self.alarms
            .clear(|old| matches!(old, Alarm::NotKept(_)) && Some(old) != alarm.as_ref());
        if let Some(alarm) = alarm {
            self.alarms.raise(alarm);
        }
    }

    /// The notes could not be kept: what they were to tell of is not begun, and nobody is told
    /// that a permit is theirs, or lasts longer.
    fn take_back(&mut self, now: Duration) {
        let refused = |id| Effect::Reply(id, Err(Refusal::NotKept));
        for effect in std::mem::take(&mut self.effects) {
            let effect = match effect {
                Effect::StartCommand(permit) => {
                    self.rollouts.handle_not_begun();
                    self.permits.handle_not_begun(now, permit.grant);
                    continue;
                }
                Effect::Reply(id, Ok(Answer::Permit(given))) => {
                    let ticket = given.ticket;
                    self.permits.release(now, &Holder::Program { ticket });
                    refused(id)
                }
                Effect::Reply(id, Ok(Answer::Locked(client))) => {
                    self.permits.release(now, &client);
                    refused(id)
                }
                Effect::Reply(id, Ok(Answer::Lasts(_))) => refused(id),
                other => other,
            };
            self.effects.push_back(effect);
        }
        self.permits.give_up_untold(now);
        self.follow_up(now);
    }

    /// The next thing to do, in order.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        if self.effects.is_empty() && self.unsent {
            // Alone: what has to be taken back changes the state.
            self.note();
            if self.effects.is_empty() {
                self.unsent = false;
                self.collect_datagrams();
            }
        }
        self.effects.pop_front()
    }

    /// What is told is kept first.
    fn collect_datagrams(&mut self) {
        if std::mem::take(&mut self.neighbours_due) {
            let beside: Vec<Beside> = self
                .position
                .neighbours()
                .filter_map(|neighbour| {
                    let member = self.membership.member_at(neighbour.node)?;
                    Some(Beside {
                        node: neighbour.node,
                        name: member.name.clone(),
                        address: member.address.clone(),
                    })
                })
                .collect();
            if !beside.is_empty() {
                self.effects.push_back(Effect::Neighbours(beside));
            }
        }
        self.send_rollouts();
        if let Some(state) = self.position.poll_state() {
            self.effects.push_back(Effect::KeepState(state));
        }
        while let Some((node, datagram)) = self.position.poll_transmit() {
            self.counts.sent(datagram);
            let to = Destination::Neighbour(node);
            self.effects.push_back(Effect::Send(to, datagram.to_vec()));
        }
        while let Some((address, datagram)) = self.membership.poll_transmit() {
            self.counts.sent(&datagram);
            let to = Destination::Address(address);
            self.effects.push_back(Effect::Send(to, datagram));
        }
    }

    /// What somebody is told, or starts, is noted first, so that a restart knows whose permit
    /// it was and what to look for; if it cannot be, [`Agent::take_back`] follows.
    fn tell(&mut self, effect: Effect) {
        if self.unkept.contains_key(&Stored::Notes) {
            self.noted = None;
        }
        self.note();
        self.effects.push_back(effect);
    }

    fn note(&mut self) {
        let invitations = self.membership.invitations();
        let known = self
            .noted
            .as_ref()
            .is_some_and(|(changes, leaving, invited)| {
                let leaves = self.membership.leaving().len();
                (*changes, *leaving, &invited[..]) == (self.permits.changes(), leaves, invitations)
            });
        if known {
            return;
        }
        let invitations = invitations.to_vec();
        let leaves = self.membership.leaving().len();
        self.noted = Some((self.permits.changes(), leaves, invitations.clone()));
        let leaving = self.membership.leaving().clone();
        self.effects.push_back(Effect::KeepNotes(Notes {
            permits: self.permits.ledger(),
            leaving: leaving.into_iter().collect(),
            run: self.permits.run(),
            fence: self.fence.max(self.position.fence()),
            invitations,
        }));
    }

    /// The roster that this node acts by.
    pub const fn roster(&self) -> Option<&Roster> {
        self.membership.roster()
    }

    /// The node has been asked to stop and has nothing to wait for any more.
    pub fn finished(&self, now: Duration) -> bool {
        let Some(since) = self.stopping else {
            return false;
        };
        let passed = now.saturating_sub(since);
        let in_use = |token| {
            self.permits
                .permits()
                .any(|permit| permit.grant.token == token)
        };
        let passes = self.position.held().any(|held| !in_use(held.token));
        let longest = self.permits.stop_timeout() + PASS_ON;
        let waits = passes && passed < PASS_ON || self.permits.stopping() && passed < longest;
        !waits
    }
}

fn rules(settings: &Settings, roster: Option<&Roster>) -> Rules {
    let timing = &settings.timing;
    Rules {
        max_hold: roster.map_or(timing.max_hold, Roster::max_hold),
        stop_timeout: roster.map_or(timing.stop_timeout, Roster::stop_timeout),
        lease: settings.api.lease,
        patience: settings.fleetlock.patience,
        every_permit: settings.command.run.is_some() && settings.command.when == When::Every,
        slots: Slots::new(roster.map_or(1, Roster::tokens), &settings.fleetlock.slots),
    }
}
