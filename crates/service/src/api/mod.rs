//! The node's HTTP interface: on its Unix socket everything, on an HTTP address
//! everything but what changes the ring, and what changes anything only with a token
//! ([`admission`]).
//!
//! | what | answer |
//! |---|---|
//! | `GET /v1/status` | [`Status`](crate::agent::Status) |
//! | `POST /v1/permits` `{"wait_ms", "lease_ms"}` | 200 with a permit, or 204 when none came in time |
//! | `GET /v1/permits/ID` | how long it lasts, and whether it is asked back |
//! | `POST /v1/permits/ID/extend` `{"lease_ms"}` | how long it lasts now |
//! | `POST /v1/permits/ID/release` | it is given back |
//! | `POST /v1/command` | the command runs at the next permit |
//! | `POST /v1/pre-reboot`, `POST /v1/steady-state` | FleetLock |
//! | `GET /healthz`, `GET /readyz`, `GET /metrics` | for machines that watch |
//! | `GET /v1/membership`, `POST /v1/members`, `PATCH /v1/members`, `DELETE /v1/members/NAME` (`?gone=true`), `PATCH /v1/ring-settings`, `POST /v1/recover`, `POST /v1/rotate-key`, `POST /v1/recovery-key`, `GET` and `POST /v1/invitations`, `DELETE /v1/invitations/ID` | the ring; changes on the socket only |

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, patch, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use crate::agent::Status;
use crate::config::Settings;
use crate::identity::{Identity, NodeKey, SignerKey};
use crate::membership::PROPOSE_FOR;
use crate::membership::Word;
use crate::membership::roster::{Member, TermsChange};
use crate::permits::Outcome;
use crate::request::{Answer, Handle, Refusal, Reply, Request, Ticket};

pub(crate) mod admission;
mod extract;
pub(crate) mod fleetlock;
mod permits;
mod rollouts;

use extract::{Body, Said};

/// How long the protocol's thread may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Larger than any body that makes sense.
const MAX_BODY_BYTES: usize = 16 << 10;

/// What all answers are made from.
pub(crate) struct App {
    handle: Handle,
    settings: watch::Receiver<Settings>,
    /// What has to be shown over HTTP to change something.
    token: Option<String>,
    /// Gives numbers that nobody can guess.
    random: fn() -> u64,
    /// Places for requests that wait for a permit.
    waiting: Semaphore,
}

type Shared = State<Arc<App>>;

impl App {
    /// Asks `handle`; whoever changes something over HTTP has to show `token`.
    pub(crate) fn new(
        handle: Handle,
        settings: watch::Receiver<Settings>,
        token: Option<String>,
        random: fn() -> u64,
    ) -> Arc<App> {
        Arc::new(App {
            handle,
            settings,
            token,
            random,
            waiting: Semaphore::new(admission::MAX_WAITING),
        })
    }

    /// Room for a request that waits for a permit, for as long as it is kept.
    fn place(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        self.waiting.try_acquire().map_err(|_| Refusal::Full)
    }

    fn ticket(&self) -> Ticket {
        Ticket(u128::from((self.random)()) << 64 | u128::from((self.random)()))
    }

    async fn ask(&self, request: Request) -> Reply {
        self.ask_for(request, PATIENCE).await
    }

    async fn ask_for(&self, request: Request, longest: Duration) -> Reply {
        let answer = self.handle.ask(request, longest).await?;
        answer.ok_or(Refusal::NotAnswering)
    }

    async fn status(&self) -> Result<Status, Refusal> {
        match self.ask(Request::Status).await? {
            Answer::Status(status) => Ok(*status),
            _ => Err(Refusal::NotAnswering),
        }
    }
}

/// For the Unix socket.
fn local_routes(app: Arc<App>) -> Router {
    let more = Router::new()
        .route("/v1/members", post(add).patch(follow))
        .route("/v1/ring-settings", patch(set))
        .route("/v1/members/{name}", delete(remove))
        .route("/v1/recover", post(recover))
        .route("/v1/rotate-key", post(rotate))
        .route("/v1/recovery-key", post(rotate_operator))
        .route("/v1/invitations", get(invitations).post(invite))
        .route("/v1/invitations/{id}", delete(revoke))
        .route("/v1/command", post(ask_command))
        .route("/v1/rollouts", post(rollouts::start))
        .route("/v1/rollouts/{name}/{what}", post(rollouts::order))
        .with_state(Arc::clone(&app));
    more.merge(routes(app))
}

/// For an HTTP address.
fn routes(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/status", get(status))
        .route("/v1/permits", post(permits::acquire))
        .route("/v1/permits/{id}", get(permits::look))
        .route("/v1/permits/{id}/extend", post(permits::extend))
        .route("/v1/permits/{id}/release", post(permits::release))
        .route("/v1/membership", get(roster))
        .route("/v1/rollouts", get(rollouts::all))
        .route("/v1/pre-reboot", any(fleetlock::pre_reboot))
        .route("/v1/steady-state", any(fleetlock::steady_state))
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .fallback(|| async { problem(StatusCode::NOT_FOUND, "there is nothing here") })
        .with_state(app)
}

/// An error for people and programs.
fn problem(status: StatusCode, message: impl Into<String>) -> Response {
    (status, Json(json!({ "error": message.into() }))).into_response()
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Refusal::NotAnswering | Refusal::NotKnownYet | Refusal::NotKept => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Refusal::Full => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Undecided(_) => StatusCode::GATEWAY_TIMEOUT,
            Refusal::NoPermit | Refusal::NoRoster | Refusal::NoInvitation => StatusCode::NOT_FOUND,
            _ => StatusCode::CONFLICT,
        };
        problem(status, self.to_string())
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let milliseconds = |time: Duration| time.as_millis() as u64;
        let body = match self {
            Answer::Permit(given) => json!({
                "permit": given.ticket.to_string(),
                "token": given.grant.token,
                "fencing": given.grant.fence,
                "lease_ms": milliseconds(given.lease),
                "most_ms": milliseconds(given.time),
                "stop_timeout_ms": milliseconds(given.stop_timeout),
            }),
            Answer::View(view) => json!({
                "permit": view.ticket.to_string(),
                "token": view.grant.token,
                "fencing": view.grant.fence,
                "lease_ms": milliseconds(view.left),
                "asked_back": view.asked_back,
            }),
            Answer::Lasts(lasts) => json!({ "lease_ms": milliseconds(lasts) }),
            Answer::Released => json!({ "released": true }),
            Answer::CommandAsked => json!({ "asked": true }),
            Answer::CommandEnded(outcome) => {
                json!({ "succeeded": outcome == Outcome::Succeeded })
            }
            Answer::Locked(_) | Answer::Slot => json!({}),
            Answer::Changed(changed) => return Json(changed).into_response(),
            Answer::Unsigned(roster) => json!({ "unsigned": roster }),
            Answer::Status(status) => return Json(status).into_response(),
            Answer::Roster(roster) => return Json(roster).into_response(),
            Answer::Rollouts(rollouts) => json!({ "rollouts": rollouts }),
            Answer::Invited { id, token } => json!({ "id": id, "token": token }),
            Answer::Invitations(all) => json!({ "invitations": all }),
        };
        Json(body).into_response()
    }
}

async fn status(State(app): Shared) -> Reply {
    app.ask(Request::Status).await
}

async fn roster(State(app): Shared) -> Reply {
    app.ask(Request::Roster).await
}

/// How the command is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// How long to wait for its end.
    #[serde(default)]
    wait_ms: u64,
}

async fn ask_command(
    State(app): Shared,
    Said(Query(Run { wait_ms })): Said<Query<Run>>,
) -> Result<Response, Refusal> {
    let wait = Duration::from_millis(wait_ms).min(permits::MAX_WAIT);
    let _place = (wait_ms > 0).then(|| app.place()).transpose()?;
    let request = Request::AskCommand { wait: wait_ms > 0 };
    let answer = app.handle.ask(request, wait.max(PATIENCE)).await?;
    let none = || StatusCode::NO_CONTENT.into_response();
    Ok(answer.map_or_else(none, IntoResponse::into_response))
}

/// A member to add.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Added {
    name: String,
    address: String,
    #[serde(default)]
    http: Option<String>,
    #[serde(default)]
    key: Option<NodeKey>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    force: bool,
}

async fn add(State(app): Shared, Body(added): Body<Added>) -> Reply {
    let window = app.settings.borrow().membership.window;
    let member = Member {
        name: added.name,
        address: added.address,
        http: added.http,
        key: added.key,
    };
    let request = Request::Add {
        member,
        after: added.after,
        force: added.force,
    };
    app.ask_for(request, PATIENCE + window + PROPOSE_FOR).await
}

/// A token for one machine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Invited {
    lasts_s: u64,
}

async fn invite(State(app): Shared, Body(Invited { lasts_s }): Body<Invited>) -> Reply {
    let lasts = Duration::from_secs(lasts_s);
    app.ask(Request::Invite { lasts }).await
}

async fn invitations(State(app): Shared) -> Reply {
    app.ask(Request::Invitations).await
}

async fn revoke(State(app): Shared, Said(Path(id)): Said<Path<String>>) -> Reply {
    app.ask(Request::Revoke { id }).await
}

/// How a member is removed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Removed {
    #[serde(default)]
    gone: bool,
}

async fn remove(
    State(app): Shared,
    Said(Path(name)): Said<Path<String>>,
    Said(Query(Removed { gone })): Said<Query<Removed>>,
) -> Reply {
    let request = Request::Remove { name, gone };
    app.ask_for(request, PATIENCE + PROPOSE_FOR).await
}

/// Who comes and who goes, by one change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Followed {
    #[serde(default)]
    add: Vec<Member>,
    #[serde(default)]
    remove: Vec<String>,
}

async fn follow(State(app): Shared, Body(Followed { add, remove }): Body<Followed>) -> Reply {
    let window = app.settings.borrow().membership.window;
    let request = Request::Follow { add, remove };
    app.ask_for(request, PATIENCE + window + PROPOSE_FOR).await
}

async fn set(State(app): Shared, Body(change): Body<TermsChange>) -> Reply {
    app.ask_for(Request::Set(change), PATIENCE + PROPOSE_FOR)
        .await
}

/// Members that are gone for good, most voters among them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gone {
    gone: Vec<String>,
    /// Says what an operator would have to sign, and changes nothing.
    #[serde(default)]
    unsigned: bool,
    /// The operator's, in hexadecimal digits.
    #[serde(default)]
    signature: Option<String>,
}

async fn recover(State(app): Shared, Body(asked): Body<Gone>) -> Reply {
    let word = match asked.signature {
        _ if asked.unsigned => Word::Asked,
        None => Word::Here,
        Some(text) => {
            let mut signature = [0; 64];
            let read = hex::decode_to_slice(text, &mut signature);
            read.map_err(|_| Refusal::NotSigned)?;
            Word::Operator(Box::new(signature))
        }
    };
    let gone = asked.gone;
    app.ask(Request::Recover { gone, word }).await
}

/// Other key pairs for this node.
async fn rotate(State(app): Shared) -> Reply {
    let next = Identity::generate();
    let next = next.map_err(|error| Refusal::Unkept(format!("cannot make a key: {error}")))?;
    let request = Request::Rotate(Box::new(next));
    app.ask_for(request, PATIENCE + PROPOSE_FOR).await
}

/// Another key for the operator.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Operator {
    key: SignerKey,
    /// By the old one, in hexadecimal digits.
    signature: String,
}

async fn rotate_operator(
    State(app): Shared,
    Body(Operator { key, signature }): Body<Operator>,
) -> Reply {
    let request = Request::RotateOperator { key, signature };
    app.ask_for(request, PATIENCE + PROPOSE_FOR).await
}

/// The protocol's thread answers.
async fn health(State(app): Shared) -> Result<&'static str, Refusal> {
    app.status().await.map(|_| "ok\n")
}

/// See [`Status::is_ready`].
async fn ready(State(app): Shared) -> Result<Response, Refusal> {
    let status = app.status().await?;
    Ok(if status.is_ready() {
        "ready\n".into_response()
    } else {
        let silent: Vec<&String> = status.unheard.iter().map(|one| &one.name).collect();
        let why = format!(
            "{}; silent: {silent:?}; alarms: {:?}",
            status.phase, status.alarms
        );
        problem(StatusCode::SERVICE_UNAVAILABLE, why)
    })
}

async fn metrics(State(app): Shared) -> Result<Response, Refusal> {
    let text = crate::metrics::text(&app.status().await?);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
