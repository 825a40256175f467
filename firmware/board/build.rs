//! The memory of the board, and no more of it than the programs are meant to need: a
//! program that is larger does not link.

use std::path::PathBuf;

fn main() {
    let hmac = std::env::var_os("CARGO_FEATURE_HMAC").is_some();
    let roomy = std::env::var_os("CARGO_FEATURE_ROOMY").is_some();
    let (flash, ram) = match (roomy, hmac) {
        (true, _) => (128, 64),
        (_, true) => (40, 6),
        _ => (24, 4),
    };
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let memory = format!(
        "MEMORY\n{{\n  FLASH : ORIGIN = 0x00000000, LENGTH = {flash}K\n  \
         RAM : ORIGIN = 0x20000000, LENGTH = {ram}K\n}}\n"
    );
    std::fs::write(out.join("memory.x"), memory).expect("written");
    // Every vector is set in `lm3s`.
    std::fs::write(out.join("device.x"), "").expect("written");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-changed=build.rs");
}
