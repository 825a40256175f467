//! Whom this node has invited, and who has come: each token lets in one machine, until it expires
//! or is revoked.
//!
//! Who has used a token is noted on disk before it is answered. It becomes a member as soon as its
//! node is heard, like one that somebody adds.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Membership;
use super::control::Refused;
use super::peers::{BURST, EACH};
use super::roster::{Member, Roster};
use crate::agent::alarm::Reason;
use crate::config::Settings;
use crate::identity::{Identities, NodeKey};
use crate::join::{Ask, Token, TokenId, Word};
use crate::request::{Answer, Refusal, Reply};
use crate::store::{Notes, Store, Sync};

/// Invitations that are remembered at most.
const MAX_INVITATIONS: usize = 256;

/// How long a machine that was let in may take to start, and how long one that comes too late is
/// told so, in seconds.
const TIME_TO_START: u64 = 3600;
const REMEMBERED_FOR: u64 = 24 * 3600;

/// A change that nobody waits for.
const NOBODY: u64 = 0;

/// A token that this node has made, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    id: TokenId,
    proof: [u8; 32],
    expires: u64,
    #[serde(default)]
    revoked: bool,
    /// Who has used it.
    #[serde(default)]
    guest: Option<Member>,
    /// And has become a member, for a while at least.
    #[serde(default)]
    joined: bool,
}

/// What an operator is told of an invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvitationView {
    /// What it is revoked by.
    pub id: String,
    /// Since 1970, in seconds: then it is over.
    pub expires: u64,
    /// `open`, `used`, `expired` or `revoked`.
    pub state: &'static str,
    /// By which machine it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_by: Option<String>,
}

impl Invitation {
    fn of(token: &Token) -> Invitation {
        Invitation {
            id: token.id(),
            proof: token.proof(),
            expires: token.expires,
            revoked: false,
            guest: None,
            joined: false,
        }
    }

    fn state(&self, unix_s: u64) -> &'static str {
        match self {
            Invitation { revoked: true, .. } => "revoked",
            Invitation { guest: Some(_), .. } => "used",
            _ if unix_s >= self.expires => "expired",
            _ => "open",
        }
    }

    fn view(&self, unix_s: u64) -> InvitationView {
        InvitationView {
            id: hex::encode(self.id),
            expires: self.expires,
            state: self.state(unix_s),
            used_by: self.guest.as_ref().map(|guest| guest.name.clone()),
        }
    }

    /// Why the machine with this key is not let in, if it is not.
    fn refusal(&self, unix_s: u64, key: Option<&NodeKey>) -> Option<String> {
        let another = "`headway node invite` on a member prints another";
        match (self.state(unix_s), &self.guest) {
            ("open", _) => None,
            ("used", Some(guest)) if guest.key.as_ref() == key => None,
            ("used", Some(guest)) => Some(format!(
                "the token was used already, by {} at {}. If that is none of your machines, somebody \
                 has seen the token: `headway node remove {}` on a member; {another}",
                guest.name, guest.address, guest.name
            )),
            (state, _) => Some(format!("the token is {state}: {another}")),
        }
    }
}

impl Membership {
    /// What was noted before.
    pub(crate) fn set_invitations(&mut self, invitations: Vec<Invitation>) {
        self.invitations = invitations;
    }

    /// Those that have to survive a restart.
    pub(crate) fn invitations(&self) -> &[Invitation] {
        &self.invitations
    }

    fn unix_s(&self, now: Duration) -> u64 {
        self.epoch.saturating_add(now).as_secs()
    }

    fn forget_invitations(&mut self, now: Duration) {
        let unix_s = self.unix_s(now);
        self.invitations
            .retain(|one| unix_s < one.expires.saturating_add(REMEMBERED_FOR));
    }

    /// Lets one more machine in, for as long.
    pub(crate) fn invite(&mut self, now: Duration, lasts: Duration) -> Reply {
        self.forget_invitations(now);
        let roster = self.current.as_ref().ok_or(Refusal::NoRoster)?;
        let me = roster.member(&self.settings.node.name);
        let by = me.ok_or(Refusal::NoRoster)?.clone();
        if self.invitations.len() >= MAX_INVITATIONS {
            return Err(Refusal::TooManyInvitations);
        }
        let numbers = [(self.random)(), (self.random)()].map(u64::to_be_bytes);
        let token = Token {
            ring: roster.ring.clone(),
            by,
            secret: std::array::from_fn(|at| numbers[at / 8][at % 8]),
            expires: self.unix_s(now).saturating_add(lasts.as_secs()),
        };
        let invitation = Invitation::of(&token);
        let id = hex::encode(invitation.id);
        self.invitations.push(invitation);
        Ok(Answer::Invited {
            id,
            token: token.to_string(),
        })
    }

    /// What has become of all of them.
    pub(crate) fn invited(&self, now: Duration) -> Answer {
        let unix_s = self.unix_s(now);
        let views = self.invitations.iter().map(|one| one.view(unix_s));
        Answer::Invitations(views.collect())
    }

    /// Nobody comes by this one any more, who is no member yet.
    pub(crate) fn revoke(&mut self, now: Duration, id: &str) -> Reply {
        let mut all = self.invitations.iter_mut();
        let found = all.find(|one| hex::encode(one.id) == id);
        let found = found.ok_or(Refusal::NoInvitation)?;
        if let (true, Some(guest)) = (found.joined, &found.guest) {
            return Err(Refusal::Joined(guest.name.clone()));
        }
        found.revoked = true;
        Ok(self.invited(now))
    }

    /// Somebody asks to be let in. Nobody is unless that can be noted.
    pub(crate) fn handle_join(&mut self, now: Duration, datagram: &[u8], can_note: bool) {
        let Some(ask) = Ask::read(datagram) else {
            return self.reject(Reason::Control(Refused::Malformed));
        };
        let word = match self.invitations.iter().position(|one| one.id == ask.id) {
            Some(at) if ask.has_shown(&self.invitations[at].proof) => {
                match self.let_in(now, at, &ask.member, can_note) {
                    Ok(Some(welcome)) => welcome,
                    // The next question is answered: by then it is on the disk.
                    Ok(None) => return,
                    Err(why) => Word::Refused(why),
                }
            }
            _ => {
                self.reject(Reason::Control(Refused::Unauthenticated));
                // A stranger makes this node send no more than it sends itself, and not often.
                if self.unauthenticated.saturating_sub(now) > BURST {
                    return;
                }
                self.unauthenticated = self.unauthenticated.max(now) + EACH;
                Word::Refused(format!(
                    "{} has made no such token, or has forgotten it: `headway node invite` prints one",
                    self.settings.node.name
                ))
            }
        };
        let answer = self.own_key().and_then(|own| {
            let sign = |bytes: &[u8]| self.keyring.sign_with(&own, bytes);
            ask.answer(&word, sign)
        });
        if let Some(answer) = answer {
            self.ready.push_back((ask.member.address, answer));
        }
    }

    /// Lets a machine in that has shown the token of an invitation. Nothing yet if it is to be noted
    /// first.
    fn let_in(
        &mut self,
        now: Duration,
        at: usize,
        member: &Member,
        can_note: bool,
    ) -> Result<Option<Word>, String> {
        let unix_s = self.unix_s(now);
        let roster = self.current.as_ref().ok_or("it has no membership yet")?;
        let invitation = &mut self.invitations[at];
        if let Some(why) = invitation.refusal(unix_s, member.key.as_ref()) {
            return Err(why);
        }
        if !can_note {
            return Err("it cannot write down whom it lets in: see its alarms".into());
        }
        if !invitation.joined {
            if let Err(why) = roster.with(member.clone(), None) {
                return Err(format!(
                    "{why}: give this machine a --name and an --address of its own"
                ));
            }
            if invitation.guest.as_ref() != Some(member) {
                tracing::info!(name = %member.name, address = %member.address, "is let in by a token");
                invitation.guest = Some(member.clone());
                invitation.expires = invitation.expires.max(unix_s + TIME_TO_START);
                return Ok(None);
            }
        }
        Ok(Some(Word::Welcome {
            voters: roster.voters().cloned().collect(),
            operator: roster.operator,
        }))
    }

    /// Those who were let in and are no members yet.
    pub(super) fn invited_guests(&self) -> impl Iterator<Item = &Member> {
        let coming = self.invitations.iter();
        let coming = coming.filter(|one| !one.revoked && !one.joined);
        coming.filter_map(|one| one.guest.as_ref())
    }

    /// Somebody is there: if it was let in, it becomes a member.
    pub(super) fn admit(&mut self, now: Duration, name: &str) {
        let mut guests = self.invited_guests();
        let Some(member) = guests.find(|guest| guest.name == name).cloned() else {
            return;
        };
        drop(guests);
        let idle = self.poll.is_none() && self.proposals.is_empty();
        let unknown = self
            .current
            .as_ref()
            .is_some_and(|roster| roster.member(name).is_none());
        if idle && unknown {
            // It is heard: there is no need to ask whether it is there.
            self.handle_add(now, NOBODY, member, None, true);
        }
    }

    /// There is a new roster: who was let in may be a member by now.
    pub(super) fn follow_guests(&mut self, new: &Roster) {
        for one in &mut self.invitations {
            let guest = one.guest.as_ref();
            let member = guest.and_then(|guest| new.member(&guest.name));
            one.joined |= member.is_some_and(|member| Some(member) == guest);
        }
    }
}

/// Makes the first node of a ring, which is its only member, with a token for the next one: its key
/// pairs, and what it has to remember.
///
/// # Errors
///
/// When its files cannot be written, or there was a node here.
pub fn found(settings: &Settings, lasts: Duration) -> Result<Token, String> {
    let folder: &Path = &settings.node.state_dir;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let identities = Identities::open(&settings.identity_file());
    let key = identities.map_err(|error| error.to_string())?.public();
    let mut secret = [0; 16];
    getrandom::fill(&mut secret).map_err(|error| error.to_string())?;
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let token = Token {
        ring: settings.ring.name.clone(),
        by: Member {
            name: settings.node.name.clone(),
            address: settings.node.advertise.clone().unwrap_or_default(),
            key: Some(key),
            ..Member::default()
        },
        secret,
        expires: since.unwrap_or_default().as_secs() + lasts.as_secs(),
    };
    let mut store = Store::open(folder, Sync::Always).map_err(failed)?;
    if store.kept().roster.is_some() {
        return Err(format!("{} has a node's state already", folder.display()));
    }
    let notes = Notes {
        invitations: vec![Invitation::of(&token)],
        ..Notes::default()
    };
    store.save_notes(&notes).map_err(failed)?;
    Ok(token)
}
