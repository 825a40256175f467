//! Every transport passes the conformance suite, and what breaks a rule of it does
//! not.

use std::collections::VecDeque;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headway_node::transport::lines::Lines;
use headway_node::transport::udp::Udp;
use headway_node::transport::{Transport, Waker};
use headway_stage::conformance::{Patience, check};
use headway_stage::faulty::{Faults, Faulty, SharedFaults};
use headway_stage::memory::{MemoryEndpoint, MemoryNetwork};

fn memory(nodes: u32) -> Vec<MemoryEndpoint> {
    let network = MemoryNetwork::new(nodes);
    (0..nodes).map(|index| network.endpoint(index)).collect()
}

fn udp(nodes: u32) -> Vec<Udp> {
    let any = "127.0.0.1:0".parse().expect("an address");
    let mut sockets: Vec<Udp> = (0..nodes)
        .map(|_| Udp::bind(any).expect("a socket"))
        .collect();
    let addresses: Vec<_> = sockets
        .iter()
        .map(|socket| socket.address().expect("bound"))
        .collect();
    for socket in &mut sockets {
        for (node, address) in (0..).zip(&addresses) {
            socket.set_peer(node, *address);
        }
    }
    sockets
}

/// Nodes on serial lines: between two neighbours, somebody at whom both ends connect.
fn lines(nodes: u32) -> Vec<Lines> {
    static RINGS: AtomicU32 = AtomicU32::new(0);
    let ring = RINGS.fetch_add(1, Ordering::Relaxed);
    let folder = tempfile::tempdir().expect("a folder").keep();
    let end = |link: u32, side: &str| folder.join(format!("{ring}.{link}.{side}"));
    let links = if nodes == 2 { 1 } else { nodes };
    for link in 0..links {
        let ends = ["a", "b"].map(|side| UnixListener::bind(end(link, side)).expect("a socket"));
        std::thread::spawn(move || {
            let [one, other] = ends.map(|end| end.accept().expect("both come").0);
            let copy = |from: &UnixStream, to: &UnixStream| {
                let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
                let copied = io::copy(&mut from, &mut to);
                let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
                copied
            };
            std::thread::scope(|scope| {
                scope.spawn(|| copy(&one, &other));
                let _ = copy(&other, &one);
            });
        });
    }
    let node = |index: u32| {
        let before = (index + links - 1) % links;
        let paths = match (nodes, index) {
            (2, 0) => vec![(1, end(0, "a"))],
            (2, _) => vec![(0, end(0, "b"))],
            _ => vec![
                ((index + nodes - 1) % nodes, end(before, "b")),
                ((index + 1) % nodes, end(index, "a")),
            ],
        };
        let named: Vec<&Path> = paths.iter().map(|(_, path)| &**path).collect();
        let mut lines = Lines::open(&named, 115_200).expect("they open");
        for (line, (peer, _)) in paths.iter().enumerate() {
            lines.set_peer(*peer, line);
        }
        lines
    };
    (0..nodes).map(node).collect()
}

#[test]
fn serial_lines_conform() {
    check(lines, &Patience::default()).expect("serial lines conform");
}

#[test]
fn a_line_that_cannot_be_opened_is_named() {
    let refused = Lines::open(&[Path::new("/no/such/line")], 115_200).unwrap_err();
    assert!(refused.to_string().contains("/no/such/line"), "{refused}");
}

#[test]
fn memory_conforms() {
    check(memory, &Patience::default()).expect("memory conforms");
}

#[test]
fn udp_conforms() {
    check(udp, &Patience::default()).expect("udp conforms");
}

#[test]
fn a_faulty_transport_without_faults_conforms() {
    let ring = |nodes| {
        let wrap = |(index, inner)| Faulty::new(inner, index, SharedFaults::default(), 1);
        (0..).zip(memory(nodes)).map(wrap).collect::<Vec<_>>()
    };
    check(ring, &Patience::default()).expect("it conforms");
}

/// Changes what a memory transport does in one way.
struct Broken {
    inner: MemoryEndpoint,
    flaw: Flaw,
    latest: Vec<u8>,
    hoard: Arc<Mutex<[VecDeque<Vec<u8>>; 2]>>,
    index: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Truncates,
    Merges,
    Invents,
    TakesTooLong,
    FillsShortBuffers,
    Hoards,
    BlocksOnSend,
    FailsOnDeadPeer,
    GivesUp,
    IgnoresWaker,
    LosesAll,
}

impl Transport for Broken {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        match self.flaw {
            Flaw::Truncates if datagram.len() > 1000 => self.inner.send(to, &datagram[..1000]),
            Flaw::Merges => {
                self.latest.extend_from_slice(datagram);
                if self.latest.len() < 30 {
                    return Ok(());
                }
                self.inner.send(to, &std::mem::take(&mut self.latest))
            }
            Flaw::Invents => {
                let mut changed = datagram.to_vec();
                if let Some(last) = changed.last_mut() {
                    *last ^= 1;
                }
                self.inner.send(to, &changed)
            }
            Flaw::TakesTooLong => {
                let length = datagram.len().min(self.inner.largest_datagram());
                self.inner.send(to, &datagram[..length])
            }
            Flaw::Hoards if datagram.len() <= self.inner.largest_datagram() => {
                let mut hoard = self.hoard.lock().expect("not poisoned");
                hoard[to as usize].push_back(datagram.to_vec());
                Ok(())
            }
            Flaw::BlocksOnSend => {
                std::thread::sleep(Duration::from_millis(50));
                self.inner.send(to, datagram)
            }
            Flaw::FailsOnDeadPeer if Arc::strong_count(&self.hoard) == 1 => {
                Err(io::ErrorKind::ConnectionRefused.into())
            }
            Flaw::LosesAll => Ok(()),
            _ => self.inner.send(to, datagram),
        }
    }

    fn receive(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<Option<usize>> {
        match self.flaw {
            Flaw::Hoards => {
                let mut hoard = self.hoard.lock().expect("not poisoned");
                let Some(datagram) = hoard[self.index as usize].pop_front() else {
                    return Ok(None);
                };
                if datagram.len() > buffer.len() {
                    return Ok(None);
                }
                buffer[..datagram.len()].copy_from_slice(&datagram);
                Ok(Some(datagram.len()))
            }
            Flaw::FillsShortBuffers => {
                let mut room = vec![0; 70_000];
                let received = self.inner.receive(&mut room, wait)?;
                Ok(received.map(|bytes| {
                    let kept = bytes.min(buffer.len());
                    buffer[..kept].copy_from_slice(&room[..kept]);
                    kept
                }))
            }
            Flaw::GivesUp => self.inner.receive(buffer, wait / 2),
            _ => self.inner.receive(buffer, wait),
        }
    }

    fn largest_datagram(&self) -> usize {
        self.inner.largest_datagram()
    }

    fn waker(&self) -> Waker {
        if self.flaw == Flaw::IgnoresWaker {
            return Waker::new(|| {});
        }
        self.inner.waker()
    }
}

#[test]
fn what_breaks_a_rule_is_caught_by_the_check_for_it() {
    let whole = "delivers whole datagrams";
    let long = "refuses what is too long";
    let dead = "does not block on a dead peer";
    let table = [
        (Flaw::Truncates, whole),
        (Flaw::Merges, whole),
        (Flaw::Invents, whole),
        (Flaw::LosesAll, whole),
        (Flaw::TakesTooLong, long),
        (Flaw::FillsShortBuffers, long),
        (Flaw::Hoards, "is bounded"),
        (Flaw::BlocksOnSend, "is bounded"),
        (Flaw::FailsOnDeadPeer, dead),
        (Flaw::GivesUp, "waits as long as asked"),
        (Flaw::IgnoresWaker, "can be woken"),
    ];
    let is_caught = |flaw, caught_by| {
        let patience = Patience {
            // Two are waited for so long; the others may be slow on a busy machine.
            blocked: match flaw {
                Flaw::BlocksOnSend | Flaw::IgnoresWaker => Duration::from_secs(3),
                _ => Duration::from_secs(120),
            },
            lost: Duration::from_millis(10),
            flood: if flaw == Flaw::BlocksOnSend {
                200
            } else {
                5_000
            },
        };
        let ring = |nodes| {
            let hoard = Arc::new(Mutex::new(Default::default()));
            let wrap = |(index, inner)| Broken {
                inner,
                flaw,
                latest: Vec::new(),
                hoard: Arc::clone(&hoard),
                index,
            };
            (0..).zip(memory(nodes)).map(wrap).collect::<Vec<_>>()
        };
        let caught = check(ring, &patience).expect_err("a rule is broken");
        assert_eq!(caught.check, caught_by, "{flaw:?}: {caught}");
        println!("{flaw:?} is caught: {caught}");
    };
    // Beside each other, because some wait.
    std::thread::scope(|scope| {
        for (flaw, caught_by) in table {
            scope.spawn(move || is_caught(flaw, caught_by));
        }
    });
}

/// What arrives of `sent` datagrams numbered in order.
fn arrivals(faults: Faults, sent: u16) -> Vec<Vec<u8>> {
    let network = MemoryNetwork::new(2);
    let weather = SharedFaults::new(faults);
    let mut sender = Faulty::new(network.endpoint(0), 0, weather, 7);
    let mut receiver = network.endpoint(1);
    let mut arrived = Vec::new();
    let mut buffer = [0; 100];
    let mut take = |receiver: &mut MemoryEndpoint, arrived: &mut Vec<Vec<u8>>| {
        while let Ok(Some(bytes)) = receiver.receive(&mut buffer, Duration::ZERO) {
            arrived.push(buffer[..bytes].to_vec());
        }
    };
    for number in 0..sent {
        sender.send(1, &number.to_be_bytes()).expect("sent or lost");
        take(&mut receiver, &mut arrived);
    }
    // What was held back goes while the sender waits.
    let late = sender.receive(&mut [0; 9], Duration::from_millis(40));
    assert_eq!(late.expect("receives"), None);
    take(&mut receiver, &mut arrived);
    arrived
}

#[test]
fn each_fault_does_what_it_says_and_nothing_else() {
    let number = |bytes: &Vec<u8>| u16::from_be_bytes([bytes[0], bytes[1]]);
    let sorted = |arrived: &[Vec<u8>]| {
        let mut numbers: Vec<u16> = arrived.iter().map(number).collect();
        numbers.sort_unstable();
        numbers
    };
    let all: Vec<u16> = (0..1000).collect();
    let in_order = |arrived: &[Vec<u8>]| arrived.is_sorted();

    let quiet = arrivals(Faults::default(), 1000);
    assert_eq!(sorted(&quiet), all);
    assert!(in_order(&quiet));

    let lossy = arrivals(
        Faults {
            loss: 0.3,
            ..Faults::default()
        },
        1000,
    );
    assert!((600..800).contains(&lossy.len()), "{}", lossy.len());
    assert!(in_order(&lossy));

    let doubled = arrivals(
        Faults {
            duplicate: 0.3,
            ..Faults::default()
        },
        1000,
    );
    assert!((1200..1400).contains(&doubled.len()), "{}", doubled.len());
    let mut once = sorted(&doubled);
    once.dedup();
    assert_eq!(once, all);

    let mixed = arrivals(
        Faults {
            reorder: 0.3,
            ..Faults::default()
        },
        1000,
    );
    assert_eq!(sorted(&mixed), all);
    assert!(!in_order(&mixed));

    let changed = arrivals(
        Faults {
            corrupt: 0.3,
            ..Faults::default()
        },
        1000,
    );
    assert_eq!(changed.len(), 1000);
    let wrong = (0u16..)
        .zip(&changed)
        .filter(|(at, bytes)| bytes.as_slice() != at.to_be_bytes());
    assert!((200..400).contains(&wrong.count()));

    let mut cut = Faults::default();
    cut.cut(0, 1);
    assert!(arrivals(cut.clone(), 1000).is_empty());
    cut.mend(1, 0);
    assert_eq!(sorted(&arrivals(cut, 1000)), all);
}

#[test]
fn delayed_datagrams_arrive_later_and_at_most_so_many_are_held() {
    let faults = Faults {
        delay: Duration::from_millis(20),
        ..Faults::default()
    };
    let few = arrivals(faults.clone(), 4);
    assert!(few.len() <= 4 && !few.is_empty());
    // More than are held: the oldest are lost, and nothing grows.
    let many = arrivals(faults, 10_000);
    assert!(many.len() < 10_000);
}

#[test]
fn the_same_seed_gives_the_same_faults() {
    let faults = Faults {
        loss: 0.3,
        duplicate: 0.2,
        corrupt: 0.2,
        ..Faults::default()
    };
    assert_eq!(arrivals(faults.clone(), 500), arrivals(faults, 500));
}

#[test]
fn what_is_no_probability_is_named() {
    let faults = Faults {
        reorder: 1.5,
        ..Faults::default()
    };
    assert_eq!(faults.wrong(), Some(("reorder", 1.5)));
    let faults = Faults {
        loss: f64::NAN,
        ..Faults::default()
    };
    assert!(faults.wrong().is_some());
    assert_eq!(Faults::default().wrong(), None);
}
