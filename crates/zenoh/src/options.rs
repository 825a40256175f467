//! What a node has to be told.

use std::path::PathBuf;
use std::time::Duration;

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The ring's name; nodes of other rings are not heard.
    pub ring: String,
    /// This node's name: with certificates, the common name in its own.
    pub name: String,
    /// Where it listens: `HOST:PORT`.
    pub listen: String,
    /// Certificates. Without them nothing is encrypted, and who speaks is for the
    /// ring's key to say.
    pub tls: Option<Tls>,
    /// A session to a neighbour that is silent for this long is opened anew.
    pub reopen_after: Duration,
}

impl Options {
    /// Without certificates, reopening after five seconds.
    pub fn new(ring: &str, name: &str, listen: &str) -> Options {
        Options {
            ring: ring.to_owned(),
            name: name.to_owned(),
            listen: listen.to_owned(),
            tls: None,
            reopen_after: Duration::from_secs(5),
        }
    }
}

/// The files of mutual TLS, all in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate of the authority that signs the certificates of all nodes.
    pub authority: PathBuf,
    /// This node's certificate: the common name is its name, and its address is among
    /// the alternative names.
    pub certificate: PathBuf,
    /// The certificate's private key.
    pub key: PathBuf,
}
