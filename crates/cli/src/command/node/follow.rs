//! `headway node follow`: the members that DNS, Consul or Kubernetes lists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args as ClapArgs;
use headway_service::discovery::{Changes, Found, Source, changes};
use headway_service::identity::NodeKey;
use serde_json::{Value, json};

use super::{SocketArgs, ask, text, told};
use crate::failure::{Answer, Failure, read_text, remark, say};
use crate::flags::duration;

/// Changes in one entry of the log.
const MAX_CHANGES: usize = 100;

/// Flags of `headway node follow`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Sources:
  dns:_headway._udp.example.org                  SRV records; the name of a member is the
                                                 first label of its target's (@SERVER:PORT
                                                 asks another server than the system's)
  consul:http://127.0.0.1:8500/SERVICE           the nodes of a service in Consul
  kubernetes:http://127.0.0.1:8001/NAMESPACE/SERVICE
                                                 its pods, through `kubectl proxy`

All changes that are found at a time become one entry of the log of rosters (a hundred at most, the
rest follows). A member that is listed has to run before it is added; one that does not is tried
again the next time, and so is one that would go together with both its neighbours. A source
that lists no more than half of the members removes nobody. Exit code 1 if something could not be
changed.")]
pub(super) struct Args {
    /// Who says who should be there
    source: String,
    /// Again and again, this long after the last time; once if left out
    #[arg(long, value_name = "TIME", value_parser = duration)]
    every: Option<Duration>,
    /// Also remove members that are not listed
    #[arg(long)]
    remove: bool,
    /// The keys of new members, a name and what `headway node identity` prints there on each line
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let source: Source = args.source.parse().map_err(Failure::new)?;
    loop {
        let done = once(args, &source);
        let Some(pause) = args.every else {
            return done;
        };
        // What does not work now may work the next time.
        if let Err(failure) = done {
            if failure.silent {
                return Err(failure);
            }
            remark(failure);
        }
        std::thread::sleep(pause);
    }
}

fn once(args: &Args, source: &Source) -> Result<Answer, Failure> {
    let found = source.find().map_err(Failure::new)?;
    let socket = &args.socket.socket;
    let roster = roster(socket)?;
    let keys = args.keys.as_deref().map(read_keys).transpose()?;
    let changes = changes(&roster, &found);
    let mut all = true;
    let added = changes.add.iter().filter_map(|(name, address)| {
        let key = keys.as_ref().map(|keys| keys.get(name));
        if let (Some(None), Some(file)) = (key, &args.keys) {
            remark(format_args!(
                "not yet: {name} is added: no key for it in {}",
                file.display()
            ));
            all = false;
            return None;
        }
        let member = json!({ "name": name, "address": address, "key": key.flatten() });
        Some((name, Some(member)))
    });
    let removed = changes.remove.iter().filter(|_| args.remove);
    let wanted: Vec<_> = added.chain(removed.map(|name| (name, None))).collect();
    for some in wanted.chunks(MAX_CHANGES) {
        all &= tell(args, some)?;
    }
    all &= remarks(args, source, &changes);
    Ok(Answer::from(all))
}

/// Proposes changes by one entry, or says which; whether there was nothing against any.
fn tell(args: &Args, changes: &[(&String, Option<Value>)]) -> Result<bool, Failure> {
    let what = |(name, member): &(&String, Option<Value>)| {
        let done = if member.is_some() { "added" } else { "removed" };
        format!("{name} is {done}")
    };
    if args.dry_run {
        for change in changes {
            say(format_args!("would be changed: {}", what(change)))?;
        }
        return Ok(true);
    }
    let add = changes.iter().filter_map(|(_, member)| member.clone());
    let remove = changes.iter().filter(|(_, member)| member.is_none());
    let body = json!({
        "add": add.collect::<Vec<_>>(),
        "remove": remove.map(|(name, _)| name).collect::<Vec<_>>(),
    });
    let answer = match ask(&args.socket.socket, "PATCH", "/v1/members", Some(&body)) {
        Ok(answer) => answer,
        Err(failure) => {
            for change in changes {
                remark(format_args!("not yet: {}: {failure}", what(change)));
            }
            return Ok(false);
        }
    };
    let mut all = true;
    for change in changes {
        match answer["refused"][change.0.as_str()].as_str() {
            None => say(format_args!(
                "roster {}: {}",
                answer["version"],
                what(change)
            ))?,
            Some(why) => {
                remark(format_args!("not yet: {}: {why}", what(change)));
                all = false;
            }
        }
    }
    told(&answer)?;
    Ok(all)
}

/// What is left for somebody to do; whether that is nothing.
fn remarks(args: &Args, source: &Source, changes: &Changes) -> bool {
    if changes.doubtful {
        remark(format_args!(
            "{source} lists no more than half of the members: nobody is removed"
        ));
    }
    for name in &changes.moved {
        remark(format_args!(
            "{name} is listed elsewhere than the roster says: remove it, then it is added"
        ));
    }
    if !args.remove {
        for name in &changes.remove {
            remark(format_args!(
                "{name} is not listed: `headway node remove {name}`, or --remove"
            ));
        }
    }
    let nobody_else = changes.remove.is_empty() || args.remove;
    !changes.doubtful && changes.moved.is_empty() && nobody_else
}

/// Keys by name, read every time: somebody may have written more.
fn read_keys(file: &Path) -> Result<BTreeMap<String, NodeKey>, Failure> {
    let wrong = |what: String| Failure::new(format!("{}{what}", file.display()));
    let text = read_text(file)?;
    let lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(at, line): (usize, &str)| {
        let (name, key) = line.split_once(char::is_whitespace).ok_or_else(|| {
            wrong(format!(
                ", line {at}: expected a name, a space and a key, as `web-4 hw1…`"
            ))
        })?;
        let key = key.trim().parse();
        let key = key.map_err(|error| wrong(format!(", line {at}: {error}")))?;
        Ok((name.to_owned(), key))
    };
    lines.map(read).collect()
}

fn roster(socket: &Path) -> Result<Found, Failure> {
    let roster = ask(socket, "GET", "/v1/roster", None)?;
    let members = roster["members"].as_array().into_iter().flatten();
    let member = |member: &Value| {
        let part = |key: &str| text(&member[key]).to_owned();
        (part("name"), part("address"))
    };
    Ok(members.map(member).collect())
}
