//! The network between the nodes, and what it does to datagrams.

use std::time::Duration;

use chacha20::rand_core::Rng;

use super::{Happening, Micros, World, micros};

/// What the network does to datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// The shortest time on the way.
    pub delay_min: Duration,
    /// The longest. Datagrams overtake each other when it is longer than the shortest.
    pub delay_max: Duration,
    /// The share that is lost, 0 to 1.
    pub loss: f64,
    /// The share that arrives twice.
    pub duplicate: f64,
    /// The share in which bits are flipped.
    pub corrupt: f64,
    /// How many datagrams are under way from one node to another; a further one pushes
    /// out the oldest.
    pub capacity: usize,
}

impl Default for Conditions {
    /// 50 to 500 µs, nothing lost, at most eight under way.
    fn default() -> Conditions {
        Conditions {
            delay_min: Duration::from_micros(50),
            delay_max: Duration::from_micros(500),
            loss: 0.0,
            duplicate: 0.0,
            corrupt: 0.0,
            capacity: 8,
        }
    }
}

/// A datagram under way, or a place for one.
#[derive(Clone, Debug, Default)]
pub(super) struct Datagram {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bytes: Vec<u8>,
    /// Dropped on arrival.
    pub(super) dropped: bool,
    pub(super) live: bool,
}

impl World {
    /// Changes what the network does.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.settings.conditions = conditions;
    }

    /// Hands a datagram to a node, as anybody on the network might.
    pub fn inject(&mut self, to: u32, bytes: &[u8]) {
        let at = self.now + 1;
        self.put(u32::MAX, to, bytes, at);
    }

    /// The datagrams that are under way: for whom, and what.
    pub fn under_way(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let live = self.under_way.iter().filter(|datagram| datagram.live);
        live.map(|datagram| (datagram.to, &datagram.bytes[..]))
    }

    /// Puts a datagram on its way, or does to it what networks do.
    pub(super) fn send(&mut self, from: u32, to: u32, bytes: &[u8]) {
        let conditions = self.settings.conditions;
        if self.chance(conditions.loss) {
            return;
        }
        let copies = 1 + u32::from(self.chance(conditions.duplicate));
        for _ in 0..copies {
            let least = micros(conditions.delay_min);
            let spread = micros(conditions.delay_max).saturating_sub(least);
            let at = self.now + (least + self.draw(spread)).max(1);
            let place = self.put(from, to, bytes, at);
            if self.chance(conditions.corrupt) {
                let drawn = self.random.next_u64() as usize;
                self.under_way[place].bytes[drawn % bytes.len()] ^= 1 << (drawn >> 32 & 7);
            }
        }
        let crowd = self.between.entry((from, to)).or_default();
        if crowd.len() > conditions.capacity {
            // Which of them is the oldest does not matter: some are lost.
            let place = crowd.remove(0);
            self.under_way[place].dropped = true;
        }
    }

    fn put(&mut self, from: u32, to: u32, bytes: &[u8], at: Micros) -> usize {
        let place = self.unused.pop().unwrap_or_else(|| {
            self.under_way.push(Datagram::default());
            self.under_way.len() - 1
        });
        let datagram = &mut self.under_way[place];
        (datagram.from, datagram.to) = (from, to);
        (datagram.dropped, datagram.live) = (false, true);
        datagram.bytes.clear();
        datagram.bytes.extend_from_slice(bytes);
        self.between.entry((from, to)).or_default().push(place);
        self.push(at, Happening::Arrival(place));
        place
    }

    fn chance(&mut self, share: f64) -> bool {
        share > 0.0 && f64::from(self.random.next_u32()) < share * 4_294_967_296.0
    }
}
