//! `headway rollout`: one command on every member, as many at a time as there are permits.

use std::io::Write as _;
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand};
use headway_service::client;
use serde_json::{Value, json};

use super::node::{SocketArgs, ask, text};
use crate::failure::{Answer, Failure, say};
use crate::flags::{TextOrJson, duration, whole_number};
use crate::interrupt;
use crate::report::print_json;

mod show;

/// How often `--watch` looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Flags of `headway rollout`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway rollout start kernel --canary a --settle 10m -- /usr/local/bin/upgrade
  headway rollout status --watch           37 of 100 done, 1 failed, 2 running, about 14 min left
  headway rollout resume kernel --retry    after a failure was repaired

Every member runs the command once it has a permit, so at most as many at a time as ring.tokens,
and never closer than ring.separation. Any member answers and takes orders, and a rollout
survives the loss of any of them. A member may begin a step again after a crash: the command has
HEADWAY_STEP, a number that stays the same, to do its work only once. Members run only programs
that their rollout.allow lists.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a command on every member
    Start(StartArgs),
    /// Show progress; exit code 1 if it has failed or was aborted
    Status(StatusArgs),
    /// Begin no more steps for now; running steps go on
    Pause(NameArgs),
    /// Continue after a pause or a failure
    Resume(ResumeArgs),
    /// Begin no more steps, for good; running steps go on
    Abort(NameArgs),
    /// Show who started it, when, and the result on each member
    Log(LogArgs),
}

#[derive(ClapArgs, Debug)]
struct StartArgs {
    /// What to call it
    name: String,
    /// Members that go first; the others begin when all of them are done
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    canary: Vec<String>,
    /// Stop when this many steps have failed
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = whole_number::<u32>)]
    max_failures: u32,
    /// Begin steps only between these times of day, in UTC or with an offset: 22:00-05:00+02:00
    #[arg(long, value_name = "HH:MM-HH:MM", value_parser = window)]
    window: Option<(u16, u16)>,
    /// How long a member keeps its permit after the command has succeeded
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration)]
    settle: Duration,
    /// Command that has to succeed before a member passes its permit on; split at spaces, no shell
    #[arg(long, value_name = "COMMAND", default_value = "")]
    healthy: String,
    /// Only check it, and print what would happen
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    socket: SocketArgs,
    /// Program and arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(ClapArgs, Debug)]
struct StatusArgs {
    /// Which rollout; the latest if left out
    name: Option<String>,
    /// Keep showing it until it has ended
    #[arg(long)]
    watch: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
struct LogArgs {
    /// Which rollout; the latest if left out
    name: Option<String>,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
struct NameArgs {
    /// Which rollout
    name: String,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
struct ResumeArgs {
    /// Which rollout
    name: String,
    /// Run steps that have failed once more
    #[arg(long)]
    retry: bool,
    /// From now on, stop when this many steps have failed
    #[arg(long, value_name = "K", value_parser = whole_number::<u32>)]
    max_failures: Option<u32>,
    #[command(flatten)]
    socket: SocketArgs,
}

/// From and until, in minutes of a day in UTC.
fn window(text: &str) -> Result<(u16, u16), String> {
    let parsed = || {
        let (from, rest) = text.split_once('-')?;
        let (until, offset) = rest.split_at_checked(5)?;
        let offset = match offset.split_at_checked(1) {
            None => 0,
            Some(("+", offset)) => i32::from(minutes(offset)?),
            Some(("-", offset)) => -i32::from(minutes(offset)?),
            Some(_) => return None,
        };
        let utc = |minutes: u16| u16::try_from((i32::from(minutes) - offset).rem_euclid(1440)).ok();
        let (from, until) = (utc(minutes(from)?)?, utc(minutes(until)?)?);
        (from != until).then_some((from, until))
    };
    let expected = || {
        "expected two times of day in UTC, such as 22:00-05:00, or with an offset: \
         22:00-05:00+02:00"
            .to_owned()
    };
    parsed().ok_or_else(expected)
}

fn minutes(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let (hours, minutes) = Some((hours, minutes)).filter(|(h, m)| digits(h) && digits(m))?;
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}

/// Runs a subcommand.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    match &args.command {
        Command::Start(args) => start(args),
        Command::Status(args) => status(args),
        Command::Pause(args) => order(&args.socket, &args.name, "pause"),
        Command::Abort(args) => order(&args.socket, &args.name, "abort"),
        Command::Resume(args) => {
            let limit = args
                .max_failures
                .map(|most| format!("&max_failures={most}"));
            let what = format!("resume?retry={}{}", args.retry, limit.unwrap_or_default());
            order(&args.socket, &args.name, &what)
        }
        Command::Log(args) => {
            let rollout = find(&args.socket, args.name.as_deref())?;
            show::log(&mut anstream::stdout().lock(), &rollout)?;
            Ok(Answer::Yes)
        }
    }
}

fn start(args: &StartArgs) -> Result<Answer, Failure> {
    let window = args
        .window
        .map(|(from, until)| json!({ "from_minute": from, "until_minute": until }));
    let healthy: Vec<&str> = args.healthy.split_whitespace().collect();
    let body = json!({
        "name": args.name, "command": args.command, "canaries": args.canary,
        "max_failures": args.max_failures, "window": window,
        "settle_ms": args.settle.as_millis() as u64, "healthy": healthy,
        "dry_run": args.dry_run,
    });
    ask(&args.socket.socket, "POST", "/v1/rollouts", Some(&body))?;
    let status = ask(&args.socket.socket, "GET", "/v1/status", None)?;
    let (members, tokens) = (&status["members"], &status["tokens"]);
    let would = if args.dry_run { "would run" } else { "runs" };
    say(format_args!(
        "rollout {} {would} on {members} members, {tokens} at a time: {}",
        args.name,
        args.command.join(" ")
    ))?;
    if !args.canary.is_empty() {
        say(format_args!("first on {}", args.canary.join(", ")))?;
    }
    if !args.dry_run {
        say(format_args!(
            "`headway rollout status --watch` shows its progress"
        ))?;
    }
    Ok(Answer::Yes)
}

fn order(socket: &SocketArgs, name: &str, what: &str) -> Result<Answer, Failure> {
    let path = format!("/v1/rollouts/{}/{what}", client::segment(name));
    ask(&socket.socket, "POST", &path, None)?;
    let rollout = find(socket, Some(name))?;
    show::line(&mut anstream::stdout().lock(), &rollout)?;
    Ok(Answer::Yes)
}

/// The latest rollout, of this name if there is one.
fn find(socket: &SocketArgs, name: Option<&str>) -> Result<Value, Failure> {
    let mut answer = ask(&socket.socket, "GET", "/v1/rollouts", None)?;
    let rollouts = answer["rollouts"].as_array_mut().map(std::mem::take);
    let mut rollouts = rollouts.unwrap_or_default().into_iter();
    let found = match name {
        Some(name) => rollouts.find(|rollout| rollout["name"] == name),
        None => rollouts.next(),
    };
    found.ok_or_else(|| match name {
        Some(name) => Failure::new(format!("no rollout `{name}`"))
            .help("`headway rollout status` shows the latest; the last eight are remembered"),
        None => Failure::new("no rollout yet").help("`headway rollout start` starts one"),
    })
}

fn status(args: &StatusArgs) -> Result<Answer, Failure> {
    let mut shown = String::new();
    loop {
        let rollout = find(&args.socket, args.name.as_deref())?;
        let state = text(&rollout["rollout_state"]);
        let ended = matches!(state, "complete" | "failed" | "aborted");
        let last = ended || !args.watch;
        match args.format {
            TextOrJson::Json if last => print_json(&rollout)?,
            TextOrJson::Json => {}
            TextOrJson::Text => {
                let mut line = Vec::new();
                show::line(&mut line, &rollout)?;
                let line = String::from_utf8_lossy(&line).into_owned();
                if line != shown {
                    write!(anstream::stdout(), "{line}")?;
                    shown = line;
                }
            }
        }
        if last {
            return Ok(Answer::from(!matches!(state, "failed" | "aborted")));
        }
        if interrupt::is_stopped() {
            return Ok(Answer::Interrupted);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn windows_are_read_in_utc_or_with_an_offset() {
        assert_eq!(window("22:00-05:00"), Ok((1320, 300)));
        assert_eq!(window("22:00-05:00+02:00"), Ok((1200, 180)));
        assert_eq!(window("00:30-04:00+01:00"), Ok((1410, 180)));
        assert_eq!(window("22:00-05:00-05:00"), Ok((180, 600)));
        for wrong in [
            "",
            "22",
            "22:00",
            "22:00-5:00",
            "24:00-05:00",
            "1:00-2:00",
            "09:00-09:00",
            "22:00-05:00Z",
        ] {
            assert!(window(wrong).is_err(), "{wrong}");
        }
    }
}
