//! The node: datagrams, timeouts and finished work go in; datagrams, a next
//! timeout and events come out.

use alloc::boxed::Box;
use core::time::Duration;

use headway_core::phase_clock::PhaseClock;

use crate::auth::Key;
use crate::config::{Config, ConfigError};
use crate::event::Told;
use crate::link::Link;
use crate::permit::{Stage, Stay, Times};
use crate::release::Rule;
use crate::rings::Rings;
use crate::verdict::Verdict;
use crate::wire::{Header, Rejected};
use crate::{Flaw, Micros, micros};

/// One node of a ring.
///
/// It has no clock, no socket and no thread: times are durations since any fixed
/// moment of a clock that does not run backwards. After every call, send what
/// [`Machine::poll_transmit`] gives, act on what [`Machine::poll_event`] gives, and
/// call [`Machine::handle_timeout`] at [`Machine::poll_timeout`] unless something
/// else comes first.
///
/// ```
/// use std::time::Duration;
/// use headway_node::{Config, Event, Key, Machine, Plan, RingId};
///
/// // Three nodes in one program, one token, nothing lost.
/// let plan = Plan::new(3, 1, 1).unwrap();
/// let config = |index| Config::new(RingId([7; 16]), index, plan);
/// let mut nodes: Vec<Machine> = (0..3)
///     .map(|index| Machine::new(config(index), Key::none(), 1000 + u64::from(index)).unwrap())
///     .collect();
/// let mut buffer = [0; 1500];
/// for millisecond in 0..200 {
///     let now = Duration::from_millis(millisecond);
///     for index in 0..3 {
///         nodes[index].handle_timeout(now);
///         while let Some(event) = nodes[index].poll_event() {
///             if let Event::Granted { token, fence } = event {
///                 // This is the moment to work.
///                 nodes[index].handle_work_done(now, token, fence, None);
///             }
///         }
///         while let Some(datagram) = nodes[index].poll_transmit(&mut buffer) {
///             let bytes = &buffer[..datagram.bytes];
///             // The first ones are rejected: they answer no challenge yet.
///             let _ = nodes[datagram.to as usize].handle_datagram(now, bytes);
///         }
///     }
/// }
/// assert!(nodes.iter().all(|node| node.settled() && node.rounds() > 100));
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) config: Config,
    pub(crate) clock: PhaseClock,
    pub(crate) times: Times,
    key: Key,
    // From here on: what a fault may corrupt.
    pub(crate) now: Micros,
    pub(crate) incarnation: u64,
    pub(crate) sequence: u64,
    /// Has a state to tell.
    pub(crate) joined: bool,
    pub(crate) started: Micros,
    pub(crate) phase: i32,
    pub(crate) ticked: Micros,
    pub(crate) sent: Micros,
    /// One for the predecessor and one for the successor, or one for both.
    pub(crate) links: Box<[Link]>,
    pub(crate) rings: Rings,
    pub(crate) rule: Rule,
    pub(crate) stays: Box<[Stay]>,
    pub(crate) verdict: Verdict,
    pub(crate) rounds: u64,
    pub(crate) hops: u64,
    pub(crate) resets: u64,
    pub(crate) rejected: [u64; Rejected::ALL.len()],
    /// The clock could tick but for the pause between two ticks.
    pub(crate) pausing: bool,
    /// There are steps left that the latest call did not make.
    pub(crate) unfinished: bool,
    pub(crate) told: Told,
}

/// A datagram to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The neighbour's index.
    pub to: u32,
    /// How many bytes of the buffer.
    pub bytes: usize,
}

impl Machine {
    /// A node that has just started and knows nothing; it takes its state from its
    /// neighbours. `incarnation` is a number that it has not had before: a random
    /// one.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong.
    pub fn new(config: Config, key: Key, incarnation: u64) -> Result<Machine, ConfigError> {
        config.check()?;
        let link = |node| Link::new(node, &config, incarnation);
        let mut links = alloc::vec![link(config.predecessor())];
        if config.successor() != config.predecessor() {
            links.push(link(config.successor()));
        }
        let clock = config.clock();
        Ok(Machine {
            config,
            clock,
            times: Times::new(&config.timing),
            key,
            now: 0,
            incarnation,
            sequence: 0,
            joined: false,
            started: 0,
            phase: 0,
            ticked: 0,
            sent: 0,
            links: links.into(),
            rings: Rings::new(&config),
            rule: Rule::new(&config),
            stays: alloc::vec![Stay::default(); config.plan.tokens() as usize].into(),
            verdict: Verdict::default(),
            rounds: 0,
            hops: 0,
            resets: 0,
            rejected: [0; Rejected::ALL.len()],
            pausing: false,
            unfinished: false,
            told: Told::default(),
        })
    }

    /// A datagram has arrived.
    ///
    /// # Errors
    ///
    /// Why it was not listened to, in which case nothing has changed but a count.
    pub fn handle_datagram(&mut self, now: Duration, datagram: &[u8]) -> Result<(), Rejected> {
        self.begin(now);
        let heard = self.hear(datagram);
        match heard {
            Ok(()) => self.advance(),
            Err(reason) => self.rejected[reason as usize] += 1,
        }
        heard
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.begin(now);
        if self.now - self.sent >= self.times.refresh && !self.config.has(Flaw::NoRefresh) {
            for link in &mut self.links {
                link.hushed = false;
            }
            self.transmit_all();
        }
        for link in &mut self.links {
            link.silent = self.now - link.heard >= self.times.silence;
        }
        self.advance();
    }

    /// The application has finished with a permit, or has stopped as it was asked
    /// to. `payload` replaces what the token carries; it is cut to
    /// [`Config::payload`] bytes. `false` if there is no such permit any more, in
    /// which case nothing has changed.
    pub fn handle_work_done(
        &mut self,
        now: Duration,
        token: u32,
        fence: u64,
        payload: Option<&[u8]>,
    ) -> bool {
        self.begin(now);
        let index = token as usize;
        let Some(stay) = self.stays.get_mut(index) else {
            return false;
        };
        let using = matches!(stay.stage, Stage::Working | Stage::Stopping);
        if !using || self.rings.fences[index] != fence {
            return false;
        }
        // A permit that was asked back may already have been mentioned as such.
        if stay.stage == Stage::Stopping {
            stay.since = self.now.saturating_sub(self.times.dwell_least);
        }
        stay.stage = Stage::Done;
        if let Some(payload) = payload {
            self.rings.payloads.set(index, payload);
        }
        self.advance();
        true
    }

    /// Writes the next datagram into `buffer`, which has to have room for
    /// [`Config::datagram_bytes`].
    pub fn poll_transmit(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        let link = self.links.iter_mut().find(|link| link.due)?;
        link.due = false;
        link.told = (link.challenge, self.phase);
        self.sent = self.now;
        // Wrapping round is caught by the challenge, like any lowered number.
        self.sequence = self.sequence.wrapping_add(1);
        let header = Header {
            ring: self.config.ring,
            sender: self.config.index,
            receiver: link.node,
            joining: !self.joined,
            incarnation: self.incarnation,
            sequence: self.sequence,
            challenge: link.challenge,
            echo: link.echo,
            phase: self.phase,
            released: self.rings.released,
        };
        let rings = &self.rings;
        let states = rings.values.iter().zip(&rings.fences).enumerate();
        let tokens =
            states.map(|(token, (&value, &fence))| (value, fence, rings.payloads.get(token)));
        let layout = self.config.layout();
        Some(Transmit {
            to: link.node,
            bytes: layout.write(&header, tokens, &self.key, buffer),
        })
    }

    /// When to call [`Machine::handle_timeout`] at the latest.
    pub fn poll_timeout(&self) -> Duration {
        if self.unfinished {
            return Duration::from_micros(self.now);
        }
        let mut next = self.sent.saturating_add(self.times.refresh);
        for link in self.links.iter().filter(|link| !link.silent) {
            next = next.min(link.heard.saturating_add(self.times.silence));
        }
        if self.pausing {
            next = next.min(self.ticked.saturating_add(self.times.tick));
        }
        if !self.joined {
            next = next.min(self.started.saturating_add(self.times.silence));
        }
        for stay in &self.stays {
            if let Some(until) = stay.blocked(self.now, &self.times) {
                next = next.min(until);
            }
        }
        Duration::from_micros(next.max(self.now))
    }

    /// Every call begins here: time does not run back, and no variable stays out
    /// of its domain.
    fn begin(&mut self, now: Duration) {
        let now = micros(now);
        if self.now == 0 && !self.joined {
            // The first call: nothing has been late yet.
            self.started = now;
            for link in &mut self.links {
                link.heard = now;
            }
        }
        self.now = now;
        self.unfinished = false;
        if self.config.has(Flaw::NoSanity) {
            return;
        }
        self.sent = self.sent.min(now);
        self.ticked = self.ticked.min(now);
        self.started = self.started.min(now);
        if !(-self.clock.tail..self.clock.modulus).contains(&self.phase) {
            self.phase = -self.clock.tail;
        }
        for link in &mut self.links {
            link.sanitise(now, &self.config, self.clock);
        }
        self.rings.sanitise(&self.config);
        self.rule.sanitise(&self.config);
        for stay in &mut self.stays {
            stay.since = stay.since.min(now);
        }
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<(), Rejected> {
        let layout = self.config.layout();
        let datagram = if self.config.has(Flaw::AcceptUnauthenticated) {
            layout.parse(bytes)?
        } else {
            layout.read(bytes, &self.key)?
        };
        let header = datagram.header;
        if header.ring != self.config.ring && !self.config.has(Flaw::AcceptAnyRing) {
            return Err(Rejected::Ring);
        }
        let from = self
            .links
            .iter_mut()
            .find(|link| link.node == header.sender);
        let link = from.ok_or(Rejected::Sender)?;
        if header.receiver != self.config.index {
            return Err(Rejected::Receiver);
        }
        let phases = -self.clock.tail..self.clock.modulus;
        if !datagram.in_domain(self.config.values(), phases) {
            return Err(Rejected::Domain);
        }
        // Authentic is enough to be answered; only fresh is enough to be believed.
        link.echo = header.challenge;
        if let Err(stale) = link.fresh(&header, &self.config) {
            link.due |= header.incarnation != link.incarnation;
            return Err(stale);
        }
        let before = (link.known, link.phase);
        link.hushed =
            self.config.plan.nodes() == 2 && self.config.index == 1 && link.crossed(&header);
        link.hear(self.now, &datagram);
        link.silent = false;
        // It repeats itself a tick behind: it has missed what would take it on. Or its
        // clock waits for the word that its phase is known.
        let same = before == (true, link.phase);
        let behind = same && self.clock.after(link.phase) == self.phase;
        let asks = !same && link.phase <= 0;
        link.due |= behind || asks || header.joining;
        if header.sender == self.config.predecessor() && !header.joining {
            self.rings.hear(&datagram);
        }
        Ok(())
    }

    pub(crate) fn transmit_all(&mut self) {
        for link in &mut self.links {
            link.due |= !link.hushed;
        }
    }
}
