//! Faults of nodes: corrupted memory, crashes, restarts.

use chacha20::rand_core::Rng;
use headway_node::{Config, ConfigError, Machine, RestoreError};

use super::{Micros, World};
use crate::scramble::scramble;

impl World {
    /// Overwrites a node's memory.
    pub fn scramble(&mut self, node: u32) {
        self.observer.fault(self.now(), "scramble");
        let random = &mut self.random;
        scramble(&mut self.machines[node as usize], &mut || random.next_u64());
        self.after(node);
    }

    /// Overwrites every node's memory, and puts datagrams under way that such
    /// nodes might have sent: authentic, and wrong.
    pub fn scramble_all(&mut self) {
        for node in 0..self.machines.len() as u32 {
            let mut liar = self.machines[node as usize].clone();
            for _ in 0..self.random.next_u32() % 3 {
                let random = &mut self.random;
                scramble(&mut liar, &mut || random.next_u64());
                for link in &mut liar.state_mut().links {
                    link.due = true;
                }
                let mut buffer = std::mem::take(&mut self.buffer);
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
        let modulus = self.machines[0].domain().clock.modulus as u64;
        let first = self.random.next_u64() % modulus;
        // A tick from each node to the next, or as many as close the circle.
        let (rise, run) = match self.random.next_u32() % 2 {
            0 => (1, 1),
            _ => (modulus, n),
        };
        let phase = |node: u64| ((first + (node % n) * rise / run) % modulus) as i32;
        for (node, machine) in (0..).zip(&mut self.machines) {
            let state = machine.state_mut();
            state.joined = true;
            state.phase = phase(node);
            for link in &mut state.links {
                link.known = true;
                link.joining = false;
                link.phase = phase(u64::from(link.node()));
            }
        }
    }

    /// Switches a node off. Its application stops at once.
    pub fn crash(&mut self, node: u32) {
        self.down[node as usize] = true;
        self.observer.gone(node);
        self.timers[node as usize] = Micros::MAX;
    }

    /// Switches a node on again, with the state that it saved.
    ///
    /// # Errors
    ///
    /// When the state is damaged or not of that node.
    pub fn restart(&mut self, node: u32, saved: &[u8]) -> Result<(), RestoreError> {
        let config = *self.machines[node as usize].config();
        let (key, incarnation) = (self.settings.key.clone(), self.random.next_u64());
        let machine = Machine::restore(config, key, incarnation, self.now(), saved)?;
        self.switch_on(node, machine);
        Ok(())
    }

    /// Switches a node on again that has lost its state.
    ///
    /// # Errors
    ///
    /// None in practice: its configuration was right before.
    pub fn restart_empty(&mut self, node: u32) -> Result<(), ConfigError> {
        self.observer.fault(self.now(), "amnesia");
        self.restart_as(node, *self.machines[node as usize].config())
    }

    /// Switches a node on again with another configuration: another program at the same
    /// address.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong.
    pub fn restart_as(&mut self, node: u32, config: Config) -> Result<(), ConfigError> {
        let incarnation = self.random.next_u64();
        let machine = self.settings.machine(config, incarnation)?;
        self.switch_on(node, machine);
        Ok(())
    }

    fn switch_on(&mut self, node: u32, machine: Machine) {
        self.machines[node as usize] = machine;
        self.down[node as usize] = false;
        self.call_at(node, self.now);
    }
}
