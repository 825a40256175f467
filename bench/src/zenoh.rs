//! Over Zenoh: how quickly a permit is handed over, against Zenoh itself, and what a node
//! needs when it is idle, against one over UDP.

#[cfg(not(feature = "zenoh"))]
pub(crate) fn measure(_: &mut crate::table::Table) {
    eprintln!(
        "  skipped: rings over Zenoh: built without it; run `cargo run --release \
         -p headway-bench --features zenoh zenoh`"
    );
}

#[cfg(feature = "zenoh")]
pub(crate) use with::{ECHO, NODE, echo, measure, node};

#[cfg(feature = "zenoh")]
mod with {
    use std::io::{self, Read as _};
    use std::net::TcpListener;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::time::{Duration, Instant};

    use headway_node::{Config, Event, Key, Machine, Plan, RingId, Role};
    use headway_stage::driver::{Application, Driver};
    use headway_zenoh::certificates::Authority;
    use headway_zenoh::{Options, ZenohTransport};
    use zenoh::pubsub::{Publisher, Subscriber};
    use zenoh::qos::{CongestionControl, Priority};
    use zenoh::{Session, Wait as _};

    use crate::fleet::{Ring, cpu_and_memory};
    use crate::hand_over::{AT_ONCE, BareTransport, compare, datagram_bytes};
    use crate::service::ONE_ROUND_A_SECOND;
    use crate::table::{Goal, Row, Table, ratio, time};

    /// Called with this and two ports, the program is the other node of the ring.
    pub(crate) const NODE: &str = "--zenoh-node";

    /// Called with this, a port and perhaps a folder of certificates, the program sends
    /// everything back.
    pub(crate) const ECHO: &str = "--zenoh-echo";

    /// Windows so short that some are not disturbed.
    const WINDOWS: u32 = 300;
    const HOPS: u64 = 40;

    pub(crate) fn measure(table: &mut Table) {
        of_bare_nodes(table);
        of_the_service(table);
        idle(table);
    }

    fn of_bare_nodes(table: &mut Table) {
        // Alternately, so that both meet the same disturbances.
        let (mut ours, mut bare) = (Duration::MAX, Duration::MAX);
        for _ in 0..3 {
            bare = bare.min(PingPong::start(None).one_way());
            ours = ours.min(hand_over());
        }
        table.add(Row {
            work: "a permit handed over between two processes, loopback Zenoh (TCP), one token"
                .to_owned(),
            ours: time(ours),
            baseline: format!("bare Zenoh ping-pong, one way {}", time(bare)),
            ratio: ratio(ours, bare),
            goal: Goal::AtMost(2.0),
        });
    }

    fn of_the_service(table: &mut Table) {
        let mut ring = Ring::new(2, 23_200, AT_ONCE).over_zenoh();
        ring.start(0);
        ring.start(1);
        ring.settle();
        let folder = tempfile::tempdir().expect("a folder");
        let authority = Authority::create(folder.path()).expect("an authority");
        for name in ["ping", "pong"] {
            let made = authority.certify(name, "127.0.0.1");
            made.expect("a certificate");
        }
        let measured = compare(&ring, &mut PingPong::start(Some(folder.path())));
        table.add(Row {
            work: "a permit handed over between two nodes of the service, loopback Zenoh with \
                   mutual TLS, state kept on disk first"
                .to_owned(),
            ours: measured.ours(),
            baseline: measured.bare("bare Zenoh with mutual TLS, one way"),
            ratio: measured.ratio,
            goal: Goal::AtMost(2.0),
        });
    }

    /// Three nodes of the service, a round a second.
    fn idle(table: &mut Table) {
        let window = Duration::from_secs(20);
        let rings = [
            Ring::new(3, 23_300, ONE_ROUND_A_SECOND),
            Ring::new(3, 23_310, ONE_ROUND_A_SECOND).over_zenoh(),
        ];
        let [udp, zenoh] = rings.map(|mut ring| {
            for at in 0..ring.members {
                ring.start(at);
            }
            ring.settle();
            let process = ring.processes().next().expect("started");
            let (before, _) = cpu_and_memory(process);
            std::thread::sleep(window);
            let (after, memory) = cpu_and_memory(process);
            let share = (after - before).as_secs_f64() / window.as_secs_f64();
            (100.0 * share, memory as f64 / 1e6)
        });
        table.add(Row {
            work: "idle node over Zenoh with mutual TLS, 3 members, a round a second: CPU"
                .to_owned(),
            ours: format!("{:.2}% of a core", zenoh.0),
            baseline: format!("over UDP {:.2}%", udp.0),
            ratio: zenoh.0 / udp.0,
            goal: Goal::None,
        });
        table.add(Row {
            work: "idle node over Zenoh with mutual TLS, 3 members: resident memory".to_owned(),
            ours: format!("{:.1} MB", zenoh.1),
            baseline: format!("over UDP {:.1} MB", udp.1),
            ratio: zenoh.1 / udp.1,
            goal: Goal::None,
        });
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

    fn driver(index: usize, ports: [u16; 2]) -> Driver<ZenohTransport, AtOnce> {
        let plan = Plan::new(2, 1, 1).expect("it fits");
        let config = Config {
            role: Role::usual(index as u32, 2),
            ..Config::new(RingId([5; 16]), index as u32, plan)
        };
        let key = Key::new(b"the key of a benchmark").expect("long enough");
        let machine = Machine::new(config, key, 1 + index as u64).expect("configured");
        let address = |index: usize| format!("127.0.0.1:{}", ports[index]);
        let options = Options::new("bench", &index.to_string(), &address(index));
        let mut transport = ZenohTransport::open(options).expect("it listens");
        let other = 1 - index;
        transport.set_neighbours(&[(other as u32, &other.to_string())]);
        transport.set_peer(other as u32, &address(other));
        Driver::new(machine, transport, AtOnce, Instant::now())
    }

    fn hand_over() -> Duration {
        let ports = [free_port(), free_port()];
        let child = Other::start(&[NODE, &ports[0].to_string(), &ports[1].to_string()]);
        let mut node = driver(0, ports);
        while !node.machine().settled() || node.machine().hops() < 200 {
            node.turn(Duration::from_millis(100));
        }
        let each = (0..WINDOWS).map(|_| {
            let (start, before) = (Instant::now(), node.machine().hops());
            while node.machine().hops() < before + HOPS {
                node.turn(Duration::from_millis(100));
            }
            // With two nodes and one token, the other has handed it over as often.
            start
                .elapsed()
                .div_f64(2.0 * (node.machine().hops() - before) as f64)
        });
        let least = each.min().unwrap_or_default();
        drop(child);
        least
    }

    /// The other node, until it is killed.
    pub(crate) fn node(ports: [u16; 2]) -> io::Result<()> {
        end_with_parent();
        driver(1, ports).run();
        Ok(())
    }

    /// With certificates of this name in a folder, mutual TLS.
    fn session(listen: &str, connect: &str, certified: Option<(&Path, &str)>) -> Session {
        let mut config = zenoh::Config::default();
        let tls = certified.map(|(folder, name)| {
            let file = |file: &str| folder.join(file).display().to_string();
            let (authority, certificate) = (file("ca.pem"), file(&format!("{name}.pem")));
            let key = file(&format!("{name}.key"));
            serde_json::json!({
                "root_ca_certificate": authority, "enable_mtls": true,
                "listen_certificate": certificate, "listen_private_key": key,
                "connect_certificate": certificate, "connect_private_key": key,
            })
        });
        let tls = tls.map(|tls| tls.to_string());
        for (key, value) in [
            ("mode", "\"peer\""),
            ("scouting/multicast/enabled", "false"),
            ("scouting/gossip/enabled", "false"),
            ("listen/endpoints", listen),
            ("connect/endpoints", connect),
        ]
        .into_iter()
        .chain(tls.iter().map(|tls| ("transport/link/tls", &**tls)))
        {
            config.insert_json5(key, value).expect("a setting");
        }
        zenoh::open(config).wait().expect("a session")
    }

    /// Where the other process listens.
    fn endpoint(port: u16, certified: bool) -> String {
        let protocol = if certified { "tls" } else { "tcp" };
        format!("[\"{protocol}/127.0.0.1:{port}\"]")
    }

    /// Messages to and fro between two processes, by callbacks.
    struct PingPong {
        publisher: Publisher<'static>,
        pongs: Receiver<()>,
        datagram: Vec<u8>,
        child: Other,
        _subscriber: Subscriber<()>,
        _session: Session,
    }

    impl PingPong {
        /// Over TCP, or with the certificates in a folder over mutual TLS.
        fn start(folder: Option<&Path>) -> PingPong {
            let port = free_port();
            let (number, path) = (port.to_string(), folder.and_then(Path::to_str));
            let arguments = [ECHO, &number].into_iter().chain(path);
            let child = Other::start(&arguments.collect::<Vec<_>>());
            let certified = folder.map(|folder| (folder, "ping"));
            let session = session("[]", &endpoint(port, folder.is_some()), certified);
            let (sender, pongs) = sync_channel(16);
            let subscriber = session
                .declare_subscriber("bench/pong")
                .callback(move |_| {
                    let _ = sender.try_send(());
                })
                .wait()
                .expect("a subscriber");
            let publisher = publisher(&session, "bench/ping").expect("a publisher");
            let ping_pong = PingPong {
                publisher,
                pongs,
                datagram: vec![7; datagram_bytes()],
                child,
                _subscriber: subscriber,
                _session: session,
            };
            while !ping_pong.has_echoed() {}
            ping_pong
        }

        fn has_echoed(&self) -> bool {
            self.publisher.put(&self.datagram[..]).wait().expect("sent");
            self.pongs.recv_timeout(Duration::from_millis(200)).is_ok()
        }

        /// The least time one way: half of there and back.
        fn one_way(&self) -> Duration {
            let each = (0..WINDOWS).map(|_| {
                let start = Instant::now();
                for _ in 0..HOPS {
                    while !self.has_echoed() {}
                }
                start.elapsed().div_f64(2.0 * HOPS as f64)
            });
            each.min().unwrap_or_default()
        }
    }

    impl BareTransport for PingPong {
        const BLOCK: Duration = Duration::from_millis(200);

        fn there_and_back(&mut self) -> u64 {
            2 * u64::from(self.has_echoed())
        }

        fn other(&self) -> u32 {
            self.child.0.id()
        }
    }

    fn publisher(session: &Session, key: &'static str) -> zenoh::Result<Publisher<'static>> {
        session
            .declare_publisher(key)
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::RealTime)
            .express(true)
            .wait()
    }

    /// Sends everything back, until it is killed.
    pub(crate) fn echo(port: u16, folder: Option<&Path>) -> io::Result<()> {
        let certified = folder.map(|folder| (folder, "pong"));
        let session = session(&endpoint(port, folder.is_some()), "[]", certified);
        let publisher = publisher(&session, "bench/pong").map_err(io::Error::other)?;
        let _subscriber = session
            .declare_subscriber("bench/ping")
            .callback(move |sample| drop(publisher.put(sample.payload().clone()).wait()))
            .wait()
            .map_err(io::Error::other)?;
        end_with_parent();
        loop {
            std::thread::park();
        }
    }

    /// Ends this process when the one that started it has gone.
    fn end_with_parent() {
        std::thread::spawn(|| {
            let _ = io::stdin().read(&mut [0]);
            std::process::exit(0);
        });
    }

    fn free_port() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("bound").port()
    }

    /// Another process of this program.
    struct Other(Child);

    impl Other {
        fn start(arguments: &[&str]) -> Other {
            let this = std::env::current_exe().expect("a path");
            let mut command = Command::new(this);
            let child = command.args(arguments).stdin(Stdio::piped()).spawn();
            Other(child.expect("it starts"))
        }
    }

    impl Drop for Other {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}
