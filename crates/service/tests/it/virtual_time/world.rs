//! The hosts and the network between them, all a function of a seed.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use headway_service::config::{Settings, Sources};
use headway_service::identity::{Identities, Identity, NodeKey};
use headway_service::internal::roster::{Mark, Roster};
use headway_service::internal::{
    Agent, Answer, Destination, Effect, Grant, Kept, Outcome, Request, Setup, Status, Stored,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(crate) const NODES: usize = 6;

/// Datagrams that wait for a node that is paused.
pub(crate) const SOCKET: usize = 200;

pub(crate) struct Host {
    pub(crate) settings: Settings,
    pub(crate) agent: Option<Agent>,
    /// Its disk.
    pub(crate) kept: Kept,
    /// Its key pairs, on its disk.
    pub(crate) identities: Identities,
    /// Where it was told its neighbours are.
    pub(crate) beside: Vec<(u32, String)>,
    /// The newest version of the wire format that its program speaks.
    pub(crate) wire: u8,
    /// The command that runs, when it ends, and the version of the roster that it began under.
    pub(crate) command: Option<(Grant, Duration, u64)>,
    /// One that has ended, and its node does not know it yet.
    pub(crate) ended: Option<Grant>,
    /// It has begun no command since it was started.
    pub(crate) restarted: bool,
    /// What has come while it was paused.
    pub(crate) paused: Option<Vec<Vec<u8>>>,
    /// How often something was to be written to its disk, and which of these writes find no room,
    /// if they are not of the state, for which room is taken beforehand.
    pub(crate) writes: u64,
    pub(crate) full: Range<u64>,
    /// Until when somebody from outside has a permit, and the version of the roster by then.
    pub(crate) lent: Option<(Duration, u64)>,
    /// The number of its last run.
    pub(crate) ran: u64,
    pub(crate) runs: u64,
    /// When its agent has something to do next, if nothing comes.
    pub(crate) due: Duration,
}

/// When it arrives, its number, to whom, and what.
pub(crate) type Datagram = (Duration, u64, usize, Vec<u8>);

pub(crate) struct World {
    pub(crate) seed: u64,
    /// Whether it says what happens.
    pub(crate) told: bool,
    pub(crate) random: ChaCha8Rng,
    pub(crate) hosts: Vec<Host>,
    pub(crate) now: Duration,
    pub(crate) flying: BinaryHeap<Reverse<Datagram>>,
    pub(crate) count: u64,
    /// Of all that was sent, by whom and when.
    pub(crate) trace: Sha256,
    pub(crate) loss: u64,
    /// Pairs that cannot reach each other.
    pub(crate) cut: Vec<(usize, usize)>,
    /// Who is killed, and after how many more effects.
    pub(crate) killed: Option<(usize, u64)>,
    /// An error that this test has to find: commands are taken for ended when a roster comes.
    pub(crate) no_drain: bool,
    /// An error that this test has to find: nobody is told that a disk is full.
    pub(crate) forgets: bool,
    /// An error that this test has to find: whoever is asked before a
    /// permit is used answers with the roster of whoever asks. By the question's number, that.
    pub(crate) echoes: Option<BTreeMap<u64, Mark>>,
    /// An error that this test has to find: whoever cannot be reached is said to have agreed.
    pub(crate) says_yes: bool,
    /// No voter's disk was restored yet.
    pub(crate) intact: bool,
    /// Every roster that there was, by its version.
    pub(crate) rosters: BTreeMap<u64, Roster>,
    /// The last fencing number of each token that a command began with, and where.
    pub(crate) fences: BTreeMap<u32, (u64, usize)>,
    /// How often two commands ran together, as they may.
    pub(crate) together: u64,
    /// How often a command was told to end.
    pub(crate) stops: u64,
    /// How long a command takes at most.
    pub(crate) work: u64,
    pub(crate) runs_of_rotation: u8,
    /// How often somebody had to do what an alarm asks for.
    pub(crate) heeded: u32,
    /// What nodes have answered, by the question's number.
    replies: BTreeMap<u64, Result<Answer, String>>,
    asked: u64,
}

pub(crate) fn newest(identities: &Identities) -> NodeKey {
    identities.list().last().expect("it has one").public()
}

pub(crate) fn address(at: usize) -> String {
    format!("10.0.0.{}:7400", at + 1)
}

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The key pairs that a node begins with.
pub(crate) fn identity(at: usize) -> Identity {
    Identity::new(&[at as u8 + 1; 64])
}

/// Its public part, made once for all worlds.
fn first_key(at: usize) -> NodeKey {
    static KEYS: OnceLock<Vec<NodeKey>> = OnceLock::new();
    KEYS.get_or_init(|| (0..NODES).map(|at| identity(at).public()).collect())[at]
}

/// A node's file.
pub(crate) fn settings(at: usize, members: usize) -> Settings {
    let list: String = (0..members)
        .map(|at| {
            format!(
                "[[ring.members]]\nname = \"n{at}\"\naddress = \"{}\"\nkey = \"{}\"\n",
                address(at),
                first_key(at)
            )
        })
        .collect();
    let text = format!(
        "[node]\nname = \"n{at}\"\nlisten = \"{0}\"\nadvertise = \"{0}\"\nstate_dir = \"x\"\n\
         [timing]\ntick = \"2ms\"\nrefresh = \"20ms\"\nheartbeat_timeout = \"150ms\"\nmax_hold = \"300ms\"\nstop_timeout = \"100ms\"\n\
         [membership]\nbypass_after = \"200ms\"\nwindow = \"150ms\"\n\
         [command]\nrun = [\"x\"]\nwhen = \"every\"\n[api]\nsocket = \"x\"\n\
         [ring]\nname = \"virtual\"\n{list}",
        address(at)
    );
    let read = Settings::read(&Sources {
        text,
        ..Sources::default()
    });
    read.unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

impl World {
    pub(crate) fn new(seed: u64, members: usize) -> World {
        let hosts = (0..NODES).map(|at| Host {
            settings: settings(at, members),
            agent: None,
            kept: Kept::default(),
            identities: Identities::new(identity(at)),
            beside: Vec::new(),
            wire: 1,
            command: None,
            ended: None,
            restarted: true,
            paused: None,
            writes: 0,
            full: 0..0,
            lent: None,
            ran: 0,
            runs: 0,
            due: Duration::ZERO,
        });
        NEXT.set(1);
        let first = settings(0, members).first_roster().expect("members");
        let mut world = World {
            seed,
            told: false,
            random: ChaCha8Rng::seed_from_u64(seed),
            hosts: hosts.collect(),
            now: ms(1),
            flying: BinaryHeap::new(),
            count: 0,
            trace: Sha256::new(),
            loss: 0,
            cut: Vec::new(),
            killed: None,
            no_drain: false,
            forgets: false,
            echoes: None,
            says_yes: false,
            intact: true,
            rosters: [(1, first)].into(),
            fences: BTreeMap::new(),
            together: 0,
            stops: 0,
            work: 80,
            runs_of_rotation: 0,
            heeded: 0,
            replies: BTreeMap::new(),
            asked: 0,
        };
        for at in 0..members {
            world.start(at);
        }
        world
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    pub(crate) fn start(&mut self, at: usize) {
        if self.hosts[at].agent.is_some() {
            return;
        }
        let host = &mut self.hosts[at];
        // A node that starts ends the command that it left behind, if it knows of it.
        if !self.forgets || host.kept.notes.run.is_some_and(|run| run.id == host.ran) {
            host.command = None;
        }
        (host.ended, host.paused) = (None, None);
        host.restarted = true;
        let setup = Setup {
            settings: host.settings.clone(),
            identities: host.identities.clone(),
            kept: host.kept.clone(),
            session: 1,
            epoch: Duration::from_secs(1_800_000_000),
            wire: host.wire,
            random,
        };
        host.agent = Some(Agent::new(self.now, setup));
        host.due = Duration::ZERO;
    }

    /// As by `kill -9`: its command runs on.
    pub(crate) fn kill(&mut self, at: usize) {
        self.hosts[at].agent = None;
    }

    /// As by SIGSTOP: datagrams wait in its socket, its command runs on.
    pub(crate) fn pause(&mut self, at: usize) {
        if self.hosts[at].agent.is_some() {
            self.hosts[at].paused.get_or_insert_default();
        }
    }

    pub(crate) fn resume(&mut self, at: usize) {
        for bytes in self.hosts[at].paused.take().into_iter().flatten() {
            self.deliver(at, bytes);
        }
    }

    pub(crate) fn deliver(&mut self, to: usize, bytes: Vec<u8>) {
        let (now, host) = (self.now, &mut self.hosts[to]);
        match (&mut host.paused, &mut host.agent) {
            (Some(waiting), _) if waiting.len() < SOCKET => waiting.push(bytes),
            (None, Some(agent)) => {
                agent.handle_datagram(now, &bytes);
                host.due = Duration::ZERO;
                // As the service does: what begins, begins under the roster that there is.
                self.turn(to);
            }
            _ => {}
        }
    }

    /// Wants something of a node; what it answers does not matter.
    pub(crate) fn request(&mut self, at: usize, request: Request) {
        self.request_as(0, at, request);
    }

    pub(crate) fn request_as(&mut self, id: u64, at: usize, request: Request) {
        let (now, host) = (self.now, &mut self.hosts[at]);
        if let Request::Unlock { .. } = request {
            host.lent = None;
        }
        if let Some(agent) = &mut host.agent {
            agent.handle_request(now, id, request);
            host.due = Duration::ZERO;
            self.carry_out_all(at);
        }
    }

    /// Wants something of a node, and waits for the answer.
    pub(crate) fn ask(&mut self, at: usize, request: Request) -> Result<Answer, String> {
        self.asked += 1;
        let id = self.asked;
        self.request_as(id, at, request);
        for _ in 0..60_000 {
            if let Some(reply) = self.replies.remove(&id) {
                return reply;
            }
            self.run_for(ms(1));
        }
        panic!("seed {}: n{at} does not answer", self.seed);
    }

    /// Wants a change of the roster, and says what came of it.
    pub(crate) fn change(&mut self, at: usize, request: Request) -> Result<Value, String> {
        self.ask(at, request).map(|answer| match answer {
            Answer::Changed(changed) => serde_json::to_value(changed).expect("JSON"),
            other => panic!("seed {}: {other:?}", self.seed),
        })
    }

    /// Lets time pass until something is so.
    pub(crate) fn until(&mut self, what: &str, done: impl Fn(&World) -> bool) {
        for _ in 0..600 {
            if done(self) {
                return;
            }
            self.run_for(ms(100));
        }
        for at in 0..NODES {
            eprintln!("{:?}", self.status(at));
        }
        panic!("seed {}: in vain: {what}", self.seed);
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += ms(1);
            while let Some(Reverse((due, _, to, bytes))) = self.flying.pop() {
                if due > self.now {
                    self.flying.push(Reverse((due, 0, to, bytes)));
                    break;
                }
                self.deliver(to, bytes);
            }
            for at in 0..self.hosts.len() {
                let host = &mut self.hosts[at];
                if let Some((grant, until, _)) = host.command
                    && self.now >= until
                {
                    (host.command, host.ended) = (None, Some(grant));
                }
                if host.lent.is_some_and(|(until, _)| self.now >= until) {
                    host.lent = None;
                }
                if host.paused.is_none() {
                    self.turn(at);
                }
            }
        }
    }

    pub(crate) fn runs(&self, at: usize) -> bool {
        self.hosts[at].agent.is_some() && self.hosts[at].paused.is_none()
    }

    pub(crate) fn apart(&self, one: usize, other: usize) -> bool {
        self.cut.contains(&(one, other)) || self.cut.contains(&(other, one))
    }

    /// Nobody of these reaches anybody else.
    pub(crate) fn part(&mut self, side: &[usize]) {
        let others = (0..NODES).filter(|other| !side.contains(other));
        let pairs = others.flat_map(|other| side.iter().map(move |one| (*one, other)));
        self.cut = pairs.collect();
    }

    pub(crate) fn turn(&mut self, at: usize) {
        let now = self.now;
        if let Some(grant) = self.hosts[at].ended.take() {
            let ended = Request::CommandEnded {
                grant,
                outcome: Outcome::Succeeded,
                took: ms(1),
            };
            self.request(at, ended);
        }
        let host = &mut self.hosts[at];
        if now < host.due {
            return;
        }
        if let Some(agent) = &mut host.agent
            && now >= agent.poll_timeout()
        {
            agent.handle_timeout(now);
        }
        self.carry_out_all(at);
        let host = &mut self.hosts[at];
        let agent = host.agent.as_ref();
        host.due = agent.map_or(Duration::MAX, Agent::poll_timeout);
    }

    pub(crate) fn carry_out_all(&mut self, at: usize) {
        let mut told = false;
        while let Some(effect) = self.hosts[at].agent.as_mut().and_then(Agent::poll_effect) {
            // The state is kept before a neighbour is told of it.
            told |= matches!(effect, Effect::Send(Destination::Neighbour(_), _));
            let late = told && matches!(effect, Effect::KeepState(_));
            assert!(!late, "seed {}: told and then kept", self.seed);
            self.carry_out(at, effect);
            if let Some((who, left)) = &mut self.killed
                && *who == at
            {
                *left -= 1;
                if *left == 0 {
                    self.killed = None;
                    self.kill(at);
                }
            }
        }
    }

    pub(crate) fn carry_out(&mut self, at: usize, effect: Effect) {
        let host = &mut self.hosts[at];
        match effect {
            Effect::KeepState(state) => {
                self.keep(at, Stored::State, |host| host.kept.state = Some(state));
            }
            Effect::KeepRoster(roster) => {
                self.keep(at, Stored::Roster, |host| host.kept.roster = Some(roster));
                let host = &mut self.hosts[at];
                if let Some((grant, ..)) = host.command.filter(|_| self.no_drain) {
                    host.ended = Some(grant);
                }
                self.see(at);
            }
            Effect::KeepNotes(notes) => {
                self.keep(at, Stored::Notes, |host| host.kept.notes = notes);
            }
            Effect::KeepIdentity(identities) => {
                self.keep(at, Stored::Identity, |host| {
                    host.identities = identities;
                });
            }
            Effect::Neighbours(beside) => {
                let beside = beside.into_iter();
                host.beside = beside.map(|member| (member.node, member.address)).collect();
            }
            Effect::Send(Destination::Address(address), bytes) => self.send(at, &address, &bytes),
            Effect::Send(Destination::Neighbour(node), bytes) => {
                let known = host.beside.iter().find(|(beside, _)| *beside == node);
                let (_, address) = known.expect("told before").clone();
                self.send(at, &address, &bytes);
            }
            Effect::StartCommand(permit) => self.begin(at, permit.grant, permit.run),
            Effect::StopCommand(grant) => {
                self.stops += 1;
                // It takes nearly all of the stop timeout.
                let late = self.now + ms(self.below(75));
                if let Some((runs, until, _)) = &mut self.hosts[at].command
                    && *runs == grant
                {
                    *until = (*until).min(late);
                }
            }
            Effect::Reply(id, reply) if id > 0 => {
                match &reply {
                    Ok(Answer::Permit(given)) => self.lend_out(at, given.lease),
                    Ok(Answer::Locked(_)) => {
                        // It may have come late for it.
                        let used = self
                            .status(at)
                            .into_iter()
                            .flat_map(|status| status.holding);
                        let used = ms(used.map(|holding| holding.since_ms).max().unwrap_or(0));
                        let longest = self.hosts[at].settings.timing.max_hold;
                        self.lend_out(at, longest.saturating_sub(used));
                    }
                    Ok(Answer::Lasts(lasts)) => {
                        if let Some((until, _)) = &mut host.lent {
                            *until = self.now + *lasts;
                        }
                    }
                    Ok(Answer::Released) => host.lent = None,
                    _ => {}
                }
                let reply = reply.map_err(|why| why.to_string());
                self.replies.insert(id, reply);
            }
            Effect::KeepRollouts(bytes) => host.kept.rollouts = bytes,
            Effect::Reply(..) => {}
        }
    }

    pub(crate) fn send(&mut self, from: usize, address: &str, bytes: &[u8]) {
        let host = address.split(['.', ':']).nth(3);
        let to = host.and_then(|host| host.parse().ok()).unwrap_or(1) - 1;
        let parted = self.apart(from, to);
        if parted || !self.runs(to) {
            self.say_yes(from, to, bytes);
        }
        if self.is_missed(from, to, bytes) {
            return;
        }
        let echo = self.echo(from, to, bytes);
        let bytes = echo.as_deref().unwrap_or(bytes);
        self.trace.update(self.now.as_nanos().to_be_bytes());
        self.trace.update([from as u8, to as u8]);
        self.trace.update(bytes);
        for _ in 0..1 + u64::from(self.below(20) == 0) {
            if self.below(100) >= self.loss && !parted {
                let due = self.now + ms(self.below(8));
                self.count += 1;
                self.flying
                    .push(Reverse((due, self.count, to, bytes.to_vec())));
            }
        }
    }

    /// Writes to a host's disk, and tells its node whether there was room.
    fn keep(&mut self, at: usize, what: Stored, put: impl FnOnce(&mut Host)) {
        let host = &mut self.hosts[at];
        host.writes += 1;
        let full = what != Stored::State && host.full.contains(&host.writes);
        if !full {
            put(host);
        }
        let result = match full && !self.forgets {
            true => Err("no room".into()),
            false => Ok(()),
        };
        if let Some(agent) = &mut host.agent {
            agent.handle_stored(self.now, what, result);
        }
    }

    /// Nobody near works while somebody begins at a host. The version of its roster.
    fn begins(&mut self, at: usize) -> u64 {
        let agent = self.hosts[at].agent.as_ref();
        let roster = agent.and_then(Agent::roster);
        let version = roster.expect("it takes part").ring_version();
        for (other, host) in self.hosts.iter().enumerate() {
            let lent = host.lent.map(|(_, under)| under);
            let works = host.command.map(|(.., under)| under).into_iter();
            for under in works.chain(lent) {
                let apart = under == version && self.apart_enough(version, at, other);
                assert!(
                    apart,
                    "seed {}: n{at} begins by membership {version} while n{other} works: {:?}, {:?}, at \
                     {:?}",
                    self.seed, host.command, host.lent, self.now
                );
                self.together += 1;
            }
        }
        version
    }

    /// Somebody from outside has a permit for so long.
    fn lend_out(&mut self, at: usize, time: Duration) {
        let version = self.begins(at);
        self.hosts[at].lent = Some((self.now + time, version));
    }

    pub(crate) fn begin(&mut self, at: usize, grant: Grant, run: u64) {
        let version = self.begins(at);
        // A node that was killed runs its command again under the same number.
        let again = std::mem::take(&mut self.hosts[at].restarted);
        let last = self.fences.insert(grant.token, (grant.fence, at));
        assert!(
            last.is_none_or(
                |(fence, by)| fence < grant.fence || again && (fence, by) == (grant.fence, at)
            ),
            "seed {}: n{at} begins under {grant:?} after {last:?}, at {:?}",
            self.seed,
            self.now
        );
        // Noted before it begins, so that a node that is killed now knows what to end.
        let noted = self.hosts[at].kept.notes.run.map(|run| run.id);
        assert!(self.forgets || noted == Some(run), "seed {}", self.seed);
        self.hosts[at].ran = run;
        let work = self.below(self.work);
        if self.told {
            println!("{:?}: n{at} begins under {grant:?} for {work} ms", self.now);
        }
        self.hosts[at].command = Some((grant, self.now + ms(work), version));
        self.hosts[at].runs += 1;
    }

    /// Whether two members are as far from each other as a roster says.
    pub(crate) fn apart_enough(&self, version: u64, one: usize, other: usize) -> bool {
        let Some(roster) = self.rosters.get(&version) else {
            return false;
        };
        let place = |at: usize| roster.index(&format!("n{at}"));
        let (Some(one), Some(other)) = (place(one), place(other)) else {
            return false;
        };
        let (far, all) = (one.abs_diff(other), roster.active().count());
        far.min(all - far) >= roster.terms.separation as usize && roster.tokens() > 1
    }

    /// The latest roster that anybody acts by.
    pub(crate) fn latest(&self) -> &Roster {
        self.rosters.values().next_back().expect("the first one")
    }

    /// A version is one roster, whoever acts by it.
    fn see(&mut self, at: usize) {
        let agent = self.hosts[at].agent.as_ref();
        let roster = agent.and_then(Agent::roster).cloned();
        // What a file lists was not decided.
        if let Some(roster) = roster.filter(|roster| roster.version > 1) {
            let known = self.rosters.entry(roster.version);
            let known = known.or_insert_with(|| roster.clone());
            assert_eq!(*known, roster, "seed {}: two of one version", self.seed);
        }
    }

    pub(crate) fn status(&self, at: usize) -> Option<Status> {
        self.hosts[at]
            .agent
            .as_ref()
            .map(|agent| agent.status(self.now))
    }
}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(1) };
}

/// Never the same twice in a world is all that matters here.
pub(crate) fn random() -> u64 {
    NEXT.replace(NEXT.get().wrapping_add(0x9E37_79B9_7F4A_7C15))
}
