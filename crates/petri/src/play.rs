//! Running a net.
//!
//! [`Timed`] fires as early as possible: a token is usable a holding time after it was put
//! down, and whatever can fire does so at once. With all holding times 1 these are maximal
//! steps: in a round every transition fires as often as the tokens at the start of the round
//! allow, and tokens put down in a round are usable in the next.
//!
//! Tokens of the initial marking count as put down in round 0. Where transitions
//! compete for a token, the one that comes first in the file gets it, so that a
//! run is reproducible; event graphs have no such conflicts.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::graph::Components;
use crate::net::{Adjacency, Marking, TransitionIndex};

/// Why a net cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotPlayable {
    /// A transition without input places would fire without end in one round.
    #[error(
        "transition number {transition} has no input place, so nothing limits how often it fires \
         in a round; give it a loop of one place with one token"
    )]
    Source {
        /// Which.
        transition: TransitionIndex,
    },
    /// Counting further would be wrong.
    #[error("place number {place} would get more than 2^64-1 tokens, or one after round 2^64-1")]
    Overflow {
        /// Which.
        place: usize,
    },
    /// A circuit that takes no time could fire without end in one instant.
    #[error("place number {place} is on a circuit whose holding times are all 0")]
    NoTime {
        /// A place of the circuit.
        place: usize,
    },
}

/// Earliest-firing play with holding times.
///
/// ```
/// use headway_petri::{net::{Direction::*, Marking, Net}, play::Timed};
/// let mut net = Net::new("clock");
/// let place = net.add_place("p", 3);
/// let tick = net.add_transition("tick");
/// net.add_arc(place, tick, PlaceToTransition, 1);
/// net.add_arc(place, tick, TransitionToPlace, 1);
/// let adjacency = net.adjacency();
/// let mut play = Timed::new(&adjacency, &[3], &Marking(vec![1])).unwrap();
/// let ticks: Vec<u64> = (0..4).map(|_| play.step().unwrap().unwrap().time).collect();
/// assert_eq!(ticks, [3, 6, 9, 12]);
/// ```
#[derive(Clone, Debug)]
pub struct Timed<'a> {
    adjacency: &'a Adjacency,
    holding: &'a [u64],
    usable: Vec<u64>,
    /// Usable or not yet.
    tokens: Vec<u64>,
    /// Tokens that become usable: by time, in the order of being put down.
    coming: BTreeMap<u64, Vec<(u32, u64)>>,
    /// Spent lists, kept for their memory.
    spare: Vec<Vec<(u32, u64)>>,
    candidates: BTreeSet<u32>,
    dense_candidates: Vec<u32>,
    fired: Vec<(u32, u64)>,
    instant_takes_time: bool,
}

/// What happens at one time.
#[derive(Clone, Copy, Debug)]
pub struct Instant<'a> {
    /// The round.
    pub time: u64,
    /// Transitions that fire, ascending, and how often.
    pub fired: &'a [(u32, u64)],
}

impl<'a> Timed<'a> {
    /// Begins at a marking, put down in round 0.
    ///
    /// # Errors
    ///
    /// [`NotPlayable`] when a transition has no input, or a circuit takes no time.
    ///
    /// # Panics
    ///
    /// When holding times or marking are not those of this net.
    pub fn new(
        adjacency: &'a Adjacency,
        holding: &'a [u64],
        marking: &Marking,
    ) -> Result<Timed<'a>, NotPlayable> {
        assert_eq!(adjacency.places(), holding.len());
        assert_eq!(adjacency.places(), marking.0.len());
        let source = (0..adjacency.transitions()).find(|&t| adjacency.inputs(t).is_empty());
        if let Some(transition) = source {
            return Err(NotPlayable::Source { transition });
        }
        let instant_takes_time = holding.iter().all(|&rounds| rounds > 0);
        if !instant_takes_time {
            refuse_timeless(adjacency, holding)?;
        }
        let mut coming: BTreeMap<u64, Vec<(u32, u64)>> = BTreeMap::new();
        for (place, &tokens) in marking.0.iter().enumerate() {
            if tokens > 0 {
                let batch = coming.entry(holding[place]).or_default();
                batch.push((place as u32, tokens));
            }
        }
        Ok(Timed {
            adjacency,
            holding,
            usable: vec![0; holding.len()],
            tokens: marking.0.clone(),
            coming,
            spare: Vec::new(),
            candidates: BTreeSet::new(),
            dense_candidates: Vec::new(),
            fired: Vec::new(),
            instant_takes_time,
        })
    }

    /// When tokens become usable next; `None` when none ever will.
    pub fn next_time(&self) -> Option<u64> {
        self.coming.keys().next().copied()
    }

    /// Plays the next time at which tokens become usable; `None` when there is
    /// none. Nothing may fire then.
    ///
    /// # Errors
    ///
    /// [`NotPlayable::Overflow`]; the marking is then of no use any more.
    pub fn step(&mut self) -> Result<Option<Instant<'_>>, NotPlayable> {
        let Some((time, mut batch)) = self.coming.pop_first() else {
            return Ok(None);
        };
        self.fired.clear();
        if self.instant_takes_time {
            self.fire_once(time, &batch)?;
        } else {
            self.fire_until_quiet(time, &batch)?;
        }
        batch.clear();
        self.spare.push(batch);
        Ok(Some(Instant {
            time,
            fired: &self.fired,
        }))
    }

    /// All tokens, usable or not yet.
    pub fn marking(&self) -> Marking {
        Marking(self.tokens.clone())
    }

    /// The tokens of one place, usable or not yet.
    pub fn tokens(&self, place: usize) -> u64 {
        self.tokens[place]
    }

    /// Everything that the future depends on, relative to `now`: usable tokens
    /// by place, then (rounds to wait, place, tokens).
    pub(crate) fn state(&self, now: u64) -> (Vec<u64>, Vec<(u64, u32, u64)>) {
        let mut coming: Vec<(u64, u32, u64)> = Vec::new();
        for (&time, batch) in &self.coming {
            let first = coming.len();
            coming.extend(
                batch
                    .iter()
                    .map(|&(place, tokens)| (time - now, place, tokens)),
            );
            coming[first..].sort_unstable();
        }
        (self.usable.clone(), coming)
    }

    /// What fires puts nothing down that is usable at once.
    fn fire_once(&mut self, time: u64, batch: &[(u32, u64)]) -> Result<(), NotPlayable> {
        self.dense_candidates.clear();
        for &(place, tokens) in batch {
            let place = place as usize;
            // No more than all its tokens, which were counted.
            self.usable[place] += tokens;
            let consumers = self.adjacency.consumers(place).iter();
            self.dense_candidates
                .extend(consumers.map(|&(consumer, _)| consumer));
        }
        self.dense_candidates.sort_unstable();
        self.dense_candidates.dedup();
        let candidates = std::mem::take(&mut self.dense_candidates);
        for &transition in &candidates {
            let times = self.take(transition);
            if times > 0 {
                self.fired.push((transition, times));
            }
        }
        self.dense_candidates = candidates;
        for index in 0..self.fired.len() {
            let (transition, times) = self.fired[index];
            self.put(transition, times, time)?;
        }
        Ok(())
    }

    /// Places without holding time may enable more in the same instant.
    fn fire_until_quiet(&mut self, time: u64, batch: &[(u32, u64)]) -> Result<(), NotPlayable> {
        let mut arriving: Vec<(u32, u64)> = batch.to_vec();
        let mut total: BTreeMap<u32, u64> = BTreeMap::new();
        loop {
            for (place, tokens) in arriving.drain(..) {
                let place = place as usize;
                self.usable[place] += tokens;
                let consumers = self.adjacency.consumers(place).iter();
                self.candidates
                    .extend(consumers.map(|&(consumer, _)| consumer));
            }
            let Some(transition) = self.candidates.pop_first() else {
                break;
            };
            let times = self.take(transition);
            if times > 0 {
                self.put(transition, times, time)?;
                let fired = total.entry(transition).or_default();
                // It took a token each time, of which one place has at most 2^64-1 at once.
                let place = self.adjacency.inputs(transition as usize)[0].0 as usize;
                *fired = fired
                    .checked_add(times)
                    .ok_or(NotPlayable::Overflow { place })?;
                arriving.extend(self.coming.remove(&time).into_iter().flatten());
            }
        }
        self.fired.extend(total);
        Ok(())
    }

    /// Takes what a transition can, as often as it can; how often that is.
    fn take(&mut self, transition: u32) -> u64 {
        let inputs = self.adjacency.inputs(transition as usize).iter();
        let uses = inputs.clone();
        let times = uses.map(|&(place, weight)| self.usable[place as usize] / weight);
        let times = times.min().unwrap_or(0);
        for &(place, weight) in inputs {
            self.usable[place as usize] -= weight * times;
            self.tokens[place as usize] -= weight * times;
        }
        times
    }

    /// What so many firings put down.
    fn put(&mut self, transition: u32, times: u64, time: u64) -> Result<(), NotPlayable> {
        for &(place, weight) in self.adjacency.outputs(transition as usize) {
            let at = place as usize;
            let overflow = NotPlayable::Overflow { place: at };
            let tokens = weight.checked_mul(times).ok_or(overflow)?;
            self.tokens[at] = self.tokens[at].checked_add(tokens).ok_or(overflow)?;
            let when = time.checked_add(self.holding[at]).ok_or(overflow)?;
            let batch = self.coming.entry(when);
            let batch = batch.or_insert_with(|| self.spare.pop().unwrap_or_default());
            batch.push((place, tokens));
        }
        Ok(())
    }
}

/// Refuses a circuit through places that all hold tokens for no time.
fn refuse_timeless(adjacency: &Adjacency, holding: &[u64]) -> Result<(), NotPlayable> {
    let mut ends: Vec<(u32, u32, usize)> = Vec::new();
    for (place, _) in holding
        .iter()
        .enumerate()
        .filter(|&(_, &rounds)| rounds == 0)
    {
        for &(from, _) in adjacency.producers(place) {
            for &(to, _) in adjacency.consumers(place) {
                ends.push((from, to, place));
            }
        }
    }
    let transitions = adjacency.transitions();
    let components = Components::of(transitions, ends.iter().map(|&(from, to, _)| (from, to)));
    let same = |&&(from, to, _): &&(u32, u32, usize)| components.joins(from, to);
    ends.iter()
        .find(same)
        .map_or(Ok(()), |&(.., place)| Err(NotPlayable::NoTime { place }))
}
