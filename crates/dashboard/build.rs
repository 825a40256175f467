//! A new file of the page has to be embedded too.

fn main() {
    println!("cargo::rerun-if-changed=page");
}
