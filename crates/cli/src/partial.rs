//! Files that are whole or not there: written under another name first, so that a full disk
//! or Ctrl-C leaves what was there before.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The file that is being written, for Ctrl-C to remove.
static CURRENT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Writes a whole file. What is no plain file (a device, a pipe) or belongs to somebody else
/// is written where it is.
pub(crate) fn write(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // A link stays a link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let Some((partial, file)) = beside(&target) else {
        return fill(File::create(path)?, write);
    };
    *lock() = Some(partial.clone());
    let written = fill(file, write).and_then(|()| fs::rename(&partial, &target));
    *lock() = None;
    if written.is_err() {
        // Nothing more can be done about it.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Removes the file that is being written, if there is one: the program ends.
pub(crate) fn remove() {
    if let Some(partial) = lock().take() {
        let _ = fs::remove_file(partial);
    }
}

fn lock() -> std::sync::MutexGuard<'static, Option<PathBuf>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
}

/// A new file in the same folder that may take the place of this one.
fn beside(target: &Path) -> Option<(PathBuf, File)> {
    if target.is_symlink() {
        return None;
    }
    let old = fs::metadata(target).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return None;
    }
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name()?);
    name.push(format!(".{}", std::process::id()));
    let partial = target.with_file_name(name);
    let file = File::create_new(&partial).ok()?;
    let fits = old.is_none_or(|old| {
        let ours = file.metadata().is_ok_and(|new| new.uid() == old.uid());
        ours && old.nlink() == 1 && file.set_permissions(old.permissions()).is_ok()
    });
    if !fits {
        let _ = fs::remove_file(&partial);
    }
    fits.then_some((partial, file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_fails_leaves_what_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let half = |out: &mut dyn Write| {
            out.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        assert!(write(&path, half).is_err());
        assert!(names(folder.path()).is_empty());
        write(&path, |out| out.write_all(b"old")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("allowed");
        assert!(write(&path, half).is_err());
        assert_eq!(fs::read(&path).expect("it is there"), b"old");
        write(&path, |out| out.write_all(b"new")).expect("written");
        let mode = fs::metadata(&path).expect("it is there").mode() & 0o777;
        assert_eq!(
            (fs::read(&path).expect("read"), mode),
            (b"new".to_vec(), 0o640)
        );
        // As Ctrl-C does.
        let interrupted = write(&path, |out| {
            out.write_all(b"half")?;
            assert_eq!(names(folder.path()).len(), 2);
            remove();
            assert_eq!(names(folder.path()), ["a"]);
            Ok(())
        });
        assert!(interrupted.is_err());
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(names(folder.path()), ["a"]);
        links_and_devices_stay_what_they_are();
    }

    /// Not a test of its own: there is one current file at a time.
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        symlink("a", &link).expect("a link");
        // Nothing is there yet, then something is.
        for text in ["one", "two"] {
            write(&link, |out| out.write_all(text.as_bytes())).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("read"), text);
            assert!(link.is_symlink());
        }
        fs::hard_link(&path, folder.path().join("b")).expect("a second name");
        write(&path, |out| out.write_all(b"three")).expect("written");
        let other = fs::read_to_string(folder.path().join("b"));
        assert_eq!(other.expect("read"), "three");
        write(Path::new("/dev/null"), |out| out.write_all(b"x")).expect("written");
        assert_eq!(names(folder.path()), ["a", "b", "link"]);
        let nowhere = folder.path().join("none/a");
        let error = write(&nowhere, |_| Ok(())).expect_err("no folder");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
