//! A node's state as bytes, so that a clean restart is not a fault.
//!
//! Saved before every datagram that tells it, the state survives a killed process:
//! the node goes on as if it had only been slow. What it knew of its neighbours is
//! not saved; they tell it again.

use alloc::vec::Vec;
use core::time::Duration;

use headway_core::Measuring;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::permit::{Stage, Stay};
use crate::wire::Released;
use crate::{Config, ConfigError, Key, Machine, micros};

const MAGIC: &[u8; 8] = b"HWstate1";
const DIGEST_BYTES: usize = 32;

/// Why a saved state was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It is no saved state, or a damaged one.
    #[error("not a saved state, or a damaged one")]
    Damaged,
    /// It is of another ring, another node or another configuration.
    #[error("a state of another ring, node or configuration")]
    Foreign,
}

impl Machine {
    /// Appends the state to `bytes`.
    pub fn save(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        self.save_unsealed(bytes);
        Machine::seal(bytes, start);
    }

    /// Completes what [`Machine::save_unsealed`] has appended from `start` on to a saved
    /// state, by its digest.
    pub fn seal(bytes: &mut Vec<u8>, start: usize) {
        let digest = Sha256::digest(&bytes[start..]);
        bytes.extend_from_slice(&digest);
    }

    /// Appends the state without its digest: enough to see whether it has changed, which
    /// is asked far more often than it has.
    pub fn save_unsealed(&self, bytes: &mut Vec<u8>) {
        let mut put = |field: &[u8]| bytes.extend_from_slice(field);
        put(MAGIC);
        put(&self.config.ring.0);
        put(&self.config.index.to_be_bytes());
        put(&[u8::from(self.joined)]);
        put(&self.phase.to_be_bytes());
        let (token, previous) = match self.rings.released {
            Some(released) => (released.token, released.previous),
            None => (u16::MAX, 0),
        };
        put(&token.to_be_bytes());
        put(&previous.to_be_bytes());
        put(&self.rule.counter.to_be_bytes());
        put(&self.rule.turn.to_be_bytes());
        let measuring = &self.rule.measuring;
        put(&[u8::from(measuring.timing)]);
        put(&measuring.elapsed.to_be_bytes());
        put(&measuring.ignore.to_be_bytes());
        put(&measuring.base.to_be_bytes());
        put(&self.verdict.clean.to_be_bytes());
        put(&self.verdict.arrived.to_be_bytes());
        put(&self.rounds.to_be_bytes());
        put(&self.hops.to_be_bytes());
        for (token, stay) in self.stays.iter().enumerate() {
            put(&self.rings.values[token].to_be_bytes());
            put(&self.rings.fences[token].to_be_bytes());
            put(&stay.rounds.to_be_bytes());
            put(&stay.arrived.to_be_bytes());
            put(&[match stay.stage {
                Stage::Free => 0,
                Stage::Working => 1,
                Stage::Stopping => 2,
                Stage::Done => 3,
            }]);
        }
        put(&self.rings.payloads.bytes);
    }

    /// A node that goes on where it was saved. A permit that was being used is
    /// granted again, under the same fencing number, with its time starting anew.
    ///
    /// ```
    /// use std::time::Duration;
    /// use headway_node::{Config, Key, Machine, Plan, RestoreError, RingId};
    /// let config = Config::new(RingId([7; 16]), 0, Plan::new(3, 1, 1).unwrap());
    /// let node = Machine::new(config, Key::none(), 1).unwrap();
    /// let mut saved = Vec::new();
    /// node.save(&mut saved);
    /// assert!(Machine::restore(config, Key::none(), 2, Duration::ZERO, &saved).is_ok());
    /// saved[20] ^= 1;
    /// let damaged = Machine::restore(config, Key::none(), 2, Duration::ZERO, &saved);
    /// assert_eq!(damaged.unwrap_err(), RestoreError::Damaged);
    /// ```
    ///
    /// # Errors
    ///
    /// When the configuration is wrong, or the state damaged or of another node.
    pub fn restore(
        config: Config,
        key: Key,
        incarnation: u64,
        now: Duration,
        bytes: &[u8],
    ) -> Result<Machine, RestoreError> {
        let mut machine = Machine::new(config, key, incarnation)?;
        let signed = bytes
            .len()
            .checked_sub(DIGEST_BYTES)
            .ok_or(RestoreError::Damaged)?;
        let (state, digest) = bytes.split_at(signed);
        if Sha256::digest(state)[..] != *digest {
            return Err(RestoreError::Damaged);
        }
        let mut fields = Fields(state);
        if fields.take::<8>()? != *MAGIC {
            return Err(RestoreError::Damaged);
        }
        let same = fields.take::<16>()? == config.ring.0
            && u32::from_be_bytes(fields.take()?) == config.index;
        if !same {
            return Err(RestoreError::Foreign);
        }
        machine.joined = fields.flag()?;
        machine.phase = i32::from_be_bytes(fields.take()?);
        let token = u16::from_be_bytes(fields.take()?);
        let previous = u32::from_be_bytes(fields.take()?);
        machine.rings.released = (token != u16::MAX).then_some(Released { token, previous });
        machine.rule.counter = i32::from_be_bytes(fields.take()?);
        machine.rule.turn = u32::from_be_bytes(fields.take()?);
        machine.rule.measuring = Measuring {
            timing: fields.flag()?,
            elapsed: u32::from_be_bytes(fields.take()?),
            ignore: i32::from_be_bytes(fields.take()?),
            base: i32::from_be_bytes(fields.take()?),
            ..machine.rule.measuring
        };
        machine.verdict.clean = u32::from_be_bytes(fields.take()?);
        machine.verdict.arrived = u32::from_be_bytes(fields.take()?);
        machine.rounds = u64::from_be_bytes(fields.take()?);
        machine.hops = u64::from_be_bytes(fields.take()?);
        for token in 0..machine.stays.len() {
            machine.rings.values[token] = u32::from_be_bytes(fields.take()?);
            machine.rings.fences[token] = u64::from_be_bytes(fields.take()?);
            machine.stays[token] = Stay {
                rounds: u32::from_be_bytes(fields.take()?),
                arrived: u32::from_be_bytes(fields.take()?),
                stage: match fields.take::<1>()? {
                    [0] => Stage::Free,
                    [1] => Stage::Working,
                    [2] => Stage::Stopping,
                    [3] => Stage::Done,
                    _ => return Err(RestoreError::Damaged),
                },
                since: micros(now),
                told: 0,
            };
        }
        let payloads = &mut machine.rings.payloads.bytes;
        if fields.0.len() != payloads.len() {
            return Err(RestoreError::Foreign);
        }
        payloads.copy_from_slice(fields.0);
        machine.now = micros(now);
        machine.started = machine.now;
        machine.ticked = machine.now;
        for link in &mut machine.links {
            link.heard = machine.now;
        }
        Ok(machine)
    }
}

struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], RestoreError> {
        let (field, rest) = self.0.split_first_chunk().ok_or(RestoreError::Damaged)?;
        self.0 = rest;
        Ok(*field)
    }

    fn flag(&mut self) -> Result<bool, RestoreError> {
        Ok(self.take::<1>()? != [0])
    }
}
