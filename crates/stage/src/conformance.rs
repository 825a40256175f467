//! Tries on a transport what every transport has to do.
//!
//! For the tests of transports, in any crate:
//!
//! ```
//! use headway_stage::conformance::{Patience, check};
//! use headway_stage::memory::MemoryNetwork;
//!
//! let ring = |nodes| {
//!     let network = MemoryNetwork::new(nodes);
//!     (0..nodes).map(|index| network.endpoint(index)).collect()
//! };
//! check(ring, &Patience::default()).unwrap();
//! ```

use std::fmt;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use headway_node::transport::Transport;
use headway_node::{Config, Event, Key, Machine, Plan, RingId};

use crate::driver::{Application, Driver};
use crate::faulty::{Faults, Faulty, SharedFaults};
use crate::lock;
use crate::observer::Observer;

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Until a check counts as blocked.
    pub blocked: Duration,
    /// Until a datagram counts as lost.
    pub lost: Duration,
    /// How many datagrams are sent to somebody who does not listen.
    pub flood: u32,
}

impl Default for Patience {
    /// A minute, 200 ms, 20,000.
    fn default() -> Patience {
        Patience {
            blocked: Duration::from_secs(60),
            lost: Duration::from_millis(200),
            flood: 20_000,
        }
    }
}

/// What a transport did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonconformity {
    /// In which check.
    pub check: &'static str,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Nonconformity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.check, self.seen)
    }
}

impl std::error::Error for Nonconformity {}

/// Tries everything. `ring` makes the transports of all nodes of a ring of a given
/// size, in order of their index, neighbours connected; it is called for every
/// check.
///
/// # Errors
///
/// The first thing that the transport did wrong.
pub fn check<T, F>(ring: F, patience: &Patience) -> Result<(), Nonconformity>
where
    T: Transport + 'static,
    F: Fn(u32) -> Vec<T>,
{
    let run = |name, nodes, check| watched(name, patience, ring(nodes), check);
    run("delivers whole datagrams", 2, delivers_whole)?;
    run("refuses what is too long", 2, refuses_too_long)?;
    run("is bounded", 2, bounded)?;
    run("does not block on a dead peer", 2, survives_dead_peer)?;
    run("waits as long as asked", 2, waits)?;
    run("can be woken", 2, wakes)?;
    run("carries a ring", 5, carries_ring)?;
    let faults = SharedFaults::new(Faults {
        loss: 0.2,
        duplicate: 0.1,
        reorder: 0.1,
        corrupt: 0.05,
        delay: Duration::from_millis(1),
        ..Faults::default()
    });
    let worse = (0..).zip(ring(5));
    let worse = worse
        .map(|(index, inner)| Faulty::new(inner, index, faults.clone(), 2009))
        .collect();
    watched(
        "carries a ring on a bad network",
        patience,
        worse,
        carries_ring,
    )
}

/// Runs a check in a thread of its own, so that one that blocks is noticed.
fn watched<T: Transport + 'static>(
    name: &'static str,
    patience: &Patience,
    ring: Vec<T>,
    check: fn(Vec<T>, Patience) -> Result<(), String>,
) -> Result<(), Nonconformity> {
    let (sender, receiver) = channel();
    let patience = *patience;
    std::thread::spawn(move || sender.send(check(ring, patience)));
    let seen = match receiver.recv_timeout(patience.blocked) {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(seen)) => seen,
        Err(RecvTimeoutError::Timeout) => format!("not done within {:?}", patience.blocked),
        Err(RecvTimeoutError::Disconnected) => "panicked".to_owned(),
    };
    Err(Nonconformity { check: name, seen })
}

/// A datagram whose length and content tell each other.
fn pattern(length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length).map(|at| (at * 31 + length) as u8).collect();
    let stated = (length as u32).to_be_bytes();
    for (byte, stated) in bytes.iter_mut().zip(stated) {
        *byte = stated;
    }
    bytes
}

/// Sends and receives until something arrives; whether it is that.
fn exchange<T: Transport>(ring: &mut [T], sent: &[u8], patience: Patience) -> Result<(), String> {
    let mut buffer = vec![0; 70_000];
    // A transport may need a moment to connect, and may lose.
    let mut silent = 0;
    while silent < 100 {
        let refused = |error: io::Error| format!("{} bytes refused: {error}", sent.len());
        ring[0].send(1, sent).map_err(refused)?;
        match ring[1].receive(&mut buffer, patience.lost) {
            Ok(Some(bytes)) if buffer[..bytes] == *sent => return Ok(()),
            // One of before, which took its time.
            Ok(Some(bytes)) if buffer[..bytes] == pattern(bytes) => {}
            Ok(Some(bytes)) => {
                return Err(format!("{} bytes sent, {bytes} others arrived", sent.len()));
            }
            Ok(None) => silent += 1,
            Err(error) => return Err(format!("receiving failed: {error}")),
        }
    }
    Err(format!("{} bytes never arrived", sent.len()))
}

fn delivers_whole<T: Transport>(mut ring: Vec<T>, patience: Patience) -> Result<(), String> {
    for length in [140, 1, 1000, 1452, 4, 9000] {
        if length <= ring[0].largest_datagram() {
            exchange(&mut ring, &pattern(length), patience)?;
        }
    }
    // Several on their way at once stay several.
    let lengths = [10, 20, 30];
    for length in lengths {
        ring[0]
            .send(1, &pattern(length))
            .map_err(|error| error.to_string())?;
    }
    let mut buffer = vec![0; 70_000];
    let mut arrived = 0;
    while let Ok(Some(bytes)) = ring[1].receive(&mut buffer, patience.lost) {
        if buffer[..bytes] != pattern(bytes) {
            return Err(format!("{bytes} bytes arrived that were never sent"));
        }
        arrived += usize::from(lengths.contains(&bytes));
        if arrived > 2 * lengths.len() {
            return Err("more and more arrived".to_owned());
        }
    }
    Ok(())
}

fn refuses_too_long<T: Transport>(mut ring: Vec<T>, patience: Patience) -> Result<(), String> {
    let largest = ring[0].largest_datagram();
    exchange(&mut ring, &pattern(largest.min(65_507)), patience)?;
    let refused = ring[0].send(1, &vec![7; largest + 1]);
    match refused {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
        Err(error) => return Err(format!("refused for another reason: {error}")),
        Ok(()) => return Err(format!("{} bytes were taken", largest + 1)),
    }
    let mut buffer = vec![0; 70_000];
    if let Ok(Some(bytes)) = ring[1].receive(&mut buffer, patience.lost)
        && buffer[..bytes] != pattern(bytes)
    {
        return Err(format!("{bytes} bytes of it arrived"));
    }
    // What does not fit the receiver's buffer is dropped as a whole.
    let sent = ring[0].send(1, &pattern(500));
    sent.map_err(|error| error.to_string())?;
    if let Ok(Some(bytes)) = ring[1].receive(&mut [0; 100], patience.lost) {
        return Err(format!("{bytes} bytes of 500 arrived in a buffer of 100"));
    }
    exchange(&mut ring, &pattern(100), patience)
}

fn bounded<T: Transport>(mut ring: Vec<T>, patience: Patience) -> Result<(), String> {
    exchange(&mut ring, &pattern(1000), patience)?;
    for _ in 0..patience.flood {
        // Refusing or losing is what a bound does.
        let _ = ring[0].send(1, &pattern(1000));
    }
    let mut buffer = vec![0; 70_000];
    let mut arrived = 0;
    while let Ok(Some(_)) = ring[1].receive(&mut buffer, patience.lost / 10) {
        arrived += 1;
    }
    if arrived > patience.flood / 2 {
        return Err(format!("{arrived} of {} were kept", patience.flood));
    }
    exchange(&mut ring, &pattern(100), patience)
}

fn survives_dead_peer<T: Transport>(mut ring: Vec<T>, patience: Patience) -> Result<(), String> {
    exchange(&mut ring, &pattern(100), patience)?;
    drop(ring.pop());
    for _ in 0..patience.flood {
        let sent = ring[0].send(1, &pattern(1000));
        sent.map_err(|error| format!("sending to a dead peer failed: {error}"))?;
    }
    let received = ring[0].receive(&mut [0; 2000], Duration::from_millis(10));
    match received {
        Ok(None) => Ok(()),
        Ok(Some(bytes)) => Err(format!("{bytes} bytes from a dead peer")),
        Err(error) => Err(format!("receiving failed after a peer died: {error}")),
    }
}

fn waits<T: Transport>(mut ring: Vec<T>, _: Patience) -> Result<(), String> {
    for wait in [0, 1, 30].map(Duration::from_millis) {
        let started = Instant::now();
        match ring[0].receive(&mut [0; 2000], wait) {
            // Clocks are read at different moments, hence the tolerance.
            Ok(None) if started.elapsed() >= wait * 9 / 10 => {}
            Ok(None) => return Err(format!("gave up before {wait:?}")),
            Ok(Some(bytes)) => return Err(format!("{bytes} bytes from nobody")),
            Err(error) => return Err(format!("failed: {error}")),
        }
    }
    Ok(())
}

fn wakes<T: Transport>(mut ring: Vec<T>, patience: Patience) -> Result<(), String> {
    let transport = &mut ring[0];
    let forever = patience.blocked * 10;
    let waker = transport.waker();
    // Before it waits: not lost.
    waker.wake();
    let woken = transport.receive(&mut [0; 2000], forever);
    woken.map_err(|error| format!("failed: {error}"))?;
    // While it waits.
    let waking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        waker.wake();
    });
    let woken = transport.receive(&mut [0; 2000], forever);
    woken.map_err(|error| format!("failed: {error}"))?;
    waking.join().map_err(|_| "the waker panicked".to_owned())
}

/// Ends its work at once and tells the observer.
struct Work {
    index: u32,
    observer: Arc<Mutex<Observer>>,
    permits: u32,
}

impl Application for Work {
    fn event(&mut self, now: Duration, event: Event, node: &mut Machine) {
        if let Event::Granted { token, fence } = event {
            self.permits += 1;
            let mut observer = lock(&self.observer);
            observer.granted(now, self.index, token, fence);
            observer.ended(self.index, token);
            drop(observer);
            node.handle_work_done(now, token, fence, Some(&self.index.to_be_bytes()));
        }
    }
}

fn carries_ring<T: Transport + 'static>(ring: Vec<T>, _: Patience) -> Result<(), String> {
    const ENOUGH: u32 = 20;
    let plan = Plan::new(ring.len() as u32, 2, 1).map_err(|error| error.to_string())?;
    let observer = Arc::new(Mutex::new(Observer::new(&plan)));
    // Nothing corrupts a node here, so everything is promised from the beginning.
    lock(&observer).settled(Duration::ZERO);
    let epoch = Instant::now();
    let key = Key::new(b"of the conformance suite").ok_or("no key")?;
    let mut threads = Vec::new();
    let mut remotes = Vec::new();
    let (sender, done) = channel();
    for (index, transport) in (0..).zip(ring) {
        let config = Config {
            payload: 4,
            ..Config::new(RingId([3; 16]), index, plan)
        };
        let machine = Machine::new(config, key.clone(), 77 + u64::from(index))
            .map_err(|error| error.to_string())?;
        let work = Work {
            index,
            observer: Arc::clone(&observer),
            permits: 0,
        };
        let mut driver = Driver::new(machine, transport, work, epoch);
        remotes.push(driver.remote());
        let sender = sender.clone();
        threads.push(std::thread::spawn(move || {
            let mut told = false;
            while driver.running() {
                driver.turn(Duration::from_millis(50));
                if !told && driver.application().permits >= ENOUGH {
                    told = true;
                    // Nobody counts any more once all have enough.
                    let _ = sender.send(());
                }
            }
        }));
    }
    for _ in &threads {
        // The watcher gives up if this never ends.
        done.recv().map_err(|_| "the nodes are gone".to_owned())?;
    }
    for remote in &remotes {
        let _ = remote.stop();
    }
    for thread in threads {
        thread.join().map_err(|_| "a node panicked".to_owned())?;
    }
    match lock(&observer).violations().first() {
        None => Ok(()),
        Some(violation) => Err(violation.to_string()),
    }
}
