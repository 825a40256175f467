//! Who is silent and who works, as every member of a fleet says it: only two members hear that a
//! third is dead, and all should know why the ring is stalled.
//!
//! Without clock or socket. A member that hears nothing of a neighbour says so, again and again,
//! and so does one that uses a permit for a while, and signs it; whoever hears that tells its own
//! neighbours, and forgets it when it is not said any more.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How often it is said again.
const AGAIN: Duration = Duration::from_secs(5);

/// What is not said again for this long is over.
const FORGET: Duration = Duration::from_secs(20);

/// What a member says of its work at most, so that it fits into a datagram.
const MAX_WORKS: usize = 2;
const MAX_CHARACTERS: usize = 40;

/// What a member says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) by: String,
    /// Grows with everything that the member says: its time of day, in milliseconds.
    version: u64,
    /// Its silent neighbours, and since when, in milliseconds since 1970.
    silent: Vec<(String, u64)>,
    /// Who uses its permits, and since when.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    works: Vec<(String, u64)>,
    /// By its member, where members have keys of their own.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub(crate) signature: String,
}

impl Report {
    /// What its member signs.
    pub(crate) fn message(&self) -> Vec<u8> {
        let said = (&self.by, self.version, &self.silent, &self.works);
        let said = serde_json::to_string(&said).unwrap_or_default();
        format!("headway report {said}").into_bytes()
    }
}

/// A member that uses a permit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Working {
    /// A name.
    pub name: String,
    /// What a permit is used for, in words.
    pub used_by: String,
    /// For how long somebody has been using it, in milliseconds; 0 while it only passes.
    pub since_ms: u64,
}

/// A member that others do not hear.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unheard {
    /// A name.
    pub name: String,
    /// Who does not hear it.
    pub silent_by: Vec<String>,
    /// For how long, in milliseconds.
    pub silent_ms: u64,
}

/// What one node has heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports {
    reports: BTreeMap<String, (Report, Duration)>,
    /// When this node last said something.
    said: Duration,
    news: Vec<Report>,
}

impl Reports {
    /// These neighbours of this node are silent, and this work is done here, since those times
    /// of day. It is said if that has changed, or was not said for a while.
    pub(crate) fn say(
        &mut self,
        now: Duration,
        unix_ms: u64,
        me: &str,
        silent: Vec<(String, u64)>,
        mut works: Vec<(String, u64)>,
    ) {
        works.truncate(MAX_WORKS);
        for (work, _) in &mut works {
            *work = work.chars().take(MAX_CHARACTERS).collect();
        }
        self.reports
            .retain(|_, (_, heard)| now.saturating_sub(*heard) < FORGET);
        let last = self.reports.get(me).map(|(report, _)| report);
        let nothing = silent.is_empty() && works.is_empty();
        let same = last.map_or(nothing, |last| last.silent == silent && last.works == works);
        let late = !nothing && now.saturating_sub(self.said) >= AGAIN;
        if same && !late {
            return;
        }
        let report = Report {
            by: me.to_owned(),
            version: last.map_or(0, |last| last.version + 1).max(unix_ms),
            silent,
            works,
            signature: String::new(),
        };
        self.said = now;
        self.learn(now, report);
    }

    /// Whether a member has not said so before, as far as is known here.
    pub(crate) fn is_new(&self, report: &Report) -> bool {
        let known = self.reports.get(&report.by);
        known.is_none_or(|(known, _)| known.version < report.version)
    }

    /// A member says something new.
    pub(crate) fn learn(&mut self, now: Duration, report: Report) {
        self.news.push(report.clone());
        self.reports.insert(report.by.clone(), (report, now));
    }

    /// What the neighbours should be told now.
    pub(crate) fn poll_news(&mut self) -> Option<Report> {
        (!self.news.is_empty()).then(|| self.news.remove(0))
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

    /// Who uses a permit, by name.
    pub(crate) fn working(&self, unix_ms: u64) -> Vec<Working> {
        let reports = self.reports.values();
        let works = reports.flat_map(|(report, _)| {
            report.works.iter().map(|(used_by, since)| Working {
                name: report.by.clone(),
                used_by: used_by.clone(),
                since_ms: unix_ms.saturating_sub(*since),
            })
        });
        works.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(reports: &mut Reports, seconds: u64, report: Report) {
        if reports.is_new(&report) {
            reports.learn(Duration::from_secs(seconds), report);
        }
    }

    #[test]
    fn what_is_said_is_passed_on_and_forgotten() {
        let s = Duration::from_secs;
        let [mut a, mut b] = [Reports::default(), Reports::default()];
        a.say(s(1), 1_000, "a", vec![], vec![]);
        assert_eq!(a.poll_news(), None, "nothing to say");
        let silent = || vec![("c".to_owned(), 500)];
        a.say(s(1), 1_000, "a", silent(), vec![]);
        let told = a.poll_news().expect("news");
        hear(&mut b, 2, told.clone());
        assert_eq!(b.poll_news(), Some(told.clone()), "passed on");
        hear(&mut b, 3, told.clone());
        assert_eq!(b.poll_news(), None, "once");
        let unheard = |reports: &Reports| {
            let unheard = reports.unheard(2_500);
            unheard
                .into_iter()
                .map(|one| (one.name, one.silent_by, one.silent_ms))
                .collect::<Vec<_>>()
        };
        assert_eq!(unheard(&b), [("c".into(), vec!["a".into()], 2_000)]);
        // Said again and again; then it is over, and that is said, too.
        a.say(s(2), 2_000, "a", silent(), vec![]);
        assert_eq!(a.poll_news(), None, "not yet");
        a.say(s(6), 6_000, "a", silent(), vec![]);
        hear(&mut b, 7, a.poll_news().expect("said again"));
        a.say(s(8), 8_000, "a", vec![], vec![]);
        hear(&mut b, 8, a.poll_news().expect("over"));
        assert!(unheard(&b).is_empty());
        // A member that says nothing any more has not said that it is over.
        let by_d = Report {
            by: "d".into(),
            version: 1,
            silent: silent(),
            works: vec![],
            signature: String::new(),
        };
        hear(&mut b, 9, by_d);
        b.say(s(28), 28_000, "b", vec![], vec![]);
        assert_eq!(unheard(&b).len(), 1);
        b.say(s(29), 29_000, "b", vec![], vec![]);
        assert!(unheard(&b).is_empty());
    }

    #[test]
    fn work_is_known_everywhere_until_it_ends() {
        let s = Duration::from_secs;
        let [mut a, mut b] = [Reports::default(), Reports::default()];
        let works = |text: &str| vec![(text.to_owned(), 1_000)];
        a.say(s(3), 3_000, "a", vec![], works(&"ä".repeat(200)));
        hear(&mut b, 3, a.poll_news().expect("said"));
        let [work] = &b.working(4_500)[..] else {
            panic!("one works: {b:?}");
        };
        assert_eq!((&*work.name, work.since_ms), ("a", 3_500));
        assert_eq!(work.used_by.chars().count(), MAX_CHARACTERS);
        assert!(b.unheard(4_500).is_empty());
        a.say(s(5), 5_000, "a", vec![], vec![]);
        hear(&mut b, 5, a.poll_news().expect("over"));
        assert!(b.working(5_000).is_empty());
        // As long as it can be, it is one datagram.
        let name = "n".repeat(64);
        let report = Report {
            by: name.clone(),
            version: u64::MAX,
            silent: vec![(name.clone(), u64::MAX), (name, u64::MAX)],
            works: vec![("ä".repeat(MAX_CHARACTERS), u64::MAX); MAX_WORKS],
            signature: "x".repeat(86),
        };
        let bytes = serde_json::to_vec(&report).expect("written");
        assert!(bytes.len() < 1_100, "{}", bytes.len());
    }
}
