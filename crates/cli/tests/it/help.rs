//! The examples in the help texts do what they say.

use headway_testkit::tier::pick;

use crate::common::{folder, headway, headway_in, run_with_input};

const COMMANDS: [&str; 11] = [
    "",
    "run",
    "forecast",
    "worst",
    "chain",
    "experiment",
    "sweep",
    "walk",
    "plan",
    "ring",
    "completions",
];

/// The lines under "Examples:", without the remarks behind them.
fn examples(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| !line.starts_with("Examples:"))
        .skip(1)
        .take_while(|line| line.starts_with("  headway"))
        .map(|line| {
            line.trim()
                .split("  ")
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

#[test]
fn examples_work() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    let sweep = "name = \"mine\"\nmeasure = [\"waits\"]\n[[grid]]\ntokens = [1, 2]\n";
    let racks = "member,rack\na,1\nb,1\nc,2\nd,2\ne,3\nf,3\n";
    write("my.toml", sweep).unwrap();
    write("groups.txt", "a,b\nb,c\nc,d\nd,e\ne,f\n").unwrap();
    write("racks.csv", racks).unwrap();
    for needed in [
        "worst --witness state.json",
        "walk --generate grid:5x5 -o walk.json --write-network network.graphml",
    ] {
        assert_eq!(headway_in(folder.path(), needed).code, 0);
    }
    let mut tried = 0;
    for command in COMMANDS {
        let help = headway(&format!("{command} --help"));
        assert_eq!(help.code, 0);
        let examples = examples(&help.out);
        assert!(
            !examples.is_empty(),
            "headway {command} --help has no examples"
        );
        for example in examples {
            // Shell redirections are the shell's; and the samples are fewer where all are quick.
            let line = example.split(['>', '&']).next().unwrap_or_default();
            let samples = pick("--samples 100 ", "--samples 100000 ", "--samples 100000 ");
            let line = line.replace("--samples 100000 ", samples);
            let words: Vec<&str> = line.split_whitespace().skip(1).collect();
            // They would go on until they are interrupted, or for seconds; `serve.rs`, `node.rs`
            // and `fleet.rs` see to that.
            if let Some("serve" | "node" | "fleet") = words.first().copied() {
                continue;
            }
            // A ring ends when it is told to; whether it has settled by then is open.
            let ran = run_with_input(folder.path(), &words, b"quit\n");
            if words.contains(&"--watch") {
                let needs = ran.err.contains("needs a terminal");
                assert!(needs, "{example}: {}", ran.err);
            } else {
                // A jam is an example too: its answer is no.
                let jam = line.contains("--tokens 6 --separation 5");
                let open = words.first() == Some(&"ring") && ran.code == 1;
                let fine = open || ran.code == i32::from(jam);
                assert!(fine, "{example}: {}\n{}", ran.code, ran.err);
            }
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried} examples");
}
