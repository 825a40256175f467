//! A node's state as bytes, so that a clean restart is not a fault.
//!
//! Saved before every datagram that tells it, the state survives a killed process: the
//! node goes on as if it had only been slow. What it knew of its neighbours is not
//! saved, because they tell it again.

use alloc::vec::Vec;
use core::time::Duration;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::state::Variable;
use crate::{Config, ConfigError, Key, Machine, Rule, micros};

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
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.config.ring.0);
        bytes.extend_from_slice(&self.config.index.to_be_bytes());
        let state = &self.state;
        state.read_kept(&self.config, &self.domain, &mut |variable| {
            bytes.extend_from_slice(&variable.get().to_be_bytes()[8 - variable.bytes()..]);
        });
        bytes.extend_from_slice(&state.payloads.bytes);
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
        if fields.take(MAGIC.len())? != MAGIC {
            return Err(RestoreError::Damaged);
        }
        let (ring, index) = (fields.take(16)?, fields.take(4)?);
        if ring != config.ring.0 || index != config.index.to_be_bytes() {
            return Err(RestoreError::Foreign);
        }
        let mut filled = Ok(());
        let domain = machine.domain;
        machine.state.visit_kept(&config, &domain, &mut |variable| {
            if filled.is_ok() {
                filled = fields.fill(variable);
            }
        });
        filled?;
        if !fields.0.is_empty() {
            return Err(RestoreError::Foreign);
        }
        machine.now = micros(now);
        machine.state.started = machine.now;
        machine.state.ticked = machine.now;
        machine.state.moved_at = machine.now;
        if config.plan.rule() == Rule::MovingBlock {
            machine.state.block.restarted();
            machine.state.resuming = machine.state.joined;
        }
        for token in &mut machine.state.tokens {
            token.since = machine.now;
        }
        for link in &mut machine.state.links {
            link.heard = machine.now;
        }
        Ok(machine)
    }
}

struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    /// The next bytes. A state that ends too soon has fewer tokens or payload.
    fn take(&mut self, bytes: usize) -> Result<&'b [u8], RestoreError> {
        self.0.split_off(..bytes).ok_or(RestoreError::Foreign)
    }

    /// Gives a variable the value that was saved.
    fn fill(&mut self, variable: Variable<'_>) -> Result<(), RestoreError> {
        if let Variable::Bytes(bytes) = variable {
            bytes.copy_from_slice(self.take(bytes.len())?);
            return Ok(());
        }
        let saved = self.take(variable.bytes())?;
        let number = saved
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte));
        if variable.set(number) {
            Ok(())
        } else {
            Err(RestoreError::Damaged)
        }
    }
}
