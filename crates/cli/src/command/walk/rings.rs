//! `headway walk --method rings`.

use headway_answer::json;
use headway_walk::walk::rings::{self, Rings, Timing};
use headway_walk::{Network, Node};
use serde::Serialize;

use super::{Args, nodes, print, read_json, text};
use crate::failure::{Answer, Failure, write_wanted};
use crate::report::count;
use crate::report::progress::Progress;
use crate::report::style::{BAD, DIM, GOOD, HEADING};

pub(super) fn run(args: &Args, network: &Network, seed: u64) -> Result<Answer, Failure> {
    if args.svg.is_some() {
        return Err(Failure::new("--svg draws a walk, not several rings")
            .help("drop --svg, or drop --method rings"));
    }
    let (rings, timing) = match &args.rings {
        Some(path) => {
            let wrong = |message: String| Failure::new(format!("{}: {message}", path.display()));
            let cycles = read_json(path)?
                .as_array()
                .ok_or_else(|| wrong("expected a list of rings, each a list of names".to_owned()))?
                .iter()
                .enumerate()
                .map(|(index, ring)| {
                    nodes(network, ring).map_err(|message| wrong(format!("[{index}]{message}")))
                })
                .collect::<Result<Vec<Vec<Node>>, Failure>>()?;
            let rings = Rings::new(network, cycles).map_err(|error| wrong(error.to_string()))?;
            let timing = rings
                .timed(network, args.tokens, args.slowest)
                .map_err(|error| Failure::new(error).help("give more --tokens, or fewer rings"))?;
            (rings, timing)
        }
        None => {
            let mut progress = Progress::new(None, "");
            progress.say("covering the network with rings");
            let found = rings::best(network, args.tokens, args.slowest, seed, args.effort);
            found.ok_or_else(|| {
                Failure::new(format!(
                    "no {} of at most {} found that cover{} the network",
                    if args.tokens == 1 { "ring" } else { "rings" },
                    args.tokens,
                    if args.tokens == 1 { "s" } else { "" }
                ))
                .help(format!(
                    "every ring needs a token: give more --tokens, or a larger --effort (networks of \
                     up to {} nodes)",
                    rings::MAX_NODES
                ))
            })?
        }
    };
    let json = to_json(args, network, &rings, &timing, seed);
    write_wanted(args.output.as_ref(), || json::pretty(&json))?;
    let enough = args
        .separation
        .is_none_or(|wanted| timing.distance >= wanted);
    print(
        args.format,
        || &json,
        |out| {
            writeln!(
                out,
                "{HEADING}{} on {} over {}{HEADING:#}{DIM}; seed {seed}{DIM:#}\n",
                count(args.tokens as u64, "token"),
                count(rings.rings().len() as u64, "ring"),
                count(network.len() as u64, "node"),
            )?;
            for (index, ring) in rings.rings().iter().enumerate() {
                let starts: Vec<String> = timing
                    .tokens
                    .iter()
                    .filter(|&&(owner, _)| owner == index)
                    .map(|&(_, phase)| phase.to_string())
                    .collect();
                writeln!(
                    out,
                    "Ring {}, {}, {} at every node, tokens with phase {}:",
                    index + 1,
                    count(ring.len() as u64, "node"),
                    count(u64::from(timing.paces[index]), "round"),
                    starts.join(", ")
                )?;
                text::labels(out, network, ring)?;
            }
            let colour = if timing.distance > 0 && enough {
                GOOD
            } else {
                BAD
            };
            writeln!(
                out,
                "\n{colour}Distance kept: {}{colour:#}; {}.",
                timing.distance,
                timing.in_words(network, &rings)
            )?;
            if timing.paces.iter().any(|&pace| pace > 1) {
                writeln!(out, "Tokens that rest at every node give up D3 for it.")?;
            }
            Ok(())
        },
    )?;
    Ok(enough.into())
}

fn to_json<'a>(
    args: &Args,
    network: &'a Network,
    rings: &Rings,
    timing: &'a Timing,
    seed: u64,
) -> RingsJson<'a> {
    let names =
        |nodes: &[Node]| -> Vec<&'a str> { nodes.iter().map(|&node| network.name(node)).collect() };
    RingsJson {
        format: "headway-rings/1",
        tokens: args.tokens,
        distance_kept: timing.distance,
        distance_wanted: args.separation,
        proved_best_for_these_rings: timing.proved,
        because: timing.in_words(network, rings),
        seed,
        rings: rings.rings().iter().map(|ring| names(ring)).collect(),
        rounds_at_every_node: &timing.paces,
        token_starts: timing
            .tokens
            .iter()
            .map(|&(ring_index, phase_on_ring)| TokenStart {
                ring_index,
                phase_on_ring,
            })
            .collect(),
        shared_nodes: names(&rings.shared()),
        clash: timing.clash.as_ref().map(|clash| ClashJson {
            ring_indices: [clash.rings.0, clash.rings.1],
            distance_at_most: clash.distance,
            relative_phases: clash.phases,
        }),
    }
}

/// What `headway walk --rings` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RingsJson<'a> {
    /// The format of this file.
    format: &'static str,
    /// m, a number of tokens.
    tokens: usize,
    /// Distance in the network that tokens keep forever; null: there is one token.
    distance_kept: u32,
    /// Distance asked for.
    distance_wanted: Option<u32>,
    /// No timing of these rings keeps more.
    proved_best_for_these_rings: bool,
    /// The reason.
    because: String,
    /// Seed of every random choice.
    seed: u64,
    /// The nodes of each ring in order.
    rings: Vec<Vec<&'a str>>,
    /// How long tokens stay at each node, for every ring.
    rounds_at_every_node: &'a [u32],
    /// On which ring and where on it each token starts.
    token_starts: Vec<TokenStart>,
    /// Nodes of more than one ring.
    shared_nodes: Vec<&'a str>,
    /// Two rings that keep tokens from being further apart; null: none.
    clash: Option<ClashJson>,
}

/// Where a token starts.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TokenStart {
    /// A ring of `rings`, from 0.
    ring_index: usize,
    /// Where on its ring a token starts.
    phase_on_ring: u32,
}

/// Two rings on which tokens meet.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ClashJson {
    /// Rings of `rings`, from 0.
    ring_indices: [usize; 2],
    /// What they allow.
    distance_at_most: u32,
    /// How many ways there are to time them against each other.
    relative_phases: u32,
}
