//! Whether FleetLock clients that nobody knows slow the ring down.
//!
//! Ten thousand ids that are not listed ask one of two nodes, with the right token, a thousand a
//! second, while the two hand a token over as quickly as they can. Blocks with and without them
//! are measured in turn.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use crate::fleet::Ring;
use crate::hand_over::{AT_ONCE, hops};
use crate::table::{Goal, Row, Table, ratio, time};

const BLOCKS: usize = 20;
const IDS: usize = 10_000;

/// Of one block with its part of the ids.
const BLOCK: Duration = Duration::from_millis(500);

const TOKEN: &str = "a-token-for-measurements";

pub(crate) fn measure(table: &mut Table) {
    let mut ring = Ring::new(2, 23_200, AT_ONCE);
    ring.api = |ring, at| {
        let token = ring.path("token");
        let http = ring.port(at) + 10;
        format!(
            "http = \"127.0.0.1:{http}\"\ntoken_file = {token:?}\n[fleetlock]\nenabled = true\n\
             ids = [\"known\"]\nwait = \"0s\"\n"
        )
    };
    std::fs::write(ring.path("token"), TOKEN).expect("written");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(ring.path("token"), private).expect("private");
    ring.start(0);
    ring.start(1);
    ring.settle();
    let http = ring.port(0) + 10;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    let (mut id, mut refused) = (0, 0);
    for _ in 0..BLOCKS {
        without.push(hand_over(&ring, || std::thread::sleep(BLOCK)));
        with.push(hand_over(&ring, || {
            let (began, all) = (Instant::now(), (IDS / BLOCKS) as u32);
            for sent in 0..all {
                let due = BLOCK * sent / all;
                std::thread::sleep(due.saturating_sub(began.elapsed()));
                id += 1;
                refused += usize::from(is_refused(http, id));
            }
        }));
    }
    assert_eq!(refused, IDS, "all of them are strange");
    with.sort_unstable();
    without.sort_unstable();
    let (with, without) = (with[BLOCKS / 2], without[BLOCKS / 2]);
    table.add(Row {
        work: "a permit handed over between two nodes while 10,000 FleetLock ids that are not \
               listed ask one of them, a thousand a second"
            .to_owned(),
        ours: time(with),
        baseline: format!("without them {}", time(without)),
        ratio: ratio(with, without),
        goal: Goal::AtMost(1.5),
    });
}

/// How long one hand-over takes while something is done.
fn hand_over(ring: &Ring, meanwhile: impl FnOnce()) -> Duration {
    let (start, before) = hops(ring);
    meanwhile();
    let (end, after) = hops(ring);
    (end - start).div_f64((after - before).max(1) as f64)
}

/// Asks as one more id, and whether that is refused because nobody knows it.
fn is_refused(port: u16, id: usize) -> bool {
    let body = format!("{{\"client_params\":{{\"id\":\"strange-{id}\",\"group\":\"default\"}}}}");
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        write!(
            stream,
            "POST /v1/pre-reboot HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\
             fleet-lock-protocol: true\r\nauthorization: Bearer {TOKEN}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.contains("unknown_id"))
}
