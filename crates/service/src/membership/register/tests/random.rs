//! Random schedules of up to seven voters among nine nodes: whoever is there campaigns, what is told
//! is late, lost or repeated, links are cut, disks fill up, nodes crash and lose their disks, and
//! memberships follow each other. A version is one membership; and when all are there again, the
//! next one is decided.

use std::collections::BTreeMap;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use headway_testkit::tier::pick;

use super::*;

const NODES: usize = 9;

struct World {
    random: ChaCha8Rng,
    nodes: Vec<Register<Toy>>,
    /// What each disk has.
    disks: Vec<(Storage, Toy, Vote<Change>)>,
    flying: Vec<(usize, Packet)>,
    /// Every membership that there is a proof of, by version.
    proved: BTreeMap<u8, Toy>,
    /// Which change makes which membership.
    made: BTreeMap<(u8, u64), Toy>,
    counts: BTreeMap<(u8, u64), Count<(u8, u64), ()>>,
    cut: BTreeSet<(usize, usize)>,
    drawn: Storage,
    flaw: Flaw,
}

/// What happened in schedules.
#[derive(Default)]
struct Tally {
    versions: u64,
    crashes: u64,
    losses: u64,
}

impl World {
    fn new(seed: u64, flaw: Flaw) -> World {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let toy = Toy::first(3 + (random.next_u64() % 5) as usize);
        let nodes = (0..NODES).map(|node| voter(&toy, node as u64 + 1));
        let disk = |node| (node as u64 + 1, toy.clone(), Vote::default());
        World {
            random,
            nodes: nodes.collect(),
            disks: (0..NODES).map(disk).collect(),
            flying: Vec::new(),
            proved: BTreeMap::from([(1, toy.clone())]),
            made: BTreeMap::new(),
            counts: BTreeMap::new(),
            cut: BTreeSet::new(),
            drawn: 1_000,
            flaw,
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.random.next_u64() % limit as u64) as usize
    }

    /// Some change that the membership of a node allows.
    fn wanted(&mut self, at: usize) -> Change {
        let toy = self.nodes[at].electorate.clone();
        let unlisted = |(node, storage): &&(usize, Storage)| self.disks[*node].0 != *storage;
        let unlisted = toy.voters.iter().find(unlisted).map(|(node, _)| *node);
        let outside = (0..NODES).find(|node| toy.place(*node).is_none());
        let somebody = toy.voters[self.below(toy.voters.len())].0;
        match (self.below(3), unlisted, outside) {
            (0 | 1, Some(node), _) => Change::Storage(node, self.disks[node].0),
            (0, None, Some(node)) => Change::Swap(somebody, node, self.disks[node].0),
            (other, ..) => Change::Other(other as u8),
        }
    }

    /// Lets a node do something, writes to its disk, and sends what it tells. Now and then it
    /// crashes in the middle of that, or the disk is full.
    fn act(&mut self, at: usize, trouble: bool, act: impl FnOnce(&mut Register<Toy>)) {
        act(&mut self.nodes[at]);
        while let Some(output) = self.nodes[at].poll() {
            let slot = self.nodes[at].electorate.slot;
            let message = match output {
                Output::Keep => {
                    let full = trouble && self.below(50) == 0;
                    if !full {
                        let node = &self.nodes[at];
                        self.disks[at] = (node.storage, node.electorate.clone(), node.vote.clone());
                    }
                    self.nodes[at].handle_kept(!full);
                    continue;
                }
                Output::Send(place, message) => {
                    let to = self.nodes[at].electorate.voters[place].0;
                    self.send(at, to, slot, message);
                    continue;
                }
                Output::Broadcast(message) => message,
                Output::Vote { ballot, next } => {
                    self.vote(at, slot, ballot, next);
                    continue;
                }
            };
            for (to, _) in self.nodes[at].electorate.voters.clone() {
                self.send(at, to, slot, message.clone());
            }
        }
    }

    fn send(&mut self, from: usize, to: usize, slot: (u8, u64), message: MessageOf<Toy>) {
        let to_it = Some(to);
        let packet = Packet {
            from,
            to: to_it,
            slot,
            message,
        };
        if to != from {
            self.flying.push((to, packet));
        }
    }

    /// All signatures are counted where somebody may see them all.
    fn vote(&mut self, from: usize, slot: (u8, u64), ballot: Ballot, next: (u8, u64)) {
        let node = &self.nodes[from];
        let change = node.vote.accepted.map(|(_, change)| change);
        let toy = node.electorate.clone();
        let made = change.and_then(|change| toy.after(change));
        self.made.extend(made.map(|made| (made.slot, made)));
        let ballot = match self.flaw {
            Flaw::NoBallot => Ballot::default(),
            _ => ballot,
        };
        let place = toy.place(from).expect("it votes");
        let count = self.counts.entry(slot).or_default();
        if count
            .add(place, (ballot, next), (), toy.voters.len())
            .is_some()
        {
            let made = self.made[&next].clone();
            let known = self.proved.entry(next.0).or_insert_with(|| made.clone());
            assert_eq!(*known, made, "two memberships of version {}", next.0);
        }
    }

    fn deliver(&mut self, number: usize, trouble: bool) {
        let (to, packet) = self.flying.swap_remove(number);
        if trouble && self.below(20) == 0 {
            self.flying.push((to, packet.clone()));
        }
        let apart = self
            .cut
            .contains(&(packet.from.min(to), packet.from.max(to)));
        let Some(from) = self.nodes[to].electorate.place(packet.from) else {
            return;
        };
        if !apart && (!trouble || self.below(10) > 0) {
            self.act(to, trouble, |node| {
                node.handle(from, packet.slot, packet.message);
            });
        }
    }

    fn learn(&mut self, at: usize, version: u8, trouble: bool) {
        if let Some(toy) = self.proved.get(&version).cloned()
            && version > self.nodes[at].electorate.slot.0
        {
            self.act(at, trouble, |node| node.adopt(toy));
        }
    }

    fn start(&mut self, at: usize) {
        let (storage, toy, vote) = self.disks[at].clone();
        self.nodes[at] = Register::new(toy, storage, vote);
        self.nodes[at].make_sure();
    }

    fn lose(&mut self, at: usize) {
        self.drawn += 1;
        let storage = match self.flaw {
            Flaw::LostDiskVotes => self.disks[at].0,
            _ => self.drawn,
        };
        self.disks[at] = (storage, self.proved[&1].clone(), Vote::default());
        self.start(at);
    }

    fn campaign(&mut self, at: usize, trouble: bool) {
        let wanted = Some(self.wanted(at));
        self.act(at, trouble, |node| {
            node.campaign(wanted);
        });
    }

    /// Anything may happen.
    fn disturb(&mut self, steps: usize, tally: &mut Tally) {
        // While fewer than half have lost their disks, there is a majority that can vote.
        let mut losses = 2;
        for _ in 0..steps {
            let at = self.below(NODES);
            match self.below(100) {
                0..8 => self.campaign(at, true),
                8..12 => {
                    let version = self.below(10) as u8;
                    self.learn(at, version, true);
                }
                12..15 => {
                    tally.crashes += 1;
                    self.start(at);
                }
                15 if losses > 0 && self.below(4) == 0 => {
                    losses -= 1;
                    tally.losses += 1;
                    self.lose(at);
                }
                16 => {
                    let other = self.below(NODES);
                    self.cut.insert((at.min(other), at.max(other)));
                }
                17 => self.cut.clear(),
                _ if self.flying.is_empty() => {}
                _ => {
                    let number = self.below(self.flying.len());
                    self.deliver(number, true);
                }
            }
        }
    }

    /// All are there: everybody learns of the latest membership, and whoever may decides on the
    /// next. Whether that comes to be.
    fn heals(&mut self) -> bool {
        self.cut.clear();
        let last = *self.proved.keys().last().expect("the first one");
        for _ in 0..60 {
            for at in 0..NODES {
                self.act(at, false, Register::touch);
                let version = *self.proved.keys().last().expect("the first one");
                self.learn(at, version, false);
            }
            let at = self.below(NODES);
            self.campaign(at, false);
            while !self.flying.is_empty() {
                self.deliver(0, false);
            }
            if self.proved.keys().last() > Some(&last) {
                return true;
            }
        }
        false
    }
}

/// Whether enough voters of the latest membership have a disk that it lists.
fn can_decide(world: &World) -> bool {
    let latest = world.proved.values().next_back().expect("the first one");
    let listed = |(node, storage): &&(usize, Storage)| world.disks[*node].0 == *storage;
    2 * latest.voters.iter().filter(listed).count() > latest.voters.len()
}

fn schedule(seed: u64, flaw: Flaw, tally: &mut Tally) {
    let mut world = World::new(seed, flaw);
    for _ in 0..2 {
        world.disturb(300, tally);
        let can = can_decide(&world);
        assert!(world.heals() || !can, "seed {seed}: nothing is decided");
    }
    tally.versions += world.proved.len() as u64 - 1;
}

#[test]
fn a_version_is_one_membership_in_random_schedules() {
    let mut tally = Tally::default();
    let seeds = pick(300, 100_000, 1_000_000);
    for seed in 0..seeds {
        schedule(seed, Flaw::None, &mut tally);
    }
    let Tally {
        versions,
        crashes,
        losses,
    } = tally;
    println!("{seeds} schedules, {versions} versions, {crashes} crashes, {losses} disks lost");
    assert!(versions > 2 * seeds && losses > 0);
}

#[test]
fn a_lost_disk_that_votes_is_noticed_in_random_schedules() {
    let fails = |seed: &u64| {
        let run = || schedule(*seed, Flaw::LostDiskVotes, &mut Tally::default());
        std::panic::catch_unwind(run).is_err()
    };
    let first = (0..20_000).find(fails);
    println!("noticed by schedule {first:?}");
    assert!(first.is_some());
}
