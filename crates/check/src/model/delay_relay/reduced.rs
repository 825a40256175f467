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

use headway_core::Process;
use rayon::prelude::*;

use super::{Instance, LARGEST_RING};
use crate::control::{CheckError, Control, Limits};
use crate::ranking::Multisets;

mod explorer;
mod size;
mod tally;

use explorer::Explorer;
use tally::Tally;

/// What the reductions are called in reports, in the order of their proofs.
pub const REDUCTIONS: [&str; 3] = [
    "rotation: one placement of the tokens for all turns of the ring that keep the programs",
    "arrivals merged: tokens resting at a process and queued at its predecessor count as one sum",
    "counters split when first read: a counter is one set of values until a token meets it",
];

/// The answer about an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducedAnswer {
    /// All states, unreduced.
    pub states: u128,
    /// Legitimate states, unreduced.
    pub legitimate: u128,
    /// A legitimate state that a round leads out of, if any.
    pub closure_violation: Option<Vec<Process>>,
    /// In every legitimate state every token moves in the next round.
    pub tokens_move: bool,
    /// No round of any case changed the number of tokens.
    pub conserved: bool,
    /// After every round of every case, no process had queued more than one token.
    pub one_queued: bool,
    /// How many states take how many rounds, unreduced.
    pub distances: Vec<u128>,
    /// States that never become legitimate, unreduced.
    pub never: u128,
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
pub fn explore(
    instance: &Instance,
    limits: Limits,
    control: &Control,
) -> Result<ReducedAnswer, CheckError> {
    if instance.tokens() == 0 {
        return Err(CheckError::instance(
            "delay-relay needs at least one token: without any, every state is legitimate",
        ));
    }
    size::admit(instance, limits)?;
    let sums = Multisets::new(instance.processes(), instance.tokens());
    let rotations = instance.rotations();
    let placements = sums.count() as u64;
    control.begin(placements);
    let explorer = Explorer {
        instance,
        control,
        top: instance.ring().separation().top(),
    };
    let tally = (0..placements as usize)
        .into_par_iter()
        .with_max_len(64)
        .map(|rank| {
            let rank = rank as u64;
            if control.stopped() {
                return Tally::default();
            }
            control.advance(1);
            let mut held = [0_u8; LARGEST_RING];
            let mut slots = vec![0; instance.tokens()];
            sums.unrank(rank, &mut slots);
            for &slot in &slots {
                held[usize::from(slot)] += 1;
            }
            let held = &held[..instance.processes()];
            match orbit(held, &rotations) {
                Some(orbit) => explorer.placement(held, orbit as u128),
                None => Tally::default(),
            }
        })
        .reduce(Tally::default, Tally::merge);
    if control.stopped() {
        return Err(CheckError::interrupted(
            control,
            format!(
                "{} cases followed, {} never become legitimate, and the slowest takes {} rounds",
                tally.cases,
                tally.diverging.as_ref().map_or("none", |_| "some"),
                tally.worst.as_ref().map_or(0, |worst| worst.rounds),
            ),
        ));
    }
    Ok(tally.answer(instance.states()))
}

/// The number of different turns of a placement, or `None` unless it is the first
/// of them in lexicographic order.
fn orbit(held: &[u8], rotations: &[usize]) -> Option<usize> {
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
    Some(rotations.len() / fixed)
}
