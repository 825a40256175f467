//! When periodic behaviour begins, exactly.
//!
//! From any initial marking a live event graph in which no place fills up for
//! ever ends in a periodic regime, whose period P follows from the cycle time
//! and the cyclicity. The net is played twice, one play P rounds ahead of the
//! other; the last round in which the two fire differently is the end of the
//! transient. It is known to be the last once both have the same tokens of the
//! same age, for then both go on alike.

use num_bigint::BigUint;
use num_integer::Integer;
use thiserror::Error;

use crate::graph::{ArcsByNode, EventGraph, TimedArc};
use crate::maxplus::{self, Fraction, NoSpectrum, howard};
use crate::net::{Marking, PlaceIndex};
use crate::play::{NotPlayable, Timed};

/// How a net settles from its initial marking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transient {
    /// The state that this round leads to, and every later one, recurs; no
    /// earlier one does. Equally: the last round whose firings are not periodic.
    pub rounds: u64,
    /// A period of the regime, in rounds. (For some initial markings a proper
    /// divisor of it is one, too.)
    pub period: u64,
    /// For each transition, the last round in which it behaves unperiodically;
    /// 0 when it never does.
    pub last_irregular: Vec<u64>,
}

impl Transient {
    /// The last unperiodic round of some of the transitions: those of the major
    /// ring, say, whatever the minor ones do.
    pub fn rounds_of(&self, transitions: impl IntoIterator<Item = usize>) -> u64 {
        let rounds = transitions.into_iter().map(|t| self.last_irregular[t]);
        rounds.max().unwrap_or(0)
    }
}

/// Why the transient is not known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoTransient {
    /// There is no regime.
    #[error(transparent)]
    NoSpectrum(#[from] NoSpectrum),
    /// The net cannot be played.
    #[error(transparent)]
    NotPlayable(#[from] NotPlayable),
    /// A place fills up forever.
    #[error(
        "place number {place} fills up forever: it is fed every {fed} rounds but emptied only \
         every {emptied}"
    )]
    FillsUp {
        /// Which.
        place: PlaceIndex,
        /// The cycle time of the transition before it.
        fed: Fraction,
        /// The cycle time of the transition after it.
        emptied: Fraction,
    },
    /// The period is longer than the rounds allowed.
    #[error("the period of {period} rounds is longer than the {allowed} rounds allowed")]
    LongPeriod {
        /// The period.
        period: BigUint,
        /// The limit.
        allowed: u64,
    },
    /// The transient is longer than the rounds allowed.
    #[error("after {allowed} rounds the net is still in its transient")]
    Allowed {
        /// The limit.
        allowed: u64,
    },
}

/// The transient of a marked event graph, by playing at most `allowed` rounds.
///
/// # Errors
///
/// [`NoTransient`] when there is none, or the limit was reached.
///
/// ```
/// use headway_core::{Configuration, Program, Ring, Separation};
/// use headway_petri::{ring, transient, EventGraph};
/// let ring = Ring::new(Separation::new(3).unwrap(), vec![Program::Delay; 12]).unwrap();
/// let (net, marking) = ring::to_net(&ring, &Configuration::piled(&ring, 4, 0)).unwrap();
/// let graph = EventGraph::of(&net, &marking).unwrap();
/// let transient = transient::exact(&graph, 1_000_000).unwrap();
/// // Tight (4·3 = 12): the pattern repeats every 3 rounds.
/// assert_eq!((transient.rounds, transient.period), (11, 3));
/// ```
pub fn exact(graph: &EventGraph, allowed: u64) -> Result<Transient, NoTransient> {
    let long = period(graph)?;
    let period = u64::try_from(&long)
        .ok()
        .filter(|&period| period <= allowed)
        .ok_or(NoTransient::LongPeriod {
            period: long,
            allowed,
        })?;
    Pair::new(graph).run(period, allowed)
}

/// A period of the regime in rounds, whatever the initial marking: for each
/// component that sets its own pace, cycle time times cyclicity; together, their
/// least common multiple.
///
/// # Errors
///
/// [`NoTransient::NoSpectrum`] or [`NoTransient::FillsUp`].
pub fn period(graph: &EventGraph) -> Result<BigUint, NoTransient> {
    let solution = howard::solve(graph)?;
    if solution.strongly_connected {
        let spectrum = maxplus::spectrum(graph)?;
        return Ok(rounds_of(spectrum.cycle_time, &spectrum.cyclicity));
    }
    let components = graph.components();
    let pace = pace(graph, &solution.components)?;
    let mut together = BigUint::from(1_u32);
    for (component, own) in solution.components.iter().enumerate() {
        if own.is_none() || *own != pace[component] {
            continue;
        }
        let part = subgraph(graph, |node| components.component(node) == component);
        let spectrum = maxplus::spectrum(&part)?;
        together = together.lcm(&rounds_of(spectrum.cycle_time, &spectrum.cyclicity));
    }
    Ok(together)
}

/// λ·c: a whole number, since it is one for every critical circuit's tokens.
fn rounds_of(cycle_time: Fraction, cyclicity: &BigUint) -> BigUint {
    let firings = cyclicity / cycle_time.denominator;
    (firings * cycle_time.numerator).max(BigUint::from(1_u32))
}

/// The cycle time at which each component ends up firing: its own or that of a
/// slower one upstream.
fn pace(
    graph: &EventGraph,
    own: &[Option<Fraction>],
) -> Result<Vec<Option<Fraction>>, NoTransient> {
    let components = graph.components();
    let mut pace = own.to_vec();
    let of = |node: u32| components.component(node as usize);
    let arcs = graph.arcs().iter().map(|arc| (of(arc.from), of(arc.to)));
    let mut between: Vec<(usize, usize)> = arcs.filter(|(from, to)| from != to).collect();
    // Arcs lead from higher to lower components: highest sources first.
    between.sort_unstable_by_key(|&(from, _)| std::cmp::Reverse(from));
    for (from, to) in between {
        pace[to] = pace[to].max(pace[from]);
    }
    for (place, arc) in graph.arcs().iter().enumerate() {
        let (fed, emptied) = (pace[of(arc.from)], pace[of(arc.to)]);
        if let (Some(fed), Some(emptied)) = (fed, emptied)
            && fed < emptied
        {
            return Err(NoTransient::FillsUp {
                place,
                fed,
                emptied,
            });
        }
    }
    Ok(pace)
}

fn subgraph(graph: &EventGraph, inside: impl Fn(usize) -> bool) -> EventGraph {
    let mut number = vec![u32::MAX; graph.nodes()];
    let mut nodes = 0;
    for node in (0..graph.nodes()).filter(|&node| inside(node)) {
        number[node] = nodes;
        nodes += 1;
    }
    let arcs = graph.arcs().iter().map(|arc| TimedArc {
        from: number[arc.from as usize],
        to: number[arc.to as usize],
        ..*arc
    });
    let kept = arcs.filter(|arc| arc.from != u32::MAX && arc.to != u32::MAX);
    EventGraph::new(nodes as usize, kept.collect()).expect("smaller than the whole")
}

/// Two plays of one net and how they differ.
struct Pair<'a> {
    graph: &'a EventGraph,
    leaving: ArcsByNode,
    entering: ArcsByNode,
    /// Firings that the play ahead has more than the one behind.
    lead: Vec<i128>,
    /// Places whose tokens differ: those between transitions of unequal lead.
    unequal: usize,
    last_irregular: Vec<u64>,
}

impl<'a> Pair<'a> {
    fn new(graph: &'a EventGraph) -> Pair<'a> {
        Pair {
            graph,
            leaving: graph.leaving(),
            entering: graph.entering(),
            lead: vec![0; graph.nodes()],
            unequal: 0,
            last_irregular: vec![0; graph.nodes()],
        }
    }

    fn run(mut self, period: u64, allowed: u64) -> Result<Transient, NoTransient> {
        let adjacency = self.graph.adjacency();
        let holding: Vec<u64> = self.graph.arcs().iter().map(|arc| arc.time).collect();
        let marking = Marking(self.graph.arcs().iter().map(|arc| arc.tokens).collect());
        let longest = holding.iter().copied().max().unwrap_or(1).max(1);
        let mut behind = Timed::new(&adjacency, &holding, &marking)?;
        let mut ahead = behind.clone();
        while ahead.next_time().is_some_and(|time| time <= period) {
            let Some(instant) = ahead.step()? else { break };
            for &(transition, times) in instant.fired {
                self.lead[transition as usize] += i128::from(times);
            }
        }
        self.unequal = (0..self.graph.arcs().len())
            .filter(|&place| self.differs(place))
            .count();
        let mut rounds = 0;
        let mut now = 0;
        let mut difference: Vec<(u32, i128)> = Vec::new();
        loop {
            // Tokens put down in the same rounds are of the same age, and one
            // put down a holding time ago is as good as an old one.
            if self.unequal == 0 && now >= rounds + (longest - 1) {
                return Ok(Transient {
                    rounds,
                    period,
                    last_irregular: self.last_irregular,
                });
            }
            let next = [
                behind.next_time(),
                ahead.next_time().map(|time| time - period),
                // Nothing happens, but the tokens age.
                (self.unequal == 0).then_some(rounds + (longest - 1)),
            ];
            let next = next.into_iter().flatten().min();
            let Some(time) = next.filter(|&time| time <= allowed) else {
                return Err(NoTransient::Allowed { allowed });
            };
            now = time;
            difference.clear();
            for (play, shift, sign) in [(&mut behind, 0, -1), (&mut ahead, period, 1)] {
                if play.next_time() == Some(time + shift)
                    && let Some(instant) = play.step()?
                {
                    let changes = instant.fired.iter();
                    difference.extend(changes.map(|&(t, times)| (t, sign * i128::from(times))));
                }
            }
            difference.sort_unstable_by_key(|&(transition, _)| transition);
            for same in difference.chunk_by(|one, other| one.0 == other.0) {
                let change: i128 = same.iter().map(|&(_, times)| times).sum();
                if change != 0 {
                    let transition = same[0].0 as usize;
                    self.change_lead(transition, change);
                    self.last_irregular[transition] = time;
                    rounds = time;
                }
            }
        }
    }

    fn differs(&self, place: usize) -> bool {
        let arc = self.graph.arc(place);
        self.lead[arc.from as usize] != self.lead[arc.to as usize]
    }

    fn change_lead(&mut self, transition: usize, change: i128) {
        let count = |pair: &Pair<'_>| {
            let around = pair
                .leaving
                .of(transition)
                .iter()
                .chain(pair.entering.of(transition));
            around
                .filter(|&&place| pair.differs(place as usize))
                .count()
        };
        let before = count(self);
        self.lead[transition] += change;
        self.unequal = self.unequal + count(self) - before;
    }
}
