//! The register's own machine, on small memberships: all that can happen ([`explore`]), and a lot of
//! what can happen to more voters ([`random`]).

use std::collections::BTreeSet;

use super::*;

mod explore;
mod random;

/// A membership that is little more than its voters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Toy {
    pub(super) slot: (u8, u64),
    /// Its nodes, and which storage it lists of each.
    pub(super) voters: Vec<(usize, Storage)>,
}

/// What makes another of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Change {
    /// Something that does not concern who votes.
    Other(u8),
    /// One node votes instead of another.
    Swap(usize, usize, Storage),
    /// A node has a new disk.
    Storage(usize, Storage),
}

impl Toy {
    pub(super) fn first(voters: usize) -> Toy {
        Toy {
            slot: (1, 0),
            voters: (0..voters).map(|node| (node, node as u64 + 1)).collect(),
        }
    }

    pub(super) fn after(&self, change: Change) -> Option<Toy> {
        let mut voters = self.voters.clone();
        let place = |node: usize| self.voters.iter().position(|(voter, _)| *voter == node);
        match change {
            Change::Other(_) => {}
            Change::Swap(from, to, storage) if place(to).is_none() => {
                voters[place(from)?] = (to, storage);
            }
            Change::Swap(..) => return None,
            Change::Storage(node, storage) => voters[place(node)?].1 = storage,
        }
        // Two that differ in anything have another digest.
        let (kind, of) = match change {
            Change::Other(value) => (1, u64::from(value)),
            Change::Swap(from, to, storage) => (2, from as u64 + 10 * to as u64 + 100 * storage),
            Change::Storage(node, storage) => (3, node as u64 + 100 * storage),
        };
        let (version, digest) = self.slot;
        let digest = digest.wrapping_mul(4).wrapping_add(kind);
        let digest = digest.wrapping_mul(1_000_003).wrapping_add(of);
        let slot = (version + 1, digest);
        Some(Toy { slot, voters })
    }

    pub(super) fn place(&self, node: usize) -> Option<usize> {
        self.voters.iter().position(|(voter, _)| *voter == node)
    }
}

impl Electorate for Toy {
    type Slot = (u8, u64);
    type Change = Change;

    fn slot(&self) -> (u8, u64) {
        self.slot
    }

    fn voters(&self) -> Vec<Storage> {
        self.voters.iter().map(|(_, storage)| *storage).collect()
    }

    fn next(&self, change: &Change) -> Option<(u8, u64)> {
        self.after(*change).map(|next| next.slot)
    }
}

/// Something on its way: from which node, to which if not to all, and about which version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Packet {
    pub(super) from: usize,
    pub(super) to: Option<usize>,
    pub(super) slot: (u8, u64),
    pub(super) message: MessageOf<Toy>,
}

/// What is wrong with voters or with the network; each has to be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    None,
    /// A proposer asks for its own change whatever others have accepted.
    OwnValue,
    /// What was accepted is not on the disk.
    ForgetsAccepted,
    /// What was promised is not on the disk.
    ForgetsPromised,
    /// A lost disk has the number of the one before.
    LostDiskVotes,
    /// A disk that was restored is taken for the latest.
    PutBack,
    /// Votes of several ballots are counted together.
    NoBallot,
    /// Votes of one voter are counted as often as they come.
    Twice,
}

pub(super) fn voter(toy: &Toy, storage: Storage) -> Register<Toy> {
    let mut voter = Register::new(toy.clone(), storage, Vote::default());
    voter.make_sure();
    voter
}

/// What a node has to tell when all that it writes reaches its disk.
pub(super) fn packets(node: usize, register: &mut Register<Toy>) -> Vec<Packet> {
    let mut packets = Vec::new();
    while let Some(output) = register.poll() {
        let (to, message) = match output {
            Output::Keep => {
                register.handle_kept(true);
                continue;
            }
            Output::Send(to, message) => (Some(register.electorate.voters[to].0), message),
            Output::Broadcast(message) => (None, message),
            Output::Vote { ballot, next } => (None, Message::Accepted { ballot, next }),
        };
        packets.push(Packet {
            from: node,
            to,
            slot: register.electorate.slot,
            message,
        });
    }
    packets
}

/// The memberships after one that votes decide upon.
pub(super) fn decided(
    toy: &Toy,
    votes: impl Iterator<Item = (usize, (u8, u64), Ballot, (u8, u64))> + Clone,
    flaw: Flaw,
) -> BTreeSet<(u8, u64)> {
    let (mut count, mut decided) = (Count::default(), BTreeSet::new());
    // They come more than once.
    let votes = votes.clone().chain(votes);
    for (number, (from, slot, ballot, next)) in votes.enumerate() {
        let Some(place) = toy.place(from) else {
            continue;
        };
        if slot != toy.slot {
            continue;
        }
        let place = if flaw == Flaw::Twice { number } else { place };
        let ballot = match flaw {
            Flaw::NoBallot => Ballot::default(),
            _ => ballot,
        };
        let enough = count.add(place, (ballot, next), (), toy.voters.len());
        decided.extend(enough.map(|_| next));
    }
    decided
}

#[test]
fn nothing_leaves_before_it_is_on_the_disk() {
    let toy = Toy::first(3);
    let [mut one, mut other] = [1, 2].map(|storage| voter(&toy, storage));
    assert!(one.campaign(Some(Change::Other(1))));
    assert_eq!(one.poll(), Some(Output::Keep));
    assert_eq!(one.poll(), None, "not before it is kept");
    // It is not: nobody hears of it, until something else is.
    one.handle_kept(false);
    assert_eq!(one.poll(), None);
    assert!(one.campaign(Some(Change::Other(1))));
    let ballot = one.vote().promised;
    assert_eq!(ballot.round, 2, "never the same ballot again");
    assert_eq!(one.poll(), Some(Output::Keep));
    one.handle_kept(true);
    let prepare = Message::Prepare { ballot };
    assert_eq!(one.poll(), Some(Output::Broadcast(prepare.clone())));
    // A promise that could not be kept is not repeated from memory.
    other.handle(0, toy.slot, prepare.clone());
    assert_eq!(other.poll(), Some(Output::Keep));
    other.handle_kept(false);
    other.handle(0, toy.slot, prepare.clone());
    assert_eq!(other.poll(), None, "it is not on the disk");
    other.touch();
    assert_eq!(other.poll(), Some(Output::Keep));
    // What comes while a write is on its way and changes something waits for the next one.
    other.handle(0, toy.slot, prepare.clone());
    let next = Ballot { round: 3, ..ballot };
    other.handle(0, toy.slot, Message::Prepare { ballot: next });
    other.handle_kept(true);
    assert_eq!(other.poll(), Some(Output::Keep));
    other.handle_kept(true);
    let promise = |ballot| {
        let accepted = None;
        Some(Output::Send(0, Message::Promise { ballot, accepted }))
    };
    assert_eq!(
        [other.poll(), other.poll()],
        [promise(ballot), promise(next)]
    );
}

/// A promise about one version that was on its way to the disk when the next one came.
#[test]
fn nothing_is_said_of_a_version_that_is_over() {
    let toy = Toy::first(3);
    let next = toy.after(Change::Other(1)).expect("a change");
    for is_written in [false, true] {
        let mut one = voter(&toy, 1);
        let ballot = Ballot {
            round: 1,
            storage: 2,
        };
        one.handle(1, toy.slot, Message::Prepare { ballot });
        assert_eq!(one.poll(), Some(Output::Keep));
        if is_written {
            one.handle_kept(true);
        }
        one.adopt(next.clone());
        if !is_written {
            one.handle_kept(true);
        }
        assert_eq!(packets(0, &mut one), [], "written: {is_written}");
        assert_eq!(*one.vote(), Vote::default());
    }
}

#[test]
fn rounds_grow_slowly_and_ballots_are_their_voters_own() {
    let toy = Toy::first(3);
    let mut one = voter(&toy, 1);
    for (from, round, storage) in [(1, u64::MAX, 2), (1, 5, 3), (7, 5, 2)] {
        let ballot = Ballot { round, storage };
        one.handle(from, toy.slot, Message::Prepare { ballot });
        one.handle(from, (1, 9), Message::Prepare { ballot });
        assert_eq!(one.poll(), None, "{ballot:?}");
    }
    let ballot = Ballot {
        round: u64::MAX,
        storage: 2,
    };
    one.handle(1, toy.slot, Message::Rejected { promised: ballot });
    assert!(one.campaign(None));
    assert_eq!(one.vote().promised.round, 1);
}

/// Whoever lost its disk says nothing until a membership lists the new one.
#[test]
fn a_new_disk_votes_when_it_is_listed() {
    let toy = Toy::first(3);
    let mut lost = voter(&toy, 77);
    let ballot = Ballot {
        round: 1,
        storage: 2,
    };
    lost.handle(1, toy.slot, Message::Prepare { ballot });
    assert!(!lost.campaign(None) && lost.poll().is_none());
    let next = toy.after(Change::Storage(0, 77)).expect("it is a voter");
    lost.adopt(next.clone());
    lost.handle(1, next.slot, Message::Prepare { ballot });
    assert!(matches!(
        packets(0, &mut lost)[..],
        [Packet { to: Some(1), .. }]
    ));
}
