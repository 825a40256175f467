//! This node's position on the ring: the protocol's machine, while there is one.
//!
//! Without clock, socket or disk: datagrams and times go in; [`Effect`]s, the state to keep
//! and datagrams come out. Whoever asks for datagrams ([`Position::poll_transmit`]) has to ask for
//! the state first ([`Position::poll_state`]) and keep it: what is told is kept before.

use std::collections::BTreeSet;
use std::time::Duration;

use headway_node::wire;
use headway_node::{
    Config, ConfigError, Event, Held, Key, Machine, Neighbour, Rejected, RestoreError,
};

use crate::permits::Grant;

/// Longer than any datagram.
const BUFFER_BYTES: usize = 2048;

/// The keys of the links to the member before this one and to the one after it.
type Keys = [Key; 2];

/// What has happened on the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// This node may use a token.
    Granted(Grant),
    /// It has to stop using it.
    Withdrawn(Grant),
    /// What it has seen for a whole turn was legitimate.
    Settled { since: Option<Duration> },
    /// Something was not.
    Unsettled,
    /// A neighbour has not been heard for too long.
    Silent { node: u32 },
    /// It was heard again.
    Heard { node: u32 },
    /// The state of this node is older than what it had told.
    RolledBack,
    /// Datagrams that were not listened to.
    Rejected { reason: Rejected, count: u64 },
}

/// A position, taken or not.
#[derive(Clone)]
pub(crate) struct Position {
    random: fn() -> u64,
    machine: Option<Machine>,
    /// Neighbours that have not spoken since the machine was restored: until they have, the
    /// ring may have gone on without this node.
    unheard: BTreeSet<u32>,
    /// What was restored, until the successor has spoken.
    restored: Option<Restored>,
    rolled_back: bool,
    /// The successor's incarnation, if its fencing numbers have fitted this node's.
    watched: Option<u64>,
    /// Permits that wait for them.
    held_back: Vec<Grant>,
    unsettled_since: Option<Duration>,
    /// What machines of earlier rosters counted.
    past: Totals,
    /// The state as it was last given out to be kept.
    kept: Vec<u8>,
    state: Vec<u8>,
    buffer: Vec<u8>,
}

/// What tells whether a restored state is the latest that this node had told.
#[derive(Clone)]
struct Restored {
    /// Its values on the token rings.
    values: Vec<u32>,
    /// K, the number of values.
    of: u32,
    /// The largest fencing numbers that the successor can have; only a settled ring has such.
    fences: Option<Vec<u64>>,
}

impl Restored {
    fn of(machine: &Machine) -> Restored {
        let tokens = &machine.state().tokens;
        let most = || successors_fences(machine).collect();
        Restored {
            values: tokens.iter().map(|token| token.value).collect(),
            of: machine.config().domain().values,
            fences: machine.settled().then(most),
        }
    }

    /// Whether the successor has heard of something later. What it knows of this node are the
    /// values that were restored, or those before the last hand-over.
    fn is_old(&self, heard: &[u32], fences: impl Iterator<Item = u64>) -> bool {
        let mut values = self.values.iter().zip(heard);
        let later = values.any(|(own, heard)| (own + self.of - heard) % self.of > 1);
        let most = self.fences.iter().flatten();
        later || fences.zip(most).any(|(theirs, most)| theirs > *most)
    }
}

/// The largest fencing numbers that the successor can have: a token's last one of this node plus
/// one. While the token is here, that was a turn ago, if the ring is settled.
fn successors_fences(machine: &Machine) -> impl Iterator<Item = u64> {
    let settled = machine.settled();
    let tokens = machine.state().tokens.iter();
    tokens.map(move |token| {
        let here = settled && token.rounds > 0;
        let most = token.fence.saturating_add(1);
        most.saturating_sub(2 * u64::from(here))
    })
}

/// What a node has done on rings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Visits of the patrol; rounds on a ring in lock-step.
    pub(crate) laps: u64,
    pub(crate) hops: u64,
}

impl Position {
    /// A position that is not taken. `random` gives numbers that nobody can guess.
    pub(crate) fn new(now: Duration, random: fn() -> u64) -> Position {
        Position {
            random,
            machine: None,
            unheard: BTreeSet::new(),
            restored: None,
            rolled_back: false,
            watched: None,
            held_back: Vec::new(),
            unsettled_since: Some(now),
            past: Totals::default(),
            kept: Vec::new(),
            state: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
        }
    }

    /// Goes on from a state that was kept, with the keys of both links. Whether it could.
    pub(crate) fn resume(
        &mut self,
        now: Duration,
        config: Config,
        keys: Keys,
        state: &[u8],
    ) -> bool {
        match self.restore(now, config, keys, state) {
            Ok(machine) => {
                tracing::info!(laps = machine.rounds(), "goes on from the kept state");
                self.unheard = [config.predecessor(), config.successor()].into();
                self.restored = machine.state().joined.then(|| Restored::of(&machine));
                self.machine = Some(machine);
                true
            }
            Err(error) => {
                tracing::info!(%error, "the kept state is not used");
                false
            }
        }
    }

    fn restore(
        &self,
        now: Duration,
        config: Config,
        [before, after]: Keys,
        state: &[u8],
    ) -> Result<Machine, RestoreError> {
        let mut machine = Machine::restore(config, before, (self.random)(), now, state)?;
        machine.set_link_key(config.successor(), &after);
        Ok(machine)
    }

    /// Takes a place on a ring, without a state, with the keys of both links.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong.
    pub(crate) fn take(
        &mut self,
        now: Duration,
        config: Config,
        [before, after]: Keys,
    ) -> Result<(), ConfigError> {
        let mut machine = Machine::new(config, before, (self.random)())?;
        machine.set_link_key(config.successor(), &after);
        machine.handle_timeout(now);
        tracing::info!(
            index = config.index,
            nodes = config.plan.nodes(),
            "takes its place on the ring"
        );
        self.machine = Some(machine);
        Ok(())
    }

    /// Leaves the ring.
    pub(crate) fn leave(&mut self, now: Duration) {
        self.past = self.totals();
        if self.machine.take().is_some() {
            self.unsettled_since = self.unsettled_since.or(Some(now));
        }
        self.held_back.clear();
        self.unheard.clear();
        (self.restored, self.watched) = (None, None);
    }

    /// A datagram has arrived. Whether there is anybody to listen to it.
    pub(crate) fn handle_datagram(&mut self, now: Duration, datagram: &[u8]) -> bool {
        let Some(machine) = &mut self.machine else {
            return false;
        };
        // Before it is handled: on a ring of two the successor brings tokens, too.
        let by_successor = wire::sender(datagram) == Some(machine.config().successor());
        let most = by_successor.then(|| successors_fences(machine).collect::<Vec<u64>>());
        let Ok(heard) = machine.handle_datagram(now, datagram) else {
            return true;
        };
        let header = heard.header;
        self.unheard.remove(&header.sender);
        self.rolled_back |= machine.was_put_back();
        let fences = heard.tokens().map(|(_, fence, _)| fence);
        match most {
            // Only the successor is asked.
            None => {}
            // It has lost its numbers, and its next ones are larger than any before.
            Some(_) if header.joining => {
                if let Some(restored) = &mut self.restored {
                    restored.fences = None;
                }
                self.watched = None;
            }
            Some(most) => {
                if let Some(restored) = self.restored.take() {
                    self.rolled_back |= restored.is_old(&machine.state().heard_of, fences);
                } else {
                    let later = fences.zip(most).any(|(theirs, most)| theirs > most);
                    self.watch_successor(header.incarnation, later);
                }
            }
        }
        true
    }

    /// Whether the successor has got a token from this node later than this node knows of: then
    /// the machine was restored with its memory while the node ran. A successor that has started
    /// again may have lost its numbers; they have to fit first.
    fn watch_successor(&mut self, incarnation: u64, later: bool) {
        if self.watched == Some(incarnation) {
            self.rolled_back |= later;
        } else {
            self.watched = (self.is_settled() && !later).then_some(incarnation);
        }
    }

    /// Whether a token has gone on since a neighbour had this permit of it, as far as is known
    /// here.
    pub(crate) fn knows_later(&self, grant: Grant) -> bool {
        let machine = self.machine.as_ref();
        machine.is_some_and(|machine| machine.knows_later(grant.token, grant.fence))
    }

    /// A permit is not used any more.
    pub(crate) fn handle_done(&mut self, now: Duration, grant: Grant) {
        if let Some(machine) = &mut self.machine {
            machine.handle_work_done(now, grant.token, grant.fence, None);
        }
    }

    /// A permit is used from now on, and was asked for at `since`. Whether there is one.
    pub(crate) fn handle_begun(&mut self, grant: Grant, since: Duration) -> bool {
        let machine = self.machine.as_mut();
        machine.is_some_and(|machine| machine.handle_begun(since, grant.token, grant.fence))
    }

    /// Somebody wants a permit that nobody has used: it is granted again if its token is here.
    pub(crate) fn handle_wanted(&mut self, now: Duration, grant: Grant) {
        if let Some(machine) = &mut self.machine {
            machine.handle_wanted(now, grant.token, grant.fence);
        }
    }

    /// Time has passed.
    pub(crate) fn handle_timeout(&mut self, now: Duration) {
        if let Some(machine) = &mut self.machine
            && now >= machine.poll_timeout()
        {
            machine.handle_timeout(now);
        }
    }

    /// When to call [`Position::handle_timeout`] at the latest.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.machine.as_ref().map(Machine::poll_timeout)
    }

    /// What has happened.
    pub(crate) fn poll_effect(&mut self, now: Duration) -> Option<Effect> {
        if std::mem::take(&mut self.rolled_back) {
            return Some(Effect::RolledBack);
        }
        while let Some(event) = self.machine.as_mut().and_then(Machine::poll_event) {
            return Some(match event {
                Event::Granted { token, fence } => {
                    let grant = Grant { token, fence };
                    if self.is_unsure() {
                        self.held_back.push(grant);
                        continue;
                    }
                    Effect::Granted(grant)
                }
                Event::Withdrawn { token, fence } => {
                    let grant = Grant { token, fence };
                    if let Some(at) = self.held_back.iter().position(|held| *held == grant) {
                        self.held_back.remove(at);
                        self.handle_done(now, grant);
                        continue;
                    }
                    Effect::Withdrawn(grant)
                }
                Event::Settled => Effect::Settled {
                    since: self.unsettled_since.take(),
                },
                Event::Unsettled => {
                    self.unsettled_since = Some(now);
                    Effect::Unsettled
                }
                Event::Silent { node } => Effect::Silent { node },
                Event::Heard { node } => Effect::Heard { node },
                Event::Rejected { reason, count } => Effect::Rejected { reason, count },
            });
        }
        if self.held_back.is_empty() || self.is_unsure() {
            return None;
        }
        Some(Effect::Granted(self.held_back.remove(0)))
    }

    /// The ring may have gone on without this node, or from a later state of it.
    fn is_unsure(&self) -> bool {
        !self.unheard.is_empty() || self.restored.is_some()
    }

    /// The state, sealed, if it has changed since it was last asked for.
    pub(crate) fn poll_state(&mut self) -> Option<Vec<u8>> {
        let machine = self.machine.as_ref()?;
        self.state.clear();
        machine.save_unsealed(&mut self.state);
        if self.state == self.kept {
            return None;
        }
        std::mem::swap(&mut self.state, &mut self.kept);
        let mut sealed = self.kept.clone();
        Machine::seal(&mut sealed, 0);
        Some(sealed)
    }

    /// The state could not be kept: it is given out again.
    pub(crate) fn handle_state_lost(&mut self) {
        self.kept.clear();
    }

    /// The next datagram, and to which node.
    pub(crate) fn poll_transmit(&mut self) -> Option<(u32, &[u8])> {
        let transmit = self.machine.as_mut()?.poll_transmit(&mut self.buffer)?;
        Some((transmit.to, &self.buffer[..transmit.bytes]))
    }

    /// This node takes part, and both neighbours are heard. It need not be settled: one that
    /// waits for a token has to answer whoever holds it.
    pub(crate) fn is_on_ring(&self) -> bool {
        let mut beside = self.neighbours();
        self.machine.as_ref().is_some_and(Machine::joined)
            && self.unheard.is_empty()
            && beside.all(|beside| beside.heard.is_some() && !beside.silent)
    }

    /// What this node has seen for a whole turn was legitimate.
    pub(crate) fn is_settled(&self) -> bool {
        self.machine.as_ref().is_some_and(Machine::settled)
    }

    /// The machine, while this node takes part.
    pub(crate) const fn machine(&self) -> Option<&Machine> {
        self.machine.as_ref()
    }

    /// Tokens that are here.
    pub(crate) fn held(&self) -> impl Iterator<Item = Held> {
        self.machine.iter().flat_map(Machine::held)
    }

    /// The neighbours, while this node takes part.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = Neighbour> {
        self.machine.iter().flat_map(Machine::neighbours)
    }

    /// The largest fencing number here.
    pub(crate) fn fence(&self) -> u64 {
        let machine = self.machine.iter();
        let tokens = machine.flat_map(|machine| machine.state().tokens.iter());
        tokens.map(|token| token.fence).max().unwrap_or(0)
    }

    /// On all rings so far.
    pub(crate) fn totals(&self) -> Totals {
        let of = |count: fn(&Machine) -> u64| self.machine.as_ref().map_or(0, count);
        Totals {
            laps: self.past.laps + of(Machine::rounds),
            hops: self.past.hops + of(Machine::hops),
        }
    }
}

#[cfg(test)]
mod tests {
    use headway_node::{Plan, RingId};

    use super::*;

    fn config(index: u32) -> Config {
        let plan = Plan::moving_block(3, 1, 1).expect("it fits");
        Config::new(RingId([7; 16]), index, plan)
    }

    fn machine(index: u32, incarnation: u64) -> Machine {
        Machine::new(config(index), Key::none(), incarnation).expect("it fits")
    }

    /// What the nodes have to say: by whom, to whom.
    fn said(nodes: &mut [Machine]) -> Vec<(u32, u32, Vec<u8>)> {
        let mut buffer = [0; BUFFER_BYTES];
        let mut said = Vec::new();
        for node in nodes {
            let from = node.config().index;
            while let Some(datagram) = node.poll_transmit(&mut buffer) {
                said.push((from, datagram.to, buffer[..datagram.bytes].to_vec()));
            }
        }
        said
    }

    /// A settled ring of three whose token is at the middle one.
    fn ring(now: &mut Duration) -> [Machine; 3] {
        let mut nodes = [0, 1, 2].map(|index| machine(index, 1));
        for _ in 0..100_000 {
            *now += Duration::from_millis(1);
            for node in &mut nodes {
                node.handle_timeout(*now);
                while node.poll_event().is_some() {}
                let held = node.held().next();
                if let Some(Held { token, fence, .. }) = held {
                    if node.config().index == 1 && node.settled() {
                        return nodes;
                    }
                    node.handle_work_done(*now, token, fence, None);
                }
            }
            for (_, to, bytes) in said(&mut nodes) {
                let _ = nodes[to as usize].handle_datagram(*now, &bytes);
            }
        }
        panic!("the token does not come");
    }

    /// The successor has lost everything, so it cannot tell at first whether the restored state
    /// is the latest: a permit waits until it can.
    #[test]
    fn a_restored_permit_waits_until_the_successor_has_a_state() {
        let mut now = Duration::ZERO;
        let mut nodes = ring(&mut now);
        let mut kept = Vec::new();
        nodes[1].save(&mut kept);
        nodes[2] = machine(2, 2);
        let mut position = Position::new(now, || 77);
        assert!(position.resume(now, config(1), [Key::none(), Key::none()], &kept));
        let end = now + 4 * config(1).timing.heartbeat_timeout;
        while now < end {
            now += Duration::from_millis(1);
            nodes[0].handle_timeout(now);
            nodes[2].handle_timeout(now);
            position.handle_timeout(now);
            while let Some(effect) = position.poll_effect(now) {
                assert_ne!(effect, Effect::RolledBack);
                if let Effect::Granted(_) = effect {
                    assert!(nodes[2].joined(), "the successor knows nothing yet");
                    return;
                }
            }
            // The one that the position takes the place of is not there any more.
            let mut said: Vec<_> = said(&mut nodes);
            said.retain(|(from, _, _)| *from != 1);
            while let Some((to, bytes)) = position.poll_transmit() {
                said.push((1, to, bytes.to_vec()));
            }
            for (from, to, bytes) in said {
                match (from, to) {
                    (_, 1) => drop(position.handle_datagram(now, &bytes)),
                    // The one that has lost everything hears nobody else.
                    (0, 2) => {}
                    _ => drop(nodes[to as usize].handle_datagram(now, &bytes)),
                }
            }
        }
        panic!("the permit is never granted");
    }

    #[test]
    fn a_state_that_was_put_back_is_told_by_what_the_successor_has_heard() {
        let restored = |fences: Option<&[u64]>| Restored {
            values: vec![3, 0],
            of: 8,
            fences: fences.map(<[u64]>::to_vec),
        };
        let is_old = |heard: [u32; 2]| restored(None).is_old(&heard, [0, 0].into_iter());
        assert!(!is_old([3, 0]), "the latest");
        assert!(
            !is_old([2, 0]) && !is_old([3, 7]),
            "its last hand-over is on its way"
        );
        assert!(is_old([4, 0]) && is_old([3, 1]), "a turn later");
        assert!(is_old([1, 0]), "nearly all values later");
        // The values are the same again, after K turns: only the numbers tell.
        let mut restored = restored(Some(&[10, 20]));
        assert!(!restored.is_old(&[3, 0], [10, 20].into_iter()));
        assert!(restored.is_old(&[3, 0], [10, 21].into_iter()));
        restored.fences = None;
        assert!(!restored.is_old(&[3, 0], [10, 21].into_iter()));
    }
}
