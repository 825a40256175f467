//! Real nodes, watched: each is asked for its status again and again, and the
//! answers are put together to one picture.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::StatusCode;
use headway_service::Status;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{RwLock, watch};

mod client;
mod summary;

pub use client::{NodeUrl, NodeUrlError};
pub use summary::{HolderView, SilentView, StandingView, Summary};

use client::ask;
use headway_page::ApiError;
use headway_page::runs::event;

/// How often a node is asked.
pub(crate) const POLL: Duration = Duration::from_millis(1_000);
/// A node that takes longer counts as unreachable.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// More nodes than this are not watched.
pub const MAX_NODES: usize = 1_000;

/// What the nodes of a fleet say.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FleetView {
    /// How often each is asked.
    pub polled_every_ms: u64,
    /// In the order in which they were given.
    pub nodes: Vec<NodeView>,
    /// Put together.
    pub summary: Summary,
    /// Rollouts, the latest first, as one of the nodes tells them (`GET /v1/rollouts`).
    pub rollouts: Vec<Value>,
    /// Whether the page may pause, resume and abort them.
    pub may_order: bool,
    /// Whether the page may kill and start nodes, which are there for a demonstration.
    pub may_kill: bool,
}

/// What one node says.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NodeView {
    /// Where it is.
    pub url: String,
    /// Whether it answered when it was last asked.
    pub reachable: bool,
    /// Why not; nothing as long as it has not been asked.
    pub error: Option<String>,
    /// How old `status` is.
    pub age_ms: Option<u64>,
    /// What it last said.
    pub status: Option<Status>,
}

/// What changes when tokens move: hops, and the numbers of what is held.
fn progress(status: &Status) -> (u64, Vec<u64>) {
    let held = status.holding.iter().map(|held| held.fencing);
    (status.hops, held.collect())
}

/// The nodes that are watched.
pub(crate) struct Fleet {
    urls: Vec<NodeUrl>,
    powers: Powers,
    seen: RwLock<AllSeen>,
    latest: watch::Sender<Option<Bytes>>,
}

/// What the page may do to a fleet, beside looking at it.
#[derive(Clone, Debug, Default)]
pub struct Powers {
    /// The Unix socket of a node, which takes orders about rollouts.
    pub node_socket: Option<PathBuf>,
    /// Takes `k NAME` to kill a node of a demonstration, and `r` to start those again.
    pub demonstration: Option<Sender<String>>,
}

/// What is known of all of them.
struct AllSeen {
    nodes: Vec<Seen>,
    rollouts: Vec<Value>,
    /// When a token was last seen to move.
    moved: Instant,
}

/// What is known of a node.
#[derive(Clone, Debug, Default)]
struct Seen {
    error: Option<String>,
    status: Option<(Status, Instant)>,
    asked: bool,
}

impl Fleet {
    pub(crate) fn new(urls: Vec<NodeUrl>, powers: Powers) -> Fleet {
        Fleet {
            powers,
            seen: RwLock::new(AllSeen {
                nodes: vec![Seen::default(); urls.len()],
                rollouts: Vec::new(),
                moved: Instant::now(),
            }),
            urls,
            latest: watch::Sender::new(None),
        }
    }

    /// What is known now.
    pub(crate) async fn view(&self) -> FleetView {
        let now = Instant::now();
        let seen = self.seen.read().await;
        let nodes: Vec<NodeView> = self
            .urls
            .iter()
            .zip(&seen.nodes)
            .map(|(url, seen)| seen.view(url, now))
            .collect();
        FleetView {
            polled_every_ms: POLL.as_millis() as u64,
            summary: Summary::of(&nodes, now.saturating_duration_since(seen.moved)),
            rollouts: seen.rollouts.clone(),
            may_order: self.powers.node_socket.is_some(),
            may_kill: self.powers.demonstration.is_some(),
            nodes,
        }
    }

    pub(crate) async fn watch(&self) -> Result<watch::Receiver<Option<Bytes>>, ApiError> {
        let receiver = self.latest.subscribe();
        self.publish().await?;
        Ok(receiver)
    }

    async fn publish(&self) -> Result<(), ApiError> {
        let view = self.view().await;
        self.latest.send_replace(Some(event("fleet", &view)?));
        Ok(())
    }

    /// Asks every node every [`POLL`], each on its own, until told to stop.
    pub(crate) async fn poll(self: Arc<Fleet>, mut stop: watch::Receiver<()>) {
        let mut asking = tokio::task::JoinSet::new();
        for node in 0..self.urls.len() {
            asking.spawn(Arc::clone(&self).poll_one(node));
        }
        asking.spawn(Arc::clone(&self).poll_rollouts());
        let publishing = async {
            loop {
                tokio::time::sleep(POLL / 2).await;
                if self.latest.receiver_count() > 0 {
                    // A view that cannot be written is not sent; the next may be.
                    let _ = self.publish().await;
                }
            }
        };
        tokio::select! {
            () = publishing => {}
            _ = stop.changed() => {}
        }
        self.latest.send_replace(None);
    }

    async fn poll_one(self: Arc<Fleet>, node: usize) {
        loop {
            let answer = self.ask_status(node).await;
            {
                let mut seen = self.seen.write().await;
                let AllSeen { nodes, moved, .. } = &mut *seen;
                nodes[node].asked = true;
                match answer {
                    Ok(status) => {
                        let now = Instant::now();
                        let before = nodes[node].status.as_ref();
                        if before.is_none_or(|(before, _)| progress(before) != progress(&status)) {
                            *moved = now;
                        }
                        nodes[node].error = None;
                        nodes[node].status = Some((status, now));
                    }
                    Err(error) => nodes[node].error = Some(error),
                }
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// All nodes know all rollouts, so one that answers is enough.
    async fn poll_rollouts(self: Arc<Fleet>) {
        loop {
            tokio::time::sleep(POLL).await;
            let answers = |seen: &Seen| seen.asked && seen.error.is_none();
            let node = self.seen.read().await.nodes.iter().position(answers);
            let Some(node) = node else { continue };
            let asked = in_time(ask(&self.urls[node], "GET", "/v1/rollouts")).await;
            let told = asked.ok().filter(|(status, _)| *status == 200);
            let told = told.and_then(|(_, body)| serde_json::from_slice::<Value>(&body).ok());
            if let Some(Value::Array(rollouts)) = told.map(|mut told| told["rollouts"].take()) {
                self.seen.write().await.rollouts = rollouts;
            }
        }
    }

    /// Orders a rollout: `pause`, `resume` or `abort`.
    pub(crate) async fn order(&self, name: &str, what: &str) -> Result<(), ApiError> {
        let socket = self.powers.node_socket.as_deref().ok_or_else(|| {
            let message = "start with --node-socket SOCKET to order rollouts from the page";
            ApiError::forbidden("no_orders", message)
        })?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !matches!(what, "pause" | "resume" | "abort") || !name.chars().all(plain) {
            let message = "expected /api/fleet/rollouts/NAME/ with pause, resume or abort";
            return Err(ApiError::invalid("what", message));
        }
        let failed = |why: String| {
            let message = format!("{}: {why}", socket.display());
            ApiError::new(StatusCode::BAD_GATEWAY, "node", message)
        };
        let path = format!("/v1/rollouts/{name}/{what}");
        let asked = client::ask_socket(socket, "POST", &path);
        match in_time(asked).await.map_err(failed)? {
            (200..=299, _) => Ok(()),
            (status, body) => {
                let said: Value = serde_json::from_slice(&body).unwrap_or_default();
                let why = said["error"].as_str().map(str::to_owned);
                Err(failed(
                    why.unwrap_or_else(|| format!("it answers {status}")),
                ))
            }
        }
    }

    /// Kills a node of a demonstration, or starts again those that were killed.
    pub(crate) fn demonstrate(&self, name: &str, what: &str) -> Result<(), ApiError> {
        let demonstration = self.powers.demonstration.as_ref().ok_or_else(|| {
            ApiError::forbidden("no_demonstration", "these nodes are no demonstration")
        })?;
        let order = match what {
            "kill" if name.chars().all(|c| c.is_ascii_alphanumeric()) => format!("k {name}"),
            "start" => "r".to_owned(),
            _ => return Err(ApiError::invalid("what", "expected kill or start")),
        };
        demonstration.send(order).map_err(|_| ApiError::internal())
    }

    async fn ask_status(&self, node: usize) -> Result<Status, String> {
        let asked = ask(&self.urls[node], "GET", "/v1/status");
        let (status, body) = in_time(asked).await?;
        if status != 200 {
            return Err(format!("it answers {status}"));
        }
        serde_json::from_slice(&body).map_err(|error| format!("it answers no status: {error}"))
    }
}

async fn in_time<T>(asked: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(answer) => answer,
        Err(_) => Err(format!("no answer in {} ms", PATIENCE.as_millis())),
    }
}

impl Seen {
    fn view(&self, url: &NodeUrl, now: Instant) -> NodeView {
        let age =
            |(_, at): &(Status, Instant)| now.saturating_duration_since(*at).as_millis() as u64;
        NodeView {
            url: url.to_string(),
            reachable: self.asked && self.error.is_none(),
            error: self.error.clone(),
            age_ms: self.status.as_ref().map(age),
            status: self.status.as_ref().map(|(status, _)| status.clone()),
        }
    }
}
