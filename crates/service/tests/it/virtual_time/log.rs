//! The log of rosters as a model, where the hosts do not run the real one.

use std::collections::BTreeMap;
use std::time::Duration;

use headway_service::internal::Request;
use headway_service::internal::decision::{Change, Decided, Decision};
use headway_service::internal::roster::Roster;

use super::world::{NODES, World, ms};

/// The log of rosters, as one object that everybody agrees upon: whoever reaches a keeper that
/// reaches a majority of them gets an answer. Where the hosts run the real one, this is what has
/// been seen of it.
pub(crate) struct Log {
    /// An error that this test has to find: it says yes to everybody, each for itself.
    pub(crate) says_yes: bool,
    pub(crate) decided: Option<Decided>,
    /// Every roster that there was, by its version.
    pub(crate) rosters: BTreeMap<u64, Roster>,
    /// Who wants something, what, when it is tried next, and until when.
    pub(crate) wanted: Vec<(usize, Change, Duration, Duration)>,
}

impl World {
    /// The log begins with another roster than the usual one.
    pub(crate) fn begin_log(&mut self, first: Roster) {
        self.log.rosters = [(1, first.clone())].into();
        self.log.decided = Some(Decided::new(first));
    }

    /// Whether somebody reaches a keeper that reaches a majority of them.
    pub(crate) fn reaches_log(&self, at: usize) -> bool {
        let keepers = self.log.decided.iter().flat_map(|log| log.roster.keepers());
        let keepers = keepers.map(|member| member.name[1..].parse().expect("a number"));
        let keepers: Vec<usize> = keepers.collect();
        let hears = |one: usize, other: usize| self.runs(other) && !self.apart(one, other);
        keepers.iter().any(|&leader| {
            let heard = keepers.iter().filter(|&&keeper| hears(leader, keeper));
            hears(at, leader) && 2 * heard.count() > keepers.len()
        })
    }

    /// Decides upon what is wanted, and tells keepers of it.
    pub(crate) fn decide(&mut self) {
        let now = self.now;
        for (by, change, due, until) in std::mem::take(&mut self.log.wanted) {
            if now < due || !self.runs(by) {
                self.log.wanted.push((by, change, due, until));
                continue;
            }
            let decided = self.reaches_log(by);
            // Sometimes the answer is lost, and whoever wants it asks again.
            let heard = decided && self.below(4) > 0;
            let log = self.log.decided.as_mut().filter(|_| decided);
            let decision = log.map(|log| {
                let decision = log.apply(&change);
                let roster = log.roster.clone();
                self.log.rosters.insert(roster.version, roster);
                decision
            });
            let decision = decision.filter(|_| heard);
            let yes = Decision {
                version: change.version + 1,
                refused: None,
            };
            let decision = self.log.says_yes.then_some(yes).or(decision);
            if decision.is_none() && now < until {
                let due = now + ms(30);
                self.log.wanted.push((by, change, due, until));
                continue;
            }
            let decision = decision.ok_or_else(|| "too few".to_owned());
            let id = change.id;
            self.request(by, Request::Decision { id, decision });
        }
        for at in 0..NODES {
            let roster = self.log.decided.as_ref().map(|log| &log.roster);
            let keeps = |roster: &Roster| {
                let name = format!("n{at}");
                roster.keepers().any(|keeper| keeper.name == name)
            };
            let news = roster.filter(|roster| roster.version > self.hosts[at].told);
            let news = news.filter(|roster| self.runs(at) && keeps(roster) && self.reaches_log(at));
            if let Some(roster) = news.cloned()
                && self.below(20) == 0
            {
                self.hosts[at].told = roster.version;
                self.request(at, Request::Decided(Box::new(roster)));
            }
        }
    }
}
