//! Rollouts over whole agents on virtual time: how many steps they take, what a failure, a loss
//! and a restart in the middle do to them, and that all nodes know the same in the end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use headway_service::config::{Settings, Sources};
use headway_service::identity::{Identities, Identity};
use headway_service::internal::{
    Agent, Answer, Ask, Destination, Effect, Grant, Kept, Request, Setup, Stored, Task, Wanted,
};
use headway_testkit::tier::pick;
use serde_json::Value;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// How long every step takes.
const STEP: Duration = ms(2_000);

struct Host {
    settings: Settings,
    agent: Option<Agent>,
    kept: Kept,
    beside: Vec<(u32, String)>,
    command: Option<(Grant, Task, Duration)>,
    runs: Vec<Task>,
    due: Duration,
}

/// When it arrives, its number, to whom, and what.
type Datagram = (Duration, u64, usize, Vec<u8>);

struct World {
    now: Duration,
    hosts: Vec<Host>,
    flying: BinaryHeap<Reverse<Datagram>>,
    count: u64,
    /// Nodes whose command fails.
    fails: Vec<usize>,
    busiest: usize,
    /// Of every so many datagrams one is lost.
    lost_each: Option<u64>,
    replies: BTreeMap<u64, Result<Answer, String>>,
}

fn address(at: usize) -> String {
    format!("10.0.{}.{}:7400", at / 250, at % 250 + 1)
}

fn identity(at: usize) -> Identity {
    let mut secret = [7; 64];
    secret[..2].copy_from_slice(&(at as u16).to_be_bytes());
    secret[32..34].copy_from_slice(&(at as u16).to_be_bytes());
    Identity::new(&secret)
}

fn settings(at: usize, nodes: usize, tokens: u32, separation: u32) -> Settings {
    let members: String = (0..nodes)
        .map(|at| {
            format!(
                "[[ring.members]]\nname = \"n{at}\"\naddress = \"{}\"\nkey = \"{}\"\n",
                address(at),
                identity(at).public()
            )
        })
        .collect();
    let text = format!(
        "[node]\nname = \"n{at}\"\nlisten = \"{}\"\nstate_dir = \"x\"\n\
         [timing]\ntick = \"1ms\"\nrefresh = \"500ms\"\nheartbeat_timeout = \"20s\"\nmax_hold = \"60s\"\nstop_timeout = \"1s\"\n\
         [rollout]\nallow = [\"x\"]\n[api]\nsocket = \"x\"\n\
         [ring]\nname = \"virtual\"\ntokens = {tokens}\nseparation = {separation}\n{members}",
        address(at)
    );
    let read = Settings::read(&Sources {
        text,
        ..Sources::default()
    });
    read.unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

fn random() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
}

impl World {
    fn new(nodes: usize, tokens: u32, separation: u32) -> World {
        let hosts = (0..nodes).map(|at| Host {
            settings: settings(at, nodes, tokens, separation),
            agent: None,
            kept: Kept::default(),
            beside: Vec::new(),
            command: None,
            runs: Vec::new(),
            due: Duration::ZERO,
        });
        let mut world = World {
            now: ms(1),
            hosts: hosts.collect(),
            flying: BinaryHeap::new(),
            count: 0,
            fails: Vec::new(),
            busiest: 0,
            lost_each: None,
            replies: BTreeMap::new(),
        };
        for at in 0..nodes {
            world.start(at);
        }
        world.until("settled", ms(120_000), |world| {
            let mut hosts = world.hosts.iter();
            hosts.all(|host| {
                host.agent
                    .as_ref()
                    .is_some_and(|agent| agent.status(world.now).settled)
            })
        });
        world
    }

    fn start(&mut self, at: usize) {
        let host = &mut self.hosts[at];
        // A node that starts ends the command that it left behind.
        host.command = None;
        let setup = Setup {
            settings: host.settings.clone(),
            identities: Identities::new(identity(at)),
            kept: host.kept.clone(),
            session: 1,
            epoch: Duration::from_secs(1_800_000_000),
            wire: headway_node::wire::VERSION,
            random,
        };
        host.agent = Some(Agent::new(self.now, setup));
        self.turn(at);
    }

    fn kill(&mut self, at: usize) {
        self.hosts[at].agent = None;
    }

    fn request(&mut self, at: usize, request: Request) -> u64 {
        self.count += 1;
        let (now, id) = (self.now, self.count);
        if let Some(agent) = &mut self.hosts[at].agent {
            agent.handle_request(now, id, request);
        }
        self.turn(at);
        id
    }

    /// What a node says of the latest rollout.
    fn ask(&mut self, at: usize, request: Request) -> Result<Value, String> {
        let id = self.request(at, request);
        match self.replies.remove(&id).expect("answered at once")? {
            Answer::Rollouts(all) => Ok(serde_json::to_value(&all).expect("JSON")[0].take()),
            other => panic!("{other:?}"),
        }
    }

    fn look(&mut self, at: usize) -> Value {
        self.ask(at, Request::Rollouts).expect("an answer")
    }

    fn start_rollout(&mut self, at: usize, more: &Value) {
        let mut wanted = serde_json::json!({ "name": "web", "command": ["x"] });
        for (key, value) in more.as_object().expect("an object") {
            wanted[key] = value.clone();
        }
        let wanted: Wanted = serde_json::from_value(wanted).expect("wanted");
        self.ask(at, Request::StartRollout(wanted))
            .expect("started");
    }

    /// To the next thing that happens.
    fn step(&mut self) {
        let commands = self
            .hosts
            .iter()
            .filter_map(|host| Some(host.command.as_ref()?.2));
        let alive = self.hosts.iter().filter(|host| host.agent.is_some());
        let flying = self.flying.peek().map(|Reverse((due, ..))| *due);
        let next = commands
            .chain(alive.map(|host| host.due))
            .chain(flying)
            .min();
        self.now = next.unwrap_or(self.now + ms(1)).max(self.now);
        while let Some(Reverse((due, ..))) = self.flying.peek()
            && *due <= self.now
        {
            let Some(Reverse((_, _, to, bytes))) = self.flying.pop() else {
                break;
            };
            let now = self.now;
            if let Some(agent) = &mut self.hosts[to].agent {
                agent.handle_datagram(now, &bytes);
                self.turn(to);
            }
        }
        for at in 0..self.hosts.len() {
            let host = &mut self.hosts[at];
            if let Some((grant, _, until)) = &host.command
                && self.now >= *until
            {
                let grant = *grant;
                host.command = None;
                let result = match self.fails.contains(&at) {
                    true => Err("exit code 1".to_owned()),
                    false => Ok(()),
                };
                let ended = Request::StepEnded {
                    grant,
                    result,
                    took: STEP,
                };
                self.request(at, ended);
            }
            if self.hosts[at].due <= self.now {
                let now = self.now;
                if let Some(agent) = &mut self.hosts[at].agent {
                    agent.handle_timeout(now);
                }
                self.turn(at);
            }
        }
    }

    fn turn(&mut self, at: usize) {
        while let Some(effect) = self.hosts[at].agent.as_mut().and_then(Agent::poll_effect) {
            self.carry_out(at, effect);
        }
        let host = &mut self.hosts[at];
        host.due = host
            .agent
            .as_ref()
            .map_or(Duration::MAX, Agent::poll_timeout);
    }

    fn carry_out(&mut self, at: usize, effect: Effect) {
        let host = &mut self.hosts[at];
        match effect {
            Effect::KeepState(state) => host.kept.state = Some(state),
            Effect::KeepRoster(roster) => {
                host.kept.roster = Some(roster);
                if let Some(agent) = &mut host.agent {
                    agent.handle_stored(self.now, Stored::Roster, Ok(()));
                }
            }
            Effect::KeepNotes(notes) => host.kept.notes = notes,
            Effect::KeepRollouts(bytes) => host.kept.rollouts = bytes,
            Effect::Neighbours(beside) => {
                let beside = beside.into_iter();
                host.beside = beside.map(|member| (member.node, member.address)).collect();
            }
            Effect::Send(to, bytes) => {
                let address = match to {
                    Destination::Address(address) => address,
                    Destination::Neighbour(node) => {
                        let known = host.beside.iter().find(|(beside, _)| *beside == node);
                        known.expect("told before").1.clone()
                    }
                };
                let mut numbers = address.split(['.', ':']).skip(2);
                let mut number = || numbers.next().and_then(|text| text.parse::<usize>().ok());
                let to = number().unwrap_or(0) * 250 + number().unwrap_or(1) - 1;
                self.count += 1;
                if self
                    .lost_each
                    .is_none_or(|each| !self.count.is_multiple_of(each))
                {
                    self.flying
                        .push(Reverse((self.now + ms(1), self.count, to, bytes)));
                }
            }
            Effect::StartCommand(permit) => {
                let task = permit.task.expect("only steps run here");
                // What begins is kept first.
                let kept = String::from_utf8_lossy(&host.kept.rollouts);
                assert!(kept.contains("running"), "{kept}");
                host.runs.push(task.clone());
                host.command = Some((permit.grant, task, self.now + STEP));
                let busy = self
                    .hosts
                    .iter()
                    .filter(|host| host.command.is_some())
                    .count();
                self.busiest = self.busiest.max(busy);
            }
            Effect::StopCommand(_) => host.command = None,
            Effect::Reply(id, reply) => {
                let reply = reply.map_err(|error| error.to_string());
                self.replies.insert(id, reply);
            }
            Effect::KeepIdentity(_) => {}
        }
    }

    fn until(&mut self, what: &str, longest: Duration, mut done: impl FnMut(&World) -> bool) {
        let end = self.now + longest;
        let mut next = self.now;
        loop {
            if self.now >= next {
                if done(self) {
                    return;
                }
                next = self.now + ms(20);
            }
            assert!(self.now < end, "in vain: {what}");
            self.step();
        }
    }

    fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }

    fn runs(&self) -> usize {
        self.hosts.iter().map(|host| host.runs.len()).sum()
    }

    fn idle(&self) -> bool {
        self.hosts.iter().all(|host| host.command.is_none())
    }

    /// Until every step has run, and how many steps' time that took.
    fn steps_taken(&mut self) -> f64 {
        let (began, nodes) = (self.now, self.hosts.len());
        let longest = STEP * nodes as u32 * 2;
        self.until("every step", longest, |world| {
            world.runs() >= nodes && world.idle()
        });
        (self.now - began).as_secs_f64() / STEP.as_secs_f64()
    }
}

/// Fleets run in moving blocks: in lock-step, tokens that are close stay close, and the one ahead
/// does all the work.
#[test]
fn many_nodes_take_hardly_more_steps_than_they_must() {
    let mut table = Vec::new();
    let large = &[(200, 10), (200, 4)][..];
    for &(nodes, tokens) in pick(&[(60, 4)][..], large, large) {
        let separation = 3;
        let mut world = World::new(nodes, tokens, separation);
        world.start_rollout(7, &serde_json::json!({}));
        let steps = world.steps_taken();
        let least = (nodes as u32).div_ceil(tokens);
        table.push(format!(
            "{tokens:>6} {separation:>10} {least:>6} {steps:>8.2}"
        ));
        println!("tokens separation  least    taken\n{}", table.join("\n"));
        assert!(
            steps <= 1.1 * f64::from(least),
            "{steps} steps with {tokens} tokens"
        );
        assert!(
            world.busiest <= tokens as usize,
            "{} at a time",
            world.busiest
        );
        assert!(
            world.hosts.iter().all(|host| host.runs.len() == 1),
            "each once"
        );
        // Any node answers.
        world.run_for(ms(3_000));
        for at in [0, 50, nodes - 1] {
            let seen = world.look(at);
            assert_eq!(
                (&seen["rollout_state"], &seen["done"]),
                (&"complete".into(), &nodes.into())
            );
        }
    }
}

#[test]
fn a_failure_stops_it_everywhere_and_the_loss_of_any_node_does_not() {
    let mut world = World::new(12, 2, 2);
    world.lost_each = Some(50);
    world.fails = vec![4];
    world.start_rollout(
        0,
        &serde_json::json!({ "canaries": ["n3"], "max_failures": 1 }),
    );
    world.until("the canary", ms(60_000), |world| world.runs() > 0);
    assert_eq!(world.hosts[3].runs.len(), 1, "the canary is first");
    world.until("a failure", ms(120_000), |world| {
        !world.hosts[4].runs.is_empty() && world.idle()
    });
    world.run_for(ms(10_000));
    let runs = world.runs();
    assert!(runs < 12, "{runs} steps were begun");
    world.run_for(ms(20_000));
    assert_eq!(world.runs(), runs, "nothing begins after a failure");
    for at in 0..12 {
        let seen = world.look(at);
        assert_eq!(
            (&seen["rollout_state"], &seen["failed"]),
            (&"failed".into(), &1.into()),
            "n{at}"
        );
        let status = world.hosts[at]
            .agent
            .as_ref()
            .expect("it runs")
            .status(world.now);
        assert!(
            status
                .alarms
                .iter()
                .any(|alarm| alarm.contains("n4: exit code 1")),
            "n{at}"
        );
    }
    // Mended; the one that was started at is gone, and another takes the order. In the middle
    // of its step one is killed and comes back, and one has lost its disk.
    world.fails.clear();
    let (first, second) = (world.hosts[4].runs[0].clone(), 0);
    world.kill(second);
    world.start(second);
    world.run_for(ms(3_000));
    let resume = Ask::Resume {
        retry: true,
        max_failures: None,
    };
    let order = Request::OrderRollout {
        name: "web".into(),
        ask: resume,
    };
    world.ask(9, order).expect("resumed");
    world.until("somebody works", ms(60_000), |world| !world.idle());
    let at = (0..12)
        .find(|&at| world.hosts[at].command.is_some())
        .expect("somebody");
    let before = world.hosts[at].runs.len();
    world.kill(at);
    world.hosts[at].command = None;
    world.run_for(ms(500));
    world.hosts[at].kept.rollouts.clear();
    world.start(at);
    world.until("complete", ms(200_000), |world| {
        world.idle()
            && world.hosts.iter().all(|host| !host.runs.is_empty())
            && world.hosts[at].runs.len() > before
    });
    world.run_for(ms(20_000));
    for other in 0..12 {
        assert_eq!(world.look(other)["rollout_state"], "complete", "n{other}");
    }
    let again = world.hosts[4].runs.last().expect("it ran").clone();
    assert_eq!(again.step, first.step);
    assert!(
        again.attempt > first.attempt,
        "told apart by the attempt only"
    );
    let killed = &world.hosts[at].runs;
    assert_eq!(
        killed[before].step,
        killed[before - 1].step,
        "the same step once more"
    );
    assert!(killed[before].attempt > killed[before - 1].attempt);
}

/// The canary is off when a rollout starts, and has never heard of one.
#[test]
fn members_that_were_off_hear_of_a_rollout_when_they_are_back() {
    let mut world = World::new(5, 1, 1);
    world.kill(2);
    world.start_rollout(0, &serde_json::json!({ "canaries": ["n2"] }));
    world.run_for(ms(5_000));
    assert_eq!(world.runs(), 0, "the canary goes first");
    world.start(2);
    world.until("all", ms(200_000), |world| {
        world.idle() && world.runs() == 5
    });
    world.run_for(ms(5_000));
    for at in 0..5 {
        assert_eq!(world.look(at)["rollout_state"], "complete", "n{at}");
    }
    // With an empty disk it hears of what is over.
    world.kill(3);
    world.hosts[3].kept.rollouts.clear();
    world.start(3);
    world.run_for(ms(5_000));
    assert_eq!(world.look(3)["rollout_state"], "complete");
    assert_eq!(world.runs(), 5, "nothing runs again");
}

/// A machine starts before its clock is set: its step waits for its window by the clock of now.
#[test]
fn a_window_opens_by_the_clock_of_now_and_not_of_the_start() {
    let mut world = World::new(3, 1, 1);
    // At 8:00; it opens at 9:00.
    let window = serde_json::json!({ "from_minute": 9 * 60, "until_minute": 10 * 60 });
    world.start_rollout(0, &serde_json::json!({ "window": window }));
    world.run_for(ms(10_000));
    assert_eq!(world.runs(), 0, "too early");
    assert_eq!(world.look(1)["rollout_state"], "waiting");
    for host in &mut world.hosts {
        let agent = host.agent.as_mut().expect("it runs");
        agent.handle_clock(Duration::from_secs(1_800_000_000 + 3600));
    }
    world.until("all", ms(100_000), |world| world.runs() == 3);
}
