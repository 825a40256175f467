//! What a node knows of a neighbour: the latest state that it was sent.
//!
//! Channels lose, duplicate and reorder, so every datagram carries a sequence number
//! and only newer ones count. A sequence number alone would not survive a corrupted
//! memory (one that is far too high would shut the neighbour out forever) and would let
//! old datagrams in after a restart. Hence challenges: every datagram carries a number
//! that the neighbour echoes, and the number changes with every accepted datagram. A
//! datagram counts if
//!
//! * it is of the known incarnation and its sequence number is higher, or
//! * it echoes the current challenge, so that it was sent after the latest accepted
//!   datagram.
//!
//! The same numbers tell whether the neighbour knows the present phase. A clock that
//! recovers has to be sure of that: what was known before a reset would let it out of
//! the tail too early, again and again (`testsuite/agreement/clocks.rs`).
//!
//! A datagram that does not count is still answered, so that two nodes that know nothing
//! of each other get acquainted in one exchange. Only what a neighbour has said before is not:
//! it comes late, or the neighbour's machine was put back, with its memory, to what it was, and
//! then it has to hear an answer to questions that it does not remember.
//!
//! So a node never accepts a copy or an old datagram, whoever sends it again and
//! whenever: replaying is no worse than losing. The one exception is right after a
//! corruption of this very memory, and the next exchange puts that right.

use headway_core::phase_clock::PhaseClock;

use crate::Micros;
use crate::config::Config;
use crate::slots::{PerToken, repeated};
use crate::state::{Domain, Variable};
use crate::wire::{Datagram, Header, Rejected, Released};

/// A neighbour as last heard of.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its index.
    pub(crate) node: u32,
    /// It has told its state at least once.
    pub known: bool,
    /// It has just started and has no state.
    pub joining: bool,
    /// It was not heard for too long.
    pub silent: bool,
    /// A datagram for it is due.
    pub due: bool,
    /// Its latest datagram and ours have crossed, so it is the neighbour's turn to
    /// speak: until it answers, only the refresh sends to it. Used in a ring of two
    /// alone, where two datagrams would otherwise go back and forth forever, no faster
    /// than one.
    pub awaits_answer: bool,
    /// It has answered a challenge that was sent with the present phase, so it knows
    /// that phase. Matters only while the clock recovers, and at phase 0.
    pub acknowledged: bool,
    /// When it was last heard.
    pub heard: Micros,
    /// The challenge in the latest datagram to it.
    pub sent_challenge: u64,
    /// The phase in the latest datagram to it.
    pub sent_phase: i32,
    /// Its clock.
    pub phase: i32,
    /// What its latest tick changed.
    pub released: Option<Released>,
    /// Its incarnation.
    pub incarnation: u64,
    /// Its latest sequence number.
    pub sequence: u64,
    /// What it is to echo.
    pub challenge: u64,
    /// Its own latest challenge.
    pub echo: u64,
    /// The first challenge that was sent with the present phase.
    pub asked: u64,
    /// Its value on every token ring.
    pub values: PerToken<u32>,
    /// When a datagram for it was last written.
    pub sent: Micros,
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
            silent: false,
            due: true,
            awaits_answer: false,
            acknowledged: false,
            heard: 0,
            sent_challenge: 0,
            sent_phase: 0,
            phase: 0,
            released: None,
            incarnation: 0,
            sequence: 0,
            // Anything that an old datagram cannot know.
            challenge: incarnation ^ u64::from(node).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            echo: 0,
            asked: 0,
            values: repeated(0, config.plan.tokens() as usize),
            sent: 0,
        }
    }

    pub(crate) fn visit(&mut self, domain: &Domain, see: &mut impl FnMut(Variable<'_>)) {
        see(Variable::Flag(&mut self.known));
        see(Variable::Flag(&mut self.joining));
        see(Variable::Flag(&mut self.silent));
        see(Variable::Flag(&mut self.due));
        see(Variable::Flag(&mut self.awaits_answer));
        see(Variable::Flag(&mut self.acknowledged));
        see(Variable::Moment(&mut self.heard));
        see(Variable::Number(&mut self.sent_challenge));
        see(Variable::Phase(&mut self.sent_phase));
        see(Variable::Phase(&mut self.phase));
        see(Variable::Released(&mut self.released));
        see(Variable::Number(&mut self.incarnation));
        see(Variable::Number(&mut self.sequence));
        see(Variable::Number(&mut self.challenge));
        see(Variable::Number(&mut self.echo));
        see(Variable::Number(&mut self.asked));
        for value in self.values.iter_mut() {
            see(Variable::Below(value, domain.values));
        }
        see(Variable::Moment(&mut self.sent));
    }

    /// Its index.
    pub const fn node(&self) -> u32 {
        self.node
    }

    /// Forgets the neighbour's state.
    pub(crate) fn forget(&mut self) {
        self.known = false;
        self.phase = 0;
        self.released = None;
        self.values.fill(0);
    }

    /// The own phase has changed to one of which the neighbour has to confirm that it
    /// knows it: earlier challenges do not count.
    pub(crate) fn ask(&mut self) {
        self.acknowledged = false;
        self.challenge = self.challenge.wrapping_add(1);
        self.asked = self.challenge;
    }

    /// Whether a datagram is newer than what is known.
    pub(crate) fn fresh(&self, header: &Header) -> Result<(), Rejected> {
        let newer = header.incarnation == self.incarnation && header.sequence > self.sequence;
        if newer || header.echo == self.challenge {
            Ok(())
        } else {
            Err(Rejected::Stale)
        }
    }

    /// Whether a datagram says what its sender has said before. It comes late, or the sender was
    /// put back with its memory (a virtual machine, say): then it has to hear that it knew more, so
    /// its question of before is not answered. Only for so long as a permit may last, because it
    /// may be the memory of this node that is wrong.
    pub(crate) fn is_of_before(&self, header: &Header) -> bool {
        const FAR: u64 = 1 << 32;
        let since = self.sequence.wrapping_sub(header.sequence);
        self.known && header.incarnation == self.incarnation && since < FAR
    }

    /// Whether a neighbour has heard a question that this node does not remember: then this node
    /// was put back with its memory. Questions are numbered, from a number that nobody can guess.
    pub(crate) const fn is_behind(&self, header: &Header) -> bool {
        const FAR: u64 = 1 << 40;
        let ahead = header.echo.wrapping_sub(self.sent_challenge);
        self.known && 0 < ahead && ahead < FAR
    }

    /// Whether a datagram was sent before the latest one to its sender arrived there, and
    /// that one is enough for the sender's next tick, which it will report.
    pub(crate) fn crossed(&self, header: &Header) -> bool {
        header.echo != self.sent_challenge
            && header.phase == self.sent_phase
            && self.sent_phase > 0
            && !header.joining
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
        self.silent = false;
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
    /// while the clock recovers. Within a round, a tick changes nothing. Only for a
    /// neighbour that is known.
    pub(crate) fn tick_at(&self, phase: i32, clock: PhaseClock, config: &Config) -> Option<Tick> {
        if phase < 0 {
            None
        } else if self.phase == phase {
            Some(Tick::Current)
        } else if self.phase == clock.after(phase) {
            Some(Tick::Previous)
        } else if clock.after(self.phase) == phase && phase % config.plan.pace() as i32 != 0 {
            Some(Tick::Current)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;
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

    /// A neighbour of which something impossible is known becomes one that is not known.
    #[test]
    fn what_cannot_be_is_not_known() {
        let (config, domain) = (config(), config().domain());
        let (clock, values) = (domain.clock, domain.values);
        let tokens = config.plan.tokens() as u16;
        let repaired = |change: &dyn Fn(&mut Link)| {
            let mut state = State::new(&config, 1);
            state.links[0] = link(change);
            state.repair(&config, &domain, 7);
            state.links[0].clone()
        };
        let known = |change: &dyn Fn(&mut Link)| {
            let link = repaired(change);
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
        let late = repaired(&|link| link.heard = 9);
        assert_eq!(late.heard, 7, "nobody was heard in the future");
    }

    /// Two datagrams have crossed if the one does not know the other, and the phase that
    /// both were sent in is enough for a tick.
    #[test]
    fn datagrams_that_have_crossed() {
        let link = |phase| link(|link| (link.sent_challenge, link.sent_phase) = (50, phase));
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
