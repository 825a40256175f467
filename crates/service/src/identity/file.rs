//! The files with secrets: a node's, which changes when the node takes another identity, and
//! an operator's.

use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Identity, NodeKey, Signer};
use crate::secret::{SecretError, private};
use crate::store::sealed::replace;

/// All that a node may speak as, oldest first: one, or more while it changes over.
#[derive(Clone, Debug)]
pub struct Identities {
    list: Vec<Identity>,
    /// Since 1970, in seconds: then those that the roster does not name are forgotten.
    pub(crate) until: u64,
}

#[derive(Serialize, Deserialize)]
struct Written {
    secrets: Vec<String>,
    #[serde(default)]
    until: u64,
}

/// More than any such file has.
const MAX_BYTES: u64 = 4096;

impl Identities {
    /// One.
    pub fn new(identity: Identity) -> Identities {
        Identities {
            list: vec![identity],
            until: 0,
        }
    }

    /// Those of a file, or new ones if there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written, others can read it, or it has something else.
    pub fn open(path: &Path) -> Result<Identities, SecretError> {
        match Identities::read(path) {
            Err(SecretError::Read(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                let failed = |error| SecretError::Write(path.to_owned(), error);
                let new = Identities::new(Identity::generate().map_err(failed)?);
                new.write(path).map_err(failed)?;
                Ok(new)
            }
            read => read,
        }
    }

    /// Those of a file.
    ///
    /// # Errors
    ///
    /// As [`Identities::open`], and when it is not there.
    pub fn read(path: &Path) -> Result<Identities, SecretError> {
        let mut text = String::new();
        let file = private(path)?.take(MAX_BYTES);
        let read = { file }.read_to_string(&mut text);
        read.map_err(|error| SecretError::Read(path.to_owned(), error))?;
        let written: Option<Written> = serde_json::from_str(&text).ok();
        let identity = |secret: &String| {
            let mut bytes = [0; 64];
            hex::decode_to_slice(secret, &mut bytes).ok()?;
            Some(Identity::new(&bytes))
        };
        let found = written.and_then(|Written { secrets, until }| {
            let list: Option<Vec<Identity>> = secrets.iter().map(identity).collect();
            let list = list.filter(|list| !list.is_empty())?;
            Some(Identities { list, until })
        });
        found.ok_or_else(|| SecretError::NoIdentity(path.to_owned()))
    }

    /// Replaces a file.
    ///
    /// # Errors
    ///
    /// When the disk does not take it.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let secrets = self.list.iter();
        let secrets = secrets.map(|identity| hex::encode(identity.secret()));
        let written = Written {
            secrets: secrets.collect(),
            until: self.until,
        };
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        replace(folder, &name, &serde_json::to_vec(&written)?)
    }

    /// All of them, oldest first.
    pub fn list(&self) -> &[Identity] {
        &self.list
    }

    /// The public keys of the oldest: the one that the node has while it does not change over.
    pub fn public(&self) -> NodeKey {
        self.list[0].public()
    }

    /// One more.
    pub(crate) fn push(&mut self, identity: Identity, until: u64) {
        self.list.push(identity);
        self.until = until;
    }

    /// Forgets all but one, if that is there. Whether it has forgotten any.
    pub(crate) fn keep_only(&mut self, key: &NodeKey) -> bool {
        let known = self.list.iter().any(|identity| identity.public() == *key);
        let before = self.list.len();
        if known {
            self.list.retain(|identity| identity.public() == *key);
        }
        self.list.len() < before
    }
}

/// Makes an operator's secret in a file that does not exist yet.
///
/// # Errors
///
/// When the file exists or cannot be written.
pub fn create_operator(path: &Path) -> io::Result<()> {
    crate::secret::create(path)
}

/// Reads an operator's secret.
///
/// # Errors
///
/// When it cannot be read, others can read it, or it is something else.
pub fn read_operator(path: &Path) -> Result<Signer, SecretError> {
    let mut text = String::new();
    let file = private(path)?.take(MAX_BYTES);
    let read = { file }.read_to_string(&mut text);
    read.map_err(|error| SecretError::Read(path.to_owned(), error))?;
    let mut secret = [0; 32];
    let decoded = hex::decode_to_slice(text.trim_end(), &mut secret);
    decoded.map_err(|_| SecretError::NoOperator(path.to_owned()))?;
    Ok(Signer::new(&secret))
}
