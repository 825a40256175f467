//! `headway walk`: a ring over a network.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use headway_answer::json;
use headway_answer::walk as answer;
use headway_walk::network::formats::Format as NetworkFormat;
use headway_walk::network::generators::Generator;
use headway_walk::walk::kept::{self, Offsets};
use headway_walk::walk::search::{self, Found, Method, Request};
use headway_walk::walk::svg::{self, Picture, Theme};
use headway_walk::{NEVER, Network, Walk, walk::bound};
use serde::Serialize;
use serde_json::Value;

use crate::failure::{Answer, Failure, expect_endings, read_text, warn, write_file, write_wanted};
use crate::flags::{TextOrJson, one_of, possible_values, seed, whole_number, whole_number_in};
use crate::interrupt::stopped;
use crate::report::print;
use crate::report::progress::Progress;
use headway_sim::seed::DEFAULT_SEED;

pub(crate) mod rings;
mod text;

/// Flags of `headway walk`.
#[derive(ClapArgs, Debug)]
#[command(after_help = "\
Examples:
  headway walk --generate grid:4x5 --tokens 3
  headway walk network.graphml --tokens 2 --separation 3 -o walk.json --svg walk.svg
  headway walk --generate star:6 --tokens 3          an impossibility, with its reason
  headway walk --generate figure7 --tokens 3 --method exact --longest 20
  headway walk --generate grid:3x5 --tokens 2 --method rings
  headway run --walk walk.json                       run the protocol on the walk

A network file is GraphML (.graphml), DOT (.dot), GML (.gml), GEXF (.gexf), Pajek (.net),
graph6 or sparse6 (.g6, .s6), an edge list (.edges), an adjacency list (.adjlist), a matrix
of the Matrix Market (.mtx) or JSON as networkx and Cytoscape write it (.json). Exit code 1
when the distance wanted is not reached; 130 after Ctrl-C, with the best walk so far.")]
pub(crate) struct Args {
    /// A network file, see below
    #[arg(value_name = "NETWORK")]
    network: Option<PathBuf>,

    /// Generate the network instead: grid:RxC, torus:RxC, star:N, line:N, ring:N, tree:N,
    /// hypercube:D, complete:N, geometric:N, geometric:N:RADIUS or figure7
    #[arg(long, value_name = "WHAT", conflicts_with = "network")]
    generate: Option<Generator>,

    /// The network file's format, if its ending does not show it
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(NetworkFormat::ALL.iter().map(|format| format.name())))]
    from: Option<String>,

    /// Take the largest piece of a network that has several
    #[arg(long, conflicts_with = "generate")]
    largest_component: bool,

    /// Number of tokens
    #[arg(short = 'm', long, value_name = "M", default_value_t = 2, value_parser = whole_number::<usize>)]
    tokens: usize,

    /// Distance wanted between tokens in the network. Once reached, the search shortens the
    /// walk instead of widening the distance
    #[arg(short = 'd', long, value_name = "D", value_parser = whole_number::<u32>)]
    separation: Option<u32>,

    /// How to search for a walk
    #[arg(long, value_parser = looking(), default_value = "best")]
    method: Looking,

    /// With --method exact: the longest walk to consider [default: twice the nodes]
    #[arg(long, value_name = "STEPS", value_parser = whole_number::<usize>)]
    longest: Option<usize>,

    /// Judge this walk instead of searching for one: a walk file, or a JSON list of node names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "longest"])]
    along: Option<PathBuf>,

    /// With --method rings: time these rings, a JSON list of lists of node names
    #[arg(long, value_name = "FILE")]
    rings: Option<PathBuf>,

    /// With --method rings: tokens may rest up to this many rounds at every node of a ring
    #[arg(long, value_name = "ROUNDS", default_value_t = 1, value_parser = whole_number_in::<u32>(1..=6))]
    slowest: u32,

    /// Seed of every random choice: a number, or `random` for a new one [default: 2009]
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,

    /// How hard to search: 10 takes about ten times as long as 1
    #[arg(long, value_name = "E", default_value_t = 1, value_parser = whole_number_in::<u32>(1..=1000))]
    effort: u32,

    /// Table what every number of tokens keeps, on a network of any size
    ///
    /// Usually only up to 2000 nodes, because it takes all distances.
    #[arg(long, alias = "capacity")]
    table: bool,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,

    /// Also write the walk file, JSON that `headway run --walk` takes
    #[arg(long, short, value_name = "FILE.json")]
    output: Option<PathBuf>,

    /// Also draw the network, the walk and the tokens
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,

    /// Background of the drawing
    #[arg(long, value_parser = one_of::<Theme>(), default_value_t)]
    theme: Theme,

    /// Also write the network, in the format of the ending
    #[arg(long, value_name = "FILE")]
    write_network: Option<PathBuf>,
}

/// How to look: for a walk, or for several rings that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looking {
    Walk(Method),
    Rings,
}

/// The methods by their names, and `rings`.
fn looking() -> impl TypedValueParser<Value = Looking> {
    let rings = PossibleValue::new("rings").help("Several rings that meet instead of one walk");
    let values = possible_values::<Method>().chain([rings]);
    PossibleValuesParser::new(values).map(|name| match name.parse() {
        Ok(method) => Looking::Walk(method),
        Err(_) => Looking::Rings,
    })
}

/// Looks and reports.
pub(crate) fn run(args: &Args) -> Result<Answer, Failure> {
    expect_endings(args.svg.as_deref(), None)?;
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    let network = args.the_network(seed)?;
    for note in network.notes() {
        warn(note);
    }
    if let Some(path) = &args.write_network {
        write_network(&network, path)?;
    }
    answer::admit(args.tokens, &network)?;
    let Looking::Walk(method) = args.method else {
        return rings::run(args, &network, seed);
    };
    if args.longest.is_some() && method != Method::Exact {
        return Err(
            Failure::new("--longest only has a meaning for --method exact")
                .help("add --method exact, or drop --longest"),
        );
    }
    if args.rings.is_some() {
        return Err(
            Failure::new("--rings only has a meaning for --method rings")
                .help("add --method rings, or drop --rings"),
        );
    }
    let request = Request {
        tokens: args.tokens,
        wanted: args.separation,
        method,
        longest: args.longest,
        seed,
        effort: args.effort,
    };
    let stop = stopped();
    let found = match &args.along {
        Some(path) => Some(given(&network, path, &request)?),
        None => {
            let mut progress = Progress::new(None, "");
            search::walk_until(&network, &request, &mut |doing| progress.say(doing), &stop)
        }
    };
    let interrupted = args.along.is_none() && stop.load(Ordering::Relaxed);
    drop(stop);
    let Some(found) = found else {
        if interrupted {
            return Err(Failure::interrupted("stopped before a walk was found"));
        }
        return nothing_found(args, &network, method, seed);
    };
    let mut json = answer::json(&network, &request, &found, args.table, interrupted);
    if args.along.is_some() {
        "given".clone_into(&mut json.method);
    }
    write_wanted(args.output.as_ref(), || json::pretty(&json))?;
    let picture = Picture {
        network: &network,
        walk: &found.walk,
        tokens: args.tokens,
        nearest: found.nearest,
        bound: found.bound.as_ref().map(|bound| bound.distance),
        theme: args.theme,
    };
    write_wanted(args.svg.as_ref(), || svg::draw(&picture))?;
    print(
        args.format,
        || &json,
        |out| text::write(out, args, &network, &json),
    )?;
    if interrupted {
        return Err(Failure::interrupted(
            "stopped: this is the best walk so far",
        ));
    }
    Ok(answer::is_enough(&request, &found).into())
}

impl Args {
    fn the_network(&self, seed: u64) -> Result<Network, Failure> {
        match (&self.network, self.generate) {
            (_, Some(generator)) => generator.network(seed).map_err(|error| {
                Failure::new(format!("--generate: {error}"))
                    .help("give a larger radius: geometric:N:RADIUS")
            }),
            (Some(path), None) => read_network(path, self.from.as_deref(), self.largest_component),
            (None, None) => {
                Err(Failure::new("no network")
                    .help("give a file, or make one: --generate grid:4x5"))
            }
        }
    }
}

fn read_network(path: &Path, from: Option<&str>, largest: bool) -> Result<Network, Failure> {
    let format = match from {
        Some(name) => name.parse().map_err(Failure::new)?,
        None => NetworkFormat::of_path(path).ok_or_else(|| {
            Failure::new(format!(
                "{}: the ending does not show the format of this network",
                path.display()
            ))
            .help(format!("add --from with one of {}", NetworkFormat::list()))
        })?,
    };
    let text = read_text(path)?;
    let network = format.builder(&text).and_then(|mut builder| {
        if largest {
            builder = builder.largest_component();
        }
        Ok(builder.finish()?)
    });
    network.map_err(|error| answer::network_failure(path, &text, error))
}

fn write_network(network: &Network, path: &Path) -> Result<(), Failure> {
    let format = NetworkFormat::of_path(path).ok_or_else(|| {
        Failure::new(format!(
            "--write-network {}: the ending does not show a format",
            path.display()
        ))
        .help("name it .graphml, .dot, .edges or .json")
    })?;
    let text = format.write(network).map_err(Failure::new)?;
    write_file(path, &text)
}

/// The walk of a file, as if it had been found.
fn given(network: &Network, path: &Path, request: &Request) -> Result<Found, Failure> {
    let wrong = |message: String| Failure::new(format!("{}: {message}", path.display()));
    let value = read_json(path)?;
    let list = value.get("walk").unwrap_or(&value);
    let walk = Walk::new(network, nodes(network, list).map_err(wrong)?)
        .map_err(|error| wrong(error.to_string()))?;
    let offsets = Offsets::furthest(walk.len(), request.tokens);
    Ok(Found {
        nearest: kept::nearest(network, &walk, &offsets),
        bound: bound::upper(network, request.tokens, &NEVER),
        walk,
        method: Method::Best,
        proved_up_to: None,
        hamiltonian: None,
    })
}

/// Nodes by their names in a JSON list.
fn nodes(network: &Network, list: &Value) -> Result<Vec<u32>, String> {
    let known = network.by_name();
    list.as_array()
        .ok_or("expected a list of node names")?
        .iter()
        .enumerate()
        .map(|(index, name)| {
            name.as_str()
                .and_then(|name| known.get(name).copied())
                .ok_or_else(|| format!("[{index}]: {name} is not the name of a node"))
        })
        .collect()
}

/// Says why a method has no walk to offer.
fn nothing_found(
    args: &Args,
    network: &Network,
    method: Method,
    seed: u64,
) -> Result<Answer, Failure> {
    let reason = answer::nothing_found(network, args.tokens, method, seed).to_string();
    let json = NoWalk {
        walk: None,
        because: &reason,
        seed,
    };
    print(args.format, || json, |out| writeln!(out, "{reason}"))?;
    Ok(Answer::No)
}

/// What `headway walk` prints where there is no walk.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NoWalk<'a> {
    walk: Option<Vec<String>>,
    because: &'a str,
    seed: u64,
}

fn read_json(path: &Path) -> Result<Value, Failure> {
    let text = read_text(path)?;
    if text.trim().is_empty() {
        return Err(Failure::new(format!("{} is empty", path.display())).help("expected JSON"));
    }
    serde_json::from_str(&text).map_err(|error| {
        Failure::in_text(
            path,
            &text,
            error.line(),
            error.column(),
            format!("not JSON: {error}"),
        )
    })
}
