//! `headway ring`: a whole real ring of nodes on one machine.

use std::io::Write;
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use headway_node::{ConfigError, Key, Plan, PlanError, Timing};
use headway_stage::faulty::{Faults, SharedFaults};
use headway_stage::live_ring::{Carrier, LiveError, LiveRing, LiveSettings};

use crate::failure::{Answer, Failure};
use crate::flags::{TextOrJson, decimal, duration, seed, threads, whole_number};
use crate::interrupt::is_stopped;
use crate::report::{print, style};
use headway_sim::seed::DEFAULT_SEED;

mod live;
mod order;
mod session;
pub(crate) mod summary;

use order::{Fault, Span, span};
use session::Session;

/// Flags of `headway ring`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway ring --for 3s
  headway ring --for 6s --transport udp --loss 0.2 --reorder 0.1
  headway ring --for 5s --fault scramble@1s --format json
  headway ring --for 5s --nodes 12 --tokens 3 --fault crash:4@2s --fault restart:4@3s

Faults, each followed by @TIME, when it happens; or typed while the ring runs,
without the time and with a space instead of the colon:
  scramble, scramble:3, scramble:3,5-8       overwrite the memory of all or some nodes
  crash:I, restart:I, restart-empty:I        with its saved state, or with none
  cut:I,J, mend:I,J                          a link, in both directions
  partition:I-J, heal                        nodes I to J from the others
  loss:P, duplicate:P, reorder:P, corrupt:P  of datagrams, 0 to 1
  delay:TIME                                 each by up to this
and, typed: help, quit.")]
pub(crate) struct Args {
    /// Number of nodes
    #[arg(short = 'n', long, value_name = "N", default_value_t = 24, value_parser = whole_number::<u32>, help_heading = "Ring")]
    nodes: u32,

    /// Number of tokens
    #[arg(short = 'm', long, value_name = "M", default_value_t = 4, value_parser = whole_number::<u32>, help_heading = "Ring")]
    tokens: u32,

    /// Minimum real-time distance between permits on this ring, in hops
    #[arg(short = 'd', long, value_name = "D", default_value_t = 2, value_parser = whole_number::<u32>, help_heading = "Ring")]
    separation: u32,

    /// Bytes that each token carries, 0 to 255; with 8 or more it counts its permits
    #[arg(long, value_name = "BYTES", default_value_t = 8, value_parser = whole_number::<u8>, help_heading = "Ring")]
    payload: u8,

    /// How long a permit is used: a time, or a range of times
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "10ms..30ms",
        help_heading = "Ring"
    )]
    hold: Span,

    /// Least time between two ticks of the clock
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration, help_heading = "Ring")]
    tick: Duration,

    /// A state is sent again after this long without a change
    #[arg(long, value_name = "DURATION", default_value = "10ms", value_parser = duration, help_heading = "Ring")]
    refresh: Duration,

    /// Seed of every random choice: a number, or `random` for a new one [default: 2009]
    ///
    /// Threads and sockets differ from run to run, even with the same seed.
    #[arg(long, value_name = "S", value_parser = seed, help_heading = "Ring")]
    seed: Option<u64>,

    /// What carries the datagrams
    #[arg(long, value_enum, default_value_t, help_heading = "Network")]
    transport: Transport,

    /// Probability that a datagram is lost
    #[arg(long, value_name = "P", default_value_t, value_parser = decimal, help_heading = "Network")]
    loss: f64,

    /// Probability that a datagram arrives twice
    #[arg(long, value_name = "P", default_value_t, value_parser = decimal, help_heading = "Network")]
    duplicate: f64,

    /// Probability that a datagram is overtaken by the next
    #[arg(long, value_name = "P", default_value_t, value_parser = decimal, help_heading = "Network")]
    reorder: f64,

    /// Probability that a datagram is changed on its way
    #[arg(long, value_name = "P", default_value_t, value_parser = decimal, help_heading = "Network")]
    corrupt: f64,

    /// Delay every datagram by up to this
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration, help_heading = "Network")]
    delay: Duration,

    /// Do not authenticate datagrams
    #[arg(long, help_heading = "Network")]
    no_key: bool,

    /// Run for this long [default: until quit on a terminal, 10s elsewhere]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration)]
    duration: Option<Duration>,

    /// A fault at a time (repeatable; the kinds are below)
    #[arg(long = "fault", value_name = "FAULT@TIME")]
    faults: Vec<Fault>,

    /// Threads that share the nodes [default: one per core]
    #[arg(long, value_name = "T", value_parser = threads)]
    threads: Option<NonZeroUsize>,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
}

/// What carries the datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Transport {
    /// Memory of this program
    #[default]
    Memory,
    /// Sockets on the loopback interface, one per node
    Udp,
}

/// As many nodes as one program can run: a few kilobytes each.
const MAX_NODES: u32 = 100_000;

/// How long it runs where nobody can stop it.
const UNATTENDED: Duration = Duration::from_secs(10);

/// Runs, shows, and sums up.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    let plan = Plan::new(args.nodes, args.tokens, args.separation).map_err(infeasible)?;
    if args.nodes > MAX_NODES {
        return Err(Failure::new(format!(
            "--nodes {}: one program runs at most {MAX_NODES}",
            args.nodes
        ))
        .help("larger rings need many machines; headway forecast predicts them"));
    }
    let person = style::is_watched();
    let duration = match args.duration {
        None if !person => Some(UNATTENDED),
        given => given,
    };
    check_faults(args, duration)?;
    let settings = LiveSettings {
        plan,
        carrier: match args.transport {
            Transport::Memory => Carrier::Memory,
            Transport::Udp => Carrier::Udp,
        },
        hold: args.hold.0,
        timing: timing(args),
        payload: args.payload,
        key: key(args)?,
        seed: args.seed.unwrap_or(DEFAULT_SEED),
        faults: faults(args)?,
        threads: args.threads.map_or_else(cores, number),
    };
    let ring = LiveRing::start(settings).map_err(|error| not_started(args, error))?;
    let mut session = Session::new(ring, args.faults.clone(), duration);
    if person && !style::is_dumb() && args.format == TextOrJson::Text {
        live::play(&mut session)?;
    } else {
        in_lines(&mut session, args.format == TextOrJson::Text)?;
    }
    let summary = session.finish();
    print(args.format, || summary.json(), |out| summary.write(out))?;
    if is_stopped() {
        return Ok(Answer::Interrupted);
    }
    Ok(summary.good().into())
}

/// A line a second, and orders from standard input.
fn in_lines(session: &mut Session, show: bool) -> Result<(), Failure> {
    let orders = order::typed();
    let mut out = anstream::stdout();
    if show {
        writeln!(out, "{}", session.title())?;
    }
    let mut shown = Duration::ZERO;
    loop {
        for line in orders.try_iter() {
            session.type_in(&line);
        }
        let running = session.step() && !is_stopped();
        if show {
            for remark in session.news() {
                writeln!(out, "{remark}")?;
            }
            if session.now() >= shown + Duration::from_secs(1) {
                shown = session.now();
                writeln!(out, "{}", session.line())?;
            }
        }
        if !running {
            return Ok(());
        }
        std::thread::sleep(session::SAMPLE);
    }
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, number)
}

fn number(threads: NonZeroUsize) -> u32 {
    u32::try_from(threads.get()).unwrap_or(u32::MAX)
}

fn timing(args: &Args) -> Timing {
    let usual = Timing::default();
    Timing {
        refresh: args.refresh,
        tick: args.tick,
        heartbeat_timeout: usual.heartbeat_timeout.max(args.refresh * 8),
        // Longer than anybody uses a permit here, so that none is asked back.
        max_hold: (args.hold.0.max * 4).max(Duration::from_secs(1)),
        ..usual
    }
}

fn key(args: &Args) -> Result<Key, Failure> {
    let changes = args.corrupt > 0.0
        || args.faults.iter().any(|fault| {
            matches!(fault.order, order::Order::Chance(order::Chance::Corrupt, chance) if chance > 0.0)
        });
    if !args.no_key {
        // It protects from accidents here, so it need not be secret.
        let secret = *b"of a ring within one program    ";
        return Key::new(&secret).ok_or_else(|| Failure::new("the key is too short"));
    }
    if changes {
        return Err(Failure::new(
            "--no-key contradicts corrupted datagrams: they would go unnoticed",
        )
        .help("drop --no-key, or drop the corruption"));
    }
    Ok(Key::none())
}

fn faults(args: &Args) -> Result<SharedFaults, Failure> {
    let faults = Faults {
        loss: args.loss,
        duplicate: args.duplicate,
        reorder: args.reorder,
        corrupt: args.corrupt,
        delay: args.delay,
        ..Faults::default()
    };
    match faults.wrong() {
        None => Ok(SharedFaults::new(faults)),
        Some((name, given)) => {
            let failure = Failure::new(format!(
                "--{name} {given}: expected a probability, from 0 to 1"
            ));
            Err(match given {
                1.0..=100.0 => failure.help(format!("{given}% is --{name} {}", given / 100.0)),
                _ => failure,
            })
        }
    }
}

fn check_faults(args: &Args, duration: Option<Duration>) -> Result<(), Failure> {
    for fault in &args.faults {
        fault
            .order
            .fits(args.nodes)
            .map_err(|error| Failure::new(format!("--fault {fault}: {error}")))?;
        if duration.is_some_and(|duration| fault.at >= duration) {
            return Err(
                Failure::new(format!("--fault {fault} comes after the end of the run"))
                    .help("run longer, with --for, or choose an earlier time"),
            );
        }
    }
    Ok(())
}

fn infeasible(error: PlanError) -> Failure {
    let help = match error {
        PlanError::Nodes(_) => "change --nodes".to_owned(),
        PlanError::Tokens(_) => "change --tokens".to_owned(),
        PlanError::Separation => "change --separation".to_owned(),
        PlanError::Infeasible {
            capacity, furthest, ..
        }
        | PlanError::NoSlack {
            capacity, furthest, ..
        } if furthest > 0 => {
            format!("--tokens {capacity}, or --separation {furthest}, or more --nodes")
        }
        PlanError::Infeasible { capacity, .. } | PlanError::NoSlack { capacity, .. } => {
            format!("--tokens {capacity}, or more --nodes")
        }
    };
    Failure::new(error).help(help)
}

fn not_started(args: &Args, error: LiveError) -> Failure {
    match error {
        LiveError::Config(ConfigError::TooLarge { .. }) => {
            Failure::new(error).help("lower --payload or --tokens")
        }
        LiveError::Config(ConfigError::Timing {
            field,
            given,
            expected,
        }) => Failure::new(format!("--{field} {}: {expected}", span(given))),
        LiveError::System(_) if args.transport == Transport::Udp => {
            Failure::new(format!("cannot open {} sockets: {error}", args.nodes))
                .help("raise the limit of open files (ulimit -n), or take fewer --nodes")
        }
        error => Failure::new(error),
    }
}
