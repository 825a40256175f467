//! What somebody does to a fleet: changes its members, terms and keys, and heeds its alarms.

use headway_service::config::TermsChange;
use headway_service::identity::{Identity, NodeKey};
use headway_service::internal::roster::Member;
use headway_service::internal::{Answer, Phase, Request, Status, Word};

use super::world::{NODES, World, address, ms, newest};

impl World {
    /// Other tokens and another separation.
    pub(crate) fn set(&mut self, by: usize, tokens: u64, separation: u64) {
        let change = TermsChange {
            tokens: u32::try_from(tokens).ok(),
            separation: u32::try_from(separation).ok(),
            ..TermsChange::default()
        };
        self.request(by, Request::Set(change));
    }

    pub(crate) fn add(&mut self, by: usize, at: usize) {
        self.show_keys(at);
        self.start(at);
        let member = Member {
            name: format!("n{at}"),
            address: address(at),
            key: Some(newest(&self.hosts[at].identities)),
            ..Member::default()
        };
        self.request(
            by,
            Request::Add {
                member,
                after: None,
                force: true,
            },
        );
    }

    /// Whoever adds a node gives it today's members with their keys.
    pub(crate) fn show_keys(&mut self, at: usize) {
        let latest = self.latest();
        if latest.member(&format!("n{at}")).is_none() {
            let members = latest.members.clone();
            self.kill(at);
            self.hosts[at].settings.ring.members = members;
            self.hosts[at].kept.roster = None;
        }
    }

    /// Wants other key pairs for a node.
    pub(crate) fn rotate(&mut self, at: usize) -> NodeKey {
        self.runs_of_rotation += 1;
        let number = self.runs_of_rotation;
        let secret: [u8; 64] = std::array::from_fn(|byte| match byte % 32 {
            0 => at as u8,
            1 => 99,
            2 => (byte / 32) as u8,
            _ => number,
        });
        let next = Identity::new(&secret);
        let key = next.public();
        self.request(at, Request::Rotate(Box::new(next)));
        key
    }

    pub(crate) fn remove(&mut self, by: usize, at: usize) {
        self.request(
            by,
            Request::Remove {
                name: format!("n{at}"),
                gone: false,
            },
        );
    }

    /// Most voters have other keys than when a node was here last: somebody does what it asks for.
    pub(crate) fn heed_alarms(&mut self) {
        let unproven = |status: Status| {
            let mut alarms = status.alarms.iter();
            alarms.any(|alarm| alarm.to_string().contains("too few voters have signed"))
        };
        for at in 0..NODES {
            if self.status(at).is_some_and(unproven) {
                self.kill(at);
                let members = self.latest().members.clone();
                self.hosts[at].settings.ring.members = members;
                self.hosts[at].kept.roster = None;
                self.heeded += 1;
                self.start(at);
            }
        }
    }

    /// The roster that an operator would have to sign.
    pub(crate) fn unsigned(&mut self, at: usize, gone: &[String]) -> String {
        let (gone, word) = (gone.to_vec(), Word::Asked);
        match self.ask(at, Request::Recover { gone, word }) {
            Ok(Answer::Unsigned(text)) => text,
            other => panic!("seed {}: {other:?}", self.seed),
        }
    }

    /// Heals everything and waits until all members are settled and work.
    pub(crate) fn recovers(&mut self) {
        self.loss = 0;
        self.cut.clear();
        for at in 0..NODES {
            self.resume(at);
            self.start(at);
        }
        for waited in 0..400 {
            self.run_for(ms(100));
            if waited == 200 {
                self.heed_alarms();
            }
            let statuses: Vec<_> = (0..NODES).filter_map(|at| self.status(at)).collect();
            let version = statuses.iter().map(|status| status.membership).max();
            // Who is no member need not know.
            let agreed = statuses
                .iter()
                .all(|status| Some(status.membership) == version || status.phase == Phase::Outside);
            let fine = |status: &Status| {
                status.phase == Phase::Outside || (status.settled && status.bypassed.is_empty())
            };
            if agreed && statuses.iter().all(fine) {
                return;
            }
        }
        for at in 0..NODES {
            eprintln!("{:?}", self.status(at));
        }
        panic!("seed {}: not in order after 40 s", self.seed);
    }
}
