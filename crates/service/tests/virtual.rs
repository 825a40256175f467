//! Whole agents on virtual time, on a network that loses, delays and duplicates, while
//! members are added, removed, killed, restarted and bypassed: with one token there are
//! never two commands at a time, whatever roster they began under, and in the end the
//! ring works. Every run is a function of its seed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::time::Duration;

use headway_node::Key;
use headway_node::transport::{Transport, Waker};
use headway_service::agent::Agent;
use headway_service::config::{Settings, Sources};
use headway_service::hook::Order;
use headway_service::membership::roster::Member;
use headway_service::metrics::Counts;
use headway_service::reach::Reach;
use headway_service::request::Request;
use headway_service::store::Store;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use tokio::sync::{mpsc, oneshot};

const NODES: usize = 6;

/// Runs of the longer test.
const SEEDS: u64 = 200;

/// Collects what is sent.
#[derive(Default)]
struct Wire {
    peers: BTreeMap<u32, String>,
    sent: Vec<(String, Vec<u8>)>,
}

impl Transport for Wire {
    fn send(&mut self, to: u32, datagram: &[u8]) -> io::Result<()> {
        let address = self.peers.get(&to).ok_or(io::ErrorKind::NotFound)?;
        self.sent.push((address.clone(), datagram.to_vec()));
        Ok(())
    }

    fn receive(&mut self, _: &mut [u8], _: Duration) -> io::Result<Option<usize>> {
        Ok(None)
    }

    fn largest_datagram(&self) -> usize {
        1452
    }

    fn waker(&self) -> Waker {
        Waker::new(|| {})
    }
}

impl Reach for Wire {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn reach(&mut self, node: u32, address: &str) -> io::Result<()> {
        self.peers.insert(node, address.to_owned());
        Ok(())
    }

    fn forget(&mut self, node: u32) {
        self.peers.remove(&node);
    }
}

struct Host {
    settings: Settings,
    agent: Option<(Agent, Wire, mpsc::UnboundedReceiver<Order>)>,
    /// The command that runs: token, fencing number, when it ends.
    command: Option<(u32, u64, Duration)>,
    runs: u64,
}

/// When it arrives, its number, to whom, and what.
type Datagram = (Duration, u64, usize, Vec<u8>);

struct World {
    seed: u64,
    random: ChaCha8Rng,
    hosts: Vec<Host>,
    now: Duration,
    flying: BinaryHeap<Reverse<Datagram>>,
    count: u64,
    loss: u64,
    /// Pairs that cannot reach each other.
    parted: Vec<usize>,
    _folder: tempfile::TempDir,
}

fn address(at: usize) -> String {
    format!("10.0.0.{}:7400", at + 1)
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn settings(folder: &std::path::Path, at: usize, members: usize) -> Settings {
    let list: String = (0..members)
        .map(|at| {
            format!(
                "[[ring.members]]\nname = \"n{at}\"\naddress = \"{}\"\n",
                address(at)
            )
        })
        .collect();
    let who = if at < members {
        list
    } else {
        format!("seeds = [\"{}\", \"{}\"]\n", address(0), address(1))
    };
    let folder = folder.display();
    let text = format!(
        "[node]\nname = \"n{at}\"\nlisten = \"{0}\"\nadvertise = \"{0}\"\nstate_dir = \"{folder}/{at}\"\n\
         [timing]\ntick = \"2ms\"\nrefresh = \"20ms\"\nsilence = \"150ms\"\ndwell_most = \"300ms\"\ngrace = \"100ms\"\n\
         [membership]\nbypass = true\nbypass_after = \"500ms\"\nwindow = \"150ms\"\n\
         [hook]\ncommand = [\"x\"]\n[api]\nsocket = \"x\"\n\
         [ring]\nname = \"virtual\"\nkey_file = \"x\"\n{who}",
        address(at)
    );
    let read = Settings::read(&Sources {
        text,
        ..Sources::default()
    });
    read.unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

impl World {
    fn new(seed: u64, members: usize) -> World {
        let shared = std::path::Path::new("/dev/shm");
        let folder = if shared.is_dir() {
            tempfile::tempdir_in(shared)
        } else {
            tempfile::tempdir()
        };
        let folder = folder.expect("a folder");
        let hosts = (0..NODES).map(|at| Host {
            settings: settings(folder.path(), at, members),
            agent: None,
            command: None,
            runs: 0,
        });
        let mut world = World {
            seed,
            random: ChaCha8Rng::seed_from_u64(seed),
            hosts: hosts.collect(),
            now: ms(1),
            flying: BinaryHeap::new(),
            count: 0,
            loss: 0,
            parted: Vec::new(),
            _folder: folder,
        };
        for at in 0..members {
            world.start(at);
        }
        world
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    fn start(&mut self, at: usize) {
        if self.hosts[at].agent.is_some() {
            return;
        }
        let settings = self.hosts[at].settings.clone();
        let store = Store::open(&settings.node.state_dir, false).expect("a folder");
        // A node that starts ends the command that it left behind.
        self.hosts[at].command = None;
        let (orders, ordered) = mpsc::unbounded_channel();
        let key = Key::new(b"the key of a virtual ring").expect("long enough");
        let agent = Agent::new(
            self.now,
            settings,
            key,
            store,
            orders,
            Counts::default(),
            random,
        );
        self.hosts[at].agent = Some((agent, Wire::default(), ordered));
    }

    /// As by `kill -9`: its command runs on.
    fn kill(&mut self, at: usize) {
        self.hosts[at].agent = None;
    }

    fn request(&mut self, at: usize, request: Request) {
        let now = self.now;
        if let Some((agent, ..)) = &mut self.hosts[at].agent {
            agent.handle(now, request);
        }
    }

    fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += ms(1);
            while let Some(Reverse((due, _, to, bytes))) = self.flying.pop() {
                if due > self.now {
                    self.flying.push(Reverse((due, 0, to, bytes)));
                    break;
                }
                if let Some((agent, ..)) = &mut self.hosts[to].agent {
                    agent.handle_datagram(self.now, &bytes);
                }
            }
            for at in 0..NODES {
                self.turn(at);
            }
        }
    }

    fn turn(&mut self, at: usize) {
        let now = self.now;
        if let Some((token, fence, until)) = self.hosts[at].command
            && now >= until
        {
            self.hosts[at].command = None;
            let ended = Request::HookEnded {
                token,
                fence,
                payload: None,
                failed: false,
                took: ms(1),
            };
            self.request(at, ended);
        }
        let Some((mut agent, mut wire, mut ordered)) = self.hosts[at].agent.take() else {
            return;
        };
        if now >= agent.poll_timeout() {
            agent.handle_timeout(now);
        }
        while let Ok(order) = ordered.try_recv() {
            self.obey(at, &order);
        }
        agent.flush(&mut wire);
        for (to, bytes) in std::mem::take(&mut wire.sent) {
            let to: usize = to
                .split(['.', ':'])
                .nth(3)
                .and_then(|at| at.parse().ok())
                .unwrap_or(1);
            let parted = self.parted.contains(&at) != self.parted.contains(&(to - 1));
            for _ in 0..1 + u64::from(self.below(20) == 0) {
                if self.below(100) >= self.loss && !parted {
                    let due = now + ms(self.below(8));
                    self.count += 1;
                    self.flying
                        .push(Reverse((due, self.count, to - 1, bytes.clone())));
                }
            }
        }
        self.hosts[at].agent = Some((agent, wire, ordered));
    }

    fn obey(&mut self, at: usize, order: &Order) {
        match *order {
            Order::Start { token, fence, .. } => {
                for (other, host) in self.hosts.iter().enumerate() {
                    assert!(
                        host.command.is_none(),
                        "seed {}: n{at} begins under {fence} while n{other} works under {:?}, at {:?}",
                        self.seed,
                        host.command,
                        self.now
                    );
                }
                let work = self.below(80);
                self.hosts[at].command = Some((token, fence, self.now + ms(work)));
                self.hosts[at].runs += 1;
            }
            Order::Stop { token, fence } => {
                // It takes nearly all of the grace.
                let late = self.now + ms(self.below(75));
                if let Some((runs, number, until)) = &mut self.hosts[at].command
                    && (*runs, *number) == (token, fence)
                {
                    *until = (*until).min(late);
                }
            }
        }
    }

    fn status(&self, at: usize) -> Option<headway_service::agent::Status> {
        self.hosts[at]
            .agent
            .as_ref()
            .map(|(agent, ..)| agent.status(self.now))
    }

    fn add(&mut self, by: usize, at: usize) {
        self.start(at);
        let member = Member {
            name: format!("n{at}"),
            address: address(at),
            http: None,
        };
        let (reply, _) = oneshot::channel();
        self.request(
            by,
            Request::Add {
                member,
                after: None,
                force: true,
                reply,
            },
        );
    }

    fn remove(&mut self, by: usize, at: usize) {
        let (reply, _) = oneshot::channel();
        self.request(
            by,
            Request::Remove {
                name: format!("n{at}"),
                reply,
            },
        );
    }

    /// Heals everything and waits until all members are settled and work.
    fn recovers(&mut self) {
        self.loss = 0;
        self.parted.clear();
        for at in 0..NODES {
            self.start(at);
        }
        for _ in 0..400 {
            self.run_for(ms(100));
            let statuses: Vec<_> = (0..NODES).filter_map(|at| self.status(at)).collect();
            let version = statuses.iter().map(|status| status.roster).max();
            let agreed = statuses.iter().all(|status| Some(status.roster) == version);
            let fine = |status: &headway_service::agent::Status| {
                status.phase == "outside" || (status.settled && status.bypassed.is_empty())
            };
            if agreed && statuses.iter().all(fine) {
                return;
            }
        }
        for at in 0..NODES {
            eprintln!("{:?}", self.status(at));
        }
        panic!("seed {}: not in order after 40 s", self.seed);
    }
}

fn random() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    // Never the same twice is all that matters here.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
}

#[test]
fn one_at_a_time_through_every_change_of_members() {
    let mut runs = 0;
    for seed in 0..SEEDS {
        let mut world = World::new(seed, 4);
        world.run_for(ms(800));
        world.loss = 10;
        for _ in 0..6 {
            let (by, at) = (
                world.below(NODES as u64) as usize,
                world.below(NODES as u64) as usize,
            );
            match world.below(6) {
                0 | 1 => world.add(by, at),
                2 => world.remove(by, at),
                3 => {
                    world.kill(at);
                    let late = world.below(300);
                    world.run_for(ms(late));
                    world.start(at);
                }
                4 => {
                    // Long enough to be bypassed, if the rest is a majority.
                    world.kill(at);
                    world.run_for(ms(1500));
                    world.start(at);
                }
                _ => {
                    world.parted = vec![at, by];
                    world.run_for(ms(1500));
                    world.parted.clear();
                }
            }
            let pause = world.below(600);
            world.run_for(ms(pause));
        }
        world.recovers();
        let before: u64 = world.hosts.iter().map(|host| host.runs).sum();
        world.run_for(ms(2000));
        let after: u64 = world.hosts.iter().map(|host| host.runs).sum();
        assert!(after > before, "seed {seed}: nobody works");
        runs += after;
    }
    println!("{runs} commands, never two at a time");
}

/// Without a majority nobody is bypassed, and neither half goes on alone.
#[test]
fn two_halves_never_make_two_rings() {
    for seed in 100..110 {
        let mut world = World::new(seed, NODES);
        world.run_for(ms(1000));
        world.parted = vec![0, 1, 2];
        world.run_for(ms(3000));
        for at in 0..NODES {
            let status = world.status(at).expect("it runs");
            assert_eq!(
                (status.roster, status.bypassed.len()),
                (1, 0),
                "seed {seed}"
            );
        }
        world.recovers();
    }
}
