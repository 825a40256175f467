//! The m token rings as one node sees them: its own values, which decide where the
//! tokens are, and what the tokens carry.
//!
//! A token is a difference between two neighbours' values (Dijkstra's K-state
//! ring), so it cannot be lost; passing it on is one write to the own value. Its
//! fencing number grows by one with every hop; its payload is whatever the last
//! holder left.

use alloc::boxed::Box;

use headway_core::token_ring::released;

use crate::Flaw;
use crate::config::Config;
use crate::wire::{Datagram, Released};

/// This node's part of all token rings.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    pub(crate) values: Box<[u32]>,
    /// The fencing number under which each token was last here.
    pub(crate) fences: Box<[u64]>,
    /// What each token carries, or carried when it was last here.
    pub(crate) payloads: Payloads,
    /// What the latest tick changed.
    pub(crate) released: Option<Released>,
    /// The predecessor's fencing numbers and payloads, to take over on arrival.
    pub(crate) arriving_fences: Box<[u64]>,
    pub(crate) arriving_payloads: Payloads,
}

impl Rings {
    pub(crate) fn new(config: &Config) -> Rings {
        let tokens = config.plan.tokens() as usize;
        Rings {
            values: alloc::vec![0; tokens].into(),
            fences: alloc::vec![config.fence_floor; tokens].into(),
            payloads: Payloads::new(tokens, config.payload),
            released: None,
            arriving_fences: alloc::vec![0; tokens].into(),
            arriving_payloads: Payloads::new(tokens, config.payload),
        }
    }

    /// Notes what the predecessor's tokens carry.
    pub(crate) fn hear(&mut self, datagram: &Datagram<'_>) {
        for (token, (_, fence, payload)) in datagram.tokens().enumerate() {
            self.arriving_fences[token] = fence;
            self.arriving_payloads.set(token, payload);
        }
    }

    /// A token is here: its next fencing number, and its payload.
    pub(crate) fn arrive(&mut self, token: usize, config: &Config) {
        // The own number is of the token's last visit. It matters only after a
        // corruption has lowered the arriving one: numbers then grow again within
        // a turn.
        let latest = if config.has(Flaw::FenceFromMemory) {
            self.fences[token]
        } else {
            self.fences[token].max(self.arriving_fences[token])
        };
        self.fences[token] = latest.checked_add(1).unwrap_or(1);
        let Rings {
            payloads,
            arriving_payloads,
            ..
        } = self;
        payloads.set(token, arriving_payloads.get(token));
    }

    /// Passes a token on.
    pub(crate) fn release(&mut self, token: usize, predecessor: u32, config: &Config) {
        let own = self.values[token];
        self.values[token] = released(own, predecessor, config.index == 0, config.values());
        self.released = Some(Released {
            token: token as u16,
            previous: own,
        });
    }

    /// Puts back what a corruption took out of its domain.
    pub(crate) fn sanitise(&mut self, config: &Config) {
        let values = config.values();
        for value in &mut self.values {
            *value = if *value < values { *value } else { 0 };
        }
        for fence in &mut self.fences {
            *fence = (*fence).max(config.fence_floor);
        }
        self.released = self
            .released
            .filter(|released| released.in_domain(config.plan.tokens(), values));
    }
}

/// A bounded number of bytes for every token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payloads {
    most: u8,
    /// For every token its length and then `most` bytes.
    pub(crate) bytes: Box<[u8]>,
}

impl Payloads {
    fn new(tokens: usize, most: u8) -> Payloads {
        let bytes = if most == 0 {
            Box::default()
        } else {
            alloc::vec![0; tokens * (1 + usize::from(most))].into()
        };
        Payloads { most, bytes }
    }

    /// A payload; a corrupted length counts for no more than there can be.
    pub(crate) fn get(&self, token: usize) -> &[u8] {
        if self.most == 0 {
            return &[];
        }
        let place = &self.bytes[self.place(token)];
        &place[1..=usize::from(place[0].min(self.most))]
    }

    /// Replaces a payload; one that is too long is cut.
    pub(crate) fn set(&mut self, token: usize, payload: &[u8]) {
        if self.most == 0 {
            return;
        }
        let place = self.place(token);
        let place = &mut self.bytes[place];
        let length = payload.len().min(place.len() - 1);
        place[0] = length as u8;
        place[1..=length].copy_from_slice(&payload[..length]);
    }

    fn place(&self, token: usize) -> core::ops::Range<usize> {
        let size = 1 + usize::from(self.most);
        token * size..(token + 1) * size
    }
}
