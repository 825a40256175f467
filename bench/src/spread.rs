//! A new roster on its way through a large ring: whole agents on virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use headway_service::config::{Settings, Sources};
use headway_service::identity::Identities;
use headway_service::internal::{Agent, Destination, Effect, Kept, Request, Setup, Stored};

use crate::fleet::identity;

/// From the decision that somebody is removed until all the others have left the old ring.
pub(crate) fn time_to_spread(members: usize) -> Duration {
    let mut world = World::new(members);
    world.run_until(Duration::from_secs(2));
    world.adopted.fill(false);
    let removed = members / 2;
    let name = format!("n{removed}");
    world.request(0, Request::Remove { name, gone: false });
    while !world.adopted.contains(&true) {
        let next = world.now + Duration::from_millis(1);
        assert!(next < Duration::from_secs(60), "nothing is decided");
        world.run_until(next);
    }
    let decided = world.now;
    world.adopted[removed] = true;
    while world.adopted.contains(&false) {
        let next = world.now + Duration::from_millis(10);
        assert!(next < Duration::from_secs(600), "it does not spread");
        world.run_until(next);
    }
    world.now - decided
}

/// When, in which order, to whom, and what: nothing to let it look at its clock.
type Event = (Duration, u64, usize, Option<Vec<u8>>);

struct World {
    agents: Vec<Agent>,
    beside: Vec<Vec<(u32, usize)>>,
    events: BinaryHeap<Reverse<Event>>,
    /// The clock is looked at then, at the latest.
    due: Vec<Duration>,
    now: Duration,
    count: u64,
    adopted: Vec<bool>,
}

fn address(at: usize) -> String {
    format!("10.0.{}.{}:7400", at / 250, 1 + at % 250)
}

fn place(address: &str) -> usize {
    let mut numbers = address
        .split(['.', ':'])
        .map(|part| part.parse::<usize>().unwrap_or(0));
    let high = numbers.nth(2).unwrap_or(0);
    250 * high + numbers.next().unwrap_or(1) - 1
}

fn settings(members: usize) -> Settings {
    let list: String = (0..members)
        .map(|at| {
            let address = address(at);
            let key = identity(at).public();
            format!(
                "[[ring.members]]\nname = \"n{at}\"\naddress = \"{address}\"\nkey = \"{key}\"\n"
            )
        })
        .collect();
    let text = format!(
        "[node]\nname = \"n0\"\nlisten = \"x:1\"\nstate_dir = \"x\"\n[api]\nsocket = \"x\"\n\
         [ring]\nname = \"spread\"\n{list}"
    );
    let sources = Sources {
        text,
        ..Sources::default()
    };
    Settings::read(&sources).expect("correct")
}

fn random() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
}

impl World {
    fn new(members: usize) -> World {
        let all = settings(members);
        let now = Duration::from_millis(1);
        let agent = |at: usize| {
            let mut settings = all.clone();
            settings.node.name = format!("n{at}");
            settings.node.listen = address(at);
            let setup = Setup {
                settings,
                identities: Identities::new(identity(at)),
                kept: Kept::default(),
                session: 1,
                epoch: Duration::from_secs(1_800_000_000),
                wire: 1,
                random,
            };
            Agent::new(now, setup)
        };
        let mut world = World {
            agents: (0..members).map(agent).collect(),
            beside: vec![Vec::new(); members],
            events: BinaryHeap::new(),
            due: vec![Duration::MAX; members],
            now,
            count: 0,
            adopted: vec![false; members],
        };
        (0..members).for_each(|at| world.carry_out(at));
        world
    }

    fn run_until(&mut self, end: Duration) {
        while let Some(Reverse((due, ..))) = self.events.peek()
            && *due <= end
        {
            let Some(Reverse((due, _, at, bytes))) = self.events.pop() else {
                break;
            };
            self.now = due;
            match bytes {
                Some(bytes) => self.agents[at].handle_datagram(due, &bytes),
                None => {
                    self.due[at] = Duration::MAX;
                    self.agents[at].handle_timeout(due);
                }
            }
            self.carry_out(at);
        }
        self.now = end;
    }

    fn request(&mut self, at: usize, request: Request) {
        self.agents[at].handle_request(self.now, 0, request);
        self.carry_out(at);
    }

    fn carry_out(&mut self, at: usize) {
        while let Some(effect) = self.agents[at].poll_effect() {
            match effect {
                Effect::KeepRoster(_) => {
                    let agent = &mut self.agents[at];
                    agent.handle_stored(self.now, Stored::Roster, Ok(()));
                    let roster = agent.roster();
                    self.adopted[at] |= roster.is_some_and(|roster| roster.version > 1);
                }
                Effect::Neighbours(beside) => {
                    let beside = beside.into_iter();
                    self.beside[at] = beside
                        .map(|member| (member.node, place(&member.address)))
                        .collect();
                }
                Effect::Send(Destination::Address(address), bytes) => {
                    self.send(place(&address), bytes);
                }
                Effect::Send(Destination::Neighbour(node), bytes) => {
                    let beside = self.beside[at].iter().find(|(beside, _)| *beside == node);
                    let (_, to) = *beside.expect("told before");
                    self.send(to, bytes);
                }
                _ => {}
            }
        }
        let due = self.agents[at].poll_timeout().max(self.now);
        if due < self.due[at] {
            self.due[at] = due;
            self.push(due, at, None);
        }
    }

    fn send(&mut self, to: usize, bytes: Vec<u8>) {
        let late = 50 + (random() >> 32) % 450;
        self.push(self.now + Duration::from_micros(late), to, Some(bytes));
    }

    fn push(&mut self, due: Duration, to: usize, bytes: Option<Vec<u8>>) {
        self.count += 1;
        self.events.push(Reverse((due, self.count, to, bytes)));
    }
}
