//! `headway node set`: what all members of a ring go by.

use std::time::Duration;

use clap::Args as ClapArgs;
use headway_service::client;
use headway_service::config::TermsChange;
use serde_json::{Value, json};

use super::{SocketArgs, changed};
use crate::failure::{Answer, Failure};
use crate::flags::{duration, whole_number};

/// Flags of `headway node set`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway node set --tokens 2 --separation 3
  headway node set --max-hold 1h --stop-timeout 30s
  headway node status                           what the ring goes by

Say it on any node, once: a majority of the voters decides, and the change spreads. Permits in
use last as long as they would have; then all members begin on the new ring. Nothing restarts,
and [ring] and [timing] of the configuration count for the first membership only.")]
pub(super) struct Args {
    #[command(flatten)]
    terms: Terms,
    #[command(flatten)]
    socket: SocketArgs,
}

#[derive(ClapArgs, Debug)]
#[group(required = true, multiple = true)]
struct Terms {
    /// How many permits travel (ring.tokens)
    #[arg(short = 'm', long, value_name = "M", value_parser = whole_number::<u32>)]
    tokens: Option<u32>,
    /// Minimum real-time distance between permits, in hops (ring.separation)
    #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
    separation: Option<u32>,
    /// Least time that a token stays at a node (timing.tick)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    tick: Option<Duration>,
    /// A state is sent again after this long without a change (timing.refresh)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    refresh: Option<Duration>,
    /// A neighbour not heard for this long is silent (timing.heartbeat_timeout)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    heartbeat_timeout: Option<Duration>,
    /// A permit's token stays at least this long (timing.min_hold)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    min_hold: Option<Duration>,
    /// A permit is withdrawn after this long (timing.max_hold)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    max_hold: Option<Duration>,
    /// How long a permit may last after it was asked back (timing.stop_timeout)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    stop_timeout: Option<Duration>,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let terms = &args.terms;
    let change = TermsChange {
        tokens: terms.tokens,
        separation: terms.separation,
        tick_ms: ms("tick", terms.tick)?,
        refresh_ms: ms("refresh", terms.refresh)?,
        heartbeat_timeout_ms: ms("heartbeat-timeout", terms.heartbeat_timeout)?,
        min_hold_ms: ms("min-hold", terms.min_hold)?,
        max_hold_ms: ms("max-hold", terms.max_hold)?,
        stop_timeout_ms: ms("stop-timeout", terms.stop_timeout)?,
    };
    let socket = &args.socket.socket;
    let answer = client::ask(socket, "PATCH", "/v1/ring-settings", Some(&json!(change)));
    changed(answer, terms_of)
}

fn ms(flag: &str, time: Option<Duration>) -> Result<Option<u64>, Failure> {
    match time.filter(|time| !time.subsec_nanos().is_multiple_of(1_000_000)) {
        Some(time) => Err(Failure::new(format!(
            "--{flag} {time:?}: expected whole milliseconds"
        ))),
        None => Ok(time.map(|time| time.as_millis() as u64)),
    }
}

/// Tokens and separation, in words.
fn terms_of(changed: &Value) -> String {
    let number = |key: &str| changed[key].as_u64().unwrap_or_default();
    format!(
        "{}, at least {} apart in real time",
        crate::report::count(number("tokens"), "token"),
        crate::report::count(number("separation"), "hop")
    )
}
