//! What the nodes of a [`LiveRing`](super::LiveRing) do with a permit: they use it for a
//! while and tell the observer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use headway_node::{Event, Machine, Rejected};

use super::{LiveSettings, NodeSample, Range};
use crate::driver::Application;
use crate::lock;
use crate::observer::Observer;

/// What a node shows, at any time.
#[derive(Debug, Default)]
pub(super) struct Status {
    pub(super) sample: NodeSample,
    pub(super) rejected: [u64; Rejected::ALL.len()],
    /// Its state when it was last crashed.
    pub(super) saved: Vec<u8>,
    /// Hops of this machine, and of those that the node was before.
    hops: (u64, u64),
}

impl Status {
    fn update(&mut self, node: &Machine) {
        let (latest, before) = self.hops;
        if node.hops() < latest {
            // It is another machine.
            self.hops.1 = before + latest;
        }
        self.hops.0 = node.hops();
        for (place, (_, count)) in self.rejected.iter_mut().zip(node.rejected()) {
            *place = count;
        }
        self.sample = NodeSample {
            alive: true,
            settled: node.settled(),
            deaf: node.silent().next().is_some(),
            rounds: node.rounds(),
            hops: self.hops.0 + self.hops.1,
            rejected: self.rejected.iter().sum(),
        };
    }
}

/// Uses permits for a while.
pub(super) struct Worker {
    index: u32,
    hold: Range,
    counts: bool,
    random: ChaCha8Rng,
    observer: Arc<Mutex<Observer>>,
    status: Arc<Mutex<Status>>,
    works: Vec<Work>,
}

#[derive(Clone, Copy)]
struct Work {
    token: u32,
    fence: u64,
    until: Duration,
}

impl Worker {
    pub(super) fn new(
        index: u32,
        settings: &LiveSettings,
        observer: &Arc<Mutex<Observer>>,
        status: &Arc<Mutex<Status>>,
    ) -> Worker {
        let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
        // The first streams are the transports'.
        random.set_stream((1 << 32) + u64::from(index));
        Worker {
            index,
            hold: settings.hold,
            counts: settings.payload >= 8,
            random,
            observer: Arc::clone(observer),
            status: Arc::clone(status),
            works: Vec::new(),
        }
    }

    fn begin(&mut self, now: Duration, token: u32, fence: u64) {
        let Range { min, max } = self.hold;
        let spread = u64::try_from((max - min).as_nanos()).unwrap_or(u64::MAX);
        let more = match spread {
            0 => 0,
            _ => self.random.next_u64() % spread,
        };
        lock(&self.observer).granted(now, self.index, token, fence);
        self.works.push(Work {
            token,
            fence,
            until: now + min + Duration::from_nanos(more),
        });
    }

    /// Ends work: first for the observer, then for the node, which passes the token
    /// on.
    fn end(&mut self, now: Duration, at: usize, node: &mut Machine) {
        let Work { token, fence, .. } = self.works.swap_remove(at);
        lock(&self.observer).ended(self.index, token);
        let counted = self.counts.then(|| {
            let carried = node.payload(token);
            let before = carried.try_into().map_or(0, u64::from_be_bytes);
            before.wrapping_add(1).to_be_bytes()
        });
        let payload = counted.as_ref().map(<[u8; 8]>::as_slice);
        node.handle_work_done(now, token, fence, payload);
    }

    fn find(&self, token: u32, fence: u64) -> Option<usize> {
        let mut works = self.works.iter();
        works.position(|work| work.token == token && work.fence == fence)
    }

    /// A corrupted node may have forgotten a permit, or think of one that was never
    /// told.
    fn agree(&mut self, now: Duration, node: &mut Machine) {
        let has = |node: &Machine, work: Work| {
            node.held()
                .any(|held| held.permit && held.token == work.token && held.fence == work.fence)
        };
        while let Some(at) = self.works.iter().position(|&work| !has(node, work)) {
            self.end(now, at, node);
        }
        let unknown = node
            .held()
            .find(|held| held.permit && self.find(held.token, held.fence).is_none());
        if let Some(held) = unknown {
            node.handle_work_done(now, held.token, held.fence, None);
        }
    }
}

impl Application for Worker {
    fn event(&mut self, now: Duration, event: Event, node: &mut Machine) {
        match event {
            Event::Granted { token, fence } => {
                self.begin(now, token, fence);
                if self.hold.max.is_zero() {
                    self.end(now, self.works.len() - 1, node);
                }
            }
            Event::Withdrawn { token, fence } => {
                if let Some(at) = self.find(token, fence) {
                    self.end(now, at, node);
                }
            }
            _ => {}
        }
    }

    fn turn(&mut self, now: Duration, node: &mut Machine) -> Option<Duration> {
        self.agree(now, node);
        while let Some(at) = self.works.iter().position(|work| work.until <= now) {
            self.end(now, at, node);
        }
        lock(&self.status).update(node);
        self.works.iter().map(|work| work.until).min()
    }

    fn crashed(&mut self, _now: Duration, node: &Machine) {
        lock(&self.observer).gone(self.index);
        self.works.clear();
        let mut status = lock(&self.status);
        status.saved.clear();
        node.save(&mut status.saved);
        status.sample.alive = false;
    }
}
