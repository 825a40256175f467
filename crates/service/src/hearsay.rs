//! Who is silent, as every member of a fleet says it: only two members hear that a third is dead,
//! and all should know why the ring stands still.
//!
//! Without clock or socket. A member that hears nothing of a neighbour says so, again and again;
//! whoever hears that tells its own neighbours, and forgets it when it is not said any more.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How often it is said again.
const AGAIN: Duration = Duration::from_secs(5);

/// What is not said again for this long is over.
const FORGET: Duration = Duration::from_secs(20);

/// Members in one message at most, so that it fits into a datagram.
const MAX_REPORTS: usize = 4;

/// What a member says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    by: String,
    /// Grows with everything that the member says: its time of day, in milliseconds.
    version: u64,
    /// Its silent neighbours, and since when, in milliseconds since 1970.
    silent: Vec<(String, u64)>,
}

/// A member that others do not hear.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unheard {
    /// Its name.
    pub name: String,
    /// Who says so.
    pub silent_by: Vec<String>,
    /// For how long.
    pub silent_ms: u64,
}

/// What one node has heard.
#[derive(Debug, Default)]
pub(crate) struct Hearsay {
    reports: BTreeMap<String, (Report, Duration)>,
    /// When this node last said something.
    said: Duration,
    news: Vec<Report>,
}

impl Hearsay {
    /// These neighbours of this node are silent, since those times of day. It is said if that
    /// has changed, or was not said for a while.
    pub(crate) fn say(&mut self, now: Duration, unix_ms: u64, me: &str, silent: &[(String, u64)]) {
        self.reports
            .retain(|_, (_, heard)| now.saturating_sub(*heard) < FORGET);
        let last = self.reports.get(me).map(|(report, _)| report);
        let same = last.map_or(silent.is_empty(), |last| last.silent == silent);
        let late = !silent.is_empty() && now.saturating_sub(self.said) >= AGAIN;
        if same && !late {
            return;
        }
        let report = Report {
            by: me.to_owned(),
            version: last.map_or(0, |last| last.version + 1).max(unix_ms),
            silent: silent.to_vec(),
        };
        self.said = now;
        self.learn(now, report);
    }

    /// Somebody passes on what a member says.
    pub(crate) fn handle(&mut self, now: Duration, me: &str, reports: Vec<Report>) {
        for report in reports.into_iter().filter(|report| report.by != me) {
            let known = self.reports.get(&report.by);
            if known.is_none_or(|(known, _)| known.version < report.version) {
                self.learn(now, report);
            }
        }
    }

    fn learn(&mut self, now: Duration, report: Report) {
        self.news.push(report.clone());
        self.reports.insert(report.by.clone(), (report, now));
    }

    /// What the neighbours should be told now.
    pub(crate) fn poll_news(&mut self) -> Option<Vec<Report>> {
        let some = self.news.len().min(MAX_REPORTS);
        (some > 0).then(|| self.news.drain(..some).collect())
    }

    /// Who is silent, by name.
    pub(crate) fn unheard(&self, unix_ms: u64) -> Vec<Unheard> {
        let mut unheard: BTreeMap<&str, Unheard> = BTreeMap::new();
        for (report, _) in self.reports.values() {
            for (name, since) in &report.silent {
                let entry = unheard.entry(name).or_insert_with(|| Unheard {
                    name: name.clone(),
                    silent_by: Vec::new(),
                    silent_ms: 0,
                });
                entry.silent_by.push(report.by.clone());
                entry.silent_ms = entry.silent_ms.max(unix_ms.saturating_sub(*since));
            }
        }
        unheard.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_passed_on_and_forgotten() {
        let s = Duration::from_secs;
        let [mut a, mut b] = [Hearsay::default(), Hearsay::default()];
        a.say(s(1), 1_000, "a", &[]);
        assert_eq!(a.poll_news(), None, "nothing to say");
        let silent = [("c".to_owned(), 500)];
        a.say(s(1), 1_000, "a", &silent);
        let told = a.poll_news().expect("news");
        b.handle(s(2), "b", told.clone());
        assert_eq!(b.poll_news(), Some(told.clone()), "passed on");
        b.handle(s(3), "b", told.clone());
        assert_eq!(b.poll_news(), None, "once");
        let unheard = |hearsay: &Hearsay| {
            let unheard = hearsay.unheard(2_500);
            unheard
                .into_iter()
                .map(|one| (one.name, one.silent_by, one.silent_ms))
                .collect::<Vec<_>>()
        };
        assert_eq!(unheard(&b), [("c".into(), vec!["a".into()], 2_000)]);
        // Said again and again; then it is over, and that is said, too.
        a.say(s(2), 2_000, "a", &silent);
        assert_eq!(a.poll_news(), None, "not yet");
        a.say(s(6), 6_000, "a", &silent);
        b.handle(s(7), "b", a.poll_news().expect("said again"));
        a.say(s(8), 8_000, "a", &[]);
        b.handle(s(8), "b", a.poll_news().expect("over"));
        assert!(unheard(&b).is_empty());
        // A member that says nothing any more has not said that it is over.
        b.handle(
            s(9),
            "b",
            vec![Report {
                by: "d".into(),
                version: 1,
                silent: silent.to_vec(),
            }],
        );
        b.say(s(28), 28_000, "b", &[]);
        assert_eq!(unheard(&b).len(), 1);
        b.say(s(29), 29_000, "b", &[]);
        assert!(unheard(&b).is_empty());
    }
}
