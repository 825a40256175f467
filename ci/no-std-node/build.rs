//! Links the C start-up code and library, which call `main`; Rust's own do not.

fn main() {
    println!("cargo::rustc-link-lib=c");
    println!("cargo::rerun-if-changed=build.rs");
}
