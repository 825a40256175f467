//! `headway node members`: the members of a list, whoever made it.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use headway_service::client::{self, ClientError};
use headway_service::config::Place;
use headway_service::members::{Changes, Member, changes, read};
use serde::Serialize;
use serde_json::{Value, json};

use super::{SocketArgs, ask, failed, told};
use crate::failure::{Answer, Failure, read_text, remark, say};
use crate::flags::TextOrJson;
use crate::report::print_json;

/// Changes at a time.
const MAX_CHANGES: usize = 100;

/// Flags of `headway node members`.
#[derive(ClapArgs, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add and remove members until they are those of a list
    Apply(Apply),
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway node members apply fleet.toml --dry-run     what would change
  ./who-is-there | headway node members apply -       from any program

A list in JSON is [{\"name\": \"d\", \"address\": \"192.0.2.4:7400\", \"key\": \"hw1…\"}]; whoever
is a member already needs no key there. A list in TOML has [[ring.members]], as the configuration,
and as `headway node list --toml` prints them. The guide for operators (docs/operators/members.md) has
lists from DNS, Consul and Kubernetes.

All changes become one change of the membership, a hundred at most; the rest follows. New
members come last on the ring, and have to run; one that does not answer is not added. A list
without half of the members or more changes nothing. Exit code 1 if anything is not as the list
says in the end.")]
struct Apply {
    /// The list, in JSON or TOML; - is standard input
    file: PathBuf,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
    #[command(flatten)]
    socket: SocketArgs,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let Command::Apply(args) = &args.command;
    apply(args)
}

fn apply(args: &Apply) -> Result<Answer, Failure> {
    let (path, text) = (&args.file, read_text(&args.file)?);
    let wanted = read(&text).map_err(|mistake| match mistake.place {
        Place::File { line, column } => Failure::in_text(path, &text, line, column, &mistake),
        _ => Failure::new(format!("{}: {mistake}", path.display())),
    })?;
    let membership = ask(&args.socket.socket, "GET", "/v1/membership", None)?;
    let members: Vec<Member> = serde_json::from_value(membership["members"].clone())
        .map_err(|_| failed(ClientError::Strange))?;
    let changes = changes(&members, &wanted).map_err(|too_few| Failure {
        exit_code: 1,
        ..Failure::new(too_few).help("remove those that are gone: `headway node remove NAME`")
    })?;
    let mut done = Done {
        membership: membership["version"].clone(),
        ..Done::default()
    };
    done.change(args, &changes)?;
    for (name, how) in changes.differ {
        let help = format!("`headway node remove {name}`, then apply the list again");
        done.left(args, name, &format!("{how}: {help}"));
    }
    match args.format {
        TextOrJson::Json => print_json(&done.json(args))?,
        TextOrJson::Text if done.is_nothing() => say(format_args!(
            "membership {}: these are its members already",
            done.membership
        ))?,
        TextOrJson::Text => {}
    }
    Ok(Answer::from(done.not_applied.is_empty()))
}

/// Somebody who comes, or goes.
#[derive(Clone, Copy)]
enum Change<'c> {
    Add(&'c Member),
    Remove(&'c String),
}

impl Change<'_> {
    fn name(&self) -> &String {
        match self {
            Change::Add(member) => &member.name,
            Change::Remove(name) => name,
        }
    }

    fn text(&self) -> String {
        match self {
            Change::Add(member) => format!("{} is added", member.name),
            Change::Remove(name) => format!("{name} is removed"),
        }
    }
}

/// What has become of a list.
#[derive(Default)]
struct Done {
    membership: Value,
    added: Vec<String>,
    removed: Vec<String>,
    /// Names, and why.
    not_applied: Vec<(String, String)>,
}

impl Done {
    fn change(&mut self, args: &Apply, changes: &Changes) -> Result<(), Failure> {
        let add = changes.add.iter().map(Change::Add);
        let all: Vec<_> = add
            .chain(changes.remove.iter().map(Change::Remove))
            .collect();
        for some in all.chunks(MAX_CHANGES) {
            if args.dry_run {
                for change in some {
                    self.made(args, *change, "would be changed")?;
                }
            } else {
                self.ask(args, some)?;
            }
        }
        Ok(())
    }

    /// Asks the node for changes, all at once.
    fn ask(&mut self, args: &Apply, changes: &[Change<'_>]) -> Result<(), Failure> {
        let (mut add, mut remove) = (Vec::new(), Vec::new());
        for change in changes {
            match change {
                Change::Add(member) => add.push(member),
                Change::Remove(name) => remove.push(name),
            }
        }
        let body = json!({ "add": add, "remove": remove });
        let answer = match client::ask(&args.socket.socket, "PATCH", "/v1/members", Some(&body)) {
            Ok(answer) => answer,
            Err(ClientError::Refused(why) | ClientError::Undecided(why)) => {
                for change in changes {
                    self.left(args, change.name().clone(), &why);
                }
                return Ok(());
            }
            Err(error) => return Err(failed(error)),
        };
        self.membership = answer["version"].clone();
        for change in changes {
            match answer["refused"][change.name().as_str()].as_str() {
                Some(why) => self.left(args, change.name().clone(), why),
                None => self.made(args, *change, &format!("membership {}", self.membership))?,
            }
        }
        match args.format {
            TextOrJson::Text => told(&answer),
            TextOrJson::Json => Ok(()),
        }
    }

    fn made(&mut self, args: &Apply, change: Change<'_>, how: &str) -> Result<(), Failure> {
        match change {
            Change::Add(member) => self.added.push(member.name.clone()),
            Change::Remove(name) => self.removed.push(name.clone()),
        }
        match args.format {
            TextOrJson::Text => say(format_args!("{how}: {}", change.text())),
            TextOrJson::Json => Ok(()),
        }
    }

    fn left(&mut self, args: &Apply, name: String, why: &str) {
        if args.format == TextOrJson::Text {
            remark(format_args!("not yet as listed: {name}: {why}"));
        }
        self.not_applied.push((name, why.to_owned()));
    }

    const fn is_nothing(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.not_applied.is_empty()
    }

    fn json(&self, args: &Apply) -> MembersJson<'_> {
        let left = self.not_applied.iter();
        let left = left.map(|(name, why)| NotApplied { name, why });
        MembersJson {
            membership: &self.membership,
            dry_run: args.dry_run,
            added: &self.added,
            removed: &self.removed,
            not_applied: left.collect(),
        }
    }
}

/// What `headway node members apply` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MembersJson<'a> {
    #[cfg_attr(test, schemars(with = "u64"))]
    membership: &'a Value,
    /// Whether the changes were only listed, and not made.
    dry_run: bool,
    /// Members that were added, by name; with dry_run, that would be.
    added: &'a [String],
    /// Members that were removed, by name; with dry_run, that would be.
    removed: &'a [String],
    /// Members that are not as the list says, and why.
    not_applied: Vec<NotApplied<'a>>,
}

/// A member that is not as the list says.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct NotApplied<'a> {
    name: &'a str,
    /// Why it failed.
    why: &'a str,
}
