//! The walk file: a walk with its network and all that was found out about it, as
//! JSON. Other commands take it as a ring to run on.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::network::Network;
use crate::network::formats::node_link;
use crate::read::ReadError;
use crate::walk::fairness;
use crate::walk::hamiltonian::Cycle;
use crate::walk::kept;
use crate::walk::search::{Found, Request};
use crate::walk::{Walk, WalkError};

/// What is in `format`; a reader refuses others.
pub const FORMAT: &str = "headway-walk/1";

/// A walk that was read, and for how many tokens it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkFile {
    /// The network.
    pub network: Network,
    /// The walk over it.
    pub walk: Walk,
    /// m.
    pub tokens: usize,
    /// g.
    pub separation: usize,
}

/// How many tokens up to this are tabled.
const TABLED_TOKENS: usize = 12;

/// Which tables a walk file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Which separation each distance takes, and what each number of tokens keeps.
    /// They take all distances, which on large networks are many.
    All,
    /// Neither.
    None,
}

/// The content of a walk file, which `headway walk` prints, too.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WalkJson<'a> {
    /// The format of this file.
    pub format: &'static str,
    /// m, a number of tokens.
    pub tokens: usize,
    /// Steps of the walk.
    pub length: usize,
    /// Steps between successive tokens on the walk.
    pub separation_on_walk: usize,
    /// Distance in the network that tokens keep forever; null: there is one token.
    pub distance_kept: Option<u32>,
    /// Distance asked for.
    pub distance_wanted: Option<u32>,
    /// More cannot be kept, by any walk.
    pub upper_bound: Option<u32>,
    /// Why not.
    pub upper_bound_because: Option<String>,
    /// upper_bound less distance_kept.
    pub gap: Option<u32>,
    /// No walk of any length keeps more.
    pub proved_best_for_any_length: bool,
    /// No walk up to this length keeps more.
    pub proved_best_up_to_length: Option<usize>,
    /// How it was made.
    pub method: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// How hard was looked.
    pub effort: u32,
    /// The nodes of the walk in order; null: none was found.
    pub walk: Vec<&'a str>,
    /// Positions of the tokens on the walk.
    pub token_positions: Vec<usize>,
    /// Two tokens at their closest; null: there is one token.
    pub nearest: Option<NearestJson<'a>>,
    /// How often the walk visits each node.
    pub visits_by_node: BTreeMap<&'a str, u32>,
    /// Fewest and most rounds between two visits of each node.
    pub rounds_between_visits: BTreeMap<&'a str, [u32; 2]>,
    /// Whether all nodes can be visited equally often while all tokens move.
    pub equal_visits: EqualVisits,
    /// Whether a walk visits every node exactly once: yes, no with the reason, or not found;
    /// null: not asked.
    pub hamiltonian_cycle: Option<String>,
    /// For each distance in the network: how far apart on the walk that is, and how many tokens
    /// keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Vec<CapacityJson>>,
    /// For each number of tokens: what they keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_by_tokens: Option<Vec<KeptJson>>,
    /// The network as node-link JSON, as networkx reads and writes it.
    pub network: Value,
    /// Whether Ctrl-C stopped the search, so that this is the best so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<bool>,
}

/// Two tokens at their closest.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NearestJson<'a> {
    /// Positions on the walk.
    pub positions: [u32; 2],
    /// Names of nodes.
    pub node_names: [&'a str; 2],
}

/// Whether nodes can be visited equally often.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct EqualVisits {
    /// Whether it can be.
    pub possible: bool,
    /// The reason.
    pub because: Option<String>,
}

/// What a distance takes on a walk.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CapacityJson {
    /// Hops between two tokens in the network.
    pub distance: u32,
    /// Steps between successive tokens on the walk.
    pub separation_on_walk: usize,
    /// m, a number of tokens.
    pub tokens: usize,
}

/// What a number of tokens keeps.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct KeptJson {
    /// m, a number of tokens.
    pub tokens: usize,
    /// Steps between successive tokens on the walk.
    pub separation_on_walk: usize,
    /// Distance in the network that tokens keep forever; null: there is one token.
    pub distance_kept: Option<u32>,
}

/// The file's content.
pub fn content<'a>(
    network: &'a Network,
    request: &Request,
    found: &Found,
    tables: Tables,
) -> WalkJson<'a> {
    let walk = &found.walk;
    let name = |node: u32| network.name(node);
    let names = || network.names().iter().map(String::as_str);
    let between = walk.rounds_between_visits(network, &walk.even_tokens(request.tokens));
    let unfair = fairness::equal_visits(network).in_words(network);
    let tabled = tables == Tables::All;
    WalkJson {
        format: FORMAT,
        tokens: request.tokens,
        length: walk.len(),
        separation_on_walk: found.separation(request.tokens),
        distance_kept: found.distance(),
        distance_wanted: request.wanted,
        upper_bound: found.bound.as_ref().map(|bound| bound.distance),
        upper_bound_because: found.bound.as_ref().map(|bound| bound.reason.to_string()),
        gap: found
            .bound
            .as_ref()
            .zip(found.distance())
            .map(|(bound, distance)| bound.distance.saturating_sub(distance)),
        proved_best_for_any_length: found.proved_best(),
        proved_best_up_to_length: found.proved_up_to,
        method: found.method.to_string(),
        seed: request.seed,
        effort: request.effort,
        walk: walk.positions().iter().map(|&node| name(node)).collect(),
        token_positions: walk.even_tokens(request.tokens),
        nearest: found.nearest.map(|nearest| {
            let (one, other) = nearest.positions;
            NearestJson {
                positions: [one, other],
                node_names: [one, other].map(|at| name(walk.at(at as usize))),
            }
        }),
        visits_by_node: names().zip(walk.visits(network)).collect(),
        rounds_between_visits: names()
            .zip(between.iter().map(|&(fewest, most)| [fewest, most]))
            .collect(),
        equal_visits: EqualVisits {
            possible: unfair.is_none(),
            because: unfair,
        },
        hamiltonian_cycle: found.hamiltonian.as_ref().map(|cycle| match cycle {
            Cycle::Found(_) => "yes".to_owned(),
            Cycle::Impossible(reason) => format!("no: {reason}"),
            Cycle::NotFound => "not found".to_owned(),
        }),
        capacity: tabled.then(|| {
            let separations = kept::separations(network, walk);
            let row = |(distance, &separation): (usize, &u32)| CapacityJson {
                distance: distance as u32,
                separation_on_walk: separation as usize,
                tokens: walk.len() / separation as usize,
            };
            separations.iter().enumerate().map(row).collect()
        }),
        kept_by_tokens: tabled.then(|| {
            let kept = kept::by_tokens(network, walk, TABLED_TOKENS);
            let row = |&(tokens, separation, distance): &(usize, usize, u32)| KeptJson {
                tokens,
                separation_on_walk: separation,
                distance_kept: Some(distance),
            };
            kept.iter().map(row).collect()
        }),
        network: node_link::write(network),
        interrupted: None,
    }
}

/// Reads a walk file, and checks that the walk is one.
///
/// # Errors
///
/// The field that is wrong.
pub fn read(text: &str) -> Result<WalkFile, FileError> {
    let file: Value = serde_json::from_str(text)
        .map_err(|error| ReadError::at(error.line(), format!("not JSON: {error}")))?;
    let field = |field: &str, message| FileError::from(ReadError::field(field, message));
    match file.get("format").and_then(Value::as_str) {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(field(
                "format",
                format!("is {other:?}, expected {FORMAT:?}"),
            ));
        }
        None => {
            let message = format!("expected {FORMAT:?}: this is not a walk file");
            return Err(field("format", message));
        }
    }
    let network = file
        .get("network")
        .ok_or_else(|| field("network", "is missing".to_owned()))?;
    let network = node_link::read_value(network)
        .and_then(|builder| Ok(builder.finish()?))
        .map_err(FileError::Network)?;
    let nodes = network.by_name();
    let positions = file
        .get("walk")
        .and_then(Value::as_array)
        .ok_or_else(|| field("walk", "expected a list of names".to_owned()))?
        .iter()
        .enumerate()
        .map(|(index, name)| {
            name.as_str()
                .and_then(|name| nodes.get(name).copied())
                .ok_or_else(|| {
                    let message = format!("{name} is not a node of the network");
                    field(&format!("walk[{index}]"), message)
                })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let walk = Walk::new(&network, positions)?;
    let number = |name: &str| {
        file.get(name)
            .and_then(Value::as_u64)
            .filter(|&number| 1 <= number && number <= walk.len() as u64)
            .ok_or_else(|| field(name, format!("expected a number from 1 to {}", walk.len())))
    };
    Ok(WalkFile {
        tokens: number("tokens")? as usize,
        separation: number("separation_on_walk")? as usize,
        network,
        walk,
    })
}

/// Why a text is not a walk file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileError {
    /// Not JSON, or a field is wrong.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The network is wrong.
    #[error("network: {0}")]
    Network(ReadError),
    /// The walk is not one over the network.
    #[error("walk: {0}")]
    Walk(#[from] WalkError),
}
