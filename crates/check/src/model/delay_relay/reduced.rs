//! Every initial state at once, by sets of states that share a fate.
//!
//! 4.4·10^10 states (n = 12, m = 3, d = 4, all delay) are settled by following a
//! few hundred thousand cases. Three reductions make the cases, and each is exact:
//!
//! **Rotation.** A clockwise turn that maps every program to an equal one maps
//! runs to runs and legitimate states to legitimate states, because neither the
//! programs nor the predicate name a process. So one placement of the tokens per
//! orbit is followed and counted as often as the orbit has members.
//!
//! **Arrivals merged.** In a round, process i uses its resting tokens and those
//! queued at its predecessor only as their sum, and the old
//! queues are gone afterwards. So the state after round 1 depends on the sums
//! h(i) = r(i) + q(i-1) and the counters alone; a placement of sums stands for
//! ∏ (h(i)+1) placements on queues and resting places. What happens *before*
//! round 1, that is how many initial states are legitimate, is counted
//! separately and directly.
//!
//! **Counters split when first read.** A process without tokens only counts
//! down, whatever its counter is, and sends nothing. Its counter therefore
//! influences no other variable before a token is first held there, say in round
//! t, and by then is max(c - (t-1), 0). So the initial values of a counter are
//! kept together as one set until that round, and split there into the cases
//! e = 0 (which min(t, d) initial values share) and e = 1, …, d-t (one value
//! each). From round d on nothing is left to split: a counter that no token has
//! met by then is 0. This also is why a pile's inner order, and most counters,
//! do not matter.
//!
//! In a case, all variables are known except the counters at processes that no
//! token has met. Legitimacy constrains the counter of each process separately,
//! given where the tokens are, and 0 always satisfies it at a process without a
//! token. So a case is legitimate exactly for a product of sets of values, found
//! by trying every value at one process with 0 at the others, and the number of
//! its illegitimate states is the size of the case less that product. As
//! legitimacy is closed (checked first, for every legitimate state), a state is
//! legitimate from round t on exactly if it is at the end of round t, so the sums
//! over all cases give the exact number of states that take each number of
//! rounds.

use std::ops::Range;

use headway_core::Process;
use num_bigint::BigUint;

use super::{Instance, MAX_PROCESSES};
use crate::control::Control;
use crate::error::{CheckError, Result};
use crate::parallel;
use crate::placements::{self, Placements};

mod count;
mod explorer;
mod size;
mod tally;

pub(super) use count::Count;
use explorer::Explorer;
use tally::Tally;

/// What the reductions are called in reports, in the order of their proofs.
pub const REDUCTIONS: [&str; 3] = [
    "rotation: one placement of the tokens for all turns of the ring that keep the programs",
    "arrivals merged: tokens resting at a process and queued at its predecessor count as one sum",
    "counters split when first read: a counter is one set of values until a token meets it",
];

/// The answer about an instance. Numbers of states are those of all states, not only of
/// the ones followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducedAnswer {
    /// All states.
    pub states: BigUint,
    /// Legitimate states.
    pub legitimate: BigUint,
    /// A legitimate state that a round leads out of, if any.
    pub closure_violation: Option<Vec<Process>>,
    /// In every legitimate state every token moves in the next round.
    pub tokens_move: bool,
    /// No round of any case changed the number of tokens.
    pub conserved: bool,
    /// After every round of every case, no process had queued more than one token.
    pub one_queued: bool,
    /// How many states take how many rounds.
    pub distances: Vec<BigUint>,
    /// States that never become legitimate.
    pub never: BigUint,
    /// Rounds until the last state is legitimate, and a state that takes so long.
    pub worst: Option<(u64, Vec<Process>)>,
    /// The last round after which a token can rest, and a state in which it does;
    /// over the states that become legitimate.
    pub worst_last_rest: Option<(u64, Vec<Process>)>,
    /// A state that never becomes legitimate, if any.
    pub diverging: Option<Vec<Process>>,
    /// Placements of tokens followed, after rotation and merging.
    pub placements: u64,
    /// Cases followed to their end.
    pub cases: u64,
}

/// Settles every initial state of an instance.
///
/// # Errors
///
/// [`CheckError::TooLarge`] before it starts, [`CheckError::Interrupted`] when
/// stopped.
pub fn explore(instance: &Instance, control: &Control) -> Result<ReducedAnswer> {
    if instance.tokens() == 0 {
        return Err(CheckError::settings(
            "delay-relay needs at least one token: without any, every state is legitimate",
        ));
    }
    size::admit(instance, control.limits)?;
    // Nothing counts more than all states.
    if u128::try_from(instance.states()).is_ok() {
        explore_counting::<u128>(instance, control)
    } else {
        explore_counting::<BigUint>(instance, control)
    }
}

/// Units of progress per placement. Cases share those of their placement equally, so that
/// progress is honest although their number is not known before.
const UNITS: u64 = 1 << 20;

fn explore_counting<C: Count>(instance: &Instance, control: &Control) -> Result<ReducedAnswer> {
    let sums = Placements::new(instance.processes(), instance.tokens())?;
    let rotations = instance.rotations();
    control.begin(UNITS * orbits(instance, &rotations));
    let explorer = Explorer::<C>::new(instance, control);
    let placement = |rank| {
        if control.stopped() {
            return Tally::default();
        }
        let mut held = [0_u8; MAX_PROCESSES];
        let mut slots = vec![0; instance.tokens()];
        sums.unrank(rank, &mut slots);
        for &slot in &slots {
            held[usize::from(slot)] += 1;
        }
        let held = &held[..instance.processes()];
        match orbit(held, &rotations) {
            Some(orbit) => explorer.placement(held, orbit),
            None => Tally::default(),
        }
    };
    let placements = |ranks: Range<u64>| ranks.map(placement).fold(Tally::default(), Tally::merge);
    let tally = parallel::reduce(0..sums.count(), 8, &placements, &Tally::merge);
    control.go_on(|| tally.known())?;
    Ok(tally.answer(instance.states()))
}

/// How many placements there are up to rotation: by Burnside's lemma, the mean over the
/// rotations of the placements that each leaves as they are. Those have equally many
/// tokens at all places of a cycle of the rotation.
fn orbits(instance: &Instance, rotations: &[usize]) -> u64 {
    let (n, m) = (instance.processes(), instance.tokens());
    let fixed = rotations.iter().map(|turn| {
        let order = (1..=n).find(|times| (times * turn).is_multiple_of(n));
        let order = order.expect("n turns are none");
        if m.is_multiple_of(order) {
            placements::count(n / order, m / order)
        } else {
            BigUint::ZERO
        }
    });
    let orbits = fixed.sum::<BigUint>() / rotations.len();
    u64::try_from(orbits).expect("fewer than placements")
}

/// The number of different turns of a placement, or `None` unless it is the first
/// of them in lexicographic order.
fn orbit(held: &[u8], rotations: &[usize]) -> Option<u64> {
    let n = held.len();
    let mut fixed = 0;
    for &turn in rotations {
        let turned = (0..n).map(|i| held[(i + turn) % n]);
        match turned.cmp(held.iter().copied()) {
            std::cmp::Ordering::Less => return None,
            std::cmp::Ordering::Equal => fixed += 1,
            std::cmp::Ordering::Greater => {}
        }
    }
    Some(rotations.len() as u64 / fixed)
}
