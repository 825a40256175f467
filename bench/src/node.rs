//! The node: what a hop costs the machine, what it takes on real sockets, and how
//! many nodes one program can have.

use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use headway_node::transport::Transport;
use headway_node::transport::udp::{Udp, UdpPoller};
use headway_node::{Config, Event, Key, Machine, Plan, Role, Rule};
use headway_stage::driver::{Application, Driver};
use headway_stage::group::{NodeGroup, Poller};
use headway_stage::memory::MemoryNetwork;

use crate::hand_over::BareTransport;
use crate::table::{Goal, Row, Table, peak_bytes, ratio, time};

/// Called with this, the program is the other end of a ping-pong.
pub(crate) const ECHO: &str = "--udp-echo";

pub(crate) fn measure(table: &mut Table) {
    hop_of_the_machine(table);
    memory_of_the_machine(table);
    hop_over_udp(table);
    many_nodes(table);
}

fn machine(index: u32, plan: Plan, key: &Key) -> Machine {
    let config = Config {
        role: Role::usual(index, plan.nodes()),
        ..Config::new(Config::identity(b"bench", &plan, 0), index, plan)
    };
    Machine::new(config, key.clone(), 1 + u64::from(index)).expect("configured")
}

fn keyed() -> Key {
    Key::new(b"the key of a benchmark").expect("long enough")
}

/// Machines whose datagrams are handed over at once.
struct Bare {
    nodes: Vec<Machine>,
    epoch: Instant,
    buffer: Vec<u8>,
}

impl Bare {
    fn new(plan: Plan, key: &Key) -> Bare {
        let nodes: Vec<Machine> = (0..plan.nodes()).map(|i| machine(i, plan, key)).collect();
        let buffer = vec![0; nodes[0].config().datagram_bytes()];
        Bare {
            nodes,
            epoch: Instant::now(),
            buffer,
        }
    }

    /// Every node once: every other one first, as a group does.
    fn sweep(&mut self) {
        let now = self.epoch.elapsed();
        let count = self.nodes.len();
        for index in (0..count).step_by(2).chain((1..count).step_by(2)) {
            let node = &mut self.nodes[index];
            if node.poll_timeout() <= now {
                node.handle_timeout(now);
            }
            while let Some(event) = node.poll_event() {
                if let Event::Granted { token, fence } = event {
                    node.handle_work_done(now, token, fence, None);
                }
            }
            while let Some(datagram) = self.nodes[index].poll_transmit(&mut self.buffer) {
                let bytes = &self.buffer[..datagram.bytes];
                // What is rejected is counted by the machine.
                let _ = self.nodes[datagram.to as usize].handle_datagram(now, bytes);
            }
        }
    }

    fn settle(&mut self) {
        while !self.nodes.iter().all(Machine::settled) {
            self.sweep();
        }
    }

    fn hops(&self) -> u64 {
        self.nodes.iter().map(Machine::hops).sum()
    }
}

/// The least time per unit of several windows: noise only ever adds.
fn least_per_unit(windows: u32, mut window: impl FnMut() -> (Duration, u64)) -> Duration {
    let each = (0..windows).map(|_| {
        let (time, units) = window();
        time.div_f64(units.max(1) as f64)
    });
    each.min().unwrap_or_default()
}

fn hop_of_the_machine(table: &mut Table) {
    let plan = Plan::new(8, 4, 1).expect("it fits");
    let [hop, authenticated] = [Key::none(), keyed()].map(|key| {
        let mut ring = Bare::new(plan, &key);
        ring.settle();
        least_per_unit(20, || {
            let (start, before) = (ThreadTime::now(), ring.hops());
            for _ in 0..2000 {
                ring.sweep();
            }
            (start.elapsed(), ring.hops() - before)
        })
    });
    let most = Duration::from_micros(2);
    table.add(Row {
        work: "a hop of a token, machines only: CPU of all 8 nodes over hops of all 4 tokens"
            .to_owned(),
        ours: format!("{}; authenticated {}", time(hop), time(authenticated)),
        baseline: time(most),
        ratio: ratio(hop, most),
        goal: Goal::AtMost(1.0),
    });
}

fn memory_of_the_machine(table: &mut Table) {
    let key = keyed();
    for (rule, name) in [
        (Rule::LockStep, "in lock-step"),
        (Rule::MovingBlock, "moving block"),
    ] {
        let measured = [1, 2, 4, 16, 64].map(|tokens| {
            let plan = match rule {
                Rule::LockStep => Plan::new(1000, tokens, 2),
                Rule::MovingBlock => Plan::moving_block(1000, tokens, 2),
            };
            let plan = plan.expect("it fits");
            let (_node, bytes) = peak_bytes(|| Box::new(machine(0, plan, &key)));
            let allowed = 1024 + 64 * tokens as usize;
            (tokens, bytes, bytes as f64 / allowed as f64)
        });
        let worst = measured.iter().map(|&(_, _, ratio)| ratio);
        let bytes: Vec<String> = measured
            .iter()
            .map(|(tokens, bytes, _)| format!("{tokens}: {bytes}"))
            .collect();
        table.add(Row {
            work: format!("memory of a node's machine, {name}, bytes by tokens"),
            ours: bytes.join(", "),
            baseline: "1 KiB and 64 bytes per token".to_owned(),
            ratio: worst.fold(0.0, f64::max),
            goal: Goal::AtMost(1.0),
        });
    }
}

/// Ends all work at once.
struct AtOnce;

impl Application for AtOnce {
    fn event(&mut self, now: Duration, event: Event, node: &mut Machine) {
        if let Event::Granted { token, fence } = event {
            node.handle_work_done(now, token, fence, None);
        }
    }
}

/// Sockets of a ring, each knowing its neighbours.
fn sockets(count: usize, poller: &UdpPoller) -> Vec<Udp> {
    let any = ([127, 0, 0, 1], 0).into();
    let mut sockets: Vec<Udp> = (0..count)
        .map(|_| Udp::bind_with(any, poller).expect("a socket"))
        .collect();
    let addresses: Vec<_> = sockets
        .iter()
        .map(|socket| socket.address().expect("bound"))
        .collect();
    for (index, socket) in sockets.iter_mut().enumerate() {
        for neighbour in [(index + 1) % count, (index + count - 1) % count] {
            socket.set_peer(neighbour as u32, addresses[neighbour]);
        }
    }
    sockets
}

/// A whole ring in one thread.
fn group<T: Transport, P: Poller>(
    plan: Plan,
    key: &Key,
    transports: Vec<T>,
    poller: P,
) -> NodeGroup<T, AtOnce, P> {
    let epoch = Instant::now();
    let nodes = (0..)
        .zip(transports)
        .map(|(index, transport)| Driver::new(machine(index, plan, key), transport, AtOnce, epoch));
    NodeGroup::new(nodes.collect(), poller)
}

fn rounds<T: Transport, P: Poller>(group: &NodeGroup<T, AtOnce, P>) -> u64 {
    let rounds = group.nodes.iter().map(|node| node.machine().rounds());
    rounds.min().unwrap_or(0)
}

fn hop_over_udp(table: &mut Table) {
    let (nodes, tokens) = (8, 4);
    let plan = Plan::new(nodes, tokens, 1).expect("it fits");
    let bytes = machine(0, plan, &Key::none()).config().datagram_bytes();
    let one_way = PingPong::start(bytes).one_way();
    let [round, authenticated] = [Key::none(), keyed()].map(|key| {
        let poller = UdpPoller::new().expect("a poller");
        let mut ring = group(plan, &key, sockets(nodes as usize, &poller), poller);
        while !ring.nodes.iter().all(|node| node.machine().settled()) {
            ring.turn();
        }
        // Windows so short that some are not disturbed.
        least_per_unit(1000, || {
            let (start, before) = (Instant::now(), rounds(&ring));
            for _ in 0..20 {
                ring.turn();
            }
            (start.elapsed(), rounds(&ring) - before)
        })
    });
    let hop = round / tokens;
    table.add(Row {
        work: "a hop over loopback UDP, 8 nodes in one thread, 4 tokens, no dwell: time over hops \
               of all tokens"
            .to_owned(),
        ours: format!(
            "{}; authenticated {}; a round, in which each token hops once: {}",
            time(hop),
            time(authenticated / tokens),
            time(round)
        ),
        baseline: format!("ping-pong of two processes, one way {}", time(one_way)),
        ratio: ratio(hop, one_way),
        goal: Goal::AtMost(2.0),
    });
}

fn many_nodes(table: &mut Table) {
    let count = 10_000;
    let plan = Plan::new(count, 4, 2).expect("it fits");
    let per_second = [Key::none(), keyed()].map(|key| {
        let (endpoints, poller) = MemoryNetwork::new(count).together(0..count);
        let mut ring = group(plan, &key, endpoints, poller);
        for _ in 0..50 {
            ring.turn();
        }
        let round = least_per_unit(8, || {
            let (start, before) = (ThreadTime::now(), rounds(&ring));
            for _ in 0..20 {
                ring.turn();
            }
            (start.elapsed(), rounds(&ring) - before)
        });
        1.0 / round.as_secs_f64()
    });
    table.add(Row {
        work: "rounds of 10,000 nodes in one program, memory transport, in a second of one core"
            .to_owned(),
        ours: format!("{:.0}; authenticated {:.0}", per_second[0], per_second[1]),
        baseline: "100".to_owned(),
        ratio: per_second[0] / 100.0,
        goal: Goal::AtLeast(1.0),
    });
}

/// Datagrams to and fro between two processes that block until one comes.
pub(crate) struct PingPong {
    child: Child,
    socket: UdpSocket,
    datagram: Vec<u8>,
}

impl PingPong {
    /// With datagrams of so many bytes.
    pub(crate) fn start(bytes: usize) -> PingPong {
        let this = std::env::current_exe().expect("a path");
        let mut child = Command::new(this)
            .arg(ECHO)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("it says its port");
        let port: u16 = line.trim().parse().expect("a port");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.connect(("127.0.0.1", port)).expect("a peer");
        PingPong {
            child,
            socket,
            datagram: vec![7; bytes],
        }
    }

    fn echoes(&self, times: u64) {
        let mut buffer = [0; 2000];
        for _ in 0..times {
            self.socket.send(&self.datagram).expect("sent");
            self.socket.recv(&mut buffer).expect("received");
        }
    }

    /// The least time one way: half of there and back.
    fn one_way(&self) -> Duration {
        let both_ways = least_per_unit(1000, || {
            let start = Instant::now();
            self.echoes(20);
            (start.elapsed(), 20)
        });
        both_ways / 2
    }
}

impl BareTransport for PingPong {
    const BLOCK: Duration = Duration::from_millis(60);

    fn there_and_back(&mut self) -> u64 {
        self.echoes(20);
        40
    }

    fn other(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for PingPong {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends everything back, until it is killed.
pub(crate) fn echo() -> std::io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", socket.local_addr()?.port())?;
    out.flush()?;
    let mut buffer = [0; 2000];
    loop {
        let (bytes, from) = socket.recv_from(&mut buffer)?;
        socket.send_to(&buffer[..bytes], from)?;
    }
}
