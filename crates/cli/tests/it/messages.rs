//! Mistakes that people make, and what they are told, word for word: `messages.txt`.
//!
//! `HEADWAY_UPDATE=1 cargo test -p headway --test it messages` writes it anew;
//! then read it as whoever made the mistake would.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{folder, headway_in, init_node};

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/messages.txt");

/// What went wrong, and the command. PORT is one that is taken.
const MISTAKES: &[(&str, &str)] = &[
    ("a file that is not there", "run --start stat.json"),
    ("a folder instead of a file", "run --start folder"),
    ("an empty file", "run --start empty.json"),
    ("a file cut short", "run --start cut.json"),
    ("a counter that cannot be", "forecast --start counter.json"),
    ("another kind of file", "petri analyze notes.txt"),
    ("a misspelt command", "forcast"),
    ("a misspelt flag", "run --token 3"),
    ("a wrong unit", "ring --for 5parsecs"),
    ("a share above one", "ring --loss 20"),
    (
        "more than fits, for real nodes",
        "ring --nodes 10 --tokens 4 --separation 2",
    ),
    (
        "more than fits, to be proved",
        "worst --processes 10 --tokens 4 --separation 3",
    ),
    ("huge numbers", "run --processes 99999999999999999999"),
    (
        "too many states",
        "check delay-relay --processes 60 --tokens 9 --separation 6 --delays at:0,1",
    ),
    ("a full disk", "run --trace /dev/full"),
    (
        "a folder that is not there",
        "forecast --svg pictures/ring.svg",
    ),
    ("a sweep file with a wrong key", "sweep wrong.toml"),
    ("an experiment that is none", "experiment papr"),
    ("parts that are none", "sweep merge part-a part-b -o both"),
    ("a network in pieces", "walk pieces.edges"),
    ("a port in use", "serve --port PORT"),
    (
        "the world let in without a secret",
        "serve --listen 0.0.0.0:0",
    ),
    (
        "a node without a configuration",
        "node --config nowhere.toml",
    ),
    (
        "a node whose key everybody can read",
        "node check-config --config open.toml",
    ),
    (
        "a node with a misspelt key",
        "node check-config --config misspelt.toml",
    ),
    (
        "a node that is not running",
        "node status --socket nowhere.sock",
    ),
];

#[test]
fn messages_are_as_they_were_read() {
    let folder = folder();
    furnish(folder.path());
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let mut told = String::new();
    for (mistake, command) in MISTAKES {
        let ran = headway_in(folder.path(), &command.replace("PORT", &port));
        assert_eq!(ran.code, 2, "{command}: {}{}", ran.out, ran.err);
        let here = folder.path().to_string_lossy();
        let message = ran
            .err
            .replace(&port, "PORT")
            .replace(&format!("{here}/"), "")
            // A hint of builds without them.
            .replace(
                ", or build it with the feature symbolic for decision diagrams",
                "",
            );
        told += &format!(
            "# {mistake}\n$ headway {command}\n{}\n\n",
            message.trim_end()
        );
    }
    if std::env::var_os("HEADWAY_UPDATE").is_some() {
        std::fs::write(SNAPSHOT, &told).expect("written");
    }
    let read = std::fs::read_to_string(SNAPSHOT).expect("messages.txt");
    for (now, then) in told.split("\n\n# ").zip(read.split("\n\n# ")) {
        assert_eq!(now, then);
    }
    assert_eq!(told, read);
}

fn furnish(folder: &Path) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    std::fs::create_dir(folder.join("folder")).expect("made");
    write("empty.json", "");
    write(
        "cut.json",
        "{ \"separation\": 3,\n  \"processes\": [ {\"program\": \"de",
    );
    write(
        "counter.json",
        "{ \"separation\": 3,\n  \"processes\": [\n    {\"program\": \"delay\", \"queued\": 0, \
         \"resting\": 1, \"counter\": 3} ] }\n",
    );
    write("notes.txt", "Remember the milk.\n");
    write(
        "wrong.toml",
        "model = \"ring\"\n[axes]\nprocesses = [10]\nsepration = [2]\n",
    );
    write("pieces.edges", "a b\nc d\n");
    for part in ["part-a", "part-b"] {
        std::fs::create_dir(folder.join(part)).expect("made");
    }
    init_node(folder, "open.toml");
    let made = std::fs::read_to_string(folder.join("open.toml")).expect("an example");
    write("misspelt.toml", &made.replace("tokens =", "tokns ="));
    std::fs::set_permissions(folder.join("identity"), PermissionsExt::from_mode(0o644))
        .expect("opened");
}
