//! What strikes nodes: corrupted memory, crashes, restarts.

use std::time::Duration;

use rand_chacha::rand_core::Rng;

use super::World;
use crate::{Config, ConfigError, Machine, Micros, RestoreError};

impl World {
    /// Overwrites a node's memory.
    pub fn scramble(&mut self, node: u32) {
        self.observer.fault(self.now(), "scramble");
        let random = &mut self.random;
        self.machines[node as usize].scramble(&mut || random.next_u64());
        self.after(node);
    }

    /// Overwrites every node's memory, and puts datagrams under way that such
    /// nodes might have sent: authentic, and wrong.
    pub fn scramble_all(&mut self) {
        for node in 0..self.machines.len() as u32 {
            let mut liar = self.machines[node as usize].clone();
            for _ in 0..self.random.next_u32() % 3 {
                let random = &mut self.random;
                liar.scramble(&mut || random.next_u64());
                liar.transmit_all();
                let mut buffer = core::mem::take(&mut self.buffer);
                while let Some(datagram) = liar.poll_transmit(&mut buffer) {
                    self.send(node, datagram.to, &buffer[..datagram.bytes]);
                }
                self.buffer = buffer;
            }
            self.scramble(node);
        }
        // Now and then the most stubborn of all wrong clocks: each in step with its
        // neighbours, and all together wound round the ring.
        if self.random.next_u32().is_multiple_of(4) {
            self.wind();
        }
    }

    fn wind(&mut self) {
        let n = self.machines.len() as u64;
        let modulus = self.machines[0].clock.modulus as u64;
        let first = self.random.next_u64() % modulus;
        // A tick from each node to the next, or as many as close the circle.
        let (rise, run) = match self.random.next_u32() % 2 {
            0 => (1, 1),
            _ => (modulus, n),
        };
        let phase = |node: u64| ((first + (node % n) * rise / run) % modulus) as i32;
        for node in 0..n {
            let machine = &mut self.machines[node as usize];
            machine.joined = true;
            machine.phase = phase(node);
            for link in &mut machine.links {
                link.known = true;
                link.joining = false;
                link.phase = phase(u64::from(link.node));
            }
        }
    }

    /// Switches a node off. Its application stops at once.
    pub fn crash(&mut self, node: u32) {
        self.down[node as usize] = true;
        self.observer.gone(node);
        self.timers[node as usize] = Micros::MAX;
    }

    /// Switches a node on again, with what it saved or, without, as new.
    ///
    /// # Errors
    ///
    /// When what was saved is damaged or not of that node.
    pub fn restart(&mut self, node: u32, saved: Option<&[u8]>) -> Result<(), RestoreError> {
        let config = *self.machines[node as usize].config();
        let incarnation = self.random.next_u64();
        let now = Duration::from_micros(self.now);
        let machine = match saved {
            Some(bytes) => Machine::restore(config, self.key.clone(), incarnation, now, bytes)?,
            None => {
                self.observer.fault(now, "amnesia");
                Machine::new(config, self.key.clone(), incarnation)?
            }
        };
        self.machines[node as usize] = machine;
        self.down[node as usize] = false;
        self.call_at(node, self.now);
        Ok(())
    }

    /// Switches a node on again that was told something else: another program at the
    /// same address.
    ///
    /// # Errors
    ///
    /// When what it was told is wrong.
    pub fn restart_as(&mut self, node: u32, config: Config) -> Result<(), ConfigError> {
        let incarnation = self.random.next_u64();
        self.machines[node as usize] = Machine::new(config, self.key.clone(), incarnation)?;
        self.down[node as usize] = false;
        self.call_at(node, self.now);
        Ok(())
    }
}
