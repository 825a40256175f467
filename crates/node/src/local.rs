//! A node's part in the protocol, without its times and its knowledge of others:
//! what a checker looks at.

use alloc::vec::Vec;
use core::time::Duration;

use crate::Machine;
use crate::permit::Stay;
use crate::wire::Released;

/// What a node publishes, and its program's variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    /// Its clock.
    pub phase: i32,
    /// Its value on every token ring.
    pub values: Vec<u32>,
    /// What its latest tick changed.
    pub released: Option<Released>,
    /// Rounds until a delay may release again.
    pub counter: i32,
    /// The token that is released first if held.
    pub turn: u32,
}

impl Machine {
    /// Its part in the protocol.
    pub fn local(&self) -> Local {
        Local {
            phase: self.phase,
            values: self.rings.values.to_vec(),
            released: self.rings.released,
            counter: self.rule.counter,
            turn: self.rule.turn,
        }
    }

    /// What it would be after one call if it were `own` and knew its predecessor
    /// and its successor to be as given, and them to know it; nothing else is
    /// remembered. No permits are granted, so no application is waited for.
    pub fn react(&mut self, own: &Local, predecessor: &Local, successor: &Local) -> Local {
        self.joined = true;
        self.phase = own.phase;
        self.rings.values.copy_from_slice(&own.values);
        self.rings.released = own.released;
        self.rule.counter = own.counter;
        self.rule.turn = own.turn;
        self.stays.fill(Stay::default());
        self.verdict.wrong();
        let last = self.links.len() - 1;
        for (index, known) in [(0, predecessor), (last, successor)] {
            let link = &mut self.links[index];
            link.known = true;
            link.joining = false;
            link.acknowledged = true;
            link.phase = known.phase;
            link.released = known.released;
            link.values.copy_from_slice(&known.values);
        }
        // Long after everything, so that nothing has to be waited for.
        let now = Duration::from_micros(self.now).saturating_add(self.config.timing.tick);
        self.handle_timeout(now);
        self.local()
    }
}
