//! What a grant costs, against the same messages exchanged bare.
//!
//! Two nodes that both want every permit: before a node uses one, it asks its neighbours whether
//! it is still on the ring. Each node is an agent of the service in a thread, with its socket and
//! its state on disk; its command takes no time. What a real command adds, a note on the disk and
//! a process, is its own.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use headway_service::config::{Settings, Sources};
use headway_service::identity::{Identities, Identity};
use headway_service::internal::{
    Agent, Destination, Effect, Kept, Outcome, Request, Setup, Store, Sync, control,
};

use crate::hand_over::{AT_ONCE, Block, HandsOver};

/// The question and the answer.
pub(crate) const MESSAGES: f64 = 2.0;

/// The two nodes.
pub(crate) struct Granting {
    counts: Arc<Counts>,
    threads: Vec<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

#[derive(Default)]
struct Counts {
    paused: AtomicBool,
    ended: AtomicBool,
    grants: AtomicU64,
    /// From the arrival of a token to the use of its permit, in all.
    nanoseconds: AtomicU64,
}

impl Granting {
    /// Each on its core.
    pub(crate) fn start(cores: [usize; 2], stay_on: fn(usize)) -> Granting {
        let folder = tempfile::tempdir().expect("a folder");
        let sockets = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
        let addresses = sockets
            .each_ref()
            .map(|socket| socket.local_addr().expect("bound").to_string());
        let counts = Arc::<Counts>::default();
        let threads = sockets.into_iter().enumerate().map(|(at, socket)| {
            let store = Store::open(&folder.path().join(at.to_string()), Sync::Never);
            let agent = Agent::new(Duration::ZERO, setup(at, &addresses));
            let (store, counts) = (store.expect("a folder"), Arc::clone(&counts));
            let node = Node {
                agent,
                socket,
                store,
                counts,
                began: Instant::now(),
                beside: Vec::new(),
                heard: None,
                asked: None,
            };
            let core = cores[at];
            std::thread::spawn(move || {
                stay_on(core);
                node.run();
            })
        });
        let granting = Granting {
            threads: threads.collect(),
            counts,
            _folder: folder,
        };
        let began = Instant::now();
        while granting.counts.grants.load(Relaxed) < 100 {
            assert!(began.elapsed() < Duration::from_secs(20), "it settles");
            std::thread::sleep(Duration::from_millis(10));
        }
        granting
    }
}

impl HandsOver for Granting {
    fn pause(&self) {
        self.counts.paused.store(true, Relaxed);
    }

    fn resume(&self) {
        self.counts.paused.store(false, Relaxed);
    }

    fn block(&self, time: Duration) -> Block {
        std::thread::sleep(time / 6);
        let counts = [&self.counts.nanoseconds, &self.counts.grants];
        let counted = || counts.map(|count| count.load(Relaxed));
        let [nanoseconds, grants] = counted();
        std::thread::sleep(time);
        let [nanoseconds_then, grants_then] = counted();
        Block {
            time: Duration::from_nanos(nanoseconds_then - nanoseconds),
            hops: grants_then - grants,
            slept: 0,
            datagrams: 0.0,
        }
    }
}

impl Drop for Granting {
    fn drop(&mut self) {
        self.counts.ended.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn identity(at: usize) -> Identity {
    Identity::new(&[at as u8 + 1; 64])
}

fn setup(at: usize, addresses: &[String; 2]) -> Setup {
    let members: String = (0..2)
        .map(|at| {
            let (address, key) = (&addresses[at], identity(at).public());
            format!(
                "[[ring.members]]\nname = \"n{at}\"\naddress = \"{address}\"\nkey = \"{key}\"\n"
            )
        })
        .collect();
    let text = format!(
        "[node]\nname = \"n{at}\"\nlisten = \"{}\"\nstate_dir = \"x\"\n[timing]\n{AT_ONCE}\
         [command]\nrun = [\"x\"]\nwhen = \"every\"\n[api]\nsocket = \"x\"\n\
         [ring]\nname = \"grants\"\n{members}",
        addresses[at]
    );
    let sources = Sources {
        text,
        ..Sources::default()
    };
    let settings = Settings::read(&sources);
    let drawn: fn() -> u64 = || {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(0x9E37_79B9_7F4A_7C15, Relaxed)
    };
    Setup {
        settings: settings.unwrap_or_else(|mistakes| panic!("{mistakes:?}")),
        identities: Identities::new(identity(at)),
        kept: Kept::default(),
        session: 1,
        epoch: Duration::from_secs(1_800_000_000),
        wire: headway_node::wire::VERSION,
        random: drawn,
    }
}

struct Node {
    agent: Agent,
    socket: UdpSocket,
    store: Store,
    counts: Arc<Counts>,
    began: Instant,
    beside: Vec<String>,
    /// When the datagram of the ring that is looked at arrived, and the one that made it ask.
    heard: Option<Instant>,
    asked: Option<Instant>,
}

impl Node {
    fn run(mut self) {
        let mut buffer = [0; 2048];
        self.carry_out();
        while !self.counts.ended.load(Relaxed) {
            if self.counts.paused.load(Relaxed) {
                // What was asked before is answered late.
                self.asked = None;
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            let wait = self
                .agent
                .poll_timeout()
                .saturating_sub(self.began.elapsed());
            let wait = wait.clamp(Duration::from_micros(1), Duration::from_millis(100));
            self.socket.set_read_timeout(Some(wait)).expect("a time");
            if let Ok(bytes) = self.socket.recv(&mut buffer) {
                let ring = !control::is_control(&buffer[..bytes]);
                self.heard = ring.then(Instant::now);
                let now = self.began.elapsed();
                self.agent.handle_datagram(now, &buffer[..bytes]);
                self.carry_out();
                self.heard = None;
            }
            let now = self.began.elapsed();
            if now >= self.agent.poll_timeout() {
                self.agent.handle_timeout(now);
                self.carry_out();
            }
        }
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.agent.poll_effect() {
            match effect {
                Effect::KeepState(state) => self.store.save_state(&state).expect("kept"),
                Effect::Neighbours(beside) => {
                    self.beside = beside.into_iter().map(|member| member.address).collect();
                }
                Effect::Send(to, datagram) => {
                    // Both neighbours are the same.
                    let address = match &to {
                        Destination::Address(address) => Some(address),
                        Destination::Neighbour(_) => self.beside.first(),
                    };
                    if matches!(to, Destination::Address(_)) && self.heard.is_some() {
                        self.asked = self.heard;
                    }
                    let _ = self
                        .socket
                        .send_to(&datagram, address.expect("told before"));
                }
                Effect::StartCommand(permit) => {
                    if let Some(asked) = self.asked.take() {
                        let took = asked.elapsed().as_nanos() as u64;
                        self.counts.nanoseconds.fetch_add(took, Relaxed);
                        self.counts.grants.fetch_add(1, Relaxed);
                    }
                    let ended = Request::CommandEnded {
                        grant: permit.grant,
                        outcome: Outcome::Succeeded,
                        took: Duration::ZERO,
                    };
                    self.agent.handle_request(self.began.elapsed(), 0, ended);
                }
                _ => {}
            }
        }
    }
}
