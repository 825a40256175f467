//! A ring over a network.

use std::path::Path;

use headway_walk::ReadError;
use headway_walk::network::{Network, NetworkError};
use headway_walk::walk::file::{self, Tables, WalkJson};
use headway_walk::walk::search::{Found, Method, Request};
use headway_walk::{NEVER, walk::bound, walk::hamiltonian};

use crate::sentence::{Sentence, set, setting};
use crate::{Failure, say};

/// Up to this many nodes the table of capacities costs little.
const TABLED_NODES: usize = 2000;

/// Refuses tokens that a network cannot have.
///
/// # Errors
///
/// None at all, or more than there are nodes.
pub fn admit(tokens: usize, network: &Network) -> Result<(), Failure> {
    if tokens == 0 {
        return Err(
            Failure::of(say![set("tokens", 0), ": nothing would ever move"]).advice(say![
                "give ",
                set("tokens", 1),
                " or more"
            ]),
        );
    }
    if tokens > network.len() {
        let nodes = network.len();
        return Err(Failure::of(say![
            set("tokens", tokens),
            format!(": the network has {nodes} nodes, so two tokens would always be at one node"),
        ])
        .advice(say!["give at most ", set("tokens", nodes)]));
    }
    Ok(())
}

/// What is wrong with the network at a path, whose text this is.
pub fn network_failure(path: &Path, text: &str, error: ReadError) -> Failure {
    match error {
        ReadError::At { line, message } => Failure::in_text(path, text, line, 1, message),
        other => {
            let failure = Failure::new(format!("{}: {other}", path.display()));
            match other {
                ReadError::Content(
                    NetworkError::Disconnected { .. } | NetworkError::NotStronglyConnected { .. },
                ) => failure.advice(say![
                    "add links between them, or take ",
                    setting("largest_component"),
                ]),
                _ => failure,
            }
        }
    }
}

/// What `headway walk` prints of a walk.
pub fn json<'a>(
    network: &'a Network,
    request: &Request,
    found: &Found,
    table: bool,
    interrupted: bool,
) -> WalkJson<'a> {
    let tables = match table || network.len() <= TABLED_NODES {
        true => Tables::All,
        false => Tables::None,
    };
    WalkJson {
        interrupted: Some(interrupted),
        ..file::content(network, request, found, tables)
    }
}

/// Whether a walk keeps the distance that was asked for.
pub fn is_enough(request: &Request, found: &Found) -> bool {
    match (request.wanted, found.distance()) {
        (Some(wanted), Some(kept)) => kept >= wanted,
        _ => true,
    }
}

/// Why a method has no walk to offer.
pub fn nothing_found(network: &Network, tokens: usize, method: Method, seed: u64) -> Sentence {
    let why = match method {
        Method::Hamiltonian => match hamiltonian::cycle(network, seed, 20_000, &NEVER) {
            hamiltonian::Cycle::Impossible(reason) => {
                format!("no walk visits every node exactly once: {reason}")
            }
            _ => "no walk that visits every node exactly once was found, nor excluded".to_owned(),
        },
        Method::Formation | Method::Orbit if tokens < 2 => {
            "formations are of two tokens or more".to_owned()
        }
        Method::Orbit => "no circuit was found from which side trips reach every \
                                         node (links have to go both ways)"
            .to_owned(),
        Method::Formation => {
            let bound = bound::upper(network, tokens, &NEVER);
            match bound {
                Some(bound) if bound.distance == 0 => {
                    format!("tokens must meet: {}", bound.reason)
                }
                _ => "no formation was found that visits every node".to_owned(),
            }
        }
        _ => {
            return say![
                "the exact search found no walk of this length, or gave up; try a smaller \
                 network, ",
                setting("longest"),
                " or a larger ",
                setting("effort"),
            ];
        }
    };
    say![why]
}
