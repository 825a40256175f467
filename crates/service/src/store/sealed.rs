//! Files that are replaced as a whole, with a line that tells whether they are whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// What is in a file, if it is there.
///
/// # Errors
///
/// When it cannot be read, or is not as it was written.
pub(crate) fn read(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = match std::fs::read(folder.join(name)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let end = bytes.len().saturating_sub(2 + 2 * 32);
    let sum = format!("\n{}\n", hex::encode(Sha256::digest(&bytes[..end])));
    if bytes[end..] != *sum.as_bytes() {
        return Err("its checksum is wrong".into());
    }
    bytes.truncate(end);
    Ok(Some(bytes))
}

/// Replaces a file. When this returns, it is on the disk under its name.
///
/// # Errors
///
/// When the disk does not take it.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let sum = hex::encode(Sha256::digest(bytes));
    replace(
        folder,
        name,
        &[bytes, b"\n", sum.as_bytes(), b"\n"].concat(),
    )
}

/// The same without the line.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let fresh = folder.join(format!("{name}.new"));
    let mut file = create(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&fresh, folder.join(name))?;
    sync_folder(folder)
}

/// Until then a file may still have its old name after a power cut.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A file that only this user can read.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}
