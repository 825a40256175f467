//! The node: what a hop costs the machine, what it takes on real sockets, and how
//! many nodes one program can have.

use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use headway_node::crew::Crew;
use headway_node::driver::{Application, Driver};
use headway_node::transport::memory::Network;
use headway_node::transport::udp::{Udp, UdpBell};
use headway_node::{Config, Event, Key, Machine, Plan, Role};

use crate::table::{Goal, Row, Table, peak_bytes, time};

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

    /// Every node once.
    fn sweep(&mut self) {
        let now = self.epoch.elapsed();
        for index in 0..self.nodes.len() {
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

    fn rounds(&self) -> u64 {
        self.nodes.iter().map(Machine::rounds).min().unwrap_or(0)
    }
}

/// The least time per unit of several windows: noise only ever adds.
fn least_per_unit(
    windows: u32,
    mut window: impl FnMut() -> (Duration, u64),
) -> Duration {
    let each = (0..windows).map(|_| {
        let (time, units) = window();
        time.div_f64(units.max(1) as f64)
    });
    each.min().unwrap_or_default()
}

fn hop_of_the_machine(table: &mut Table) {
    for (nodes, tokens, separation) in [(8, 4, 1), (24, 6, 2)] {
        for key in [Key::none(), keyed()] {
            let plan = Plan::new(nodes, tokens, separation).expect("it fits");
            let mut ring = Bare::new(plan, &key);
            ring.settle();
            let hop = least_per_unit(20, || {
                let (start, before) = (ThreadTime::now(), ring.hops());
                for _ in 0..2000 {
                    ring.sweep();
                }
                (start.elapsed(), ring.hops() - before)
            });
            let rounds = hop * tokens / nodes;
            println!("{nodes} {tokens} auth {}: per hop {} per node-round {}", key.authenticates(), time(hop), time(rounds));
        }
    }
    let _ = table;
}

fn memory_of_the_machine(table: &mut Table) {
    let _ = table;
    for tokens in [1, 2, 4, 16, 64] {
        let plan = Plan::new(1000, tokens, 2).expect("it fits");
        let (_node, heap) = peak_bytes(|| Box::new(machine(0, plan, &keyed())));
        println!("{tokens}: {heap} bytes, allowed {}, struct {}", 1024 + 64 * tokens, size_of::<Machine>());
    }
}

struct AtOnce;

impl Application for AtOnce {
    fn event(&mut self, now: Duration, event: Event, node: &mut Machine) {
        if let Event::Granted { token, fence } = event {
            node.handle_work_done(now, token, fence, None);
        }
    }
}

fn sockets(count: u32, bells: &[UdpBell]) -> Vec<Udp> {
    let any = ([127, 0, 0, 1], 0).into();
    let per = (count as usize).div_ceil(bells.len());
    let mut sockets: Vec<Udp> = (0..count as usize)
        .map(|i| Udp::bind_at(any, &bells[i / per]).expect("a socket"))
        .collect();
    let addresses: Vec<_> = sockets.iter().map(|s| s.address().expect("bound")).collect();
    for (index, socket) in sockets.iter_mut().enumerate() {
        for other in [index + 1, index + count as usize - 1] {
            let other = other % count as usize;
            socket.set_peer(other as u32, addresses[other]);
        }
    }
    sockets
}

fn hop_over_udp(table: &mut Table) {
    let _ = table;
    let ping = ping_pong();
    println!("one way {}", time(ping));
    for key in [Key::none(), keyed()] {
        let plan = Plan::new(8, 4, 1).expect("it fits");
        let bell = [UdpBell::new().expect("a bell")];
        let epoch = Instant::now();
        let nodes: Vec<_> = (0..8).zip(sockets(8, &bell)).map(|(i, s)| Driver::new(machine(i, plan, &key), s, AtOnce, epoch)).collect();
        let [bell] = bell;
        let mut crew = Crew::new(nodes, bell);
        while !crew.nodes.iter().all(|n| n.machine().settled()) { crew.turn(); }
        let round = least_per_unit(20, || {
            let start = Instant::now();
            let before = crew.nodes[0].machine().rounds();
            while start.elapsed() < Duration::from_millis(50) { crew.turn(); }
            (start.elapsed(), crew.nodes[0].machine().rounds() - before)
        });
        println!("udp one thread auth {}: per round {} per hop {} ratio {:.2} {:.2}", key.authenticates(), time(round), time(round/4), round.as_secs_f64()/ping.as_secs_f64(), round.as_secs_f64()/ping.as_secs_f64()/4.0);
    }
}

fn many_nodes(table: &mut Table) {
    let _ = table;
    for key in [Key::none(), keyed()] {
        let plan = Plan::new(10_000, 4, 2).expect("it fits");
        let mut ring = Bare::new(plan, &key);
        for _ in 0..50 { ring.sweep(); }
        let round = least_per_unit(5, || {
            let (start, before) = (ThreadTime::now(), ring.rounds());
            for _ in 0..40 { ring.sweep(); }
            (start.elapsed(), ring.rounds() - before)
        });
        println!("bare 10000 auth {}: {:.1} rounds/s", key.authenticates(), 1.0/round.as_secs_f64());
        let network = Network::new(10_000);
        let (endpoints, bell) = network.together(0..10_000);
        let epoch = Instant::now();
        let nodes: Vec<_> = (0..).zip(endpoints).map(|(i, s)| Driver::new(machine(i, plan, &key), s, AtOnce, epoch)).collect();
        let mut crew = Crew::new(nodes, bell);
        for _ in 0..50 { crew.turn(); }
        let round = least_per_unit(5, || {
            let start = ThreadTime::now();
            let before = crew.nodes.iter().map(|n| n.machine().rounds()).min().unwrap();
            for _ in 0..40 { crew.turn(); }
            (start.elapsed(), crew.nodes.iter().map(|n| n.machine().rounds()).min().unwrap() - before)
        });
        println!("memory 10000 auth {}: {:.1} rounds/s", key.authenticates(), 1.0/round.as_secs_f64());
    }
}

/// The time that a datagram as long as a node's takes one way, there and back
/// between two processes.
fn ping_pong() -> Duration {
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
    let datagram = vec![7; 156];
    let mut buffer = [0; 2000];
    let both_ways = least_per_unit(20, || {
        let start = Instant::now();
        for _ in 0..1000 {
            socket.send(&datagram).expect("sent");
            socket.recv(&mut buffer).expect("received");
        }
        (start.elapsed(), 1000)
    });
    drop(child.stdin.take());
    child.kill().expect("it ends");
    child.wait().expect("it has ended");
    both_ways / 2
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
