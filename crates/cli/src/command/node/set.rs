//! `headway node set`: what all members of a ring go by.

use std::time::Duration;

use clap::Args as ClapArgs;
use headway_service::client;
use serde_json::{Value, json};

use super::{SocketArgs, changed};
use crate::failure::{Answer, Failure};
use crate::flags::{duration, whole_number};

/// Flags of `headway node set`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway node set --tokens 2 --separation 3
  headway node set --dwell-most 1h --grace 30s
  headway node status                           what the ring goes by

Say it on any node, once: a majority of the voters decides, and the change spreads. Permits in
use last as long as they would have; then all members begin on the new ring. Nothing restarts,
and [ring] and [timing] of the configuration count for the first roster only.")]
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
    /// A neighbour not heard for this long is silent (timing.silence)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    silence: Option<Duration>,
    /// A permit's token stays at least this long (timing.dwell_least)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    dwell_least: Option<Duration>,
    /// A permit is withdrawn after this long (timing.dwell_most)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    dwell_most: Option<Duration>,
    /// How long a permit may last after it was asked back (timing.grace)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    grace: Option<Duration>,
}

pub(super) fn run(args: &Args) -> Result<Answer, Failure> {
    let terms = &args.terms;
    let mut body = json!({ "tokens": terms.tokens, "separation": terms.separation });
    for (key, flag, time) in [
        ("tick_ms", "tick", terms.tick),
        ("refresh_ms", "refresh", terms.refresh),
        ("silence_ms", "silence", terms.silence),
        ("dwell_least_ms", "dwell-least", terms.dwell_least),
        ("dwell_most_ms", "dwell-most", terms.dwell_most),
        ("grace_ms", "grace", terms.grace),
    ] {
        let whole = time.is_none_or(|time| time.subsec_nanos().is_multiple_of(1_000_000));
        if !whole {
            let wrong = format!(
                "--{flag} {time:?}: expected whole milliseconds",
                time = time.unwrap_or_default()
            );
            return Err(Failure::new(wrong));
        }
        body[key] = json!(time.map(|time| time.as_millis() as u64));
    }
    let answer = client::ask(&args.socket.socket, "PATCH", "/v1/terms", Some(&body));
    changed(answer, terms_of)
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
