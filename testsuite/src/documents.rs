//! The documents of the repository, as text.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the repository.
pub fn root() -> PathBuf {
    let testsuite = Path::new(env!("CARGO_MANIFEST_DIR"));
    testsuite.parent().expect("inside the repository").into()
}

/// A document, by its path from the root.
///
/// # Panics
///
/// When there is none.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every text between backquotes.
pub fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
