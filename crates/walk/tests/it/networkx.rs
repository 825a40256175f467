//! NetworkX reads every file that is written here, and the other way round, and
//! both agree on all distances.

use std::path::{Path, PathBuf};
use std::process::Command;

use headway_testkit::tools;
use headway_walk::network::distance::hops_from;
use headway_walk::network::formats::Format;
use headway_walk::network::generators::Generator;
use headway_walk::walk::search::{self, Request};
use headway_walk::{Network, walk::file};
use serde_json::{Map, Value, json};

/// A Python with NetworkX; `None`, and a line that says so, where there is none.
fn python(test: &str) -> Option<PathBuf> {
    tools::python(&["networkx", "pydot"], "networkx pydot")
        .map_err(|why| tools::skip(test, &why))
        .ok()
}

fn run(python: &Path, what: &str, folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/networkx_agrees.py");
    let output = Command::new(python)
        .arg(script)
        .arg(what)
        .arg(folder)
        .output()
        .expect("python runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn distances(network: &Network) -> Value {
    let row = |from: u32| -> Value {
        let hops = hops_from(network, from);
        let row: Map<String, Value> = network
            .nodes()
            .map(|to| (network.label(to).into_owned(), json!(hops[to as usize])))
            .collect();
        Value::Object(row)
    };
    let table: Map<String, Value> = network
        .nodes()
        .map(|from| (network.label(from).into_owned(), row(from)))
        .collect();
    Value::Object(table)
}

#[test]
#[ignore = "make test-all"]
fn networkx_reads_what_is_written() {
    let Some(python) = python("networkx_reads_what_is_written") else {
        return;
    };
    let one_way = Format::Dot
        .read("digraph { a -> b -> c -> d -> a; c -> a; d -> b [dir=both]; }")
        .unwrap();
    let networks = ["grid:3x4", "torus:3x4", "star:5", "geometric:30", "figure7"]
        .map(|text| text.parse::<Generator>().unwrap().network(3).unwrap())
        .into_iter()
        .chain([one_way]);
    for network in networks {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        let mut files = 0;
        // A lattice's names have commas, which an edge list cannot hold.
        for format in Format::WRITTEN {
            match format.write(&network) {
                Ok(text) => write(&format!("network.{format}"), &text),
                Err(_) if format == Format::Edges => continue,
                Err(error) => panic!("{error}"),
            }
            files += 1;
        }
        write("distances.json", &distances(&network).to_string());
        for tokens in [2, 3] {
            let request = Request::new(tokens);
            let found = search::walk(&network, &request, &mut |_| {}).unwrap();
            if found.walk.len() >= tokens {
                let content = file::content(&network, &request, &found, file::Tables::All);
                let file = serde_json::to_string(&content).unwrap();
                write(&format!("walk{tokens}.json"), &file);
                files += 1;
                let again = file::read(&file).unwrap();
                assert_eq!((again.network, again.walk), (network.clone(), found.walk));
            }
        }
        let checked: usize = run(&python, "read", folder.path()).trim().parse().unwrap();
        assert_eq!(checked, files);
    }
}

/// The comparison can fail: a distance that is wrong is noticed.
#[test]
#[ignore = "make test-all"]
#[should_panic(expected = "AssertionError")]
fn a_wrong_distance_is_noticed() {
    let Some(python) = python("a_wrong_distance_is_noticed") else {
        panic!("AssertionError (skipped: there is no NetworkX to notice it)");
    };
    let folder = tempfile::tempdir().unwrap();
    let network = Generator::Line(4).network(0).unwrap();
    let text = Format::Graphml.write(&network).unwrap();
    std::fs::write(folder.path().join("network.graphml"), text).unwrap();
    let mut wrong = distances(&network);
    wrong["0"]["3"] = json!(2);
    std::fs::write(folder.path().join("distances.json"), wrong.to_string()).unwrap();
    run(&python, "read", folder.path());
}

#[test]
#[ignore = "make test-all"]
fn what_networkx_writes_is_read() {
    let Some(python) = python("what_networkx_writes_is_read") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    run(&python, "write", folder.path());
    let table = std::fs::read_to_string(folder.path().join("distances.json")).unwrap();
    let table: Map<String, Value> = serde_json::from_str(&table).unwrap();
    assert!(table.len() >= 46, "{}", table.len());
    for (name, wanted) in table {
        let path = folder.path().join(&name);
        let text = std::fs::read_to_string(&path).unwrap();
        let network = Format::of_path(&path).unwrap().read(&text).unwrap();
        assert_eq!(distances(&network), wanted, "{name}");
        if name.starts_with("multi") {
            assert!(!network.notes().is_empty(), "{name}");
        }
    }
}
