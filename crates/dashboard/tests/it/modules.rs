//! Modules of the page that need no picture, tried out in Node by `modules.mjs`.

use std::path::Path;
use std::process::Command;

use headway_testkit::tools;

#[test]
fn modules_keep_their_promises() {
    let node = match tools::program(&["node"], "nodejs") {
        Ok(node) => node,
        Err(why) => return tools::skip("modules_keep_their_promises", &why),
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(node)
        .arg(here.join("tests/it/modules.mjs"))
        .arg(here.join("page"))
        .output()
        .expect("node runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
