//! A node's state as bytes, so that a clean restart is not a fault.
//!
//! Saved before every datagram that tells it, the state survives a killed process: the
//! node goes on as if it had only been slow. What it knew of its neighbours is not
//! saved, because they tell it again.

use alloc::vec::Vec;
use core::time::Duration;

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::permit::Stage;
use crate::state::Variable;
use crate::wire::{NO_TOKEN, Released};
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
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.config.ring.0);
        bytes.extend_from_slice(&self.config.index.to_be_bytes());
        let state = &self.state;
        state.read_kept(&self.config, &self.domain, &mut |variable| {
            append(bytes, &variable);
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
        if fields.take::<8>()? != *MAGIC {
            return Err(RestoreError::Damaged);
        }
        let same = fields.take::<16>()? == config.ring.0
            && u32::from_be_bytes(fields.take()?) == config.index;
        if !same {
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
        for token in &mut machine.state.tokens {
            token.since = machine.now;
        }
        for link in &mut machine.state.links {
            link.heard = machine.now;
        }
        Ok(machine)
    }
}

/// Appends one variable of a saved state.
fn append(bytes: &mut Vec<u8>, variable: &Variable<'_>) {
    let mut put = |field: &[u8]| bytes.extend_from_slice(field);
    match variable {
        Variable::Flag(flag) => put(&[u8::from(**flag)]),
        Variable::Phase(number) | Variable::Counter(number, _) => put(&number.to_be_bytes()),
        Variable::Below(number, _) | Variable::Limited(number, _) | Variable::Rounds(number) => {
            put(&number.to_be_bytes());
        }
        Variable::Fence(number)
        | Variable::Moment(number)
        | Variable::Number(number)
        | Variable::Total(number) => put(&number.to_be_bytes()),
        Variable::Released(released) => {
            let (token, previous) = match released {
                Some(released) => (released.token, released.previous),
                None => (NO_TOKEN, 0),
            };
            put(&token.to_be_bytes());
            put(&previous.to_be_bytes());
        }
        Variable::Stage(stage) => put(&[**stage as u8]),
        Variable::Bytes(all) => put(all),
    }
}

struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    /// The next bytes. A state that ends too soon has fewer tokens or payload.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], RestoreError> {
        let (field, rest) = self.0.split_first_chunk().ok_or(RestoreError::Foreign)?;
        self.0 = rest;
        Ok(*field)
    }

    /// Gives a variable the value that was saved.
    fn fill(&mut self, variable: Variable<'_>) -> Result<(), RestoreError> {
        match variable {
            Variable::Flag(flag) => *flag = self.take()? != [0],
            Variable::Phase(number) | Variable::Counter(number, _) => {
                *number = i32::from_be_bytes(self.take()?);
            }
            Variable::Below(number, _)
            | Variable::Limited(number, _)
            | Variable::Rounds(number) => *number = u32::from_be_bytes(self.take()?),
            Variable::Fence(number)
            | Variable::Moment(number)
            | Variable::Number(number)
            | Variable::Total(number) => *number = u64::from_be_bytes(self.take()?),
            Variable::Released(released) => {
                let token = u16::from_be_bytes(self.take()?);
                let previous = u32::from_be_bytes(self.take()?);
                *released = (token != NO_TOKEN).then_some(Released { token, previous });
            }
            Variable::Stage(stage) => {
                let stages = [Stage::Free, Stage::Working, Stage::Stopping, Stage::Done];
                let saved = usize::from(self.take::<1>()?[0]);
                *stage = *stages.get(saved).ok_or(RestoreError::Damaged)?;
            }
            Variable::Bytes(all) => {
                let saved = self.0.split_off(..all.len());
                all.copy_from_slice(saved.ok_or(RestoreError::Foreign)?);
            }
        }
        Ok(())
    }
}
