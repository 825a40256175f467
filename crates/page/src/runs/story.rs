//! A run as a whole: its settings and the segments that changes have cut it into.

use headway_core::{Configuration, Ring, Round};

use super::change::{Change, What};
use super::segment::{Look, Segment, by_process};
use crate::error::ApiError;
use crate::limits::Limits;

/// The past and future of a run.
pub(crate) struct Story {
    seed: u64,
    /// Never empty; `from` ascends, and the last of equals is in force.
    segments: Vec<Segment>,
}

impl Story {
    pub(crate) fn new(
        ring: Ring,
        start: Configuration,
        seed: u64,
        limits: &Limits,
    ) -> Result<Story, ApiError> {
        let ids = (0..start.tokens() as u32).collect();
        let first = Segment::new(0, None, (ring, start), ids, limits)?;
        Ok(Story {
            seed,
            segments: vec![first],
        })
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.segments
            .iter()
            .filter_map(|segment| segment.change.as_ref())
    }

    /// The last round that can be looked at.
    pub(crate) fn seekable(&self) -> Round {
        let last = &self.segments[self.segments.len() - 1];
        last.from.saturating_add(last.facts.last)
    }

    /// The segment in force after a round: its number and itself.
    pub(crate) fn segment_at(&self, round: Round) -> (usize, &Segment) {
        let begun = self
            .segments
            .partition_point(|segment| segment.from <= round);
        let index = begun.saturating_sub(1);
        (index, &self.segments[index])
    }

    /// The state after a round.
    pub(crate) fn look(&self, round: Round) -> Result<(usize, Look), ApiError> {
        let (index, segment) = self.segment_at(round);
        Ok((index, segment.look(round - segment.from)?))
    }

    /// Strikes; what came after that round is dropped. Nothing changes on error.
    pub(crate) fn strike(&mut self, change: Change, limits: &Limits) -> Result<(), ApiError> {
        let round = change.after_round;
        let (index, segment) = self.segment_at(round);
        // The start is no change.
        if index >= limits.faults {
            return Err(ApiError::too_large(
                "fault",
                format!("a run has at most {} faults", limits.faults),
            ));
        }
        let rounds = round - segment.from;
        let look = segment.look(rounds)?;
        let next = change
            .strike(&segment.ring, &look.state, self.seed, index)
            .map_err(|error| ApiError::invalid("fault", format!("{change}: {error}")))?;
        let ids = segment.ids_from_the_end(&look, rounds)?;
        let ids = renumber(&change, ids, &look.state, &next.1)?;
        let segment = Segment::new(round, Some(change), next, ids, limits)?;
        self.segments.truncate(index + 1);
        self.segments.push(segment);
        Ok(())
    }
}

/// Who is who after a change, from the end of the ring: whoever need not have moved
/// has not; those that have, keep their order.
fn renumber(
    change: &Change,
    ids: Vec<u32>,
    before: &Configuration,
    after: &Configuration,
) -> Result<Vec<u32>, ApiError> {
    let n = before.processes.len();
    let mut here: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut next = ids.into_iter();
    for (process, count) in by_process(before).enumerate().rev() {
        here[process].extend(next.by_ref().take(count as usize));
    }
    if let (What::Fault(headway_sim::fault::FaultKind::Move { from, to }), Some(token)) =
        (&change.what, change.token)
    {
        let at = here[*from].iter().position(|&id| id == token);
        let at = at.ok_or_else(|| {
            let message = format!("token {token} is not at process {from} when the fault strikes");
            ApiError::invalid("token", message)
        })?;
        here[*from].remove(at);
        here[*to].push(token);
    }
    let mut astray = Vec::new();
    for (process, count) in by_process(after).enumerate().rev() {
        let stay = here[process].len().min(count as usize);
        astray.extend(here[process].drain(stay..));
    }
    let mut astray = astray.into_iter();
    for (process, count) in by_process(after).enumerate().rev() {
        let missing = (count as usize).saturating_sub(here[process].len());
        here[process].extend(astray.by_ref().take(missing));
    }
    Ok(here.into_iter().rev().flatten().collect())
}
