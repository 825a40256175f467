//! Secrets from files that nobody else can read.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use headway_node::Key;
use thiserror::Error;

/// Why a key was not taken.
#[derive(Debug, Error)]
pub enum SecretError {
    /// It could not be read.
    #[error("cannot read the key file {0}: {1}")]
    Read(PathBuf, std::io::Error),
    /// Somebody else can read it, by these permissions.
    #[error(
        "the key file {0} can be read or changed by others (mode {1:03o}): run `chmod 600 {0}`, \
         and make a new key if it may have been seen"
    )]
    Open(PathBuf, u32),
    /// This other user owns it.
    #[error("the key file {0} belongs to user {1}: it has to be root's or this user's")]
    Owner(PathBuf, u32),
    /// Not a plain file.
    #[error("the key file {0} is not a file")]
    NotAFile(PathBuf),
    /// Too short to be one, with so many bytes.
    #[error(
        "the key in {0} has {1} bytes, and at least {least} are needed",
        least = Key::MIN_BYTES
    )]
    Short(PathBuf, usize),
    /// It could not be written.
    #[error("cannot write {0}: {1}")]
    Write(PathBuf, std::io::Error),
    /// Not the file of a node's key pairs.
    #[error(
        "{0} has no identity of a node: move it away, and `headway node identity {0}` makes a new \
         one"
    )]
    NoIdentity(PathBuf),
    /// Not the file of a recovery key.
    #[error("{0} has no recovery key: `headway node identity --recovery-key FILE` makes one")]
    NoOperator(PathBuf),
    /// A token with characters that do not fit into a header.
    #[error("the token in {0} has other characters than letters, digits, `-`, `_`, `.` and `~`")]
    Strange(PathBuf),
}

/// More than any key; a file that is longer is not one.
const MAX_BYTES: u64 = 4096;

/// Reads a token that callers show: as long as a key, of letters that fit into a header.
///
/// # Errors
///
/// When it cannot be read, others can read it, it is too short, or it has other characters than
/// letters, digits, `-`, `_`, `.` and `~`.
pub fn token(path: &Path) -> Result<String, SecretError> {
    let secret = read(path)?;
    if secret.len() < Key::MIN_BYTES {
        return Err(SecretError::Short(path.to_owned(), secret.len()));
    }
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    let text = secret.iter().all(plain).then(|| String::from_utf8(secret));
    text.and_then(Result::ok)
        .ok_or_else(|| SecretError::Strange(path.to_owned()))
}

fn read(path: &Path) -> Result<Vec<u8>, SecretError> {
    let file = private(path)?;
    let mut secret = Vec::new();
    file.take(MAX_BYTES)
        .read_to_end(&mut secret)
        .map_err(|error| SecretError::Read(path.to_owned(), error))?;
    while matches!(secret.last(), Some(b'\n' | b'\r')) {
        secret.pop();
    }
    Ok(secret)
}

/// Opens a file that only this user or root can read.
///
/// # Errors
///
/// When it cannot be read, or others can read it.
pub fn private(path: &Path) -> Result<std::fs::File, SecretError> {
    let failed = |error| SecretError::Read(path.to_owned(), error);
    let file = std::fs::File::open(path).map_err(failed)?;
    // Of the opened file, so that nobody can change it in between.
    let facts = file.metadata().map_err(failed)?;
    if !facts.is_file() {
        return Err(SecretError::NotAFile(path.to_owned()));
    }
    let mode = facts.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(SecretError::Open(path.to_owned(), mode));
    }
    let owner = facts.uid();
    if owner != 0 && owner != nix::unistd::geteuid().as_raw() {
        return Err(SecretError::Owner(path.to_owned(), owner));
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
    let text = hex::encode(random) + "\n";
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
        let path = folder.path().join("api.token");
        create(&path).unwrap();
        assert!(token(&path).is_ok());
        assert!(create(&path).is_err(), "an existing key is never replaced");
        for mode in [0o640, 0o604, 0o660, 0o606, 0o644, 0o610] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let refused = token(&path).unwrap_err().to_string();
            assert!(refused.contains("chmod 600"), "{refused}");
            assert!(refused.contains(&format!("{mode:03o}")), "{refused}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
        assert!(token(&path).is_ok());
    }

    #[test]
    fn short_missing_and_strange_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("short.key");
        std::fs::write(&path, "only 15 bytes..\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let refused = token(&path).unwrap_err().to_string();
        assert!(refused.contains("has 15 bytes"), "{refused}");
        assert!(matches!(
            token(folder.path()),
            Err(SecretError::NotAFile(_))
        ));
        assert!(matches!(
            token(&folder.path().join("none")),
            Err(SecretError::Read(..))
        ));
    }
}
