//! One node whose neighbours are played by the test.

use std::time::Duration;

use headway_node::wire::{Header, Layout, Rejected};
use headway_node::{Config, Key, Machine, Plan, RingId, Rule};

use super::fields::{NOW, PHASE, Place, restored};
use super::harness::told;

/// Value, fencing number and payload.
pub(crate) type Token<'a> = (u32, u64, &'a [u8]);

/// A token that is elsewhere, if the node's own value is 0.
pub(crate) const ELSEWHERE: Token<'static> = (0, 0, b"");

/// One that is here, then.
pub(crate) const HERE: Token<'static> = (1, 0, b"");

pub(crate) struct Scripted {
    pub(crate) machine: Machine,
    pub(crate) now: Duration,
    sequence: u64,
}

impl Scripted {
    pub(crate) fn new(machine: Machine) -> Scripted {
        Scripted {
            machine,
            now: NOW,
            sequence: 0,
        }
    }

    /// Node 1 of this plan in a phase, and with further fields.
    pub(crate) fn in_phase(plan: Plan, phase: i32, fields: &[(Place, i64)]) -> Scripted {
        Scripted::configured(Config::new(RingId([7; 16]), 1, plan), phase, fields)
    }

    pub(crate) fn configured(config: Config, phase: i32, fields: &[(Place, i64)]) -> Scripted {
        let fields: Vec<_> = [(PHASE, i64::from(phase))]
            .iter()
            .chain(fields)
            .copied()
            .collect();
        Scripted::new(restored(config, &fields).unwrap())
    }

    /// A neighbour says this, in a new datagram. Incarnation 0 is what a node takes its
    /// neighbours' to be before it has heard them: no challenge has to be answered.
    pub(crate) fn hears(&mut self, header: Header, tokens: &[Token<'_>]) -> Result<(), Rejected> {
        self.sequence += 1;
        let sequence = self.sequence;
        self.hears_as_it_is(Header { sequence, ..header }, tokens)
    }

    /// The same under the sequence number that it has.
    pub(crate) fn hears_as_it_is(
        &mut self,
        header: Header,
        tokens: &[Token<'_>],
    ) -> Result<(), Rejected> {
        let config = *self.machine.config();
        let layout = Layout {
            tokens: config.plan.tokens(),
            payload: config.payload,
            rule: Rule::LockStep,
            version: headway_node::wire::VERSION,
        };
        assert_eq!(tokens.len(), config.plan.tokens() as usize);
        let header = Header {
            ring: config.ring,
            receiver: config.index,
            ..header
        };
        let mut bytes = vec![0; layout.bytes()];
        layout.write(
            &header,
            tokens.iter().copied(),
            None,
            &Key::none(),
            &mut bytes,
        );
        self.machine.handle_datagram(self.now, &bytes).map(drop)
    }

    /// To whom it has something to say.
    pub(crate) fn answers(&mut self) -> Vec<u32> {
        told(&mut self.machine).iter().map(|sent| sent.0).collect()
    }
}

/// What a neighbour says of its clock, and nothing else.
pub(crate) fn at(sender: u32, phase: i32) -> Header {
    Header {
        sender,
        phase,
        ..Header::default()
    }
}
