//! Programs that others wrote and that tests run.
//!
//! Tests install nothing: `scripts/install-tools` does, and `make test` calls it first.
//! A test that does not find its tool says so by [`skip`] and ends.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The first of `names` that is on the PATH.
///
/// # Errors
///
/// What to install; `package` is Debian's.
pub fn program(names: &[&str], package: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file());
    found.ok_or_else(|| {
        format!(
            "install {} (Debian: apt-get install {package})",
            names.first().unwrap_or(&package)
        )
    })
}

/// A Python that has all of `modules`: the one that `scripts/install-tools` has made,
/// or the one on the PATH.
///
/// # Errors
///
/// What to install; `packages` are PyPI's.
pub fn python(modules: &[&str], packages: &str) -> Result<PathBuf, String> {
    const HAS: &str = "import importlib.util as u, sys\n\
         sys.exit(any(u.find_spec(module) is None for module in sys.argv[1:]))";
    let has_all = |python: &PathBuf| {
        let mut command = Command::new(python);
        command.args(["-c", HAS]).args(modules);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    [folder().join("python/bin/python"), PathBuf::from("python3")]
        .into_iter()
        .find(has_all)
        .ok_or_else(|| {
            format!("install {packages} (scripts/install-tools does, or: pip install {packages})")
        })
}

/// The folder of node's packages, in which `package` is.
///
/// # Errors
///
/// What to install.
pub fn node_modules(package: &str) -> Result<PathBuf, String> {
    let modules = folder().join("node/node_modules");
    match modules.join(package).is_dir() {
        true => Ok(modules.canonicalize().unwrap_or(modules)),
        false => Err(format!(
            "install {package} (scripts/install-tools does, with npm)"
        )),
    }
}

/// The library that makes the clock of a process jump.
///
/// # Errors
///
/// What to install.
pub fn faketime() -> Result<PathBuf, String> {
    const NAME: &str = "libfaketimeMT.so.1";
    // Debian has it below /usr/lib/ARCHITECTURE/faketime, others below /usr/lib/faketime.
    let find = |top: &str| {
        let below = std::fs::read_dir(top).ok()?;
        let folders = below.flatten().map(|entry| entry.path());
        folders
            .flat_map(|folder| [folder.join(NAME), folder.join("faketime").join(NAME)])
            .find(|file| file.is_file())
    };
    ["/usr/lib", "/usr/lib64", "/usr/local/lib"]
        .into_iter()
        .find_map(find)
        .ok_or_else(|| "install libfaketime (Debian: apt-get install faketime)".to_owned())
}

/// Prints `skipped: TEST: WHY`. The test command counts these lines, and takes the test
/// called TEST off those that have passed. Standard error itself is
/// not captured, so the line is seen although the test ends well.
pub fn skip(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}

/// Where `scripts/install-tools` puts what is not a package of the system.
fn folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root.join(target).join("tools")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_found_or_its_package_is_named() {
        assert!(program(&["no-such-shell", "sh"], "dash").is_ok());
        let why = program(&["no-such-tool"], "some-package").unwrap_err();
        assert!(why.contains("no-such-tool") && why.contains("some-package"));
        assert!(python(&["no_such_module"], "nothing").is_err());
        assert!(node_modules("no-such-package").is_err());
    }
}
