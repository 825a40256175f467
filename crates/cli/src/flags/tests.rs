//! One meaning, one name, one parser: the whole command line is walked.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command, CommandFactory};

/// Flags of one name whose values are allowed to differ, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("delays", "an axis of a sweep takes several, and formulas"),
    ("engine", "one run, or the samples of a sweep"),
    (
        "fault",
        "after a round in lock-step, after a time on a network",
    ),
    ("format", "csv only where the result is a table"),
    ("gone", "of the one that is removed, or who of the voters"),
    ("method", "of adding control to a plant, of finding a walk"),
    ("output", "a file, or the folder of a sweep's results"),
    (
        "processes",
        "an axis of a sweep takes several, and formulas",
    ),
    ("program", "an axis of a sweep takes several"),
    (
        "separation",
        "an axis of a sweep takes several, and formulas",
    ),
    ("start", "an axis of a sweep takes several, and no file"),
    ("tokens", "an axis of a sweep takes several, and formulas"),
];

/// Letters that stand for one thing throughout, and the flags that give it.
const LETTERS: &[(&str, &[&str])] = &[
    // A process is in the model, a node hosts one on a network.
    ("N", &["processes", "nodes"]),
    ("M", &["tokens"]),
    ("D", &["separation"]),
    ("R", &["rounds", "max-rounds"]),
    ("S", &["seed"]),
    ("T", &["threads"]),
    ("WHICH", &["delays"]),
    ("STATE", &["start"]),
    ("DIR", &["output"]),
    ("FILE.svg", &["svg"]),
    ("FILE.pnml", &["output"]),
];

/// Texts on which two parsers of one thing agree.
const PROBES: &[&str] = &[
    "",
    "x",
    "-1",
    "0",
    "1",
    "7",
    "1.5",
    "007",
    "all",
    "auto",
    "random",
    "piled",
    "every:2",
    "at:0,2",
    "20ms",
    "1.5s",
    "5",
    "scramble@3",
    "scramble@3s",
    "some.json",
    "json",
    "csv",
    "text",
];

/// One flag of one command.
#[derive(Debug)]
struct Flag {
    command: String,
    name: String,
    short: Option<char>,
    value: String,
    help: String,
    /// What becomes of every probe: taken, or the reason why not.
    answers: Vec<String>,
}

fn flags(command: &Command) -> Vec<Flag> {
    let mut found = Vec::new();
    collect(command, "headway", &mut found);
    found
}

fn collect(command: &Command, path: &str, found: &mut Vec<Flag>) {
    for arg in command.get_arguments() {
        let Some(name) = arg
            .get_long()
            .filter(|name| !matches!(*name, "help" | "version"))
        else {
            continue;
        };
        let takes_value = arg.get_action().takes_values();
        let names = arg.get_value_names().unwrap_or_default();
        found.push(Flag {
            command: path.to_owned(),
            name: name.to_owned(),
            short: arg.get_short(),
            value: if takes_value {
                names.join(" ")
            } else {
                String::new()
            },
            help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
            answers: if takes_value {
                answers(arg)
            } else {
                Vec::new()
            },
        });
    }
    for sub in command.get_subcommands() {
        collect(sub, &format!("{path} {}", sub.get_name()), found);
    }
}

/// The flag by itself, tried on every probe.
fn answers(arg: &Arg) -> Vec<String> {
    let alone = Arg::new("flag")
        .long("flag")
        .value_parser(arg.get_value_parser().clone())
        .allow_hyphen_values(true)
        .action(ArgAction::Set);
    let alone = match arg.get_num_args() {
        Some(number) => alone.num_args(number),
        None => alone,
    };
    let command = Command::new("probe").no_binary_name(true).arg(alone);
    let answer = |probe: &&str| match command.clone().try_get_matches_from(["--flag", probe]) {
        Ok(_) => "taken".to_owned(),
        Err(error) => error.to_string(),
    };
    PROBES.iter().map(answer).collect()
}

/// A file's ending is no difference: `FILE.json` and `FILE.pnml` are both files.
fn kind_of_value(value: &str) -> &str {
    value.split('.').next().unwrap_or(value)
}

/// The first sentence of a help text without its default, in small letters.
fn meaning(help: &str) -> String {
    let help = help.split(" [default").next().unwrap_or(help);
    help.trim_end_matches('.').to_lowercase()
}

/// What is wrong with a command line, in sentences.
fn inconsistencies(command: &Command, different: &[(&str, &str)]) -> Vec<String> {
    let flags = flags(command);
    let mut wrong = Vec::new();
    let mut by_name: BTreeMap<&str, Vec<&Flag>> = BTreeMap::new();
    let mut by_meaning: BTreeMap<String, &Flag> = BTreeMap::new();
    for flag in &flags {
        by_name.entry(&flag.name).or_default().push(flag);
        let first = by_meaning.entry(meaning(&flag.help)).or_insert(flag);
        if first.name != flag.name {
            wrong.push(format!(
                "--{} of {} and --{} of {} say the same: {}",
                first.name, first.command, flag.name, flag.command, flag.help
            ));
        }
        if let Some((letter, owners)) = LETTERS.iter().find(|(letter, _)| *letter == flag.value)
            && !owners.contains(&flag.name.as_str())
        {
            wrong.push(format!(
                "--{} of {} takes {letter}, which is what --{} takes",
                flag.name, flag.command, owners[0]
            ));
        }
    }
    for (name, same) in by_name {
        let allowed = different.iter().any(|(flag, _)| *flag == name);
        if let Some(other) = same.iter().find(|flag| flag.short != same[0].short) {
            let (first, other) = (&same[0].command, &other.command);
            wrong.push(format!(
                "--{name} has different short letters in {first} and {other}"
            ));
        }
        let differing = same.iter().find_map(|other| {
            let first = same[0];
            let what = if kind_of_value(&first.value) != kind_of_value(&other.value) {
                "value names"
            } else if first.answers != other.answers {
                "parsers"
            } else {
                return None;
            };
            Some(format!(
                "--{name} has different {what} in {} and {}",
                first.command, other.command
            ))
        });
        match differing {
            Some(how) if !allowed => wrong.push(how),
            None if allowed => wrong.push(format!("--{name} need not be on the list any more")),
            _ => {}
        }
    }
    wrong
}

fn command() -> Command {
    let mut command = crate::Cli::command();
    command.build();
    command
}

#[test]
fn one_meaning_has_one_name_and_one_parser() {
    let wrong = inconsistencies(&command(), DIFFERENT);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(flags(&command()).len() > 200, "the commands were walked");
}

/// Breaks the command line in each way, and sees it caught.
#[test]
fn each_inconsistency_is_seen() {
    let number = || crate::flags::whole_number::<u32>;
    let with = |arg: Arg| {
        let mut command = Command::new("headway")
            .subcommand(
                Command::new("one").arg(
                    Arg::new("tokens")
                        .long("tokens")
                        .value_name("M")
                        .value_parser(number())
                        .help("Number of tokens [default: 4]"),
                ),
            )
            .subcommand(Command::new("two").arg(arg));
        command.build();
        inconsistencies(&command, &[])
    };
    let tokens = || {
        Arg::new("tokens")
            .long("tokens")
            .value_name("M")
            .value_parser(number())
            .help("Number of tokens [default: 2]")
    };
    assert_eq!(with(tokens()), [""; 0]);
    let seen = |arg: Arg, expected: &str| {
        let wrong = with(arg).join("\n");
        assert!(wrong.contains(expected), "{wrong}");
    };
    seen(tokens().short('t'), "different short letters");
    seen(tokens().value_name("K"), "different value names");
    seen(tokens().value_parser(["few", "many"]), "different parsers");
    let renamed = || tokens().id("permits").long("permits");
    seen(renamed().value_name("K"), "say the same");
    seen(renamed().help("Permits"), "which is what --tokens takes");
}

#[test]
fn numbers_are_refused_with_a_reason() {
    use crate::flags::whole_number;
    assert_eq!(whole_number::<u64>("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(whole_number::<u8>("255"), Ok(255_u8));
    for wrong in ["", "-1", "+1", "1.5", "x", "1 "] {
        let error = whole_number::<u64>(wrong).expect_err(wrong);
        assert_eq!(error, "expected a whole number");
    }
    let error = whole_number::<u64>("18446744073709551616").expect_err("too large");
    assert_eq!(error, "expected a smaller whole number");
    for wrong in ["256", "18446744073709551616"] {
        let error = whole_number::<u8>(wrong).expect_err(wrong);
        assert_eq!(error, "expected a whole number, at most 255");
    }
}
