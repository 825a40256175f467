//! The configuration of a node: made, checked, and run.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use headway_answer::plan::breach;
use headway_service::config::{Mistake, Place, Settings, Sources, example, explain};
use headway_service::identity::{Identities, NoKey, NodeKey};
use headway_service::{Stopped, secret};

use crate::failure::{Answer, Failure, is_stdin, read_text, remark, say};
use crate::report::count;

#[derive(ClapArgs, Clone, Debug, Default)]
pub(super) struct Given {
    /// The configuration, in TOML
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(ClapArgs, Debug)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    given: Given,
    /// Also check that no two who may not be down together can hold permits together: a
    /// file as `headway plan` reads it; exit code 1 if they can
    #[arg(long, value_name = "FILE")]
    conflicts: Option<PathBuf>,
}

#[derive(ClapArgs, Debug)]
pub(super) struct InitArgs {
    /// Where to write the example; standard output if left out
    file: Option<PathBuf>,
    /// A member, with the key that `headway node identity` prints on its machine; again for
    /// each, in the order of the ring
    #[arg(
        long = "member",
        value_name = "NAME=ADDRESS=KEY",
        value_parser = member,
        conflicts_with = "shared_key"
    )]
    members: Vec<Member>,
    /// For first steps, instead of a key for each member: make one that all share, in this file,
    /// readable by this user only
    #[arg(long, value_name = "FILE", alias = "key")]
    shared_key: Option<PathBuf>,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    address: String,
    key: NodeKey,
}

fn member(text: &str) -> Result<Member, String> {
    let parts: Vec<&str> = text.split('=').collect();
    let [name, address, key] = parts[..] else {
        return Err("expected NAME=ADDRESS=KEY".into());
    };
    Ok(Member {
        name: name.to_owned(),
        address: address.to_owned(),
        key: key.parse().map_err(|error: NoKey| error.to_string())?,
    })
}

fn sources(given: &Given) -> Result<Sources, Failure> {
    let text = match &given.config {
        None => String::new(),
        Some(path) => read_text(path).map_err(|failure| {
            let missing = !is_stdin(path) && !path.exists();
            match missing {
                true => failure.help(format!(
                    "check the path; `headway node init {}` writes an example",
                    path.display()
                )),
                false => failure,
            }
        })?,
    };
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name
            .into_string()
            .ok()
            .filter(|name| name.starts_with("HEADWAY_"))?;
        Some((name, value.into_string().ok()?))
    });
    Ok(Sources {
        file: given.config.clone(),
        text,
        variables: variables.collect(),
    })
}

/// Reports all mistakes but the last, which becomes the failure.
fn mistaken(sources: &Sources, mut mistakes: Vec<Mistake>) -> Failure {
    let failure = |mistake: &Mistake| match (&mistake.place, &sources.file) {
        (Place::File { line, column }, Some(path)) => {
            Failure::in_text(path, &sources.text, *line, *column, mistake)
        }
        (Place::Missing, Some(path)) => Failure::new(format!("{}: {mistake}", path.display())),
        _ => Failure::new(mistake),
    };
    let Some(last) = mistakes.pop() else {
        return Failure::new("nothing is wrong");
    };
    for mistake in &mistakes {
        crate::failure::report(failure(mistake));
    }
    let last = failure(&last);
    match sources.file {
        Some(_) => last,
        None => last.help("give --config FILE; `headway node init` writes an example"),
    }
}

pub(super) fn serve(given: &Given) -> Result<Answer, Failure> {
    let start = sources(given)?;
    let settings = Settings::read(&start).map_err(|mistakes| mistaken(&start, mistakes))?;
    let given = given.clone();
    let reread = move || {
        let unread = |failure: Failure| Mistake {
            key: String::new(),
            place: Place::Missing,
            message: failure.to_string(),
        };
        Settings::read(&sources(&given).map_err(|failure| vec![unread(failure)])?)
    };
    Ok(
        match headway_service::run(&settings, &reread).map_err(Failure::new)? {
            Stopped::Asked => Answer::Yes,
            Stopped::Interrupted => Answer::Interrupted,
        },
    )
}

pub(super) fn init(args: &InitArgs) -> Result<Answer, Failure> {
    let Some(path) = &args.file else {
        say(example_for(args)?.trim_end())?;
        return Ok(Answer::Yes);
    };
    // First of all, so that no key is left behind if the file is there already.
    let failed = |error: std::io::Error| Failure::writing(path, &error);
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    let written =
        example_for(args).and_then(|text| file.write_all(text.as_bytes()).map_err(failed));
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written?;
    remark(format_args!("wrote {}", path.display()));
    Ok(Answer::Yes)
}

/// The example with the members that are given, or with a new key that all share.
fn example_for(args: &InitArgs) -> Result<String, Failure> {
    let mut example = example();
    if let Some(path) = &args.shared_key {
        secret::create(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Failure::new(format!(
                "there is a key in {} already, and it is left as it is",
                path.display()
            ))
            .help(
                "to use it, drop --shared-key and set ring.key_file; for a new one, give another \
                 --shared-key",
            ),
            _ => Failure::writing(path, &error),
        })?;
        remark(format_args!(
            "wrote a new key to {}: copy it to every member, mode 600",
            path.display()
        ));
        // The example says where the key is that was just made, wherever the node is started.
        let path = std::path::absolute(path).map_err(|error| Failure::reading(path, &error))?;
        let lines = example.lines().filter(|line| !line.starts_with("key = "));
        let line = |line: &str| match line.strip_prefix("# key_file = \"/etc/headway/ring.key") {
            Some(_) => format!("key_file = {:?}\n", path.display().to_string()),
            None => format!("{line}\n"),
        };
        example = lines.map(line).collect();
    }
    if !args.members.is_empty() {
        // They end the section.
        let before = example.find("[[ring.members]]");
        let after = before.and_then(|at| Some(at + example[at..].find("\n\n")? + 1));
        let members = args.members.iter().map(|member| {
            let Member { name, address, key } = member;
            format!("[[ring.members]]\nname = {name:?}\naddress = {address:?}\nkey = \"{key}\"\n")
        });
        let members: String = members.collect();
        if let (Some(before), Some(after)) = (before, after) {
            example.replace_range(before..after, &members);
        }
    }
    Ok(example)
}

pub(super) fn check(args: &CheckArgs) -> Result<Answer, Failure> {
    let sources = sources(&args.given)?;
    let settings = Settings::read(&sources).map_err(|mistakes| mistaken(&sources, mistakes))?;
    match &settings.ring.key_file {
        Some(path) => {
            let key = secret::key(path);
            key.map_err(|error| Failure::new(format!("ring.key_file: {error}")))?;
        }
        None => check_identity(&settings)?,
    }
    if let Some(program) = settings.hook.command.iter().flatten().next()
        && program.contains('/')
        && !Path::new(program).exists()
    {
        return Err(Failure::new(format!("hook.command: there is no {program}")));
    }
    if let Some(path) = &args.conflicts {
        check_order(&settings, path)?;
    }
    say(explain(&settings).trim_end())?;
    if args.conflicts.is_some() {
        say(format_args!(
            "{:<22}kept: no two of them hold permits together",
            "conflicts"
        ))?;
    }
    Ok(Answer::Yes)
}

/// Refuses key pairs that the list of members does not name.
fn check_identity(settings: &Settings) -> Result<(), Failure> {
    let path = settings.identity_file();
    let here = Identities::read(&path);
    let here = here.map_err(|error| {
        Failure::new(format!("node.identity_file: {error}")).help(format!(
            "`headway node identity {}` makes one, and prints the key for ring.members",
            path.display()
        ))
    })?;
    let name = &settings.node.name;
    let mut members = settings.ring.members.iter();
    let listed = members.find(|member| member.name == *name);
    let listed = listed.and_then(|member| member.key);
    let known = |key: &NodeKey| here.list().iter().any(|here| here.public() == *key);
    match listed.filter(|key| !known(key)) {
        None => Ok(()),
        Some(_) if settings.node.state_dir.join("roster").exists() => {
            remark(format_args!(
                "ring.members: {name} has another key than this machine ({}); the roster in \
                 node.state_dir counts, so that is as it should be after `headway node rotate-key`",
                here.public()
            ));
            Ok(())
        }
        Some(key) => Err(Failure::new(format!(
            "ring.members: {name} has the key {key}, and this machine has {} (node.identity_file, \
             {})",
            here.public(),
            path.display()
        ))
        .help("is this file another machine's, or was its key changed since?")),
    }
}

/// Refuses an order of the ring in which two may hold permits together who may not be down
/// together.
fn check_order(settings: &Settings, path: &Path) -> Result<(), Failure> {
    if settings.ring.members.is_empty() {
        return Err(Failure::new(
            "--conflicts: the order of the ring is not in this configuration, which has seeds only",
        )
        .help("give the configuration of a node that has [[ring.members]]"));
    }
    let conflicts = crate::command::plan::read(path, None)?;
    let members = settings.ring.members.iter();
    let ring: Vec<&str> = members.map(|member| member.name.as_str()).collect();
    let (tokens, separation) = (settings.ring.tokens.get(), settings.ring.separation.get());
    let Some(breach) = breach(&conflicts, &ring, tokens, separation)? else {
        return Ok(());
    };
    let (one, other) = (conflicts.name(breach.pair.0), conflicts.name(breach.pair.1));
    Err(Failure {
        exit_code: 1,
        ..Failure::new(format!(
            "{one} and {other} may not be down together ({} in {}), but are {} apart in ring.members, \
             and permits only {separation}",
            breach.group.label,
            path.display(),
            count(u64::from(breach.hops), "hop"),
        ))
        .help(format!(
            "order ring.members and set ring.separation as `headway plan {}` says",
            path.display()
        ))
    })
}
