//! Joining a ring by one line: the token that a member prints, and what a new machine and that
//! member say to each other.
//!
//! A token has the address and the key of the member that made it, the ring's name, a secret, and
//! until when the secret lets one machine in. The new machine shows that it has the secret by a
//! code over its own name, address and key; the member signs what it answers with its own key, so
//! that nobody else can answer, not even somebody who has seen the token. Both datagrams begin
//! with the letters `HJ`, the number 1, what it is (0 asks, 1 answers), the first 8 bytes of a
//! digest of the secret, by which the member knows the token, and a number (8) that the new machine
//! has drawn. Then comes JSON: a member, or what the ring says. At the end is the code (HMAC-SHA-256,
//! 32 bytes), or the signature (Ed25519, 64 bytes).
//!
//! The answer goes to the address that the machine gives for itself: one that hears it is reached there.

use std::fmt;
use std::io;
use std::net::UdpSocket;
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use headway_node::{Key, MAC_BYTES};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::identity::{self, NodeKey, SignerKey};
use crate::membership::control::{take, take_text};
pub use crate::membership::invite::found;
pub use crate::membership::roster::Member;
use crate::membership::roster::{valid_address, valid_name};

const PREFIX: &str = "hwj1";

/// Letters, version, what it is, which token, number.
const HEADER_BYTES: usize = 4 + 8 + 8;
const ASKS: [u8; 4] = *b"HJ\x01\x00";
const ANSWERS: [u8; 4] = *b"HJ\x01\x01";
const SIGNED_AS: &[u8] = b"headway join 1";

/// How long an answer is waited for, and how often it is asked for.
const PATIENCE: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_millis(500);

/// What a member knows a token by.
pub(crate) type TokenId = [u8; 8];

/// Lets one machine in.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The ring's name.
    pub ring: String,
    /// The member that made it.
    pub by: Member,
    pub(crate) secret: [u8; 16],
    /// Since 1970, in seconds: then it is over.
    pub expires: u64,
}

/// A text that is no token.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "this is no token, or not all of it: expected what `headway node invite` prints on a member, \
     hwj1…"
)]
pub struct NoToken;

impl Token {
    pub(crate) fn id(&self) -> TokenId {
        let digest = self.digest(b"headway token 1");
        std::array::from_fn(|at| digest[at])
    }

    /// What shows that somebody has the token. A member remembers this, and not the secret.
    pub(crate) fn proof(&self) -> [u8; 32] {
        self.digest(b"headway token proof 1")
    }

    fn digest(&self, what: &[u8]) -> [u8; 32] {
        Sha256::digest([what, &self.secret].concat()).into()
    }

    fn read(text: &str) -> Option<Token> {
        let bytes = identity::read(PREFIX, text)?;
        let mut rest = &bytes[..];
        let secret = take(&mut rest)?;
        let expires = u64::from_be_bytes(take(&mut rest)?);
        let key = NodeKey::from_bytes(&take(&mut rest)?);
        let mut text = || take_text(&mut rest);
        let ring = text().filter(|ring| valid_name(ring))?;
        let name = text().filter(|name| valid_name(name))?;
        let address = text().filter(|address| valid_address(address))?;
        let by = Member {
            name,
            address,
            key: Some(key),
            ..Member::default()
        };
        rest.is_empty().then_some(Token {
            ring,
            by,
            secret,
            expires,
        })
    }
}

impl FromStr for Token {
    type Err = NoToken;

    fn from_str(text: &str) -> Result<Token, NoToken> {
        Token::read(text.trim()).ok_or(NoToken)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.by.key.map(|key| key.bytes()).unwrap_or([0; 64]);
        let mut bytes = [&self.secret[..], &self.expires.to_be_bytes(), &key].concat();
        for text in [&self.ring, &self.by.name, &self.by.address] {
            // Names and addresses are shorter.
            bytes.push(text.len() as u8);
            bytes.extend_from_slice(text.as_bytes());
        }
        formatter.write_str(&identity::write(PREFIX, &bytes))
    }
}

/// Without the secret.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Token(by {})", self.by.name)
    }
}

/// What a ring says to a machine that has shown a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Come: these are its voters, whose word about members counts, and the operator.
    Welcome {
        /// In the order of the ring.
        voters: Vec<Member>,
        /// If the ring has one.
        operator: Option<SignerKey>,
    },
    /// Why not.
    Refused(String),
}

/// Whether these bytes mean to be a question or an answer about joining.
pub(crate) fn is_join(datagram: &[u8]) -> bool {
    datagram.starts_with(b"HJ")
}

/// A machine asks to be let in.
pub(crate) struct Ask<'d> {
    pub(crate) id: TokenId,
    pub(crate) nonce: [u8; 8],
    /// As it says itself.
    pub(crate) member: Member,
    shown: &'d [u8],
    code: &'d [u8],
}

impl<'d> Ask<'d> {
    pub(crate) fn read(datagram: &'d [u8]) -> Option<Ask<'d>> {
        let (shown, code) = datagram.split_at_checked(datagram.len().checked_sub(MAC_BYTES)?)?;
        let (header, body) = shown.split_at_checked(HEADER_BYTES)?;
        let mut rest = header.strip_prefix(&ASKS)?;
        let (id, nonce) = (take(&mut rest)?, take(&mut rest)?);
        let member: Member = serde_json::from_slice(body).ok()?;
        let whole = member.check().is_ok() && member.key.is_some();
        whole.then_some(Ask {
            id,
            nonce,
            member,
            shown,
            code,
        })
    }

    /// Whether it has the token with this proof.
    pub(crate) fn has_shown(&self, proof: &[u8; 32]) -> bool {
        Key::new(proof).is_some_and(|key| key.verify(self.shown, self.code))
    }

    /// The answer, signed.
    pub(crate) fn answer(
        &self,
        word: &Word,
        sign: impl FnOnce(&[u8]) -> Option<[u8; 64]>,
    ) -> Option<Vec<u8>> {
        let mut bytes = [&ANSWERS[..], &self.id, &self.nonce].concat();
        bytes.extend_from_slice(&serde_json::to_vec(word).ok()?);
        let signature = sign(&to_sign(&bytes))?;
        bytes.extend_from_slice(&signature);
        Some(bytes)
    }
}

fn to_sign(bytes: &[u8]) -> Vec<u8> {
    [SIGNED_AS, &[0], bytes].concat()
}

/// A question that is out: asked again and again until there is an answer.
#[derive(Debug)]
pub struct Question<'t> {
    token: &'t Token,
    nonce: [u8; 8],
    /// What to send.
    pub datagram: Vec<u8>,
}

impl<'t> Question<'t> {
    /// With a number that was not drawn before.
    pub fn new(token: &'t Token, member: &Member, nonce: [u8; 8]) -> Question<'t> {
        let mut datagram = [&ASKS[..], &token.id(), &nonce].concat();
        // A struct of texts is always written.
        datagram.extend(serde_json::to_vec(member).unwrap_or_default());
        if let Some(key) = Key::new(&token.proof()) {
            let code = key.sign(&datagram);
            datagram.extend_from_slice(&code);
        }
        Question {
            token,
            nonce,
            datagram,
        }
    }

    /// The answer, if this is one. `None` in it: by somebody else than who made the token.
    pub fn answered(&self, datagram: &[u8]) -> Option<Option<Word>> {
        let signed = datagram.len().checked_sub(64)?;
        let (bytes, signature) = datagram.split_at_checked(signed)?;
        let header = [&ANSWERS[..], &self.token.id(), &self.nonce].concat();
        let body = bytes.strip_prefix(&header[..])?;
        let word = serde_json::from_slice(body).ok()?;
        let key = self.token.by.key?;
        let own = key
            .signer()
            .verify(&to_sign(bytes), signature.try_into().ok()?);
        Some(own.then_some(word))
    }
}

/// Why a machine was not let in.
#[derive(Debug, Error)]
pub enum JoinError {
    /// The ring says no.
    #[error("{by} does not let this machine in: {why}")]
    Refused {
        /// Who.
        by: String,
        /// Why.
        why: String,
    },
    /// By this machine's clock.
    #[error(
        "the token has expired, by this machine's clock: `headway node invite` on a member prints \
         another"
    )]
    Expired,
    /// Nobody has answered.
    #[error(
        "no answer from {by} at {address}: is its node running, and do datagrams (UDP) pass in both \
         directions, also to {own}? Give another --address if others reach this machine elsewhere"
    )]
    NoAnswer {
        /// Who made the token.
        by: String,
        /// Where.
        address: String,
        /// Where this machine says that it is.
        own: String,
    },
    /// Somebody else than who made the token.
    #[error(
        "what answers for {by} has not its key: it was changed since the token was made, or somebody \
         stands between; `headway node invite` on a member prints another"
    )]
    SomebodyElse {
        /// Who made the token.
        by: String,
    },
    /// The system's.
    #[error("{what}: {error}")]
    System {
        /// What.
        what: String,
        /// Why not.
        error: io::Error,
    },
}

/// Asks for a place on the ring, from `listen`, where the node will receive datagrams.
///
/// # Errors
///
/// When the ring says no, or nothing.
pub fn ask(token: &Token, member: &Member, listen: &str) -> Result<Word, JoinError> {
    let system = |what: String| move |error| JoinError::System { what, error };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    if now.is_ok_and(|now| now.as_secs() >= token.expires) {
        return Err(JoinError::Expired);
    }
    let what = format!("cannot receive datagrams at {listen} (--listen)");
    let socket = UdpSocket::bind(listen).map_err(system(what))?;
    let timeout = socket.set_read_timeout(Some(AGAIN));
    timeout.map_err(system("cannot wait".into()))?;
    let mut nonce = [0; 8];
    getrandom::fill(&mut nonce)
        .map_err(io::Error::other)
        .map_err(system("no randomness".into()))?;
    let question = Question::new(token, member, nonce);
    let (mut buffer, began, mut somebody_else) = ([0; 4096], Instant::now(), false);
    while began.elapsed() < PATIENCE {
        let what = format!("cannot reach {} ({})", token.by.address, token.by.name);
        let sent = socket.send_to(&question.datagram, &token.by.address);
        sent.map_err(system(what))?;
        let asked = Instant::now();
        while asked.elapsed() < AGAIN {
            // Nothing has come, or somebody is not there yet.
            let Ok(bytes) = socket.recv(&mut buffer) else {
                break;
            };
            match question.answered(&buffer[..bytes]) {
                Some(Some(Word::Refused(why))) => {
                    let by = token.by.name.clone();
                    return Err(JoinError::Refused { by, why });
                }
                Some(Some(welcome)) => return Ok(welcome),
                Some(None) => somebody_else = true,
                None => {}
            }
        }
    }
    let (by, address) = (token.by.name.clone(), token.by.address.clone());
    Err(match somebody_else {
        true => JoinError::SomebodyElse { by },
        false => JoinError::NoAnswer {
            by,
            address,
            own: member.address.clone(),
        },
    })
}
