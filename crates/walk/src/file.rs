//! The walk file: a walk with its network and all that was found out about it, as
//! JSON. Other commands take it as a ring to run on.

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::fairness;
use crate::formats::{ReadError, node_link};
use crate::hamiltonian::Cycle;
use crate::kept;
use crate::network::Network;
use crate::search::{Found, Request};
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

/// The file's content.
pub fn write(network: &Network, request: &Request, found: &Found, tables: Tables) -> Value {
    let walk = &found.walk;
    let names =
        |nodes: &[u32]| -> Vec<&str> { nodes.iter().map(|&node| network.name(node)).collect() };
    let by_name = |value: &dyn Fn(usize) -> Value| -> Map<String, Value> {
        network
            .names()
            .iter()
            .enumerate()
            .map(|(index, name)| (name.clone(), value(index)))
            .collect()
    };
    let visits = walk.visits(network);
    let between = walk.rounds_between_visits(network, &walk.even_tokens(request.tokens));
    let unfair = fairness::equal_visits(network).in_words(network);
    let mut file = json!({
        "format": FORMAT,
        "tokens": request.tokens,
        "length": walk.len(),
        "separation_on_walk": found.separation(request.tokens),
        "distance_kept": found.distance(),
        "distance_wanted": request.wanted,
        "upper_bound": found.bound.as_ref().map(|bound| bound.distance),
        "upper_bound_because": found.bound.as_ref().map(|bound| bound.reason.to_string()),
        "gap": found
            .bound
            .as_ref()
            .zip(found.distance())
            .map(|(bound, distance)| bound.distance.saturating_sub(distance)),
        "proved_best_for_any_length": found.proved_best(),
        "proved_best_up_to_length": found.proved_up_to,
        "method": found.method.to_string(),
        "seed": request.seed,
        "effort": request.effort,
        "walk": names(walk.positions()),
        "token_positions": walk.even_tokens(request.tokens),
        "nearest": found.nearest.map(|nearest| {
            let (one, other) = nearest.positions;
            json!({
                "positions": [one, other],
                "node_names": names(&[walk.at(one as usize), walk.at(other as usize)]),
            })
        }),
        "visits_by_node": by_name(&|index| json!(visits[index])),
        "rounds_between_visits": by_name(&|index| json!([between[index].0, between[index].1])),
        "equal_visits": { "possible": unfair.is_none(), "because": unfair },
        "hamiltonian_cycle": match &found.hamiltonian {
            Some(Cycle::Found(_)) => json!("yes"),
            Some(Cycle::Impossible(reason)) => json!(format!("no: {reason}")),
            Some(Cycle::NotFound) => json!("not found"),
            None => Value::Null,
        },
    });
    if tables == Tables::All {
        file["capacity"] = kept::separations(network, walk)
            .iter()
            .enumerate()
            .map(|(distance, &separation)| {
                json!({
                    "distance": distance,
                    "separation_on_walk": separation,
                    "tokens": walk.len() / separation as usize,
                })
            })
            .collect();
        file["kept_by_tokens"] = kept::by_tokens(network, walk, TABLED_TOKENS)
            .iter()
            .map(|&(tokens, separation, distance)| {
                json!({
                    "tokens": tokens,
                    "separation_on_walk": separation,
                    "distance_kept": distance,
                })
            })
            .collect();
    }
    file["network"] = node_link::write(network);
    file
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
