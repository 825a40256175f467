//! The worst that can happen to a node's memory: every variable anything.

use crate::Machine;
use crate::permit::Stage;
use crate::wire::Released;

impl Machine {
    /// Overwrites every variable with what `random` gives, within its domain or
    /// not. Only the configuration and the key survive. For tests and
    /// demonstrations: the ring has to get over it.
    pub fn scramble(&mut self, random: &mut dyn FnMut() -> u64) {
        // Half of the draws are in the domain, where they do more harm.
        let (values, tokens) = (self.config.values(), self.config.plan.tokens());
        let (tail, modulus) = (self.clock.tail, self.clock.modulus);
        let phase = |random: &mut dyn FnMut() -> u64| {
            let drawn = random();
            if drawn & 1 == 0 {
                (drawn >> 32) as i32
            } else {
                ((drawn >> 32) as i32).rem_euclid(tail + modulus) - tail
            }
        };
        let value = |random: &mut dyn FnMut() -> u64| {
            let drawn = random();
            if drawn & 7 == 0 {
                (drawn >> 32) as u32
            } else {
                (drawn >> 32) as u32 % values
            }
        };
        let released = |random: &mut dyn FnMut() -> u64| {
            (random() & 1 == 0).then(|| Released {
                token: (random() % (u64::from(tokens) + 1)) as u16,
                previous: value(random),
            })
        };
        let moment = |now: u64, random: &mut dyn FnMut() -> u64| {
            let drawn = random();
            match drawn & 3 {
                0 => drawn,
                1 => 0,
                _ => now.saturating_sub(drawn >> 44),
            }
        };
        self.joined = !random().is_multiple_of(8);
        self.sequence = random() >> (random() % 64);
        self.incarnation = random();
        self.phase = phase(random);
        self.started = moment(self.now, random);
        self.ticked = moment(self.now, random);
        self.sent = moment(self.now, random);
        for link in &mut self.links {
            link.known = random() & 1 == 0;
            link.joining = random() & 7 == 0;
            link.silent = random() & 1 == 0;
            link.due = random() & 1 == 0;
            link.hushed = random() & 1 == 0;
            link.told = (random(), phase(random));
            link.acknowledged = random() & 1 == 0;
            link.heard = moment(self.now, random);
            link.phase = phase(random);
            link.released = released(random);
            // A high number shuts the neighbour out until it answers a challenge.
            link.sequence = random() >> (random() % 64);
            if random() & 1 == 0 {
                link.incarnation = random();
            }
            link.challenge = random();
            link.echo = random();
            link.asked = random();
            for known in &mut link.values {
                *known = value(random);
            }
        }
        self.rings.released = released(random);
        for token in 0..tokens as usize {
            self.rings.values[token] = value(random);
            // Numbers stay below 2^48: nothing heals a fencing number at its end.
            self.rings.fences[token] = random() >> 16;
            self.rings.arriving_fences[token] = random() >> 16;
            let stay = &mut self.stays[token];
            stay.told = random() >> (random() % 64);
            stay.since = moment(self.now, random);
            stay.rounds = (random() % 3) as u32;
            stay.arrived = (random() >> (random() % 64)) as u32;
            stay.stage = match random() % 4 {
                0 => Stage::Free,
                1 => Stage::Working,
                2 => Stage::Stopping,
                _ => Stage::Done,
            };
        }
        for byte in self
            .rings
            .payloads
            .bytes
            .iter_mut()
            .chain(&mut self.rings.arriving_payloads.bytes)
        {
            *byte = random() as u8;
        }
        self.rule.counter = (random() >> 32) as i32;
        self.rule.turn = (random() >> 32) as u32;
        self.rule.measuring.timing = random() & 1 == 0;
        self.rule.measuring.elapsed = (random() >> 32) as u32;
        self.rule.measuring.ignore = (random() >> 32) as i32;
        self.rule.measuring.base = (random() >> 32) as i32;
        self.verdict.clean = (random() >> (random() % 64)) as u32;
        self.verdict.arrived = (random() >> (random() % 64)) as u32;
    }
}
