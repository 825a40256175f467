//! Rings as nets, and nets as rings: exact both ways.
//!
//! Place i of the major ring feeds transition i, which feeds place i+1. A delay
//! has a minor ring of d places with one token, joined at its transition; a
//! relay has a loop of one place with one token, so that it fires at most once a
//! round. Every place holds a token for one round. A token resting at process i
//! is on place i, one queued at i is on place i+1 and usable in the next round;
//! the counter of a delay is its minor token's distance to the joint transition.

pub(crate) mod layout;
mod read;

use headway_core::{Configuration, Program, Ring};
use thiserror::Error;

use crate::net::{Direction, Marking, Net, RingNote};

pub use read::{NotARing, from_net, major_transitions};

/// A ring that no net embodies here. Nothing was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoNet {
    /// A measuring process computes with numbers; the paper's net cannot.
    #[error(
        "process {process} runs {program}, which has no Petri net: only delay and relay have one"
    )]
    Measures {
        /// Where.
        process: usize,
        /// What it runs.
        program: Program,
    },
    /// The configuration is not one of this ring.
    #[error("the state does not fit the ring: {0}")]
    Misfit(headway_core::Misfit),
    /// The net would have more places than can be numbered.
    #[error("the net would have {places} places, at most 2^32 can be numbered")]
    TooLarge {
        /// Places needed.
        places: u128,
    },
}

/// The net of a ring, marked with its state.
///
/// # Errors
///
/// [`NoNet`] when a process measures, the state does not fit, or the net would
/// be too large.
///
/// ```
/// use headway_core::{Configuration, Ring, Separation};
/// use headway_petri::ring;
/// let ring = Ring::with_delays(Separation::new(4).unwrap(), 8, [0, 5]).unwrap();
/// let state = Configuration::piled(&ring, 2, 5);
/// let (net, marking) = ring::to_net(&ring, &state).unwrap();
/// // 8 major places, 2 minor rings of 4, 6 loops.
/// assert_eq!(net.places(), 8 + 2 * 4 + 6);
/// assert_eq!(ring::from_net(&net, &marking).unwrap(), (ring, state));
/// ```
pub fn to_net(ring: &Ring, state: &Configuration) -> Result<(Net, Marking), NoNet> {
    let mut net = shape(ring)?;
    let marking = marking_of(ring, state)?;
    let processes = ring.len();
    let queued = |process: usize| u64::from(state.processes[process].queued);
    if let Some(note) = &mut net.ring {
        note.queued = (0..processes)
            .map(|place| (place, queued((place + processes - 1) % processes)))
            .filter(|&(_, tokens)| tokens > 0)
            .collect();
    }
    Ok((net, marking))
}

/// The marking of a state, for the net that [`to_net`] makes of its ring.
///
/// # Errors
///
/// As [`to_net`].
pub fn marking_of(ring: &Ring, state: &Configuration) -> Result<Marking, NoNet> {
    check(ring)?;
    ring.admits(state).map_err(NoNet::Misfit)?;
    let processes = &state.processes;
    let before = |place: usize| (place + ring.len() - 1) % ring.len();
    let mut tokens: Vec<u64> = (0..ring.len())
        .map(|place| {
            u64::from(processes[place].resting) + u64::from(processes[before(place)].queued)
        })
        .collect();
    for (process, program) in ring.programs().iter().enumerate() {
        if program.delays() {
            let first = tokens.len();
            tokens.resize(first + ring.separation().hops() as usize, 0);
            tokens[first + processes[process].counter as usize] = 1;
        } else {
            tokens.push(1);
        }
    }
    Ok(Marking(tokens))
}

/// The net without its marking.
fn shape(ring: &Ring) -> Result<Net, NoNet> {
    check(ring)?;
    let processes = ring.len();
    let hops = ring.separation().hops() as usize;
    let mut net = Net::new("ring");
    net.name = format!(
        "ring of {processes} processes, separation {}",
        ring.separation()
    );
    for process in 0..processes {
        net.add_place(&format!("p{process}"), 1);
    }
    for process in 0..processes {
        net.add_transition(&format!("t{process}"));
        net.add_arc(process, process, Direction::PlaceToTransition, 1);
        net.add_arc(
            (process + 1) % processes,
            process,
            Direction::TransitionToPlace,
            1,
        );
    }
    for (process, program) in ring.programs().iter().enumerate() {
        if program.delays() {
            add_minor_ring(&mut net, process, hops, &format!("m{process}"));
        } else {
            let place = net.add_place(&format!("l{process}"), 1);
            net.add_arc(place, process, Direction::PlaceToTransition, 1);
            net.add_arc(place, process, Direction::TransitionToPlace, 1);
        }
    }
    layout::draw(&mut net, ring);
    net.ring = Some(RingNote {
        separation: ring.separation().hops(),
        delays: if hops == 1 {
            ring.delays().collect()
        } else {
            Vec::new()
        },
        queued: Vec::new(),
    });
    Ok(net)
}

/// Adds a minor ring of `hops` places at a transition: the place whose number
/// is k is k rounds away from being usable there. Returns the first place, the
/// one that feeds the transition.
pub(crate) fn add_minor_ring(net: &mut Net, transition: usize, hops: usize, prefix: &str) -> usize {
    let first = net.places();
    for step in 0..hops {
        net.add_place(&format!("{prefix}_{step}"), 1);
    }
    net.add_arc(first, transition, Direction::PlaceToTransition, 1);
    for step in 1..hops {
        let inner = net.add_transition(&format!("{prefix}_u{step}"));
        net.add_arc(first + step, inner, Direction::PlaceToTransition, 1);
        net.add_arc(first + step - 1, inner, Direction::TransitionToPlace, 1);
    }
    net.add_arc(
        first + hops - 1,
        transition,
        Direction::TransitionToPlace,
        1,
    );
    first
}

fn check(ring: &Ring) -> Result<(), NoNet> {
    if let Some(process) = ring.measurers().next() {
        return Err(NoNet::Measures {
            process,
            program: ring.programs()[process],
        });
    }
    let delays = ring.delay_count() as u128;
    let relays = ring.len() as u128 - delays;
    let hops = u128::from(ring.separation().hops());
    let places = ring.len() as u128 + delays * hops + relays;
    if places >= 1 << 32 {
        return Err(NoNet::TooLarge { places });
    }
    Ok(())
}
