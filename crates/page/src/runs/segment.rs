//! What follows from one state without interference: forecast where there is a
//! closed form, else run.

use std::sync::{Mutex, PoisonError};

use headway_core::desiderata::{verdicts, visited_equally};
use headway_core::tokens::Tokens;
use headway_core::{Configuration, Ring, Round};
use headway_sim::forecast::{Forecast, Jam};
use headway_sim::{Run, run};

use super::change::Change;
use super::lock_step::LockStep;
use crate::error::ApiError;
use crate::limits::Limits;

/// A stretch of a run, from its start or a change to the next change.
pub(crate) struct Segment {
    /// The round in which it begins.
    pub(crate) from: Round,
    /// What it begins with; `None` at the start of the run.
    pub(crate) change: Option<Change>,
    pub(crate) ring: Ring,
    pub(crate) start: Configuration,
    /// The numbers for good of the tokens, which [`Tokens`] numbers anew.
    pub(crate) ids: Vec<u32>,
    pub(crate) facts: Facts,
    lock_step: Option<Mutex<LockStep>>,
}

/// What is known of a segment beforehand. Rounds are counted from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) feasible: bool,
    pub(crate) settles: bool,
    pub(crate) legitimate_at: Option<Round>,
    pub(crate) last_rest: Option<Round>,
    pub(crate) worst_last_rest: Option<Round>,
    pub(crate) worst_legitimate_at: Option<Round>,
    pub(crate) cycle_time: Option<(u64, u64)>,
    pub(crate) jam: Option<Jam>,
    /// The last round that can be looked at.
    pub(crate) last: Round,
}

/// A state, with tokens in the segment's order.
pub(crate) struct Look {
    pub(crate) state: Configuration,
    pub(crate) places: Vec<Place>,
    /// D1 to D5.
    pub(crate) holds: [Option<bool>; 5],
    /// Fewest and most visits of a process since the state became legitimate.
    pub(crate) visits: Option<(u64, u64)>,
}

/// Where a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) process: u32,
    pub(crate) resting: bool,
}

impl Segment {
    pub(crate) fn new(
        from: Round,
        change: Option<Change>,
        (ring, start): (Ring, Configuration),
        ids: Vec<u32>,
        limits: &Limits,
    ) -> Result<Segment, ApiError> {
        let largest = limits.largest_round.saturating_sub(from);
        let (facts, lock_step) = if !ring.measures() {
            let facts = forecast_facts(&ring, &start, largest)?;
            (facts, None)
        } else {
            let last = (limits.lock_step / ring.len() as u64).min(largest);
            let facts = measured_facts(&ring, &start, last);
            let lock_step = LockStep::new(ring.clone(), start.clone(), last);
            (facts, Some(Mutex::new(lock_step)))
        };
        Ok(Segment {
            from,
            change,
            ring,
            start,
            ids,
            facts,
            lock_step,
        })
    }

    /// The state this many rounds after the segment's beginning.
    ///
    /// # Errors
    ///
    /// When a ring that has to be run would have to be run too far.
    pub(crate) fn look(&self, rounds: Round) -> Result<Look, ApiError> {
        if rounds > self.facts.last {
            let [asked, last] = [rounds, self.facts.last].map(|at| self.from.saturating_add(at));
            return Err(too_far(asked, last));
        }
        match &self.lock_step {
            None => self.forecast(rounds),
            Some(lock_step) => Ok(look_at_run(
                &mut lock_step.lock().unwrap_or_else(PoisonError::into_inner),
                rounds,
            )),
        }
    }

    fn forecast(&self, rounds: Round) -> Result<Look, ApiError> {
        let forecast = Forecast::of(&self.ring, &self.start).map_err(|_| ApiError::internal())?;
        let moment = forecast.timeline().moment(rounds);
        let state = moment.configuration(self.ring.len());
        let since = self.facts.legitimate_at.filter(|&at| at <= rounds);
        let visits = since.and_then(|since| forecast.visits(rounds - since));
        let (n, d) = (self.ring.len() as u64, self.ring.separation());
        let equally = since
            .zip(visits)
            .map(|(since, visits)| visited_equally(visits, rounds - since, n, d));
        let settled = since.map(|_| true);
        let recovers = settled.or((!self.facts.settles).then_some(false));
        let conserved = state.tokens() == self.start.tokens();
        let places = moment.places.iter().map(|place| Place {
            process: place.process as u32,
            resting: place.resting,
        });
        Ok(Look {
            places: places.collect(),
            state,
            holds: [Some(conserved), settled, settled, equally, recovers],
            visits,
        })
    }

    /// The numbers for good of the tokens of a state, in the order in which
    /// [`Tokens::new`] numbers them.
    ///
    /// Both orders are the cyclic one, so one is the other from some token on: the
    /// one after which processes count up again. Only when all tokens rest in one
    /// pile does nothing tell which is its first; then the one released next is.
    pub(crate) fn ids_from_the_end(
        &self,
        look: &Look,
        rounds: Round,
    ) -> Result<Vec<u32>, ApiError> {
        let places = &look.places;
        let behind = |one: Place, other: Place| {
            (one.process, !one.resting) < (other.process, !other.resting)
        };
        let wraps = |&at: &usize| behind(places[at - 1], places[at]);
        let first = match (1..places.len()).find(wraps) {
            Some(first) => first,
            None if rounds == 0 || places.first() != places.last() || places.len() < 2 => 0,
            None => {
                let counter = look.state.processes[places[0].process as usize].counter;
                let released = rounds + counter.max(0) as Round + 1;
                let next = self.look(released.min(self.facts.last))?;
                let moved = next.places.iter().position(|place| !place.resting);
                moved.unwrap_or(0)
            }
        };
        let (before, after) = self.ids.split_at(first);
        Ok(after.iter().chain(before).copied().collect())
    }
}

/// A ring that has to be run would have to be run too far.
pub(crate) fn too_far(asked: Round, last: Round) -> ApiError {
    let message = format!(
        "round {asked} is too far: this ring has no closed form, and can be looked at up to \
         round {last}"
    );
    ApiError::new(http::StatusCode::UNPROCESSABLE_ENTITY, "too_far", message).at("round")
}

fn look_at_run(run: &mut LockStep, rounds: Round) -> Look {
    let kept = run.at(rounds);
    let places = kept.tokens.places().iter().map(|place| Place {
        process: place.process() as u32,
        resting: place.resting,
    });
    let outcome = kept.monitor.outcome();
    Look {
        places: places.collect(),
        state: kept.state.clone(),
        holds: outcome.desiderata.map(|verdict| verdict.holds),
        visits: outcome.visits,
    }
}

fn forecast_facts(ring: &Ring, start: &Configuration, largest: Round) -> Result<Facts, ApiError> {
    let forecast = Forecast::of(ring, start).map_err(|_| ApiError::internal())?;
    let worst = ring.worst_case(forecast.tokens());
    let jam = forecast.timeline().jam();
    Ok(Facts {
        feasible: forecast.feasible(),
        settles: forecast.settles(),
        legitimate_at: forecast.legitimate_at(),
        last_rest: forecast.last_rest(),
        worst_last_rest: worst.map(|worst| worst.last_rest),
        worst_legitimate_at: worst.map(|worst| worst.legitimate_at),
        cycle_time: forecast.cycle_time(),
        jam,
        last: largest,
    })
}

/// What a run shows until it is given up.
fn measured_facts(ring: &Ring, start: &Configuration, last: Round) -> Facts {
    let mut whole = Run::new(ring.clone(), start.clone());
    whole.rounds = (whole.patience() > last).then_some(last);
    let outcome = run(&whole, |_| std::ops::ControlFlow::Continue(())).ok();
    let legitimate_at = outcome.as_ref().and_then(|outcome| outcome.legitimate_at);
    let tokens = start.tokens();
    Facts {
        feasible: ring.fits(tokens),
        settles: legitimate_at.is_some(),
        legitimate_at,
        last_rest: outcome
            .and_then(|outcome| outcome.last_rest)
            .filter(|_| legitimate_at.is_some()),
        worst_last_rest: None,
        worst_legitimate_at: None,
        cycle_time: None,
        jam: None,
        last,
    }
}

/// The names of D1 to D5 and what each asks.
pub(crate) fn desiderata() -> impl Iterator<Item = (&'static str, &'static str)> {
    let verdicts = verdicts([None; 5]);
    verdicts
        .into_iter()
        .map(|verdict| (verdict.of.name(), verdict.of.asks()))
}

/// How many tokens are at each process, for [`super::story`] to tell who is who
/// after a change.
pub(crate) fn by_process(
    state: &Configuration,
) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + '_ {
    state.processes.iter().map(|process| process.tokens())
}

/// The smallest distance between successive tokens.
pub(crate) fn closest(state: &Configuration) -> Option<u64> {
    Tokens::new(state).min_distance()
}
