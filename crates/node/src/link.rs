//! What a node knows of a neighbour: the latest state that it was sent.
//!
//! Channels lose, duplicate and reorder, so every datagram carries a sequence
//! number and only newer ones count. A sequence number alone would not survive a
//! corrupted memory (one that is far too high shuts out the neighbour for ever) and
//! would let old datagrams in after a restart. Hence challenges: every datagram
//! carries a number that the neighbour echoes, and the number changes with every
//! datagram that is listened to. A datagram counts if
//!
//! * it is of the known incarnation and its sequence number is higher, or
//! * it echoes the current challenge, so that it was sent after the latest
//!   datagram that was listened to.
//!
//! The same numbers tell whether the neighbour knows the present phase, which a clock
//! that recovers has to be sure of: what was known before a reset would let it out of
//! the tail too early, again and again (`testsuite/agreement/clocks.rs`).
//!
//! One that does not count is still answered, so that two nodes that know nothing of
//! each other get to know each other in one exchange.
//!
//! So a copy or an old datagram is never listened to, whoever sends it again and
//! whenever: replaying is no more than losing. Only right after a corruption of
//! this very memory can one be, and the next exchange puts it right.

use alloc::boxed::Box;

use headway_core::phase_clock::PhaseClock;

use crate::config::Config;
use crate::wire::{Datagram, Header, Rejected, Released};
use crate::{Flaw, Micros};

/// A neighbour as last heard of.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Its index.
    pub(crate) node: u32,
    /// It has told its state at least once.
    pub(crate) known: bool,
    /// It has just started and has no state.
    pub(crate) joining: bool,
    /// When it was last heard.
    pub(crate) heard: Micros,
    /// It was not heard for too long.
    pub(crate) silent: bool,
    /// A datagram for it is due.
    pub(crate) due: bool,
    /// The challenge and the phase in the latest datagram to it.
    pub(crate) told: (u64, i32),
    /// Its latest datagram and ours have crossed, and it is for it to answer: nothing is
    /// told it until it has, or until all is told again anyway. Only in a ring of two, where two
    /// datagrams would go to and fro for ever without being any quicker than one.
    pub(crate) hushed: bool,
    /// Its clock.
    pub(crate) phase: i32,
    /// What its latest tick changed.
    pub(crate) released: Option<Released>,
    /// Its value on every token ring.
    pub(crate) values: Box<[u32]>,
    pub(crate) incarnation: u64,
    pub(crate) sequence: u64,
    pub(crate) challenge: u64,
    pub(crate) echo: u64,
    /// It has answered a challenge that was sent with the present phase, so it knows
    /// that phase. Looked at only while the clock recovers, and at phase 0.
    pub(crate) acknowledged: bool,
    /// The first challenge that was sent with the present phase.
    pub(crate) asked: u64,
}

/// Which tick of a neighbour is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    /// The one it is in.
    Current,
    /// The one before.
    Previous,
}

impl Link {
    pub(crate) fn new(node: u32, config: &Config, incarnation: u64) -> Link {
        Link {
            node,
            known: false,
            joining: false,
            heard: 0,
            silent: false,
            due: true,
            told: (0, 0),
            hushed: false,
            phase: 0,
            released: None,
            values: alloc::vec![0; config.plan.tokens() as usize].into(),
            incarnation: 0,
            sequence: 0,
            // Anything that an old datagram cannot know.
            challenge: incarnation ^ u64::from(node).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            echo: 0,
            acknowledged: false,
            asked: 0,
        }
    }

    /// The own phase has changed to one at which the neighbour's word is wanted that
    /// it knows it: challenges of before do not count.
    pub(crate) fn ask(&mut self) {
        self.acknowledged = false;
        self.challenge = self.challenge.wrapping_add(1);
        self.asked = self.challenge;
    }

    /// Whether a datagram is newer than what is known.
    pub(crate) fn fresh(&self, header: &Header, config: &Config) -> Result<(), Rejected> {
        let newer = header.incarnation == self.incarnation && header.sequence > self.sequence;
        let answers = header.echo == self.challenge && !config.has(Flaw::NoChallenge);
        if newer || answers || config.has(Flaw::AcceptStale) {
            Ok(())
        } else {
            Err(Rejected::Stale)
        }
    }

    /// Whether a datagram was sent before the latest one to its sender arrived there, and
    /// that one is enough for the sender's next tick, of which it will tell.
    pub(crate) fn crossed(&self, header: &Header) -> bool {
        let (challenge, phase) = self.told;
        header.echo != challenge && header.phase == phase && phase > 0 && !header.joining
    }

    /// Takes over what a fresh datagram says.
    pub(crate) fn hear(&mut self, now: Micros, datagram: &Datagram<'_>) {
        let header = &datagram.header;
        self.incarnation = header.incarnation;
        self.sequence = header.sequence;
        // Any challenge since the question. (A corrupted `asked` makes the range large,
        // never empty: at worst one answer is taken for granted.)
        let since = header.echo.wrapping_sub(self.asked);
        self.acknowledged |= since <= self.challenge.wrapping_sub(self.asked);
        self.challenge = self.challenge.wrapping_add(1);
        self.heard = now;
        self.joining = header.joining;
        if header.joining {
            return;
        }
        self.known = true;
        self.phase = header.phase;
        self.released = header.released;
        for (known, (value, _, _)) in self.values.iter_mut().zip(datagram.tokens()) {
            *known = value;
        }
    }

    /// Its value on a token ring, in its current or its previous tick.
    pub(crate) fn value(&self, token: usize, tick: Tick) -> u32 {
        match self.released {
            Some(released) if tick == Tick::Previous && usize::from(released.token) == token => {
                released.previous
            }
            _ => self.values[token],
        }
    }

    /// Which of its two ticks is in the same state as tick `phase`, if either; none
    /// while the clock recovers. Within a round, a tick changes nothing. Only of a
    /// neighbour that is known.
    pub(crate) fn tick_at(&self, phase: i32, clock: PhaseClock, config: &Config) -> Option<Tick> {
        if phase < 0 {
            None
        } else if self.phase == phase {
            Some(Tick::Current)
        } else if self.phase == clock.after(phase) {
            Some(if config.has(Flaw::NoPreviousTick) {
                Tick::Current
            } else {
                Tick::Previous
            })
        } else if clock.after(self.phase) == phase && phase % config.plan.pace() as i32 != 0 {
            Some(Tick::Current)
        } else {
            None
        }
    }

    /// Puts back what a corruption took out of its domain.
    pub(crate) fn sanitise(&mut self, now: Micros, config: &Config, clock: PhaseClock) {
        self.heard = self.heard.min(now);
        let values = config.values();
        let sane = (-clock.tail..clock.modulus).contains(&self.phase)
            && self.values.iter().all(|&value| value < values)
            && self
                .released
                .is_none_or(|released| released.in_domain(config.plan.tokens(), values));
        if !sane {
            self.known = false;
            self.phase = 0;
            self.released = None;
            self.values.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, RingId};

    fn config() -> Config {
        Config::new(RingId([7; 16]), 1, Plan::logical(5, 2, 2, 1).unwrap())
    }

    /// A link to a neighbour that is known, changed so.
    fn link(change: impl Fn(&mut Link)) -> Link {
        let mut link = Link::new(0, &config(), 1);
        link.known = true;
        change(&mut link);
        link
    }

    /// A neighbour of which something impossible is known is one that is not known.
    #[test]
    fn what_cannot_be_is_not_known() {
        let (config, clock) = (config(), config().clock());
        let (values, tokens) = (config.values(), config.plan.tokens() as u16);
        let known = |change: &dyn Fn(&mut Link)| {
            let mut link = link(change);
            link.sanitise(7, &config, clock);
            if !link.known {
                assert_eq!((link.phase, link.released), (0, None));
                assert!(link.values.iter().all(|&value| value == 0));
            }
            link.known
        };
        for (phase, is) in [
            (-clock.tail - 1, false),
            (-clock.tail, true),
            (-1, true),
            (clock.modulus - 1, true),
            (clock.modulus, false),
        ] {
            assert_eq!(known(&|link| link.phase = phase), is, "phase {phase}");
        }
        for (value, is) in [(values - 1, true), (values, false)] {
            assert_eq!(known(&|link| link.values[1] = value), is, "value {value}");
        }
        for (token, previous, is) in [
            (tokens - 1, values - 1, true),
            (tokens, 0, false),
            (0, values, false),
        ] {
            let released = Some(Released { token, previous });
            assert_eq!(known(&|link| link.released = released), is, "{released:?}");
        }
        let mut late = link(|link| link.heard = 9);
        late.sanitise(7, &config, clock);
        assert_eq!(late.heard, 7, "nobody was heard in the future");
    }

    /// Two datagrams have crossed if the one does not know the other, and the phase that
    /// both were sent in is enough for a tick.
    #[test]
    fn datagrams_that_have_crossed() {
        let link = |phase| link(|link| link.told = (50, phase));
        let header = |echo, phase, joining| Header {
            echo,
            phase,
            joining,
            ..Header::default()
        };
        for (told, echo, phase, joining, is) in [
            (3, 49, 3, false, true),
            (1, 49, 1, false, true),
            (3, 50, 3, false, false),
            (3, 49, 2, false, false),
            (3, 49, 4, false, false),
            (0, 49, 0, false, false),
            (-2, 49, -2, false, false),
            (3, 49, 3, true, false),
        ] {
            let crossed = link(told).crossed(&header(echo, phase, joining));
            assert_eq!(crossed, is, "{told} {echo} {phase} {joining}");
        }
    }
}
