//! The log of rosters in an etcd that somebody runs anyway, instead of in members.
//!
//! One key has the latest roster, and which changes led to it. A change replaces it in a transaction
//! that compares the revision of what was read, so of two at once one wins, and the other finds
//! what has become of the roster when it reads again. What was answered when the answer is lost
//! is found in the same way: changes have numbers.
//!
//! etcd's promise is that nothing that was answered is forgotten. Whether its data was put back
//! is noticed by a revision that falls, another cluster, or a roster older than this node's.
//! Only the first seven members look for news, every second; to all others rosters spread.

use std::path::PathBuf;
use std::time::Duration;

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::{AGAIN, Change, Decision, PROPOSE_FOR, Request, Roster, Setup, Tell};
use crate::client::exchange;
use crate::config::plain_host;
use crate::membership::decision::Decided;
use crate::store::sealed;

/// How often a keeper's place is looked for news.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long one etcd is waited for before the next is asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long none may answer before that is an alarm.
const SILENCE: Duration = Duration::from_secs(6);

/// A node's part in a log that is in an etcd.
pub(super) struct Etcd {
    changes: mpsc::UnboundedSender<Change>,
    task: JoinHandle<()>,
}

impl Etcd {
    pub(super) fn start(setup: &Setup, acts_by: watch::Receiver<Roster>, tell: &Tell) -> Etcd {
        let (changes, wanted) = mpsc::unbounded_channel();
        let (log, ring) = {
            let roster = acts_by.borrow();
            (roster.log(), roster.ring.clone())
        };
        let file = format!("etcd-{log:016x}");
        let kept = sealed::read(&setup.folder, &file).unwrap_or_default();
        let kept = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let seen: Seen = kept.unwrap_or_default();
        let endpoints = setup
            .etcd
            .iter()
            .filter_map(|endpoint| plain_host(endpoint));
        let key = format!("/headway/{ring}/{log:016x}");
        let store = Store {
            endpoints: endpoints.map(str::to_owned).collect(),
            turn: 0,
            key: BASE64.encode(&key),
            name: key,
            folder: setup.folder.clone(),
            file,
            latest: seen.revision,
            seen,
            acts_by,
        };
        let desk = Desk {
            store,
            name: setup.name.clone(),
            tell: tell.clone(),
            heard: Instant::now(),
            told: None,
        };
        let task = tokio::spawn(desk.run(wanted));
        Etcd { changes, task }
    }

    pub(super) fn propose(&self, change: Change) {
        let _ = self.changes.send(change);
    }

    pub(super) fn stop(&self) {
        self.task.abort();
    }
}

/// Why nothing is decided.
enum Trouble {
    /// No etcd answers, or not as it should.
    Away(String),
    /// What it has cannot be what it had.
    Wrong(String),
}

/// Asks, one thing after the other, and tells the node.
struct Desk {
    store: Store,
    name: String,
    tell: Tell,
    heard: Instant,
    told: Option<Option<String>>,
}

impl Desk {
    async fn run(mut self, mut wanted: mpsc::UnboundedReceiver<Change>) {
        loop {
            tokio::select! {
                change = wanted.recv() => match change {
                    Some(change) => self.decide(change).await,
                    None => return,
                },
                () = tokio::time::sleep(LOOK_EVERY) => {
                    if self.is_named() {
                        self.look().await;
                    }
                }
            }
        }
    }

    fn is_named(&self) -> bool {
        self.store.acts_by.borrow().has_keeper(&self.name)
    }

    /// Looks for news.
    async fn look(&mut self) {
        let found = self.store.read().await;
        if let Ok((decided, _)) = &found {
            self.tell_of(&decided.roster);
        }
        let trouble = found.err();
        self.report(trouble.as_ref());
    }

    fn tell_of(&self, roster: &Roster) {
        if roster.version > self.store.acts_by.borrow().version {
            let roster = Box::new(roster.clone());
            let _ = self.tell.send(Request::Decided(roster));
        }
    }

    /// What somebody should know.
    fn report(&mut self, trouble: Option<&Trouble>) {
        if !matches!(trouble, Some(Trouble::Away(_))) {
            self.heard = Instant::now();
        }
        let wrong = match trouble {
            None => None,
            Some(Trouble::Wrong(why)) => Some(why.clone()),
            Some(Trouble::Away(why)) if self.heard.elapsed() >= SILENCE => Some(format!(
                "no etcd answers ({why}): members cannot be added, removed or bypassed; the ring \
                 goes on with those that it has"
            )),
            // For a moment: what was told last still holds.
            Some(Trouble::Away(_)) => return,
        };
        if self.told.as_ref() != Some(&wrong) {
            self.told = Some(wrong.clone());
            let _ = self.tell.send(Request::Keeping(wrong));
        }
    }

    async fn decide(&mut self, change: Change) {
        let (id, end) = (change.id, Instant::now() + PROPOSE_FOR);
        let (mut sent, mut last) = (false, "it takes too long".to_owned());
        let decision = loop {
            let tried = timeout_at(end, self.attempt(&change, &mut sent));
            match tried.await {
                Ok(Ok(Some(decision))) => break Ok(decision),
                // Somebody else was quicker: perhaps there is still something to decide.
                Ok(Ok(None)) => {}
                Ok(Err(Trouble::Wrong(why))) => {
                    let version = change.version;
                    let refused = Some(why);
                    break Ok(Decision { version, refused });
                }
                Ok(Err(Trouble::Away(why))) => last = why,
                Err(_) => {}
            }
            if Instant::now() >= end {
                break Err(match sent {
                    true => format!(
                        "no etcd answers ({last}). It is not known whether the change was made: \
                         `headway node list` will say when one does"
                    ),
                    false => format!("no etcd answers ({last}). Nothing was changed"),
                });
            }
            tokio::time::sleep(AGAIN).await;
        };
        let _ = self.tell.send(Request::Decision { id, decision });
    }

    /// Tries once; nothing if somebody else came first.
    async fn attempt(
        &mut self,
        change: &Change,
        sent: &mut bool,
    ) -> Result<Option<Decision>, Trouble> {
        let (before, revision) = self.store.read().await?;
        let mut next = before.clone();
        let decision = next.apply(change);
        if next == before {
            // Refused, or made by an attempt whose answer was lost.
            self.tell_of(&before.roster);
            return Ok(Some(decision));
        }
        *sent = true;
        let written = self.store.replace(&next, revision).await?;
        if written {
            self.tell_of(&next.roster);
        }
        Ok(written.then_some(decision))
    }
}

/// What is known of an etcd, also after a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    cluster: String,
    /// At which the roster was last written.
    revision: u64,
}

/// The key, and where it is.
struct Store {
    endpoints: Vec<String>,
    /// Which of them answered last.
    turn: usize,
    key: String,
    name: String,
    folder: PathBuf,
    file: String,
    seen: Seen,
    /// The highest revision that was answered.
    latest: u64,
    acts_by: watch::Receiver<Roster>,
}

fn number(value: &Value) -> u64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or_else(|| value.as_u64()).unwrap_or(0)
}

impl Store {
    /// What was decided, and at which revision; before anything was, the first roster and 0.
    async fn read(&mut self) -> Result<(Decided, u64), Trouble> {
        // As of before the question: what is learned meanwhile may be later than the answer.
        let own = self.acts_by.borrow().clone();
        let answer = self.ask("range", &json!({ "key": self.key })).await?;
        let found = &answer["kvs"][0];
        if found.is_null() {
            return match own.origin.is_empty() {
                true => Ok((Decided::new(own), 0)),
                false => Err(self.lost("it has no roster of this ring")),
            };
        }
        let value = BASE64.decode(found["value"].as_str().unwrap_or_default());
        let value = value
            .ok()
            .and_then(|value| serde_json::from_slice(&value).ok());
        let decided: Option<Decided> = value.filter(|decided: &Decided| {
            let roster = &decided.roster;
            roster.check().is_ok() && (&roster.ring, roster.log()) == (&own.ring, own.log())
        });
        let Some(decided) = decided else {
            let why = format!("what etcd has at {} is no roster of this ring", self.name);
            return Err(Trouble::Wrong(why));
        };
        let version = decided.roster.version;
        if version < own.version {
            let why = format!("it has roster {version}, and this node has {}", own.version);
            return Err(self.lost(&why));
        }
        if version == own.version && decided.roster != own {
            let why = format!("it has another roster {version} than this node");
            return Err(self.lost(&why));
        }
        let revision = number(&found["mod_revision"]);
        self.remember(&answer, revision);
        Ok((decided, revision))
    }

    /// Puts something in the place of what was there at that revision. Whether it was.
    async fn replace(&mut self, next: &Decided, revision: u64) -> Result<bool, Trouble> {
        let value = serde_json::to_vec(next).map_err(|error| Trouble::Wrong(error.to_string()))?;
        let put = json!({ "key": self.key, "value": BASE64.encode(value) });
        let compare = json!({
            "key": self.key, "target": "MOD", "result": "EQUAL",
            "mod_revision": revision.to_string(),
        });
        let question = json!({ "compare": [compare], "success": [{ "request_put": put }] });
        let answer = self.ask("txn", &question).await?;
        let written = answer["succeeded"] == true;
        if written {
            self.remember(&answer, number(&answer["header"]["revision"]));
        }
        Ok(written)
    }

    fn lost(&self, why: &str) -> Trouble {
        Trouble::Wrong(format!(
            "etcd's data was put back or deleted ({why}): nothing is decided any more. If it is lost \
             for good, `headway node recover --help`"
        ))
    }

    /// Where the roster was written; on disk, because etcd may be put back while this node is off.
    fn remember(&mut self, answer: &Value, revision: u64) {
        let cluster = answer["header"]["cluster_id"].as_str().unwrap_or_default();
        let seen = Seen {
            cluster: cluster.to_owned(),
            revision,
        };
        if seen == self.seen {
            return;
        }
        let bytes = serde_json::to_vec(&seen).unwrap_or_default();
        if let Err(error) = sealed::write(&self.folder, &self.file, &bytes) {
            tracing::error!(%error, "cannot keep what is known of etcd (node.state_dir)");
        }
        self.seen = seen;
    }

    /// Asks one etcd after the other until one answers, and looks whether it is the one.
    async fn ask(&mut self, what: &str, question: &Value) -> Result<Value, Trouble> {
        let mut why = "ring.etcd names none here: give the ring's to every member".to_owned();
        if self.endpoints.is_empty() {
            return Err(Trouble::Wrong(why));
        }
        for _ in 0..self.endpoints.len() {
            let host = self.endpoints[self.turn % self.endpoints.len()].clone();
            let answer = timeout(PATIENCE, ask_one(&host, what, question)).await;
            match answer.unwrap_or_else(|_| Err("it takes too long".to_owned())) {
                Ok(answer) => return self.check(answer),
                Err(error) => why = format!("{host}: {error}"),
            }
            self.turn += 1;
        }
        Err(Trouble::Away(why))
    }

    fn check(&mut self, answer: Value) -> Result<Value, Trouble> {
        let header = &answer["header"];
        let cluster = header["cluster_id"].as_str().unwrap_or_default();
        if !self.seen.cluster.is_empty() && self.seen.cluster != cluster {
            let why = format!("cluster {cluster}, and it was {}", self.seen.cluster);
            return Err(self.lost(&why));
        }
        let revision = number(&header["revision"]);
        if revision < self.latest {
            let why = format!("revision {revision}, and it was {}", self.latest);
            return Err(self.lost(&why));
        }
        self.latest = revision;
        Ok(answer)
    }
}

async fn ask_one(host: &str, what: &str, question: &Value) -> Result<Value, String> {
    let stream = TcpStream::connect(host).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let path = format!("/v3/kv/{what}");
    let answer = exchange(stream, host, "POST", &path, Some(question)).await;
    let (status, body) = answer.map_err(|error| error.to_string())?;
    let answer: Value =
        serde_json::from_slice(&body).map_err(|_| format!("it answers {status}, and no JSON"))?;
    match status {
        StatusCode::OK => Ok(answer),
        _ => Err(format!("it answers {status}: {}", answer["message"])),
    }
}

#[cfg(test)]
mod tests;
