//! A lock that goes to and fro through Redis, with which passing a token on is compared.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::hand_over::{BareTransport, stay_on};

const PORT: u16 = 23_100;

/// A server, wherever the scheduler puts it, and two clients that give each other a lock.
pub(crate) struct Redis {
    server: Server,
    here: Client,
}

impl Redis {
    /// If there is a server: one client here, the other on a core.
    pub(crate) fn start(core: usize) -> Option<Redis> {
        let port = PORT.to_string();
        let options = ["--port", &port, "--bind", "127.0.0.1", "--save", ""];
        let server = Command::new("redis-server")
            .args(options)
            .stdout(Stdio::null())
            .spawn();
        let server = Server(server.ok()?);
        let (here, mut there) = (Client::connect()?, Client::connect()?);
        // It ends with the server.
        std::thread::spawn(move || {
            stay_on(core);
            while there.take("one").is_some() && there.pass("two").is_some() {}
        });
        Some(Redis { server, here })
    }
}

impl BareTransport for Redis {
    const BLOCK: Duration = Duration::from_millis(60);

    fn there_and_back(&mut self) -> u64 {
        for _ in 0..20 {
            self.here.pass("one").expect("the server is there");
            self.here.take("two").expect("the server is there");
        }
        40
    }

    fn other(&self) -> u32 {
        self.server.0.id()
    }
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Client(BufReader<TcpStream>);

impl Client {
    fn connect() -> Option<Client> {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", PORT)) {
                stream.set_nodelay(true).ok()?;
                return Some(Client(BufReader::new(stream)));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    fn pass(&mut self, to: &str) -> Option<()> {
        write!(self.0.get_mut(), "LPUSH {to} lock\r\n").ok()?;
        self.skip_lines(1)
    }

    fn take(&mut self, from: &str) -> Option<()> {
        write!(self.0.get_mut(), "BLPOP {from} 0\r\n").ok()?;
        // Two texts, each with its length, after their number.
        self.skip_lines(5)
    }

    fn skip_lines(&mut self, lines: usize) -> Option<()> {
        let mut line = String::new();
        for _ in 0..lines {
            self.0.read_line(&mut line).ok().filter(|&read| read > 0)?;
        }
        Some(())
    }
}
