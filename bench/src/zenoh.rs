//! Over Zenoh: how quickly a permit is handed over, against Zenoh itself.

#[cfg(not(feature = "zenoh"))]
pub(crate) fn measure(_: &mut crate::table::Table) {
    eprintln!(
        "  skipped: a permit handed over by Zenoh: built without it; run `cargo run --release \
         -p headway-bench --features zenoh zenoh`"
    );
}

#[cfg(feature = "zenoh")]
pub(crate) use with::{ECHO, NODE, echo, measure, node};

#[cfg(feature = "zenoh")]
mod with {
    use std::io::{self, Read as _};
    use std::net::TcpListener;
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::sync_channel;
    use std::time::{Duration, Instant};

    use headway_node::driver::{Application, Driver};
    use headway_node::{Config, Event, Key, Machine, Plan, RingId, Role};
    use headway_zenoh::{Options, ZenohTransport};
    use zenoh::qos::{CongestionControl, Priority};
    use zenoh::{Session, Wait as _};

    use crate::table::{Goal, Row, Table, ratio, time};

    /// Called with this and two ports, the program is the other node of the ring.
    pub(crate) const NODE: &str = "--zenoh-node";

    /// Called with this and a port, the program sends everything back.
    pub(crate) const ECHO: &str = "--zenoh-echo";

    /// Windows so short that some are not disturbed.
    const WINDOWS: u32 = 300;
    const HOPS: u64 = 40;

    pub(crate) fn measure(table: &mut Table) {
        let plan = Plan::new(2, 1, 1).expect("it fits");
        let bytes = Config::new(RingId([0; 16]), 0, plan).datagram_bytes();
        // Alternately, so that both meet the same disturbances.
        let (mut ours, mut bare) = (Duration::MAX, Duration::MAX);
        for _ in 0..3 {
            bare = bare.min(ping_pong(bytes));
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

    fn session(listen: &str, connect: &str) -> Session {
        let mut config = zenoh::Config::default();
        for (key, value) in [
            ("mode", "\"peer\""),
            ("scouting/multicast/enabled", "false"),
            ("scouting/gossip/enabled", "false"),
            ("listen/endpoints", listen),
            ("connect/endpoints", connect),
        ] {
            config.insert_json5(key, value).expect("a setting");
        }
        zenoh::open(config).wait().expect("a session")
    }

    /// Half of there and back, between two processes, by callbacks.
    fn ping_pong(bytes: usize) -> Duration {
        let port = free_port();
        let child = Other::start(&[ECHO, &port.to_string()]);
        let session = session("[]", &format!("[\"tcp/127.0.0.1:{port}\"]"));
        let (sender, pongs) = sync_channel(16);
        let _subscriber = session
            .declare_subscriber("bench/pong")
            .callback(move |_| {
                let _ = sender.try_send(());
            })
            .wait()
            .expect("a subscriber");
        let publisher = session
            .declare_publisher("bench/ping")
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::RealTime)
            .express(true)
            .wait()
            .expect("a publisher");
        let datagram = vec![7; bytes];
        let ping = || {
            publisher.put(&datagram[..]).wait().expect("sent");
            pongs.recv_timeout(Duration::from_millis(200)).is_ok()
        };
        while !ping() {}
        let each = (0..WINDOWS).map(|_| {
            let start = Instant::now();
            for _ in 0..HOPS {
                while !ping() {}
            }
            start.elapsed().div_f64(2.0 * HOPS as f64)
        });
        let least = each.min().unwrap_or_default();
        drop(child);
        least
    }

    /// Sends everything back, until it is killed.
    pub(crate) fn echo(port: u16) -> io::Result<()> {
        let session = session(&format!("[\"tcp/127.0.0.1:{port}\"]"), "[]");
        let publisher = session
            .declare_publisher("bench/pong")
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::RealTime)
            .express(true)
            .wait()
            .map_err(io::Error::other)?;
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
