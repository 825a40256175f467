//! The service: what an idle node costs, how quickly a permit is handed over, and how
//! long a ring takes to recover.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use headway_node::world::{Network, Work, World};
use headway_node::{Config, Event, Key, Machine, Plan, Role, Timing};
use headway_service::client;
use headway_service::config::{Settings, Sources};
use serde_json::Value;

use crate::node::ping_pong;
use crate::table::{Goal, Row, Table, ratio, time};

/// Called with this and a file, the program is a node of the service.
pub(crate) const NODE: &str = "--service-node";

pub(crate) fn measure(table: &mut Table) {
    idle(table);
    hand_over(table);
    recovery(table);
}

/// Runs a node until it is killed.
pub(crate) fn node(config: &Path) -> std::io::Result<()> {
    let text = std::fs::read_to_string(config)?;
    let read = move || {
        let text = text.clone();
        Settings::read(&Sources {
            text,
            ..Sources::default()
        })
    };
    let settings = read().map_err(|mistakes| std::io::Error::other(format!("{mistakes:?}")))?;
    headway_service::service::run(&settings, &read).map_err(std::io::Error::other)
}

/// A ring of which some nodes are processes of the service.
struct Ring {
    folder: tempfile::TempDir,
    members: usize,
    first_port: u16,
    timing: &'static str,
    processes: Vec<(usize, Child)>,
}

impl Ring {
    fn new(members: usize, first_port: u16, timing: &'static str) -> Ring {
        let folder = tempfile::tempdir().expect("a folder");
        headway_service::secret::create(&folder.path().join("key")).expect("a key");
        Ring {
            folder,
            members,
            first_port,
            timing,
            processes: Vec::new(),
        }
    }

    fn text(&self, at: usize) -> String {
        let folder = self.folder.path().display();
        let members: String = (0..self.members)
            .map(|at| {
                let port = self.port(at);
                format!("[[ring.members]]\nname = \"n{at}\"\naddress = \"127.0.0.1:{port}\"\n")
            })
            .collect();
        format!(
            "[node]\nname = \"n{at}\"\nlisten = \"127.0.0.1:{}\"\nstate_dir = \"{folder}/{at}\"\n\
             [api]\nsocket = \"{folder}/{at}.sock\"\n[log]\nlevel = \"error\"\n[timing]\n{}\
             [ring]\nname = \"bench\"\nkey_file = \"{folder}/key\"\ntokens = 1\nseparation = 1\n\
             {members}",
            self.port(at),
            self.timing
        )
    }

    fn port(&self, at: usize) -> u16 {
        self.first_port + at as u16
    }

    fn start(&mut self, at: usize) {
        let path = self.folder.path().join(format!("{at}.toml"));
        std::fs::write(&path, self.text(at)).expect("written");
        let this = std::env::current_exe().expect("a path");
        let child = Command::new(this)
            .arg(NODE)
            .arg(path)
            .spawn()
            .expect("it starts");
        self.processes.push((at, child));
    }

    fn socket(&self, at: usize) -> PathBuf {
        self.folder.path().join(format!("{at}.sock"))
    }

    fn status(&self, at: usize) -> Value {
        client::ask(&self.socket(at), "GET", "/v1/status", None).unwrap_or(Value::Null)
    }

    fn sent_bytes(&self, at: usize) -> f64 {
        // Metrics are no JSON: the same client, a line at a time.
        let mut stream =
            std::os::unix::net::UnixStream::connect(self.socket(at)).expect("it listens");
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        .expect("sent");
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        let line = lines
            .filter(|line| line.starts_with("headway_datagram_bytes_sent_total "))
            .last();
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok())
            .expect("a count")
    }

    fn settings(&self, at: usize) -> Settings {
        let sources = Sources {
            text: self.text(at),
            ..Sources::default()
        };
        Settings::read(&sources).expect("correct")
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for (_, child) in &mut self.processes {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The rest of a ring in this program: all nodes but number 0, which is reached by UDP.
struct Rest {
    nodes: Vec<Machine>,
    sockets: [UdpSocket; 2],
    to: u16,
    began: Instant,
    buffer: Vec<u8>,
}

impl Rest {
    fn new(ring: &Ring) -> Rest {
        let settings = ring.settings(1);
        let roster = settings.first_roster().expect("members");
        let plan = settings.plan(ring.members).expect("it fits");
        let key = headway_service::secret::key(&settings.ring.key_file).expect("a key");
        let nodes = (0..ring.members as u32).map(|index| {
            let config = settings.machine(&roster, index, plan);
            Machine::new(config, key.clone(), 77 + u64::from(index)).expect("configured")
        });
        let bind = |at| {
            let socket = UdpSocket::bind(("127.0.0.1", ring.port(at))).expect("a socket");
            socket.set_nonblocking(true).expect("not waiting");
            socket
        };
        Rest {
            nodes: nodes.collect(),
            sockets: [bind(1), bind(ring.members - 1)],
            to: ring.port(0),
            began: Instant::now(),
            buffer: vec![0; 2048],
        }
    }

    fn run_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.turn();
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn turn(&mut self) {
        let now = self.began.elapsed();
        for (socket, node) in [(0, 1), (1, self.nodes.len() - 1)] {
            while let Ok(bytes) = self.sockets[socket].recv(&mut self.buffer) {
                // Control datagrams and what is stale are rejected.
                let _ = self.nodes[node].handle_datagram(now, &self.buffer[..bytes]);
            }
        }
        let mut flying: Vec<(usize, Vec<u8>)> = Vec::new();
        for at in 1..self.nodes.len() {
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
                if datagram.to == 0 {
                    let socket = &self.sockets[usize::from(at != 1)];
                    let _ = socket.send_to(bytes, ("127.0.0.1", self.to));
                } else {
                    flying.push((datagram.to as usize, bytes.to_vec()));
                }
            }
        }
        for (to, bytes) in flying {
            let _ = self.nodes[to].handle_datagram(now, &bytes);
        }
    }
}

/// CPU time of a process so far, and its memory in bytes.
fn usage(process: u32) -> (Duration, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let field = |at: usize| -> u64 {
        fields
            .split_whitespace()
            .nth(at)
            .and_then(|field| field.parse().ok())
            .unwrap_or(0)
    };
    // Hundredths of a second, whatever the kernel counts in.
    let cpu = Duration::from_millis(10 * (field(11) + field(12)));
    (cpu, 4096 * field(21))
}

const ONE_ROUND_A_SECOND: &str = "tick = \"1s\"\nrefresh = \"1s\"\nsilence = \"5s\"\n";

fn idle(table: &mut Table) {
    let window = Duration::from_secs(20);
    let measured = [(8, 21_000), (1000, 22_000)].map(|(members, port)| {
        let mut ring = Ring::new(members, port, ONE_ROUND_A_SECOND);
        let mut rest = Rest::new(&ring);
        ring.start(0);
        rest.run_for(Duration::from_secs(8));
        let process = ring.processes[0].1.id();
        let (round, sent) = (ring.status(0)["round"].as_u64(), ring.sent_bytes(0));
        let (before, _) = usage(process);
        rest.run_for(window);
        let (after, memory) = usage(process);
        let rounds = ring.status(0)["round"].as_u64().unwrap_or(0) - round.unwrap_or(0);
        let sent = ring.sent_bytes(0) - sent;
        (after - before, memory, rounds, sent / window.as_secs_f64())
    });
    let (cpu, memory, rounds, sent) = measured[1];
    let share = cpu.as_secs_f64() / window.as_secs_f64();
    table.add(Row {
        work: format!("idle node, 1,000 members, a round a second ({rounds} in {window:?}): CPU"),
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
        baseline: format!("{:.0} bytes/s", measured[0].3),
        ratio: sent / measured[0].3,
        goal: Goal::AtMost(1.1),
    });
}

fn hand_over(table: &mut Table) {
    let mut ring = Ring::new(
        2,
        23_000,
        "tick = \"0ms\"\nrefresh = \"20ms\"\nsilence = \"1s\"\n",
    );
    ring.start(0);
    ring.start(1);
    let began = Instant::now();
    while (0..2).any(|at| ring.status(at)["settled"] != true) {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "it does not settle"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let hops = |ring: &Ring| -> u64 {
        (0..2)
            .map(|at| ring.status(at)["hops"].as_u64().unwrap_or(0))
            .sum()
    };
    let least = (0..60).map(|_| {
        let (start, before) = (Instant::now(), hops(&ring));
        std::thread::sleep(Duration::from_millis(40));
        let passed = hops(&ring) - before;
        start.elapsed().div_f64(passed.max(1) as f64)
    });
    let ours = least.min().unwrap_or_default();
    let plan = Plan::new(2, 1, 1).expect("it fits");
    let bytes = Config::new(headway_node::RingId([0; 16]), 0, plan).datagram_bytes();
    let one_way = ping_pong(bytes);
    let work = "a permit handed over between two nodes of the service, loopback UDP, state kept \
                on disk first";
    table.add(Row {
        work: work.to_owned(),
        ours: time(ours),
        baseline: format!("bare UDP, one way {}", time(one_way)),
        ratio: ratio(ours, one_way),
        goal: Goal::AtMost(2.0),
    });
    drop(ring);
    match redis() {
        Some(redis) => table.add(Row {
            work: work.to_owned(),
            ours: time(ours),
            baseline: format!("a lock through Redis (LPUSH, BLPOP) {}", time(redis)),
            ratio: ratio(ours, redis),
            goal: Goal::AtMost(1.0),
        }),
        None => eprintln!("  skipped: a lock through Redis: there is no redis-server"),
    }
}

/// A lock handed to and fro between two clients that wait for it.
fn redis() -> Option<Duration> {
    let port = 23_100_u16;
    let mut server = Command::new("redis-server")
        .args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--daemonize",
            "no",
        ])
        .stdout(Stdio::null())
        .spawn()
        .ok()?;
    let connect = || {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                stream.set_nodelay(true).ok()?;
                return Some(BufReader::new(stream));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    };
    let pass = |client: &mut BufReader<TcpStream>, to: &str| -> Option<()> {
        write!(client.get_mut(), "LPUSH {to} lock\r\n").ok()?;
        let mut line = String::new();
        client.read_line(&mut line).ok().map(drop)
    };
    let take = |client: &mut BufReader<TcpStream>, from: &str| -> Option<()> {
        write!(client.get_mut(), "BLPOP {from} 5\r\n").ok()?;
        // Two texts, each with its length, after their number.
        for _ in 0..5 {
            let mut line = String::new();
            client
                .read_line(&mut line)
                .ok()
                .filter(|&bytes| bytes > 0)?;
        }
        Some(())
    };
    let mut one = connect()?;
    let mut other = connect()?;
    let rounds = 2000;
    let answer = std::thread::spawn(move || {
        for _ in 0..rounds {
            take(&mut other, "one")?;
            pass(&mut other, "two")?;
        }
        Some(())
    });
    let mut least: Option<Duration> = None;
    for _ in 0..rounds / 100 {
        let start = Instant::now();
        for _ in 0..100 {
            pass(&mut one, "one")?;
            take(&mut one, "two")?;
        }
        let each = start.elapsed() / 200;
        least = Some(least.map_or(each, |least| least.min(each)));
    }
    let _ = answer.join();
    let _ = server.kill();
    let _ = server.wait();
    least
}

/// Rounds from the corruption of every node until all are settled, the most of some
/// seeds.
fn rounds_to_recover(nodes: u32, seeds: u64) -> (u64, Duration) {
    let plan = Plan::new(nodes, 4, 1).expect("it fits");
    let timing = Timing {
        dwell_most: Duration::from_millis(20),
        grace: Duration::from_millis(5),
        ..Timing::default()
    };
    let configs = (0..nodes).map(|index| Config {
        role: Role::usual(index, nodes),
        timing,
        ..Config::new(Config::identity(b"bench", &plan, 0), index, plan)
    });
    let idle = Work {
        least: Duration::ZERO,
        most: Duration::ZERO,
    };
    let mut worst = (0, Duration::ZERO);
    for seed in 0..seeds {
        let network = Network::default();
        let world = World::new(configs.clone(), &Key::none(), network, idle, seed);
        let mut world = world.expect("configured");
        world.run_for(Duration::from_millis(10));
        world.scramble_all();
        let (began, before) = (world.now(), world.machines()[0].rounds());
        while !world.settled() {
            world.run_for(Duration::from_millis(1));
            assert!(
                world.now() - began < Duration::from_secs(600),
                "seed {seed}: no recovery"
            );
        }
        // A round takes a message; what the corrupted counters said does not matter.
        let took = world.now() - began;
        let rounds = world.machines()[0].rounds().wrapping_sub(before);
        if took > worst.1 {
            worst = (rounds, took);
        }
    }
    worst
}

fn recovery(table: &mut Table) {
    let sizes = [8, 16, 32, 64, 128, 256, 512];
    let measured: Vec<(u32, Duration)> = sizes
        .iter()
        .map(|&nodes| {
            (
                nodes,
                rounds_to_recover(nodes, if nodes > 100 { 4 } else { 16 }).1,
            )
        })
        .collect();
    let per_node = |&(nodes, took): &(u32, Duration)| took / nodes;
    let list: Vec<String> = measured
        .iter()
        .map(|(nodes, took)| format!("{nodes}: {}", time(*took)))
        .collect();
    let last = per_node(&measured[sizes.len() - 1]);
    let middle = per_node(&measured[3]);
    table.add(Row {
        work: "recovery after corrupting all nodes, no work, datagrams of 50 to 500 µs: time per \
               node, 512 nodes over 64"
            .to_owned(),
        ours: format!("{} per node ({})", time(last), list.join(", ")),
        baseline: format!("{} per node at 64", time(middle)),
        ratio: ratio(last, middle),
        goal: Goal::AtMost(1.5),
    });
}
