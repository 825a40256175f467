//! Peers that have no business on a ring.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use headway_node::transport::Transport as _;
use headway_node::{Config, Event, Key, Machine, Plan, Rejected, RingId};
use headway_stage::driver::{Application, Driver, Remote};
use headway_stage::observer::Observer;
use headway_zenoh::certificates::Authority;
use headway_zenoh::{Options, ZenohTransport};

use crate::help::{address, connected, options, ports, until};

/// A ring that works, and counts.
struct Ring {
    options: Vec<Options>,
    permits: Arc<AtomicU64>,
    /// Datagrams of an intruder that any machine had to reject.
    rejected: Arc<AtomicU64>,
    observer: Arc<Mutex<Observer>>,
    nodes: Vec<(Remote, JoinHandle<()>)>,
}

struct Work {
    index: u32,
    permits: Arc<AtomicU64>,
    rejected: Arc<AtomicU64>,
    observer: Arc<Mutex<Observer>>,
}

impl Application for Work {
    fn event(&mut self, now: Duration, event: Event, node: &mut Machine) {
        match event {
            Event::Granted { token, fence } => {
                let mut observer = self.observer.lock().unwrap();
                observer.granted(now, self.index, token, fence);
                observer.ended(self.index, token);
                self.permits.fetch_add(1, Ordering::Relaxed);
                node.handle_work_done(now, token, fence, None);
            }
            // What an intruder sends has no length of the ring's.
            Event::Rejected {
                reason: Rejected::Length,
                count,
            } => {
                self.rejected.fetch_add(count, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

impl Ring {
    fn start(authority: Option<&Authority>) -> Ring {
        let plan = Plan::new(5, 2, 1).unwrap();
        let options = options(&ports(5), authority);
        let mut ring = Ring {
            options: options.clone(),
            permits: Arc::default(),
            rejected: Arc::default(),
            observer: Arc::new(Mutex::new(Observer::new(&plan))),
            nodes: Vec::new(),
        };
        ring.observer.lock().unwrap().settled(Duration::ZERO);
        let epoch = Instant::now();
        for (index, transport) in (0..).zip(connected(options)) {
            let config = Config::new(RingId([9; 16]), index, plan);
            let key = Key::new(b"a key of sixteen").unwrap();
            let machine = Machine::new(config, key, u64::from(index)).unwrap();
            let work = Work {
                index,
                permits: Arc::clone(&ring.permits),
                rejected: Arc::clone(&ring.rejected),
                observer: Arc::clone(&ring.observer),
            };
            let mut driver = Driver::new(machine, transport, work, epoch);
            let remote = driver.remote();
            ring.nodes
                .push((remote, std::thread::spawn(move || driver.run())));
        }
        ring.works();
        ring
    }

    /// Permits go on being given.
    fn works(&self) {
        let before = self.permits.load(Ordering::Relaxed);
        until("two hundred permits", || {
            self.permits.load(Ordering::Relaxed) > before + 200
        });
    }

    /// Somebody with this name tells node 0 rubbish while the ring works. What it
    /// thinks of its link.
    fn disturbed_by(&self, intruder: Options) -> bool {
        let mut intruder = ZenohTransport::open(intruder).unwrap();
        intruder.set_neighbours(&[(0, "n0")]);
        intruder.set_peer(0, &self.options[0].listen);
        let goal = self.permits.load(Ordering::Relaxed) + 500;
        let began = Instant::now();
        until("it was tried", || {
            intruder.send(0, &[0x48; 60]).unwrap();
            let long = began.elapsed() > Duration::from_millis(1500);
            long && self.permits.load(Ordering::Relaxed) > goal
        });
        intruder.links()[0].connected
    }

    fn stop(self) {
        for (remote, _) in &self.nodes {
            remote.stop().unwrap();
        }
        for (_, thread) in self.nodes {
            thread.join().unwrap();
        }
        let observer = self.observer.lock().unwrap();
        assert_eq!(observer.violations(), []);
    }

    fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }
}

#[test]
fn a_certificate_of_another_authority_does_not_even_connect() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(&folder.path().join("ours")).unwrap();
    let stranger = Authority::create(&folder.path().join("theirs")).unwrap();
    let ring = Ring::start(Some(&authority));
    let at = address(ports(1)[0]);
    let forged = stranger.certify("n1", "127.0.0.1").unwrap();
    // It trusts our authority; we do not trust its.
    let forged = headway_zenoh::Tls {
        authority: ring.options[0].tls.as_ref().unwrap().authority.clone(),
        ..forged
    };
    let intruder = Options {
        tls: Some(forged),
        ..Options::new("test", "n1", &at)
    };
    assert!(!ring.disturbed_by(intruder.clone()));
    // Nor without any certificate.
    let naked = Options {
        tls: None,
        ..intruder
    };
    assert!(!ring.disturbed_by(naked));
    assert_eq!(ring.rejected(), 0, "nothing of it was heard");
    ring.works();
    ring.stop();
}

#[test]
fn only_the_neighbours_may_tell_a_node_the_state_of_the_ring() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::create(folder.path()).unwrap();
    let ring = Ring::start(Some(&authority));
    // A certificate of the ring's, but not of a neighbour's of node 0.
    let third = authority.certify("n3", "127.0.0.1").unwrap();
    for name in ["n3", "n1"] {
        // Under its own name, and under that of a neighbour.
        let intruder = Options {
            tls: Some(third.clone()),
            ..Options::new("test", name, &address(ports(1)[0]))
        };
        assert!(ring.disturbed_by(intruder), "{name} is let in");
        assert_eq!(ring.rejected(), 0, "{name} is not heard");
    }
    // The counter-test: with a neighbour's certificate it is heard, and then it is the
    // ring's key that rejects it.
    let neighbour = Options {
        tls: Some(authority.certify("n1", "127.0.0.1").unwrap()),
        ..Options::new("test", "n1", &address(ports(1)[0]))
    };
    assert!(ring.disturbed_by(neighbour));
    assert!(ring.rejected() > 0);
    ring.works();
    ring.stop();
}

#[test]
fn without_certificates_the_key_protects_the_ring() {
    let ring = Ring::start(None);
    let at = address(ports(1)[0]);
    assert!(ring.disturbed_by(Options::new("test", "n1", &at)));
    assert!(ring.rejected() > 0);
    ring.works();
    ring.stop();
}
