use super::{Fired, NotPlayable};
use crate::net::{Adjacency, Marking};

/// Maximal-step play.
///
/// ```
/// use headway_core::{Configuration, Ring, Separation};
/// use headway_petri::{play::Synchronous, ring};
/// let ring = Ring::with_delays(Separation::new(3).unwrap(), 7, [0, 4]).unwrap();
/// let mut state = Configuration::piled(&ring, 2, 1);
/// let (net, marking) = ring::to_net(&ring, &state).unwrap();
/// let adjacency = net.adjacency();
/// let mut play = Synchronous::new(&adjacency, &marking).unwrap();
/// for _ in 0..20 {
///     ring.round(&mut state);
///     play.round().unwrap();
///     assert_eq!(play.marking(), &ring::marking_of(&ring, &state).unwrap());
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Synchronous<'a> {
    adjacency: &'a Adjacency,
    marking: Marking,
    round: u64,
    /// Transitions that may be enabled: a maximal step leaves nothing enabled,
    /// so only places that have received tokens since matter.
    candidates: Vec<u32>,
    fired: Fired,
}

impl<'a> Synchronous<'a> {
    /// Begins at a marking.
    ///
    /// # Errors
    ///
    /// [`NotPlayable::Source`] when a transition has no input.
    ///
    /// # Panics
    ///
    /// When the marking is not one of this net.
    pub fn new(
        adjacency: &'a Adjacency,
        marking: &Marking,
    ) -> Result<Synchronous<'a>, NotPlayable> {
        assert_eq!(adjacency.places(), marking.0.len());
        refuse_sources(adjacency)?;
        Ok(Synchronous {
            adjacency,
            marking: marking.clone(),
            round: 0,
            candidates: (0..adjacency.transitions() as u32).collect(),
            fired: Fired::new(),
        })
    }

    /// The marking now.
    pub fn marking(&self) -> &Marking {
        &self.marking
    }

    /// Rounds played.
    pub fn rounds(&self) -> u64 {
        self.round
    }

    /// Plays a round and says what fired; nothing when the net is dead.
    ///
    /// # Errors
    ///
    /// [`NotPlayable::Overflow`]; the marking is then of no use any more.
    pub fn round(&mut self) -> Result<&Fired, NotPlayable> {
        self.round += 1;
        self.fired.clear();
        let tokens = &mut self.marking.0;
        for &transition in &self.candidates {
            let inputs = self.adjacency.inputs(transition as usize);
            let times = inputs
                .iter()
                .map(|&(place, weight)| tokens[place as usize] / weight)
                .min()
                .unwrap_or(0);
            if times > 0 {
                for &(place, weight) in inputs {
                    tokens[place as usize] -= weight * times;
                }
                self.fired.push((transition, times));
            }
        }
        self.candidates.clear();
        for &(transition, times) in &self.fired {
            for &(place, weight) in self.adjacency.outputs(transition as usize) {
                let place = place as usize;
                let sum = tokens[place].checked_add(added(weight, times, place)?);
                tokens[place] = sum.ok_or(NotPlayable::Overflow { place })?;
                let consumers = self.adjacency.consumers(place);
                self.candidates
                    .extend(consumers.iter().map(|&(consumer, _)| consumer));
            }
        }
        self.candidates.sort_unstable();
        self.candidates.dedup();
        Ok(&self.fired)
    }
}

/// What so many firings put down.
pub(super) fn added(weight: u64, times: u64, place: usize) -> Result<u64, NotPlayable> {
    let tokens = weight.checked_mul(times);
    tokens.ok_or(NotPlayable::Overflow { place })
}

pub(super) fn refuse_sources(adjacency: &Adjacency) -> Result<(), NotPlayable> {
    let source = (0..adjacency.transitions()).find(|&t| adjacency.inputs(t).is_empty());
    source.map_or(Ok(()), |transition| Err(NotPlayable::Source { transition }))
}
