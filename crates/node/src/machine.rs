//! The node: datagrams, timeouts and finished work go in; datagrams, a next
//! timeout and events come out.

use core::time::Duration;

use crate::auth::Key;
use crate::config::{Config, ConfigError, Grant};
use crate::event::Reported;
use crate::permit::{Stage, Times};
use crate::state::{Domain, State};
use crate::wire::{self, Datagram, Header, Rejected};
use crate::{Micros, Rule, micros};

/// One node of a ring.
///
/// It has no clock, socket or thread: times are durations since any fixed moment of a
/// clock that does not run backwards. After every call, send what
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
    pub(crate) domain: Domain,
    pub(crate) times: Times,
    /// Of each link.
    keys: [Key; 2],
    /// What a fault may corrupt.
    pub(crate) state: State,
    pub(crate) now: Micros,
    pub(crate) resets: u64,
    pub(crate) rejected: [u64; Rejected::ALL.len()],
    /// It could go on but for a pause, which ends then.
    pub(crate) pausing: Option<Micros>,
    /// There are steps left that the latest call did not make.
    pub(crate) unfinished: bool,
    pub(crate) reported: Reported,
    /// A neighbour has heard what this node does not remember.
    pub(crate) put_back: bool,
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
        Machine::with_domain(config, config.domain(), key, incarnation)
    }

    /// A node with other phases or values than [`Config::domain`] gives it. For studies:
    /// with fewer, the ring need not recover.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong.
    pub fn with_domain(
        config: Config,
        domain: Domain,
        key: Key,
        incarnation: u64,
    ) -> Result<Machine, ConfigError> {
        config.check()?;
        Ok(Machine {
            config,
            domain,
            times: Times::new(&config.timing),
            keys: [key.clone(), key],
            state: State::new(&config, incarnation),
            now: 0,
            resets: 0,
            rejected: [0; Rejected::ALL.len()],
            pausing: None,
            unfinished: false,
            reported: Reported::default(),
            put_back: false,
        })
    }

    /// Gives the link to a neighbour a key of its own, which that neighbour has to have for
    /// this one: who knows one key then speaks on one link only.
    pub fn set_link_key(&mut self, node: u32, key: &Key) {
        for (link, known) in self.state.links.iter().zip(&mut self.keys) {
            if link.node == node {
                known.clone_from(key);
            }
        }
    }

    /// A datagram has arrived; what it says.
    ///
    /// # Errors
    ///
    /// Why it was rejected, in which case nothing has changed but a count.
    pub fn handle_datagram<'d>(
        &mut self,
        now: Duration,
        datagram: &'d [u8],
    ) -> Result<Datagram<'d>, Rejected> {
        self.begin(now);
        let heard = self.hear(datagram);
        match heard {
            Ok(_) => self.advance(),
            Err(reason) => self.rejected[reason as usize] += 1,
        }
        heard
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.begin(now);
        for link in self.state.links.iter_mut() {
            if self.now - link.sent >= self.times.refresh {
                link.awaits_answer = false;
                link.due = true;
            }
            link.silent = self.now - link.heard >= self.times.heartbeat_timeout;
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
        let Some(token) = self.state.tokens.get_mut(index) else {
            return false;
        };
        if !token.in_use() || token.fence != fence {
            return false;
        }
        // The least dwell is counted from the grant; one that was asked back has it
        // behind it.
        if token.stage == Stage::Stopping {
            token.since = self.now.saturating_sub(self.times.min_hold);
        }
        token.stage = Stage::Done;
        if let Some(payload) = payload {
            self.state.payloads.set(index, payload);
        }
        self.advance();
        true
    }

    /// Somebody wants a permit after all, while its token still stands here, in a ring of
    /// moving blocks. Whoever calls this knows that nobody has used it, because it is granted
    /// under the same number. Whether there is such a permit.
    pub fn handle_wanted(&mut self, now: Duration, token: u32, fence: u64) -> bool {
        self.begin(now);
        // Through a gate that is open for it a token goes at once.
        let granted = self.config.plan.rule() == Rule::MovingBlock
            && (self.config.grant == Grant::Always || self.settled())
            && self.state.block.watch < 2;
        let token = self.state.tokens.get_mut(token as usize);
        let standing = token.filter(|token| {
            granted && token.stage == Stage::Done && token.fence == fence && token.rounds > 0
        });
        let Some(token) = standing else { return false };
        token.stage = Stage::Working;
        token.since = self.now;
        token.reported = 0;
        true
    }

    /// The application begins to use a permit only now, because it had to wait for somebody else:
    /// the permit's time is counted from `since`. Whether there is such a permit, and it was not
    /// asked back.
    pub fn handle_begun(&mut self, since: Duration, token: u32, fence: u64) -> bool {
        let token = self.state.tokens.get_mut(token as usize);
        let granted = token.filter(|token| token.stage == Stage::Working && token.fence == fence);
        let Some(token) = granted else { return false };
        token.since = token.since.max(micros(since));
        true
    }

    /// Writes the next datagram into `buffer`, which has to have room for
    /// [`Config::datagram_bytes`].
    pub fn poll_transmit(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        let told = self.told();
        let state = &mut self.state;
        let at = state.links.iter().position(|link| link.due)?;
        let link = &mut state.links[at];
        link.due = false;
        (link.sent_challenge, link.sent_phase) = (link.challenge, state.phase);
        link.sent = self.now;
        // The challenge catches a number that wraps round, like any lowered one.
        state.sequence = state.sequence.wrapping_add(1);
        let header = Header {
            ring: self.config.ring,
            sender: self.config.index,
            receiver: link.node,
            joining: !state.joined || state.resuming,
            incarnation: state.incarnation,
            sequence: state.sequence,
            challenge: link.challenge,
            echo: link.echo,
            phase: state.phase,
            released: state.released,
        };
        let tokens = state.tokens.iter().enumerate();
        let tokens =
            tokens.map(|(index, token)| (token.value, token.fence, state.payloads.get(index)));
        let layout = self.config.layout();
        let told = told.as_ref().map(|told| (told, &state.links[0].values[..]));
        Some(Transmit {
            to: header.receiver,
            bytes: layout.write(&header, tokens, told, &self.keys[at], buffer),
        })
    }

    /// When to call [`Machine::handle_timeout`] at the latest.
    pub fn poll_timeout(&self) -> Duration {
        if self.unfinished {
            return Duration::from_micros(self.now);
        }
        let state = &self.state;
        let mut next = Micros::MAX;
        for link in state.links.iter() {
            next = next.min(link.sent.saturating_add(self.times.refresh));
        }
        for link in state.links.iter().filter(|link| !link.silent) {
            next = next.min(link.heard.saturating_add(self.times.heartbeat_timeout));
        }
        if let Some(until) = self.pausing {
            next = next.min(until);
        }
        if !self.joined() && self.now < self.joins_alone_at() {
            next = next.min(self.joins_alone_at());
        }
        for token in state.tokens.iter() {
            if let Some(until) = token.blocked(self.now, &self.times) {
                next = next.min(until);
            }
        }
        Duration::from_micros(next.max(self.now))
    }

    /// Every call begins here: time does not run back, and no variable stays out
    /// of its domain.
    fn begin(&mut self, now: Duration) {
        let now = micros(now);
        if self.now == 0 && !self.state.joined {
            // The first call: nothing has been late yet.
            self.state.started = now;
            for link in self.state.links.iter_mut() {
                link.heard = now;
            }
        }
        self.now = now;
        self.unfinished = false;
        self.pausing = None;
        self.state.repair(&self.config, &self.domain, now);
    }

    fn hear<'d>(&mut self, bytes: &'d [u8]) -> Result<Datagram<'d>, Rejected> {
        let sender = wire::sender(bytes);
        let mut links = self.state.links.iter();
        // Whoever is no neighbour has to know a key before it is told so.
        let from = links
            .position(|link| Some(link.node) == sender)
            .unwrap_or(0);
        let datagram = self.config.layout().read(bytes, &self.keys[from])?;
        let header = datagram.header;
        if header.ring != self.config.ring {
            return Err(Rejected::Ring);
        }
        let state = &mut self.state;
        let mut links = state.links.iter_mut();
        let link = links.find(|link| link.node == header.sender);
        let link = link.ok_or(Rejected::Sender)?;
        if header.receiver != self.config.index {
            return Err(Rejected::Receiver);
        }
        let ceiling = self.config.fence_ceiling;
        if !datagram.in_domain(self.domain.values, self.domain.phases()) {
            return Err(Rejected::Domain);
        }
        if datagram.tokens().any(|(_, fence, _)| fence > ceiling) {
            return Err(Rejected::Fence);
        }
        if link.is_of_before(&header) && self.now - link.heard < self.times.longest_permit() {
            return Err(Rejected::Stale);
        }
        self.put_back |= link.is_behind(&header);
        // An authentic datagram is answered; only a fresh one is believed.
        link.echo = header.challenge;
        if let Err(stale) = link.fresh(&header) {
            link.due |= header.incarnation != link.incarnation;
            return Err(stale);
        }
        let before = (link.known, link.phase);
        let values = link.values.iter().copied();
        let handed_over = !values.eq(datagram.tokens().map(|(value, _, _)| value));
        link.awaits_answer =
            self.config.plan.nodes() == 2 && self.config.index == 1 && link.crossed(&header);
        link.hear(self.now, &datagram);
        // It repeats itself a tick behind: it has missed what would take it on. Or its
        // clock waits to hear that its phase is known.
        let same = before == (true, link.phase);
        let behind = same && self.domain.clock.after(link.phase) == state.phase;
        let asks = !same && link.phase <= 0;
        link.due |= behind || asks || header.joining;
        if header.sender == self.config.successor()
            && !header.joining
            && let Some((told, heard)) = datagram.told()
        {
            *state.told = told;
            for (known, value) in state.heard_of.iter_mut().zip(heard) {
                *known = value;
            }
        }
        if header.sender == self.config.predecessor() && !header.joining {
            // What it hands over is acknowledged, and so is what it repeats: the
            // acknowledgement may be lost. (Two nodes would do so forever.) Nobody waits
            // for that where there is one token.
            let blocks = self.config.plan.rule() == Rule::MovingBlock && self.domain.news;
            link.due |= blocks && (self.config.plan.nodes() > 2 || handed_over);
            let carried = state.tokens.iter_mut().zip(datagram.tokens());
            for (index, (token, (_, fence, payload))) in carried.enumerate() {
                token.arriving_fence = fence;
                state.arriving_payloads.set(index, payload);
            }
        }
        Ok(datagram)
    }

    pub(crate) fn transmit_all(&mut self) {
        for link in self.state.links.iter_mut() {
            link.due |= !link.awaits_answer;
        }
    }
}
