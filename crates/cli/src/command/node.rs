//! `headway node`: one machine of a fleet, and what operators ask of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand};
use headway_service::Status;
use headway_service::client::{self, ClientError, Ran, RunError};
use headway_service::identity::NodeKey;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::{Answer, Failure, remark, say};
use crate::flags::{TextOrJson, duration};
use crate::report::{count, print};

mod configuration;
mod join;
mod keys;
pub(crate) mod members;
mod set;
mod status;

use configuration::{CheckArgs, Given, InitArgs, check, init, serve};

/// How long `request --wait` waits: as long as a node lets anybody wait.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// Flags of `headway node`.
#[derive(ClapArgs, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  headway node create web                       the first machine of a ring
  headway node join hwj1…                       every other one: the line that a member prints
  headway node identity /var/lib/headway/identity   this machine's public key
  headway node init node.toml                   a commented example
  headway node check-config --config node.toml  validates and explains it
  headway node check-config --config node.toml --conflicts groups.txt
  headway node --config node.toml               runs the node
  headway node status --socket /run/headway/node.sock
  headway node add d 192.0.2.4:7400 --key hw1…  one more member, on any node
  headway node remove b
  ./who-is-there | headway node members apply -
  headway node set --tokens 2 --separation 3    on all of them, without a restart
  headway node run -- systemctl restart nginx   under a permit, with its exit code

Every key of the file is also a variable (HEADWAY_TIMING_REFRESH=200ms), which wins over the file."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    given: Given,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Begin a ring on its first machine, and print the line that lets the next one in
    Create(join::CreateArgs),
    /// Join a ring by a token that a member has printed
    Join(join::JoinArgs),
    /// Print the line that lets one more machine in
    Invite(join::InviteArgs),
    /// Write a commented example file, with members if they are given
    Init(InitArgs),
    /// Print this machine's public key; its secrets are made if there are none yet
    Identity(keys::IdentityArgs),
    /// Replace the key pairs of this node, or the recovery key, while the ring works
    RotateKey(keys::RotateArgs),
    /// Validate and explain a configuration
    CheckConfig(Box<CheckArgs>),
    /// What a running node is doing; exit code 1 while its ring has not settled or is stalled
    Status(StatusArgs),
    /// Who is on the ring
    List(ListArgs),
    /// Add a member, which has to run already; exit code 1 if it is not known whether it was added
    Add(AddArgs),
    /// Remove a member; exit code 1 if it is not known whether it was removed
    Remove(RemoveArgs),
    /// Change tokens, separation or times of the whole ring, without restarting anything
    Set(set::Args),
    /// Go on without most of the voters, which are gone for good
    #[command(
        long_about = "Go on without most of the voters, which are gone for good\n\n\
        Name only machines that are permanently off: they are left out, and the others \
        decide from then on. Name nobody if the machines are there, and most voters have lost their \
        disks. With --recovery-key, run it once, on one node; else on every node that is left. \
        docs/operators/voters.md has the whole procedure."
    )]
    Recover(RecoverArgs),
    /// Make the members those of a list, from a file or from another program
    Members(members::Args),
    /// Run the node's command at its next permit
    Request(RequestArgs),
    /// Wait for a permit, run a command under it, and end with its exit code
    Run(RunArgs),
}

#[derive(ClapArgs, Debug)]
pub(super) struct SocketArgs {
    /// The node's socket (api.socket)
    #[arg(
        long,
        value_name = "PATH",
        env = "HEADWAY_API_SOCKET",
        default_value = "/run/headway/node.sock"
    )]
    pub(super) socket: PathBuf,
}

#[derive(ClapArgs, Debug)]
struct ListArgs {
    /// As [[ring.members]], for the file of a node that is to be added
    #[arg(long)]
    toml: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
struct StatusArgs {
    #[command(flatten)]
    socket: SocketArgs,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
}

#[derive(ClapArgs, Debug)]
struct RequestArgs {
    /// Wait until the command has ended; exit code 1 if it has failed
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway node run -- systemctl restart nginx
  headway node run --within 10m -- ./backup --full || echo \"not now\"

The permit stays here while the command lives, for at most timing.max_hold; then the command
gets SIGTERM, and SIGKILL before timing.stop_timeout is over. Signals are passed on to it. It knows
HEADWAY_TOKEN, HEADWAY_FENCE (the fencing number), HEADWAY_DEADLINE (Unix time) and
HEADWAY_SECONDS. The exit code is the command's, or 128 and the number of the signal that has
ended it; 1 if no permit came in time, 2 if there is no node or no such command.")]
struct RunArgs {
    /// Give up if no permit comes within this time, with exit code 1
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    within: Option<Duration>,
    #[command(flatten)]
    socket: SocketArgs,
    /// Program and arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(ClapArgs, Debug)]
struct AddArgs {
    /// The new member's name
    name: String,
    /// Where it receives datagrams: HOST:PORT
    address: String,
    /// Its public key, as `headway node identity` prints it there
    #[arg(long, value_name = "KEY")]
    key: NodeKey,
    /// Where its HTTP interface is: HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// Its place: after this member; at the end if left out
    #[arg(long, value_name = "NAME")]
    after: Option<String>,
    /// Add it even if it does not answer; the ring then waits for it
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
struct RecoverArgs {
    /// Members whose machines are off for good, most voters among them: a,b,c
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    gone: Vec<String>,
    /// The recovery key (ring.recovery_key), which all members believe. If this is left out, run
    /// the command on every machine that is left
    #[arg(long, value_name = "FILE")]
    recovery_key: Option<PathBuf>,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
struct RemoveArgs {
    /// Which member
    name: String,
    /// Do not wait for it: its machine is off for good, and so are those of neighbours that were
    /// removed before
    #[arg(long)]
    gone: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

/// Runs a subcommand, or the node.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    match &args.command {
        None => serve(&args.given),
        Some(Command::Create(args)) => join::create(args),
        Some(Command::Join(args)) => join::join(args),
        Some(Command::Invite(args)) => join::invite(args),
        Some(Command::Init(args)) => init(args),
        Some(Command::CheckConfig(args)) => check(args),
        Some(Command::Status(args)) => {
            let told = ask(&args.socket.socket, "GET", "/v1/status", None)?;
            let status = Status::deserialize(&told).map_err(|error| {
                Failure::new(format!("the node's status cannot be read: {error}"))
            })?;
            print(args.format, || told, |out| status::write(out, &status))?;
            Ok(Answer::from(status.settled && status.unheard.is_empty()))
        }
        Some(Command::Identity(args)) => keys::identity(args),
        Some(Command::RotateKey(args)) => keys::rotate(args),
        Some(Command::List(args)) => list(args),
        Some(Command::Add(args)) => add(args),
        Some(Command::Remove(args)) => {
            let gone = if args.gone { "?gone=true" } else { "" };
            let path = format!("/v1/members/{}{gone}", client::segment(&args.name));
            let answer = client::ask(&args.socket.socket, "DELETE", &path, None);
            changed(answer, |_| format!("{} is removed", args.name))
        }
        Some(Command::Set(args)) => set::run(args),
        Some(Command::Recover(args)) => {
            let mut body = json!({ "gone": args.gone });
            if let Some(file) = &args.recovery_key {
                let signature = keys::sign(&args.socket.socket, &args.gone, file)?;
                body["signature"] = signature.into();
            }
            let answer = ask(&args.socket.socket, "POST", "/v1/recover", Some(&body))?;
            say(format_args!(
                "membership {}: the members that are left decide from now on",
                answer["version"]
            ))?;
            told(&answer)?;
            Ok(Answer::Yes)
        }
        Some(Command::Members(args)) => members::run(args),
        Some(Command::Request(args)) if args.wait => {
            let path = format!("/v1/command?wait_ms={}", MAX_WAIT.as_millis());
            let answer = client::ask_within(&args.socket.socket, "POST", &path, None, MAX_WAIT);
            let answer = answer.map_err(failed)?;
            let said = match answer["succeeded"].as_bool() {
                Some(true) => "the command has succeeded",
                Some(false) => "the command has failed; the node's log says how",
                None => "no permit has come, or the command still runs, after an hour",
            };
            say(said)?;
            Ok(Answer::from(answer["succeeded"] == true))
        }
        Some(Command::Request(args)) => {
            ask(&args.socket.socket, "POST", "/v1/command", None)?;
            say("the command runs at the next permit")?;
            Ok(Answer::Yes)
        }
        Some(Command::Run(args)) => {
            let tell = |text: &str| crate::failure::warn(text);
            match client::run(&args.socket.socket, &args.command, args.within, &tell) {
                Ok(Ran::Ended(code)) => Ok(Answer::Code(code)),
                Ok(Ran::Interrupted) => Ok(Answer::Interrupted),
                Ok(Ran::NoPermit) => {
                    remark("no permit came in time: the command was not run");
                    Ok(Answer::No)
                }
                Err(RunError::Node(error)) => Err(failed(error)),
                Err(error) => Err(Failure::new(error)),
            }
        }
    }
}

/// Asks a node.
pub(super) fn ask(
    socket: &Path,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, Failure> {
    client::ask(socket, method, path, body).map_err(failed)
}

fn failed(error: ClientError) -> Failure {
    match error {
        ClientError::Unreachable { .. } => {
            Failure::new(error).help("is the node running, and is --socket its api.socket?")
        }
        ClientError::Refused(_)
        | ClientError::Missing(_)
        | ClientError::Full(_)
        | ClientError::Undecided(_)
        | ClientError::Strange => Failure::new(error),
    }
}

fn list(args: &ListArgs) -> Result<Answer, Failure> {
    let membership = ask(&args.socket.socket, "GET", "/v1/membership", None)?;
    let list = |key: &str| membership[key].as_array().cloned().unwrap_or_default();
    if args.toml {
        say(keys::as_toml(&list("members")).trim_end())?;
        return Ok(Answer::Yes);
    }
    let ring = text(&membership["ring"]);
    say(format_args!(
        "membership {} of ring {ring}",
        membership["version"]
    ))?;
    let bypassed = list("bypassed");
    for (at, member) in list("members").iter().enumerate() {
        let (name, address) = (text(&member["name"]), text(&member["address"]));
        let note = if bypassed.contains(&member["name"]) {
            "  bypassed"
        } else {
            ""
        };
        say(format_args!("{at:>4}  {name:<16} {address}{note}"))?;
    }
    Ok(Answer::Yes)
}

fn add(args: &AddArgs) -> Result<Answer, Failure> {
    let body = json!({
        "name": args.name, "address": args.address, "http": args.http, "key": args.key,
        "after": args.after, "force": args.force,
    });
    let answer = client::ask(&args.socket.socket, "POST", "/v1/members", Some(&body));
    changed(answer, |answer| {
        let [before, now] = ["tokens_before", "tokens"].map(|key| answer[key].as_u64());
        match (before, now) {
            (Some(before), Some(now)) if before < now => {
                let tokens = count(now, "token");
                format!("{} is added, and {tokens} fit from now on", args.name)
            }
            _ => format!("{} is added", args.name),
        }
    })
}

/// Says what has become of the membership. Not to know is no error of whoever asks, and no yes.
fn changed(
    answer: Result<Value, ClientError>,
    how: impl FnOnce(&Value) -> String,
) -> Result<Answer, Failure> {
    match answer {
        Ok(answer) => {
            say(format_args!(
                "membership {}: {}",
                answer["version"],
                how(&answer)
            ))?;
            told(&answer)?;
        }
        Err(ClientError::Undecided(why)) => {
            remark(format_args!("not decided: {why}"));
            return Ok(Answer::No);
        }
        Err(error) => return Err(failed(error)),
    }
    Ok(Answer::Yes)
}

/// Says that fewer tokens travel than are wanted, because of the members.
pub(super) fn told(changed: &Value) -> Result<(), Failure> {
    let number = |key: &str| changed[key].as_u64().unwrap_or_default();
    let (tokens, wanted) = (number("tokens"), number("tokens_wanted"));
    let (separation, members) = (number("separation"), number("members"));
    if tokens < wanted {
        say(format_args!(
            "{} from now on, because {wanted} that are {} apart need {} members, and there are \
             {members}; {wanted} again as soon as they fit",
            count(tokens, "token"),
            count(separation, "hop"),
            wanted * separation + 1,
        ))?;
    }
    Ok(())
}

/// A text in JSON.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
