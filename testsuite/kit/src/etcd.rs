//! Debian's etcd, for tests of rosters that are kept there.

use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::tools;

/// An etcd of one server, with its data in a folder of its own.
pub struct Server {
    folder: tempfile::TempDir,
    client: u16,
    peer: u16,
    process: Option<Child>,
}

impl Server {
    /// Starts one.
    ///
    /// # Errors
    ///
    /// What to install, or why it does not start.
    pub fn start() -> Result<Server, String> {
        tools::program(&["etcd"], "etcd-server")?;
        let free = || -> io::Result<(TcpListener, u16)> {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let port = listener.local_addr()?.port();
            Ok((listener, port))
        };
        // Both at once, so that they differ.
        let (client, peer) = (free(), free());
        let port = |found: io::Result<(TcpListener, u16)>| found.map(|(_, port)| port);
        let mut server = Server {
            folder: tempfile::tempdir().map_err(|error| error.to_string())?,
            client: port(client).map_err(|error| error.to_string())?,
            peer: port(peer).map_err(|error| error.to_string())?,
            process: None,
        };
        server.run()?;
        Ok(server)
    }

    /// Where it answers.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.client)
    }

    /// Starts it, with the data that it has.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn run(&mut self) -> Result<(), String> {
        let (url, peer) = (self.url(), format!("http://127.0.0.1:{}", self.peer));
        let child = Command::new("etcd")
            .arg("--data-dir")
            .arg(self.folder.path().join("data"))
            .args([
                "--listen-client-urls",
                &url,
                "--advertise-client-urls",
                &url,
            ])
            .args(["--listen-peer-urls", &peer])
            .args(["--initial-advertise-peer-urls", &peer])
            .args(["--initial-cluster", &format!("default={peer}")])
            .args(["--log-level", "error"])
            // Where Debian has not tried it, it wants to be told that this is known.
            .env("ETCD_UNSUPPORTED_ARCH", "arm64")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.process = Some(child.map_err(|error| error.to_string())?);
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.client)).is_err() {
            if began.elapsed() > Duration::from_secs(120) {
                return Err("etcd does not start".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Ends it, as by `kill -9`.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// A copy of its data, while it does not run.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    pub fn copy(&self) -> tempfile::TempDir {
        let copy = tempfile::tempdir().expect("a folder");
        copy_all(&self.folder.path().join("data"), copy.path()).expect("copied");
        copy
    }

    /// Has the data of a copy again.
    ///
    /// # Panics
    ///
    /// When it cannot have it.
    pub fn put_back(&self, copy: &tempfile::TempDir) {
        self.empty();
        copy_all(copy.path(), &self.folder.path().join("data")).expect("copied");
    }

    /// Has no data any more.
    pub fn empty(&self) {
        let _ = fs::remove_dir_all(self.folder.path().join("data"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
