//! Who is there: voters tell each other whether they may vote, and how old their disks are.

use std::time::Duration;

use super::Heard;
use crate::agent::alarm::Alarm;
use crate::membership::Membership;
use crate::membership::control::{Alive, Message, Sender};
use crate::membership::register::{Register, Storage};
use crate::membership::roster::Member;

/// A voter that was not heard for so long may be gone.
pub(super) const ALIVE_FOR: Duration = Duration::from_millis(3_500);

/// How long too few may vote before that is an alarm, so that it comes within six seconds.
const ALARM_AFTER: Duration = Duration::from_secs(2);

/// Disks of one member whose ages are remembered.
const MAX_DISKS: usize = 4;

impl Membership {
    /// The other voters of the roster.
    pub(in crate::membership) fn other_voters(&self) -> Vec<Member> {
        let me = &self.settings.node.name;
        let seat = self.voting.seat(me);
        let others = seat.iter().flat_map(|(roster, _)| roster.voters());
        others.filter(|voter| voter.name != *me).cloned().collect()
    }

    pub(super) fn say_alive(&mut self) {
        for Member { name, address, .. } in self.other_voters() {
            self.say_alive_to(&name, address, true);
        }
    }

    fn say_alive_to(&mut self, name: &str, address: String, may_ask: bool) {
        let Some(register) = &self.voting.register else {
            return;
        };
        let heard = self.voting.heard.get(name).map(|heard| {
            let ages = self.voting.ages.get(name);
            let age = ages.and_then(|ages| ages.get(&heard.storage));
            (heard.boot, heard.storage, age.copied().unwrap_or(0))
        });
        let alive = Alive {
            disk: (register.storage(), self.voting.age),
            may_vote: register.may_vote(),
            asks: may_ask && !register.is_sure(),
            heard,
        };
        self.outbox.push_back((address, Message::Alive(alive)));
    }

    /// A voter is there.
    pub(in crate::membership) fn handle_alive(
        &mut self,
        now: Duration,
        sender: &Sender,
        alive: Alive,
    ) {
        let others = self.other_voters();
        if !others.iter().any(|voter| voter.name == sender.name) {
            return;
        }
        let (storage, age) = alive.disk;
        let heard = Heard {
            at: now,
            boot: sender.boot,
            storage,
            may_vote: alive.may_vote,
        };
        let voting = &mut self.voting;
        voting.heard.insert(sender.name.clone(), heard);
        let ages = voting.ages.entry(sender.name.clone()).or_default();
        if ages.get(&storage).is_none_or(|known| *known < age) && age > 0 {
            if ages.len() >= MAX_DISKS && !ages.contains_key(&storage) {
                ages.clear();
            }
            ages.insert(storage, age);
            voting.register.iter_mut().for_each(Register::touch);
        }
        if alive.asks {
            let address = sender.address.clone();
            self.say_alive_to(&sender.name, address, false);
        }
        if let Some((boot, storage, age)) = alive.heard
            && boot == self.boot
        {
            self.make_sure(&sender.name, storage, age, others.len());
        }
    }

    /// Another voter says how old it knows this one's disk to be.
    fn make_sure(&mut self, name: &str, storage: Storage, age: u64, others: usize) {
        let voting = &mut self.voting;
        let Some(register) = &mut voting.register else {
            return;
        };
        if register.storage() != storage || register.is_sure() {
            return;
        }
        if age > voting.age {
            voting.doubt = Some("others know a later state of it, as if it had been put back");
            voting.sure_of.clear();
            register.renew((self.random)(), true);
            return;
        }
        voting.sure_of.insert(name.to_owned());
        if voting.sure_of.len() >= others.div_ceil(2) {
            register.make_sure();
        }
    }

    /// What somebody should know.
    pub(super) fn watch_votes(&mut self, now: Duration) {
        let me = &self.settings.node.name;
        let voting = &mut self.voting;
        let unlisted = voting.unlisted(me).is_some();
        let own = voting.register.as_ref().is_some_and(Register::may_vote);
        let mut alarm = voting.doubt.filter(|_| unlisted).map(|why| {
            format!(
                "what this voter had on its disk is not relied on ({why}): it votes again when the \
                 other voters have agreed to its new disk"
            )
        });
        let can = |voter: &&Member| {
            let heard = voting.heard.get(&voter.name);
            let heard = heard.filter(|heard| now < heard.at + ALIVE_FOR);
            heard.is_some_and(|heard| heard.may_vote) || voter.name == *me && own
        };
        let enough = voting.seat(me).is_none_or(|(roster, _)| {
            2 * roster.voters().filter(can).count() > roster.voters().count()
        });
        if enough {
            voting.could_vote = now;
        } else if now >= voting.could_vote + ALARM_AFTER {
            alarm.get_or_insert_with(|| {
                "too few voters of the membership hear each other: members cannot be added, \
                 removed or bypassed; the ring goes on with those that it has"
                    .into()
            });
        }
        let alarm = alarm.map(Alarm::Voting);
        self.alarms
            .clear(|old| matches!(old, Alarm::Voting(_)) && Some(old) != alarm.as_ref());
        if let Some(alarm) = alarm {
            self.alarms.raise(alarm);
        }
    }
}
