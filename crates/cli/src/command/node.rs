//! `headway node`: one machine of a fleet, and what operators ask of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgMatches, Args as ClapArgs, FromArgMatches, Subcommand};
use headway_answer::plan::breach;
use headway_service::client::{self, ClientError, Ran, RunError};
use headway_service::config::{Mistake, Place, Settings, Sources, example, explain, keys};
use headway_service::{Stopped, secret};
use serde_json::{Value, json};

use crate::failure::{Answer, Failure, is_stdin, read_text};
use crate::flags::{TextOrJson, duration};
use crate::report::{count, print};

mod status;

/// How long `ask --wait` waits: as long as a node lets anybody wait.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// Flags of `headway node`.
#[derive(ClapArgs, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  headway node init node.toml --key ring.key    a commented example, and a key
  headway node check-config --config node.toml  what is wrong, or what it means
  headway node check-config --config node.toml --conflicts groups.txt
  headway node --config node.toml               runs the node
  headway node status --socket /run/headway/node.sock
  headway node add d 192.0.2.4:7400             one more member, on any node
  headway node remove b
  headway node run -- systemctl restart nginx   under a permit, with its exit code

Every key of the file is also a flag (--timing-refresh 200ms) and a variable
(HEADWAY_TIMING_REFRESH=200ms); a flag wins over a variable, a variable over the file."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    given: Given,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a commented example file, and a key if asked
    Init(InitArgs),
    /// Say what is wrong with a configuration, or what it means
    CheckConfig(Box<CheckArgs>),
    /// What a running node is doing; exit code 1 while its ring has not settled or stands still
    Status(StatusArgs),
    /// Who is on the ring
    List(SocketArgs),
    /// Add a member, which has to run already
    Add(AddArgs),
    /// Remove a member
    Remove(RemoveArgs),
    /// Run the node's command at its next permit
    Ask(AskArgs),
    /// Wait for a permit, run a command under it, and end with its exit code
    Run(RunArgs),
}

/// The file, and a flag for every key.
#[derive(Clone, Debug, Default)]
struct Given {
    config: Option<PathBuf>,
    flags: BTreeMap<String, String>,
}

impl ClapArgs for Given {
    fn augment_args(mut command: clap::Command) -> clap::Command {
        command = command.arg(
            Arg::new("config")
                .long("config")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("The configuration, in TOML"),
        );
        for key in keys() {
            let flag: &'static str = key.flag().leak();
            command = command.arg(
                Arg::new(flag)
                    .long(flag)
                    .value_name(key.placeholder)
                    .help(key.help)
                    .hide_short_help(true)
                    .help_heading("Keys of the file"),
            );
        }
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given, clap::Error> {
        let mut given = Given::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.config = matches.get_one::<PathBuf>("config").cloned();
        for key in keys() {
            let flag = key.flag();
            if let Some(value) = matches.get_one::<String>(&flag) {
                self.flags.insert(flag, value.clone());
            }
        }
        Ok(())
    }
}

#[derive(ClapArgs, Debug)]
struct CheckArgs {
    #[command(flatten)]
    given: Given,
    /// Also check that no two who may not be down together can hold permits together: a
    /// file as `headway plan` reads it; exit code 1 if they can
    #[arg(long, value_name = "FILE")]
    conflicts: Option<PathBuf>,
}

#[derive(ClapArgs, Debug)]
struct InitArgs {
    /// Where to write the example; standard output if left out
    file: Option<PathBuf>,
    /// Also make a new key in this file, readable by this user only
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
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
struct StatusArgs {
    #[command(flatten)]
    socket: SocketArgs,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
}

#[derive(ClapArgs, Debug)]
struct AskArgs {
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

The permit stays here while the command lives, for at most timing.dwell_most; then the command
gets SIGTERM, and SIGKILL before timing.grace is over. Signals are passed on to it. It knows
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
    /// Where its HTTP interface is: HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// Its place: after this member; at the end if left out
    #[arg(long, value_name = "NAME")]
    after: Option<String>,
    /// Even if it does not answer: the ring then waits for it
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
struct RemoveArgs {
    /// Which member
    name: String,
    /// You know that its machine is off, and those of its neighbours that were removed before
    #[arg(long)]
    gone: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

/// Runs a subcommand, or the node.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    match &args.command {
        None => serve(&args.given),
        Some(Command::Init(args)) => init(args),
        Some(Command::CheckConfig(args)) => check(args),
        Some(Command::Status(args)) => {
            let status = ask(&args.socket.socket, "GET", "/v1/status", None)?;
            print(
                args.format,
                || status.clone(),
                |out| status::write(out, &status),
            )?;
            let nobody = status["unheard"].as_array().is_none_or(Vec::is_empty);
            Ok(Answer::from(status["settled"] == true && nobody))
        }
        Some(Command::List(socket)) => list(&socket.socket),
        Some(Command::Add(args)) => add(args),
        Some(Command::Remove(args)) => {
            let gone = if args.gone { "?gone=true" } else { "" };
            let path = format!("/v1/members/{}{gone}", args.name);
            let answer = ask(&args.socket.socket, "DELETE", &path, None)?;
            println!("roster {}: {} is removed", answer["version"], args.name);
            Ok(Answer::Yes)
        }
        Some(Command::Ask(args)) if args.wait => {
            let path = format!("/v1/hook?wait_ms={}", MAX_WAIT.as_millis());
            let answer = client::ask_within(&args.socket.socket, "POST", &path, None, MAX_WAIT);
            let answer = answer.map_err(failed)?;
            let said = match answer["succeeded"].as_bool() {
                Some(true) => "the command has succeeded",
                Some(false) => "the command has failed; the node's log says how",
                None => "no permit has come, or the command still runs, after an hour",
            };
            println!("{said}");
            Ok(Answer::from(answer["succeeded"] == true))
        }
        Some(Command::Ask(args)) => {
            ask(&args.socket.socket, "POST", "/v1/hook", None)?;
            println!("the command runs at the next permit");
            Ok(Answer::Yes)
        }
        Some(Command::Run(args)) => {
            let tell = |text: &str| crate::failure::warn(text);
            match client::run(&args.socket.socket, &args.command, args.within, &tell) {
                Ok(Ran::Ended(code)) => Ok(Answer::Code(code)),
                Ok(Ran::Interrupted) => Ok(Answer::Interrupted),
                Ok(Ran::NoPermit) => {
                    eprintln!("no permit came in time: the command was not run");
                    Ok(Answer::No)
                }
                Err(RunError::Node(error)) => Err(failed(error)),
                Err(error) => Err(Failure::new(error)),
            }
        }
    }
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
        flags: given.flags.clone(),
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

fn serve(given: &Given) -> Result<Answer, Failure> {
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

fn init(args: &InitArgs) -> Result<Answer, Failure> {
    if let Some(path) = &args.key {
        secret::create(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Failure::new(format!(
                "there is a key in {} already, and it is left as it is",
                path.display()
            ))
            .help("to use it, drop --key and set ring.key_file; for a new one, give another --key"),
            _ => Failure::writing(path, &error),
        })?;
        eprintln!(
            "wrote a new key to {}: copy it to every member, mode 600",
            path.display()
        );
    }
    let mut example = example();
    if let Some(path) = &args.key {
        // The example says where the key is that was just made, wherever the node is started.
        let path = std::path::absolute(path).map_err(|error| Failure::reading(path, &error))?;
        let line = |line: &str| match line.strip_prefix("key_file = ") {
            Some(_) => format!("key_file = {:?}\n", path.display().to_string()),
            None => format!("{line}\n"),
        };
        example = example.lines().map(line).collect();
    }
    match &args.file {
        None => print!("{example}"),
        Some(path) => {
            let file = std::fs::File::create_new(path);
            let written = file.and_then(|mut file| file.write_all(example.as_bytes()));
            written.map_err(|error| Failure::writing(path, &error))?;
            eprintln!("wrote {}", path.display());
        }
    }
    Ok(Answer::Yes)
}

fn check(args: &CheckArgs) -> Result<Answer, Failure> {
    let sources = sources(&args.given)?;
    let settings = Settings::read(&sources).map_err(|mistakes| mistaken(&sources, mistakes))?;
    let key = secret::key(&settings.ring.key_file);
    key.map_err(|error| Failure::new(format!("ring.key_file: {error}")))?;
    if let Some(tls) = settings.zenoh.tls() {
        let key = secret::private(&tls.key);
        key.map_err(|error| Failure::new(format!("zenoh.key_file: {error}")))?;
        for (name, path) in [
            ("ca_file", &tls.authority),
            ("certificate_file", &tls.certificate),
        ] {
            std::fs::metadata(path).map_err(|error| {
                Failure::new(format!("zenoh.{name}: {}: {error}", path.display()))
            })?;
        }
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
    print!("{}", explain(&settings));
    if args.conflicts.is_some() {
        println!(
            "{:<22}kept: no two of them hold permits together",
            "conflicts"
        );
    }
    Ok(Answer::Yes)
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
    let conflicts = super::plan::read(path, None)?;
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
        ClientError::Refused(_) | ClientError::Strange => Failure::new(error),
    }
}

fn list(socket: &Path) -> Result<Answer, Failure> {
    let roster = ask(socket, "GET", "/v1/roster", None)?;
    let ring = text(&roster["ring"]);
    println!("roster {} of ring {ring}", roster["version"]);
    let list = |key: &str| roster[key].as_array().cloned().unwrap_or_default();
    let bypassed = list("bypassed");
    for (at, member) in list("members").iter().enumerate() {
        let (name, address) = (text(&member["name"]), text(&member["address"]));
        let note = if bypassed.contains(&member["name"]) {
            "  bypassed"
        } else {
            ""
        };
        println!("{at:>4}  {name:<16} {address}{note}");
    }
    Ok(Answer::Yes)
}

fn add(args: &AddArgs) -> Result<Answer, Failure> {
    let body = json!({
        "name": args.name, "address": args.address, "http": args.http,
        "after": args.after, "force": args.force,
    });
    let answer = ask(&args.socket.socket, "POST", "/v1/members", Some(&body))?;
    println!("roster {}: {} is added", answer["version"], args.name);
    Ok(Answer::Yes)
}

/// A text in JSON.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
