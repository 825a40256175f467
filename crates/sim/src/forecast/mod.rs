//! The whole future of a ring of delays and relays from one pass over its
//! initial state.
//!
//! Nothing is simulated: release times have a closed form (see `settle.rs` and
//! `docs/research/forecast.md` of the repository), so that the last wait of every token,
//! the state in any round, and the stabilization time follow in O(n + m) time.
//!
//! * [`Forecast`]: one pass; when the last token stops resting, and when the ring
//!   is legitimate. O(m) memory beside the state.
//! * [`Movement`]: every wait, every trajectory, the smallest distance over any span.
//! * [`Timeline`]: the state in any round, counters included. O(n) memory.
//! * [`SparseRing`]: rings too large to hold, given by their tokens and delays.

use headway_core::bound;
use headway_core::{Configuration, Ring, Round};

mod distance;
mod jam;
mod legitimate;
mod moment;
mod outcome;
mod period;
mod settle;
mod shape;
mod sites;
mod svg;
mod timeline;
mod trajectory;
mod visits;
mod window;

pub use jam::{Jam, Queue};
pub use moment::{Moment, MomentPlace};
pub use sites::{ForecastError, SparseRing, TokensAt};
pub use timeline::{Movement, Timeline};
pub use trajectory::{Trajectory, Wait};

use settle::{Group, Settling};
use shape::Shape;
use sites::Sites;

/// What one pass over the initial state tells.
///
/// ```
/// use headway_core::{Configuration, Program, Ring, Separation};
/// use headway_sim::forecast::Forecast;
/// let ring = Ring::new(Separation::new(5).unwrap(), vec![Program::Delay; 24]).unwrap();
/// let start = Configuration::piled(&ring, 4, 0);
/// let forecast = Forecast::of(&ring, &start).unwrap();
/// assert_eq!(forecast.last_rest(), Some(15));
/// assert_eq!(forecast.legitimate_at(), Some(16));
/// // Seek as in a film: the state after round 10^12.
/// let far = forecast.timeline().configuration_at(1_000_000_000_000);
/// assert!(ring.legitimate(&far, 4).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Forecast<'a> {
    shape: Shape,
    sites: Sites<'a>,
    settling: Settling,
    legitimate_at: Option<Round>,
}

impl<'a> Forecast<'a> {
    /// Forecasts a state of a ring. O(n) time, O(m) memory.
    ///
    /// # Errors
    ///
    /// When a process measures, or the state is not one of this ring.
    pub fn of(ring: &'a Ring, state: &'a Configuration) -> Result<Forecast<'a>, ForecastError> {
        let sites = Sites::dense(ring, state)?;
        Forecast::new(sites, ring.separation().hops())
    }

    /// Forecasts a ring given by its tokens and delays, in time and memory that
    /// depend on those only.
    ///
    /// # Errors
    ///
    /// When a list is not ascending or a number is out of range.
    pub fn of_sparse(ring: &'a SparseRing) -> Result<Forecast<'a>, ForecastError> {
        Forecast::new(Sites::sparse(ring)?, ring.separation)
    }

    fn new(sites: Sites<'a>, separation: u32) -> Result<Forecast<'a>, ForecastError> {
        let last_delay = sites.last_delay();
        let pace = if last_delay.is_none() { 1 } else { separation };
        let starts_delay = pace == 1;
        // Where starts delay, a stretch is one place, and none wraps.
        let from = last_delay
            .filter(|_| !starts_delay)
            .map_or(0, |last| (last + 1) % sites.len());
        let settling = settle::settle(sites, from, u64::from(pace), starts_delay)
            .ok_or(ForecastError::TooLarge)?;
        let mut shape = Shape {
            processes: sites.len(),
            tokens: settling.tokens,
            separation: u64::from(separation),
            pace: u64::from(pace),
            from,
            starts_delay,
            skipped: 0,
        };
        shape.skipped = shape::skipped(&shape, &settling.groups);
        let mut forecast = Forecast {
            shape,
            sites,
            settling,
            legitimate_at: None,
        };
        forecast.legitimate_at = legitimate::first(&forecast);
        Ok(forecast)
    }

    /// m.
    pub fn tokens(&self) -> u64 {
        self.shape.tokens
    }

    /// Whether m·d ≤ n.
    pub fn feasible(&self) -> bool {
        u128::from(self.shape.tokens) * u128::from(self.shape.separation)
            <= u128::from(self.shape.processes)
    }

    /// Whether tokens come to rest no more from some round on: m·d ≤ n, or, when
    /// no process delays, m ≤ n.
    pub fn settles(&self) -> bool {
        self.shape.settles()
    }

    /// The last round after which some token rests, 0 if that is the initial
    /// state; `None` if none ever does, or if the ring never settles.
    pub fn last_rest(&self) -> Option<Round> {
        self.settles().then_some(self.settling.last_rest).flatten()
    }

    /// The first round at whose end the state is legitimate, 0 if the initial
    /// state is; `None` if none ever is.
    pub fn legitimate_at(&self) -> Option<Round> {
        self.legitimate_at
    }

    /// λ = max(n/m, d) as a fraction in lowest terms: rounds between two releases
    /// of a process in the long run. `None` without tokens.
    ///
    /// The reason is the critical circuit of the ring seen as a timed event graph:
    /// the major ring, with n places and m tokens, or a delay's own ring, with d
    /// places and one token.
    pub fn cycle_time(&self) -> Option<(u64, u64)> {
        let (n, m, pace) = (self.shape.processes, self.shape.tokens, self.shape.pace);
        if m == 0 {
            return None;
        }
        if !self.settles() {
            return Some((pace, 1));
        }
        let divisor = greatest_common_divisor(n, m);
        Some((n / divisor, m / divisor))
    }

    /// The proved worst case of [`Forecast::last_rest`] over all initial states of
    /// this ring; `None` when it does not settle or nothing delays.
    pub fn worst_last_rest(&self) -> Option<Round> {
        if !self.feasible() {
            return None;
        }
        let separation = self.shape.separation as u32;
        bound::worst_last_rest(self.shape.tokens, separation, self.sites.widest_gap()?)
    }

    /// The smallest distance between successive tokens once none rests any more;
    /// `None` without tokens or when the ring never settles.
    pub fn settled_distance(&self) -> Option<u64> {
        self.settles().then(|| self.settled_gaps().min()).flatten()
    }

    /// Where and when tokens wait. O(n) time; memory for the delays that a token can
    /// wait at, which on large rings with random counters are about as many as tokens.
    pub fn movement(&self) -> Movement<'_> {
        Movement::new(self)
    }

    /// Everything about single rounds and tokens. O(n) time and memory.
    pub fn timeline(&self) -> Timeline<'_> {
        Timeline::new(self)
    }

    /// Fewest and most visits of a process in `rounds` rounds after the ring has
    /// become legitimate; `None` if it never does.
    pub fn visits(&self, rounds: u64) -> Option<(u64, u64)> {
        self.legitimate_at?;
        let gaps: Vec<u64> = self.settled_gaps().collect();
        Some(visits::extremes(&gaps, self.shape.processes, rounds))
    }

    /// Distances from each token to the next behind it once none rests any more,
    /// from the front of the unrolled ring.
    fn settled_gaps(&self) -> impl Iterator<Item = u64> + '_ {
        let Shape {
            tokens: m, pace, ..
        } = self.shape;
        let d = i128::from(pace);
        // y + m·d, which is enough for differences.
        let y = move |group: &Group, token: u64| i128::from(token) * d + group.settled();
        let tokens = self.settling.groups.iter().rev().flat_map(move |group| {
            let first = m - group.tokens_to_here;
            (first..first + group.count()).map(move |token| y(group, token))
        });
        // Behind the last token comes token 0 again, which is in the last group, a turn back.
        let first = self.settling.groups.last().map(|group| y(group, 0));
        let again = first.map(|y| y + i128::from(self.shape.processes));
        let behind = tokens.clone().skip(1).chain(again);
        tokens
            .zip(behind)
            .map(|(ahead, behind)| (behind - ahead) as u64)
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
