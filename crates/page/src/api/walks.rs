//! Networks: a closed walk over one, on which tokens move.

use std::path::Path;

use headway_walk::network::formats::Format;
use headway_walk::network::generators::Generator;
use headway_walk::walk::kept::{self, Offsets};
use headway_walk::walk::search::{self, Method, Request};
use headway_walk::{Network, Walk, network::layout, walk::file};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::limits::Limits;
use crate::runs::RunSettings;
use headway_sim::Settings;

/// Which network, and for how many tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WalkRequest {
    /// `grid:RxC`, `torus:RxC`, `star:N`, `line:N`, `ring:N`, `tree:N`,
    /// `hypercube:D`, `complete:N`, `geometric:N`, `geometric:N:RADIUS` or `figure7`.
    generator: Option<String>,
    /// Or a file.
    file: Option<NetworkFile>,
    /// How hard to look: `quick` finds the best walk up to 36 nodes, and a short one beyond
    /// [default: quick]
    method: Option<MethodName>,
    /// How many tokens; by default as in a walk file, else 2.
    tokens: Option<usize>,
    /// The seed of every random choice.
    #[serde(default = "default_seed")]
    seed: u64,
}

/// How hard to look for a walk.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MethodName {
    /// The best walk over a few nodes, a short one over more.
    #[default]
    Quick,
    /// The best walk, which can take ten seconds.
    Best,
}

/// Networks up to this size get the best walk unasked.
const BEST_AT_ONCE: usize = 36;
/// Networks up to this size get the best walk at all.
const BEST_IF_ASKED: usize = 100;

fn default_seed() -> u64 {
    headway_sim::seed::DEFAULT_SEED
}

/// A network file: GraphML, DOT, an edge list, node-link JSON; or a walk file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkFile {
    /// Its ending tells the format.
    name: String,
    /// Its content.
    text: String,
}

/// A network with a walk.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct WalkView {
    /// All nodes.
    nodes: Vec<WalkNode>,
    /// From which node to which.
    links: Vec<(u32, u32)>,
    /// Whether every link goes both ways.
    symmetric: bool,
    /// The node at every position of the walk.
    walk: Vec<u32>,
    /// How many.
    tokens: usize,
    /// Of the walk, in hops.
    length: usize,
    /// On the walk.
    separation: usize,
    /// In the network; none for one token.
    distance_kept: Option<u32>,
    /// What no walk exceeds.
    upper_bound: Option<u32>,
    /// Why.
    upper_bound_because: Option<String>,
    /// Whether no walk keeps a larger distance.
    proved_best: bool,
    /// What found it.
    method: String,
    /// Makes the run whose process p is at node `walk[p]`.
    settings: RunSettings,
}

/// A node.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct WalkNode {
    /// As in the file.
    name: String,
    /// To the right, in a box whose longer side is 1.
    x: f64,
    /// Downwards, in the same box.
    y: f64,
    /// Where on the walk it is.
    positions: Vec<u32>,
}

/// Lay a walk over a network so that tokens stay apart in it
pub(crate) fn walk(request: &WalkRequest, limits: &Limits) -> Result<WalkView, ApiError> {
    match (&request.generator, &request.file) {
        (Some(generator), None) => {
            let network = generated(generator, request.seed, limits)?;
            search_walk(&network, request, limits)
        }
        (None, Some(given)) => read(given, request, limits),
        _ => Err(ApiError::invalid(
            "generator",
            "expected either a generator or a file",
        )),
    }
}

fn generated(text: &str, seed: u64, limits: &Limits) -> Result<Network, ApiError> {
    let generator: Generator = text
        .parse()
        .map_err(|error| ApiError::invalid("generator", format!("{error}")))?;
    check_nodes(generator.size(), limits).map_err(|error| error.at("generator"))?;
    let network = generator
        .network(seed)
        .map_err(|error| ApiError::invalid("generator", error.to_string()))?;
    check_links(&network, limits).map_err(|error| error.at("generator"))?;
    Ok(network)
}

fn read(given: &NetworkFile, request: &WalkRequest, limits: &Limits) -> Result<WalkView, ApiError> {
    let wrong = |message: String| {
        let message = format!("{}: {message}", given.name);
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "network_file", message).at("file")
    };
    let format = Format::of_path(Path::new(&given.name)).ok_or_else(|| {
        let endings: Vec<String> = Format::ALL.iter().map(|it| format!(".{it}")).collect();
        let endings = endings.join(", ");
        wrong(format!("expected a name that ends in one of {endings}"))
    })?;
    // A walk file is told from a network in JSON by what it says it is.
    if format == Format::NodeLink && given.text.contains(file::FORMAT) {
        let read = file::read(&given.text).map_err(|error| wrong(error.to_string()))?;
        check_nodes(read.network.len() as u64, limits)?;
        let tokens = request.tokens.unwrap_or(read.tokens);
        check_tokens(tokens, read.walk.len())?;
        return Ok(given_walk(&read.network, &read.walk, tokens));
    }
    let network = format
        .read(&given.text)
        .map_err(|error| wrong(error.to_string()))?;
    check_nodes(network.len() as u64, limits)?;
    check_links(&network, limits)?;
    search_walk(&network, request, limits)
}

fn search_walk(
    network: &Network,
    request: &WalkRequest,
    limits: &Limits,
) -> Result<WalkView, ApiError> {
    let tokens = request.tokens.unwrap_or(2);
    check_tokens(tokens, limits.tokens as usize)?;
    let asked = Request {
        seed: request.seed,
        method: method(network, request)?,
        ..Request::new(tokens)
    };
    let found = search::walk(network, &asked, &mut |_| {})
        .ok_or_else(|| ApiError::invalid("tokens", "no walk was found for that many tokens"))?;
    check_tokens(tokens, found.walk.len())?;
    Ok(WalkView {
        upper_bound: found.bound.as_ref().map(|bound| bound.distance),
        upper_bound_because: found.bound.as_ref().map(|bound| bound.reason.to_string()),
        proved_best: found.proved_best(),
        method: found.method.to_string(),
        ..given_walk(network, &found.walk, tokens)
    })
}

/// The search for the best walk takes its time; on more than a few nodes only those
/// who ask for it wait, and on large networks nobody.
fn method(network: &Network, request: &WalkRequest) -> Result<Method, ApiError> {
    match request.method.unwrap_or_default() {
        MethodName::Quick if network.len() <= BEST_AT_ONCE => Ok(Method::Best),
        MethodName::Quick => Ok(Method::Short),
        MethodName::Best if network.len() <= BEST_IF_ASKED => Ok(Method::Best),
        MethodName::Best => Err(ApiError::too_large(
            "method",
            format!(
                "the best walk over {} nodes takes too long here (at most {BEST_IF_ASKED}): let \
                 `headway walk NETWORK --tokens M -o walk.json` find it and open walk.json",
                network.len()
            ),
        )),
    }
}

fn given_walk(network: &Network, walk: &Walk, tokens: usize) -> WalkView {
    let occurrences = walk.occurrences(network);
    let points = layout::points(network);
    let nodes = network.nodes().zip(points).map(|(node, (x, y))| WalkNode {
        name: network.label(node).into_owned(),
        x,
        y,
        positions: occurrences.of(node).to_vec(),
    });
    let offsets = Offsets::furthest(walk.len(), tokens);
    let separation = walk.len() / tokens;
    WalkView {
        nodes: nodes.collect(),
        links: network.links().collect(),
        symmetric: network.is_symmetric(),
        walk: walk.positions().to_vec(),
        tokens,
        length: walk.len(),
        separation,
        distance_kept: kept::nearest(network, walk, &offsets).map(|nearest| nearest.distance),
        upper_bound: None,
        upper_bound_because: None,
        proved_best: false,
        method: "given".to_owned(),
        settings: RunSettings::from(Settings {
            processes: Some(walk.len() as u64),
            tokens: Some(tokens as u64),
            separation: Some(separation as u64),
            ..Settings::default()
        }),
    }
}

fn check_nodes(nodes: u64, limits: &Limits) -> Result<(), ApiError> {
    let most = limits.network_nodes as u64;
    if nodes <= most {
        return Ok(());
    }
    let message = format!("the network has {nodes} nodes: at most {most} here");
    Err(ApiError::too_large("file", message))
}

fn check_links(network: &Network, limits: &Limits) -> Result<(), ApiError> {
    let (links, most) = (network.links().count(), limits.network_links);
    if links <= most {
        return Ok(());
    }
    let message = format!("the network has {links} links: at most {most} here");
    Err(ApiError::too_large("file", message))
}

fn check_tokens(tokens: usize, most: usize) -> Result<(), ApiError> {
    if (1..=most).contains(&tokens) {
        return Ok(());
    }
    let message = format!("tokens {tokens}: expected 1 to {most}");
    Err(ApiError::invalid("tokens", message))
}
