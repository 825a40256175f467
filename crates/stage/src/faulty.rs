//! Any transport made worse: faults from a seed.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use headway_node::transport::{Transport, Waker, too_long};

use crate::lock;

/// How many datagrams are held back at once, at most; then the oldest is lost.
pub const MAX_HELD: usize = 64;

/// A datagram that is to be overtaken waits for this long at most.
const OVERTAKEN_WITHIN: Duration = Duration::from_millis(10);

/// What happens to datagrams that are sent. Probabilities are from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Never arrives.
    pub loss: f64,
    /// Arrives twice.
    pub duplicate: f64,
    /// Arrives after what is sent next.
    pub reorder: f64,
    /// Arrives changed.
    pub corrupt: f64,
    /// Arrives later, by anything from nothing to this.
    pub delay: Duration,
    /// Pairs of sender and receiver between which nothing arrives.
    pub cut: BTreeSet<(u32, u32)>,
}

impl Faults {
    /// What is not a probability, by name.
    pub fn wrong(&self) -> Option<(&'static str, f64)> {
        let probabilities = [
            ("loss", self.loss),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
            ("corrupt", self.corrupt),
        ];
        let mut probabilities = probabilities.into_iter();
        probabilities.find(|(_, probability)| !(0.0..=1.0).contains(probability))
    }

    /// Cuts the link between two nodes in both directions.
    pub fn cut(&mut self, one: u32, other: u32) {
        self.cut.extend([(one, other), (other, one)]);
    }

    /// Mends the link between two nodes in both directions.
    pub fn mend(&mut self, one: u32, other: u32) {
        self.cut.remove(&(one, other));
        self.cut.remove(&(other, one));
    }
}

/// The faults of one or more transports, to be changed while they run.
#[derive(Clone, Debug, Default)]
pub struct SharedFaults(Arc<Mutex<Faults>>);

impl SharedFaults {
    /// The faults at the beginning.
    pub fn new(faults: Faults) -> SharedFaults {
        SharedFaults(Arc::new(Mutex::new(faults)))
    }

    /// Changes them.
    pub fn change(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut lock(&self.0));
    }

    /// What they are now.
    pub fn faults(&self) -> Faults {
        lock(&self.0).clone()
    }
}

/// A transport whose sent datagrams meet with faults.
///
/// The fate of the k-th datagram depends on the seed and on the calls before, not on
/// time. With no faults set it is the transport that it wraps.
#[derive(Debug)]
pub struct Faulty<T> {
    inner: T,
    index: u32,
    faults: SharedFaults,
    random: ChaCha8Rng,
    held: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    to: u32,
    datagram: Vec<u8>,
    due: Instant,
    /// Goes as soon as another was sent to the same node.
    to_be_overtaken: bool,
    overtaken: bool,
}

impl<T: Transport> Faulty<T> {
    /// Node `index`'s transport in this weather. Nodes of one ring should have
    /// different seeds, or the index makes them so.
    pub fn new(inner: T, index: u32, faults: SharedFaults, seed: u64) -> Faulty<T> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(u64::from(index));
        Faulty {
            inner,
            index,
            faults,
            random,
            held: Vec::new(),
        }
    }

    fn happens(&mut self, probability: f64) -> bool {
        // 53 bits, so that every double below 1 is possible and 1 is certain.
        let drawn = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        drawn < probability
    }

    fn corrupted(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut bytes = datagram.to_vec();
        let drawn = self.random.next_u64();
        let at = (drawn >> 8) as usize % bytes.len().max(1);
        match drawn % 4 {
            0 => bytes.truncate(at),
            1 if bytes.len() < self.inner.largest_datagram() => bytes.push(drawn as u8),
            _ => {
                // Always a change: not zero.
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= (drawn >> 40) as u8 | 1;
                }
            }
        }
        bytes
    }

    /// Sends what has been held back long enough.
    fn send_due(&mut self, now: Instant) -> io::Result<()> {
        let mut at = 0;
        while at < self.held.len() {
            if self.held[at].overtaken || self.held[at].due <= now {
                let held = self.held.remove(at);
                self.inner.send(held.to, &held.datagram)?;
            } else {
                at += 1;
            }
        }
        Ok(())
    }
}

impl<T: Transport> Transport for Faulty<T> {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        let limit = self.inner.largest_datagram();
        if datagram.len() > limit {
            return Err(too_long(datagram.len(), limit));
        }
        let faults = self.faults.faults();
        if self.held.is_empty() && faults == Faults::default() {
            return self.inner.send(to, datagram);
        }
        let now = Instant::now();
        if self.happens(faults.loss) || faults.cut.contains(&(self.index, to)) {
            return self.send_due(now);
        }
        // These have waited for a datagram to overtake them.
        for held in self.held.iter_mut().filter(|held| held.to == to) {
            held.overtaken |= held.to_be_overtaken;
        }
        let copies = 1 + usize::from(self.happens(faults.duplicate));
        for _ in 0..copies {
            let bytes = if self.happens(faults.corrupt) {
                self.corrupted(datagram)
            } else {
                datagram.to_vec()
            };
            let to_be_overtaken = self.happens(faults.reorder);
            let limit = u64::try_from(faults.delay.as_nanos()).unwrap_or(u64::MAX);
            let late = match limit {
                0 => Duration::ZERO,
                _ => Duration::from_nanos(self.random.next_u64() % limit),
            };
            if !to_be_overtaken && late.is_zero() {
                self.inner.send(to, &bytes)?;
                continue;
            }
            if self.held.len() >= MAX_HELD {
                self.held.remove(0);
            }
            let patience = if to_be_overtaken {
                OVERTAKEN_WITHIN
            } else {
                Duration::ZERO
            };
            self.held.push(Held {
                to,
                datagram: bytes,
                due: now + late.max(patience),
                to_be_overtaken,
                overtaken: false,
            });
        }
        self.send_due(now)
    }

    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        let started = Instant::now();
        loop {
            let now = Instant::now();
            self.send_due(now)?;
            let left = wait.saturating_sub(now - started);
            let due = self.held.iter().map(|held| held.due).min();
            let nap = due.map_or(left, |due| left.min(due.saturating_duration_since(now)));
            match self.inner.receive(buffer, nap)? {
                Some(length) => return Ok(Some(length)),
                // It was woken, or there is nothing more to wait for.
                None if nap == left || now.elapsed() < nap => return Ok(None),
                None => {}
            }
        }
    }

    fn largest_datagram(&self) -> usize {
        self.inner.largest_datagram()
    }

    fn waker(&self) -> Waker {
        self.inner.waker()
    }

    fn due(&self) -> Option<Instant> {
        let held = self.held.iter().map(|held| held.due);
        held.chain(self.inner.due()).min()
    }
}
