//! The ring's key, from a file that nobody else can read.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use headway_node::Key;
use thiserror::Error;

/// Why a key was not taken.
#[derive(Debug, Error)]
pub enum SecretError {
    /// It could not be read.
    #[error("cannot read the key file {path}: {error}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// Somebody else can read it.
    #[error(
        "the key file {path} can be read or changed by others (mode {mode:03o}): \
         run `chmod 600 {path}`, and make a new key if it may have been seen"
    )]
    Open {
        /// Which file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Somebody else owns it.
    #[error("the key file {path} belongs to user {owner}: it has to be root's or this user's")]
    Owner {
        /// Which file.
        path: PathBuf,
        /// Whose.
        owner: u32,
    },
    /// Not a plain file.
    #[error("the key file {0} is not a file")]
    NotAFile(PathBuf),
    /// Too short to be one.
    #[error(
        "the key in {path} has {bytes} bytes, and at least {} are needed",
        Key::MIN_BYTES
    )]
    Short {
        /// Which file.
        path: PathBuf,
        /// How many.
        bytes: usize,
    },
}

/// More than any key; a file that is longer is not one.
const MOST_BYTES: u64 = 4096;

/// Reads the key. A line feed at the end does not belong to it.
///
/// # Errors
///
/// When it cannot be read, others can read it, or it is too short.
pub fn key(path: &Path) -> Result<Key, SecretError> {
    let file = private(path)?;
    let mut secret = Vec::new();
    file.take(MOST_BYTES)
        .read_to_end(&mut secret)
        .map_err(|error| SecretError::Read {
            path: path.to_owned(),
            error,
        })?;
    while matches!(secret.last(), Some(b'\n' | b'\r')) {
        secret.pop();
    }
    let bytes = secret.len();
    let key = Key::new(&secret);
    secret.fill(0);
    key.ok_or_else(|| SecretError::Short {
        path: path.to_owned(),
        bytes,
    })
}

/// Opens a file that only this user or root can read.
///
/// # Errors
///
/// When it cannot be read, or others can read it.
pub fn private(path: &Path) -> Result<std::fs::File, SecretError> {
    let failed = |error| SecretError::Read {
        path: path.to_owned(),
        error,
    };
    let file = std::fs::File::open(path).map_err(failed)?;
    // Of the opened file, so that nobody can change it in between.
    let facts = file.metadata().map_err(failed)?;
    if !facts.is_file() {
        return Err(SecretError::NotAFile(path.to_owned()));
    }
    let mode = facts.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let path = path.to_owned();
        return Err(SecretError::Open { path, mode });
    }
    let owner = facts.uid();
    if owner != 0 && owner != nix::unistd::geteuid().as_raw() {
        let path = path.to_owned();
        return Err(SecretError::Owner { path, owner });
    }
    Ok(file)
}

/// Writes a new random key into a file that does not exist yet.
///
/// # Errors
///
/// When the file exists or cannot be written.
pub fn create(path: &Path) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let mut text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    text.push('\n');
    let mut options = std::fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_others_can_read_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ring.key");
        create(&path).unwrap();
        assert!(key(&path).is_ok());
        assert!(create(&path).is_err(), "an existing key is never replaced");
        for mode in [0o640, 0o604, 0o660, 0o606, 0o644, 0o610] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let refused = key(&path).unwrap_err().to_string();
            assert!(refused.contains("chmod 600"), "{refused}");
            assert!(refused.contains(&format!("{mode:03o}")), "{refused}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
        assert!(key(&path).is_ok());
    }

    #[test]
    fn short_missing_and_strange_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("short.key");
        std::fs::write(&path, "only 15 bytes..\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let refused = key(&path).unwrap_err().to_string();
        assert!(refused.contains("has 15 bytes"), "{refused}");
        assert!(matches!(key(folder.path()), Err(SecretError::NotAFile(_))));
        assert!(matches!(
            key(&folder.path().join("none")),
            Err(SecretError::Read { .. })
        ));
    }
}
