//! Whether two machines speak as one member: a copied disk, or a virtual machine that was started
//! twice.
//!
//! A node draws a number when it starts, and every control datagram has it. A restart is a change
//! of that number; two machines with the same name and key are one change after the other.

use std::collections::BTreeMap;
use std::time::Duration;

/// Changes back to a number of before that are no accident: a datagram may be late once.
const MAX_RETURNS: u32 = 3;

/// How long a change back counts.
const FORGET_AFTER: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Default)]
pub(super) struct Clones(BTreeMap<String, Heard>);

#[derive(Clone, Debug)]
struct Heard {
    boot: u64,
    before: u64,
    returns: u32,
    since: Duration,
}

impl Clones {
    /// Somebody was heard with this number. Whether two speak with one name.
    pub(super) fn hear(&mut self, now: Duration, name: &str, boot: u64) -> bool {
        let Some(heard) = self.0.get_mut(name) else {
            let heard = Heard {
                boot,
                before: boot,
                returns: 0,
                since: now,
            };
            self.0.insert(name.to_owned(), heard);
            return false;
        };
        if now.saturating_sub(heard.since) >= FORGET_AFTER {
            heard.returns = 0;
        }
        if boot != heard.boot {
            if boot == heard.before {
                heard.returns += 1;
                heard.since = now;
            }
            (heard.before, heard.boot) = (heard.boot, boot);
        }
        heard.returns >= MAX_RETURNS
    }

    /// Forgets whoever is no member any more.
    pub(super) fn retain(&mut self, member: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| member(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_are_no_clones_and_alternation_is() {
        let mut clones = Clones::default();
        let mut at = 0;
        let mut hear = |name: &str, boot| {
            at += 1;
            clones.hear(Duration::from_secs(at), name, boot)
        };
        assert!((0..100).all(|boot| !hear("restarts", boot)));
        // One late datagram after a restart.
        assert!(
            [1, 1, 2, 1, 2, 2, 2]
                .iter()
                .all(|boot| !hear("late", *boot))
        );
        let noticed: Vec<bool> = [1, 2, 1, 2, 1, 2].map(|boot| hear("cloned", boot)).into();
        assert_eq!(noticed, [false, false, false, false, true, true]);
    }
}
