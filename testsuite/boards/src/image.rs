//! The programs of `firmware`, compiled for the board.

use std::path::{Path, PathBuf};
use std::process::Command;

use headway_testkit::tools;

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where compiled programs are.
pub fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target).join("firmware")
}

/// The emulator.
///
/// # Errors
///
/// What to install.
pub fn emulator() -> Result<PathBuf, String> {
    tools::program(&["qemu-system-arm"], "qemu-system-arm")
}

/// Whether a compiler for the board is there.
///
/// # Errors
///
/// What to install.
pub fn compiler() -> Result<(), String> {
    let answer = Command::new(root().join("firmware/cargo"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root().join("firmware"))
        .output()
        .map_err(|error| format!("firmware/cargo: {error}"))?;
    let told = String::from_utf8_lossy(&answer.stderr);
    let missing = told.lines().find(|line| line.contains("no compiler for"));
    missing.map_or(Ok(()), |line| {
        Err(line.trim_start_matches("error: ").to_owned())
    })
}

/// Compiles a program of `firmware/board` with features, and keeps it under a name of its
/// own.
///
/// # Errors
///
/// What the compiler says.
pub fn build(program: &str, features: &[&str]) -> Result<PathBuf, String> {
    // All programs are compiled to the same place: one at a time, until it is kept.
    std::fs::create_dir_all(target()).map_err(|error| error.to_string())?;
    let lock = std::fs::File::create(target().join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    let features = features.join(",");
    let mut command = Command::new(root().join("firmware/cargo"));
    command
        .args(["build", "--release", "--quiet", "-p", "headway-board"])
        .args(["--bin", program, "--features", &features])
        .env("CARGO_TARGET_DIR", target())
        .current_dir(root().join("firmware"));
    // Cargo's variables of the tests are not meant for this one.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST") || text == "RUSTC" {
            command.env_remove(&name);
        }
    }
    let output = command
        .output()
        .map_err(|error| format!("firmware/cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let built = target().join("thumbv7m-none-eabi/release").join(program);
    let kept = target().join(format!("{program}-{}", features.replace(',', "-")));
    // Never half a file, and none that an emulator is reading.
    let fresh = kept.with_extension(std::process::id().to_string());
    std::fs::copy(&built, &fresh)
        .and_then(|_| std::fs::rename(&fresh, &kept))
        .map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(kept)
}
