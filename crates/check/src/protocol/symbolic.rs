//! Sets of states as decision diagrams (OxiDD), for instances with too many states to visit.
//!
//! A variable of k values is ⌈log₂ k⌉ bits, each with a bit for its next value beside it; the
//! processes come in the order of the graph or folded, whichever makes the steps smaller.
//! An expression becomes a condition for each of its values. Starting from the legitimate
//! states, layer after layer is added: the states that have a step and no step out of what
//! was added before. A state of layer k takes at most k steps, and one schedule makes it
//! take them. What is left when no layer comes any more can avoid legitimacy forever.

use std::hash::{BuildHasherDefault, DefaultHasher};

use num_bigint::BigUint;
use oxidd::bcdd::BCDDFunction as Set;
use oxidd::util::{OutOfMemory, SatCountCache};
use oxidd::{BooleanFunction, Function};

use super::{Protocol, ProtocolError, Variable};
use crate::Scheduler;
use crate::control::Control;
use crate::error::{CheckError, Result, TooLarge};
use crate::report::follow;

mod count;
mod diagrams;
mod runs;

use count::Exact;
use diagrams::Diagrams;

/// The answer. States are given by the values of their variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicAnswer {
    /// All states.
    pub states: BigUint,
    /// Legitimate ones.
    pub legitimate: BigUint,
    /// A step from a legitimate state to one that is not, if any.
    pub closure_violation: Option<[Vec<i32>; 2]>,
    /// A step out of the states that are given, if any.
    pub strays: Option<[Vec<i32>; 2]>,
    /// How many states take 0, 1, 2, … steps at worst.
    pub layers: Vec<BigUint>,
    /// States from which some run never becomes legitimate.
    pub diverging: BigUint,
    /// Such a run, and where it repeats from.
    pub divergence: Option<(Vec<Vec<i32>>, Option<usize>)>,
    /// A run that takes the most steps, to its first legitimate state.
    pub slowest: Vec<Vec<i32>>,
    /// For each further property, a state that breaks it.
    pub broken: Vec<Option<Vec<i32>>>,
    /// Nodes of the largest set.
    pub nodes: usize,
}

/// Why an operation ended early.
enum Stop {
    Full,
    Stopped,
    /// The action of a process, in a state, leaves a domain.
    LeavesDomain(ProtocolError),
}

impl From<OutOfMemory> for Stop {
    fn from(_: OutOfMemory) -> Stop {
        Stop::Full
    }
}

/// Bytes of a node, with its share of the tables.
const BYTES_PER_NODE: u64 = 32;
const MAX_NODES: u64 = 1 << 30;
/// Rings of so many take minutes; from then on nobody knows.
const MAX_BITS: u64 = 256;
const FIRST_NODES: u64 = 1 << 23;
const MORE_NODES: u64 = 16;

/// Explores an instance under a scheduler; the locally central one is not supported, and
/// neither is chance.
///
/// # Errors
///
/// As the other engines.
pub fn explore(
    protocol: &Protocol,
    scheduler: Scheduler,
    control: &Control,
) -> Result<SymbolicAnswer> {
    if scheduler == Scheduler::LocallyCentral || protocol.is_random() {
        return Err(CheckError::settings(
            "decision diagrams know neither chance nor the locally central scheduler",
        ));
    }
    let bits: u32 = protocol.variables.iter().map(Variable::bits).sum();
    TooLarge::bound("bits of state in a decision diagram", bits, MAX_BITS)?;
    control.count_layers();
    let most = (control.limits.memory_bytes / BYTES_PER_NODE).min(MAX_NODES);
    let mut layers = Vec::new();
    let mut nodes = FIRST_NODES.min(most);
    let answer = loop {
        layers.clear();
        match run(protocol, scheduler, nodes as usize, control, &mut layers) {
            // All tables are there from the start, so small ones are tried first.
            Err(Stop::Full) if nodes < most => nodes = (nodes * MORE_NODES).min(most),
            other => break other,
        }
    };
    answer.map_err(|stop| match stop {
        Stop::Full => CheckError::TooLarge(TooLarge::Bound {
            what: "nodes of decision diagrams",
            given: (nodes + 1).into(),
            limit: nodes,
        }),
        Stop::Stopped => {
            let known = format!(
                "{} states take at most {} steps; the others are not known yet",
                layers.iter().sum::<BigUint>(),
                layers.len().saturating_sub(1)
            );
            CheckError::interrupted(control, known)
        }
        Stop::LeavesDomain(error) => error.into(),
    })
}

fn run(
    protocol: &Protocol,
    scheduler: Scheduler,
    nodes: usize,
    control: &Control,
    layers: &mut Vec<BigUint>,
) -> Result<SymbolicAnswer, Stop> {
    let diagrams = Diagrams::new(protocol, scheduler, nodes)?;
    let bits = diagrams.bits();
    let mut cache = SatCountCache::<Exact, BuildHasherDefault<DefaultHasher>>::default();
    let mut count = |set: &Set| -> BigUint {
        // Next values are free.
        set.sat_count(2 * bits, &mut cache).0 >> bits
    };
    let space = &diagrams.space;
    if let Some(state) = diagrams.pick(&space.and(&diagrams.leaves_domain)?) {
        let left = protocol.leaves_domain(&state);
        return Err(Stop::LeavesDomain(
            left.expect("an assignment that leaves its domain"),
        ));
    }
    let legitimate = diagrams.truth(&protocol.legitimate)?.and(space)?;
    let not_legitimate = space.and(&legitimate.not()?)?;
    let step_into = |from: &Set, to: &Set| -> Result<Option<[Vec<i32>; 2]>, Stop> {
        let stepping = from.and(&diagrams.before(to)?)?;
        Ok(diagrams.pick(&stepping).and_then(|state| {
            let next = runs::successor(protocol, scheduler, &state, |next| diagrams.has(to, next))?;
            Some([state, next])
        }))
    };
    let closure_violation = step_into(&legitimate, &not_legitimate)?;
    let strays = step_into(space, &diagrams.valid.and(&space.not()?)?)?;
    let (mut left, mut sets) = (not_legitimate, vec![legitimate.clone()]);
    let mut largest = left.node_count();
    layers.push(count(&legitimate));
    while left.satisfiable() {
        if control.stopped() {
            return Err(Stop::Stopped);
        }
        let stuck = diagrams.before(&left)?;
        let layer = left.and(&diagrams.enabled)?.and(&stuck.not()?)?;
        if !layer.satisfiable() {
            break;
        }
        left = left.and(&layer.not()?)?;
        largest = largest.max(left.node_count());
        layers.push(count(&layer));
        control.advance(1);
        sets.push(layer);
    }
    let next = |state: &Vec<i32>, set: &Set| {
        runs::successor(protocol, scheduler, state, |next| diagrams.has(set, next))
    };
    let divergence = diagrams.pick(&left);
    let divergence = divergence.map(|first| follow(first, |state| next(state, &left)));
    let mut slowest = Vec::new();
    if divergence.is_none() {
        let mut at = sets.last().and_then(|set| diagrams.pick(set));
        for set in sets.iter().rev().skip(1).map(Some).chain([None]) {
            let Some(state) = at else { break };
            at = set.and_then(|set| next(&state, set));
            slowest.push(state);
        }
    }
    let mut broken = Vec::new();
    for rule in &protocol.rules {
        let concerned = if rule.everywhere { space } else { &legitimate };
        let breaks = concerned.and(&diagrams.truth(&rule.holds)?.not()?)?;
        broken.push(diagrams.pick(&breaks));
    }
    Ok(SymbolicAnswer {
        states: count(space),
        legitimate: layers[0].clone(),
        closure_violation,
        strays,
        diverging: count(&left),
        layers: std::mem::take(layers),
        divergence,
        slowest,
        broken,
        nodes: largest,
    })
}
