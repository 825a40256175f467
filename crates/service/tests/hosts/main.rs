//! Eight hosts, each a network namespace, on a network that loses, delays, duplicates
//! and reorders; links cut, a host that is not heard, paused, killed, with a jumping
//! clock, a full disk, a command that hangs. An observer outside the ring reads one
//! file that all commands write to.
//!
//! Needs root, `ip` and Python; skipped, and printed as such, where these are not.

#[path = "../fleet/harness.rs"]
#[allow(dead_code)]
mod harness;
mod network;
#[path = "../fleet/observer.rs"]
#[allow(dead_code)]
mod observer;
#[cfg(all(feature = "zenoh", feature = "certificates"))]
mod zenoh;

use std::time::{Duration, Instant};

use harness::Fleet;
use headway_node::{Plan, Timing, recovery_bound};
use network::Network;
use nix::sys::signal::Signal;
use observer::{begun, closest_pair, visits};

const HOSTS: usize = 8;
const TOKENS: u32 = 2;
const SEPARATION: u32 = 2;

/// Not a test: what a node runs as.
#[test]
fn a_node_if_asked() {
    harness::be_a_node_if_asked();
}

/// Not a test: what a node runs.
#[test]
fn a_command_if_asked() {
    observer::be_a_command_if_asked();
}

#[test]
fn eight_hosts_on_a_bad_network() {
    let mut network = match Network::new(HOSTS) {
        Ok(network) => network,
        Err(why) => {
            skipped(&format!("skipped: eight hosts on a bad network: {why}"));
            return;
        }
    };
    let mut trial = Trial::new(&network);
    trial.fleet.start_all();
    trial.settles("a new ring");
    let settled_first = trial.fleet.observed().len();

    trial.bad_network(&mut network, "loss 0.15", 60);
    trial.cut_link(&mut network);

    network.tell("mute 5");
    trial.misses("f", "e");
    assert!(
        !trial.fleet.status(4)["silent"].to_string().contains('d'),
        "e hears d"
    );
    network.tell("heal");
    trial.settles("a host that hears and is not heard");
    trial.works("a host that hears and is not heard", 20);

    trial.paused();

    if network.faketime.is_some() {
        for jump in ["+86400", "-86400", "+0"] {
            std::fs::write(trial.fleet.path("jump"), jump).expect("written");
            trial.works(&format!("a clock that jumps by {jump} s"), 20);
        }
        assert_eq!(
            trial.fleet.status(3)["settled"],
            true,
            "nothing was noticed"
        );
    } else {
        skipped("skipped: clock jumps: install libfaketime (Debian: apt-get install faketime)");
    }

    trial.killed(&[6, 0, 6]);

    let disk = trial.fleet.path("state-f");
    network::fill(&disk);
    let full = |trial: &Trial| {
        trial.fleet.status(5)["alarms"]
            .to_string()
            .contains("cannot keep")
    };
    trial
        .fleet
        .until("the full disk is noticed", || full(&trial));
    trial.works("a full disk", 20);
    network::empty(&disk);
    trial.fleet.until("there is room again", || !full(&trial));

    std::fs::write(trial.fleet.path("hang-h"), "").expect("written");
    trial.fleet.until("the hanging command is killed", || {
        trial.fleet.log(7).contains("SIGKILL to the command")
    });
    trial.works("a command that hangs", 20);
    std::fs::remove_file(trial.fleet.path("hang-h")).expect("removed");
    trial.settles("a command that hung");

    // So far nothing was forgotten, so nothing may have gone wrong at any time.
    trial.apart(settled_first);

    // Now memory is lost, which no protocol can prevent from doing harm; but in
    // bounded time all is well again, and stays so.
    for at in [2, 3] {
        trial.fleet.kill(at);
        let state = trial
            .fleet
            .path(&format!("state-{}", trial.fleet.names[at]));
        std::fs::remove_dir_all(state).expect("removed");
        trial.fleet.start(at);
    }
    trial.fleet.until("they are up", || {
        trial.fleet.status(2).is_object() && trial.fleet.status(3).is_object()
    });
    trial.settles("two neighbours that lost their state");

    let before = trial.fleet.observed().len();
    trial.works("at the end", 100);
    trial.apart(before);
    let all = trial.fleet.observed();
    for token in 0..TOKENS {
        let (least, most) = visits(&all[before..], &trial.fleet.names, token);
        assert!(most - least <= 1, "token {token}: {least} to {most} visits");
    }
}

struct Trial {
    fleet: Fleet,
    bound: Duration,
}

impl Trial {
    fn new(network: &Network) -> Trial {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let mut fleet = Fleet::new(90, &names, TOKENS, SEPARATION);
        fleet.network = network.addresses.clone();
        fleet.hosts = Some(network.prefix.clone());
        let folder = fleet.folder.path().display().to_string();
        fleet.more += &observer::hook(fleet.folder.path(), 0.02);
        fleet.timing = "refresh = \"30ms\"\nsilence = \"500ms\"\ntick = \"5ms\"\n\
                        dwell_most = \"1500ms\"\ngrace = \"800ms\"\n"
            .into();
        if let Some(library) = &network.faketime {
            std::fs::write(fleet.path("jump"), "+0").expect("written");
            fleet.variables = vec![
                (3, "LD_PRELOAD", library.clone()),
                (3, "FAKETIME_TIMESTAMP_FILE", format!("{folder}/jump")),
                (3, "FAKETIME_NO_CACHE", "1".into()),
                (3, "FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
            ];
        }
        network::small_disk(&fleet.path("state-f"));
        let ms = Duration::from_millis;
        let timing = Timing {
            refresh: ms(30),
            silence: ms(500),
            tick: ms(5),
            dwell_least: ms(0),
            dwell_most: ms(1500),
            grace: ms(800),
        };
        let plan = Plan::new(HOSTS as u32, TOKENS, SEPARATION).expect("it fits");
        // A command takes 20 ms and what a busy machine adds to starting it.
        let bound = recovery_bound(&plan, &timing, ms(10), ms(100));
        Trial { fleet, bound }
    }

    /// Loss, delay, duplication and reordering while permits are used, then a good
    /// network again.
    fn bad_network(&self, network: &mut Network, loss: &str, permits: usize) {
        network.tell(loss);
        network.tell("delay 0.5 6");
        network.tell("duplicate 0.1");
        self.works("loss, delay, duplication, reordering", permits);
        network.tell("heal");
        self.settles("a good network again");
    }

    fn cut_link(&self, network: &mut Network) {
        network.tell("cut 3");
        self.misses("b", "c");
        network.tell("heal");
        self.settles("a link cut for a while");
        self.works("a link cut for a while", 20);
    }

    fn paused(&mut self) {
        self.fleet.signal(1, Signal::SIGSTOP);
        self.misses("c", "b");
        self.fleet.signal(1, Signal::SIGCONT);
        self.settles("SIGSTOP");
        self.works("SIGSTOP", 20);
    }

    /// Nodes killed at any moment, and one while its command runs.
    fn killed(&mut self, nodes: &[usize]) {
        for (round, &at) in nodes.iter().enumerate() {
            self.fleet.kill(at);
            std::thread::sleep(Duration::from_millis(200 + 400 * round as u64));
            self.fleet.start(at);
            self.works("kill -9 and restart", 20);
        }
        let at = nodes[0];
        let slow = self.fleet.path(&format!("slow-{}", self.fleet.names[at]));
        std::fs::write(&slow, "1.2").expect("written");
        let name = self.fleet.names[at].clone();
        let runs = || {
            let seen = self.fleet.observed();
            let last = seen.iter().rfind(|seen| seen.node == name);
            last.is_some_and(|seen| seen.begins)
        };
        // The first may have begun before it was to be slow.
        self.fleet.until("it works slowly", || {
            runs() && {
                std::thread::sleep(Duration::from_millis(100));
                runs()
            }
        });
        self.fleet.kill(at);
        std::fs::remove_file(&slow).expect("removed");
        self.fleet.start(at);
        self.works("kill -9 while a command runs, and restart", 20);
        assert!(
            self.fleet
                .log(at)
                .contains("a command of before the restart still runs")
        );
        self.settles("kill -9 and restart");
    }

    /// Everybody is settled within the bound.
    fn settles(&self, after: &str) {
        let began = Instant::now();
        self.fleet.settle();
        let took = began.elapsed();
        println!(
            "settled {took:.2?} after {after} (bound {:.2?})",
            self.bound
        );
        assert!(took <= self.bound, "{after}");
    }

    /// No two permits were ever closer than promised, from this line on.
    fn apart(&self, from: usize) {
        let seen = &self.fleet.observed()[from..];
        let (least, text) = closest_pair(seen, &self.fleet.names).expect("two at a time");
        println!("{} permits, never closer than {least} hops", begun(seen));
        assert!(least >= SEPARATION as usize, "{least} hops: {text}");
    }

    /// So many more permits are used.
    fn works(&self, during: &str, permits: usize) {
        let before = begun(&self.fleet.observed());
        self.fleet
            .until(during, || begun(&self.fleet.observed()) >= before + permits);
        println!("{permits} permits during {during}");
    }

    fn misses(&self, who: &str, whom: &str) {
        let at = self
            .fleet
            .names
            .iter()
            .position(|name| name == who)
            .expect("a host");
        let missed = || self.fleet.status(at)["silent"].to_string().contains(whom);
        self.fleet.until(&format!("{who} misses {whom}"), missed);
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        for at in 0..self.fleet.names.len() {
            self.fleet.kill(at);
        }
        network::no_disk(&self.fleet.path("state-f"));
    }
}

/// Says that something was not tried. Standard error itself is not captured, so that the
/// line is seen although the test ends well.
fn skipped(what: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{what}");
}
