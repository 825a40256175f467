//! The configuration of a node: made, checked, and run.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args as ClapArgs;
use headway_answer::plan::breach;
use headway_node::Config;
use headway_service::Stopped;
use headway_service::config::{
    Mistake, Place, Settings, Sources, example, explain, file_with, ring,
};
use headway_service::identity::{Identities, NoKey, NodeKey};
use headway_stage::world::{self, World};

use crate::failure::{Answer, Failure, is_stdin, read_text, remark, say};
use crate::report::count;

/// Rings that are tried for a typical time, and for how many steps of a node each at most.
const SEEDS: u64 = 5;
const STEPS: usize = 50_000;

#[derive(ClapArgs, Clone, Debug, Default)]
pub(super) struct Given {
    /// The configuration, in TOML
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

#[derive(ClapArgs, Debug)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    given: Given,
    /// Check, instead of this machine's keys, that no two who may not be down together can hold
    /// permits together: a file as `headway plan` reads it; exit code 1 if they can
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
        value_parser = member
    )]
    members: Vec<Member>,
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
    Ok(Sources {
        file: given.config.clone(),
        text,
        variables: variables(),
    })
}

/// Those that may be settings.
pub(super) fn variables() -> BTreeMap<String, String> {
    let all = std::env::vars_os().filter_map(|(name, value)| {
        let name = name
            .into_string()
            .ok()
            .filter(|name| name.starts_with("HEADWAY_"))?;
        Some((name, value.into_string().ok()?))
    });
    all.collect()
}

/// Reports all mistakes but the last, which becomes the failure.
pub(super) fn mistaken(sources: &Sources, mut mistakes: Vec<Mistake>) -> Failure {
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
        say(example_for(args).trim_end())?;
        return Ok(Answer::Yes);
    };
    let failed = |error: std::io::Error| Failure::writing(path, &error);
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    let written = file.write_all(example_for(args).as_bytes()).map_err(failed);
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written?;
    remark(format_args!("wrote {}", path.display()));
    Ok(Answer::Yes)
}

/// The example with the members that are given.
fn example_for(args: &InitArgs) -> String {
    if args.members.is_empty() {
        return example();
    }
    let members = args.members.iter().map(|member| {
        let Member { name, address, key } = member;
        format!("[[ring.members]]\nname = {name:?}\naddress = {address:?}\nkey = \"{key}\"\n")
    });
    file_with(&[], &members.collect::<String>())
}

pub(super) fn check(args: &CheckArgs) -> Result<Answer, Failure> {
    let sources = sources(&args.given)?;
    let settings = Settings::read(&sources).map_err(|mistakes| mistaken(&sources, mistakes))?;
    if args.conflicts.is_none() {
        check_identity(&settings)?;
    }
    if let Some(program) = settings.command.run.iter().flatten().next()
        && program.contains('/')
        && !Path::new(program).exists()
    {
        return Err(Failure::new(format!("command.run: there is no {program}")));
    }
    if let Some(path) = &args.conflicts {
        check_order(&settings, path)?;
    }
    say(explain(&settings, typical(&ring(&settings))).trim_end())?;
    if args.conflicts.is_some() {
        say(format_args!(
            "{:<22}kept: no two of them hold permits together",
            "conflicts"
        ))?;
    }
    Ok(Answer::Yes)
}

/// How long a ring of these nodes takes from any state until it has settled: the median of a few on
/// virtual time. Nothing where that would take long here.
fn typical(nodes: &[Config]) -> Option<Duration> {
    let step = nodes.first()?.timing.refresh;
    let most = STEPS / nodes.len();
    let mut took = Vec::new();
    for seed in 1..=SEEDS {
        let settings = world::Settings {
            seed,
            ..world::Settings::default()
        };
        let mut world = World::new(nodes.iter().cloned(), settings).ok()?;
        let settles = |world: &mut World| {
            (0..most).find(|_| {
                world.run_for(step);
                world.settled()
            })
        };
        settles(&mut world)?;
        world.scramble_all();
        let began = world.now();
        settles(&mut world)?;
        took.push((world.now() - world.settled_for()).saturating_sub(began));
    }
    took.sort();
    took.get(took.len() / 2).copied()
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
        Some(_) if settings.node.state_dir.join("membership").exists() => {
            remark(format_args!(
                "ring.members: {name} has another key than this machine ({}); the membership in \
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
