//! All states of small instances, breadth first. What was sent stays there, so it may be lost,
//! repeated and late; voters restart at any time, and lose their disks.
//!
//! A flaw in how votes are counted needs four ballots before it does any harm. Three find nothing.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashSet};
use std::hash::{Hash, Hasher};

use headway_testkit::tier::{Tier, pick, tier};

use super::*;

/// What can happen in an instance.
#[derive(Clone, Copy, Debug)]
struct Instance {
    nodes: usize,
    voters: usize,
    ballots: u64,
    /// Disks that are lost, or restored where that is the flaw.
    losses: u64,
    /// The last version that anybody campaigns in.
    versions: u8,
    restarts: bool,
    /// The first node wants the last one to vote instead of the one before it.
    swap: bool,
    flaw: Flaw,
}

const TWO: Instance = Instance {
    nodes: 2,
    voters: 2,
    ballots: 4,
    losses: 1,
    versions: 1,
    restarts: true,
    swap: false,
    flaw: Flaw::None,
};

const THREE: Instance = Instance {
    nodes: 3,
    voters: 3,
    ballots: 2,
    losses: 0,
    ..TWO
};

const SWAP: Instance = Instance {
    nodes: 3,
    ballots: 3,
    versions: 2,
    swap: true,
    ..TWO
};

#[derive(Clone)]
struct State {
    nodes: Vec<Register<Toy>>,
    /// What its disk was when a node was started, for one that is restored.
    old: Vec<(Toy, Vote<Change>)>,
    sent: BTreeSet<Packet>,
    /// Memberships that there is a proof of.
    proved: BTreeSet<Toy>,
    ballots: u64,
    losses: u64,
}

impl State {
    fn first(instance: &Instance) -> State {
        let toy = Toy::first(instance.voters);
        let nodes = (0..instance.nodes).map(|node| voter(&toy, node as u64 + 1));
        State {
            nodes: nodes.collect(),
            old: vec![(toy.clone(), Vote::default()); instance.nodes],
            sent: BTreeSet::new(),
            proved: BTreeSet::from([toy]),
            ballots: 0,
            losses: 0,
        }
    }

    fn key(&self, instance: &Instance) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (node, old) in self.nodes.iter().zip(&self.old) {
            let Register { storage, vote, .. } = node;
            let (slot, campaign) = (node.electorate.slot, &node.campaign);
            let old = (instance.flaw == Flaw::PutBack).then_some(old);
            (storage, vote, slot, campaign, old).hash(&mut hasher);
        }
        (&self.sent, self.ballots, self.losses).hash(&mut hasher);
        hasher.finish()
    }

    /// Lets a node do something, and puts what it tells where all can find it. Nothing if nothing
    /// comes of it.
    fn with(&self, at: usize, act: impl FnOnce(&mut Register<Toy>)) -> Option<State> {
        let mut node = self.nodes[at].clone();
        act(&mut node);
        let mut told = packets(at, &mut node);
        // A rejection makes nobody accept anything.
        told.retain(|packet| !matches!(packet.message, Message::Rejected { .. }));
        told.retain(|packet| !self.sent.contains(packet));
        let before = &self.nodes[at];
        let same = (&node.vote, &node.campaign) == (&before.vote, &before.campaign);
        if same && told.is_empty() && node.electorate == before.electorate {
            return None;
        }
        let mut next = self.clone();
        next.nodes[at] = node;
        next.sent.extend(told);
        Some(next)
    }

    /// Everything that may happen next.
    fn successors(&self, instance: &Instance, each: &mut impl FnMut(State)) {
        for at in 0..self.nodes.len() {
            self.campaign(instance, at, each);
            self.receive(instance, at, each);
            for later in &self.proved {
                if later.slot.0 > self.nodes[at].electorate.slot.0 {
                    let adopted = self.with(at, |node| node.adopt(later.clone()));
                    adopted.into_iter().for_each(&mut *each);
                }
            }
            self.restart(instance, at, each);
        }
    }

    fn campaign(&self, instance: &Instance, at: usize, each: &mut impl FnMut(State)) {
        let node = &self.nodes[at];
        let version = node.electorate.slot.0;
        if self.ballots == instance.ballots || version > instance.versions || !node.may_vote() {
            return;
        }
        let last = instance.nodes - 1;
        let wanted = match version {
            1 if instance.swap && at == 0 => Change::Swap(last - 1, last, last as u64 + 1),
            _ => Change::Other(at as u8),
        };
        let campaigns = |node: &mut Register<Toy>| assert!(node.campaign(Some(wanted)));
        if let Some(mut next) = self.with(at, campaigns) {
            next.ballots += 1;
            each(next);
        }
    }

    fn receive(&self, instance: &Instance, at: usize, each: &mut impl FnMut(State)) {
        let toy = &self.nodes[at].electorate;
        for packet in &self.sent {
            let to_it = packet.to.is_none_or(|to| to == at) && packet.from != at;
            // Votes are counted for everybody at once.
            let counted = matches!(packet.message, Message::Accepted { .. });
            let Some(from) = toy.place(packet.from) else {
                continue;
            };
            if !to_it || counted || packet.slot != toy.slot {
                continue;
            }
            let mut message = packet.message.clone();
            if let (Flaw::OwnValue, Message::Promise { accepted, .. }) =
                (instance.flaw, &mut message)
            {
                *accepted = None;
            }
            let heard = self.with(at, |node| node.handle(from, packet.slot, message));
            heard.into_iter().for_each(&mut *each);
        }
    }

    fn restart(&self, instance: &Instance, at: usize, each: &mut impl FnMut(State)) {
        let Register {
            storage,
            vote,
            electorate,
            campaign,
            ..
        } = &self.nodes[at];
        let forgets = [Flaw::ForgetsAccepted, Flaw::ForgetsPromised];
        if instance.restarts && (campaign.is_some() || forgets.contains(&instance.flaw)) {
            let mut vote = vote.clone();
            match instance.flaw {
                Flaw::ForgetsAccepted => vote.accepted = None,
                Flaw::ForgetsPromised => vote.promised = Ballot::default(),
                _ => {}
            }
            each(self.started(at, electorate.clone(), *storage, vote));
        }
        if self.losses < instance.losses {
            let (toy, vote) = match instance.flaw {
                Flaw::PutBack => self.old[at].clone(),
                _ => (Toy::first(instance.voters), Vote::default()),
            };
            let storage = match instance.flaw {
                Flaw::PutBack | Flaw::LostDiskVotes => *storage,
                _ => 100 * (self.losses + 1) + at as u64,
            };
            let mut next = self.started(at, toy, storage, vote);
            next.losses += 1;
            each(next);
        }
    }

    fn started(&self, at: usize, toy: Toy, storage: Storage, vote: Vote<Change>) -> State {
        let mut next = self.clone();
        next.old[at] = (toy.clone(), vote.clone());
        next.nodes[at] = Register::new(toy, storage, vote);
        next.nodes[at].make_sure();
        next
    }

    /// Adds what is decided by now. Whether no version is two.
    fn is_right(&mut self, flaw: Flaw) -> bool {
        let votes: Vec<_> = (self.sent.iter())
            .filter_map(|packet| match packet.message {
                Message::Accepted { ballot, next } => {
                    Some((packet.from, packet.slot, ballot, next))
                }
                _ => None,
            })
            .collect();
        let asked = self.sent.iter().filter_map(|packet| match packet.message {
            Message::Accept { change, .. } => Some(change),
            _ => None,
        });
        let mut proved = self.proved.clone();
        for toy in &self.proved {
            for slot in decided(toy, votes.iter().copied(), flaw) {
                let mut made = asked.clone().filter_map(|change| toy.after(change));
                proved.extend(made.find(|next| next.slot == slot));
            }
        }
        self.proved = proved;
        let versions: BTreeSet<u8> = self.proved.iter().map(|toy| toy.slot.0).collect();
        versions.len() == self.proved.len()
    }
}

/// How many states there are, up to a limit, and whether a version is one membership in all.
fn explore(instance: &Instance, limit: usize) -> (usize, bool) {
    let first = State::first(instance);
    let mut known = HashSet::from([first.key(instance)]);
    let mut queue = VecDeque::from([first]);
    let mut is_right = true;
    while let Some(state) = queue.pop_front() {
        state.successors(instance, &mut |mut next| {
            if known.insert(next.key(instance)) {
                is_right &= next.is_right(instance.flaw);
                queue.push_back(next);
            }
        });
        if !is_right || known.len() >= limit {
            break;
        }
    }
    println!("{} states, right: {is_right}: {instance:?}", known.len());
    (known.len(), is_right)
}

/// The numbers of states are those of the first run: another one is another machine.
#[test]
fn no_state_has_two_memberships_of_a_version() {
    let more = |ballots, losses| Instance {
        ballots,
        losses,
        ..THREE
    };
    let swap = |ballots, losses| Instance {
        ballots,
        losses,
        ..SWAP
    };
    let two = |ballots, versions| Instance {
        ballots,
        versions,
        ..TWO
    };
    let mut instances = vec![
        (two(3, 1), 11_534),
        (two(2, 2), 1_493),
        (swap(2, 1), 4_029),
        (swap(3, 0), 16_858),
    ];
    if tier() != Tier::Small {
        let more = [
            (two(4, 1), 118_605),
            (two(4, 2), 353_207),
            (more(2, 0), 68_221),
            (more(2, 1), 269_026),
            (swap(3, 1), 73_484),
            (swap(4, 1), 1_135_588),
        ];
        instances.extend(more);
    }
    if tier() == Tier::Soak {
        let all = [more(3, 0), more(3, 1), more(4, 0), more(4, 1)];
        let states = [6_291_746, 0, 0, 0];
        instances.extend(all.into_iter().zip(states));
    }
    for (instance, states) in instances {
        let (found, is_right) = explore(&instance, pick(200_000, 4_000_000, 30_000_000));
        assert!(is_right, "{instance:?}");
        assert!(
            states == 0 || states == found,
            "{found} states: {instance:?}"
        );
    }
}

#[test]
fn every_rule_that_is_left_out_is_noticed() {
    let three = Instance {
        ballots: 3,
        ..THREE
    };
    let lost = Instance { losses: 1, ..THREE };
    let two = Instance { losses: 0, ..TWO };
    let mut flawed = vec![
        (Flaw::OwnValue, three),
        (Flaw::ForgetsAccepted, three),
        (Flaw::ForgetsPromised, two),
        (Flaw::LostDiskVotes, lost),
        (Flaw::PutBack, lost),
        (Flaw::Twice, THREE),
    ];
    if tier() != Tier::Small {
        let ballots = 4;
        flawed.push((Flaw::NoBallot, Instance { ballots, ..THREE }));
    }
    for (flaw, instance) in flawed {
        let (_, is_right) = explore(&Instance { flaw, ..instance }, 4_000_000);
        assert!(!is_right, "{flaw:?}");
    }
}

/// Four ballots by which two voters have accepted the same, each under another one, and then
/// something else is decided.
#[test]
fn votes_of_several_ballots_decide_nothing() {
    for flaw in [Flaw::None, Flaw::NoBallot] {
        let mut state = State::first(&THREE);
        for (by, with, accepts) in [(0, 2, false), (2, 1, false), (1, 0, false), (2, 0, true)] {
            let wanted = Some(Change::Other(by as u8));
            let campaign = |node: &mut Register<Toy>| assert!(node.campaign(wanted));
            state = state.with(by, campaign).expect("a ballot");
            let ballot = state.nodes[by].vote.promised;
            for (from, to) in [(by, with), (with, by), (by, with)] {
                let of_ballot = |packet: &&Packet| match &packet.message {
                    Message::Prepare { ballot: it } => *it == ballot,
                    Message::Promise { ballot: it, .. } => *it == ballot && from == with,
                    Message::Accept { ballot: it, .. } => *it == ballot && accepts,
                    _ => false,
                };
                let sent: Vec<Packet> = state.sent.iter().filter(of_ballot).cloned().collect();
                for packet in sent.into_iter().filter(|packet| packet.from == from) {
                    let hear = |node: &mut Register<Toy>| {
                        node.handle(from, packet.slot, packet.message);
                    };
                    state = state.with(to, hear).unwrap_or(state);
                }
            }
        }
        // What two of three have accepted, but not together, and what they have.
        assert_eq!(state.is_right(flaw), flaw == Flaw::None);
        assert_eq!(state.proved.len(), if flaw == Flaw::None { 2 } else { 3 });
    }
}
