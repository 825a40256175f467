//! What the rest of the program asks of the thread that runs the protocol, and what that
//! answers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use headway_node::PlanError;
use headway_node::transport::Waker;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::oneshot;

use crate::agent::Status;
use crate::config::Settings;
use crate::identity::{Identity, SignerKey};
use crate::membership::Word;
use crate::membership::invite::InvitationView;
use crate::membership::roster::{Member, Roster, RosterError, TermsChange};
use crate::permits::{Grant, Holder, Outcome};
use crate::rollouts::view::RolloutView;
use crate::rollouts::{Ask, Wanted};

/// How many requests wait at most.
pub(crate) const MAX_REQUESTS: usize = 256;

/// Which request an answer belongs to.
pub(crate) type RequestId = u64;

/// What a program's permit is known by: whoever knows it may extend it and give it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ticket(pub u128);

impl fmt::Display for Ticket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

impl From<Ticket> for String {
    fn from(ticket: Ticket) -> String {
        ticket.to_string()
    }
}

impl TryFrom<String> for Ticket {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Ticket, Self::Error> {
        let read = u128::from_str_radix(&text, 16).map(Ticket);
        read.map_err(|_| "expected the id of a permit, 32 hexadecimal digits")
    }
}

/// Something to do.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Request {
    /// A program wants a permit. Its answer comes with the permit.
    Acquire { ticket: Ticket, lease: Duration },
    /// It does not wait any more.
    Forget { ticket: Ticket },
    /// It needs longer.
    Extend { ticket: Ticket, lease: Duration },
    /// It is done.
    Release { ticket: Ticket },
    /// It wants to know.
    Look { ticket: Ticket },
    /// The command is to run at the next permit; with `wait` the answer comes when it has ended.
    AskCommand { wait: bool },
    /// A FleetLock client wants a slot.
    Lock { group: String, id: String },
    /// It has come back.
    Unlock { group: String, id: String },
    /// The command runs as this process, started at that time.
    CommandStarted { process: (i32, u64) },
    /// The command has ended.
    CommandEnded {
        grant: Grant,
        outcome: Outcome,
        took: Duration,
    },
    /// What the node is doing.
    Status,
    /// Who is on the ring.
    Roster,
    /// One more member; with `force` even if it does not answer.
    Add {
        member: Member,
        after: Option<String>,
        force: bool,
    },
    /// One member less; with `gone` somebody says that its machine is off.
    Remove { name: String, gone: bool },
    /// Others come and go, as somebody lists them; who does not answer is not added.
    Follow {
        add: Vec<Member>,
        remove: Vec<String>,
    },
    /// Other terms.
    Set(TermsChange),
    /// Most voters are gone for good: the others go on without these members.
    Recover { gone: Vec<String>, word: Word },
    /// Other key pairs for this node.
    Rotate(Box<Identity>),
    /// Another key for the operator, signed with the old one.
    RotateOperator { key: SignerKey, signature: String },
    /// Somebody starts a rollout.
    StartRollout(Wanted),
    /// Somebody says whether it goes on.
    OrderRollout { name: String, ask: Ask },
    /// What is known of rollouts.
    Rollouts,
    /// A step of a rollout has ended; an error says why it has failed.
    StepEnded {
        grant: Grant,
        result: Result<(), String>,
        took: Duration,
    },
    /// Somebody wants a token that lets one machine in, for as long.
    Invite { lasts: Duration },
    /// What has become of all tokens.
    Invitations,
    /// One lets nobody in any more.
    Revoke { id: String },
    /// New settings.
    Reload(Box<Settings>),
    /// The node is to stop.
    Stop,
}

/// The answer to a request.
pub(crate) type Reply = Result<Answer, Refusal>;

/// Yes, and what was asked for.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A permit.
    Permit(Given),
    /// A permit, looked at.
    View(PermitView),
    /// How long a permit lasts now.
    Lasts(Duration),
    /// A permit was given back.
    Released,
    /// The command will run.
    CommandAsked,
    /// It has ended.
    CommandEnded(Outcome),
    /// A FleetLock client has its slot from now on.
    Locked(Holder),
    /// It has it as before, or has given it back.
    Slot,
    /// What the node is doing.
    Status(Box<Status>),
    /// Who is on the ring.
    Roster(Box<Roster>),
    /// The roster that was made.
    Changed(Changed),
    /// A roster that an operator has to sign.
    Unsigned(String),
    /// What is known of rollouts, the latest first.
    Rollouts(Vec<RolloutView>),
    /// A token, and what it is revoked by.
    #[expect(missing_docs, reason = "the fields say what they are")]
    Invited { id: String, token: String },
    /// What has become of all of them.
    Invitations(Vec<InvitationView>),
}

/// A roster that was decided upon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Its version.
    pub version: u64,
    /// How many tokens travel, and how many did before.
    pub tokens: u32,
    /// Before that.
    pub tokens_before: u32,
    /// How many tokens are wanted.
    pub tokens_wanted: u32,
    /// How far apart.
    pub separation: u32,
    /// Members of the ring.
    pub members: usize,
    /// Of several changes, whom they do not include, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, String>,
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The protocol's thread is gone or far behind.
    #[error("the node is not answering")]
    NotAnswering,
    /// No such permit.
    #[error("there is no such permit: it was given back, withdrawn or has lapsed")]
    NoPermit,
    /// Perhaps there is no such permit any more.
    #[error(
        "this node was restarted, and asks its neighbours whether the permit still counts: ask again"
    )]
    NotKnownYet,
    /// The client's turn has not come.
    #[error("not your turn yet: asked for, ask again")]
    NotYet,
    /// What nobody will remember is not promised.
    #[error(
        "this node cannot write down who has a permit, and grants none: see its alarm, and make \
         room in node.state_dir"
    )]
    NotKept,
    /// The queue is full.
    #[error("too many wait for a permit here already: ask again later")]
    Full,
    /// No command to run.
    #[error("there is no command: set command.run")]
    NoCommand,
    /// Nobody has told this node who is on the ring.
    #[error("this node has no membership yet")]
    NoRoster,
    /// One change at a time.
    #[error("another change is under way: try again in a moment")]
    Busy,
    /// Another change came first.
    #[error("the membership has just been changed by somebody else: try again")]
    Superseded,
    /// Nobody would be left to ask a member that may not know that it is left out.
    #[error(
        "{0} and both its neighbours would be gone: wait until the ring has settled without the \
         first, or, if you know that their machines are off, use --gone"
    )]
    Segment(String),
    /// Somebody says that a machine is off that is not.
    #[error(
        "{0} was heard a moment ago, and --gone is for machines that are off: switch it off, and say it \
         again a few seconds later; or remove it without --gone"
    )]
    Heard(String),
    /// The node to be added does not answer.
    #[error(
        "{0} does not answer at {1}: start it first, with its own key as --key says, and this member \
         among its ring.members"
    )]
    Unreachable(String, String),
    /// A change that its owner has to sign.
    #[error(
        "not signed with the key that is to be replaced, or that the membership names: an operator gives \
         the file with that one as --recovery-key"
    )]
    NotSigned,
    /// No operator's word counts.
    #[error(
        "the membership names no operator (ring.recovery_key): say it without --recovery-key, on every \
         machine that is left"
    )]
    NoOperator,
    /// Not again yet.
    #[error(
        "this node has just changed its key: again when everybody has the new one, which is when the \
         ring has settled and nobody is bypassed, or a day later"
    )]
    Rotating,
    /// They can still decide.
    #[error(
        "{0} of {1} voters of the membership would be left, which is a majority: use `headway node \
         remove` for each"
    )]
    Majority(usize, usize),
    /// Another machine has that name, and may not have ended.
    #[error(
        "the ring has not settled since the other machine named {0} was removed, which may still use \
         a permit: wait until `headway node status` says settled, or take another name"
    )]
    OldName(String),
    /// Nobody would be left to share a ring with.
    #[error(
        "one member would be left, and a ring has two at least: begin a new ring with another \
         machine, as docs/operators/voters.md says"
    )]
    Alone,
    /// Nobody was invited by it.
    #[error(
        "there is no such invitation here: `headway node invite --made` has those of this node"
    )]
    NoInvitation,
    /// It is too late to revoke.
    #[error("{0} has joined by it already: `headway node remove {0}`")]
    Joined(String),
    /// More than anybody uses.
    #[error("too many invitations are open: revoke some, or wait until they have expired")]
    TooManyInvitations,
    /// A key that could not be kept.
    #[error("{0}")]
    Unkept(String),
    /// Nobody knows whether it will be decided upon.
    #[error("{0}")]
    Undecided(String),
    /// A rollout that cannot be, or is not there.
    #[error("{0}")]
    Rollout(String),
    /// Terms that no ring can have.
    #[error("{0}")]
    Terms(String),
    /// No change at all.
    #[error("nothing would be different")]
    NothingNew,
    /// The roster would make no sense.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// The tokens would not fit.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// A permit that a program was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// What it is known by.
    pub ticket: Ticket,
    /// Its token.
    pub grant: Grant,
    /// How long it lasts unless extended.
    pub lease: Duration,
    /// How long it can be extended to.
    pub time: Duration,
    /// How long there is from being asked back to the end.
    pub stop_timeout: Duration,
}

/// A program's permit, looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermitView {
    /// What it is known by.
    pub ticket: Ticket,
    /// Its token.
    pub grant: Grant,
    /// How long it lasts unless extended.
    pub left: Duration,
    /// It has to be given back now.
    pub asked_back: bool,
}

/// A request on its way, and where its answer goes.
pub(crate) type Envelope = (Request, Option<oneshot::Sender<Reply>>);

/// Asks the protocol's thread.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    requests: SyncSender<Envelope>,
    waker: Waker,
}

impl Handle {
    /// Requests go into `requests`; `waker` makes the thread look.
    pub(crate) fn new(requests: SyncSender<Envelope>, waker: Waker) -> Handle {
        Handle { requests, waker }
    }

    /// Hands over a request whose answer nobody needs. It is lost if the thread is far behind.
    pub(crate) fn tell(&self, request: Request) {
        if self.requests.try_send((request, None)).is_ok() {
            self.waker.wake();
        }
    }

    /// Hands over a request that must not be lost, and tries until there is room.
    pub(crate) async fn insist(&self, request: Request) {
        let mut envelope = (request, None);
        loop {
            match self.requests.try_send(envelope) {
                Ok(()) => return self.waker.wake(),
                Err(TrySendError::Full(back)) => envelope = back,
                Err(TrySendError::Disconnected(_)) => return,
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Asks, and waits for the answer; nothing if none comes within `longest`.
    ///
    /// # Errors
    ///
    /// When the node says no, or its thread is gone or far behind.
    pub(crate) async fn ask(
        &self,
        request: Request,
        longest: Duration,
    ) -> Result<Option<Answer>, Refusal> {
        let (reply, answer) = oneshot::channel();
        let sent = self.requests.try_send((request, Some(reply)));
        sent.map_err(|_| Refusal::NotAnswering)?;
        self.waker.wake();
        match tokio::time::timeout(longest, answer).await {
            Ok(Ok(reply)) => reply.map(Some),
            Ok(Err(_)) => Err(Refusal::NotAnswering),
            Err(_) => Ok(None),
        }
    }
}
