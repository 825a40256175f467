//! What this node knows of others by itself: who is there, and until when somebody may use a permit.
//!
//! A member uses a permit only after both its neighbours have answered a question about it
//! ([`challenge`](super::challenge)), and for `max_hold` and `stop_timeout` from the question at
//! most. So a neighbour that has answered all of them knows when the last one is over, and a member
//! that has asked nothing for so long uses none.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::roster::Roster;

/// What this node has answered.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    /// What was answered before is not remembered.
    since: Duration,
    /// When members were heard last.
    heard: BTreeMap<String, Duration>,
    /// When members have asked last.
    asked: BTreeMap<String, Duration>,
    /// Members that use no permit about which this node was not asked, or would have been if it
    /// had not been restarted.
    of: BTreeSet<String>,
}

impl Witness {
    pub(super) const fn new(now: Duration) -> Witness {
        Witness {
            since: now,
            heard: BTreeMap::new(),
            asked: BTreeMap::new(),
            of: BTreeSet::new(),
        }
    }

    /// What is remembered may be too old.
    pub(super) fn handle_doubt(&mut self, now: Duration) {
        self.since = now;
    }

    /// A member says something.
    pub(super) fn handle_word(&mut self, now: Duration, name: &str) {
        self.heard.insert(name.to_owned(), now);
    }

    /// Whether it is there: every second it says something to its neighbours and to one of the
    /// other `members` in turn.
    pub(super) fn hears(&self, now: Duration, name: &str, members: usize) -> bool {
        let pause = Duration::from_secs(members as u64 + 2);
        self.heard
            .get(name)
            .is_some_and(|heard| now < *heard + pause)
    }

    /// A member asks whether it may use a permit.
    pub(super) fn handle_question(&mut self, now: Duration, name: &str) {
        self.asked.insert(name.to_owned(), now);
    }

    /// The ring of this roster has settled: nobody on it uses a permit of an earlier one.
    pub(super) fn handle_settled(&mut self, roster: &Roster, me: &str) {
        self.of = beside(roster, me);
    }

    /// There is another roster. Who is beside this node there, but was not before, may use a
    /// permit of before.
    pub(super) fn handle_roster(&mut self, roster: &Roster, me: &str) {
        let beside = beside(roster, me);
        self.of.retain(|name| beside.contains(name));
        let is_member = |name: &String| roster.member(name).is_some();
        self.asked.retain(|name, _| is_member(name));
        self.heard.retain(|name, _| is_member(name));
    }

    /// When the last permit of a member is over that may take `longest`, if this node can know.
    pub(super) fn over(&self, name: &str, longest: Duration) -> Option<Duration> {
        let asked = self.asked.get(name).copied().unwrap_or_default();
        let known = self.of.contains(name);
        known.then(|| asked.max(self.since).saturating_add(longest))
    }
}

fn beside(roster: &Roster, me: &str) -> BTreeSet<String> {
    let beside = roster.around(me).into_iter().flatten();
    beside.map(|member| member.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::roster::tests::roster;

    const LONGEST: Duration = Duration::from_secs(10);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_last_permit_is_over_when_the_last_question_is_long_ago() {
        let first = roster(&["a", "b", "c", "d", "e"]);
        let mut witness = Witness::new(at(1));
        witness.handle_question(at(5), "b");
        assert_eq!(witness.over("b", LONGEST), None, "not settled yet");
        witness.handle_settled(&first, "a");
        assert_eq!(witness.over("b", LONGEST), Some(at(15)));
        assert_eq!(
            witness.over("e", LONGEST),
            Some(at(11)),
            "before the start?"
        );
        assert_eq!(witness.over("c", LONGEST), None, "it is not beside a");
        witness.handle_doubt(at(30));
        assert_eq!(witness.over("b", LONGEST), Some(at(40)));
    }

    #[test]
    fn who_comes_beside_a_node_may_have_a_permit_of_before() {
        let first = roster(&["a", "b", "c", "d", "e"]);
        let mut witness = Witness::new(at(1));
        witness.handle_settled(&first, "a");
        let second = first.without("b").unwrap();
        witness.handle_roster(&second, "a");
        assert_eq!(witness.over("c", LONGEST), None);
        assert_eq!(witness.over("e", LONGEST), Some(at(11)));
        witness.handle_settled(&second, "a");
        assert_eq!(witness.over("c", LONGEST), Some(at(11)));
    }
}
