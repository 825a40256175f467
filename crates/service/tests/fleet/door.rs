//! Who is let in at the Unix socket, whatever has become of its permissions.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use headway_testkit::tools;

use crate::harness::Fleet;

const ROOT: u32 = 0;
const NOBODY: u32 = 65_534;

/// As another user, prints the first line of the node's answer, or why there is none.
const ASK: &str = r#"
import os, socket, sys
user = int(sys.argv[2])
os.setgroups([])
os.setgid(user)
os.setuid(user)
try:
    node = socket.socket(socket.AF_UNIX)
    node.connect(sys.argv[1])
    node.sendall(b"GET /v1/status HTTP/1.1\r\nhost: x\r\n\r\n")
    print(node.recv(4096).decode().split("\r\n")[0] or "left")
except PermissionError:
    print("no way to it")
except (ConnectionResetError, BrokenPipeError):
    print("left")
"#;

fn ask(python: &Path, user: u32, socket: &Path) -> String {
    let mut command = Command::new(python);
    command.args(["-c", ASK]).arg(socket).arg(user.to_string());
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("text");
    said.trim().to_owned()
}

#[test]
fn another_user_is_refused_at_the_socket() {
    let name = "another_user_is_refused_at_the_socket";
    if !nix::unistd::geteuid().is_root() {
        return tools::skip(name, "needs root");
    }
    let python = match tools::program(&["python3"], "python3") {
        Ok(python) => python,
        Err(why) => return tools::skip(name, &why),
    };
    let mut fleet = Fleet::new(98, &["a", "b", "c"], 1, 1);
    fleet.write_config(0, 3);
    fleet.start(0);
    fleet.until("a answers", || fleet.status(0)["name"] == "a");
    let socket = fleet.socket(0);
    let asked_by = |user| ask(&python, user, &socket);
    let refused = "another user was refused at the socket user=Ok(65534)";
    set_permissions(fleet.folder.path(), Permissions::from_mode(0o755)).expect("changed");
    assert_eq!(asked_by(ROOT), "HTTP/1.1 200 OK");
    assert_eq!(asked_by(NOBODY), "no way to it");
    set_permissions(&socket, Permissions::from_mode(0o666)).expect("changed");
    assert!(!fleet.log(0).contains(refused), "it did not come so far");
    assert_eq!(asked_by(NOBODY), "left");
    fleet.until("it is said", || fleet.log(0).contains(refused));
    assert_eq!(asked_by(ROOT), "HTTP/1.1 200 OK");
}
