//! The best walk that can be found: the most distance kept by m tokens forever,
//! then the shortest walk, then the fairest visits.

use std::sync::atomic::AtomicBool;

use strum::{Display, EnumMessage, EnumString, VariantArray};

use crate::network::Network;
use crate::stop::{self, NEVER};
use crate::walk::Walk;
use crate::walk::bound::{self, Bound};
use crate::walk::exact::{self, ExactSearch};
use crate::walk::formation::Formations;
use crate::walk::hamiltonian::{self, Cycle};
use crate::walk::kept::{self, Nearest, Offsets};
use crate::walk::orbit;
use crate::walk::refine;
use crate::walk::tour;

/// How to look for a walk.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumMessage, EnumString, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Method {
    /// All of the others, and the best of what they find.
    #[default]
    Best,
    /// The tour of a spanning tree.
    Tree,
    /// A short tour by 2-opt or Or-opt.
    Short,
    /// A walk that visits every node once.
    Hamiltonian,
    /// A short tour, changed a little at a time so that tokens keep more.
    Refine,
    /// A walk made for separation.
    Formation,
    /// A circuit on which the tokens turn, with side trips.
    Orbit,
    /// The best walk up to a length, with proof.
    Exact,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// m, at least 1.
    pub tokens: usize,
    /// A distance that is enough: beyond it a shorter walk counts for more.
    pub wanted: Option<u32>,
    /// How to look.
    pub method: Method,
    /// For the longest walk that an exact search considers; 2V when `None`.
    pub longest: Option<usize>,
    /// Seeds all random choices.
    pub seed: u64,
    /// How hard to look: 1 is usual, 10 takes about ten times as long.
    pub effort: u32,
}

impl Request {
    /// The usual search for that many tokens.
    pub fn new(tokens: usize) -> Request {
        Request {
            tokens,
            wanted: None,
            method: Method::Best,
            longest: None,
            seed: 0,
            effort: 1,
        }
    }
}

/// A walk, and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The walk.
    pub walk: Walk,
    /// What found it; never [`Method::Best`].
    pub method: Method,
    /// The nearest that tokens ⌊W/m⌋ apart on it come; `None` for one token.
    pub nearest: Option<Nearest>,
    /// What no walk exceeds; `None` for one token.
    pub bound: Option<Bound>,
    /// No closed walk up to this length keeps more.
    pub proved_up_to: Option<usize>,
    /// Whether a walk can visit every node exactly once, when that was asked.
    pub hamiltonian: Option<Cycle>,
}

impl Found {
    /// g: how far apart the protocol keeps the tokens on the walk.
    pub fn separation(&self, tokens: usize) -> usize {
        self.walk.len() / tokens.max(1)
    }

    /// The distance kept; V for a single token, which is never near another.
    pub fn distance(&self) -> Option<u32> {
        self.nearest.map(|nearest| nearest.distance)
    }

    /// No walk of any length keeps more.
    pub fn proved_best(&self) -> bool {
        match (&self.bound, self.distance()) {
            (Some(bound), Some(distance)) => bound.distance <= distance,
            _ => false,
        }
    }

    /// Smaller is better.
    fn rank(&self, network: &Network, wanted: Option<u32>) -> (u32, usize, u64) {
        let kept = self.distance().unwrap_or(0).min(wanted.unwrap_or(u32::MAX));
        (
            u32::MAX - kept,
            self.walk.len(),
            self.walk.unfairness(network),
        )
    }
}

/// Looks for the best walk. `progress` is told what is being tried.
///
/// `None` only when the method finds no walk at all: there is no Hamiltonian cycle,
/// no formation, or the exact search gave up.
///
/// ```
/// use headway_walk::{network::generators::Generator, walk::search::{self, Request}};
/// let torus = Generator::Torus(6, 6).network(0).unwrap();
/// let found = search::walk(&torus, &Request::new(2), &mut |_| {}).unwrap();
/// assert_eq!(found.distance(), Some(6));
/// assert!(found.proved_best());
/// ```
pub fn walk(network: &Network, request: &Request, progress: &mut dyn FnMut(&str)) -> Option<Found> {
    walk_until(network, request, progress, &NEVER)
}

/// The same, but soon after `stop` becomes true the best so far is returned.
pub fn walk_until(
    network: &Network,
    request: &Request,
    progress: &mut dyn FnMut(&str),
    stop: &AtomicBool,
) -> Option<Found> {
    let mut search = Search {
        network,
        request,
        stop,
        best: None,
        bound: None,
        hamiltonian: None,
        proved_up_to: None,
    };
    progress("bounding what any walk can keep");
    search.bound = bound::upper(network, request.tokens, stop);
    let all = request.method == Method::Best;
    // Once it has to stop, nothing further is tried where there is a walk already.
    let wants = |method| all || request.method == method;
    let goes_on = |search: &Search<'_>| search.best.is_none() || !stop::is_set(stop);
    let moves = (20 * network.len() + 20_000).min(1_000_000) * request.effort.max(1) as usize;
    if wants(Method::Tree) {
        progress("touring a spanning tree");
        search.offer(tour::tree(network), Method::Tree);
    }
    if wants(Method::Short) || wants(Method::Refine) {
        progress("shortening a tour");
        for seed in 0..3 {
            if goes_on(&search) {
                let seed = request.seed.wrapping_add(seed);
                search.offer(tour::short(network, seed, moves, stop), Method::Short);
            }
        }
    }
    if wants(Method::Hamiltonian) && goes_on(&search) {
        progress("looking for a Hamiltonian cycle");
        let cycle = hamiltonian::cycle(network, request.seed, moves, stop);
        if let Cycle::Found(walk) = &cycle {
            search.offer(walk.clone(), Method::Hamiltonian);
        }
        search.hamiltonian = Some(cycle);
    }
    let refinable = network.len() <= refine::MAX_NODES && request.tokens > 1;
    if wants(Method::Refine) && refinable && !search.reached() && goes_on(&search) {
        progress("refining the best tour");
        search.refine();
    }
    // Formations are too many on a large network when there are several tokens. On a
    // small one they come first, because their walks are shorter.
    let large = network.len() > LARGE && request.tokens > 2;
    let fits = request.tokens > 1 && fits_formations(network);
    if wants(Method::Orbit) && large && fits && goes_on(&search) {
        search.orbit(progress);
    }
    let far_off = !large || 2 * search.kept() < search.goal();
    if wants(Method::Formation) && fits && far_off && goes_on(&search) {
        search.formations(progress);
    }
    if wants(Method::Orbit) && !large && fits && goes_on(&search) {
        search.orbit(progress);
    }
    let small = all && network.len() <= SMALL && request.tokens <= 4;
    if (request.method == Method::Exact || small) && goes_on(&search) {
        progress("proving what is best");
        search.exact();
    }
    let mut found = search.best?;
    found.bound = search.bound;
    found.hamiltonian = search.hamiltonian;
    found.proved_up_to = search.proved_up_to;
    debug_assert!(found.bound.as_ref().map(|bound| bound.distance) >= found.distance());
    Some(found)
}

/// Formations take V² bits and a search from every node, which is too much for huge
/// networks: this allows 200 MB, and some seconds for every distance that is tried.
fn fits_formations(network: &Network) -> bool {
    let links = network.directed_links();
    network.len() <= 40_000 && network.len() * links <= 4_000_000_000
}

/// Networks beyond this size have more formations than can be searched.
const LARGE: usize = 1500;

/// Networks up to this size get an exact answer without being asked.
const SMALL: usize = 9;

struct Search<'a> {
    network: &'a Network,
    request: &'a Request,
    stop: &'a AtomicBool,
    best: Option<Found>,
    bound: Option<Bound>,
    hamiltonian: Option<Cycle>,
    proved_up_to: Option<usize>,
}

impl Search<'_> {
    fn offer(&mut self, walk: Walk, method: Method) {
        let offsets = Offsets::furthest(walk.len(), self.request.tokens);
        let nearest = kept::nearest_until(self.network, &walk, &offsets, self.stop);
        // What it keeps is not known.
        let Some(nearest) = nearest else { return };
        let found = Found {
            nearest,
            walk,
            method,
            bound: None,
            proved_up_to: None,
            hamiltonian: None,
        };
        let rank = |found: &Found| found.rank(self.network, self.request.wanted);
        if self
            .best
            .as_ref()
            .is_none_or(|best| rank(&found) < rank(best))
        {
            self.best = Some(found);
        }
    }

    /// The distance that it would be pointless to exceed.
    fn goal(&self) -> u32 {
        let bound = self.bound.as_ref().map_or(0, |bound| bound.distance);
        bound.min(self.request.wanted.unwrap_or(u32::MAX))
    }

    fn kept(&self) -> u32 {
        self.best.as_ref().and_then(Found::distance).unwrap_or(0)
    }

    /// The best walk cannot be beaten, not even in length.
    fn reached(&self) -> bool {
        self.best
            .as_ref()
            .is_some_and(|best| best.walk.len() == self.network.len())
            && self.kept() >= self.goal()
    }

    fn refine(&mut self) {
        let Some(best) = &self.best else { return };
        let walk = refine::walk(
            self.network,
            &best.walk,
            self.request.tokens,
            self.request.seed,
            self.request.effort,
            self.stop,
        );
        self.offer(walk, Method::Refine);
    }

    /// Formations at the goal first, then by bisection between that and what is
    /// kept already.
    fn formations(&mut self, progress: &mut dyn FnMut(&str)) {
        // More tokens and more links mean more steps from every formation.
        let links = self.network.directed_links();
        let harder =
            (self.request.tokens.clamp(2, 6) - 1) * (links / self.network.len() / 4).max(1);
        let effort =
            (3_000_000 + 1_000 * self.network.len()) * self.request.effort.max(1) as usize * harder;
        let (mut can, mut beyond) = (self.kept(), self.goal() + 1);
        let mut distance = self.goal();
        // What a tour keeps already, a formation can perhaps keep on a shorter walk.
        if self.reached() || distance == 0 {
            return;
        }
        loop {
            progress(&format!("looking for formations {distance} apart"));
            let formations =
                Formations::new(self.network, self.request.tokens, distance, self.stop);
            let mut found = false;
            // Fewer starts where each takes seconds.
            let starts = match self.network.len() {
                ..=300 => 12,
                301..=3000 => 6,
                _ => 2,
            };
            for stream in 0..starts * u64::from(self.request.effort.max(1)) {
                if stop::is_set(self.stop) {
                    return;
                }
                if let Some(walk) = formations.walk(self.request.seed, stream, effort) {
                    self.offer(walk, Method::Formation);
                    found = true;
                }
                if self.reached() {
                    return;
                }
            }
            if found {
                can = can.max(distance).max(self.kept().min(beyond - 1));
            } else {
                beyond = distance;
            }
            if can + 1 >= beyond {
                return;
            }
            distance = can + (beyond - can) / 2;
        }
    }

    fn orbit(&mut self, progress: &mut dyn FnMut(&str)) {
        progress("turning on a circuit with side trips");
        let wish = orbit::Wish {
            tokens: self.request.tokens,
            more_than: self.kept(),
            at_most: self.goal(),
            seed: self.request.seed,
            effort: self.request.effort,
            stop: self.stop,
        };
        if let Some(walk) = orbit::walk(self.network, &wish) {
            self.offer(walk, Method::Orbit);
        }
    }

    fn exact(&mut self) {
        let longest = self.request.longest.unwrap_or_else(|| {
            let found = self.best.as_ref().map_or(0, |best| best.walk.len());
            found.max(2 * self.network.len())
        });
        let steps = 20_000_000 * self.request.effort.max(1) as usize;
        let Request { tokens, wanted, .. } = *self.request;
        let best = exact::best(self.network, tokens, wanted, longest, steps, self.stop);
        if let ExactSearch::Best(best) = best {
            self.proved_up_to = best.proved_up_to;
            self.offer(best.walk, Method::Exact);
        }
    }
}
