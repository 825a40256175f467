//! The service: what an idle node costs, and how long a ring takes to recover. How
//! quickly a permit is handed over is in `hand_over.rs`.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use headway_node::{Config, Event, Machine, Plan, Role, Rule, Timing};
use headway_service::identity::Purpose;
use headway_stage::world::{Settings, Work, World};

use crate::fleet::{Ring, identity, usage};
use crate::table::{Goal, Row, Table, ratio, time};

pub(crate) fn measure(table: &mut Table) {
    idle(table);
    recovery(table);
}

/// The rest of a ring in this program: all nodes but the first few, which are processes and
/// reached by UDP.
pub(crate) struct Rest {
    nodes: Vec<Machine>,
    /// How many are processes.
    first: usize,
    /// Beside the last and the first of those, and where these are.
    sockets: [(UdpSocket, u16); 2],
    began: Instant,
    buffer: Vec<u8>,
}

impl Rest {
    pub(crate) fn new(ring: &Ring, first: usize) -> Rest {
        let settings = ring.settings(1);
        let roster = settings.first_roster().expect("members");
        let plan = roster.plan().expect("it fits");
        let nodes = (0..ring.members as u32).map(|index| {
            let config = roster.place(index, plan);
            let own = identity(index as usize);
            let key = |other: u32| {
                let (name, public) = (format!("n{other}"), identity(other as usize).public());
                let me = format!("n{index}");
                let key = own.key_with("bench", Purpose::Hop, &me, (&name, &public));
                key.expect("another's")
            };
            let (before, after) = (config.predecessor(), config.successor());
            let incarnation = 77 + u64::from(index);
            let mut node = Machine::new(config, key(before), incarnation).expect("configured");
            node.set_link_key(after, &key(after));
            node
        });
        let bind = |at| {
            let socket = UdpSocket::bind(("127.0.0.1", ring.port(at))).expect("a socket");
            socket.set_nonblocking(true).expect("not waiting");
            socket
        };
        Rest {
            nodes: nodes.collect(),
            first,
            sockets: [
                (bind(first), ring.port(first - 1)),
                (bind(ring.members - 1), ring.port(0)),
            ],
            began: Instant::now(),
            buffer: vec![0; 2048],
        }
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.turn();
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn turn(&mut self) {
        let now = self.began.elapsed();
        for (socket, node) in [(0, self.first), (1, self.nodes.len() - 1)] {
            while let Ok(bytes) = self.sockets[socket].0.recv(&mut self.buffer) {
                // Control datagrams and what is stale are rejected.
                let _ = self.nodes[node].handle_datagram(now, &self.buffer[..bytes]);
            }
        }
        let mut flying: Vec<(usize, Vec<u8>)> = Vec::new();
        for at in self.first..self.nodes.len() {
            let node = &mut self.nodes[at];
            if node.poll_timeout() <= now {
                node.handle_timeout(now);
            }
            while let Some(event) = node.poll_event() {
                if let Event::Granted { token, fence } = event {
                    node.handle_work_done(now, token, fence, None);
                }
            }
            while let Some(datagram) = node.poll_transmit(&mut self.buffer) {
                let bytes = &self.buffer[..datagram.bytes];
                let to = datagram.to as usize;
                if to < self.first {
                    let (socket, port) = &self.sockets[usize::from(at != self.first)];
                    let _ = socket.send_to(bytes, ("127.0.0.1", *port));
                } else {
                    flying.push((to, bytes.to_vec()));
                }
            }
        }
        for (to, bytes) in flying {
            let _ = self.nodes[to].handle_datagram(now, &bytes);
        }
    }
}

pub(crate) const ONE_ROUND_A_SECOND: &str =
    "tick = \"1s\"\nrefresh = \"1s\"\nheartbeat_timeout = \"5s\"\n";

fn idle(table: &mut Table) {
    let window = Duration::from_secs(20);
    let measured = [(8, 21_000), (1000, 22_000)].map(|(members, port)| {
        let mut ring = Ring::new(members, port, ONE_ROUND_A_SECOND);
        let mut rest = Rest::new(&ring, 1);
        ring.start(0);
        rest.run_for(Duration::from_secs(8));
        let process = ring.processes().next().expect("started");
        let sent = ring.sent_bytes(0);
        let (before, _) = usage(process);
        rest.run_for(window);
        let (after, memory) = usage(process);
        let sent = ring.sent_bytes(0) - sent;
        (after - before, memory, sent / window.as_secs_f64())
    });
    let (cpu, memory, sent) = measured[1];
    let share = cpu.as_secs_f64() / window.as_secs_f64();
    table.add(Row {
        work: format!("idle node, 1,000 members, a tick a second, {window:?}: CPU"),
        ours: format!("{:.2}% of a core", 100.0 * share),
        baseline: "a core".to_owned(),
        ratio: share,
        goal: Goal::AtMost(0.01),
    });
    table.add(Row {
        work: "idle node, 1,000 members: resident memory".to_owned(),
        ours: format!("{:.1} MB", memory as f64 / 1e6),
        baseline: "20 MB".to_owned(),
        ratio: memory as f64 / 20e6,
        goal: Goal::AtMost(1.0),
    });
    table.add(Row {
        work: "idle traffic of a node, 1,000 members over 8".to_owned(),
        ours: format!("{sent:.0} bytes/s"),
        baseline: format!("{:.0} bytes/s", measured[0].2),
        ratio: sent / measured[0].2,
        goal: Goal::AtMost(1.1),
    });
}

/// From the corruption of every node until all are settled, the longest of some seeds.
fn time_to_recover(plan: Plan, seeds: u64) -> Duration {
    let timing = Timing {
        max_hold: Duration::from_millis(20),
        stop_timeout: Duration::from_millis(5),
        ..Timing::default()
    };
    let configs = (0..plan.nodes()).map(|index| Config {
        role: Role::usual(index, plan.nodes()),
        timing,
        ..Config::new(Config::identity(b"bench", &plan, 0), index, plan)
    });
    let idle = Work {
        min: Duration::ZERO,
        max: Duration::ZERO,
    };
    let recovery = |seed| {
        let settings = Settings {
            work: idle,
            seed,
            ..Settings::default()
        };
        let mut world = World::new(configs.clone(), settings).expect("configured");
        world.run_for(Duration::from_millis(10));
        world.scramble_all();
        let began = world.now();
        while !world.settled() {
            world.run_for(Duration::from_millis(1));
            assert!(
                world.now() - began < Duration::from_secs(600),
                "seed {seed}: no recovery"
            );
        }
        world.now() - began
    };
    (0..seeds).map(recovery).max().unwrap_or_default()
}

/// In lock-step it grows with n; the stated bound of a moving block with the square of it.
fn recovery(table: &mut Table) {
    for rule in [Rule::LockStep, Rule::MovingBlock] {
        let (sizes, goal) = match rule {
            Rule::LockStep => (&[8, 16, 32, 64, 128, 256, 512][..], Goal::AtMost(1.5)),
            Rule::MovingBlock => (&[8, 16, 32, 64, 128][..], Goal::None),
        };
        let took = |&nodes: &u32| {
            let plan = match rule {
                Rule::LockStep => Plan::new(nodes, 4, 1),
                Rule::MovingBlock => Plan::moving_block(nodes, 4, 1),
            };
            let plan = plan.expect("it fits");
            (
                nodes,
                time_to_recover(plan, if nodes > 100 { 4 } else { 16 }),
            )
        };
        let measured: Vec<(u32, Duration)> = sizes.iter().map(took).collect();
        let list: Vec<String> = measured
            .iter()
            .map(|(nodes, took)| format!("{nodes}: {}", time(*took)))
            .collect();
        let (most, took) = measured[sizes.len() - 1];
        let (last, middle) = (took / most, measured[3].1 / 64);
        table.add(Row {
            work: format!(
                "recovery after corrupting all nodes, 4 tokens, {rule:?}, no work, datagrams of 50 \
                 to 500 µs: time per node, {most} nodes over 64"
            ),
            ours: format!("{} per node ({})", time(last), list.join(", ")),
            baseline: format!("{} per node at 64", time(middle)),
            ratio: ratio(last, middle),
            goal,
        });
    }
}
