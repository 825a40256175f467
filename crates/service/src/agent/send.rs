//! What leaves a node, and whereto.

use headway_node::Machine;

use super::{Agent, CONTROL, MOST_ADDRESSES};
use crate::membership::control::{self, Sender};
use crate::reach::Reach;

impl Agent {
    /// Sends what there is to send; the state that is told is kept first.
    pub fn flush(&mut self, transport: &mut dyn Reach) {
        if !std::mem::take(&mut self.stirred) {
            return;
        }
        if self.unwired {
            self.unwired = !self.wire(transport);
        }
        self.save_notes();
        if let Some(machine) = &mut self.machine {
            self.saved.clear();
            machine.save_unsealed(&mut self.saved);
            if self.saved != self.kept {
                let bytes = self.saved.len();
                Machine::seal(&mut self.saved, 0);
                // What could not be kept is tried again the next time.
                if self.store.save_state(&self.saved) {
                    self.saved.truncate(bytes);
                    std::mem::swap(&mut self.saved, &mut self.kept);
                }
            }
            while let Some(transmit) = machine.poll_transmit(&mut self.buffer) {
                self.counts.sent += 1;
                self.counts.sent_bytes += transmit.bytes as u64;
                // What cannot be sent is lost, and loss is allowed for.
                if transport
                    .send(transmit.to, &self.buffer[..transmit.bytes])
                    .is_err()
                {
                    self.counts.unsent += 1;
                }
            }
        }
        while let Some(message) = self.exchange.poll_transmit() {
            self.outbox.push(message);
        }
        for (address, message) in std::mem::take(&mut self.outbox) {
            let sender = self.sender();
            let bytes = control::write(self.ring_name, &sender, &message, &self.key);
            let node = self.node_at(transport, &address);
            self.counts.sent += 1;
            self.counts.sent_bytes += bytes.len() as u64;
            if node.is_none_or(|node| transport.send(node, &bytes).is_err()) {
                self.counts.unsent += 1;
            }
        }
        if !self.status_wanted.is_empty() {
            self.tell_status(transport);
        }
    }

    fn node_at(&mut self, transport: &mut dyn Reach, address: &str) -> Option<u32> {
        if let Some(&node) = self.addresses.get(address) {
            return Some(node);
        }
        if self.addresses.len() >= MOST_ADDRESSES {
            for node in std::mem::take(&mut self.addresses).into_values() {
                transport.forget(node);
            }
        }
        let node = CONTROL + self.addresses.len() as u32;
        transport.reach(node, address).ok()?;
        self.addresses.insert(address.to_owned(), node);
        Some(node)
    }

    fn sender(&self) -> Sender {
        Sender {
            name: self.settings.node.name.clone(),
            address: self.own_address(),
            mark: self.exchange.mark(),
            agreement: self.settings.ring.agreement(),
            drained: self.machine.is_some() || !self.desk.in_use(true),
        }
    }

    fn own_address(&self) -> String {
        let listed = self
            .current
            .as_ref()
            .and_then(|roster| roster.member(&self.settings.node.name));
        let listed = listed.map(|member| &member.address);
        let told = self.settings.node.advertise.as_ref();
        listed
            .or(told)
            .unwrap_or(&self.settings.node.listen)
            .clone()
    }
}
