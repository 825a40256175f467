//! `headway node follow`: the members that DNS, Consul or Kubernetes lists.

use std::path::Path;
use std::time::Duration;

use clap::Args as ClapArgs;
use headway_service::discovery::{Changes, Found, Source, changes};
use serde_json::{Value, json};

use super::{SocketArgs, ask, text, told};
use crate::failure::{Answer, Failure};
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
            eprintln!("{failure}");
        }
        std::thread::sleep(pause);
    }
}

fn once(args: &Args, source: &Source) -> Result<Answer, Failure> {
    let found = source.find().map_err(Failure::new)?;
    let socket = &args.socket.socket;
    let roster = roster(socket)?;
    let changes = changes(&roster, &found);
    let added = changes.add.iter().map(|(name, address)| {
        let member = json!({ "name": name, "address": address });
        (name, Some(member))
    });
    let removed = changes.remove.iter().filter(|_| args.remove);
    let wanted: Vec<_> = added.chain(removed.map(|name| (name, None))).collect();
    let mut all = true;
    for some in wanted.chunks(MAX_CHANGES) {
        all &= tell(args, some);
    }
    all &= remarks(args, source, &changes);
    Ok(Answer::from(all))
}

/// Proposes changes by one entry, or says which; whether there was nothing against any.
fn tell(args: &Args, changes: &[(&String, Option<Value>)]) -> bool {
    let what = |(name, member): &(&String, Option<Value>)| {
        let done = if member.is_some() { "added" } else { "removed" };
        format!("{name} is {done}")
    };
    if args.dry_run {
        for change in changes {
            println!("would be changed: {}", what(change));
        }
        return true;
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
                eprintln!("not yet: {}: {failure}", what(change));
            }
            return false;
        }
    };
    let mut all = true;
    for change in changes {
        match answer["refused"][change.0.as_str()].as_str() {
            None => println!("roster {}: {}", answer["version"], what(change)),
            Some(why) => {
                eprintln!("not yet: {}: {why}", what(change));
                all = false;
            }
        }
    }
    told(&answer);
    all
}

/// What is left for somebody to do; whether that is nothing.
fn remarks(args: &Args, source: &Source, changes: &Changes) -> bool {
    if changes.doubtful {
        eprintln!("{source} lists no more than half of the members: nobody is removed");
    }
    for name in &changes.moved {
        eprintln!("{name} is listed elsewhere than the roster says: remove it, then it is added");
    }
    if !args.remove {
        for name in &changes.remove {
            eprintln!("{name} is not listed: `headway node remove {name}`, or --remove");
        }
    }
    let nobody_else = changes.remove.is_empty() || args.remove;
    !changes.doubtful && changes.moved.is_empty() && nobody_else
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
