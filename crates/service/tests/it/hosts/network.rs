//! Hosts as network namespaces, and the switch between them. All of their traffic
//! stays inside these namespaces.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use headway_testkit::tools;

pub(crate) struct Network {
    /// Namespaces are called this with a dash and a number.
    pub(crate) prefix: String,
    /// The first three numbers of all addresses.
    pub(crate) addresses: String,
    /// The library that makes clocks jump.
    pub(crate) faketime: Option<PathBuf>,
    hosts: usize,
    switch: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

impl Network {
    /// Lays it out, or says why that is not possible here.
    pub(crate) fn new(hosts: usize) -> Result<Network, String> {
        tools::program(&["ip"], "iproute2")?;
        tools::program(&["python3"], "python3")?;
        let mut network = Network {
            prefix: prefix(),
            addresses: "10.77.0".into(),
            faketime: tools::faketime().ok(),
            hosts,
            switch: None,
        };
        network
            .lay()
            .map_err(|why| format!("no network namespaces: {why}"))?;
        Ok(network)
    }

    fn lay(&mut self) -> Result<(), String> {
        let switch = format!("{}-switch", self.prefix);
        ip(&["netns", "add", &switch])?;
        let mut ports = Vec::new();
        for at in 0..self.hosts {
            let host = format!("{}-{at}", self.prefix);
            let (port, address) = (
                format!("p{at}"),
                format!("{}.{}/24", self.addresses, at + 1),
            );
            let hardware = format!("02:00:00:00:00:{:02x}", at + 1);
            ip(&["netns", "add", &host])?;
            ip(&[
                "link", "add", "eth0", "netns", &host, "address", &hardware, "type", "veth",
                "peer", "name", &port, "netns", &switch,
            ])?;
            ip(&["-n", &host, "address", "add", &address, "dev", "eth0"])?;
            // There is no hardware to cut a long piece of TCP into frames.
            ip(&["-n", &host, "link", "set", "eth0", "gso_max_segs", "1"])?;
            for (name, device) in [(&host, "lo"), (&host, "eth0"), (&switch, &*port)] {
                ip(&["-n", name, "link", "set", device, "up"])?;
            }
            ports.push(port);
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/hosts/switch.py");
        let mut child = Command::new("ip")
            .args(["netns", "exec", &switch, "python3", script, "2009"])
            .args(&ports)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        self.switch = Some((child, input, output));
        self.answered()
    }

    /// Gives the switch an order.
    pub(crate) fn tell(&mut self, order: &str) {
        let (_, input, _) = self.switch.as_mut().expect("a switch");
        writeln!(input, "{order}").expect("it listens");
        self.answered().expect("it answers");
    }

    fn answered(&mut self) -> Result<(), String> {
        let (_, _, output) = self.switch.as_mut().ok_or("no switch")?;
        let mut line = String::new();
        output
            .read_line(&mut line)
            .map_err(|error| error.to_string())?;
        if line.trim() == "ok" {
            Ok(())
        } else {
            Err("the switch does not start".into())
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if let Some((mut child, input, _)) = self.switch.take() {
            drop(input);
            let _ = child.kill();
            let _ = child.wait();
        }
        let hosts = (0..self.hosts).map(|at| at.to_string());
        for name in hosts.chain(["switch".to_owned()]) {
            let _ = ip(&["netns", "del", &format!("{}-{name}", self.prefix)]);
        }
    }
}

/// Of its own for every network of every process.
fn prefix() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NETWORKS: AtomicU32 = AtomicU32::new(0);
    let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
    format!("hw{}-{number}", std::process::id())
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    run("ip", arguments)
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

/// A disk with hardly any room.
pub(crate) fn small_disk(path: &Path) {
    std::fs::create_dir_all(path).expect("a folder");
    run(
        "mount",
        &[
            "-t",
            "tmpfs",
            "-o",
            "size=128k",
            "headway-test",
            &path.to_string_lossy(),
        ],
    )
    .expect("a disk");
}

pub(crate) fn no_disk(path: &Path) {
    let _ = run("umount", &[&path.to_string_lossy()]);
}

/// Leaves no room on it.
pub(crate) fn fill(path: &Path) {
    let mut file = std::fs::File::create(path.join("rubbish")).expect("a file");
    while file.write_all(&[0; 512]).is_ok() {}
}

pub(crate) fn empty(path: &Path) {
    std::fs::remove_file(path.join("rubbish")).expect("removed");
}
