//! The examples in the help texts do what they say.

use crate::common::{headway, headway_in};

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
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        headway_in(folder.path(), "worst --witness state.json").code,
        0
    );
    std::fs::write(
        folder.path().join("my.toml"),
        "name = \"mine\"\nmeasure = [\"waits\"]\n[[grid]]\ntokens = [1, 2]\n",
    )
    .unwrap();
    for (file, text) in [
        ("groups.txt", "a,b\nb,c\nc,d\nd,e\ne,f\n"),
        ("racks.csv", "member,rack\na,1\nb,1\nc,2\nd,2\ne,3\nf,3\n"),
    ] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let network = "walk --generate grid:5x5 -o walk.json --write-network network.graphml";
    assert_eq!(headway_in(folder.path(), network).code, 0);
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
            // Shell redirections are the shell's.
            let line = example.split(['>', '&']).next().unwrap_or_default();
            let arguments = line.trim().strip_prefix("headway").unwrap_or_default();
            // They would go on until they are interrupted; `serve.rs` and `node.rs` see
            // to that.
            let endless = ["serve", "node --config"];
            if endless
                .iter()
                .any(|command| arguments.trim_start().starts_with(command))
            {
                continue;
            }
            let ran = headway_in(folder.path(), arguments);
            if arguments.contains("--watch") {
                assert!(
                    ran.err.contains("needs a terminal"),
                    "{example}: {}",
                    ran.err
                );
            } else {
                // A jam is an example too: its answer is no.
                let jam = arguments.contains("--tokens 6 --separation 5");
                assert_eq!(ran.code, i32::from(jam), "{example}: {}", ran.err);
            }
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried} examples");
}
