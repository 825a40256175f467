//! Lists the files of the page, so that the binary can embed them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=page");
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let page = variable("CARGO_MANIFEST_DIR").join("page");
    let mut list = String::from("[\n");
    add_files(&page, "", &mut list);
    list.push(']');
    fs::write(variable("OUT_DIR").join("page.rs"), list).expect("the build folder is writable");
}

/// Adds `(name, bytes),` for every file below a folder.
fn add_files(folder: &Path, prefix: &str, list: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder of the page") {
        let path = entry.expect("a file of the page").path();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = format!("{prefix}{}", name.expect("a name in UTF-8"));
        if path.is_dir() {
            add_files(&path, &format!("{name}/"), list);
        } else {
            // Writing to a string cannot fail.
            let _ = writeln!(list, "({name:?}, include_bytes!({path:?}).as_slice()),");
        }
    }
}
