//! Who a node is: two key pairs, for agreements (X25519) and for signatures (Ed25519). The
//! roster has everybody's public keys; from them and its own secrets a node derives a key for
//! each other member, which no third one can know.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use headway_node::Key;
use hkdf::Hkdf;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use x25519_dalek::{PublicKey, StaticSecret};

pub use file::{Identities, create_operator, read_operator};

mod file;

/// The secrets of a node. Its `Debug` output shows the public keys only.
#[derive(Clone)]
pub struct Identity {
    exchange: StaticSecret,
    signer: Signer,
    public: NodeKey,
}

/// The secret that somebody signs with.
#[derive(Clone)]
pub struct Signer(SigningKey);

/// What a signature is checked with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SignerKey([u8; 32]);

/// The public keys of a node: `hw1…`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NodeKey {
    exchange: [u8; 32],
    signer: SignerKey,
}

/// Who has signed something, and the signature.
pub type Vouch = (SignerKey, [u8; 64]);

/// What a key between two nodes is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// The ring's own datagrams.
    Hop,
    /// Datagrams between services.
    Control,
}

/// A text that is no key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoKey {
    /// Not the public key of a node.
    #[error("`{0}` is no node's key: expected what `headway node identity` prints, {NODE}…")]
    Node(String),
    /// Not that of an operator.
    #[error(
        "`{0}` is no recovery key: expected what `headway node identity --recovery-key` prints, \
         {OPERATOR}…"
    )]
    Operator(String),
}

const NODE: &str = "hw1";
const OPERATOR: &str = "hwo1";

/// Bytes of a digest at the end of a key, so that a typing error is noticed.
const SUM_BYTES: usize = 2;

impl Identity {
    /// From 64 secret bytes.
    pub fn new(secret: &[u8; 64]) -> Identity {
        let [exchange, signer] = split(secret);
        let (exchange, signer) = (StaticSecret::from(exchange), Signer::new(&signer));
        let public = NodeKey {
            exchange: PublicKey::from(&exchange).to_bytes(),
            signer: signer.public(),
        };
        Identity {
            exchange,
            signer,
            public,
        }
    }

    /// A new one.
    ///
    /// # Errors
    ///
    /// When the system has no randomness.
    pub fn generate() -> std::io::Result<Identity> {
        let mut secret = [0; 64];
        getrandom::fill(&mut secret).map_err(std::io::Error::other)?;
        Ok(Identity::new(&secret))
    }

    fn secret(&self) -> [u8; 64] {
        join([self.exchange.to_bytes(), self.signer.0.to_bytes()])
    }

    /// Its public keys.
    pub const fn public(&self) -> NodeKey {
        self.public
    }

    /// What it signs with.
    pub const fn signer(&self) -> &Signer {
        &self.signer
    }

    /// The key that this node, with this name, shares with another for one purpose, on one ring.
    /// Nothing if the other's public key leads to the same secret with everybody.
    pub fn key_with(
        &self,
        ring: &str,
        purpose: Purpose,
        me: &str,
        (name, other): (&str, &NodeKey),
    ) -> Option<Key> {
        let shared = self.exchange.diffie_hellman(&other.exchange.into());
        if !shared.was_contributory() {
            return None;
        }
        let own = self.public();
        let (one, two) = ((me, own.exchange), (name, other.exchange));
        let (one, two) = if one <= two { (one, two) } else { (two, one) };
        let purpose: &[u8] = match purpose {
            Purpose::Hop => b"hop",
            Purpose::Control => b"control",
        };
        // Names have no zeros, and keys have one length, so nothing else has the same bytes.
        let zero: &[u8] = &[0];
        let names = [ring, one.0, two.0].map(str::as_bytes);
        let [ring, first, second] = names;
        let info = [
            purpose, zero, ring, zero, first, zero, &one.1, second, zero, &two.1,
        ];
        let mut key = [0; 32];
        let derived = Hkdf::<Sha256>::new(Some(b"headway pair 1"), shared.as_bytes());
        derived.expand_multi_info(&info, &mut key).ok()?;
        Key::new(&key)
    }
}

impl Signer {
    /// From 32 secret bytes.
    pub fn new(secret: &[u8; 32]) -> Signer {
        Signer(SigningKey::from_bytes(secret))
    }

    /// What its signatures are checked with.
    pub fn public(&self) -> SignerKey {
        SignerKey(self.0.verifying_key().to_bytes())
    }

    /// Its signature, with who it is.
    pub fn vouch(&self, message: &[u8]) -> Vouch {
        (self.public(), self.0.sign(message).to_bytes())
    }
}

impl SignerKey {
    /// Whether a signature is by whoever has this key's secret.
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let key = VerifyingKey::from_bytes(&self.0);
        let signature = Signature::from_bytes(signature);
        key.is_ok_and(|key| key.verify_strict(message, &signature).is_ok())
    }

    /// Its bytes, for datagrams.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From its bytes, whether they can be one or not.
    pub const fn from_bytes(bytes: [u8; 32]) -> SignerKey {
        SignerKey(bytes)
    }
}

impl NodeKey {
    /// What the node's signatures are checked with.
    pub const fn signer(&self) -> &SignerKey {
        &self.signer
    }

    /// Its two halves, each of which one member has only.
    pub(crate) const fn halves(&self) -> [[u8; 32]; 2] {
        [self.exchange, self.signer.0]
    }

    /// Its bytes, to be signed.
    pub fn bytes(&self) -> [u8; 64] {
        join(self.halves())
    }

    /// From its bytes, whether they can be one or not.
    pub(crate) fn from_bytes(bytes: &[u8; 64]) -> NodeKey {
        let [exchange, signer] = split(bytes);
        NodeKey {
            exchange,
            signer: SignerKey(signer),
        }
    }
}

fn join(halves: [[u8; 32]; 2]) -> [u8; 64] {
    std::array::from_fn(|at| halves[at / 32][at % 32])
}

fn split(bytes: &[u8; 64]) -> [[u8; 32]; 2] {
    [0, 32].map(|at| std::array::from_fn(|byte| bytes[at + byte]))
}

/// Bytes as text, with what shows that none was mistyped.
pub(crate) fn write(prefix: &str, bytes: &[u8]) -> String {
    let sum = Sha256::digest([prefix.as_bytes(), bytes].concat());
    let text = URL_SAFE_NO_PAD.encode([bytes, &sum[..SUM_BYTES]].concat());
    format!("{prefix}{text}")
}

/// The bytes of such a text.
pub(crate) fn read(prefix: &str, text: &str) -> Option<Vec<u8>> {
    let mut bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(prefix)?).ok()?;
    bytes.truncate(bytes.len().checked_sub(SUM_BYTES)?);
    (write(prefix, &bytes) == text).then_some(bytes)
}

fn read_key<const N: usize>(prefix: &str, text: &str) -> Option<[u8; N]> {
    read(prefix, text)?.try_into().ok()
}

fn is_point(key: &[u8; 32]) -> bool {
    VerifyingKey::from_bytes(key).is_ok_and(|key| !key.is_weak())
}

impl FromStr for NodeKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<NodeKey, NoKey> {
        let no = || NoKey::Node(text.to_owned());
        read_key(NODE, text)
            .map(|bytes| NodeKey::from_bytes(&bytes))
            .ok_or_else(no)
    }
}

impl FromStr for SignerKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<SignerKey, NoKey> {
        let key = read_key(OPERATOR, text).filter(is_point);
        key.map(SignerKey)
            .ok_or_else(|| NoKey::Operator(text.to_owned()))
    }
}

impl fmt::Display for NodeKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&write(NODE, &self.bytes()))
    }
}

impl fmt::Display for SignerKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&write(OPERATOR, &self.0))
    }
}

macro_rules! as_text {
    ($($type:ident),+) => {$(
        impl fmt::Debug for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, formatter)
            }
        }

        impl TryFrom<String> for $type {
            type Error = NoKey;

            fn try_from(text: String) -> Result<$type, NoKey> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(key: $type) -> String {
                key.to_string()
            }
        }
    )+};
}
as_text!(NodeKey, SignerKey);

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Identity({})", self.public())
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Signer({})", self.public())
    }
}

#[cfg(test)]
mod tests;
